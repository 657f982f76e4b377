/* cli/command_watch.c -- baton watch: follow an existing run, and carry it on if no server runs. */
#include "cli/cli.h"

struct watch_state {
	struct uuid id;
	int64_t last_seq;
};

static bool prepare(struct cli *cli, struct error *error)
{
	struct watch_state *state = arena_new(&cli->arena, struct watch_state);
	cli->state = state;
	return cli_uuid(cli_argument(cli, 0), "RUN", &state->id, error);
}

static int run(struct cli *cli)
{
	struct watch_state *state = cli->state;
	return cli_run_follow(cli, &state->id, &state->last_seq);
}

const struct cli_command command_watch = {
	.name = "watch",
	.text = "Follow a run to its end; carry it on if no server is running",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.arguments = { { .name = "RUN", .value_kind = CLI_RUN } },
	.examples = { { "baton watch 1f0c…",
			"Show a tree of the steps on a terminal, else one line per event" } },
	.exits = { { 1, "the run failed" },
		   { 130, "interrupted; the run continues when a server next starts" } },
	.prepare = prepare,
	.run = run,
};
