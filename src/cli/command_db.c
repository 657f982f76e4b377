/* cli/command_db.c -- baton db: check, stats, backup, vacuum, compact, rebuild and accept-loss.
 *
 * The command never opens the database file.  It sends a request to the process that owns the data
 * folder; if there is none, this process owns it.  Only accept-loss has something to do before: no
 * process can own a folder that has lost data, so this one accepts the loss when it opens the folder.
 * If another process owns the folder, nothing is lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/output.h"
#include "cli/server_request.h"
#include "contract/run_store_types.h"

typedef int db_show(struct cli *cli, const struct json *answer);

static db_show show_check, show_stats, show_backup, show_vacuum, show_compact, show_rebuild;

static const struct db_action {
	const char *name, *method, *target;
	db_show *show;
} db_actions[] = {
	{ "check", "POST", "/api/db/check", show_check },
	{ "stats", "GET", "/api/db/stats", show_stats },
	{ "backup", "POST", "/api/db/backup", show_backup },
	{ "vacuum", "POST", "/api/db/vacuum", show_vacuum },
	{ "compact", "POST", "/api/db/compact", show_compact },
	{ "rebuild", "POST", "/api/db/rebuild", show_rebuild },
	{ "accept-loss", "POST", "/api/db/check", show_check }, /* and see what is left */
};

struct db_call {
	const struct db_action *action;
	struct str body;
};

/* ---- responses ----------------------------------------------------------------------- */

/* The problems are the result of the command, so they go to stdout; db_run() sets the exit status.
 */
static int show_check(struct cli *cli, const struct json *answer)
{
	const struct json *problems = json_member(answer, S("problems"));
	(void)cli;
	for (size_t i = 0; json_item(problems, i) != NULL; i++)
		cli_line(CLI_RESULT, STR_FMT, STR_ARG(json_text(json_item(problems, i))));
	if (json_item(problems, 0) == NULL)
		cli_line(CLI_RESULT, "ok: %lld events, %lld references to values",
			 cli_number(answer, "events"), cli_number(answer, "values"));
	return 0;
}

static int show_stats(struct cli *cli, const struct json *answer)
{
	(void)cli;
	for (size_t i = 0; i < answer->as.object.count; i++) {
		const struct json_member *member = &answer->as.object.at[i];
		cli_line(CLI_RESULT, "%-10.*s  %lld", STR_ARG(member->key),
			 (long long)member->value.as.integer);
	}
	return 0;
}

static int show_backup(struct cli *cli, const struct json *answer)
{
	(void)cli;
	cli_line(CLI_RESULT, STR_FMT "  %lld bytes",
		 STR_ARG(json_text(json_member(answer, S("file")))), cli_number(answer, "bytes"));
	return 0;
}

static int show_vacuum(struct cli *cli, const struct json *answer)
{
	(void)cli;
	cli_line(CLI_RESULT, "%lld bytes", cli_number(answer, "bytes"));
	return 0;
}

static int show_compact(struct cli *cli, const struct json *answer)
{
	(void)cli;
	cli_line(
		CLI_RESULT,
		"compacted %lld of %lld runs: removed %lld events and %lld values; %lld bytes free",
		cli_number(answer, "compacted"), cli_number(answer, "runs"),
		cli_number(answer, "events"), cli_number(answer, "values"),
		cli_number(answer, "free_bytes"));
	if (cli_number(answer, "artifacts") > 0)
		cli_line(CLI_RESULT, "removed %lld contents that no artifact refers to",
			 cli_number(answer, "artifacts"));
	if (cli_number(answer, "workspaces") > 0)
		cli_line(CLI_RESULT, "removed %lld workspaces", cli_number(answer, "workspaces"));
	return 0;
}

static int show_rebuild(struct cli *cli, const struct json *answer)
{
	const struct json *problems = json_member(answer, S("problems"));
	const struct json *made = json_member(answer, S("projections"));
	(void)cli;
	for (size_t i = 0; json_item(made, i) != NULL; i++)
		cli_line(CLI_RESULT, "%-9.*s  rebuilt from " STR_FMT,
			 STR_ARG(json_text(json_member(json_item(made, i), S("name")))),
			 STR_ARG(json_text(json_member(json_item(made, i), S("source")))));
	cli_line(CLI_RESULT, "%lld runs, %lld open effects; skipped %lld active runs, resumed %lld",
		 cli_number(answer, "runs"), cli_number(answer, "effects"),
		 cli_number(answer, "busy"), cli_number(answer, "resumed"));
	cli_line(CLI_RESULT, "%lld documents", cli_number(answer, "documents"));
	for (size_t i = 0; json_item(problems, i) != NULL; i++)
		cli_line(CLI_RESULT, STR_FMT, STR_ARG(json_text(json_item(problems, i))));
	return json_item(problems, 0) == NULL ? 0 : error_row(ERROR_STORAGE)->exit_status;
}

