/* api/key_ring.c -- API keys by id, and a small table of addresses that sent wrong keys. */
#include "api/key_ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

enum { PEER_WAYS = 4, PEER_SETS = LIMIT_WRONG_KEY_PEERS / PEER_WAYS };

/* A client address, by its hash.  Addresses with the same hash share a counter. */
struct peer {
	uint64_t hash;
	int64_t since; /* us, monotonic: start of the counting window */
	int wrong;
};

struct key_ring {
	struct map by_id; /* 16 bytes -> key_ring_entry */
	struct peer peers[PEER_SETS][PEER_WAYS];
};

static struct str prefix(void)
{
	return S("baton_");
}

struct key_ring *key_ring_new(void)
{
	struct key_ring *keys = calloc(1, sizeof(*keys));
	require(keys != NULL);
	return keys;
}

void key_ring_free(struct key_ring *keys)
{
	size_t i = 0;
	struct str id;
	for (void *entry; (entry = map_next(&keys->by_id, &i, &id)) != NULL;) {
		map_remove(&keys->by_id, id);
		free(entry);
	}
	map_done(&keys->by_id);
	free(keys);
}

void key_ring_put(struct key_ring *keys, const struct run_key *key)
{
	key_ring_remove(keys, &key->id);
	struct key_ring_entry *entry = calloc(1, sizeof(*entry));
	require(entry != NULL);
	entry->id = key->id;
	entry->secret = key->sha256;
	entry->role = key->role;
	entry->expires_at = has(key, expires_at) ? key->expires_at : 0;
	/* Truncate between two characters: events store the label, which must be UTF-8. */
	size_t size = sizeof(entry->label) - 1;
	while (size < key->label.size && size > 0 &&
	       ((unsigned char)key->label.at[size] & 0xC0) == 0x80)
		size--;
	struct str label = str_head(key->label, size);
	memcpy(entry->label, label.at, label.size);
	map_put(&keys->by_id, uuid_str(&entry->id), entry);
}

void key_ring_remove(struct key_ring *keys, const struct uuid *id)
{
	free(map_remove(&keys->by_id, uuid_str(id)));
}

static bool is_valid(const struct key_ring_entry *entry, int64_t now)
{
	return entry->expires_at == 0 || now < entry->expires_at;
}

const struct key_ring_entry *key_ring_find(const struct key_ring *keys, const struct uuid *id,
					   int64_t now)
{
	const struct key_ring_entry *entry = map_get(&keys->by_id, uuid_str(id));
	return entry != NULL && is_valid(entry, now) ? entry : NULL;
}

size_t key_ring_count(const struct key_ring *keys, int64_t now)
{
	size_t i = 0, count = 0;
	struct str id;
	for (const struct key_ring_entry *entry; (entry = map_next(&keys->by_id, &i, &id)) != NULL;)
		count += is_valid(entry, now);
	return count;
}

/* Constant time: the duration must not reveal where the hashes differ. */
static bool same_hash(const struct hash *a, const struct hash *b)
{
	volatile uint8_t difference = 0;
	for (size_t i = 0; i < sizeof(a->bytes); i++)
		difference = (uint8_t)(difference | (a->bytes[i] ^ b->bytes[i]));
	return difference == 0;
}

const struct key_ring_entry *key_ring_check(const struct key_ring *keys, struct str text,
					    int64_t now)
{
	static const struct hash no_secret;
	struct str rest, id_text;
	struct uuid id;
	if (!str_starts(text, prefix()))
		return NULL;
	rest = str_skip(text, prefix().size);
	if (!str_cut(&rest, '_', &id_text) || rest.at == NULL || !uuid_parse(id_text, &id))
		return NULL;
	const struct key_ring_entry *entry = key_ring_find(keys, &id, now);
	struct hash shown = hash_of(rest);
	bool same = same_hash(entry == NULL ? &no_secret : &entry->secret, &shown);
	return entry != NULL && same ? entry : NULL;
}

/* ---- creating ---------------------------------------------------------------------- */

static struct str secret_text(const uint8_t secret[32], char out[HASH_TEXT_SIZE])
{
	struct hash bytes;
	memcpy(bytes.bytes, secret, sizeof(bytes.bytes));
	return hash_text(&bytes, out);
}

struct str key_ring_text(const struct uuid *id, const uint8_t secret[32], struct arena *arena)
{
	char id_text[UUID_TEXT_SIZE], text[HASH_TEXT_SIZE];
	return str_format(arena, STR_FMT STR_FMT "_" STR_FMT, STR_ARG(prefix()),
			  STR_ARG(uuid_text(id, id_text)), STR_ARG(secret_text(secret, text)));
}

struct hash key_ring_hash(const uint8_t secret[32])
{
	char text[HASH_TEXT_SIZE];
	return hash_of(secret_text(secret, text));
}

/* ---- wrong keys -------------------------------------------------------------------- */

/* The entry of the address; a new one replaces the oldest entry of the set. */
static struct peer *peer_of(struct key_ring *keys, uint64_t hash)
{
	struct peer *set = keys->peers[hash % PEER_SETS], *oldest = set;
	for (size_t i = 0; i < PEER_WAYS; i++) {
		if (set[i].wrong > 0 && set[i].hash == hash)
			return &set[i];
		if (set[i].since < oldest->since)
			oldest = &set[i];
	}
	*oldest = (struct peer){ .hash = hash };
	return oldest;
}

int key_ring_note_wrong(struct key_ring *keys, struct str peer, int64_t now_mono)
{
	struct peer *entry = peer_of(keys, map_hash(peer));
	int64_t window = (int64_t)LIMIT_WRONG_KEY_MS * 1000;
	if (entry->wrong == 0 || now_mono - entry->since >= window) {
		entry->since = now_mono;
		entry->wrong = 0;
	}
	if (entry->wrong < LIMIT_WRONG_KEYS) {
		entry->wrong++;
		return 0;
	}
	return (int)((entry->since + window - now_mono) / 1000000 + 1);
}
