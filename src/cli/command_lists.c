/* cli/command_lists.c -- runs and inbox: what there is, one line each, or as JSON. */
#include <stdio.h>

#include "cli/cli.h"

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

static int list_runs(struct cli *cli)
{
	const struct json *runs;
	int status = fetch(cli, S("/api/runs?limit=100"), &runs);
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

static int list_inbox(struct cli *cli)
{
	const struct json *page;
	int status = fetch(cli, S("/api/inbox"), &page);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, page);
	const struct json *items = json_member(page, S("items"));
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *row = json_item(items, i);
		printf(STR_FMT "  run " STR_FMT "  " STR_FMT "\n    " STR_FMT "\n",
		       STR_ARG(member(row, "id")), STR_ARG(member(row, "run_id")),
		       STR_ARG(member(row, "step")), STR_ARG(member(row, "question")));
	}
	return 0;
}

const struct cli_command command_runs = {
	.name = "runs",
	.text = "List runs, newest first",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.only_looks = true,
	.prepare = cli_nothing,
	.run = list_runs,
};

const struct cli_command command_inbox = {
	.name = "inbox",
	.text = "List what waits for a person",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.only_looks = true,
	.prepare = cli_nothing,
	.run = list_inbox,
};
