/* cli/command_watch.c -- follows a run that exists; on its own it also carries it on. */
#include "cli/cli.h"

struct watch_state {
	struct uuid id;
	int64_t seen;
};

static bool prepare(struct cli *cli, struct error *error)
{
	struct watch_state *state = arena_new(&cli->arena, struct watch_state);
	const char *id;
	if (!cli_one_argument(cli, "the run's id", &id, error))
		return false;
	if (!uuid_parse(str_from_c(id), &state->id))
		return fail(error, ERROR_USAGE, "a run's id is a UUID, not %s", id);
	cli->state = state;
	return true;
}

static int run(struct cli *cli)
{
	struct watch_state *state = cli->state;
	return cli_follow(cli, &state->id, &state->seen);
}

const struct cli_command command_watch = {
	.name = "watch",
	.usage = "watch RUN",
	.text = "Follow a run to its end, carrying it on when nobody else does",
	.kind = CLI_CLIENT,
	.prepare = prepare,
	.run = run,
};
