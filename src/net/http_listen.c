/* net/http_listen.c -- listening sockets, watched with uv_poll and accepted with accept4().
 *
 * libuv's own listener calls back in a busy loop when the process runs out of descriptors.  This
 * listener pauses for a moment instead, and new clients wait in the kernel's queue.
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/http_internal.h"
#include "net/local_address.h"

enum { BACKLOG = 512, ACCEPTS_PER_TICK = 32 };

static void listener_closed(uv_handle_t *handle)
{
	struct http_listener *listener = handle->data;
	struct http_server *server = listener->server;
	if (--listener->handles == 0) {
		free(listener->path);
		free(listener);
	}
	http_release_handle(server);
}

void http_listener_close(struct http_listener *listener)
{
	if (!listener->open)
		return;
	listener->open = false;
	uv_close((uv_handle_t *)&listener->poll, listener_closed);
	uv_close((uv_handle_t *)&listener->pause, listener_closed);
	close(listener->socket);
	if (listener->path != NULL)
		unlink(listener->path);
}

/* Too many connections: sends an error response, if the socket accepts it at once, and closes. */
static void client_reject(struct http_server *server, int client, bool local)
{
	AUTO(buf) answer = { 0 };
	limit_hit(local ? REJECTION_HTTP_LOCAL_CONNECTIONS : REJECTION_HTTP_CONNECTIONS);
	http_refuse(server, ERROR_UNAVAILABLE, "too many connections; try again later", false,
		    &answer);
	(void)!send(client, answer.at, answer.size, MSG_DONTWAIT | MSG_NOSIGNAL);
	shutdown(client, SHUT_WR);
	close(client);
}

static void client_accept(struct http_listener *listener, int client)
{
	struct http_server *server = listener->server;
	size_t local = server->connections_local;
	size_t count = listener->local ? local : server->connections.live - local;
	if (count >=
	    (listener->local ? server->settings.local_connections : server->settings.connections))
		client_reject(server, client, listener->local);
	else
		http_connection_open(server, client, listener->local);
}

static void accept_ready(uv_poll_t *poll, int status, int events);

static void pause_ended(uv_timer_t *timer)
{
	struct http_listener *listener = timer->data;
	uv_poll_start(&listener->poll, UV_READABLE, accept_ready);
}

static void accept_ready(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	struct http_listener *listener = poll->data;
	for (int i = 0; i < ACCEPTS_PER_TICK && listener->open; i++) {
		int client = accept4(listener->socket, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (client >= 0) {
			client_accept(listener, client);
			continue;
		}
		if (errno == EAGAIN)
			return;
		if (errno == EINTR || errno == ECONNABORTED)
			continue;
		uv_poll_stop(poll);
		uv_timer_start(&listener->pause, pause_ended,
			       listener->server->settings.accept_pause_ms, 0);
		return;
	}
}

/* Takes ownership of the listening socket; closes it on failure. */
static bool listener_open(struct http_server *server, int socket, bool local, const char *path,
			  struct error *error)
{
	if (server->listener_count == HTTP_LISTENERS || server->draining) {
		close(socket);
		return fail(error, ERROR_UNAVAILABLE,
			    "cannot listen: the server is stopping or has %d listeners already",
			    HTTP_LISTENERS);
	}
	struct http_listener *listener = calloc(1, sizeof(*listener));
	require(listener != NULL);
	int code = uv_poll_init_socket(loop_uv(server->loop), &listener->poll, socket);
	if (code != 0) {
		close(socket);
		free(listener);
		return fail(error, ERROR_IO, "cannot poll the listening socket: %s",
			    uv_strerror(code));
	}
	require(uv_timer_init(loop_uv(server->loop), &listener->pause) == 0);
	listener->server = server;
	listener->socket = socket;
	listener->local = local;
	listener->open = true;
	listener->handles = 2;
	server->handles += 2;
	listener->poll.data = listener;
	listener->pause.data = listener;
	if (path != NULL) {
		listener->path = strdup(path);
		require(listener->path != NULL);
	}
	server->listeners[server->listener_count++] = listener;
	require(uv_poll_start(&listener->poll, UV_READABLE, accept_ready) == 0);
	return true;
}

/* Returns a bound and listening socket, or -1 with errno set. */
static int socket_listen(const struct addrinfo *at)
{
	int listener = socket(at->ai_family, at->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
			      at->ai_protocol);
	if (listener < 0)
		return -1;
	int yes = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(listener, at->ai_addr, at->ai_addrlen) == 0 && listen(listener, BACKLOG) == 0)
		return listener;
	int number = errno;
	close(listener);
	errno = number;
	return -1;
}

