/* API keys: their text, the stored hash, and which keys are accepted. */
#include <criterion/criterion.h>
#include <string.h>

#include "api/key_ring.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/utf8.h"

static struct key_ring *keys;
static struct arena arena;

static void begin(void)
{
	static const uint8_t seed[16] = { 1 };
	map_seed(seed);
	keys = key_ring_new();
}

static void end(void)
{
	key_ring_free(keys);
	arena_done(&arena);
}

TestSuite(keys, .init = begin, .fini = end);

static const uint8_t secret[32] = { 1, 2, 3, 255 };

static struct uuid id_of(uint8_t number)
{
	const uint8_t dice[16] = { number };
	return uuid_from_random(dice);
}

static struct str make(uint8_t number, int64_t expires_at)
{
	struct run_key *key = run_key_new(&arena);
	SET(key, id, id_of(number));
	SET(key, label, S("someone"));
	SET(key, role, RUN_ROLE_OPERATOR);
	SET(key, sha256, key_ring_hash(secret));
	SET(key, created_at, 1);
	if (expires_at > 0)
		SET(key, expires_at, expires_at);
	SET(key, created_by, S("me"));
	key_ring_put(keys, key);
	return key_ring_text(&key->id, secret, &arena);
}

Test(keys, the_text_is_the_id_and_the_secret)
{
	struct uuid id = id_of(7);
	char id_text[UUID_TEXT_SIZE];
	struct str text = key_ring_text(&id, secret, &arena);
	struct str head =
		str_format(&arena, "baton_" STR_FMT "_010203ff", STR_ARG(uuid_text(&id, id_text)));
	cr_assert(str_starts(text, head), STR_FMT, STR_ARG(text));
	cr_assert_eq(text.size, strlen("baton_") + 36 + 1 + 64);
	/* The stored hash is that of the secret's text, so nothing has to be parsed before the
	 * comparison. */
	struct hash kept = key_ring_hash(secret);
	struct hash made = hash_of(str_skip(text, text.size - 64));
	cr_assert(hash_equal(&kept, &made));
}

Test(keys, the_whole_text_opens_and_nothing_else)
{
	struct str text = make(1, 0);
	const struct key_ring_entry *entry = key_ring_check(keys, text, 100);
	cr_assert_not_null(entry);
	cr_assert_eq(entry->role, RUN_ROLE_OPERATOR);
	cr_assert_str_eq(entry->label, "someone");
	for (size_t size = 0; size < text.size; size++)
		cr_assert_null(key_ring_check(keys, str_head(text, size), 100), "%zu bytes", size);
	char wrong[128];
	for (size_t i = 0; i < text.size; i++) {
		memcpy(wrong, text.at, text.size);
		wrong[i] = wrong[i] == '0' ? '1' : '0';
		cr_assert_null(key_ring_check(keys, (struct str){ wrong, text.size }, 100),
			       "another byte %zu", i);
	}
	cr_assert_null(key_ring_check(keys, str_format(&arena, STR_FMT "0", STR_ARG(text)), 100));
	cr_assert_null(key_ring_check(keys, S("baton_"), 100));
	cr_assert_null(key_ring_check(keys, S(""), 100));
}

Test(keys, what_was_taken_back_or_is_over_opens_nothing)
{
	struct str text = make(1, 0), brief = make(2, 50);
	struct uuid id = id_of(1);
	cr_assert_not_null(key_ring_check(keys, brief, 49));
	cr_assert_null(key_ring_check(keys, brief, 50));
	cr_assert_eq(key_ring_count(keys, 49), 2);
	cr_assert_eq(key_ring_count(keys, 50), 1);
	key_ring_remove(keys, &id);
	cr_assert_null(key_ring_check(keys, text, 49));
	key_ring_remove(keys, &id);
	cr_assert_eq(key_ring_count(keys, 50), 0);
}

Test(keys, a_long_label_is_cut_between_characters)
{
	struct run_key *key = run_key_new(&arena);
	AUTO(buf) label = { 0 };
	size_t bad;
	for (int i = 0; i < 100; i++)
		buf_add(&label, S("\xe2\x82\xac"));
	make(1, 0);
	SET(key, id, id_of(1));
	SET(key, label, buf_str(&label));
	SET(key, role, RUN_ROLE_VIEWER);
	SET(key, sha256, key_ring_hash(secret));
	key_ring_put(keys, key);
	struct uuid id = id_of(1);
	struct str kept = str_from_c(key_ring_find(keys, &id, 1)->label);
	cr_assert_eq(kept.size, LIMIT_NAME_BYTES / 3 * 3);
	cr_assert(utf8_valid(kept, &bad));
}

Test(keys, put_again_is_another_one)
{
	struct str text = make(1, 50);
	cr_assert_null(key_ring_check(keys, text, 60));
	make(1, 0);
	cr_assert_not_null(key_ring_check(keys, text, 60));
	cr_assert_eq(key_ring_count(keys, 60), 1);
}
