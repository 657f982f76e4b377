/* cli/command_init.c -- baton init: a profile for the repository around the current folder.
 *
 * The command proposes what it finds: the provider whose key the server has, a tracker by the remote of the
 * repository or by its folder of issues, the name of the folder.  On a terminal it asks; --yes takes the
 * proposals, and options replace them.  It writes one document, the profile, which baton profile changes later.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "cli/output.h"
#include "cli/repository.h"
#include "cli/server_request.h"
#include "contract/pipeline_types.h"
#include "os/file.h"
#include "os/terminal.h"

enum { STDIN = 0 };

/* The agents of the pipelines; all get the same driver and model, which a profile can change one by one. */
static const char *const agents[] = { "architect", "plan_validator", "developer",
				      "reviewer",  "task_reviewer",  "evaluator",
				      "oracle",    "brainstormer",   "condenser" };

struct init_state {
	struct str root, name, driver, model, tracker;
};

/* ---- what is there --------------------------------------------------------------------------- */

/* The folder's name, as a profile may be called. */
static struct str name_of(struct str root, struct arena *arena)
{
	size_t from = root.size;
	while (from > 0 && root.at[from - 1] != '/')
		from--;
	AUTO(buf) name = { 0 };
	for (size_t i = from; i < root.size; i++) {
		char c = root.at[i];
		bool plain =
			(c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		else if (!plain)
			c = '-';
		buf_add(&name, (struct str){ &c, 1 });
	}
	return name.size == 0 ? S("default") : str_copy(arena, str_head(buf_str(&name), 64));
}

/* The tracker that the repository suggests: its remote, or a folder of issues. */
static struct str tracker_of(struct str root, struct arena *arena)
{
	struct str config;
	struct error error;
	size_t at;
	const char *path = str_format(arena, STR_FMT "/.git/config", STR_ARG(root)).at;
	if (folder_exists(str_format(arena, STR_FMT "/issues", STR_ARG(root)).at))
		return S("file");
	if (!file_read(path, LIMIT_VALUE_BYTES, arena, &config, &error))
		return S("noop");
	if (str_find(config, S("github.com"), &at))
		return S("github");
	return str_find(config, S("gitlab"), &at) ? S("gitlab") : S("noop");
}

/* The first model whose key the server has; both stay "" when there is none. */
static int model_of(struct cli *cli, struct str *out_driver, struct str *out_model)
{
	const struct json *page;
	int status = cli_call(cli, "GET", S("/api/models"), S(""), &page);
	const struct json *models = status == 0 ? json_member(page, S("models")) : NULL;
	for (size_t i = 0; json_item(models, i) != NULL; i++) {
		const struct json *model = json_item(models, i);
		struct str called = cli_text(model, "model");
		size_t star;
		if (!cli_is_true(model, "key_present") || str_find(called, S("*"), &star))
			continue;
		*out_driver = str_format(&cli->arena, "api:" STR_FMT,
					 STR_ARG(cli_text(model, "provider")));
		*out_model = called;
		break;
	}
	return status;
}

/* ---- what the person wants ------------------------------------------------------------------- */

/* Reads one line; an empty one keeps the proposal.  False at the end of the input. */
static bool ask(struct cli *cli, const char *what, struct str *value)
{
	AUTO(buf) line = { 0 };
	int c;
	cli_piece(CLI_PROGRESS,
		  str_format(&cli->arena, "%s [" STR_FMT "]: ", what, STR_ARG(*value)));
	while ((c = getchar()) != EOF && c != '\n' && line.size < LIMIT_NAME_BYTES)
		buf_add(&line, (struct str){ &(char){ (char)c }, 1 });
	struct str given = str_trim(buf_str(&line));
	if (given.size > 0)
		*value = str_copy(&cli->arena, given);
	return c != EOF;
}

static bool take_options(struct cli *cli, struct init_state *state)
{
	const struct {
		const char *option, *what;
		struct str *value;
	} rows[] = { { "--name", "Name of the profile", &state->name },
		     { "--driver", "Driver of the agents, such as api:anthropic or script",
		       &state->driver },
		     { "--model", "Model", &state->model },
		     { "--tracker", "Tracker: github, gitlab, jira, file or noop",
		       &state->tracker } };
	bool asks = terminal_is_at(STDIN) && !cli_has(cli, "--yes");
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *given = cli_value(cli, rows[i].option, 0);
		if (given != NULL)
			*rows[i].value = str_from_c(given);
		else if (asks && !ask(cli, rows[i].what, rows[i].value))
			return false;
	}
	return true;
}

/* ---- the profile ------------------------------------------------------------------------------ */