static int socket_port(int listener)
{
	struct sockaddr_storage bound;
	socklen_t size = sizeof(bound);
	char port[NI_MAXSERV];
	require(getsockname(listener, (struct sockaddr *)&bound, &size) == 0);
	require(getnameinfo((struct sockaddr *)&bound, size, NULL, 0, port, sizeof(port),
			    NI_NUMERICSERV) == 0);
	return (int)strtol(port, NULL, 10);
}

bool http_listen_tcp(struct http_server *server, const char *host, int port, int *out_port,
		     struct error *error)
{
	if (port < 0 || port > 65535)
		return fail(error, ERROR_USAGE, "%d is not a port number; expected 0 to 65535",
			    port);
	char service[16];
	snprintf(service, sizeof(service), "%d", port);
	struct addrinfo wanted = { .ai_family = AF_UNSPEC,
				   .ai_socktype = SOCK_STREAM,
				   .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *found = NULL;
	int code = getaddrinfo(host, service, &wanted, &found);
	if (code != 0)
		return fail(error, ERROR_USAGE, "cannot listen on %s: %s", host,
			    gai_strerror(code));
	int listener = -1, number = 0;
	for (struct addrinfo *at = found; at != NULL && listener < 0; at = at->ai_next) {
		listener = socket_listen(at);
		number = errno;
	}
	freeaddrinfo(found);
	if (listener < 0)
		return fail(error, ERROR_UNAVAILABLE, "cannot listen on %s port %d: %s", host, port,
			    strerror(number));
	int bound = socket_port(listener);
	if (!listener_open(server, listener, false, NULL, error))
		return false;
	*out_port = bound;
	return true;
}

/* Removes a socket left by an earlier process; any other file is kept, because it is user data. */
static bool remove_stale(const char *path, struct error *error)
{
	struct stat info;
	if (lstat(path, &info) != 0)
		return true;
	if (!S_ISSOCK(info.st_mode))
		return fail(error, ERROR_IO,
			    "cannot listen on %s: it exists and is not a socket; move it away",
			    path);
	if (unlink(path) != 0)
		return fail(error, ERROR_IO, "cannot remove the old socket %s: %s", path,
			    strerror(errno));
	return true;
}

static bool bind_private(int listener, const struct sockaddr_un *address)
{
	/* The umask keeps other users out between bind and chmod. */
	mode_t before = umask(0177);
	int bound = bind(listener, (const struct sockaddr *)address, sizeof(*address));
	int number = errno;
	umask(before);
	errno = number;
	return bound == 0 && chmod(address->sun_path, 0600) == 0 && listen(listener, BACKLOG) == 0;
}

bool http_listen_local(struct http_server *server, const char *path, struct error *error)
{
	struct sockaddr_un address;
	int folder;
	if (!remove_stale(path, error) || !local_address(path, &address, &folder, error))
		return false;
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bool listens = listener >= 0 && bind_private(listener, &address);
	int number = errno;
	if (folder >= 0)
		close(folder);
	if (!listens) {
		if (listener >= 0)
			close(listener);
		return fail(error, ERROR_IO, "cannot listen on %s: %s", path, strerror(number));
	}
	return listener_open(server, listener, true, path, error);
}
