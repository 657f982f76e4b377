/* cli/command_profile.c -- profiles: documents of the server, one request a sub-command.
 *
 * A profile is written as a file (YAML or JSON), as members on the command line, or both: what
 * --set says comes on top.  What a profile may be is for the server to say.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

struct profile_state {
	const char *method;
	struct str target, body;
};

/* ---- requests -------------------------------------------------------------------------- */

static bool prepare(struct cli *cli, struct error *error)
{
	struct profile_state *state = arena_new(&cli->arena, struct profile_state);
	const char *word = cli->word->name, *name = cli_argument(cli, 0);
	cli->state = state;
	state->method = "GET";
	state->target =
		name == NULL ? S("/api/profiles") : cli_target(cli, "/api/profiles/", name, "");
	if (name != NULL && name[0] == '\0')
		return fail(error, ERROR_USAGE, "a profile's name is not empty");
	if (strcmp(word, "create") == 0) {
		state->method = "POST";
		state->target = S("/api/profiles");
		return cli_document(cli, "profile", name, NULL, &state->body, error);
	}
	if (strcmp(word, "edit") == 0) {
		/* A file is the whole profile, members are only what changes. */
		state->method = cli_has(cli, "--file") ? "PUT" : "PATCH";
		return cli_document(cli, "profile", name, NULL, &state->body, error);
	}
	if (strcmp(word, "delete") == 0)
		state->method = "DELETE";
	if (strcmp(word, "activate") == 0) {
		state->method = "POST";
		state->target = cli_target(cli, "/api/profiles/", name, "/activate");
	}
	return true;
}

static struct str member(const struct json *object, const char *name)
{
	return json_text(json_member(object, str_from_c(name)));
}

static int list(const struct json *page)
{
	const struct json *items = json_member(page, S("items"));
	struct str active = member(page, "active_profile");
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *item = json_item(items, i);
		struct str name = member(item, "name");
		printf("%c " STR_FMT "  " STR_FMT "  " STR_FMT "\n",
		       str_equal(name, active) ? '*' : ' ', STR_ARG(name),
		       STR_ARG(member(item, "tracker")), STR_ARG(member(item, "repo_root")));
	}
	return fflush(stdout) == 0 ? 0 : error_row(ERROR_IO)->exit_status;
}

static int run(struct cli *cli)
{
	const struct profile_state *state = cli->state;
	const struct json *answer;
	struct error error;
	bool lost;
	if (!cli_request(cli, state->method, state->target, state->body, &answer, &lost, &error))
		return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
	if (strcmp(cli->word->name, "list") == 0 && !cli->json)
		return list(answer);
	return cli_print_json(cli, answer);
}

#define NAME                                                  \
	{                                                     \
		{                                             \
			.name = "NAME", .values = CLI_PROFILE \
		}                                             \
	}
#define DOCUMENT                                                                        \
	{                                                                               \
		{ .name = "--file",                                                     \
		  .letter = 'f',                                                        \
		  .value = "FILE",                                                      \
		  .values = CLI_FILE,                                                   \
		  .text = "The whole profile, YAML or JSON; - is standard input" },     \
		{                                                                       \
			.name = "--set", .value = "MEMBER=VALUE", .repeats = true,      \
			.text = "One member; a.b is b of a, JSON when it reads as JSON" \
		}                                                                       \
	}

static const struct cli_word words[] = {
	{ .name = "list", .text = "Profiles by name; a star marks the one in use" },
	{ .name = "show", .text = "One profile", .arguments = NAME },
	{ .name = "create",
	  .text = "A new profile",
	  .arguments = { { .name = "NAME" } },
	  .options = DOCUMENT },
	{ .name = "edit",
	  .text = "Another profile of this name, or with --set alone only some members of it",
	  .arguments = NAME,
	  .options = DOCUMENT },
	{ .name = "delete", .text = "Take a profile away", .arguments = NAME },
	{ .name = "activate", .text = "Make a profile the one in use", .arguments = NAME },
	{ .name = NULL },
};

const struct cli_command command_profile = {
	.name = "profile",
	.text = "Show and change profiles",
	.group = CLI_SETTINGS,
	.kind = CLI_CLIENT,
	.only_looks = true,
	.words = words,
	.examples = { { "baton profile create work --set repo_root=/src/app --set tracker=github",
			"A profile from its members" },
		      { "baton profile edit work --set sandbox.mode=container",
			"One member of it" },
		      { "baton profile activate work", "Use it from now on" } },
	.prepare = prepare,
	.run = run,
};
