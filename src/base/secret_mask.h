/* base/secret_mask.h -- finds secrets in text and replaces them with SECRET_MASK_TEXT.
 *
 * A secret is found as it is, escaped as in JSON, percent-encoded as in URLs, as hexadecimal digits,
 * and in base64 (both alphabets) at each of the three positions that it can have within a longer
 * text.  The beginning of a secret at the end of a text is found too, because text is cut at limits.
 * Text that is broken into lines within the secret is not found.
 *
 * secret_mask_stream() masks text that arrives in pieces: it keeps back an end that could be the
 * beginning of a secret, never more than the longest form.  Pure.
 */
#ifndef BASE_SECRET_MASK_H
#define BASE_SECRET_MASK_H

#include "base/json.h"

#define SECRET_MASK_TEXT "***"

struct secret_mask;

/* In the arena; `secrets` are copied.  Empty ones are ignored. */
const struct secret_mask *secret_mask_new(struct str_list secrets, struct arena *arena);

/* Appends the text without the secrets. */
void secret_mask_add(const struct secret_mask *mask, struct str text, struct buf *out);
/* Masks the beginning of the text and returns its size; the rest could be the beginning of a secret.
 * With `last` nothing is kept back. */
size_t secret_mask_stream(const struct secret_mask *mask, struct str text, bool last,
			  struct buf *out);
/* The tree with all strings and keys masked. */
const struct json *secret_mask_json(const struct secret_mask *mask, const struct json *tree,
				    struct arena *arena);
/* Masks the error's text; the code and the position stay. */
void secret_mask_error(const struct secret_mask *mask, struct error *error);

#endif
