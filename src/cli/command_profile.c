/* cli/command_profile.c -- baton profile. */
#include <stdio.h>
#include <string.h>

#include "cli/document_command.h"
#include "cli/output.h"

static int list(const struct json *page)
{
	const struct json *items = json_member(page, S("items"));
	struct str active = cli_text(page, "active_profile");
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *item = json_item(items, i);
		struct str name = cli_text(item, "name");
		cli_line(CLI_RESULT, "%c " STR_FMT "  " STR_FMT "  " STR_FMT,
			 str_equal(name, active) ? '*' : ' ', STR_ARG(name),
			 STR_ARG(cli_text(item, "tracker")), STR_ARG(cli_text(item, "repo_root")));
	}
	return cli_flush();
}

static bool prepare(struct cli *cli, struct error *error)
{
	const char *word = cli->subcommand->name, *name = cli_argument(cli, 0);
	struct document_call *call;
	if (!document_command_prepare(cli, "/api/profiles", "a profile's", &call, error))
		return false;
	if (strcmp(word, "list") == 0)
		call->show = list;
	if (strcmp(word, "activate") == 0) {
		call->method = "POST";
		call->target = cli_target(cli, "/api/profiles/", name, "/activate");
	}
	/* --file replaces the whole profile; --set alone changes some members. */
	if (strcmp(word, "edit") == 0)
		call->method = cli_has(cli, "--file") ? "PUT" : "PATCH";
	if (strcmp(word, "edit") != 0 && strcmp(word, "create") != 0)
		return true;
	return cli_document(cli, "profile", name, NULL, &call->body, error);
}

#define NAME                                                      \
	{                                                         \
		{                                                 \
			.name = "NAME", .value_kind = CLI_PROFILE \
		}                                                 \
	}
static const struct cli_subcommand subcommands[] = {
	{ .name = "list", .text = "List profiles by name; a star marks the active one" },
	{ .name = "show", .text = "Show a profile", .arguments = NAME },
	{ .name = "create",
	  .text = "Create a profile",
	  .arguments = { { .name = "NAME" } },
	  .options = { { DOCUMENT_FILE("profile") }, { DOCUMENT_SET } } },
	{ .name = "edit",
	  .text = "Replace a profile with --file, or change members with --set",
	  .arguments = NAME,
	  .options = { { DOCUMENT_FILE("profile") }, { DOCUMENT_SET } } },
	{ .name = "delete", .text = "Delete a profile", .arguments = NAME },
	{ .name = "activate", .text = "Make a profile the active one", .arguments = NAME },
	{ .name = NULL },
};

const struct cli_command command_profile = {
	.name = "profile",
	.text = "Show and change profiles",
	.group = CLI_SETTINGS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.subcommands = subcommands,
	.examples = { { "baton profile create work --set repo_root=/src/app --set tracker=github",
			"Create a profile from options" },
		      { "baton profile edit work --set 'sandbox.mounts=[\"~/.cargo/bin\"]'",
			"Change one member" },
		      { "baton profile activate work", "Make it the active profile" } },
	.prepare = prepare,
	.run = document_command_run,
};
