/* contract/check_run.c -- rules of Baton's own vocabulary that span several fields. */

#include "base/cron.h"

#include "contract/run_agent_types.h"
#include "contract/run_artifact_types.h"
#include "contract/run_class_types.h"
#include "contract/run_custom_tool_types.h"
#include "contract/run_definition_types.h"
#include "contract/run_schedule_types.h"
#include "contract/run_trigger_types.h"
#include "contract/run_webhook_types.h"
#include "contract/run_tool_types.h"
#include "contract/run_turn_types.h"

#define STR_NUL ((struct str){ "", 1 })

enum { ENV_VALUE_BYTES = 32768 }; /* one argument of a process has at most 128 KiB */

/* RFC 6901: a JSON pointer is empty or begins with a slash. */
static void check_pointer(struct check *check, const char *field, struct str pointer)
{
	if (pointer.size > 0 && pointer.at[0] != '/')
		check_fail(check, field, "must be a JSON pointer: empty, or beginning with /");
}

void run_json_condition_check(const struct run_json_condition *value, struct check *check)
{
	check_pointer(check, "at", value->at);
}

void run_json_operation_check(const struct run_json_operation *value, struct check *check)
{
	int given = has(value, get) + has(value, pick) + has(value, drop) + has(value, rename) +
		    has(value, merge) + has(value, wrap) + has(value, filter) + has(value, map) +
		    has(value, check);
	if (given != 1)
		check_fail(check, NULL,
			   "an operation must have exactly one of get, pick, drop, rename, merge, "
			   "wrap, filter, map and check; this one has %d",
			   given);
	if (has(value, get))
		check_pointer(check, "get", value->get);
}

static bool is_variable_name(struct str name)
{
	bool good = name.size > 0 && !(name.at[0] >= '0' && name.at[0] <= '9');
	for (size_t i = 0; i < name.size; i++) {
		char c = name.at[i];
		good = good && ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
				(c >= '0' && c <= '9') || c == '_');
	}
	return good;
}

void run_definition_criterion_check(const struct run_definition_criterion *value,
				    struct check *check)
{
	int kinds =
		has(value, check) + has(value, command) + has(value, schema) + has(value, judge);
	if (kinds != 1)
		check_fail(check, NULL,
			   "a criterion has exactly one of check, command, schema and judge");
	else if (has(value, judge) && !has(value, question))
		check_fail(check, "judge", "the judge needs a question");
	else if (has(value, question) && !has(value, judge))
		check_fail(check, "question", "a question needs judge, the agent that is asked");
	else if (has(value, timeout_seconds) && !has(value, command))
		check_fail(check, "timeout_seconds", "only a command has timeout_seconds");
	else if (has(value, reason) && !has(value, check))
		check_fail(check, "reason", "only a check has a reason");
	else if (has(value, format_assertion) && !has(value, schema))
		check_fail(check, "format_assertion", "only a schema has format_assertion");
}

void run_shell_inputs_check(const struct run_shell_inputs *value, struct check *check)
{
	for (size_t i = 0; i < value->env.count; i++) {
		struct str name = value->env.at[i].key, text = value->env.at[i].value;
		size_t mark;
		if (!is_variable_name(name))
			check_fail(check, "env",
				   "" STR_FMT " is not the name of an environment variable: use "
				   "letters, digits and underscores",
				   STR_ARG(name));
		if (text.size > ENV_VALUE_BYTES || str_find(text, STR_NUL, &mark))
			check_fail(check, "env",
				   "the value of " STR_FMT " is longer than %d bytes or contains a "
				   "NUL character",
				   STR_ARG(name), ENV_VALUE_BYTES);
	}
}

void run_edit_file_inputs_check(const struct run_edit_file_inputs *value, struct check *check)
{
	if (str_equal(value->old_text, value->new_text))
		check_fail(check, "new_text", "it is the same as old_text: nothing would change");
}

/* Texts that become arguments or environment variables of git. */
static void check_no_nul(struct check *check, const char *field, struct str text)
{
	size_t mark;
	if (str_find(text, STR_NUL, &mark))
		check_fail(check, field, "it contains a NUL character");
}

static void check_no_nul_list(struct check *check, const char *field, struct str_list list)
{
	for (size_t i = 0; i < list.count; i++)
		check_no_nul(check, field, list.at[i]);
}

