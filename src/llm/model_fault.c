/* llm/model_fault.c -- reads the refusals of providers.
 *
 * Providers agree on statuses, but not on words; so the words only refine what the status says.
 */
#include "llm/model_fault.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "net/retry_after.h"

/* A word in the type or the code of an error, with its meaning. */
struct word {
	const char *part;
	enum error_code code;
};

/* The first row that fits. */
static const struct word words[] = {
	{ "context_length", ERROR_TOO_LARGE },
	{ "request_too_large", ERROR_TOO_LARGE },
	{ "overloaded", ERROR_OVERLOADED },
	{ "slow_down", ERROR_OVERLOADED },
	{ "insufficient_quota", ERROR_FORBIDDEN },
	{ "billing", ERROR_FORBIDDEN },
	{ "rate_limit", ERROR_RATE_LIMITED },
	{ "authentication", ERROR_UNAUTHENTICATED },
	{ "invalid_api_key", ERROR_UNAUTHENTICATED },
	{ "permission", ERROR_FORBIDDEN },
	{ "timeout", ERROR_TIMEOUT },
	{ "not_found", ERROR_INVALID },
	{ "invalid", ERROR_INVALID },
	{ "api_error", ERROR_UNAVAILABLE },
	{ "server_error", ERROR_UNAVAILABLE },
};

/* Of a message, when the status says no more than that the request is bad. */
static const struct word phrases[] = {
	{ "context length", ERROR_TOO_LARGE },
	{ "context window", ERROR_TOO_LARGE },
	{ "prompt is too long", ERROR_TOO_LARGE },
	{ "too many tokens", ERROR_TOO_LARGE },
};

static bool find_word(const struct word *table, size_t count, struct str text,
		      enum error_code *out_code)
{
	size_t at;
	for (size_t i = 0; i < count; i++)
		if (str_find(text, str_from_c(table[i].part), &at)) {
			*out_code = table[i].code;
			return true;
		}
	return false;
}

static enum error_code code_of_status(int status)
{
	switch (status) {
	case 401:
		return ERROR_UNAUTHENTICATED;
	case 402:
	case 403:
		return ERROR_FORBIDDEN;
	case 408:
	case 504:
		return ERROR_TIMEOUT;
	case 413:
		return ERROR_TOO_LARGE;
	case 429:
		return ERROR_RATE_LIMITED;
	case 503:
	case 529:
		return ERROR_OVERLOADED;
	default:
		return status == 0 || status >= 500 ? ERROR_UNAVAILABLE : ERROR_INVALID;
	}
}

static enum error_code code_of(int status, struct str type, struct str code, struct str message)
{
	enum error_code from_status = code_of_status(status), found;
	if (status == 0 || status == 400)
		if (find_word(words, COUNT(words), code, &found) ||
		    find_word(words, COUNT(words), type, &found)) {
			if (found != ERROR_INVALID)
				return found;
			from_status = found;
		}
	if (status == 429 && find_word(words, COUNT(words), code, &found) &&
	    found == ERROR_FORBIDDEN)
		return found;
	if (from_status == ERROR_INVALID && find_word(phrases, COUNT(phrases), message, &found))
		return found;
	return from_status;
}

/* The end of the last whole character within `most` bytes. */
static size_t whole_size(struct str text, size_t most)
{
	size_t size = text.size < most ? text.size : most;
	while (size > 0 && size < text.size && ((unsigned char)text.at[size] & 0xC0) == 0x80)
		size--;
	return size;
}

/* One short line without control characters. */
static void add_cleaned(struct buf *out, struct str text)
{
	size_t bad, size = whole_size(text, LIMIT_MODEL_QUOTE_BYTES);
	if (!utf8_valid(text, &bad))
		size = size < bad ? size : bad;
	for (size_t i = 0; i < size; i++) {
		bool blank = (unsigned char)text.at[i] <= ' ' || text.at[i] == 0x7F;
		if (!blank)
			buf_add_char(out, text.at[i]);
		else if (out->size > 0 && out->at[out->size - 1] != ' ')
			buf_add_char(out, ' ');
	}
	if (size < text.size)
		buf_add(out, S("…"));
}

static struct str message_of(const struct json *body, const struct json *fault)
{
	struct str text = json_text(json_member(fault, S("message")));
	if (text.size == 0)
		text = json_text(fault);
	if (text.size == 0)
		text = json_text(json_member(body, S("message")));
	return text.size > 0 ? text : json_text(json_member(body, S("detail")));
}

static void fill(int status, enum error_code code, struct str message, struct error *out_error)
{
	AUTO(buf) cleaned = { 0 };
	add_cleaned(&cleaned, message);
	if (status != 0)
		error_fill(out_error, code, "HTTP status %d%s" STR_FMT, status,
			   cleaned.size > 0 ? ": " : "", STR_ARG(buf_str(&cleaned)));
	else
		error_fill(out_error, code, "the provider failed%s" STR_FMT,
			   cleaned.size > 0 ? ": " : "", STR_ARG(buf_str(&cleaned)));
}

void model_fault_read(int status, const struct json *body, struct error *out_error)
{
	const struct json *fault = json_member(body, S("error"));
	if (fault == NULL || fault->kind == JSON_NULL)
		fault = body;
	struct str message = message_of(body, fault);
	struct str type = json_text(json_member(fault, S("type")));
	struct str code = json_text(json_member(fault, S("code")));
	fill(status, code_of(status, type, code, message), message, out_error);
}

void model_fault_of_response(int status, struct str bytes, struct error *out_error)
{
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	if (json_read(bytes, &arena, &json, &error))
		model_fault_read(status, json, out_error);
	else if (str_starts(str_trim(bytes), S("<")))
		fill(status, code_of_status(status), S("the answer is an HTML page"), out_error);
	else
		fill(status, code_of(status, S(""), S(""), bytes), bytes, out_error);
}

bool model_fault_is_transient(enum error_code code)
{
	return code == ERROR_RATE_LIMITED || code == ERROR_OVERLOADED ||
	       code == ERROR_UNAVAILABLE || code == ERROR_TIMEOUT;
}

int64_t model_fault_retry_after(const struct http_header *headers, size_t count, int64_t wall_us)
{
	return net_retry_after(headers, count, wall_us, (int64_t)LIMIT_MODEL_RETRY_AFTER_MS * 1000);
}
