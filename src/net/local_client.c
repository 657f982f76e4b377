/* net/local_client.c -- one blocking request over baton.sock.
 *
 * The answer goes through llhttp, so it is read exactly as any client would; what was asked for
 * with HEAD has no body, and interim answers (1xx) are passed over.
 */
#include "net/local_client.h"

#include <errno.h>
#include <llhttp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "net/local_address.h"

struct answer_reader {
	llhttp_t reader;
	bool head_only;
	local_sink *sink;
	void *context;
	struct buf header; /* the name in work */
	struct buf value;
	struct buf content_type;
	struct buf body;
	bool whole, sink_ended, too_large;
};

static int on_header_field(llhttp_t *reader, const char *at, size_t size)
{
	struct answer_reader *answer = reader->data;
	buf_add(&answer->header, (struct str){ at, size });
	return answer->header.full ? HPE_USER : 0;
}

static int on_header_value(llhttp_t *reader, const char *at, size_t size)
{
	struct answer_reader *answer = reader->data;
	buf_add(&answer->value, (struct str){ at, size });
	return answer->value.full ? HPE_USER : 0;
}

static int on_header_value_complete(llhttp_t *reader)
{
	struct answer_reader *answer = reader->data;
	if (str_equal_folded(buf_str(&answer->header), S("content-type"))) {
		buf_clear(&answer->content_type);
		buf_add(&answer->content_type, str_trim(buf_str(&answer->value)));
	}
	buf_clear(&answer->header);
	buf_clear(&answer->value);
	return 0;
}

static int on_headers_complete(llhttp_t *reader)
{
	struct answer_reader *answer = reader->data;
	return answer->head_only ? 1 : 0;
}

static int on_body(llhttp_t *reader, const char *at, size_t size)
{
	struct answer_reader *answer = reader->data;
	struct str bytes = { at, size };
	if (answer->sink != NULL) {
		answer->sink_ended = !answer->sink(answer->context, reader->status_code, bytes);
		return answer->sink_ended ? HPE_USER : 0;
	}
	answer->too_large = !buf_add(&answer->body, bytes);
	return answer->too_large ? HPE_USER : 0;
}

static int on_message_complete(llhttp_t *reader)
{
	struct answer_reader *answer = reader->data;
	if (reader->status_code < 200)
		return 0;
	answer->whole = true;
	return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
	.on_header_field = on_header_field,
	.on_header_value = on_header_value,
	.on_header_value_complete = on_header_value_complete,
	.on_headers_complete = on_headers_complete,
	.on_body = on_body,
	.on_message_complete = on_message_complete,
};

static void answer_reader_done(struct answer_reader *answer)
{
	buf_done(&answer->header);
	buf_done(&answer->value);
	buf_done(&answer->content_type);
	buf_done(&answer->body);
}

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

static bool read_answer(int client, struct answer_reader *answer, const char *path,
			struct error *error)
{
	char bytes[16384];
	while (!answer->whole && !answer->sink_ended) {
		ssize_t got = recv(client, bytes, sizeof(bytes), 0);
		if (got < 0 && errno == EINTR)
			continue;
		llhttp_errno_t result =
			got > 0 ? llhttp_execute(&answer->reader, bytes, (size_t)got)
				: llhttp_finish(&answer->reader);
		if (answer->whole || answer->sink_ended)
			break;
		if (answer->too_large)
			return fail(error, ERROR_TOO_LARGE, "%s: the answer is over %d bytes", path,
				    LIMIT_JSON_BYTES);
		if (got <= 0)
			return fail(error, ERROR_IO,
				    "%s: the connection was cut before the answer's end", path);
		if (result != HPE_OK)
			return fail(error, ERROR_IO, "%s: the answer is not understood: %s", path,
				    llhttp_get_error_reason(&answer->reader));
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
	AUTO(answer_reader)
	answer = { .head_only = str_equal(method, S("HEAD")),
		   .sink = sink,
		   .context = context,
		   .header = buf_limited(LIMIT_HTTP_HEADER_BYTES),
		   .value = buf_limited(LIMIT_HTTP_HEADER_BYTES),
		   .body = buf_limited(LIMIT_JSON_BYTES) };
	llhttp_init(&answer.reader, HTTP_RESPONSE, &settings);
	answer.reader.data = &answer;
	bool done = read_answer(client, &answer, socket_path, error);
	close(client);
	if (!done)
		return false;
	out_answer->status = answer.reader.status_code;
	out_answer->content_type = str_copy(arena, buf_str(&answer.content_type));
	out_answer->body = str_copy(arena, buf_str(&answer.body));
	return true;
}
