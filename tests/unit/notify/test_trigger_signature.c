/* Requests to triggers: what is genuine, forged or stale, and what a request is known by. */
#include <criterion/criterion.h>

#include "base/hmac.h"
#include "base/limits.h"
#include "net/webhook_signature.h"
#include "notify/trigger_signature.h"

#define NOW INT64_C(1700000000)

static struct str key = { "the key", 7 };

struct verdict {
	struct arena arena;
	struct str known_by, delivery;
	struct error error;
	enum trigger_verdict verdict;
};

static struct verdict check(enum run_trigger_source source, const struct http_header *headers,
			    size_t count, struct str body)
{
	struct verdict v = { .known_by = S("?"), .delivery = S("?") };
	const struct trigger_request request = {
		.headers = headers, .header_count = count, .body = body, .now = NOW * 1000000
	};
	v.verdict = trigger_signature_check(source, key, &request, &v.arena, &v.known_by,
					    &v.delivery, &v.error);
	return v;
}

static enum trigger_verdict standard(struct str id, int64_t time, struct str signed_id)
{
	AUTO(arena) arena = { 0 };
	struct str text = str_format(&arena, "%lld", (long long)time), body = S("{}");
	const struct http_header headers[] = {
		{ S("webhook-id"), id },
		{ S("WEBHOOK-TIMESTAMP"), text },
		{ S("Webhook-Signature"),
		  webhook_signature_make(key, signed_id, text, body, &arena) },
	};
	struct verdict v = check(RUN_TRIGGER_SOURCE_GENERIC, headers, COUNT(headers), body);
	cr_expect((v.verdict == TRIGGER_GENUINE) == str_equal(v.known_by, id));
	cr_expect((v.verdict == TRIGGER_GENUINE) == (v.error.code == ERROR_NONE));
	arena_done(&v.arena);
	return v.verdict;
}

Test(trigger_signature, time_and_id_are_signed)
{
	cr_expect_eq(standard(S("a"), NOW, S("a")), TRIGGER_GENUINE);
	cr_expect_eq(standard(S("a"), NOW, S("b")), TRIGGER_FORGED);
	cr_expect_eq(standard(S("a"), NOW - LIMIT_TRIGGER_AGE_SECONDS, S("a")), TRIGGER_GENUINE);
	cr_expect_eq(standard(S("a"), NOW - LIMIT_TRIGGER_AGE_SECONDS - 1, S("a")), TRIGGER_STALE);
	cr_expect_eq(standard(S("a"), NOW + LIMIT_TRIGGER_AGE_SECONDS + 1, S("a")), TRIGGER_STALE);
	/* Of a forgery, not even the age is told. */
	cr_expect_eq(standard(S("a"), 5, S("b")), TRIGGER_FORGED);
}

Test(trigger_signature, ids_are_short_visible_text)
{
	char id[LIMIT_TRIGGER_DELIVERY_BYTES + 1];
	memset(id, 'x', sizeof(id));
	cr_expect_eq(standard((struct str){ id, sizeof(id) - 1 }, NOW,
			      (struct str){ id, sizeof(id) - 1 }),
		     TRIGGER_GENUINE);
	cr_expect_eq(standard((struct str){ id, sizeof(id) }, NOW, (struct str){ id, sizeof(id) }),
		     TRIGGER_FORGED);
	cr_expect_eq(standard(S("a b"), NOW, S("a b")), TRIGGER_FORGED);
	cr_expect_eq(standard(S(""), NOW, S("")), TRIGGER_FORGED);
}

Test(trigger_signature, github_is_known_by_its_body)
{
	struct str body = S("{\"a\": 1}");
	char hex[HASH_TEXT_SIZE], hash_hex[HASH_TEXT_SIZE];
	AUTO(arena) arena = { 0 };
	struct hash code = hmac_sha256(key, &body, 1), hash = hash_of(body);
	const struct http_header headers[] = {
		{ S("X-Hub-Signature-256"),
		  str_format(&arena, "sha256=" STR_FMT, STR_ARG(hash_text(&code, hex))) },
		{ S("X-GitHub-Delivery"), S("d-1") },
	};
	struct verdict v = check(RUN_TRIGGER_SOURCE_GITHUB, headers, 2, body);
	cr_expect_eq(v.verdict, TRIGGER_GENUINE);
	cr_expect(str_equal(v.known_by, hash_text(&hash, hash_hex)));
	cr_expect(str_equal(v.delivery, S("d-1")));
	arena_done(&v.arena);
	v = check(RUN_TRIGGER_SOURCE_GITHUB, headers, 2, S("{\"a\": 2}"));
	cr_expect_eq(v.verdict, TRIGGER_FORGED);
	cr_expect(str_equal(v.known_by, S("?")));
	cr_expect_eq(check(RUN_TRIGGER_SOURCE_GITHUB, NULL, 0, body).verdict, TRIGGER_FORGED);
}

Test(trigger_signature, a_token_of_gitlab)
{
	const struct http_header right[] = { { S("X-Gitlab-Token"), key },
					     { S("X-Gitlab-Event-UUID"), S("e-1") } };
	const struct http_header wrong[] = { { S("X-Gitlab-Token"), S("the kez") } };
	struct verdict v = check(RUN_TRIGGER_SOURCE_GITLAB, right, 2, S("{}"));
	cr_expect_eq(v.verdict, TRIGGER_GENUINE);
	cr_expect(str_equal(v.known_by, S("e-1")));
	arena_done(&v.arena);
	cr_expect_eq(check(RUN_TRIGGER_SOURCE_GITLAB, wrong, 1, S("{}")).verdict, TRIGGER_FORGED);
	/* A token does not authenticate requests of other sources. */
	cr_expect_eq(check(RUN_TRIGGER_SOURCE_GENERIC, right, 2, S("{}")).verdict, TRIGGER_FORGED);
	cr_expect_eq(check(RUN_TRIGGER_SOURCE_GITHUB, right, 2, S("{}")).verdict, TRIGGER_FORGED);
}

Test(trigger_signature, an_empty_key_fits_nothing)
{
	const struct http_header token[] = { { S("X-Gitlab-Token"), S("") } };
	struct str kept = key;
	key = S("");
	for (int source = RUN_TRIGGER_SOURCE_GITHUB; source <= RUN_TRIGGER_SOURCE_GENERIC; source++)
		cr_expect_eq(check((enum run_trigger_source)source, token, 1, S("{}")).verdict,
			     TRIGGER_FORGED);
	key = kept;
}
