/* cli/command_prompt.c -- baton prompt: the named prompts of agents and their versions. */
#include <string.h>

#include "base/limits.h"
#include "cli/output.h"
#include "cli/server_request.h"
#include "cli/text_editor.h"
#include "contract/run_prompt_types.h"
#include "os/file.h"

struct prompt_state {
	const char *id;
	struct str text;  /* of --file, or edited */
	struct str etag;  /* of the text that is replaced; "" = whatever is there */
	const char *path; /* of the file in the editor; NULL = none */
};

static bool is_word(const struct cli *cli, const char *word)
{
	return strcmp(cli->subcommand->name, word) == 0;
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct prompt_state *state = arena_new(&cli->arena, struct prompt_state);
	const char *file = is_word(cli, "edit") ? cli_value(cli, "--file", 0) : NULL;
	cli->state = state;
	state->id = cli_argument(cli, 0);
	if (state->id != NULL && state->id[0] == '\0')
		return fail(error, ERROR_USAGE, "a prompt's id must not be empty");
	if (is_word(cli, "edit") || is_word(cli, "reset"))
		cli_idempotency_key_set(cli);
	return file == NULL || file_read(strcmp(file, "-") == 0 ? "/dev/stdin" : file,
					 LIMIT_TEMPLATE_BYTES, &cli->arena, &state->text, error);
}

static struct str target_of(struct cli *cli, const char *suffix)
{
	const struct prompt_state *state = cli->state;
	return cli_target(cli, "/api/prompts/", state->id, suffix);
}

static int list(struct cli *cli)
{
	const struct json *page, *item;
	int status = cli_call(cli, "GET", S("/api/prompts"), S(""), &page);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, page);
	const struct json *items = json_member(page, S("items"));
	for (size_t i = 0; (item = json_item(items, i)) != NULL; i++) {
		struct str version =
			cli_is_true(item, "is_default")
				? S("default")
				: str_format(&cli->arena, "v%lld", cli_number(item, "version"));
		cli_line(CLI_RESULT, "%-16.*s  %-8.*s  " STR_FMT, STR_ARG(cli_text(item, "id")),
			 STR_ARG(version), STR_ARG(cli_text(item, "description")));
	}
	return cli_flush();
}

static int show(struct cli *cli)
{
	const struct json *prompt;
	const char *version = cli_value(cli, "--version", 0);
	struct str target = target_of(cli, cli_has(cli, "--default") ? "/default" : "");
	if (version != NULL)
		target = cli_target(
			cli, str_format(&cli->arena, STR_FMT "/versions/", STR_ARG(target)).at,
			version, "");
	int status = cli_call(cli, "GET", target, S(""), &prompt);
	if (status != 0)
		return status;
	return cli->json ? cli_print_json(cli, prompt)
			 : cli_print(cli, cli_text(prompt, "content"));
}

static int versions(struct cli *cli)
{
	const struct json *page, *item;
	int status = cli_call(cli, "GET", target_of(cli, "/versions?limit=100"), S(""), &page);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, page);
	const struct json *items = json_member(page, S("versions"));
	for (size_t i = 0; (item = json_item(items, i)) != NULL; i++)
		cli_line(CLI_RESULT, "%5lld  " STR_FMT "  %-16.*s  %s%s" STR_FMT,
			 cli_number(item, "version"), STR_ARG(cli_text(item, "saved_at")),
			 STR_ARG(cli_text(item, "saved_by")),
			 cli_is_true(item, "current") ? "current  " : "",
			 cli_is_true(item, "reset") ? "reset to the default  " : "",
			 STR_ARG(cli_text(item, "change_note")));
	if (json_item(items, 0) == NULL)
		cli_line(CLI_PROGRESS, "it was never saved; the default of the program is used");
	return cli_flush();
}

/* ---- changing -------------------------------------------------------------------------- */

