/* cli/command_usage.c -- baton usage: what agents' turns used and cost. */
#include "cli/output.h"
#include "cli/server_request.h"
#include "cli/usage_text.h"

static bool prepare(struct cli *cli, struct error *error)
{
	const char *limit = cli_value(cli, "--limit", 0);
	int64_t number;
	return limit == NULL || (str_to_int(str_from_c(limit), &number) && number > 0) ||
	       fail(error, ERROR_USAGE, "--limit must be a whole number from 1, not \"%s\"", limit);
}

/* The name of a row: its day, model, agent, workflow or run. */
static struct str row_name(struct cli *cli, const struct json *row)
{
	if (cli_text(row, "model").size > 0 || cli_text(row, "provider").size > 0)
		return str_format(&cli->arena, STR_FMT "/" STR_FMT,
				  STR_ARG(cli_text(row, "provider")),
				  STR_ARG(cli_text(row, "model")));
	if (cli_text(row, "run_id").size > 0)
		return str_format(&cli->arena, STR_FMT "  " STR_FMT,
				  STR_ARG(cli_text(row, "run_id")),
				  STR_ARG(cli_text(row, "workflow")));
	static const char *const names[] = { "day", "agent", "workflow" };
	for (size_t i = 0; i < COUNT(names); i++)
		if (cli_text(row, names[i]).size > 0)
			return cli_text(row, names[i]);
	return S("-");
}

static void put_row(const struct json *row, struct str name)
{
	AUTO(buf) cost = { 0 };
	usage_text_cost(row, &cost);
	cli_line(CLI_RESULT, "%12.*s  %8lld  %12lld  %12lld  %12lld  " STR_FMT, (int)cost.size,
		 buf_str(&cost).at, cli_number(row, "turns"), cli_number(row, "input_tokens"),
		 cli_number(row, "output_tokens"), cli_number(row, "cache_read_tokens"),
		 STR_ARG(name));
}

static void put_list(struct cli *cli, const struct json *page, const char *member,
		     const char *title)
{
	const struct json *rows = json_member(page, str_from_c(member));
	if (json_item(rows, 0) == NULL)
		return;
	cli_line(CLI_RESULT, "%12s  %8s  %12s  %12s  %12s  %s", "COST", "TURNS", "INPUT", "OUTPUT",
		 "CACHED", title);
	for (size_t i = 0; json_item(rows, i) != NULL; i++)
		put_row(json_item(rows, i), row_name(cli, json_item(rows, i)));
	cli_line(CLI_RESULT, "%s", "");
}

static int print_usage(struct cli *cli, const struct json *page)
{
	const struct json *total = json_member(page, S("total"));
	AUTO(buf) line = { 0 };
	put_list(cli, page, "days", "DAY");
	put_list(cli, page, "models", "MODEL");
	put_list(cli, page, "agents", "AGENT");
	put_list(cli, page, "workflows", "WORKFLOW");
	put_list(cli, page, "runs", "RUN");
	usage_text_add(total, &line);
	cli_line(CLI_RESULT, STR_FMT " to " STR_FMT ": " STR_FMT, STR_ARG(cli_text(page, "since")),
		 STR_ARG(cli_text(page, "until")), STR_ARG(buf_str(&line)));
	return cli_flush();
}

static int run(struct cli *cli)
{
	const struct json *page;
	static const char *const options[] = { "--since", "--until", "--by", "--limit" };
	struct str target = S("/api/usage");
	for (size_t i = 0; i < COUNT(options); i++)
		target = cli_query(cli, target, options[i] + 2, cli_value(cli, options[i], 0));
	int status = cli_call(cli, "GET", target, S(""), &page);
	if (status != 0)
		return status;
	return cli->json ? cli_print_json(cli, page) : print_usage(cli, page);
}

const struct cli_command command_usage = {
	.name = "usage",
	.text = "Sum up what agents' turns used and cost, by day, model, agent, workflow and run",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.options = { { .name = "--since",
		       .value = "DAY",
		       .text = "First day as YYYY-MM-DD, in UTC (default: 29 days before the last)" },
		     { .name = "--until", .value = "DAY", .text = "Last day (default: today)" },
		     { .name = "--by",
		       .value = "WHAT",
		       .text = "Sum up by one of these only",
		       .value_kind = CLI_ONE_OF,
		       .choices = "day|model|agent|workflow|run" },
		     { .name = "--limit",
		       .value = "N",
		       .text = "Longest list except that of days (default 20)" } },
	.examples = { { "baton usage --since 2026-01-01 --by model", "What each model has cost" } },
	.prepare = prepare,
	.run = run,
};
