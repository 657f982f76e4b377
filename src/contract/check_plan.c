/* contract/check_plan.c -- rules of plans and prompts that span several fields. */
#include "base/map.h"
#include "contract/run_oracle_types.h"
#include "contract/run_plan_types.h"
#include "contract/run_prompt_types.h"

static void check_paths(struct check *check, const char *field, const struct str *paths,
			size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool bad = str_trim(paths[i]).size == 0 || paths[i].size > 1024;
		for (size_t k = 0; k < paths[i].size && !bad; k++)
			bad = paths[i].at[k] == '`' || (unsigned char)paths[i].at[k] < ' ';
		if (bad)
			check_fail(check, field,
				   "path %zu must be one line of 1 to 1024 bytes without backticks",
				   i + 1);
	}
}

void run_draft_task_check(const struct run_draft_task *value, struct check *check)
{
	if (str_trim(value->title).size == 0)
		check_fail(check, "title", "must not be blank");
	check_paths(check, "files_to_create", value->files_to_create.at,
		    value->files_to_create.count);
	check_paths(check, "files_to_modify", value->files_to_modify.at,
		    value->files_to_modify.count);
	for (size_t i = 0; i < value->steps.count; i++) {
		if (str_trim(value->steps.at[i]).size == 0)
			check_fail(check, "steps", "step %zu is blank", i + 1);
	}
}

void run_write_plan_inputs_check(const struct run_write_plan_inputs *value, struct check *check)
{
	struct str rest = value->file_path, part;
	struct map numbers = { 0 };
	while (str_cut(&rest, '/', &part)) {
		if (str_equal(part, S("..")))
			check_fail(check, "file_path", "must not contain \"..\"");
	}
	for (size_t i = 0; i < value->tasks.count; i++) {
		struct str number = value->tasks.at[i].number;
		if (map_get(&numbers, number) != NULL)
			check_fail(check, "tasks", "two tasks have the number " STR_FMT,
				   STR_ARG(number));
		else
			map_put(&numbers, number, check);
	}
	map_done(&numbers);
}

void run_prompt_save_check(const struct run_prompt_save *value, struct check *check)
{
	if (str_trim(value->content).size == 0)
		check_fail(check, "content", "must not be blank");
}

void run_oracle_request_check(const struct run_oracle_request *value, struct check *check)
{
	size_t at;
	if (str_trim(value->problem).size == 0)
		check_fail(check, "problem", "must not be blank");
	for (size_t i = 0; has(value, files) && i < value->files.count; i++)
		if (str_trim(value->files.at[i]).size == 0 ||
		    str_find(value->files.at[i], S("\n"), &at))
			check_fail(check, "files", "pattern %zu must be one line that is not blank",
				   i + 1);
}

void run_plan_edit_check(const struct run_plan_edit *value, struct check *check)
{
	if (str_trim(value->plan_markdown).size == 0)
		check_fail(check, "plan_markdown", "must not be blank");
}

void run_plan_import_check(const struct run_plan_import *value, struct check *check)
{
	if (has(value, plan_content) == has(value, plan_file))
		check_fail(check, "plan_content", "send plan_content or plan_file, one of them");
	else if (has(value, plan_content) && str_trim(value->plan_content).size == 0)
		check_fail(check, "plan_content", "must not be blank");
}