static int save(struct cli *cli)
{
	const struct prompt_state *state = cli->state;
	const struct json *prompt;
	struct error error;
	const char *note = cli_value(cli, "--note", 0);
	struct run_prompt_save *body = run_prompt_save_new(&cli->arena);
	SET(body, content, state->text);
	if (note != NULL)
		SET(body, change_note, str_from_c(note));
	if (state->etag.size > 0)
		cli->condition =
			str_format(&cli->arena, "If-Match: " STR_FMT, STR_ARG(state->etag));
	int status = cli_call(cli, "POST", target_of(cli, "/versions"),
			      run_prompt_save_text(body, &cli->arena), &prompt);
	cli->condition = S("");
	if (status != 0) {
		if (state->path != NULL)
			cli_line(CLI_PROGRESS, "nothing is saved; your text is in %s", state->path);
		return status;
	}
	if (state->path != NULL && !file_remove(state->path, &error))
		return cli_fail(cli, &error);
	if (cli->json)
		return cli_print_json(cli, prompt);
	cli_line(CLI_RESULT, "saved %s, version %lld", state->id, cli_number(prompt, "version"));
	return cli_flush();
}

static int edit(struct cli *cli)
{
	struct prompt_state *state = cli->state;
	const struct json *prompt;
	struct error error;
	if (state->text.size > 0)
		return save(cli);
	int status = cli_call(cli, "GET", target_of(cli, ""), S(""), &prompt);
	if (status != 0)
		return status;
	struct str content = cli_text(prompt, "content");
	const char *ending = str_format(&cli->arena, "%s.md", state->id).at;
	if (!text_editor_write(cli, content, ending, &state->path, &error) ||
	    !text_editor_open(cli, state->path, &error) ||
	    !file_read(state->path, LIMIT_TEMPLATE_BYTES, &cli->arena, &state->text, &error))
		return cli_fail(cli, &error);
	state->etag = cli_text(prompt, "etag");
	if (!str_equal(state->text, content))
		return save(cli);
	if (!file_remove(state->path, &error))
		return cli_fail(cli, &error);
	cli_line(CLI_RESULT, "%s is unchanged", state->id);
	return cli_flush();
}

static int reset(struct cli *cli)
{
	const struct prompt_state *state = cli->state;
	const struct json *prompt;
	int status = cli_call(cli, "POST", target_of(cli, "/reset"), S(""), &prompt);
	if (status != 0)
		return status;
	if (cli->json)
		return cli_print_json(cli, prompt);
	cli_line(CLI_RESULT, "%s is the default of the program again", state->id);
	return cli_flush();
}

static int run(struct cli *cli)
{
	if (is_word(cli, "list"))
		return list(cli);
	if (is_word(cli, "show"))
		return show(cli);
	if (is_word(cli, "versions"))
		return versions(cli);
	return is_word(cli, "edit") ? edit(cli) : reset(cli);
}

#define ID                           \
	{                            \
		{                    \
			.name = "ID" \
		}                    \
	}
static const struct cli_subcommand subcommands[] = {
	{ .name = "list", .text = "List prompts with their versions" },
	{ .name = "show",
	  .text = "Print the text of a prompt",
	  .arguments = ID,
	  .options = { { .name = "--version",
			 .value = "N",
			 .text = "Of this version (default the one that a run would use)" },
		       { .name = "--default", .text = "Of the default of the program" } } },
	{ .name = "edit",
	  .text = "Edit a prompt in $VISUAL or $EDITOR and save it as a new version",
	  .arguments = ID,
	  .options = { { .name = "--file",
			 .letter = 'f',
			 .value = "FILE",
			 .value_kind = CLI_FILE,
			 .text = "Save this file instead; - is standard input" },
		       { .name = "--note",
			 .letter = 'm',
			 .value = "TEXT",
			 .text = "Record why it was changed" } } },
	{ .name = "versions", .text = "List the saved versions of a prompt", .arguments = ID },
	{ .name = "reset", .text = "Return to the default of the program", .arguments = ID },
	{ .name = NULL },
};

const struct cli_command command_prompt = {
	.name = "prompt",
	.text = "List, show, edit and reset the prompts of agents",
	.group = CLI_SETTINGS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.subcommands = subcommands,
	.examples = { { "baton prompt list", "List the prompts" },
		      { "baton prompt show architect", "Print one" },
		      { "baton prompt edit architect -m 'smaller tasks'", "Save a new version" },
		      { "baton prompt reset architect", "Return to the default" } },
	.prepare = prepare,
	.run = run,
};
