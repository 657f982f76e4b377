/* escape/escape_network.c -- probes that look for a network, and for services of the host. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "escape/escape.h"

enum { PATIENCE_MS = 2000 };

static bool connects(const char *host, int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int connection = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int failure = 0;
	socklen_t size = sizeof(failure);
	inet_pton(AF_INET, host, &address.sin_addr);
	if (connection < 0)
		return false;
	bool connected =
		connect(connection, (const struct sockaddr *)&address, sizeof(address)) == 0;
	if (!connected && errno == EINPROGRESS) {
		struct pollfd source = { .fd = connection, .events = POLLOUT };
		connected = poll(&source, 1, PATIENCE_MS) == 1 &&
			    getsockopt(connection, SOL_SOCKET, SO_ERROR, &failure, &size) == 0 &&
			    failure == 0;
		if (!connected)
			errno = failure != 0 ? failure : ETIMEDOUT;
	}
	int number = errno;
	close(connection);
	errno = number;
	return connected;
}

static enum escape_result connect_to(const struct escape *escape, const char *host, int port)
{
	if (connects(host, port))
		return escape_say(escape, ESCAPE_ESCAPED, "%s:%d answered", host, port);
	return escape_say(escape, ESCAPE_HELD, "%s", strerror(errno));
}

enum escape_result escape_host_loopback(const struct escape *escape)
{
	return connect_to(escape, "127.0.0.1", escape->port);
}

enum escape_result escape_metadata_address(const struct escape *escape)
{
	return connect_to(escape, "169.254.169.254", 80);
}

/* A datagram to an address for documentation: it needs a route, not an answer. */
enum escape_result escape_outside_address(const struct escape *escape)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(53) };
	int sender = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
	return escape_refused(escape, sendto(sender, "x", 1, 0, (const struct sockaddr *)&address,
					     sizeof(address)));
}

enum escape_result escape_interfaces(const struct escape *escape)
{
	struct ifaddrs *all;
	if (getifaddrs(&all) != 0)
		return escape_say(escape, ESCAPE_HELD, "%s", strerror(errno));
	for (const struct ifaddrs *at = all; at != NULL; at = at->ifa_next)
		if (strcmp(at->ifa_name, "lo") != 0)
			return escape_say(escape, ESCAPE_ESCAPED, "there is %s", at->ifa_name);
	freeifaddrs(all);
	return escape_say(escape, ESCAPE_HELD, "only loopback of its own");
}

enum escape_result escape_raw_socket(const struct escape *escape)
{
	return escape_refused(escape, socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
}

enum escape_result escape_packet_socket(const struct escape *escape)
{
	return escape_refused(escape, socket(AF_PACKET, SOCK_RAW, 0));
}

enum escape_result escape_odd_sockets(const struct escape *escape)
{
	static const int families[] = { AF_VSOCK, AF_ALG, AF_BLUETOOTH, AF_CAN,
					AF_TIPC,  AF_KEY, AF_X25,       AF_RDS };
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (socket(families[i], SOCK_SEQPACKET, 0) >= 0 ||
		    socket(families[i], SOCK_STREAM, 0) >= 0)
			return escape_say(escape, ESCAPE_ESCAPED, "family %d can be used",
					  families[i]);
	return escape_say(escape, ESCAPE_HELD, "%s", strerror(errno));
}

enum escape_result escape_abstract_socket(const struct escape *escape)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int size = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%s",
			    escape->abstract);
	return escape_refused(escape, connect(connection, (const struct sockaddr *)&address,
					      (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
							  1 + (size_t)size)));
}

enum escape_result escape_service_sockets(const struct escape *escape)
{
	static const char *const paths[] = { "/run/docker.sock",
					     "/var/run/docker.sock",
					     "/run/containerd/containerd.sock",
					     "/run/dbus/system_bus_socket",
					     "/run/systemd/private",
					     "/run/snapd.socket",
					     "/run/podman/podman.sock" };
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct sockaddr_un address = { .sun_family = AF_UNIX };
		int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		snprintf(address.sun_path, sizeof(address.sun_path), "%s", paths[i]);
		if (connect(connection, (const struct sockaddr *)&address, sizeof(address)) == 0)
			return escape_say(escape, ESCAPE_ESCAPED, "%s answers", paths[i]);
		close(connection);
	}
	return escape_say(escape, ESCAPE_HELD, "none of them is there");
}
