/* net/http_parse.c -- the head (request line and headers) is collected, then parsed in one call.
 *
 * A head has at most LIMIT_HTTP_HEADER_BYTES, so collecting it is cheap.  Everything that llhttp
 * points at is then contiguous: no spans need to be joined, and the result does not depend on how
 * the network split the bytes.  Bodies are passed to llhttp as they arrive.
 */
#include "net/http_parse.h"

#include <string.h>

static const char too_large[] = "the body is larger than this server allows";
static const char malformed_body[] = "the chunked body is malformed or has trailers";

static bool refuse(struct http_parse *parse, enum error_code code, const char *detail)
{
	if (parse->state != HTTP_PARSE_REFUSED) {
		parse->state = HTTP_PARSE_REFUSED;
		parse->code = code;
		parse->detail = detail;
	}
	return false;
}

static bool refuse_size(struct http_parse *parse)
{
	limit_hit(REJECTION_HTTP_BODY_BYTES);
	return refuse(parse, ERROR_TOO_LARGE, too_large);
}

/* ---- llhttp's callbacks -------------------------------------------------------------------- */

/* llhttp may report a span in several pieces, but they are contiguous in the head. */
static void extend(struct str *span, const char *at, size_t size)
{
	if (span->size == 0)
		span->at = at;
	span->size = (size_t)(at + size - span->at);
}

static int on_url(llhttp_t *reader, const char *at, size_t size)
{
	struct http_parse *parse = reader->data;
	extend(&parse->target, at, size);
	return 0;
}

static int on_header_field(llhttp_t *reader, const char *at, size_t size)
{
	struct http_parse *parse = reader->data;
	if (parse->header_count == LIMIT_HTTP_HEADERS) {
		limit_hit(REJECTION_HTTP_HEADERS);
		refuse(parse, ERROR_HEADERS_TOO_LARGE, "the request has too many headers");
		return HPE_USER;
	}
	extend(&parse->headers[parse->header_count].name, at, size);
	return 0;
}

static int on_header_value(llhttp_t *reader, const char *at, size_t size)
{
	struct http_parse *parse = reader->data;
	extend(&parse->headers[parse->header_count].value, at, size);
	return 0;
}

static int on_header_value_complete(llhttp_t *reader)
{
	struct http_parse *parse = reader->data;
	struct http_header *header = &parse->headers[parse->header_count++];
	header->value = header->value.size == 0 ? S("") : str_trim(header->value);
	return 0;
}

static int on_headers_complete(llhttp_t *reader)
{
	struct http_parse *parse = reader->data;
	parse->head_read = true;
	parse->keep_alive = llhttp_should_keep_alive(reader) != 0;
	/* A request to upgrade is an ordinary request until the handler accepts it
	 * (websocket.h). */
	reader->upgrade = 0;
	return 0;
}

static int on_chunk_header(llhttp_t *reader)
{
	struct http_parse *parse = reader->data;
	if (reader->content_length == 0) {
		/* The last chunk.  llhttp would accept a bare line feed or trailers after it. */
		parse->ending = true;
		return HPE_PAUSED;
	}
	if (reader->content_length <= LIMIT_HTTP_BODY_BYTES - parse->body.size)
		return 0;
	refuse_size(parse);
	return HPE_USER;
}

static int on_body(llhttp_t *reader, const char *at, size_t size)
{
	struct http_parse *parse = reader->data;
	if (buf_add(&parse->body, (struct str){ at, size }))
		return 0;
	refuse_size(parse);
	return HPE_USER;
}

static int on_message_complete(llhttp_t *reader)
{
	struct http_parse *parse = reader->data;
	parse->state = HTTP_PARSE_WHOLE;
	return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
	.on_url = on_url,
	.on_header_field = on_header_field,
	.on_header_value = on_header_value,
	.on_header_value_complete = on_header_value_complete,
	.on_headers_complete = on_headers_complete,
	.on_chunk_header = on_chunk_header,
	.on_body = on_body,
	.on_message_complete = on_message_complete,
};

/* ---- checks beyond those of llhttp --------------------------------------------------------- */

static size_t header_find(const struct http_parse *parse, struct str name, struct str *out_value)
{
	size_t found = 0;
	for (size_t i = parse->header_count; i-- > 0;) {
		if (!str_equal_folded(parse->headers[i].name, name))
			continue;
		*out_value = parse->headers[i].value;
		found++;
	}
	return found;
}

