/* api/key_ring.h -- the keys to the HTTP interface, in memory.
 *
 * A key is `baton_<id>_<secret>`; what is kept of it is the document of its id (run.Key) with the
 * SHA-256 of the secret.  Plain SHA-256 is right here: a secret is 256 random bits, so there is
 * nothing to guess and nothing for a slow hash to slow down.
 *
 * They are read when the server starts and changed by whoever changes the documents, once the
 * change is on the disk: a key that was taken back is not good for one request more.
 *
 * Wrong keys are counted for each address.  One that has used up its count is told to wait (429)
 * instead of to try another key; a good key is taken all the same, so nobody can lock out those who
 * share an address with him.
 *
 * On the loop's thread.
 */
#ifndef API_KEYS_H
#define API_KEYS_H

#include "base/limits.h"
#include "contract/run_types.h"

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
/* NULL when there is none, or it is not good any more. */
const struct key_ring_entry *key_ring_find(const struct key_ring *keys, const struct uuid *id,
					   int64_t now);
/* The entry whose whole text this is; NULL when it is nobody's. */
const struct key_ring_entry *key_ring_check(const struct key_ring *keys, struct str text,
					    int64_t now);
size_t key_ring_count(const struct key_ring *keys, int64_t now); /* those that are good now */

/* The peer has shown a wrong key: 0, or the seconds it has to wait. */
int key_ring_note_wrong(struct key_ring *keys, struct str peer, int64_t now_mono);

/* The key's text. */
struct str key_ring_text(const struct uuid *id, const uint8_t secret[32], struct arena *arena);
/* What is kept of the secret: the hash of how it is written in the text. */
struct hash key_ring_hash(const uint8_t secret[32]);

#endif
