/* cli/command_profile.c -- profiles: documents of the server, one request a sub-command.
 *
 * A profile is written as a file (YAML or JSON), as members on the command line, or both: what
 * --set says comes on top.  What a profile may be is for the server to say.
 */
#include <stdio.h>
#include <string.h>

#include "cli/document_command.h"

static int list(const struct json *page)
{
	const struct json *items = json_member(page, S("items"));
	struct str active = cli_text(page, "active_profile");
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *item = json_item(items, i);
		struct str name = cli_text(item, "name");
		printf("%c " STR_FMT "  " STR_FMT "  " STR_FMT "\n",
		       str_equal(name, active) ? '*' : ' ', STR_ARG(name),
		       STR_ARG(cli_text(item, "tracker")), STR_ARG(cli_text(item, "repo_root")));
	}
	return cli_printed();
}

static bool prepare(struct cli *cli, struct error *error)
{
	const char *word = cli->word->name, *name = cli_argument(cli, 0);
	struct document_call *call;
	if (!document_command_prepare(cli, "/api/profiles", "a profile's", &call, error))
		return false;
	if (strcmp(word, "list") == 0)
		call->show = list;
	if (strcmp(word, "activate") == 0) {
		call->method = "POST";
		call->target = cli_target(cli, "/api/profiles/", name, "/activate");
	}
	/* A file is the whole profile, members are only what changes. */
	if (strcmp(word, "edit") == 0)
		call->method = cli_has(cli, "--file") ? "PUT" : "PATCH";
	if (strcmp(word, "edit") != 0 && strcmp(word, "create") != 0)
		return true;
	return cli_document(cli, "profile", name, NULL, &call->body, error);
}

#define NAME                                                  \
	{                                                     \
		{                                             \
			.name = "NAME", .values = CLI_PROFILE \
		}                                             \
	}
static const struct cli_word words[] = {
	{ .name = "list", .text = "Profiles by name; a star marks the one in use" },
	{ .name = "show", .text = "One profile", .arguments = NAME },
	{ .name = "create",
	  .text = "A new profile",
	  .arguments = { { .name = "NAME" } },
	  .options = { { DOCUMENT_FILE("profile") }, { DOCUMENT_SET } } },
	{ .name = "edit",
	  .text = "Another profile of this name, or with --set alone only some members of it",
	  .arguments = NAME,
	  .options = { { DOCUMENT_FILE("profile") }, { DOCUMENT_SET } } },
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
	.run = document_command_run,
};
