/* Custom tools on a loop: trust, and calls that are stopped in every phase. */
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

Test(custom, a_trusted_program_is_called_and_an_unknown_one_does_not_exist)
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

/* The copy that was verified runs, even if the file in the folder changes right after. */
Test(custom, the_copy_under_its_hash_runs)
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
	cr_assert_eq(info.st_mode & 0777, 0555);
}

Test(custom, a_class_other_than_the_recorded_one_fails)
{
	rig_custom(rig, "say", "class: keyed\n", "cat");
	cr_assert(rig_call(rig, "say", "{}")); /* the rig records class once */
	cr_assert_eq(rig->error.code, ERROR_CONFLICT, "%s", rig->error.text);
	cr_assert_not_null(strstr(rig->error.text, "had class once"), "%s", rig->error.text);
}

Test(custom, a_call_ends_when_it_is_stopped)
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

/* A call that is stopped during verification ends with the given error.  A call that is stopped
 * after it was sent has an unknown outcome, because the rig records class once.  The next call gets
 * a new process. */
Test(custom, a_pooled_process_ends_with_a_stopped_call)
{
	rig_custom(rig, "kept", "keep_alive: true\n",
		   "while read -r line; do case $line in *wait*) sleep 1000;; "
		   "*) id=${line#*:\\\"}; id=${id%%\\\"*}; "
		   "echo \"{\\\"id\\\":\\\"$id\\\",\\\"output\\\":$$}\";; esac; done");
	cr_assert(rig_call(rig, "kept", "{}"));
	cr_assert_gt(rig->output.size, 0, "%s", rig->error.text);
	rig_call_and_stop(rig, "kept", "{\"wait\": 1}", ERROR_TIMEOUT); /* during verification */
	cr_assert_eq(rig->error.code, ERROR_TIMEOUT);
	rig->started = let_it_run;
	cr_assert(rig_call(rig, "kept", "{\"wait\": 1}"));
	cr_assert_eq(rig->error.code, ERROR_OUTCOME_UNKNOWN, "%s", rig->error.text);
	rig->started = NULL;
	cr_assert(rig_call(rig, "kept", "{}")); /* a new process */
	cr_assert_gt(rig->output.size, 0, "%s", rig->error.text);
}