static struct json text(struct str value)
{
	return (struct json){ .kind = JSON_STRING, .as.string = value };
}

static struct str profile_body(struct cli *cli, const struct init_state *state)
{
	struct arena *arena = &cli->arena;
	struct json_member *agent = arena_array(arena, struct json_member, 2);
	struct json_member *entries = arena_array(arena, struct json_member, COUNT(agents));
	struct json_member *members = arena_array(arena, struct json_member, 4);
	agent[0] = (struct json_member){ .key = S("driver"), .value = text(state->driver) };
	agent[1] = (struct json_member){ .key = S("model"), .value = text(state->model) };
	for (size_t i = 0; i < COUNT(agents); i++)
		entries[i] = (struct json_member){
			.key = str_from_c(agents[i]),
			.value = { .kind = JSON_OBJECT, .as.object = { agent, 2 } },
		};
	members[0] = (struct json_member){ .key = S("name"), .value = text(state->name) };
	members[1] = (struct json_member){ .key = S("repo_root"), .value = text(state->root) };
	members[2] = (struct json_member){ .key = S("tracker"), .value = text(state->tracker) };
	members[3] = (struct json_member){ .key = S("agents"),
					   .value = { .kind = JSON_OBJECT,
						      .as.object = { entries, COUNT(agents) } } };
	const struct json profile = { .kind = JSON_OBJECT, .as.object = { members, 4 } };
	return json_print(arena, &profile);
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct init_state *state = arena_new(&cli->arena, struct init_state);
	cli->state = state;
	if (!repository_find(&cli->arena, &state->root, error))
		return false;
	state->name = name_of(state->root, &cli->arena);
	state->tracker = tracker_of(state->root, &cli->arena);
	return true;
}

static int run(struct cli *cli)
{
	struct init_state *state = cli->state;
	struct str known;
	struct error error;
	const struct json *answer;
	int status = repository_profile(cli, state->root, &known);
	if (status == 0 && known.size > 0 && !cli_has(cli, "--force")) {
		fail(&error, ERROR_CONFLICT,
		     "profile " STR_FMT
		     " has this repository already; change it with baton profile "
		     "edit, or replace it with baton init --force",
		     STR_ARG(known));
		return cli_fail(cli, &error);
	}
	if (known.size > 0)
		state->name = known;
	if (status == 0)
		status = model_of(cli, &state->driver, &state->model);
	if (status != 0)
		return status;
	if (!take_options(cli, state) || state->driver.size == 0 || state->model.size == 0) {
		fail(&error, ERROR_USAGE,
		     "no driver and model: the server has no key of a provider with a known price; set "
		     "one, such as ANTHROPIC_API_KEY, where the server runs, or give --driver and "
		     "--model");
		return cli_fail(cli, &error);
	}
	status = cli_call(cli, "PUT",
			  cli_target(cli, "/api/profiles/", str_c(&cli->arena, state->name), ""),
			  profile_body(cli, state), &answer);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, answer);
	cli_line(CLI_RESULT,
		 "profile " STR_FMT ": " STR_FMT ", agents " STR_FMT " " STR_FMT
		 ", tracker " STR_FMT,
		 STR_ARG(state->name), STR_ARG(state->root), STR_ARG(state->driver),
		 STR_ARG(state->model), STR_ARG(state->tracker));
	cli_line(CLI_RESULT, "next: baton start ISSUE, or baton start --title \"…\"");
	return cli_flush();
}

const struct cli_command command_init = {
	.name = "init",
	.text = "Write a profile for the repository around the current folder",
	.group = CLI_RUNS,
	.options = { { .name = "--name",
		       .value = "NAME",
		       .text = "Name of the profile (default: that of the folder)" },
		     { .name = "--driver",
		       .value = "DRIVER",
		       .text = "Driver of the agents (default: a provider whose key the server has)" },
		     { .name = "--model", .value = "MODEL", .text = "Model of the agents" },
		     { .name = "--tracker",
		       .value = "TRACKER",
		       .value_kind = CLI_ONE_OF,
		       .choices = "github|gitlab|jira|file|noop",
		       .text = "Where issues come from (default: as the repository suggests)" },
		     { .name = "--yes",
		       .letter = 'y',
		       .text = "Take the proposals without asking" },
		     { .name = "--force",
		       .text = "Replace the profile that has this repository" } },
	.examples = { { "baton init", "Inspect the repository and the keys, and ask" },
		      { "baton init --yes --driver api:ollama --model qwen3",
			"Use a local model" } },
	.kind = CLI_CLIENT,
	.prepare = prepare,
	.run = run,
};
