/* cli/command_watch.c -- follows a run that exists; on its own it also carries it on. */
#include "cli/cli.h"

struct watch_state {
	struct uuid id;
	int64_t seen;
};

static bool prepare(struct cli *cli, struct error *error)
{
	struct watch_state *state = arena_new(&cli->arena, struct watch_state);
	cli->state = state;
	return cli_uuid(cli_argument(cli, 0), "a run's id", &state->id, error);
}

static int run(struct cli *cli)
{
	struct watch_state *state = cli->state;
	return cli_follow(cli, &state->id, &state->seen);
}

const struct cli_command command_watch = {
	.name = "watch",
	.text = "Follow a run to its end, carrying it on when nobody else does",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.arguments = { { .name = "RUN", .values = CLI_RUN } },
	.examples = { { "baton watch 1f0c…",
			"On a terminal a tree of its steps, else a line for each event" } },
	.exits = { { 1, "the run failed" },
		   { 130, "interrupted; what is open goes on at the next start" } },
	.prepare = prepare,
	.run = run,
};
