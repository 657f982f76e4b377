/* JSON Merge Patch: the examples of RFC 7396, appendix A, each by its result. */
#include <criterion/criterion.h>

#include "api/merge_patch.h"

static const struct example {
	const char *target, *patch, *result; /* target NULL = no document yet */
} examples[] = {
	{ "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
	{ "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}" },
	{ "{\"a\":\"b\"}", "{\"a\":null}", "{}" },
	{ "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}" },
	{ "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
	{ "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}" },
	{ "{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}" },
	{ "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}" },
	{ "[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]" },
	{ "{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]" },
	{ "{\"a\":\"foo\"}", "null", "null" },
	{ "{\"a\":\"foo\"}", "\"bar\"", "\"bar\"" },
	{ "{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}" },
	{ "[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}" },
	{ "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}" },
	{ NULL, "{\"a\":{\"b\":null,\"c\":1}}", "{\"a\":{\"c\":1}}" },
};

Test(merge, the_examples_of_the_standard)
{
	for (size_t i = 0; i < COUNT(examples); i++) {
		AUTO(arena) arena = { 0 };
		const struct json *target = NULL, *patch;
		struct error error;
		if (examples[i].target != NULL)
			cr_assert(
				json_read(str_from_c(examples[i].target), &arena, &target, &error));
		cr_assert(json_read(str_from_c(examples[i].patch), &arena, &patch, &error));
		struct str got = json_print(&arena, merge_patch(target, patch, &arena));
		cr_expect(str_equal(got, str_from_c(examples[i].result)), "%s with %s: " STR_FMT,
			  examples[i].target, examples[i].patch, STR_ARG(got));
	}
}
