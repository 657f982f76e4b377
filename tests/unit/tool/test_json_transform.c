/* The operations of json_transform. */
#include "tool_rig.h"

static struct rig the_rig, *rig = &the_rig;

static void setup(void)
{
	rig_open(rig);
}

static void teardown(void)
{
	rig_close(rig);
}

TestSuite(transform, .init = setup, .fini = teardown);

static struct str transform(const char *input, const char *operations)
{
	return rig_compute(
		rig, "json_transform",
		str_format(&rig->arena, "{\"input\": %s, \"operations\": [%s]}", input, operations)
			.at);
}

static const struct {
	const char *input, *operations, *result;
} good[] = {
	{ "1", "", "1" },
	{ "{\"a\":{\"b/c\":[1,{\"~\":2}]}}", "{\"get\": \"/a/b~1c/1/~0\"}", "2" },
	{ "{\"\":3}", "{\"get\": \"/\"}", "3" },
	{ "{\"a\":1,\"b\":2,\"c\":3}", "{\"pick\": [\"c\", \"x\", \"a\"]}", "{\"c\":3,\"a\":1}" },
	{ "{\"a\":1,\"b\":2}", "{\"drop\": [\"a\", \"x\"]}", "{\"b\":2}" },
	{ "{\"a\":1,\"b\":2}", "{\"rename\": {\"a\": \"b\", \"b\": \"a\"}}", "{\"b\":1,\"a\":2}" },
	{ "{\"a\":1,\"b\":{\"c\":1,\"d\":2}}",
	  "{\"merge\": {\"a\": null, \"b\": {\"c\": null, \"e\": 3}, \"f\": {\"g\": null, \"h\": 1}}}",
	  "{\"b\":{\"d\":2,\"e\":3},\"f\":{\"h\":1}}" },
	{ "[1]", "{\"wrap\": \"items\"}", "{\"items\":[1]}" },
	{ "[{\"n\":1},{\"n\":2},{\"n\":\"2\"},{}]",
	  "{\"filter\": {\"at\": \"/n\", \"at_least\": 2}}", "[{\"n\":2}]" },
	{ "[{\"n\":1},{\"n\":1.0},{}]", "{\"filter\": {\"at\": \"/n\", \"equals\": 1}}",
	  "[{\"n\":1},{\"n\":1}]" },
	{ "[{\"n\":null},{},{\"n\":1}]", "{\"filter\": {\"at\": \"/n\", \"differs\": null}}",
	  "[{},{\"n\":1}]" },
	{ "[{\"n\":null},{}]", "{\"filter\": {\"at\": \"/n\", \"exists\": false}}", "[{}]" },
	{ "[[1,{\"a\":2}],[1,{\"a\":3}]]", "{\"filter\": {\"equals\": [1, {\"a\": 3}]}}",
	  "[[1,{\"a\":3}]]" },
	{ "[3,1,2]", "{\"filter\": {\"at_least\": 1, \"at_most\": 2}}", "[1,2]" },
	{ "[{\"a\":1},{\"a\":2}]", "{\"map\": [{\"get\": \"/a\"}, {\"wrap\": \"b\"}]}",
	  "[{\"b\":1},{\"b\":2}]" },
	{ "{\"x\":{\"a\":1}}", "{\"map\": [{\"get\": \"/a\"}]}", "{\"x\":1}" },
	{ "{\"a\":1}", "{\"check\": {\"type\": \"object\", \"required\": [\"a\"]}}", "{\"a\":1}" },
};

Test(transform, operations)
{
	for (size_t i = 0; i < COUNT(good); i++)
		expect_json(transform(good[i].input, good[i].operations),
			    str_format(&rig->arena, "{\"result\":%s}", good[i].result).at);
}

static const struct {
	const char *input, *operations, *says;
	enum error_code code;
} bad[] = {
	{ "{}", "{\"get\": \"/a\"}", "operation 1: get found nothing at /a", ERROR_NOT_FOUND },
	{ "[1]", "{\"get\": \"/01\"}", "found nothing", ERROR_NOT_FOUND },
	{ "[1]", "{\"get\": \"/-1\"}", "found nothing", ERROR_NOT_FOUND },
	{ "[]", "{\"pick\": []}", "needs a mapping, not", ERROR_INVALID },
	{ "{}", "{\"filter\": {}}", "needs a list, not", ERROR_INVALID },
	{ "1", "{\"map\": []}", "needs a list, not", ERROR_INVALID },
	{ "{\"a\":1,\"b\":2}", "{\"rename\": {\"a\": \"b\"}}", "two members the name b",
	  ERROR_INVALID },
	{ "{\"a\":\"x\"}", "{\"check\": {\"properties\": {\"a\": {\"type\": \"integer\"}}}}",
	  "check: ", ERROR_INVALID },
	{ "1", "{\"check\": {\"type\": 7}}", "not a valid JSON Schema", ERROR_INVALID },
	{ "1", "{}", "exactly one", ERROR_INVALID },
	{ "1", "{\"get\": \"\", \"wrap\": \"a\"}", "exactly one", ERROR_INVALID },
	{ "1", "{\"got\": \"\"}", "got", ERROR_INVALID },
	{ "1", "{\"get\": \"a\"}", "get", ERROR_INVALID },
};

Test(transform, failures_say_what_and_where)
{
	for (size_t i = 0; i < COUNT(bad); i++) {
		cr_assert_eq(transform(bad[i].input, bad[i].operations).size, 0, "%s",
			     bad[i].operations);
		cr_assert_eq(rig->error.code, bad[i].code, "%s", rig->error.text);
		cr_assert_not_null(strstr(rig->error.text, bad[i].says), "%s", rig->error.text);
	}
}

Test(transform, the_work_is_bounded)
{
	AUTO(buf) list = { 0 };
	buf_add(&list, S("[0"));
	for (int i = 0; i < 5000; i++)
		buf_add(&list, S(",0"));
	buf_add(&list, S("]"));
	const char *input = str_c(&rig->arena, buf_str(&list));
	cr_assert_gt(transform(input, "{\"map\": [{\"wrap\": \"a\"}]}").size, 0);
	cr_assert_eq(transform(input, "{\"map\": [{\"check\": {}}]}").size, 0);
	cr_assert_eq(rig->error.code, ERROR_TOO_LARGE, "%s", rig->error.text);
}
