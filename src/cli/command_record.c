/* cli/command_record.c -- baton record: a run whose models' replies are kept in a cassette. */
#include "cli/run_options.h"

static bool prepare(struct cli *cli, struct error *error)
{
	const struct run_cassettes cassettes = { .record = cli_value(cli, "--cassette", 0),
						 .append = cli_has(cli, "--append") };
	if (cassettes.record == NULL)
		return fail(error, ERROR_USAGE,
			    "baton record needs --cassette NAME: where to keep the replies");
	return run_options_prepare(cli, &cassettes, error);
}

const struct cli_command command_record = {
	.name = "record",
	.text = "Start a run and keep its models' replies, for baton run --replay",
	.group = CLI_RUNS,
	.arguments = { { .name = "FILE|NAME", .value_kind = CLI_WORKFLOW } },
	.options = { { .name = "--cassette",
		       .value = "NAME",
		       .text = "Folder cassettes/NAME of the data folder; it must be new (required)" },
		     { .name = "--append",
		       .text = "Add to a cassette that exists; a request it has gets the new reply" },
		     CLI_RUN_OPTIONS },
	.examples = { { "baton record flow.yaml --cassette demo",
			"Ask the models and keep the replies" },
		      { "baton record flow.yaml --cassette demo --append --input who=Ada",
			"Keep the replies to other inputs, too" },
		      { "baton run flow.yaml --replay demo", "Run without key and network" } },
	.exits = { { 1, "the run failed" }, CLI_EXIT_WITH_ISSUES, CLI_EXIT_INTERRUPTED },
	.kind = CLI_CLIENT,
	.prepare = prepare,
	.run = run_options_start,
};
