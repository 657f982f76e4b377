/* net/local_client.c -- one blocking request over baton.sock or over TCP. */
#include "net/local_client.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/limits.h"
#include "net/local_address.h"
#include "net/local_answer.h"

#define URL_SCHEME "http://"

static bool connect_local(const char *path, int *out_socket, struct error *error)
{
	struct sockaddr_un address;
	int folder;
	if (!local_address(path, &address, &folder, error))
		return false;
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int result =
		client < 0 ? -1 : connect(client, (struct sockaddr *)&address, sizeof(address));
	int number = errno;
	if (folder >= 0)
		close(folder);
	if (result == 0) {
		*out_socket = client;
		return true;
	}
	if (client >= 0)
		close(client);
	bool absent = number == ENOENT || number == ECONNREFUSED || number == ENOTDIR;
	return fail(error, absent ? ERROR_UNAVAILABLE : ERROR_IO, "cannot connect to %s: %s", path,
		    absent ? "no server is listening" : strerror(number));
}

/* ---- remote servers --------------------------------------------------------------------- */

/* Splits "http://host:port/" into host and port; an IPv6 address is in brackets. */
static bool cut_url(const char *url, struct arena *arena, const char **out_host,
		    const char **out_port, struct str *out_authority, struct error *error)
{
	struct str rest = str_skip(str_from_c(url), strlen(URL_SCHEME)), host, port = S("80");
	if (str_ends(rest, S("/")))
		rest.size--;
	*out_authority = rest;
	bool good;
	size_t bracket = 0;
	if (str_starts(rest, S("["))) {
		good = str_find(rest, S("]"), &bracket);
		host = str_skip(str_head(rest, bracket), 1);
		rest = str_skip(rest, bracket + 1);
	} else {
		size_t colon = 0;
		bool ported = str_find(rest, S(":"), &colon);
		host = str_head(rest, ported ? colon : rest.size);
		rest = str_skip(rest, host.size);
		good = true;
	}
	if (str_starts(rest, S(":")))
		port = str_skip(rest, 1);
	else
		good = good && rest.size == 0;
	int64_t number;
	if (!good || host.size == 0 || !str_to_int(port, &number) || number < 1 || number > 65535)
		return fail(error, ERROR_USAGE,
			    "%s is not a server URL; expected one such as http://127.0.0.1:8420",
			    url);
	*out_host = str_c(arena, host);
	*out_port = str_c(arena, port);
	return true;
}

/* Connects to the first address of the list that accepts. */
static int connect_first(const struct addrinfo *list)
{
	const struct timeval timeout = { .tv_sec = LIMIT_CLIENT_CONNECT_MS / 1000 };
	int number = ECONNREFUSED;
	for (; list != NULL; list = list->ai_next) {
		int client = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (client < 0) {
			number = errno;
			continue;
		}
		/* On Linux SO_SNDTIMEO limits connect() too. */
		setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
		if (connect(client, list->ai_addr, list->ai_addrlen) == 0)
			return client;
		number = errno;
		close(client);
	}
	errno = number;
	return -1;
}

static bool connect_tcp(const char *url, struct arena *arena, int *out_socket,
			struct str *out_authority, struct error *error)
{
	const char *host, *port;
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	if (!cut_url(url, arena, &host, &port, out_authority, error))
		return false;
	int result = getaddrinfo(host, port, &hints, &list);
	if (result != 0)
		return fail(error, ERROR_UNAVAILABLE, "cannot resolve %s: %s", host,
			    gai_strerror(result));
	int client = connect_first(list);
	int number = errno;
	freeaddrinfo(list);
	if (client < 0)
		return fail(error, ERROR_UNAVAILABLE, "cannot connect to %s: %s", url,
			    number == EINPROGRESS ? "timed out" : strerror(number));
	*out_socket = client;
	return true;
}

/* ---- one exchange ----------------------------------------------------------------------- */