/* ---- the command --------------------------------------------------------------------- */

/* The owner's current directory may differ from ours, so it gets an absolute path. */
static struct str absolute_path(struct cli *cli, const char *file)
{
	char *here = file[0] == '/' ? NULL : realpath(".", NULL);
	struct str path =
		here == NULL ? str_from_c(file) : str_format(&cli->arena, "%s/%s", here, file);
	free(here);
	return path;
}

static struct str body_of(struct cli *cli, const char *file)
{
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	json_open(&writer, '{');
	json_key(&writer, S("file"));
	json_put_str(&writer, absolute_path(cli, file));
	json_close(&writer, '}');
	return str_copy(&cli->arena, buf_str(&text));
}

/* Parses the whole number of an option; leaves *out unchanged when the option is not given. */
static bool take_number(struct cli *cli, const char *option, int64_t *out, struct error *error)
{
	const char *text = cli_value(cli, option, 0);
	if (text != NULL && (!str_to_int(str_from_c(text), out) || *out < 0))
		return fail(error, ERROR_USAGE, "%s must be a whole number from 0, not \"%s\"",
			    option, text);
	return true;
}

static bool take_compact(struct cli *cli, struct str *out_body, struct error *error)
{
	int64_t days = -1, most = -1;
	bool now = cli_has(cli, "--now");
	if (!take_number(cli, "--days", &days, error) ||
	    !take_number(cli, "--max-events", &most, error))
		return false;
	if (now && days > 0)
		return fail(error, ERROR_USAGE, "--now means --days 0; give only one of them");
	struct run_store_compact *body = run_store_compact_new(&cli->arena);
	if (now || days >= 0)
		SET(body, days, now ? 0 : days);
	if (most >= 0)
		SET(body, max_events, most);
	if (cli_has(cli, "--workspaces"))
		SET(body, workspaces, true);
	*out_body = run_store_compact_text(body, &cli->arena);
	return true;
}

static bool db_prepare(struct cli *cli, struct error *error)
{
	struct db_call *db = arena_new(&cli->arena, struct db_call);
	for (size_t i = 0; i < COUNT(db_actions); i++)
		if (strcmp(db_actions[i].name, cli->subcommand->name) == 0)
			db->action = &db_actions[i];
	require(db->action != NULL);
	cli->state = db;
	cli->accept_loss = strcmp(cli->subcommand->name, "accept-loss") == 0;
	if (strcmp(cli->subcommand->name, "compact") == 0)
		return take_compact(cli, &db->body, error);
	const char *file = cli_argument(cli, 0);
	size_t bad;
	if (file == NULL)
		return true;
	if (!utf8_valid(str_from_c(file), &bad))
		return fail(error, ERROR_USAGE, "the file name of the backup is not valid UTF-8");
	db->body = body_of(cli, file);
	return true;
}

static int db_run(struct cli *cli)
{
	const struct db_call *db = cli->state;
	const struct json *answer;
	int status = cli_call(cli, db->action->method, str_from_c(db->action->target), db->body,
			      &answer);
	if (status != 0)
		return status;
	status = cli->json ? cli_print_json(cli, answer) : db->action->show(cli, answer);
	const struct json *sound = json_member(answer, S("sound"));
	if (sound != NULL && !sound->as.boolean)
		status = error_row(ERROR_STORAGE)->exit_status;
	return status;
}

static const struct cli_subcommand subcommands[] = {
	{ .name = "check", .text = "Check the whole database" },
	{ .name = "stats", .text = "Print sizes and counts" },
	{ .name = "backup",
	  .text = "Write a consistent copy to a file",
	  .arguments = { { .name = "FILE", .value_kind = CLI_FILE } } },
	{ .name = "vacuum", .text = "Return free pages to the file system" },
	{ .name = "compact",
	  .text = "Remove the events of old runs; the runs themselves stay",
	  .options = { { .name = "--now", .text = "Compact every run that has ended" },
		       { .name = "--days",
			 .value = "N",
			 .text = "Compact runs that ended at least N days ago, whatever their retention" },
		       { .name = "--max-events",
			 .value = "N",
			 .text = "Keep at most N events of each run" },
		       { .name = "--workspaces",
			 .text = "Remove the workspaces of all compacted runs; these cannot be retried" } } },
	{ .name = "rebuild", .text = "Rebuild all projections from the events" },
	{ .name = "accept-loss",
	  .text = "Go on without events or files that the data folder has lost, then check the rest" },
	{ .name = NULL },
};

const struct cli_command command_db = {
	.name = "db",
	.text = "Check, measure, back up, shrink, compact or rebuild the database while runs go on",
	.group = CLI_SERVERS,
	.subcommands = subcommands,
	.exits = { { 74,
		     "check: the database is damaged or has lost something; rebuild: the events of a run cannot be replayed" } },
	.kind = CLI_CLIENT,
	.read_only = true,
	.prepare = db_prepare,
	.run = db_run,
};
