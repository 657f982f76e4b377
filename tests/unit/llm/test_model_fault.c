/* Refusals of providers, and Retry-After. */
#include <criterion/criterion.h>

#include "base/limits.h"
#include "llm/model_fault.h"

static const int64_t SECOND = 1000000;

struct refusal {
	int status;
	const char *body;
	enum error_code code;
	const char *part;
};

static const struct refusal refusals[] = {
	{ 400, "{\"error\":{\"message\":\"no\",\"type\":\"invalid_request_error\"}}", ERROR_INVALID,
	  "HTTP status 400: no" },
	{ 400, "{\"error\":{\"message\":\"long\",\"code\":\"context_length_exceeded\"}}",
	  ERROR_TOO_LARGE, "long" },
	{ 400,
	  "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 9 tokens\"}}",
	  ERROR_TOO_LARGE, "prompt is too long" },
	{ 400, "{\"error\":{\"message\":\"This model's maximum context length is 8 tokens\"}}",
	  ERROR_TOO_LARGE, "8 tokens" },
	{ 401, "{\"error\":{\"message\":\"Incorrect API key\"}}", ERROR_UNAUTHENTICATED,
	  "Incorrect" },
	{ 402, "{\"error\":{\"message\":\"Insufficient Balance\"}}", ERROR_FORBIDDEN, "Balance" },
	{ 403, "{}", ERROR_FORBIDDEN, "HTTP status 403" },
	{ 404, "{\"error\":{\"message\":\"The model x does not exist\"}}", ERROR_INVALID,
	  "model x" },
	{ 408, "", ERROR_TIMEOUT, "HTTP status 408" },
	{ 413, "", ERROR_TOO_LARGE, "HTTP status 413" },
	{ 422, "{\"detail\":\"bad field\"}", ERROR_INVALID, "bad field" },
	{ 429, "{\"error\":{\"message\":\"slow down\"}}", ERROR_RATE_LIMITED, "slow down" },
	{ 429, "{\"error\":{\"message\":\"pay\",\"code\":\"insufficient_quota\"}}", ERROR_FORBIDDEN,
	  "pay" },
	{ 500, "{\"error\":{\"message\":\"oops\"}}", ERROR_UNAVAILABLE, "oops" },
	{ 502, "<html><body>Bad gateway</body></html>", ERROR_UNAVAILABLE, "an HTML page" },
	{ 503, "{\"message\":\"busy\"}", ERROR_OVERLOADED, "busy" },
	{ 504, "", ERROR_TIMEOUT, "HTTP status 504" },
	{ 529, "{\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
	  ERROR_OVERLOADED, "Overloaded" },
	{ 302, "", ERROR_INVALID, "HTTP status 302" },
	{ 400, "plain\x01 text", ERROR_INVALID, "plain text" },
	{ 400, "\xFF\xFE", ERROR_INVALID, "HTTP status 400" },
};

Test(model_fault, every_refusal_has_its_code)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *one = &refusals[i];
		struct error error = { 0 };
		size_t at;
		model_fault_of_response(one->status, str_from_c(one->body), &error);
		cr_expect(error.code == one->code &&
				  str_find(str_from_c(error.text), str_from_c(one->part), &at),
			  "%d %s: code %d %s", one->status, one->body, (int)error.code, error.text);
	}
}

Test(model_fault, a_message_is_cut_at_a_character)
{
	AUTO(buf) body = { 0 };
	struct error error;
	buf_add(&body, S("{\"error\":{\"message\":\"x"));
	for (int i = 0; i < 3000; i++)
		buf_add(&body, S("ä"));
	buf_add(&body, S("\"}}"));
	model_fault_of_response(500, buf_str(&body), &error);
	struct str text = str_from_c(error.text);
	cr_expect(text.size < 260 && str_ends(text, S("ä…")), "%s", error.text);
}

struct wait {
	const char *name, *value;
	int64_t us;
};

/* 2015-10-21T07:28:00Z is NOW + 60 s. */
static const int64_t NOW = 1445412420LL * 1000000;

static const struct wait waits[] = {
	{ "Retry-After", "7", 7000000 },
	{ "retry-after", " 7 ", 7000000 },
	{ "Retry-After", "1.5", 1500000 },
	{ "Retry-After-Ms", "250", 250000 },
	{ "Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT", 60000000 },
	{ "Retry-After", "Wed, 21 Oct 2015 07:20:00 GMT", 0 },
	{ "Retry-After", "Wed, 21 Oct 9999 07:28:00 GMT", 3600000000LL },
	{ "Retry-After", "-5", 0 },
	{ "Retry-After", "1000000000", 3600000000LL },
	{ "Retry-After", "99999999999999999999999999", 0 },
	{ "Retry-After", "soon", 0 },
	{ "Retry-After", "", 0 },
	{ "X-Other", "7", 0 },
};

Test(model_fault, retry_after)
{
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		struct http_header header = { str_from_c(waits[i].name),
					      str_from_c(waits[i].value) };
		int64_t got = model_fault_retry_after(&header, 1, NOW);
		cr_expect(got == waits[i].us, "%s: %s gave %lld", waits[i].name, waits[i].value,
			  (long long)got);
	}
	const struct http_header both[] = { { S("Retry-After"), S("9") },
					    { S("Retry-After-Ms"), S("100") } };
	cr_expect_eq(model_fault_retry_after(both, 2, NOW), SECOND / 10);
	cr_expect_eq(model_fault_retry_after(NULL, 0, NOW), 0);
}