static bool send_all(int client, struct str bytes)
{
	while (bytes.size > 0) {
		ssize_t sent = send(client, bytes.at, bytes.size, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return false;
		bytes = str_skip(bytes, (size_t)sent);
	}
	return true;
}

static bool read_answer(int client, struct local_reader *answer, const char *path,
			struct error *error)
{
	char bytes[16384];
	while (!answer->whole && !answer->sink_ended) {
		ssize_t got = recv(client, bytes, sizeof(bytes), 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN) { /* SO_RCVTIMEO, set for local_follow() only */
			answer->sink_ended = !answer->sink(answer->context, answer->status, S(""));
			continue;
		}
		bool good = got > 0 ? local_reader_feed(answer, (struct str){ bytes, (size_t)got })
				    : local_reader_end(answer);
		if (answer->whole || answer->sink_ended)
			break;
		if (answer->too_large)
			return fail(error, ERROR_TOO_LARGE,
				    "%s: the response is larger than %d bytes", path,
				    LIMIT_JSON_BYTES);
		if (got <= 0)
			return fail(error, ERROR_IO,
				    "%s: the connection was closed before the end of the response",
				    path);
		if (!good)
			return fail(error, ERROR_IO, "%s: invalid HTTP response: %s", path,
				    answer->problem);
	}
	return true;
}

struct request {
	struct str method, target, headers, body;
	int idle_ms; /* 0 = the sink is called for bytes only */
	local_sink *sink;
	void *context;
};

static bool exchange(const char *address, const struct request *request, struct arena *arena,
		     struct local_answer *out_answer, struct error *error)
{
	int client = -1;
	struct str host = S("localhost");
	bool local = !str_starts(str_from_c(address), S(URL_SCHEME));
	if (local ? !connect_local(address, &client, error)
		  : !connect_tcp(address, arena, &client, &host, error))
		return false;
	const struct timeval idle = { .tv_sec = request->idle_ms / 1000,
				      .tv_usec = request->idle_ms % 1000 * 1000 };
	if (request->idle_ms > 0)
		setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &idle, sizeof(idle));
	AUTO(buf) head = { 0 };
	buf_add_format(&head, STR_FMT " " STR_FMT " HTTP/1.1\r\nHost: " STR_FMT "\r\n",
		       STR_ARG(request->method), STR_ARG(request->target), STR_ARG(host));
	if (request->body.size > 0)
		buf_add_format(&head, "Content-Length: %zu\r\n", request->body.size);
	buf_add(&head, S("Connection: close\r\n"));
	buf_add(&head, request->headers);
	buf_add(&head, S("\r\n"));
	/* A server may respond and close before it has read the whole request, so read the
	 * response even when sending failed. */
	if (send_all(client, buf_str(&head)))
		(void)!send_all(client, request->body);
	AUTO(local_reader) answer;
	local_reader_init(&answer, str_equal(request->method, S("HEAD")), request->sink,
			  request->context);
	bool done = read_answer(client, &answer, address, error);
	close(client);
	if (!done)
		return false;
	out_answer->status = answer.status;
	out_answer->content_type = str_copy(arena, buf_str(&answer.content_type));
	out_answer->body = str_copy(arena, buf_str(&answer.body));
	return true;
}

bool local_request(const char *address, struct str method, struct str target, struct str headers,
		   struct str body, struct arena *arena, local_sink *sink, void *context,
		   struct local_answer *out_answer, struct error *error)
{
	const struct request request = { .method = method,
					 .target = target,
					 .headers = headers,
					 .body = body,
					 .sink = sink,
					 .context = context };
	return exchange(address, &request, arena, out_answer, error);
}

bool local_follow(const char *address, struct str target, struct str headers, int idle_ms,
		  struct arena *arena, local_sink *sink, void *context,
		  struct local_answer *out_answer, struct error *error)
{
	const struct request request = { .method = S("GET"),
					 .target = target,
					 .headers = headers,
					 .idle_ms = idle_ms,
					 .sink = sink,
					 .context = context };
	return exchange(address, &request, arena, out_answer, error);
}
