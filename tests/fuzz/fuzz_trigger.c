/* Requests to triggers under libFuzzer: without the key nothing is genuine, and with it every body is.
 *
 * The first byte chooses the source; the rest is lines "name: value" up to an empty line, then the body.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/hmac.h"
#include "base/limits.h"
#include "net/webhook_signature.h"
#include "notify/trigger_signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADERS = 16 };

static enum trigger_verdict check(enum run_trigger_source source, struct str key,
				  const struct trigger_request *request)
{
	AUTO(arena) arena = { 0 };
	struct str known_by = { NULL, 0 }, delivery = { NULL, 0 };
	struct error error = { 0 };
	enum trigger_verdict verdict =
		trigger_signature_check(source, key, request, &arena, &known_by, &delivery, &error);
	require((verdict == TRIGGER_GENUINE) == (error.code == ERROR_NONE));
	require((verdict == TRIGGER_GENUINE) == (known_by.at != NULL));
	if (verdict == TRIGGER_GENUINE)
		require(known_by.size > 0 && known_by.size <= LIMIT_TRIGGER_DELIVERY_BYTES &&
			delivery.size > 0 && delivery.size <= LIMIT_TRIGGER_DELIVERY_BYTES);
	return verdict;
}

/* A request that is signed as it should be is genuine, whatever else is in it. */
static void check_signed(struct str body, struct str key)
{
	AUTO(arena) arena = { 0 };
	char hex[HASH_TEXT_SIZE];
	struct hash code = hmac_sha256(key, &body, 1);
	const struct http_header headers[] = {
		{ S("Webhook-Id"), S("m") },
		{ S("Webhook-Timestamp"), S("1000") },
		{ S("Webhook-Signature"),
		  webhook_signature_make(key, S("m"), S("1000"), body, &arena) },
		{ S("X-Hub-Signature-256"),
		  str_format(&arena, "sha256=" STR_FMT, STR_ARG(hash_text(&code, hex))) },
	};
	const struct trigger_request request = { .headers = headers,
						 .header_count = COUNT(headers),
						 .body = body,
						 .now = INT64_C(1000000000) };
	for (int source = RUN_TRIGGER_SOURCE_GITHUB; source <= RUN_TRIGGER_SOURCE_GENERIC; source++)
		require(check((enum run_trigger_source)source, key, &request) == TRIGGER_GENUINE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_header headers[HEADERS];
	size_t count = 0;
	if (size < 1)
		return 0;
	enum run_trigger_source source = (enum run_trigger_source)(data[0] % 3);
	struct str rest = { (const char *)data + 1, size - 1 }, line, name;
	/* A key that no input contains. */
	struct hash hash = hash_prefixed(S("key of "), (struct str){ (const char *)data, size });
	struct str key = { (const char *)hash.bytes, sizeof(hash.bytes) };
	while (count < HEADERS && str_cut(&rest, '\n', &line) && line.size > 0)
		if (str_cut(&line, ':', &name) && line.at != NULL)
			headers[count++] = (struct http_header){ name, str_trim(line) };
	const struct trigger_request request = { .headers = headers,
						 .header_count = count,
						 .body = rest.at == NULL ? S("") : rest,
						 .now = INT64_C(1000000000) };
	require(check(source, key, &request) == TRIGGER_FORGED);
	check_signed(request.body, key);
	return 0;
}
