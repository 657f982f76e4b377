/* tracker/tracker_fault.c -- failed answers of trackers as errors.
 *
 * Trackers agree on statuses and put a message into JSON: "message" (GitHub, GitLab), "error" (GitLab),
 * "errorMessages" and "errors" (Jira).  GitHub refuses with 403 when its rate limit is reached, so the
 * headers decide.
 */
#include "base/json.h"
#include "base/limits.h"
#include "base/time.h"
#include "base/utf8.h"
#include "net/retry_after.h"
#include "tracker/tracker.h"

static const int64_t most_us = (int64_t)LIMIT_TRACKER_RETRY_AFTER_MS * 1000;

static struct str first_text(const struct json *value, struct arena *arena)
{
	if (value == NULL)
		return S("");
	if (value->kind == JSON_STRING)
		return value->as.string;
	if (value->kind == JSON_LIST && value->as.list.count > 0)
		return first_text(&value->as.list.at[0], arena);
	if (value->kind == JSON_OBJECT && value->as.object.count > 0) {
		const struct json_member *member = &value->as.object.at[0];
		const struct json *message = json_member(value, S("message"));
		if (message != NULL && message->kind == JSON_STRING)
			return message->as.string;
		return str_format(arena, STR_FMT ": " STR_FMT, STR_ARG(member->key),
				  STR_ARG(first_text(&member->value, arena)));
	}
	return S("");
}

struct str tracker_fault_message(struct str body, struct arena *arena)
{
	static const char *const members[] = { "message", "errorMessages", "error", "errors" };
	const struct json *json;
	struct error unread;
	struct str text = S("");
	size_t bad;
	if (!utf8_valid(body, &bad))
		return S("");
	if (!json_read(body, arena, &json, &unread))
		return str_starts(str_trim(body), S("<")) ? S("the answer is an HTML page") : S("");
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && text.size == 0; i++)
		text = first_text(json_member(json, str_from_c(members[i])), arena);
	/* GitHub's details. */
	struct str detail = first_text(json_item(json_member(json, S("errors")), 0), arena);
	if (detail.size > 0 && !str_equal(detail, text))
		text = str_format(arena, STR_FMT " (" STR_FMT ")", STR_ARG(text), STR_ARG(detail));
	bool truncated;
	text = tracker_shorten(text, LIMIT_MODEL_QUOTE_BYTES, &truncated);
	char *line = arena_take_text(arena, text.size + 1);
	for (size_t i = 0; i < text.size; i++)
		line[i] = (unsigned char)text.at[i] < ' ' ? ' ' : text.at[i];
	return (struct str){ line, text.size };
}

static int64_t header_number(const struct tracker_fault *fault, struct str name)
{
	struct str text = net_header_value(fault->headers, fault->header_count, name);
	int64_t number;
	return text.size > 0 && text.size <= 12 && str_to_int(text, &number) ? number : -1;
}

/* Seconds since 1970 at which the limit is reset; -1 = it is not said. */
static int64_t reset_second(const struct tracker_fault *fault)
{
	int64_t second = header_number(fault, S("X-RateLimit-Reset"));
	return second >= 0 ? second : header_number(fault, S("RateLimit-Reset"));
}

static bool is_rate_limit(const struct tracker_fault *fault)
{
	bool asked =
		net_header_value(fault->headers, fault->header_count, S("Retry-After")).size > 0;
	return fault->status == 429 ||
	       (fault->status == 403 &&
		(asked || header_number(fault, S("X-RateLimit-Remaining")) == 0));
}

static int64_t rate_limit_wait(const struct tracker_fault *fault)
{
	int64_t wait = net_retry_after(fault->headers, fault->header_count, fault->now_us, most_us);
	int64_t reset = reset_second(fault);
	if (wait == 0 && reset >= 0)
		wait = reset * 1000000 - fault->now_us;
	return wait < 0 ? 0 : wait < most_us ? wait : most_us;
}

static int64_t fail_rate_limit(const struct tracker_fault *fault, struct error *error)
{
	int64_t wait = rate_limit_wait(fault);
	char when[TIME_TEXT_SIZE];
	int64_t until = (fault->now_us + wait) / 1000000 * 1000000;
	if (wait == 0)
		fail(error, ERROR_RATE_LIMITED, "the rate limit is reached%s%s%s",
		     fault->has_token ? "" : "; with a token (",
		     fault->has_token ? "" : fault->tracker->variable,
		     fault->has_token ? "" : ") it is higher");
	else
		fail(error, ERROR_RATE_LIMITED,
		     "the rate limit is reached until " STR_FMT " (%lld s from now)%s%s%s",
		     STR_ARG(time_text(until, when)), (long long)((wait + 999999) / 1000000),
		     fault->has_token ? "" : "; with a token (",
		     fault->has_token ? "" : fault->tracker->variable,
		     fault->has_token ? "" : ") it is higher");
	return wait;
}

static void fail_credentials(const struct tracker_fault *fault, struct str message,
			     struct error *error)
{
	fail(error, ERROR_CONFIGURATION,
	     "the tracker %s (status %d: " STR_FMT "); set %s for the server",
	     fault->has_token ? "refuses the token" : "wants a token", fault->status,
	     STR_ARG(message), fault->tracker->variable);
}

int64_t tracker_fault_error(const struct tracker_fault *fault, struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct str message = tracker_fault_message(fault->body, &arena);
	if (is_rate_limit(fault))
		return fail_rate_limit(fault, error);
	if (fault->status == 401)
		fail_credentials(fault, message, error);
	else if (fault->status == 403)
		fail(error, ERROR_FORBIDDEN,
		     "the token does not allow it (status 403: " STR_FMT
		     "); give it more rights, or set another one as %s",
		     STR_ARG(message), fault->tracker->variable);
	else if (fault->status == 404 || fault->status == 410)
		fail(error, ERROR_NOT_FOUND, "it does not exist, or %s (status %d: " STR_FMT ")",
		     fault->has_token ? "the token may not see it"
				      : "it cannot be seen without a token",
		     fault->status, STR_ARG(message));
	else if (fault->status == 408)
		fail(error, ERROR_TIMEOUT, "status 408: " STR_FMT, STR_ARG(message));
	else if (fault->status >= 500)
		fail(error, ERROR_UNAVAILABLE, "the tracker failed (status %d: " STR_FMT ")",
		     fault->status, STR_ARG(message));
	else
		fail(error, ERROR_TOOL_FAILED, "the tracker refused it (status %d: " STR_FMT ")",
		     fault->status, STR_ARG(message));
	if (fault->status < 500)
		return 0;
	return net_retry_after(fault->headers, fault->header_count, fault->now_us, most_us);
}
