/* net/http_answer.c -- status line and headers of responses; the server's own error responses. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "net/http_internal.h"

enum { UPGRADE_REQUIRED = 426 };

static const struct {
	int status;
	const char *reason;
} reasons[] = {
	{ 100, "Continue" },
	{ 101, "Switching Protocols" },
	{ 200, "OK" },
	{ 201, "Created" },
	{ 202, "Accepted" },
	{ 204, "No Content" },
	{ 206, "Partial Content" },
	{ 301, "Moved Permanently" },
	{ 302, "Found" },
	{ 303, "See Other" },
	{ 304, "Not Modified" },
	{ 307, "Temporary Redirect" },
	{ 308, "Permanent Redirect" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 406, "Not Acceptable" },
	{ 408, "Request Timeout" },
	{ 409, "Conflict" },
	{ 410, "Gone" },
	{ 412, "Precondition Failed" },
	{ 413, "Content Too Large" },
	{ 415, "Unsupported Media Type" },
	{ 421, "Misdirected Request" },
	{ 422, "Unprocessable Content" },
	{ 426, "Upgrade Required" },
	{ 428, "Precondition Required" },
	{ 429, "Too Many Requests" },
	{ 431, "Request Header Fields Too Large" },
	{ 500, "Internal Server Error" },
	{ 501, "Not Implemented" },
	{ 502, "Bad Gateway" },
	{ 503, "Service Unavailable" },
	{ 504, "Gateway Timeout" },
	{ 507, "Insufficient Storage" },
};

static const char *reason_of(int status)
{
	for (size_t i = 0; i < COUNT(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "Other";
}

bool http_status_has_body(int status)
{
	return status >= 200 && status != 204 && status != 304;
}

/* Headers set by the server.  A handler's copy is dropped: it could make the response ambiguous. */
static bool is_server_header(struct str name)
{
	return str_equal_folded(name, S("date")) || str_equal_folded(name, S("connection")) ||
	       str_equal_folded(name, S("content-length")) ||
	       str_equal_folded(name, S("transfer-encoding"));
}

/* Replaces control characters.  A value may contain text of a caller; a line end in it must not
 * start a new header. */
static void add_printable(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.at[i];
		buf_add_char(out, (c < ' ' && c != '\t') || c == 0x7f ? '?' : text.at[i]);
	}
}

void http_answer_head(struct buf *out, const struct http_answer *answer)
{
	buf_add_format(out, "HTTP/1.1 %d %s\r\nDate: " STR_FMT "\r\n", answer->status,
		       reason_of(answer->status), STR_ARG(answer->date));
	for (size_t i = 0; i < answer->header_count; i++) {
		const struct http_header *header = &answer->headers[i];
		if (is_server_header(header->name))
			continue;
		add_printable(out, header->name);
		buf_add(out, S(": "));
		add_printable(out, header->value);
		buf_add(out, S("\r\n"));
	}
	if (answer->framing == HTTP_FRAMING_LENGTH)
		buf_add_format(out, "Content-Length: %zu\r\n", answer->length);
	if (answer->framing == HTTP_FRAMING_CHUNKED)
		buf_add(out, S("Transfer-Encoding: chunked\r\n"));
	/* A 426 must name the protocol to upgrade to, in connection-level headers. */
	if (answer->status == UPGRADE_REQUIRED)
		buf_add_format(out,
			       "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
			       "Connection: Upgrade%s\r\n",
			       answer->close ? ", close" : "");
	else if (answer->close)
		buf_add(out, S("Connection: close\r\n"));
	else if (answer->keep)
		buf_add(out, S("Connection: keep-alive\r\n"));
	buf_add(out, S("\r\n"));
}

void http_answer_problem(struct buf *out, const struct http_problem *problem)
{
	const struct error_row *row = error_row(problem->code);
	AUTO(buf) body = { 0 };
	struct json_writer writer = { .out = &body };
	json_open(&writer, '{');
	json_key(&writer, S("type"));
	json_put_str(&writer, S("about:blank"));
	json_key(&writer, S("title"));
	json_put_str(&writer, str_from_c(reason_of(row->http_status)));
	json_key(&writer, S("status"));
	json_put_int(&writer, row->http_status);
	json_key(&writer, S("detail"));
	json_put_str(&writer, str_from_c(problem->detail));
	json_key(&writer, S("error"));
	json_put_str(&writer, str_from_c(problem->detail));
	json_key(&writer, S("code"));
	json_put_str(&writer, row->name);
	json_key(&writer, S("class"));
	json_put_str(&writer, row->class);
	json_close(&writer, '}');
	char seconds[16];
	snprintf(seconds, sizeof(seconds), "%d", LIMIT_RETRY_AFTER_SECONDS);
	const struct http_header headers[] = {
		{ S("Content-Type"), S("application/problem+json") },
		{ S("X-Request-Id"), problem->request_id },
		{ S("Retry-After"), str_from_c(seconds) },
	};
	http_answer_head(out,
			 &(struct http_answer){ .status = row->http_status,
						.headers = headers,
						.header_count = row->http_status == 503 ? 3 : 2,
						.date = problem->date,
						.framing = HTTP_FRAMING_LENGTH,
						.length = body.size,
						.close = true });
	if (!problem->head_only)
		buf_add(out, buf_str(&body));
}
