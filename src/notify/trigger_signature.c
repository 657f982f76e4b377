/* notify/trigger_signature.c -- authenticates a request to a trigger.
 *
 * The signature is compared before anything else of the request is believed; only then is its time
 * looked at.  An error never contains a part of the key or of the right signature.
 */
#include "notify/trigger_signature.h"

#include "base/hmac.h"
#include "base/limits.h"
#include "net/webhook_signature.h"

struct str trigger_signature_header(const struct trigger_request *request, struct str name)
{
	for (size_t i = 0; i < request->header_count; i++)
		if (str_equal_folded(request->headers[i].name, name))
			return request->headers[i].value;
	return S("");
}

static struct str body_hash(struct str body, struct arena *arena)
{
	char text[HASH_TEXT_SIZE];
	struct hash hash = hash_of(body);
	return str_copy(arena, hash_text(&hash, text));
}

static enum trigger_verdict forged(struct error *error, const char *what)
{
	fail(error, ERROR_UNAUTHENTICATED, "%s", what);
	return TRIGGER_FORGED;
}

/* A delivery id is shown to people and is a part of an idempotency key. */
static bool is_good_id(struct str id)
{
	for (size_t i = 0; i < id.size; i++)
		if (id.at[i] <= ' ' || id.at[i] >= 0x7f)
			return false;
	return id.size > 0 && id.size <= LIMIT_TRIGGER_DELIVERY_BYTES;
}

static enum trigger_verdict check_standard(struct str key, const struct trigger_request *request,
					   struct arena *arena, struct str *out_id,
					   struct error *error)
{
	struct str id = trigger_signature_header(request, S("Webhook-Id"));
	struct str time = trigger_signature_header(request, S("Webhook-Timestamp"));
	struct str signature = trigger_signature_header(request, S("Webhook-Signature"));
	int64_t seconds = 0;
	if (!is_good_id(id) || time.size == 0 || time.size > 18 || !str_to_int(time, &seconds) ||
	    signature.size == 0)
		return forged(error, "the request must have the headers Webhook-Id, "
				     "Webhook-Timestamp and Webhook-Signature");
	if (!webhook_signature_fits(key, id, time, request->body, signature))
		return forged(error, "the signature does not fit");
	int64_t age = request->now / 1000000 - seconds;
	if (age > LIMIT_TRIGGER_AGE_SECONDS || age < -LIMIT_TRIGGER_AGE_SECONDS) {
		fail(error, ERROR_UNAUTHENTICATED,
		     "the time of the request differs from the server's by %lld seconds, and %d are "
		     "allowed; sign it again",
		     (long long)age, LIMIT_TRIGGER_AGE_SECONDS);
		return TRIGGER_STALE;
	}
	*out_id = str_copy(arena, id);
	return TRIGGER_GENUINE;
}

static enum trigger_verdict check_token(struct str key, const struct trigger_request *request,
					struct arena *arena, struct str *out_id,
					struct error *error)
{
	struct str token = trigger_signature_header(request, S("X-Gitlab-Token"));
	struct str id = trigger_signature_header(request, S("X-Gitlab-Event-UUID"));
	if (token.size == 0)
		return forged(error, "the request must have the header X-Gitlab-Token or "
				     "Webhook-Signature");
	/* Of the hashes, so that not even the size of the key can be measured. */
	struct hash given = hash_of(token), right = hash_of(key);
	if (!hmac_equal((struct str){ (const char *)given.bytes, sizeof(given.bytes) },
			(struct str){ (const char *)right.bytes, sizeof(right.bytes) }))
		return forged(error, "the token does not fit");
	if (id.size == 0)
		id = trigger_signature_header(request, S("Idempotency-Key"));
	*out_id = is_good_id(id) ? str_copy(arena, id) : body_hash(request->body, arena);
	return TRIGGER_GENUINE;
}

static enum trigger_verdict check_github(struct str key, const struct trigger_request *request,
					 struct arena *arena, struct str *out_id,
					 struct error *error)
{
	struct str signature = trigger_signature_header(request, S("X-Hub-Signature-256"));
	if (signature.size == 0)
		return forged(error, "the request must have the header X-Hub-Signature-256");
	if (!webhook_signature_github_fits(key, request->body, signature))
		return forged(error, "the signature does not fit");
	*out_id = body_hash(request->body, arena);
	return TRIGGER_GENUINE;
}

enum trigger_verdict trigger_signature_check(enum run_trigger_source source, struct str key,
					     const struct trigger_request *request,
					     struct arena *arena, struct str *out_known_by,
					     struct str *out_delivery, struct error *error)
{
	enum trigger_verdict verdict = TRIGGER_FORGED;
	struct str id = S(""), name = S("");
	bool standard = source == RUN_TRIGGER_SOURCE_GENERIC ||
			(source == RUN_TRIGGER_SOURCE_GITLAB &&
			 trigger_signature_header(request, S("Webhook-Signature")).size > 0);
	if (key.size == 0)
		return forged(error, "the trigger has an empty secret");
	if (standard)
		verdict = check_standard(key, request, arena, &id, error);
	else if (source == RUN_TRIGGER_SOURCE_GITLAB)
		verdict = check_token(key, request, arena, &id, error);
	else
		verdict = check_github(key, request, arena, &id, error);
	if (verdict != TRIGGER_GENUINE)
		return verdict;
	if (source == RUN_TRIGGER_SOURCE_GITHUB)
		name = trigger_signature_header(request, S("X-GitHub-Delivery"));
	*out_known_by = id;
	*out_delivery = is_good_id(name) ? str_copy(arena, name) : id;
	return TRIGGER_GENUINE;
}
