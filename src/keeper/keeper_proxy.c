/* keeper/keeper_proxy.c -- the door to the proxy: a listener in the sandbox's own network.
 *
 * The keeper copies no bytes.  It accepts a connection of the command and sends its descriptor to the
 * server, which speaks to the command through it (net/connect_proxy.h).  A socket works in any process,
 * whatever network it was made in.
 */
#include "keeper/keeper.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 64 };

int keeper_proxy_listen(const struct keeper *keeper)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons((uint16_t)keeper->proxy_port),
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int yes = 1;
	if (keeper->proxy_port == 0)
		return -1;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener < 0 ||
	    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
	    bind(listener, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, BACKLOG) != 0)
		keeper_die("cannot listen for the proxy", NULL, errno);
	return listener;
}

/* One byte, because a descriptor does not travel alone. */
static void hand_over(int line, int connection)
{
	char byte = 'c';
	struct iovec bytes = { .iov_base = &byte, .iov_len = 1 };
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct msghdr message = { .msg_iov = &bytes,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(rights), &connection, sizeof(int));
	ssize_t sent = sendmsg(line, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	(void)sent; /* the command sees a closed connection */
}

void keeper_proxy_accept(const struct keeper *keeper, int listener)
{
	int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (connection < 0)
		return;
	hand_over(keeper->proxy_line, connection);
	close(connection);
}
