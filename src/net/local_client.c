/* net/local_client.c -- one blocking request over baton.sock. */
#include "net/local_client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "net/local_address.h"
#include "net/local_answer.h"

static bool connect_to(const char *path, int *out_socket, struct error *error)
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
	bool nobody = number == ENOENT || number == ECONNREFUSED || number == ENOTDIR;
	return fail(error, nobody ? ERROR_UNAVAILABLE : ERROR_IO, "cannot connect to %s: %s", path,
		    nobody ? "nobody listens there" : strerror(number));
}

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
		bool good = got > 0 ? local_reader_feed(answer, (struct str){ bytes, (size_t)got })
				    : local_reader_end(answer);
		if (answer->whole || answer->sink_ended)
			break;
		if (answer->too_large)
			return fail(error, ERROR_TOO_LARGE, "%s: the answer is over %d bytes", path,
				    LIMIT_JSON_BYTES);
		if (got <= 0)
			return fail(error, ERROR_IO,
				    "%s: the connection was cut before the answer's end", path);
		if (!good)
			return fail(error, ERROR_IO, "%s: the answer is not understood: %s", path,
				    answer->wrong);
	}
	return true;
}

bool local_request(const char *socket_path, struct str method, struct str target,
		   struct str headers, struct str body, struct arena *arena, local_sink *sink,
		   void *context, struct local_answer *out_answer, struct error *error)
{
	int client = -1;
	if (!connect_to(socket_path, &client, error))
		return false;
	AUTO(buf) head = { 0 };
	buf_add_format(&head, STR_FMT " " STR_FMT " HTTP/1.1\r\nHost: localhost\r\n",
		       STR_ARG(method), STR_ARG(target));
	if (body.size > 0)
		buf_add_format(&head, "Content-Length: %zu\r\n", body.size);
	buf_add(&head, S("Connection: close\r\n"));
	buf_add(&head, headers);
	buf_add(&head, S("\r\n"));
	/* A server may answer and close before it has read all: its answer counts, so a failed
	 * send is no reason to stop. */
	if (send_all(client, buf_str(&head)))
		(void)!send_all(client, body);
	AUTO(local_reader) answer;
	local_reader_init(&answer, str_equal(method, S("HEAD")), sink, context);
	bool done = read_answer(client, &answer, socket_path, error);
	close(client);
	if (!done)
		return false;
	out_answer->status = answer.status;
	out_answer->content_type = str_copy(arena, buf_str(&answer.content_type));
	out_answer->body = str_copy(arena, buf_str(&answer.body));
	return true;
}