static bool is_host(struct str host)
{
	for (size_t i = 0; i < host.size; i++) {
		unsigned char c = (unsigned char)host.at[i];
		if (c <= ' ' || c >= 0x7f || c == '/' || c == '?' || c == '#' || c == '@' ||
		    c == ',' || c == '\\')
			return false;
	}
	return true;
}

static bool check_host(struct http_parse *parse)
{
	struct str host = S("");
	size_t count = header_find(parse, S("host"), &host);
	if (count > 1)
		return refuse(parse, ERROR_SYNTAX, "the request has more than one Host header");
	if (count == 0 && !parse->old)
		return refuse(parse, ERROR_SYNTAX, "the request has no Host header");
	return is_host(host) || refuse(parse, ERROR_SYNTAX, "the Host header is not a valid host");
}

/* The host of the target counts instead of the Host header (RFC 9112, 3.2.2), so that whoever looks
 * at Host looks at the only host that there is. */
static bool replace_host(struct http_parse *parse, struct str host)
{
	if (host.size == 0 || !is_host(host))
		return refuse(parse, ERROR_SYNTAX, "the request target has no valid host");
	size_t at = 0;
	while (at < parse->header_count && !str_equal_folded(parse->headers[at].name, S("host")))
		at++;
	if (at == LIMIT_HTTP_HEADERS) {
		limit_hit(REJECTION_HTTP_HEADERS);
		return refuse(parse, ERROR_HEADERS_TOO_LARGE, "the request has too many headers");
	}
	parse->header_count += at == parse->header_count;
	parse->headers[at] = (struct http_header){ .name = S("Host"), .value = host };
	return true;
}

/* Reduces `http://host:port/path?query`, given without its scheme, to `/path?query`; the path may be
 * missing. */
static bool read_absolute(struct http_parse *parse, struct str rest)
{
	size_t size = 0;
	while (size < rest.size && rest.at[size] != '/' && rest.at[size] != '?')
		size++;
	if (!replace_host(parse, str_head(rest, size)))
		return false;
	parse->target = str_skip(rest, size);
	if (parse->target.size == 0)
		parse->target = parse->reader.method == HTTP_OPTIONS ? S("*") : S("/");
	return true;
}

static bool check_length(struct http_parse *parse)
{
	struct str length = S(""), encoding = S("");
	size_t lengths = header_find(parse, S("content-length"), &length);
	size_t encodings = header_find(parse, S("transfer-encoding"), &encoding);
	if (lengths + encodings > 1)
		return refuse(parse, ERROR_SYNTAX, "the request has more than one body length");
	if (encodings == 1 && (parse->old || !str_equal_folded(encoding, S("chunked"))))
		return refuse(
			parse, ERROR_SYNTAX,
			"unsupported Transfer-Encoding; only chunked, in HTTP/1.1, is allowed");
	for (size_t i = 0; i < length.size; i++)
		if (length.at[i] < '0' || length.at[i] > '9')
			return refuse(parse, ERROR_SYNTAX, "the Content-Length is not a number");
	if (lengths == 1 && length.size == 0)
		return refuse(parse, ERROR_SYNTAX, "the Content-Length is empty");
	if (lengths == 1 && parse->reader.content_length > LIMIT_HTTP_BODY_BYTES)
		return refuse_size(parse);
	return true;
}

/* llhttp accepts several blanks between the parts of the request line; exactly one is allowed. */
static bool check_line(struct http_parse *parse)
{
	struct str rest = buf_str(&parse->head), line;
	while (rest.size > 0 && (rest.at[0] == '\r' || rest.at[0] == '\n'))
		rest = str_skip(rest, 1);
	struct str method = str_from_c(llhttp_method_name((llhttp_method_t)parse->reader.method));
	AUTO(buf) wanted = { 0 };
	buf_add_format(&wanted, STR_FMT " " STR_FMT " HTTP/1.%d\r", STR_ARG(method),
		       STR_ARG(parse->target), parse->reader.http_minor);
	if (!str_cut(&rest, '\n', &line) || !str_equal(line, buf_str(&wanted)))
		return refuse(parse, ERROR_SYNTAX, "the request line is malformed");
	return true;
}

