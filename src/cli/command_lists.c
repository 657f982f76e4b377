/* cli/command_lists.c -- baton runs and inbox. */
#include <stdio.h>

#include "cli/server_request.h"
#include "cli/run_tree.h"

static int list_runs(struct cli *cli)
{
	const struct json *runs;
	struct str target = S("/api/runs?limit=100");
	target = cli_query(cli, target, "workflow", cli_value(cli, "--workflow", 0));
	target = cli_query(cli, target, "status", cli_value(cli, "--status", 0));
	int status = cli_call(cli, "GET", target, S(""), &runs);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, runs);
	for (size_t i = 0; json_item(runs, i) != NULL; i++) {
		const struct json *row = json_item(runs, i);
		printf(STR_FMT "  %-8.*s  " STR_FMT "  " STR_FMT "\n",
		       STR_ARG(cli_text(row, "run_id")), STR_ARG(cli_text(row, "status")),
		       STR_ARG(cli_text(row, "started_at")), STR_ARG(cli_text(row, "workflow")));
	}
	return 0;
}

static void put_question(const struct json *row)
{
	AUTO(buf) line = { 0 };
	buf_add_format(&line, STR_FMT "  " STR_FMT "  run " STR_FMT "  " STR_FMT,
		       STR_ARG(cli_text(row, "id")), STR_ARG(cli_text(row, "kind")),
		       STR_ARG(cli_text(row, "run_id")), STR_ARG(cli_text(row, "step")));
	if (cli_text(row, "to").size > 0) {
		buf_add(&line, S("  for "));
		run_tree_plain(cli_text(row, "to"), &line);
	}
	if (cli_text(row, "due_at").size > 0)
		buf_add_format(&line, "  due " STR_FMT, STR_ARG(cli_text(row, "due_at")));
	if (cli_is_true(row, "four_eyes"))
		buf_add(&line, S("  four eyes"));
	buf_add(&line, S("\n    "));
	run_tree_plain(cli_text(row, "question"), &line);
	printf(STR_FMT "\n", STR_ARG(buf_str(&line)));
}

/* With --json prints the first page as the server sends it, else all pages. */
static int list_inbox(struct cli *cli)
{
	struct str target = S("/api/inbox");
	for (;;) {
		const struct json *page;
		int status = cli_call(cli, "GET", target, S(""), &page);
		if (status != 0)
			return status;
		if (cli->json)
			return cli_print_json(cli, page);
		const struct json *items = json_member(page, S("items"));
		for (size_t i = 0; json_item(items, i) != NULL; i++)
			put_question(json_item(items, i));
		struct str cursor = cli_text(page, "cursor");
		if (cursor.size == 0)
			return cli_flush();
		target = str_format(&cli->arena, "/api/inbox?cursor=" STR_FMT, STR_ARG(cursor));
	}
}

const struct cli_command command_runs = {
	.name = "runs",
	.text = "List runs, newest first",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.options = { { .name = "--workflow",
		       .value = "NAME",
		       .value_kind = CLI_WORKFLOW,
		       .text = "List only runs of this workflow" },
		     { .name = "--status",
		       .value = "STATUS",
		       .value_kind = CLI_ONE_OF,
		       .choices = "queued|running|paused|waiting_human|succeeded|failed|cancelled",
		       .text = "List only runs with this status" } },
	.examples = { { "baton runs --status waiting_human", "List runs that wait for a person" } },
	.prepare = cli_prepare_nothing,
	.run = list_runs,
};

const struct cli_command command_inbox = {
	.name = "inbox",
	.text = "List open requests to people: what, for whom, until when",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.prepare = cli_prepare_nothing,
	.run = list_inbox,
};
