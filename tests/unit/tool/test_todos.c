/* write_todos and submit. */
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

TestSuite(todos, .init = setup, .fini = teardown);

Test(todos, a_plan_is_checked_and_counted)
{
	expect_json(
		rig_compute(
			rig, "write_todos",
			"{\"items\": [{\"text\": \"a\", \"state\": \"done\"}, {\"text\": \"b\", "
			"\"state\": \"in_progress\"}, {\"text\": \"c\"}]}"),
		"{\"items\":[{\"text\":\"a\",\"state\":\"done\"},{\"text\":\"b\",\"state\":"
		"\"in_progress\"},{\"text\":\"c\",\"state\":\"pending\"}],\"open\":2,\"done\":1}");
	expect_json(rig_compute(rig, "write_todos", "{\"items\": []}"),
		    "{\"items\":[],\"open\":0,\"done\":0}");
	static const char *const wrong[] = {
		"{}",
		"{\"items\": [{\"text\": \"\"}]}",
		"{\"items\": [{\"text\": \"a\", \"state\": \"begun\"}]}",
		"{\"items\": [{\"text\": \"a\", \"state\": \"in_progress\"}, {\"text\": \"b\", "
		"\"state\": \"in_progress\"}]}",
	};
	for (size_t i = 0; i < COUNT(wrong); i++) {
		cr_assert_eq(rig_compute(rig, "write_todos", wrong[i]).size, 0, "%s", wrong[i]);
		cr_assert_eq(rig->error.code, ERROR_INVALID);
	}
	cr_assert_not_null(strstr(rig->error.text, "2 tasks are in_progress"), "%s",
			   rig->error.text);
}

Test(todos, a_result_is_any_value)
{
	expect_json(rig_compute(rig, "submit", "{\"result\": {\"a\": [1, null]}}"),
		    "{\"result\":{\"a\":[1,null]}}");
	expect_json(rig_compute(rig, "submit", "{\"result\": null}"), "{\"result\":null}");
	cr_assert_eq(rig_compute(rig, "submit", "{}").size, 0);
	cr_assert_eq(rig_compute(rig, "submit", "{\"result\": 1, \"more\": 2}").size, 0);
}