void run_git_status_inputs_check(const struct run_git_status_inputs *value, struct check *check)
{
	check_no_nul(check, "repository", value->repository);
	check_no_nul_list(check, "paths", value->paths);
}

void run_git_diff_inputs_check(const struct run_git_diff_inputs *value, struct check *check)
{
	check_no_nul(check, "repository", value->repository);
	check_no_nul_list(check, "paths", value->paths);
	if (value->staged && value->untracked)
		check_fail(check, "untracked", "files that are not tracked are not staged");
}

void run_git_checkout_inputs_check(const struct run_git_checkout_inputs *value, struct check *check)
{
	if (has(value, branch))
		check_no_nul(check, "branch", value->branch);
}

void run_changes_query_check(const struct run_changes_query *value, struct check *check)
{
	if (has(value, path))
		check_no_nul(check, "path", value->path);
}

void run_git_publish_inputs_check(const struct run_git_publish_inputs *value, struct check *check)
{
	if (has(value, branch))
		check_no_nul(check, "branch", value->branch);
}

void run_git_snapshot_inputs_check(const struct run_git_snapshot_inputs *value, struct check *check)
{
	check_no_nul(check, "repository", value->repository);
}

void run_git_restore_inputs_check(const struct run_git_restore_inputs *value, struct check *check)
{
	check_no_nul(check, "repository", value->repository);
}

void run_git_hooks_inputs_check(const struct run_git_hooks_inputs *value, struct check *check)
{
	check_no_nul(check, "repository", value->repository);
	if (has(value, message))
		check_no_nul(check, "message", value->message);
}

void run_git_commit_inputs_check(const struct run_git_commit_inputs *value, struct check *check)
{
	check_no_nul(check, "message", value->message);
	check_no_nul(check, "repository", value->repository);
	check_no_nul_list(check, "paths", value->paths);
	if (has(value, author_name))
		check_no_nul(check, "author_name", value->author_name);
	if (has(value, author_email))
		check_no_nul(check, "author_email", value->author_email);
}

void run_write_todos_inputs_check(const struct run_write_todos_inputs *value, struct check *check)
{
	size_t under_way = 0;
	for (size_t i = 0; i < value->items.count; i++)
		under_way += value->items.at[i].state == RUN_TODO_IN_PROGRESS;
	if (under_way > 1)
		check_fail(check, "items", "%zu tasks are in_progress; only one may be", under_way);
}

void run_http_send_inputs_check(const struct run_http_send_inputs *value, struct check *check)
{
	if (has(value, body) && has(value, json))
		check_fail(check, "json", "a request can have body or json, not both");
}

/* A client would normalize empty parts, "." and ".." away in the artifact's URL. */
static void check_artifact_name(struct str name, struct check *check)
{
	struct str rest = name, part;
	bool good = !str_ends(name, S("/"));
	while (str_cut(&rest, '/', &part))
		good = good && part.size > 0 && part.at[0] != '.';
	if (!good)
		check_fail(check, "name",
			   "no part of an artifact name may be empty or begin with a dot");
}

void run_artifact_upload_check(const struct run_artifact_upload *value, struct check *check)
{
	check_artifact_name(value->name, check);
}

void run_write_artifact_inputs_check(const struct run_write_artifact_inputs *value,
				     struct check *check)
{
	if (has(value, content) == has(value, path))
		check_fail(check, NULL, "an artifact needs exactly one of content and path");
	check_artifact_name(value->name, check);
}

void run_script_reply_check(const struct run_script_reply *value, struct check *check)
{
	bool hangs = has(value, hang) && value->hang;
	/* a stream that breaks or stalls */
	bool broken = has(value, text) && (has(value, fail) != hangs);
	int given = has(value, text) + has(value, json) + has(value, fail) + hangs - broken;
	bool calls_only = given == 0 && has(value, calls);
	if (given != 1 && !calls_only)
		check_fail(check, NULL,
			   "a reply must have exactly one of text, json, fail and hang: true, or "
			   "calls; this one has %d",
			   given);
	if (has(value, calls) && (hangs || has(value, fail)))
		check_fail(check, "calls", "a reply that fails or hangs has no calls");
}

