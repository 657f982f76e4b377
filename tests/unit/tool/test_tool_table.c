/* Every tool fulfills the contract of tool.h. */
#include "tool_rig.h"

#include "contract/config_rows.h"
#include "sandbox/sandbox.h"

Test(table, every_row_is_whole)
{
	for (size_t i = 0; i < tool_table.count; i++) {
		const struct tool *tool = tool_table.at[i];
		bool pure = tool->class == RUN_CLASS_PURE;
		cr_assert_eq(tool_find(&tool_table, str_from_c(tool->name)), tool);
		cr_assert_gt(strlen(tool->text), 10);
		/* write_plan writes nothing but the plan, which agents that only read may do. */
		cr_assert(pure || tool->class == RUN_CLASS_IDEMPOTENT ||
				  tool->risk != RUN_RISK_LOW ||
				  strcmp(tool->name, "write_plan") == 0,
			  "%s", tool->name);
		cr_assert_eq(tool->compute != NULL, pure, "%s", tool->name);
		cr_assert_eq(tool->start != NULL, !pure, "%s", tool->name);
		cr_assert_eq(tool->stop != NULL, !pure, "%s", tool->name);
		cr_assert_eq(tool->probe != NULL, tool->class == RUN_CLASS_PROBE, "%s", tool->name);
	}
}

/* Every isolation that the settings offer, the default among them, is a row of sandboxes.def. */
Test(table, every_isolation_setting_is_a_row)
{
	const struct config_row *row = config_row(CONFIG_TOOLS_ISOLATION);
	struct str rest = row->choices, choice;
	cr_assert_not_null(sandbox_find(str_from_c(row->fallback)));
	while (str_cut(&rest, '|', &choice))
		cr_expect_not_null(sandbox_find(choice), STR_FMT, STR_ARG(choice));
}

/* One call of each tool: a slow one where the tool can be slow. */
static const struct {
	const char *tool, *inputs;
	bool slow; /* cannot end before it is stopped */
} calls[] = {
	{ "sleep", "{\"seconds\": 3600}", true },
	{ "shell", "{\"command\": \"trap '' TERM; while :; do sleep 1000; done\"}", true },
	{ "http_fetch", "{\"url\": \"http://192.0.2.1/\"}", true },
	{ "http_send", "{\"url\": \"http://192.0.2.1/\", \"json\": {}}", true },
	{ "http_send_once", "{\"url\": \"http://192.0.2.1/\", \"body\": \"x\"}", true },
	{ "read_file", "{\"path\": \"none\"}", false },
	{ "write_file", "{\"path\": \"a\", \"content\": \"\"}", false },
	{ "edit_file", "{\"path\": \"a\", \"old_text\": \"\", \"new_text\": \"x\"}", false },
	{ "list_dir", "{}", false },
	{ "glob", "{\"pattern\": \"*\"}", false },
	{ "grep", "{\"pattern\": \"x\"}", false },
	{ "git_status", "{}", false },
	{ "git_diff", "{}", false },
	{ "git_commit", "{\"message\": \"x\"}", false },
	{ "git_snapshot", "{}", false },
	{ "git_restore", "{}", false },
	{ "git_hooks", "{}", false },
	{ "git_checkout", "{}", false },
	{ "git_publish", "{}", false },
	{ "write_artifact", "{\"name\": \"a\", \"path\": \"none\"}", false },
	{ "read_artifact", "{\"name\": \"a\"}", false },
	{ "append_line", "{\"path\": \"a\", \"line\": \"\"}", false },
};

Test(table, a_stopped_call_ends_with_the_given_error)
{
	struct rig rig_, *rig = &rig_;
	for (size_t i = 0; i < COUNT(calls); i++) {
		enum error_code code = i % 2 == 0 ? ERROR_CANCELLED : ERROR_TIMEOUT;
		rig_open(rig);
		rig->repository = rig->folder;
		rig_call_and_stop(rig, calls[i].tool, calls[i].inputs, code);
		if (calls[i].slow || rig->output.size == 0) {
			cr_assert_eq(rig->error.code, code, "%s", calls[i].tool);
			cr_assert_str_eq(rig->error.text, "told so");
		}
		rig_close(rig);
	}
}

Test(table, inputs_that_break_their_contract_start_nothing)
{
	struct rig rig_, *rig = &rig_;
	rig_open(rig);
	for (size_t i = 0; i < tool_table.count; i++) {
		const struct tool *tool = tool_table.at[i];
		if (tool->start == NULL)
			continue;
		cr_assert(!rig_call(rig, tool->name, "{\"no_such_input\": 1}"), "%s", tool->name);
		cr_assert_eq(rig->error.code, ERROR_INVALID, "%s", tool->name);
		cr_assert_eq(strncmp(rig->error.text, "inputs: ", 8), 0, "%s", rig->error.text);
	}
	rig_close(rig);
}
