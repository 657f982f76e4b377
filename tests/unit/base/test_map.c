/* The map: growth, tombstones, iteration, and SipHash-1-3. */
#include "tests/unit/base/expect.h"

#include <stdio.h>

#include "base/map.h"

enum { MANY = 20000 };

static struct str name_of(struct arena *arena, int number)
{
	return str_format(arena, "key-%d", number);
}

/* Key 00..0f and messages 00, 01, ... as in the SipHash paper.  The expected hashes for one and
 * three rounds come from another program, which was checked against the paper's 2-4 vector. */
Test(map, hashes_with_siphash_1_3)
{
	uint8_t key[16], message[15];
	for (uint8_t i = 0; i < 16; i++)
		key[i] = i;
	for (uint8_t i = 0; i < 15; i++)
		message[i] = i;
	map_seed(key);
	cr_expect_eq(map_hash(S("")), 0xabac0158050fc4dcu);
	cr_expect_eq(map_hash((struct str){ (const char *)message, 15 }), 0xd320d86d2a519956u);
	cr_expect_eq(map_hash((struct str){ (const char *)message, 8 }), 0x369095118d299a8eu);
}

Test(map, is_empty_when_zeroed)
{
	AUTO(map) map = { 0 };
	size_t index = 0;
	cr_expect_null(map_get(&map, S("a")));
	cr_expect_null(map_remove(&map, S("a")));
	cr_expect_null(map_next(&map, &index, NULL));
}

Test(map, keeps_many_and_forgets_the_removed)
{
	AUTO(arena) arena = { 0 };
	AUTO(map) map = { 0 };
	static int values[MANY];
	for (int i = 0; i < MANY; i++)
		map_put(&map, name_of(&arena, i), &values[i]);
	cr_expect_eq(map.count, MANY);
	for (int i = 0; i < MANY; i += 2)
		cr_assert_eq(map_remove(&map, name_of(&arena, i)), (void *)&values[i]);
	cr_expect_eq(map.count, MANY / 2);
	for (int i = 0; i < MANY; i++)
		cr_assert_eq(map_get(&map, name_of(&arena, i)),
			     (void *)(i % 2 == 0 ? NULL : &values[i]));
}

Test(map, replaces_the_value_of_a_key)
{
	AUTO(map) map = { 0 };
	int first, second;
	map_put(&map, S("a"), &first);
	map_put(&map, S("a"), &second);
	cr_expect_eq(map.count, 1);
	cr_expect_eq(map_get(&map, S("a")), (void *)&second);
}

Test(map, tells_keys_with_nul_and_the_empty_key_apart)
{
	AUTO(map) map = { 0 };
	int values[3];
	map_put(&map, S(""), &values[0]);
	map_put(&map, S("\0"), &values[1]);
	map_put(&map, S("\0\0"), &values[2]);
	cr_expect_eq(map_get(&map, S("")), (void *)&values[0]);
	cr_expect_eq(map_get(&map, S("\0")), (void *)&values[1]);
	cr_expect_eq(map_get(&map, S("\0\0")), (void *)&values[2]);
}

Test(map, does_not_grow_by_putting_and_removing_for_ever)
{
	AUTO(arena) arena = { 0 };
	AUTO(map) map = { 0 };
	int value;
	for (int i = 0; i < MANY; i++) {
		struct str key = name_of(&arena, i);
		map_put(&map, key, &value);
		cr_assert_eq(map_remove(&map, key), (void *)&value);
	}
	cr_expect_eq(map.count, 0);
	cr_expect_leq(map.room, 64);
}

Test(map, walks_each_item_once_while_items_are_removed)
{
	AUTO(arena) arena = { 0 };
	AUTO(map) map = { 0 };
	static int seen[MANY];
	for (int i = 0; i < MANY; i++)
		map_put(&map, name_of(&arena, i), &seen[i]);
	size_t index = 0, count = 0;
	struct str key;
	for (int *value; (value = map_next(&map, &index, &key)) != NULL; count++) {
		(*value)++;
		if (count % 3 == 0)
			cr_assert_eq(map_remove(&map, key), (void *)value);
	}
	cr_expect_eq(count, MANY);
	for (int i = 0; i < MANY; i++)
		cr_assert_eq(seen[i], 1);
	cr_expect_eq(map.count, MANY - (MANY + 2) / 3);
}