static bool check_target(struct http_parse *parse)
{
	const struct str scheme = S("http://");
	bool absolute = str_equal_folded(str_head(parse->target, scheme.size), scheme);
	if (absolute && !read_absolute(parse, str_skip(parse->target, scheme.size)))
		return false;
	struct str target = parse->target;
	if (str_equal(target, S("*")) && parse->reader.method == HTTP_OPTIONS)
		return true;
	if (target.size == 0 || (target.at[0] != '/' && !absolute))
		return refuse(parse, ERROR_SYNTAX,
			      "the request target must be a path or begin with http://");
	for (size_t i = 0; i < target.size; i++) {
		unsigned char c = (unsigned char)target.at[i];
		if (c <= ' ' || c >= 0x7f || c == '#')
			return refuse(parse, ERROR_SYNTAX,
				      "the request target has a character that must be escaped");
	}
	return true;
}

/* llhttp accepts a header without a name. */
static bool check_names(struct http_parse *parse)
{
	for (size_t i = 0; i < parse->header_count; i++) {
		struct str name = parse->headers[i].name;
		bool token = name.size > 0;
		for (size_t j = 0; j < name.size && token; j++) {
			char c = name.at[j];
			token = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
				(c >= '0' && c <= '9') ||
				(c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
		}
		if (!token)
			return refuse(parse, ERROR_SYNTAX, "a header has an invalid name");
	}
	return true;
}

static bool check_head(struct http_parse *parse)
{
	llhttp_t *reader = &parse->reader;
	if (reader->http_major != 1 || reader->http_minor > 1)
		return refuse(parse, ERROR_SYNTAX,
			      "unsupported HTTP version; expected HTTP/1.0 or HTTP/1.1");
	parse->old = reader->http_minor == 0;
	parse->head_only = reader->method == HTTP_HEAD;
	return check_line(parse) && check_names(parse) && check_host(parse) &&
	       check_length(parse) && check_target(parse);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Tabs around the value of a field are optional whitespace like blanks, but llhttp accepts only
 * blanks behind a length, an encoding and a connection option. */
static void replace_tabs(struct str line, char *at)
{
	size_t begin = 0, end = line.size;
	while (begin < end && line.at[begin] != ':')
		begin++;
	for (begin++; begin < end && (at[begin] == ' ' || at[begin] == '\t'); begin++)
		at[begin] = ' ';
	for (; end > begin && (at[end - 1] == ' ' || at[end - 1] == '\t'); end--)
		at[end - 1] = ' ';
}

static void replace_all_tabs(struct http_parse *parse)
{
	struct str rest = buf_str(&parse->head), line;
	bool fields = false; /* behind the request line */
	while (str_cut(&rest, '\n', &line)) {
		line = str_head(line, line.size - (line.size > 0)); /* without \r */
		if (fields && line.size > 0)
			replace_tabs(line, parse->head.at + (line.at - parse->head.at));
		fields |= line.size > 0;
	}
}

static void read_head(struct http_parse *parse)
{
	replace_all_tabs(parse);
	llhttp_errno_t result = llhttp_execute(&parse->reader, parse->head.at, parse->head.size);
	bool whole = parse->state == HTTP_PARSE_WHOLE;
	if (result != HPE_OK && !(whole && result == HPE_PAUSED)) {
		const char *reason = llhttp_get_error_reason(&parse->reader);
		refuse(parse, ERROR_SYNTAX,
		       reason == NULL ? "the request line or a header is malformed" : reason);
		return;
	}
	const char *end = parse->head.at + parse->head.size;
	if (!parse->head_read || (whole && llhttp_get_error_pos(&parse->reader) != end)) {
		refuse(parse, ERROR_SYNTAX, "the end of the headers is ambiguous");
		return;
	}
	if (!check_head(parse) || whole)
		return;
	parse->state = HTTP_PARSE_BODY;
	struct str expect = S("");
	parse->wants_continue = !parse->old && header_find(parse, S("expect"), &expect) > 0 &&
				str_equal_folded(expect, S("100-continue"));
}

/* Checks one byte of the head; true when it is the last one. */
static bool head_scan(struct http_parse *parse, unsigned char c)
{
	if (parse->after_return) {
		if (c != '\n')
			return refuse(parse, ERROR_SYNTAX, "a carriage return without a line feed");
		parse->after_return = false;
		if (parse->line_size == 0)
			return parse->lines > 0;
		parse->lines++;
		parse->line_size = 0;
		return false;
	}
	if (c == '\r') {
		parse->after_return = true;
		return false;
	}
	if (c == '\n')
		return refuse(parse, ERROR_SYNTAX, "a line feed without a carriage return");
	if ((c < ' ' && c != '\t') || c == 0x7f)
		return refuse(parse, ERROR_SYNTAX,
			      "a control character in the request line or a header");
	if (parse->line_size == 0 && parse->lines > 0 && (c == ' ' || c == '\t'))
		return refuse(parse, ERROR_SYNTAX, "a header is folded over two lines");
	parse->line_size++;
	return false;
}

static size_t feed_head(struct http_parse *parse, struct str bytes)
{
	size_t used = 0;
	bool complete = false;
	while (used < bytes.size && !complete && parse->state == HTTP_PARSE_HEAD) {
		if (parse->head.size + used == LIMIT_HTTP_HEADER_BYTES) {
			limit_hit(REJECTION_HTTP_HEADER_BYTES);
			refuse(parse, ERROR_HEADERS_TOO_LARGE,
			       "the request line and headers are larger than this server allows");
			return used;
		}
		complete = head_scan(parse, (unsigned char)bytes.at[used++]);
	}
	buf_add(&parse->head, str_head(bytes, used));
	if (complete)
		read_head(parse);
	return used;
}

/* The last chunk must be followed by exactly one empty line. */
static size_t feed_ending(struct http_parse *parse, struct str bytes)
{
	if (bytes.at[0] != (parse->after_return ? '\n' : '\r'))
		refuse(parse, ERROR_SYNTAX, malformed_body);
	else if (parse->after_return)
		parse->state = HTTP_PARSE_WHOLE;
	parse->after_return = true;
	return 1;
}

static size_t feed_body(struct http_parse *parse, struct str bytes)
{
	if (parse->ending)
		return feed_ending(parse, bytes);
	size_t room = LIMIT_HTTP_FRAMING_BYTES - parse->wire_bytes;
	if (room == 0) {
		limit_hit(REJECTION_HTTP_FRAMING_BYTES);
		refuse(parse, ERROR_TOO_LARGE, too_large);
		return 0;
	}
	bytes = str_head(bytes, room);
	llhttp_errno_t result = llhttp_execute(&parse->reader, bytes.at, bytes.size);
	size_t used = bytes.size;
	if (result == HPE_PAUSED && (parse->ending || parse->state == HTTP_PARSE_WHOLE))
		used = (size_t)(llhttp_get_error_pos(&parse->reader) - bytes.at);
	else if (result != HPE_OK)
		refuse(parse, ERROR_SYNTAX, malformed_body);
	parse->wire_bytes += used;
	return used;
}

size_t http_parse_feed(struct http_parse *parse, struct str bytes)
{
	size_t used = 0;
	if (parse->state == HTTP_PARSE_HEAD)
		used = feed_head(parse, bytes);
	while (used < bytes.size && parse->state == HTTP_PARSE_BODY)
		used += feed_body(parse, str_skip(bytes, used));
	return used;
}

bool http_parse_begun(const struct http_parse *parse)
{
	return parse->head.size > 0;
}

void http_parse_request(const struct http_parse *parse, struct http_request *out_request)
{
	require(parse->state == HTTP_PARSE_WHOLE);
	struct str path = parse->target, query = S("");
	size_t at;
	if (str_find(path, S("?"), &at)) {
		query = str_skip(path, at + 1);
		path = at == 0 ? S("/") : str_head(path, at);
	}
	out_request->method = str_from_c(llhttp_method_name((llhttp_method_t)parse->reader.method));
	out_request->path = path;
	out_request->query = query;
	out_request->headers = parse->headers;
	out_request->header_count = parse->header_count;
	out_request->body = buf_str(&parse->body);
	out_request->old = parse->old;
}

/* Keeps a small buffer for the next request and frees a large one. */
static void buf_recycle(struct buf *buf)
{
	if (buf->room > LIMIT_HTTP_HEADER_BYTES)
		buf_done(buf);
	else
		buf_clear(buf);
}

void http_parse_next(struct http_parse *parse)
{
	struct buf head = parse->head, body = parse->body;
	buf_recycle(&head);
	buf_recycle(&body);
	*parse = (struct http_parse){ .head = head, .body = body };
	llhttp_init(&parse->reader, HTTP_REQUEST, &settings);
	parse->reader.data = parse;
}

void http_parse_init(struct http_parse *parse)
{
	*parse = (struct http_parse){ .head = buf_limited(LIMIT_HTTP_HEADER_BYTES),
				      .body = buf_limited(LIMIT_HTTP_BODY_BYTES) };
	http_parse_next(parse);
}

void http_parse_done(struct http_parse *parse)
{
	buf_done(&parse->head);
	buf_done(&parse->body);
}
