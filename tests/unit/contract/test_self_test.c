/* Mistakes in rows: each of broken.def's is found; the product's rows and the sample have none. */
#include "contract_support.h"

#include <pthread.h>
#include <signal.h>

#include "broken.h"
#include "contract/run_value_types.h"
#include "contract/runtime_types.h"

static void expect(const struct type *type, const char *text)
{
	struct error error = { .code = ERROR_NONE };
	cr_assert(!contract_self_test(&type, 1, &error), STR_FMT, STR_ARG(type->name));
	cr_assert_str_eq(error.text, text);
}

Test(self_test, good_rows)
{
	struct error error = { .text = "" };
	cr_assert(contract_self_test(sample_module_types, sample_module_type_count, &error), "%s",
		  error.text);
	cr_assert(contract_self_test(run_module_types, run_module_type_count, &error), "%s",
		  error.text);
	cr_assert(contract_self_test(runtime_module_types, runtime_module_type_count, &error), "%s",
		  error.text);
	contract_init(sample_module_types, sample_module_type_count);
}

Test(self_test, bad_defaults)
{
	expect(broken_default_type(),
	       "broken.Default.word: bad default \"b\": \"b\" is not one of a");
	expect(broken_default_rule_type(),
	       "broken.DefaultRule.number: bad default 11: must be at most 10, got 11");
	expect(broken_shared_type(), "broken.Shared.maker: bad default {}: /id: is required");
	expect(broken_self_type(), "broken.Self.again: bad default {}: contains itself");
	const struct type *type = broken_default_text_type();
	struct error error;
	cr_assert(!contract_self_test(&type, 1, &error));
	cr_assert_not_null(strstr(error.text, "broken.DefaultText.number: bad default ten: "));
}

Test(self_test, words_that_do_not_go_together)
{
	expect(broken_presence_type(),
	       "broken.Presence.number: no presence word (REQUIRED, OPTIONAL, "
	       "NULLABLE, DEFAULT, GENERATED, COMPUTED)");
	expect(broken_range_type(), "broken.Range.number: empty range");
	expect(broken_length_type(), "broken.Length.text: empty length");
	expect(broken_rule_type(),
	       "broken.Rule.text: RANGE, AT_LEAST and ABOVE are for INT and REAL");
	expect(broken_made_type(), "broken.Made.number: GENERATED(now) needs TIME");
	const struct type *type = broken_pattern_type();
	struct error error;
	cr_assert(!contract_self_test(&type, 1, &error));
	cr_assert_not_null(strstr(error.text, "broken.Pattern.text: bad pattern \"[a-\": "));
}

Test(self_test, names_said_twice)
{
	expect(broken_twice_type(), "broken.Twice.x: is declared twice");
	expect(broken_name_type(), "broken.Name.one: is declared twice");
	expect(broken_alias_type(), "broken.Alias.one: is declared twice");
	const struct type *same[] = { broken_word_type(), broken_maker_type(), broken_word_type() };
	struct error error;
	cr_assert(!contract_self_test(same, COUNT(same), &error));
	cr_assert_str_eq(error.text, "broken.Word: two types have this name");
}

Test(self_test, tags_that_nobody_says)
{
	expect(broken_tag_type(),
	       "broken.Tag.part: unknown tag \"piece\": broken.Part.type cannot say it");
	expect(broken_tag_in_type(),
	       "broken.TagIn.part: unknown tag \"z\": \"word\" cannot say it");
	expect(broken_no_sibling_type(), "broken.NoSibling.part: TAG_IN(\"kind\") is not a field");
	expect(broken_no_tag_type(),
	       "broken.NoTag.part: a union without a tag of its own needs TAG_IN");
}

Test(self_test, a_broken_type_is_not_used, .signal = SIGABRT)
{
	AUTO(arena) arena = { 0 };
	broken_default_new(&arena);
}

Test(self_test, the_tables_can_be_walked)
{
	size_t fields = 0, hooks = 0;
	for (const struct field *field = type_fields(sample_presence_type());
	     field->shape != SHAPE_END; field++) {
		fields += !field_is_hook(field);
		hooks += field_is_hook(field);
	}
	cr_assert_eq(fields, 15);
	cr_assert_eq(hooks, 1);
	cr_assert_eq(type_fields(sample_colour_type())->shape, SHAPE_END);
	cr_assert_eq(field_type(type_fields(sample_presence_type())), str_type());
}

enum { READERS = 4 };
static pthread_barrier_t start;

/* All threads meet at types that nobody has used in this process yet. */
static void *read_concurrently(void *context)
{
	AUTO(arena) arena = { 0 };
	size_t *good = context;
	pthread_barrier_wait(&start);
	for (size_t i = 0; i < sample_module_type_count; i++)
		if (sample_module_types[i]->kind == KIND_ENTITY)
			*good += contract_new(sample_module_types[i], &arena) != NULL;
	*good += sample_small_new(&arena)->words.count;
	return NULL;
}

Test(self_test, threads_may_come_first_together)
{
	pthread_t threads[READERS];
	size_t good[READERS] = { 0 };
	pthread_barrier_init(&start, NULL, READERS);
	for (int i = 0; i < READERS; i++)
		pthread_create(&threads[i], NULL, read_concurrently, &good[i]);
	for (int i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&start);
	for (int i = 0; i < READERS; i++)
		cr_assert_eq(good[i], good[0]);
	cr_assert(good[0] > 2);
}
