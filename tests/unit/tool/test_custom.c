/* Custom tools on a loop: trust, and calls that are told to end wherever they are. */
#include <sys/stat.h>
#include <unistd.h>

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

TestSuite(custom, .init = setup, .fini = teardown, .timeout = 600);

Test(custom, a_trusted_program_is_called_and_an_unknown_one_is_not_there)
{
	rig_custom(rig, "say", "", "cat");
	cr_assert(rig_call(rig, "say", "{\"a\": 1}"));
	expect_json(rig->output, "{\"a\":1}");
	cr_assert(rig_call(rig, "other", "{}"));
	cr_assert_eq(rig->error.code, ERROR_NOT_FOUND, "%s", rig->error.text);
	cr_assert(rig_call(rig, "../say", "{}"));
	cr_assert_eq(rig->error.code, ERROR_NOT_FOUND, "%s", rig->error.text);
	custom_tools_trust(rig->customs, S("say"), NULL);
	cr_assert(rig_call(rig, "say", "{}"));
	cr_assert_eq(rig->error.code, ERROR_FORBIDDEN, "%s", rig->error.text);
}

/* What runs is the copy that was judged, whatever lies in the folder a moment later. */
Test(custom, a_copy_under_its_hash_is_what_runs)
{
	struct custom_tool tool;
	struct error error;
	struct stat info;
	rig_custom(rig, "say", "", "echo 1");
	cr_assert(custom_tools_read(rig->customs, S("say"), &rig->arena, &tool, &error));
	cr_assert(tool.ours && tool.why.code == ERROR_NONE);
	cr_assert_not_null(strstr(tool.program, "/trusted/"), "%s", tool.program);
	cr_assert_eq(unlink(rig_path(rig, "tools/say")), 0);
	cr_assert_eq(stat(tool.program, &info), 0);
	cr_assert_eq(info.st_mode & 0777, 0500);
}

Test(custom, another_class_than_the_one_that_was_recorded)
{
	rig_custom(rig, "say", "class: keyed\n", "cat");
	cr_assert(rig_call(rig, "say", "{}")); /* the rig records once */
	cr_assert_eq(rig->error.code, ERROR_CONFLICT, "%s", rig->error.text);
	cr_assert_not_null(strstr(rig->error.text, "was once"), "%s", rig->error.text);
}

Test(custom, a_call_ends_when_it_is_told_to)
{
	rig_custom(rig, "slow", "", "trap '' TERM; while :; do sleep 1000; done");
	rig_call_and_stop(rig, "slow", "{}", ERROR_CANCELLED);
	cr_assert_eq(rig->error.code, ERROR_CANCELLED, "%s", rig->error.text);
}

static void let_it_run(void *context, uint64_t running)
{
	const struct error why = { .code = ERROR_CANCELLED, .text = "told so" };
	tool_table.other->stop(&((struct rig *)context)->host, running, &why);
}

/* Told while it is looked at it ends with what it was told; told later, when it was asked, nobody
 * knows, because the rig records once.  The next call has a process again. */
Test(custom, a_kept_process_ends_with_the_call_that_was_told_to)
{
	rig_custom(rig, "kept", "keep_alive: true\n",
		   "while read -r line; do case $line in *wait*) sleep 1000;; "
		   "*) id=${line#*:\\\"}; id=${id%%\\\"*}; "
		   "echo \"{\\\"id\\\":\\\"$id\\\",\\\"output\\\":$$}\";; esac; done");
	cr_assert(rig_call(rig, "kept", "{}"));
	cr_assert_gt(rig->output.size, 0, "%s", rig->error.text);
	rig_call_and_stop(rig, "kept", "{\"wait\": 1}", ERROR_TIMEOUT); /* while it is looked at */
	cr_assert_eq(rig->error.code, ERROR_TIMEOUT);
	rig->started = let_it_run;
	cr_assert(rig_call(rig, "kept", "{\"wait\": 1}"));
	cr_assert_eq(rig->error.code, ERROR_OUTCOME_UNKNOWN, "%s", rig->error.text);
	rig->started = NULL;
	cr_assert(rig_call(rig, "kept", "{}")); /* a new process */
	cr_assert_gt(rig->output.size, 0, "%s", rig->error.text);
}
