/* Fields that two entities share are copied by name and type; nothing else is touched. */
#include <signal.h>

#include "contract_support.h"

#include "contract/field_copy.h"

static const struct sample_sent *sent(const char *text, struct arena *arena)
{
	return read_good(sample_sent_type(), str_from_c(text), arena);
}

Test(field_copy, copies_what_is_in_both)
{
	AUTO(arena) arena = { 0 };
	const struct sample_sent *from =
		sent("{\"text\":\"t\",\"number\":3,\"colour\":\"red\",\"mine\":1}", &arena);
	struct sample_carried *to = sample_carried_new(&arena);
	COPY_FIELDS(sample_sent, from, sample_carried, to, &arena);
	assert_str(sample_carried_text(to, &arena),
		   S("{\"own\":4,\"colour\":\"red\",\"number\":3,\"text\":\"t\"}"));
	cr_assert_eq(to->is.number, GIVEN);
}

Test(field_copy, leaves_what_is_absent_or_null_as_it_was)
{
	AUTO(arena) arena = { 0 };
	struct sample_carried *to = sample_carried_new(&arena);
	SET(to, text, S("before"));
	SET(to, maybe, S("before"));
	COPY_FIELDS(sample_sent, sent("{\"maybe\":null}", &arena), sample_carried, to, &arena);
	assert_str(to->text, S("before"));
	assert_str(to->maybe, S("before"));
	cr_assert_eq(to->is.number, DEFAULTED);
	cr_assert_eq(to->number, 7);
}

Test(field_copy, a_field_of_another_type_or_an_old_name_is_another_field)
{
	AUTO(arena) arena = { 0 };
	struct sample_carried *to = sample_carried_new(&arena);
	COPY_FIELDS(sample_sent, sent("{\"other\":5,\"old\":\"o\"}", &arena), sample_carried, to,
		    &arena);
	cr_assert_not(has(to, other));
	cr_assert_not(has(to, now));
}

Test(field_copy, text_is_copied_into_the_arena_and_shared_without_one)
{
	AUTO(arena) arena = { 0 };
	const struct sample_sent *from = sent("{\"text\":\"t\"}", &arena);
	struct sample_carried *copied = sample_carried_new(&arena);
	struct sample_carried *shared = sample_carried_new(&arena);
	COPY_FIELDS(sample_sent, from, sample_carried, copied, &arena);
	COPY_FIELDS(sample_sent, from, sample_carried, shared, NULL);
	assert_str(copied->text, S("t"));
	cr_assert_neq(copied->text.at, from->text.at);
	cr_assert_eq(shared->text.at, from->text.at);
}

Test(field_copy, lists_are_shared)
{
	AUTO(arena) arena = { 0 };
	const struct sample_sent *from = sent("{\"words\":[\"a\",\"b\"]}", &arena);
	struct sample_carried *to = sample_carried_new(&arena);
	COPY_FIELDS(sample_sent, from, sample_carried, to, NULL);
	cr_assert_eq(to->words.count, 2);
	cr_assert_eq(to->words.at, from->words.at);
}

Test(field_copy, a_list_is_never_copied_into_an_arena, .signal = SIGABRT)
{
	AUTO(arena) arena = { 0 };
	const struct sample_sent *from = sent("{\"words\":[\"a\"]}", &arena);
	COPY_FIELDS(sample_sent, from, sample_carried, sample_carried_new(&arena), &arena);
}
