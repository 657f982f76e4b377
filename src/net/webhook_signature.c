/* net/webhook_signature.c -- makes and compares signatures, never with an early exit at the first
 * byte that differs. */
#include "net/webhook_signature.h"

#include "base/base64.h"
#include "base/hmac.h"
#include "base/limits.h"

static struct str real_key(struct str key, struct arena *arena)
{
	struct str prefix = S("whsec_"), bytes;
	if (str_starts(key, prefix) && base64_read(arena, str_skip(key, prefix.size), &bytes) &&
	    bytes.size > 0)
		return bytes;
	return key;
}

struct str webhook_signature_make(struct str key, struct str id, struct str timestamp,
				  struct str body, struct arena *arena)
{
	const struct str parts[] = { id, S("."), timestamp, S("."), body };
	struct hash code = hmac_sha256(real_key(key, arena), parts, COUNT(parts));
	struct str text =
		base64_text(arena, (struct str){ (const char *)code.bytes, sizeof(code.bytes) });
	return str_format(arena, "v1," STR_FMT, STR_ARG(text));
}

bool webhook_signature_fits(struct str key, struct str id, struct str timestamp, struct str body,
			    struct str header)
{
	AUTO(arena) arena = { 0 };
	struct str right = webhook_signature_make(key, id, timestamp, body, &arena);
	struct str rest = header, given;
	bool fits = false;
	for (size_t i = 0; i < LIMIT_TRIGGER_SIGNATURES && str_cut(&rest, ' ', &given); i++)
		fits |= hmac_equal(given, right);
	return fits;
}

bool webhook_signature_github_fits(struct str key, struct str body, struct str header)
{
	char text[HASH_TEXT_SIZE];
	struct str prefix = S("sha256=");
	struct hash code = hmac_sha256(key, &body, 1);
	struct str right = hash_text(&code, text);
	return str_starts(header, prefix) && hmac_equal(str_skip(header, prefix.size), right);
}
