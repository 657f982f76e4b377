/* Builders give changed copies and leave the original as it was. */
#include "runtime_documents.h"

#include "contract/builders_runtime.h"

static const struct json *number(struct arena *arena, int64_t value)
{
	struct json *json = arena_new(arena, struct json);
	*json = (struct json){ .kind = JSON_INT, .as.integer = value };
	return json;
}

static const struct runtime_task_input *fresh(struct arena *arena)
{
	struct runtime_task_input *input = runtime_task_input_new(arena);
	SET(input, task_id, S("t-1"));
	return input;
}

static void expect_text(const struct runtime_task_input *input, struct arena *arena,
			const char *expected)
{
	struct str text = runtime_task_input_text(input, arena);
	cr_assert(str_equal(text, str_from_c(expected)), "got " STR_FMT, STR_ARG(text));
}

Test(builders, context_and_metadata_grow_in_copies)
{
	AUTO(arena) arena = { 0 };
	const struct runtime_task_input *first = fresh(&arena);
	const struct runtime_task_input *second =
		runtime_task_input_with_context(first, &arena, S("a"), number(&arena, 1));
	const struct runtime_task_input *third =
		runtime_task_input_with_metadata(second, &arena, S("b"), number(&arena, 2));
	expect_text(first, &arena, "{\"task_id\":\"t-1\",\"context\":{},\"metadata\":{}}");
	expect_text(second, &arena, "{\"task_id\":\"t-1\",\"context\":{\"a\":1},\"metadata\":{}}");
	expect_text(third, &arena,
		    "{\"task_id\":\"t-1\",\"context\":{\"a\":1},\"metadata\":{\"b\":2}}");
	cr_assert_eq(third->is.context, GIVEN);
	cr_assert_eq(first->is.context, DEFAULTED);
}

Test(builders, a_key_that_is_there_is_replaced_in_its_place)
{
	AUTO(arena) arena = { 0 };
	const struct runtime_task_input *input = fresh(&arena);
	const char *keys[] = { "a", "b", "c" };
	for (size_t i = 0; i < COUNT(keys); i++)
		input = runtime_task_input_with_context(input, &arena, str_from_c(keys[i]),
							number(&arena, (int64_t)i));
	const struct runtime_task_input *changed =
		runtime_task_input_with_context(input, &arena, S("b"), number(&arena, 9));
	expect_text(changed, &arena,
		    "{\"task_id\":\"t-1\",\"context\":{\"a\":0,\"b\":9,\"c\":2},\"metadata\":{}}");
	expect_text(input, &arena,
		    "{\"task_id\":\"t-1\",\"context\":{\"a\":0,\"b\":1,\"c\":2},\"metadata\":{}}");
}

Test(builders, the_shared_default_stays_empty)
{
	AUTO(arena) arena = { 0 };
	runtime_task_input_with_context(fresh(&arena), &arena, S("a"), number(&arena, 1));
	expect_text(fresh(&arena), &arena, "{\"task_id\":\"t-1\",\"context\":{},\"metadata\":{}}");
}

Test(builders, a_failure_is_a_good_output)
{
	AUTO(arena) arena = { 0 };
	const struct runtime_task_output *output =
		runtime_task_output_failure(&arena, S("t-1"), S("It broke."));
	struct str text = runtime_task_output_text(output, &arena);
	cr_assert(str_equal(text, S("{\"task_id\":\"t-1\",\"success\":false,"
				    "\"error\":\"It broke.\",\"metadata\":{}}")),
		  STR_FMT, STR_ARG(text));
	const struct json *json;
	struct error error;
	struct problems problems = { 0 };
	cr_assert(json_read(text, &arena, &json, &error), "%s", error.text);
	cr_assert_not_null(document_read(runtime_task_output_type(), json, &arena, &problems));
}
