/* net/local_answer.c -- llhttp callbacks that parse an HTTP response. */
#include "net/local_answer.h"

#include "base/limits.h"

static int on_header_field(llhttp_t *reader, const char *at, size_t size)
{
	struct local_reader *answer = reader->data;
	buf_add(&answer->header, (struct str){ at, size });
	return answer->header.full ? HPE_USER : 0;
}

static int on_header_value(llhttp_t *reader, const char *at, size_t size)
{
	struct local_reader *answer = reader->data;
	buf_add(&answer->value, (struct str){ at, size });
	return answer->value.full ? HPE_USER : 0;
}

static int on_header_value_complete(llhttp_t *reader)
{
	struct local_reader *answer = reader->data;
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
	struct local_reader *answer = reader->data;
	return answer->head_only ? 1 : 0;
}

static int on_body(llhttp_t *reader, const char *at, size_t size)
{
	struct local_reader *answer = reader->data;
	struct str bytes = { at, size };
	answer->status = reader->status_code;
	if (answer->sink != NULL) {
		answer->sink_ended = !answer->sink(answer->context, answer->status, bytes);
		return answer->sink_ended ? HPE_USER : 0;
	}
	answer->too_large = !buf_add(&answer->body, bytes);
	return answer->too_large ? HPE_USER : 0;
}

static int on_message_complete(llhttp_t *reader)
{
	struct local_reader *answer = reader->data;
	if (reader->status_code < 200)
		return 0;
	answer->status = reader->status_code;
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

void local_reader_init(struct local_reader *answer, bool head_only, local_sink *sink, void *context)
{
	*answer = (struct local_reader){ .problem = "",
					 .head_only = head_only,
					 .sink = sink,
					 .context = context,
					 .header = buf_limited(LIMIT_HTTP_HEADER_BYTES),
					 .value = buf_limited(LIMIT_HTTP_HEADER_BYTES),
					 .body = buf_limited(LIMIT_JSON_BYTES) };
	llhttp_init(&answer->reader, HTTP_RESPONSE, &settings);
	answer->reader.data = answer;
}

void local_reader_done(struct local_reader *answer)
{
	buf_done(&answer->header);
	buf_done(&answer->value);
	buf_done(&answer->content_type);
	buf_done(&answer->body);
}

static bool check_result(struct local_reader *answer, llhttp_errno_t result)
{
	if (result == HPE_OK)
		return true;
	const char *reason = llhttp_get_error_reason(&answer->reader);
	answer->problem = reason == NULL ? "it is malformed HTTP" : reason;
	return false;
}

bool local_reader_feed(struct local_reader *answer, struct str bytes)
{
	if (answer->whole || answer->sink_ended || answer->problem[0] != '\0')
		return false;
	return check_result(answer, llhttp_execute(&answer->reader, bytes.at, bytes.size));
}

bool local_reader_end(struct local_reader *answer)
{
	if (answer->whole || answer->sink_ended || answer->problem[0] != '\0')
		return false;
	return check_result(answer, llhttp_finish(&answer->reader));
}
