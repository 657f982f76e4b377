/* cli/command_template.c -- baton template: render or check a prompt template, without a server.
 *
 * An include is searched below the folder of prompts: --folder, otherwise the nearest folder above the
 * file that is called prompts, otherwise the file's own folder.  It never leaves that folder.
 */
#include <string.h>

#include "base/limits.h"
#include "base/yaml.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "os/file.h"
#include "template/jinja.h"

struct template_state {
	int (*run)(struct cli *cli);
	struct jinja_options options;
	const struct json *data;
	const char *folder; /* of the file at hand */
};

/* ---- files ------------------------------------------------------------------------------ */

static struct str folder_of(struct str path)
{
	size_t slash = path.size;
	while (slash > 0 && path.at[slash - 1] != '/')
		slash--;
	return slash == 0 ? S(".") : slash == 1 ? S("/") : str_head(path, slash - 1);
}

static const char *prompt_folder(struct cli *cli, const char *path)
{
	const char *given = cli_value(cli, "--folder", 0);
	struct str own = folder_of(str_from_c(path)), folder = own;
	if (given != NULL)
		return given;
	while (folder.size > 0 && !str_equal(folder, S("."))) {
		if (str_equal(folder, S("prompts")) || str_ends(folder, S("/prompts")))
			return str_c(&cli->arena, folder);
		struct str above = folder_of(folder);
		if (str_equal(above, folder))
			break;
		folder = above;
	}
	return str_c(&cli->arena, own);
}

static bool load(void *context, struct str name, struct arena *arena, struct str *out_source,
		 struct error *error)
{
	struct cli *cli = context;
	const struct template_state *state = cli->state;
	struct str path = str_starts(name, S("prompts/")) ? str_skip(name, 8) : name;
	return file_read_confined(state->folder, str_c(arena, path), LIMIT_TEMPLATE_BYTES, arena,
				  out_source, error);
}

static bool read_template(struct cli *cli, const char *path,
			  const struct jinja_template **out_template, struct error *error)
{
	struct template_state *state = cli->state;
	struct str source;
	const char *file = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
	if (!file_read(file, LIMIT_TEMPLATE_BYTES, &cli->arena, &source, error))
		return false;
	state->folder = prompt_folder(cli, path);
	return jinja_parse(str_from_c(path), source, &state->options, &cli->arena, out_template,
			   error);
}

/* The error's text has the place already. */
static int fail_template(struct cli *cli, struct error *error)
{
	error->line = error->column = 0;
	return cli_fail(cli, error);
}

/* ---- render ----------------------------------------------------------------------------- */

static int render(struct cli *cli)
{
	const struct template_state *state = cli->state;
	const struct jinja_template *template;
	struct error error = { 0 };
	struct str text;
	if (!read_template(cli, cli_argument(cli, 0), &template, &error) ||
	    !jinja_render(template, state->data, &state->options, &cli->arena, &text, &error))
		return fail_template(cli, &error);
	if (!cli->json)
		return cli_print(cli, text);
	AUTO(buf) out = { 0 };
	struct json_writer writer = { .out = &out };
	json_open(&writer, '{');
	json_key(&writer, S("text"));
	json_put_str(&writer, text);
	json_close(&writer, '}');
	buf_add_char(&out, '\n');
	return cli_print_json_text(cli, buf_str(&out));
}

/* ---- check ------------------------------------------------------------------------------ */

struct names {
	struct arena *arena;
	struct str *at;
	size_t count, room;
};

static bool add_name(void *context, const struct jinja_name *name, struct error *error)
{
	struct names *names = context;
	AUTO(buf) text = { 0 };
	(void)error;
	buf_add(&text, name->name);
	for (size_t i = 0; i < name->path.count && i < 3; i++)
		buf_add_format(&text, "." STR_FMT, STR_ARG(name->path.at[i]));
	for (size_t i = 0; i < names->count; i++)
		if (str_equal(names->at[i], buf_str(&text)))
			return true;
	if (names->count == names->room) {
		size_t room = names->room * 2 + 16;
		struct str *at = arena_array(names->arena, struct str, room);
		for (size_t i = 0; i < names->count; i++)
			at[i] = names->at[i];
		names->at = at;
		names->room = room;
	}
	names->at[names->count++] = str_copy(names->arena, buf_str(&text));
	return true;
}

static void print_names(struct cli *cli, const char *path, const struct names *names)
{
	AUTO(buf) out = { 0 };
	if (!cli->json) {
		for (size_t i = 0; i < names->count; i++)
			buf_add_format(&out, "%s" STR_FMT, i == 0 ? "; reads " : ", ",
				       STR_ARG(names->at[i]));
		cli_line(CLI_RESULT, "%s: ok" STR_FMT, path, STR_ARG(buf_str(&out)));
		return;
	}
	struct json_writer writer = { .out = &out };
	json_open(&writer, '{');
	json_key(&writer, S("file"));
	json_put_str(&writer, str_from_c(path));
	json_key(&writer, S("reads"));
	json_open(&writer, '[');
	for (size_t i = 0; i < names->count; i++)
		json_put_str(&writer, names->at[i]);
	json_close(&writer, ']');
	json_close(&writer, '}');
	cli_json_line(CLI_RESULT, buf_str(&out));
}

