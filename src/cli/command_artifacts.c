/* cli/command_artifacts.c -- baton artifacts: list a run's artifacts, or print one. */
#include "cli/output.h"
#include "cli/run_lookup.h"
#include "cli/server_request.h"

struct artifacts_state {
	struct run_name run;
	struct str suffix; /* of the target, behind the run */
	bool bytes;
};

/* Parses NAME, or NAME@N for one version: a name cannot contain @. */
static bool take_name(struct cli *cli, struct artifacts_state *state, struct str given,
		      struct error *error)
{
	struct str rest = given, name, part;
	const char *query = "";
	int64_t version;
	str_cut(&rest, '@', &name);
	if (name.size == 0)
		return fail(error, ERROR_USAGE, "an artifact's name must not be empty");
	if (name.size < given.size) {
		if (!str_to_int(rest, &version) || version < 1)
			return fail(error, ERROR_USAGE,
				    "the version after @ must be a whole number from 1");
		query = str_format(&cli->arena, "?version=%lld", (long long)version).at;
	}
	state->bytes = true;
	/* The slashes of the name stay in the path; each segment is encoded by itself. */
	while (str_cut(&name, '/', &part))
		state->suffix = cli_target(
			cli, str_format(&cli->arena, STR_FMT "/", STR_ARG(state->suffix)).at,
			str_c(&cli->arena, part), name.size == 0 ? query : "");
	return true;
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct artifacts_state *state = arena_new(&cli->arena, struct artifacts_state);
	const char *name = cli_argument(cli, 1);
	cli->state = state;
	state->suffix = S("/artifacts");
	if (!run_name_parse(cli_argument(cli, 0), "RUN", &state->run, error))
		return false;
	return name == NULL || take_name(cli, state, str_from_c(name), error);
}

static int list(struct cli *cli, const struct json *page)
{
	if (cli->json)
		return cli_print_json(cli, page);
	const struct json *items = json_member(page, S("items"));
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *row = json_item(items, i);
		cli_line(CLI_RESULT, STR_FMT "  %4lld  %10lld  " STR_FMT "  " STR_FMT,
			 STR_ARG(str_head(cli_text(row, "sha256"), 12)), cli_number(row, "version"),
			 cli_number(row, "size"), STR_ARG(cli_text(row, "name")),
			 STR_ARG(cli_text(row, "media_type")));
	}
	return cli_flush();
}

static int run(struct cli *cli)
{
	struct artifacts_state *state = cli->state;
	const struct json *page;
	struct str bytes;
	struct error error;
	int status = run_name_find(cli, &state->run);
	if (status != 0)
		return status;
	struct str target =
		cli_run_target(cli, &state->run.first, str_c(&cli->arena, state->suffix));
	bool lost, good = state->bytes
				  ? cli_fetch(cli, target, &bytes, &lost, &error)
				  : cli_request(cli, "GET", target, S(""), &page, &lost, &error);
	if (!good)
		return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
	if (!state->bytes)
		return list(cli, page);
	/* The artifact's bytes are printed without a final newline. */
	if (cli_bytes(cli, bytes))
		return 0;
	fail(&error, ERROR_IO, "cannot write to standard output");
	return cli_fail(cli, &error);
}

const struct cli_command command_artifacts = {
	.name = "artifacts",
	.text = "List the artifacts of a run, or print one",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.arguments = { { .name = "RUN", .value_kind = CLI_RUN },
		       { .name = "NAME[@VERSION]", .value_kind = CLI_TEXT, .optional = true } },
	.examples = { { "baton artifacts 1f0c", "List every version of every artifact" },
		      { "baton artifacts 1f0c report.md > report.md", "Print the newest version" },
		      { "baton artifacts 1f0c report.md@1", "Print the first version" } },
	.prepare = prepare,
	.run = run,
};
