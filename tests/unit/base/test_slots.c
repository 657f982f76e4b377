/* Slots: an id never refers to a second owner. */
#include "tests/unit/base/expect.h"

#include "base/slots.h"

Test(slots, gives_the_owner_until_removed)
{
	struct slots slots = { 0 };
	int a, b;
	uint64_t first = slots_add(&slots, &a), second = slots_add(&slots, &b);
	cr_expect_neq(first, 0);
	cr_expect_neq(first, second);
	cr_expect_eq(slots_get(&slots, first), (void *)&a);
	cr_expect_eq(slots_get(&slots, second), (void *)&b);
	slots_remove(&slots, first);
	cr_expect_null(slots_get(&slots, first));
	cr_expect_eq(slots_get(&slots, second), (void *)&b);
	cr_expect_eq(slots.live, 1);
	slots_done(&slots);
}

Test(slots, does_not_let_an_old_id_reach_a_new_owner)
{
	struct slots slots = { 0 };
	int a, b;
	uint64_t old = slots_add(&slots, &a);
	slots_remove(&slots, old);
	uint64_t fresh = slots_add(&slots, &b);
	cr_expect_eq((uint32_t)old, (uint32_t)fresh, "the place is used again");
	cr_expect_null(slots_get(&slots, old));
	slots_remove(&slots, old);
	cr_expect_eq(slots_get(&slots, fresh), (void *)&b, "removing twice harms nobody");
	cr_expect_eq(slots.live, 1);
	slots_done(&slots);
}

Test(slots, knows_no_made_up_ids)
{
	struct slots slots = { 0 };
	cr_expect_null(slots_get(&slots, 0));
	cr_expect_null(slots_get(&slots, UINT64_MAX));
	int a;
	uint64_t id = slots_add(&slots, &a);
	cr_expect_null(slots_get(&slots, 0));
	cr_expect_null(slots_get(&slots, id + 1));
	cr_expect_null(slots_get(&slots, id + ((uint64_t)1 << 32)));
	slots_remove(&slots, id);
	cr_expect_null(slots_get(&slots, id + ((uint64_t)1 << 32)), "a free slot has no owner");
	slots_done(&slots);
}

Test(slots, walks_the_live_ones)
{
	struct slots slots = { 0 };
	int owners[100];
	uint64_t ids[100];
	for (int i = 0; i < 100; i++)
		ids[i] = slots_add(&slots, &owners[i]);
	for (int i = 0; i < 100; i += 3)
		slots_remove(&slots, ids[i]);
	uint32_t index = 0, count = 0;
	uint64_t id;
	for (int *owner; (owner = slots_next(&slots, &index, &id)) != NULL; count++) {
		cr_assert_neq((owner - owners) % 3, 0);
		cr_assert_eq(id, ids[owner - owners]);
	}
	cr_expect_eq(count, 66);
	cr_expect_eq(slots.live, 66);
	slots_done(&slots);
}

Test(slots, uses_freed_places_before_growing)
{
	struct slots slots = { 0 };
	int owner;
	for (int i = 0; i < 10000; i++)
		slots_remove(&slots, slots_add(&slots, &owner));
	cr_expect_eq(slots.count, 1);
	slots_done(&slots);
}
