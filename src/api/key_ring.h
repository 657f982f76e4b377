/* api/key_ring.h -- the API keys in memory.
 *
 * A key is `baton_<id>_<secret>`.  The store keeps a document per key (run.Key) with the SHA-256 of
 * the secret.  A fast hash suffices: the secret is 256 random bits, so it cannot be guessed and a
 * slow hash would protect nothing.
 *
 * The ring is filled when the server starts and updated when a change of a key document is
 * committed: a revoked key is rejected from the next request on.
 *
 * Wrong keys are counted per address.  An address above the limit gets 429 with Retry-After instead
 * of 401.  A valid key is still accepted from that address, so an attacker cannot lock out other
 * users of a shared address.
 *
 * All functions run on the loop's thread.
 */
#ifndef API_KEY_RING_H
#define API_KEY_RING_H

#include "base/limits.h"
#include "contract/run_key_types.h"

struct key_ring;

struct key_ring_entry {
	struct uuid id;
	struct hash secret;
	enum run_role role;
	int64_t expires_at; /* us UTC; 0 = never */
	char label[LIMIT_NAME_BYTES + 1];
};

struct key_ring *key_ring_new(void);
void key_ring_free(struct key_ring *keys);
void key_ring_put(struct key_ring *keys, const struct run_key *key);
void key_ring_remove(struct key_ring *keys, const struct uuid *id);
/* NULL when the key does not exist or has expired. */
const struct key_ring_entry *key_ring_find(const struct key_ring *keys, const struct uuid *id,
					   int64_t now);
/* The entry of a complete key text; NULL when the key is unknown, wrong or expired. */
const struct key_ring_entry *key_ring_check(const struct key_ring *keys, struct str text,
					    int64_t now);
size_t key_ring_count(const struct key_ring *keys, int64_t now); /* not expired */

/* Records a wrong key.  Returns 0, or the seconds that the peer has to wait. */
int key_ring_note_wrong(struct key_ring *keys, struct str peer, int64_t now_mono);

/* The complete key text of an id and a secret. */
struct str key_ring_text(const struct uuid *id, const uint8_t secret[32], struct arena *arena);
/* The hash that is stored: SHA-256 of the secret as the key text spells it. */
struct hash key_ring_hash(const uint8_t secret[32]);

#endif
