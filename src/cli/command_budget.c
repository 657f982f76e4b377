/* cli/command_budget.c -- baton budget: limits of money over many runs. */
#include <stdlib.h>
#include <string.h>

#include "cli/document_command.h"
#include "cli/output.h"
#include "cli/usage_text.h"

static double dollars(const struct json *item, const char *member)
{
	const struct json *number = json_member(item, str_from_c(member));
	if (number == NULL)
		return 0;
	return number->kind == JSON_INT    ? (double)number->as.integer
	       : number->kind == JSON_REAL ? number->as.real
					   : 0;
}

static int list(const struct json *page)
{
	const struct json *items = json_member(page, S("items"));
	if (json_item(items, 0) == NULL) {
		cli_line(CLI_PROGRESS, "no budgets; set one: baton budget set day 5.00");
		return cli_flush();
	}
	cli_line(CLI_RESULT, "%14s  %14s  %14s  %7s  %6s  %s", "LIMIT", "SPENT", "RESERVED",
		 "WAITING", "PAUSED", "BUDGET");
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *item = json_item(items, i);
		cli_line(CLI_RESULT, "%14.6f  %14.6f  %14.6f  %7lld  %6lld  " STR_FMT,
			 dollars(item, "limit_usd"), dollars(item, "spent_usd"),
			 dollars(item, "reserved_usd"), cli_number(item, "waiting"),
			 cli_number(item, "paused"), STR_ARG(cli_text(item, "name")));
	}
	return cli_flush();
}

static bool prepare(struct cli *cli, struct error *error)
{
	const char *word = cli->subcommand->name, *amount = cli_argument(cli, 1);
	struct document_call *call;
	double limit;
	if (!document_command_prepare(cli, "/api/budgets", "a budget's", &call, error))
		return false;
	if (strcmp(word, "list") == 0)
		call->show = list;
	if (strcmp(word, "set") != 0)
		return true;
	if (!usage_text_dollars(cli, amount, &limit))
		return fail(error, ERROR_USAGE,
			    "the limit must be an amount of dollars such as 5.00, not \"%s\"",
			    amount);
	call->method = "PUT";
	call->body = str_format(&cli->arena, "{\"limit_usd\":%.12f}", limit);
	return true;
}

static const struct cli_subcommand subcommands[] = {
	{ .name = "list", .text = "List budgets with what is spent and reserved of them" },
	{ .name = "show", .text = "Show a budget", .arguments = { { .name = "NAME" } } },
	{ .name = "set",
	  .text = "Set the limit of a budget; runs that wait for it continue",
	  .arguments = { { .name = "NAME" }, { .name = "DOLLARS" } } },
	{ .name = "delete",
	  .text = "Delete a budget: its turns are not limited any more",
	  .arguments = { { .name = "NAME" } } },
	{ .name = NULL },
};

const struct cli_command command_budget = {
	.name = "budget",
	.text = "Limit what agents' turns may cost: per agent, profile, day, or in all",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.subcommands = subcommands,
	.examples = { { "baton budget set day 5.00",
			"Spend at most five dollars on each day (UTC)" },
		      { "baton budget set agent:ada 20", "Let the agent ada spend twenty dollars" },
		      { "baton budget list", "What is spent and reserved" } },
	.prepare = prepare,
	.run = document_command_run,
};
