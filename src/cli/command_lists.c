/* cli/command_lists.c -- runs and inbox: what there is, one line each, or as JSON. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/tree.h"

static int fetch(struct cli *cli, struct str target, const struct json **out_json)
{
	struct error error;
	bool lost;
	if (cli_request(cli, "GET", target, S(""), out_json, &lost, &error))
		return 0;
	return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
}

static struct str member(const struct json *object, const char *name)
{
	return json_text(json_member(object, str_from_c(name)));
}

static struct str narrowed(struct cli *cli, struct str target, const char *name, const char *value)
{
	if (value == NULL)
		return target;
	target = str_format(&cli->arena, STR_FMT "&%s=", STR_ARG(target), name);
	return cli_target(cli, str_c(&cli->arena, target), value, "");
}

static int list_runs(struct cli *cli)
{
	const struct json *runs;
	struct str target = S("/api/runs?limit=100");
	target = narrowed(cli, target, "workflow", cli_value(cli, "--workflow", 0));
	target = narrowed(cli, target, "status", cli_value(cli, "--status", 0));
	int status = fetch(cli, target, &runs);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, runs);
	for (size_t i = 0; json_item(runs, i) != NULL; i++) {
		const struct json *row = json_item(runs, i);
		printf(STR_FMT "  %-8.*s  " STR_FMT "  " STR_FMT "\n",
		       STR_ARG(member(row, "run_id")), STR_ARG(member(row, "status")),
		       STR_ARG(member(row, "started_at")), STR_ARG(member(row, "workflow")));
	}
	return 0;
}

static void put_question(const struct json *row)
{
	AUTO(buf) line = { 0 };
	buf_add_format(&line, STR_FMT "  " STR_FMT "  run " STR_FMT "  " STR_FMT,
		       STR_ARG(member(row, "id")), STR_ARG(member(row, "kind")),
		       STR_ARG(member(row, "run_id")), STR_ARG(member(row, "step")));
	if (member(row, "to").size > 0) {
		buf_add(&line, S("  for "));
		tree_plain(member(row, "to"), &line);
	}
	if (member(row, "due_at").size > 0)
		buf_add_format(&line, "  due " STR_FMT, STR_ARG(member(row, "due_at")));
	const struct json *four_eyes = json_member(row, S("four_eyes"));
	if (four_eyes != NULL && four_eyes->kind == JSON_BOOL && four_eyes->as.boolean)
		buf_add(&line, S("  four eyes"));
	buf_add(&line, S("\n    "));
	tree_plain(member(row, "question"), &line);
	printf(STR_FMT "\n", STR_ARG(buf_str(&line)));
}

/* As JSON a page at a time as the server gives it, else all there is. */
static int list_inbox(struct cli *cli)
{
	struct str target = S("/api/inbox");
	for (;;) {
		const struct json *page;
		int status = fetch(cli, target, &page);
		if (status != 0)
			return status;
		if (cli->json)
			return cli_print_json(cli, page);
		const struct json *items = json_member(page, S("items"));
		for (size_t i = 0; json_item(items, i) != NULL; i++)
			put_question(json_item(items, i));
		struct str cursor = member(page, "cursor");
		if (cursor.size == 0)
			return fflush(stdout) == 0 ? 0 : error_row(ERROR_IO)->exit_status;
		target = str_format(&cli->arena, "/api/inbox?cursor=" STR_FMT, STR_ARG(cursor));
	}
}

const struct cli_command command_runs = {
	.name = "runs",
	.text = "List runs, newest first",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.only_looks = true,
	.options = { { .name = "--workflow",
		       .value = "NAME",
		       .values = CLI_WORKFLOW,
		       .text = "Only runs of this definition" },
		     { .name = "--status",
		       .value = "STATUS",
		       .values = CLI_ONE_OF,
		       .words = "queued|running|paused|waiting_human|succeeded|failed|cancelled",
		       .text = "Only runs with this status" } },
	.examples = { { "baton runs --status waiting_human", "Those that wait for a person" } },
	.prepare = cli_nothing,
	.run = list_runs,
};

const struct cli_command command_inbox = {
	.name = "inbox",
	.text = "List what waits for a person: why, for whom, until when",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.only_looks = true,
	.prepare = cli_nothing,
	.run = list_inbox,
};