static int check(struct cli *cli)
{
	const struct template_state *state = cli->state;
	int status = 0;
	const char *path;
	for (int i = 0; (path = cli_argument(cli, i)) != NULL; i++) {
		const struct jinja_template *template;
		struct error error = { 0 };
		struct names names = { .arena = &cli->arena };
		if (read_template(cli, path, &template, &error) &&
		    jinja_names(template, &state->options, add_name, &names, &cli->arena, &error))
			print_names(cli, path, &names);
		else
			status = fail_template(cli, &error);
	}
	int flushed = cli_flush();
	return flushed != 0 ? flushed : status;
}

/* ---- arguments -------------------------------------------------------------------------- */

static bool read_data(struct cli *cli, struct template_state *state, struct error *error)
{
	static const struct json nothing = { .kind = JSON_OBJECT };
	const char *given = cli_value(cli, "--data", 0);
	struct str text = str_from_c(given);
	state->data = &nothing;
	if (given == NULL)
		return true;
	if (given[0] == '@' && !file_read(given + 1, LIMIT_JSON_BYTES, &cli->arena, &text, error))
		return false;
	bool yaml = given[0] == '@' && (str_ends(str_from_c(given), S(".yaml")) ||
					str_ends(str_from_c(given), S(".yml")));
	if (!(yaml ? yaml_read(text, &cli->arena, &state->data, error)
		   : json_read(text, &cli->arena, &state->data, error))) {
		error_prefix(error, "--data: ");
		return false;
	}
	if (state->data->kind != JSON_OBJECT)
		return fail(error, ERROR_USAGE,
			    "--data must be a mapping, such as '{\"name\": \"Ada\"}', not %s",
			    json_kind_name(state->data->kind));
	return true;
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct template_state *state = arena_new(&cli->arena, struct template_state);
	bool renders = strcmp(cli->subcommand->name, "render") == 0;
	cli->state = state;
	state->run = renders ? render : check;
	state->options = (struct jinja_options){ .trim_blocks = cli_has(cli, "--trim-blocks"),
						 .lstrip_blocks = cli_has(cli, "--lstrip-blocks"),
						 .strict = renders && cli_has(cli, "--strict"),
						 .load = load,
						 .context = cli };
	return !renders || read_data(cli, state, error);
}

static int run(struct cli *cli)
{
	const struct template_state *state = cli->state;
	return state->run(cli);
}

#define FOLDER_OPTION                                                                   \
	{                                                                               \
		.name = "--folder", .value = "DIR", .value_kind = CLI_FILE,             \
		.text = "Folder of the files that the template includes (default: the " \
			"nearest folder prompts)"                                       \
	}
#define TRIM_OPTION                                                                              \
	{                                                                                        \
		.name = "--trim-blocks", .text = "Remove the line end behind a block or comment" \
	}
#define LSTRIP_OPTION                                                                  \
	{                                                                              \
		.name = "--lstrip-blocks",                                             \
		.text = "Remove blanks before a block or comment that begins its line" \
	}

static const struct cli_subcommand subcommands[] = {
	{ .name = "render",
	  .text = "Print the text that a template makes of data",
	  .arguments = { { .name = "FILE", .value_kind = CLI_FILE } },
	  .options = { { .name = "--data",
			 .value = "JSON|@FILE",
			 .text = "The variables: a mapping as JSON, or a file of JSON or YAML" },
		       { .name = "--strict", .text = "Fail when an undefined value is used" },
		       FOLDER_OPTION,
		       TRIM_OPTION,
		       LSTRIP_OPTION } },
	{ .name = "check",
	  .text = "Report the first problem of each template, or the names that it reads",
	  .arguments = { { .name = "FILE", .value_kind = CLI_FILE, .repeats = true } },
	  .options = { FOLDER_OPTION, TRIM_OPTION, LSTRIP_OPTION } },
	{ .name = NULL },
};

const struct cli_command command_template = {
	.name = "template",
	.text = "Render or check prompt templates",
	.group = CLI_REFERENCE,
	.kind = CLI_PLAIN,
	.subcommands = subcommands,
	.examples = { { "baton template render prompts/review.md --data '{\"inputs\": {\"pr\": 7}}'",
			"Print the prompt; - reads the template from standard input" },
		      { "baton template check prompts/*.md",
			"Print problems as FILE:LINE:COLUMN: TEXT" } },
	.exits = { { 2, "a template has a problem" } },
	.prepare = prepare,
	.run = run,
};