void run_custom_tool_check(const struct run_custom_tool *value, struct check *check)
{
	bool script = has(value, path);
	if (has(value, command) == script)
		check_fail(check, NULL, "a tool needs exactly one of command and path");
	if (has(value, function) != script)
		check_fail(check, "function",
			   "a tool with path needs function; a tool with command must not have it");
	if (script && !str_ends(value->path, S(".py")) && !str_ends(value->path, S(".js")))
		check_fail(check, "path", "must end in .py or .js");
	if (value->class == RUN_CLASS_PURE || value->class == RUN_CLASS_PROBE)
		check_fail(
			check, "class",
			"the class of a process must be idempotent, keyed, contained or once; pure "
			"and probe are for built-in tools");
	if (value->class == RUN_CLASS_CONTAINED && (value->keep_alive || value->network))
		check_fail(
			check, "class",
			"a contained tool can have neither keep_alive nor network: it may change "
			"only the workspace of its run");
}

void run_schedule_check(const struct run_schedule *schedule, struct check *check)
{
	struct cron cron;
	struct error error;
	int64_t us;
	if (has(schedule, cron) == has(schedule, every))
		check_fail(check, NULL, "a schedule needs exactly one of cron and every");
	if (has(schedule, cron) && !cron_parse(schedule->cron, &cron, &error))
		check_fail(check, "cron", "%s", error.text);
	if (has(schedule, every) && !cron_interval_parse(schedule->every, &us, &error))
		check_fail(check, "every", "%s", error.text);
	if (!zone_name_good(schedule->time_zone))
		check_fail(check, "time_zone",
			   "is not a time zone name of the tz database, such as UTC or "
			   "Europe/Berlin");
	if (schedule->catch_up == RUN_CATCH_UP_ALL && schedule->overlap == RUN_OVERLAP_SKIP)
		check_fail(check, "catch_up",
			   "all needs overlap queue or allow: with skip, only one of several due "
			   "times that come at once would start a run");
}

static bool webhook_url_fits(struct str url, bool mail)
{
	return mail ? str_starts(url, S("smtp://")) || str_starts(url, S("smtps://"))
		    : str_starts(url, S("http://")) || str_starts(url, S("https://"));
}

void run_webhook_check(const struct run_webhook *webhook, struct check *check)
{
	bool mail = webhook->channel == RUN_WEBHOOK_CHANNEL_EMAIL;
	if (has(webhook, url) == has(webhook, url_secret))
		check_fail(check, NULL, "a webhook needs exactly one of url and url_secret");
	if (has(webhook, url) && !webhook_url_fits(webhook->url, mail))
		check_fail(check, "url",
			   mail ? "must begin with smtp:// or smtps://"
				: "must begin with http:// or https://");
	if (webhook->channel == RUN_WEBHOOK_CHANNEL_WEBHOOK && !has(webhook, secret))
		check_fail(check, "secret",
			   "is missing: the key that signs deliveries, env:NAME or file:NAME");
	if (mail && (!has(webhook, from) || !has(webhook, to)))
		check_fail(check, NULL, "an e-mail needs from and to");
	if (!mail && (has(webhook, from) || has(webhook, to) || has(webhook, user)))
		check_fail(check, NULL, "from, to and user belong to channel email");
	if (mail && has(webhook, user) != has(webhook, secret))
		check_fail(check, NULL, "an e-mail has both user and secret, or neither");
}

void run_trigger_check(const struct run_trigger *trigger, struct check *check)
{
	if (has(trigger, workflow) == has(trigger, signal))
		check_fail(check, NULL, "a trigger needs exactly one of workflow and signal");
	if (has(trigger, signal) != has(trigger, label))
		check_fail(check, "label",
			   "belongs to signal: it finds the run that gets the signal");
	if (has(trigger, workflow) && has(trigger, data))
		check_fail(check, "data", "belongs to signal; a workflow has inputs");
}

void run_agentic_request_check(const struct run_agentic_request *value, struct check *check)
{
	if (!has(value, goal) && !value->chat)
		check_fail(check, "goal", "must say what the agent shall do, unless chat is true");
	if (value->chat && has(value, attachments) && value->attachments.count > 0)
		check_fail(check, "attachments",
			   "must be sent with a message, because chat is true");
}
