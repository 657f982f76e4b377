/* cli/command_artifacts.c -- what a run made and keeps: the list, or one artifact's bytes. */
#include <stdio.h>

#include "cli/server_request.h"

struct artifacts_state {
	struct str target;
	bool bytes;
};

/* NAME, or NAME@N for one version of it: a name has no @ in it. */
static bool take_name(struct cli *cli, struct artifacts_state *state, struct str given,
		      struct error *error)
{
	struct str rest = given, name, part;
	const char *behind = "";
	int64_t version;
	str_cut(&rest, '@', &name);
	if (name.size == 0)
		return fail(error, ERROR_USAGE, "an artifact's name is not empty");
	if (name.size < given.size) {
		if (!str_to_int(rest, &version) || version < 1)
			return fail(error, ERROR_USAGE,
				    "behind the @ is the number of a version, 1, 2, 3 and so on");
		behind = str_format(&cli->arena, "?version=%lld", (long long)version).at;
	}
	state->bytes = true;
	/* Its parts are parts of the path: each is escaped for itself. */
	while (str_cut(&name, '/', &part))
		state->target = cli_target(
			cli, str_format(&cli->arena, STR_FMT "/", STR_ARG(state->target)).at,
			str_c(&cli->arena, part), name.size == 0 ? behind : "");
	return true;
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct artifacts_state *state = arena_new(&cli->arena, struct artifacts_state);
	const char *name = cli_argument(cli, 1);
	struct uuid run;
	char id[UUID_TEXT_SIZE];
	cli->state = state;
	if (!cli_uuid(cli_argument(cli, 0), "RUN", &run, error))
		return false;
	state->target = str_format(&cli->arena, "/api/runs/" STR_FMT "/artifacts",
				   STR_ARG(uuid_text(&run, id)));
	return name == NULL || take_name(cli, state, str_from_c(name), error);
}

static int list(struct cli *cli, const struct json *page)
{
	if (cli->json)
		return cli_print_json(cli, page);
	const struct json *items = json_member(page, S("items"));
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *row = json_item(items, i);
		printf(STR_FMT "  %4lld  %10lld  " STR_FMT "  " STR_FMT "\n",
		       STR_ARG(str_head(cli_text(row, "sha256"), 12)), cli_number(row, "version"),
		       cli_number(row, "size"), STR_ARG(cli_text(row, "name")),
		       STR_ARG(cli_text(row, "media_type")));
	}
	return cli_printed();
}

static int run(struct cli *cli)
{
	const struct artifacts_state *state = cli->state;
	const struct json *page;
	struct str bytes;
	struct error error;
	bool lost, good = state->bytes ? cli_fetch(cli, state->target, &bytes, &lost, &error)
				       : cli_request(cli, "GET", state->target, S(""), &page, &lost,
						     &error);
	if (!good)
		return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
	if (!state->bytes)
		return list(cli, page);
	/* To the byte: nothing behind them. */
	if (fwrite(bytes.at, 1, bytes.size, stdout) == bytes.size && fflush(stdout) == 0)
		return 0;
	fail(&error, ERROR_IO, "the output could not be written");
	return cli_fail(cli, &error);
}

const struct cli_command command_artifacts = {
	.name = "artifacts",
	.text = "List what a run made and keeps, or print one of them",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.only_looks = true,
	.arguments = { { .name = "RUN", .values = CLI_RUN },
		       { .name = "NAME[@VERSION]", .values = CLI_TEXT, .optional = true } },
	.examples = { { "baton artifacts 1f0c…", "Every version of every artifact" },
		      { "baton artifacts 1f0c… report.md > report.md", "The newest, to the byte" },
		      { "baton artifacts 1f0c… report.md@1", "The first one" } },
	.prepare = prepare,
	.run = run,
};
