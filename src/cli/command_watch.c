/* cli/command_watch.c -- baton watch: follow an existing run, and carry it on if no server runs. */
#include "cli/run_lookup.h"

struct watch_state {
	struct run_name run;
	int64_t last_seq;
};

static bool prepare(struct cli *cli, struct error *error)
{
	struct watch_state *state = arena_new(&cli->arena, struct watch_state);
	cli->state = state;
	return run_name_parse(cli_argument(cli, 0), "RUN", &state->run, error);
}

static int run(struct cli *cli)
{
	struct watch_state *state = cli->state;
	int status = run_name_find(cli, &state->run);
	return status != 0 ? status : cli_run_follow(cli, &state->run.first, &state->last_seq);
}

const struct cli_command command_watch = {
	.name = "watch",
	.text = "Follow a run to its end; carry it on if no server is running",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.only_follows = true,
	.arguments = { { .name = "RUN", .value_kind = CLI_RUN } },
	.examples = { { "baton watch 1f0c",
			"Show a tree of the steps on a terminal, else one line per event" } },
	.exits = { { 1, "the run failed" }, CLI_EXIT_WITH_ISSUES, CLI_EXIT_INTERRUPTED },
	.prepare = prepare,
	.run = run,
};
