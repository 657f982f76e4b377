/* cli/help.c -- prints the command table as text, Markdown and JSON. */
#include "cli/help.h"

#include <string.h>

static const enum cli_group groups[] = { CLI_RUNS, CLI_SERVERS, CLI_SETTINGS, CLI_REFERENCE };

/* ---- parts of a page ------------------------------------------------------------------- */

static void option_head(const struct cli_option *option, struct buf *out)
{
	if (option->letter != 0)
		buf_add_format(out, "-%c, ", option->letter);
	buf_add(out, str_from_c(option->name));
	if (option->value != NULL)
		buf_add_format(out, " %s", option->value);
}

static void option_line(const struct cli_option *option, struct buf *out)
{
	AUTO(buf) head = { 0 };
	option_head(option, &head);
	buf_add_format(out, "  %-26.*s %s\n", STR_ARG(buf_str(&head)), option->text);
}

static void option_lines(const struct cli_option *options, struct buf *out)
{
	for (; options->name != NULL; options++)
		option_line(options, out);
}

static struct cli_option option_of_setting(const struct config_row *row)
{
	return (struct cli_option){ .name = row->flag,
				    .letter = row->letter,
				    .value = cli_setting_value(row),
				    .text = row->text.at };
}

static void setting_lines(const struct cli_command *command, struct buf *out)
{
	const struct config_row *row;
	for (size_t i = 0; (row = config_at(i)) != NULL; i++)
		if (cli_takes_setting(command, row)) {
			struct cli_option option = option_of_setting(row);
			option_line(&option, out);
		}
}

/* The settings that every command accepts, except that the server does not accept the address of
 * another one. */
static void common_setting_lines(const struct cli_command *command, struct buf *out)
{
	const struct config_row *row;
	for (size_t i = 0; (row = config_at(i)) != NULL; i++)
		if (cli_takes_setting(NULL, row) &&
		    (command->kind != CLI_SERVER || row != config_row(CONFIG_SERVER))) {
			struct cli_option option = option_of_setting(row);
			option_line(&option, out);
		}
}

static bool takes_settings(const struct cli_command *command)
{
	const struct config_row *row;
	for (size_t i = 0; (row = config_at(i)) != NULL; i++)
		if (cli_takes_setting(command, row))
			return true;
	return false;
}

static void usage_lines(const struct cli_command *command, const char *before, struct buf *out)
{
	const struct cli_subcommand none[] = { { .name = NULL } };
	const struct cli_subcommand *word =
		command->subcommands != NULL ? command->subcommands : none;
	if (command->subcommands == NULL) {
		buf_add_format(out, "%sbaton ", before);
		cli_usage(command, NULL, out);
		buf_add_char(out, '\n');
	}
	for (; word->name != NULL; word++) {
		buf_add_format(out, "%sbaton ", before);
		cli_usage(command, word, out);
		buf_add_char(out, '\n');
	}
}

/* ---- exit status ------------------------------------------------------------------------- */

static bool arguments_name_something(const struct cli_argument *argument)
{
	for (; argument->name != NULL; argument++)
		if (argument->value_kind != CLI_TEXT && argument->value_kind != CLI_ONE_OF)
			return true;
	return false;
}

/* Does the command name a file, a run or a document, which may not exist? */
static bool names_something(const struct cli_command *command)
{
	bool some = arguments_name_something(command->arguments);
	for (const struct cli_subcommand *word = command->subcommands;
	     word != NULL && word->name != NULL; word++)
		some = some || arguments_name_something(word->arguments);
	return some;
}

/* The errors that a command can end with, by its place in the table. */
static bool exit_is_possible(const struct cli_command *command, enum error_code code)
{
	bool client = command->kind == CLI_CLIENT, server = command->kind == CLI_SERVER;
	switch ((int)code) {
	case ERROR_USAGE:
	case ERROR_IO:
		return true;
	case ERROR_NOT_FOUND:
		return names_something(command);
	case ERROR_CONFLICT:
		return client && !command->only_follows &&
		       (!command->read_only || command->subcommands != NULL);
	case ERROR_FORBIDDEN:
	case ERROR_UNAVAILABLE:
		return client;
	case ERROR_LOCKED:
		return server;
	default:
		return false;
	}
}

static const struct {
	enum error_code code;
	const char *text;
} exit_texts[] = {
	{ ERROR_USAGE, "wrong arguments, or a document that is not valid" },
	{ ERROR_NOT_FOUND, "what the command names does not exist" },
	{ ERROR_CONFLICT, "the current state does not allow it, or another request was first" },
	{ ERROR_FORBIDDEN, "the API key is missing or does not allow it" },
	{ ERROR_UNAVAILABLE, "no answer in time; try again" },
	{ ERROR_LOCKED, "another process owns the data folder" },
	{ ERROR_IO, "the disk, the database or the output failed" },
};

static void exit_lines(const struct cli_command *command, struct buf *out)
{
	buf_add(out, S("  0    success\n"));
	for (int status = 1; status < 256; status++) {
		const char *text = NULL;
		for (size_t i = 0; i < COUNT(exit_texts); i++)
			if (error_row(exit_texts[i].code)->exit_status == status &&
			    exit_is_possible(command, exit_texts[i].code))
				text = exit_texts[i].text;
		for (const struct cli_exit *exit = command->exits; exit->text != NULL; exit++)
			if (exit->status == status)
				text = exit->text;
		if (text != NULL)
			buf_add_format(out, "  %-4d %s\n", status, text);
	}
}

/* ---- text ------------------------------------------------------------------------------ */

void help_all(struct buf *out)
{
	const struct cli_command *command;
	buf_add(out, S("baton -- durable runs of agents and tools\n\n"
		       "  baton COMMAND [ARGUMENT...] [OPTION...]\n"));
	for (size_t group = 0; group < COUNT(groups); group++) {
		buf_add_format(out, "\n%s\n", cli_group_name(groups[group]));
		for (size_t i = 0; (command = cli_command_at(i)) != NULL; i++)
			if (command->group == groups[group])
				buf_add_format(out, "  %-12s %s\n", command->name, command->text);
	}
	buf_add(out, S("\nOptions of every command\n"));
	option_lines(cli_common_options(), out);
	setting_lines(NULL, out);
	buf_add(out,
		S("\nSee baton help COMMAND for one command, baton config list for all settings.\n"));
}

void help_command(const struct cli_command *command, struct buf *out)
{
	buf_add_format(out, "%s\n\nUsage\n", command->text);
	usage_lines(command, "  ", out);
	if (command->subcommands != NULL)
		buf_add(out, S("\nSubcommands\n"));
	for (const struct cli_subcommand *word = command->subcommands;
	     word != NULL && word->name != NULL; word++)
		buf_add_format(out, "  %-26s %s\n", word->name, word->text);
	buf_add(out, S("\nOptions\n"));
	option_lines(command->options, out);
	for (const struct cli_subcommand *word = command->subcommands;
	     word != NULL && word->name != NULL; word++)
		option_lines(word->options, out);
	setting_lines(command, out);
	option_lines(cli_common_options(), out);
	common_setting_lines(command, out);
	if (command->examples[0].command != NULL)
		buf_add(out, S("\nExamples\n"));
	for (const struct cli_example *example = command->examples; example->command != NULL;
	     example++)
		buf_add_format(out, "  # %s\n  %s\n", example->text, example->command);
	buf_add(out, S("\nExit status\n"));
	exit_lines(command, out);
}

/* ---- Markdown -------------------------------------------------------------------------- */

static void markdown_option(const struct cli_option *option, struct buf *out)
{
	buf_add(out, S("| `"));
	AUTO(buf) head = { 0 };
	option_head(option, &head);
	for (size_t i = 0; i < head.size; i++)
		buf_add(out, head.at[i] == '|' ? S("\\|") : (struct str){ &head.at[i], 1 });
	buf_add_format(out, "` | %s |\n", option->text);
}

static void markdown_settings(const struct cli_command *command, struct buf *out)
{
	const struct config_row *row;
	for (size_t i = 0; (row = config_at(i)) != NULL; i++)
		if (cli_takes_setting(command, row)) {
			struct cli_option option = option_of_setting(row);
			markdown_option(&option, out);
		}
}

static void markdown_command(const struct cli_command *command, struct buf *out)
{
	const struct cli_option *option;
	buf_add_format(out, "\n### %s\n\n%s.\n\n```\n", command->name, command->text);
	usage_lines(command, "", out);
	buf_add(out, S("```\n"));
	const struct cli_subcommand *word = command->subcommands;
	if (word != NULL)
		buf_add(out, S("\n| subcommand | |\n|---|---|\n"));
	for (; word != NULL && word->name != NULL; word++)
		buf_add_format(out, "| `%s` | %s |\n", word->name, word->text);
	bool some = command->options[0].name != NULL || takes_settings(command);
	for (word = command->subcommands; word != NULL && word->name != NULL; word++)
		some = some || word->options[0].name != NULL;
	if (some)
		buf_add(out, S("\n| option | |\n|---|---|\n"));
	for (option = command->options; option->name != NULL; option++)
		markdown_option(option, out);
	for (word = command->subcommands; word != NULL && word->name != NULL; word++)
		for (option = word->options; option->name != NULL; option++)
			markdown_option(option, out);
	markdown_settings(command, out);
	for (const struct cli_example *example = command->examples; example->command != NULL;
	     example++)
		buf_add_format(out, "\n%s: `%s`\n", example->text, example->command);
	if (command->exits[0].text != NULL)
		buf_add(out, S("\n| exit status | |\n|---|---|\n"));
	for (const struct cli_exit *exit = command->exits; exit->text != NULL; exit++)
		buf_add_format(out, "| %d | %s |\n", exit->status, exit->text);
}

void describe_commands(struct buf *out)
{
	const struct cli_command *command;
	buf_add(out,
		S("# Commands\n\nCommands print results to stdout and progress to stderr. The exit status "
		  "of an error is in `baton describe errors`.\n\n"
		  "| option of every command | |\n|---|---|\n"));
	for (const struct cli_option *option = cli_common_options(); option->name != NULL; option++)
		markdown_option(option, out);
	markdown_settings(NULL, out);
	for (size_t group = 0; group < COUNT(groups); group++) {
		buf_add_format(out, "\n## %s\n", cli_group_name(groups[group]));
		for (size_t i = 0; (command = cli_command_at(i)) != NULL; i++)
			if (command->group == groups[group])
				markdown_command(command, out);
	}
}

/* ---- the listing ----------------------------------------------------------------------- */

static void listing_options(const char *owner, const struct cli_option *options, struct buf *out)
{
	for (; options->name != NULL; options++) {
		buf_add_format(out, "option %s:%s", owner, options->name);
		if (options->value != NULL)
			buf_add(out, S(" value"));
		if (options->letter != 0)
			buf_add_format(out, " letter=%c", options->letter);
		if (options->repeats)
			buf_add(out, S(" repeats"));
		buf_add_char(out, '\n');
		if (options->alias != NULL)
			buf_add_format(out, "option_alias %s:%s option=%s\n", owner, options->alias,
				       options->name);
	}
}

/* Appends the allowed number of arguments: "0..2", or "1.." if the last one repeats. */
static void listing_line(const char *name, const struct cli_argument *argument, struct buf *out)
{
	size_t least = 0, most = 0;
	bool repeats = false;
	for (; argument->name != NULL; argument++, most++) {
		least += argument->optional ? 0 : 1;
		repeats = repeats || argument->repeats;
	}
	buf_add_format(out, "command %s arguments=%zu..", name, least);
	if (!repeats)
		buf_add_format(out, "%zu", most);
	buf_add_char(out, '\n');
}

void describe_commands_listing(struct buf *out)
{
	const struct cli_command *command;
	AUTO(arena) arena = { 0 };
	listing_options("", cli_common_options(), out);
	for (size_t i = 0; (command = cli_command_at(i)) != NULL; i++) {
		if (command->group == CLI_HIDDEN)
			continue;
		if (command->subcommands == NULL)
			listing_line(command->name, command->arguments, out);
		listing_options(command->name, command->options, out);
		for (const struct cli_subcommand *word = command->subcommands;
		     word != NULL && word->name != NULL; word++) {
			const char *name =
				str_format(&arena, "%s:%s", command->name, word->name).at;
			listing_line(name, word->arguments, out);
			listing_options(name, word->options, out);
		}
	}
}

/* ---- JSON ------------------------------------------------------------------------------ */

static void put_text(struct json_writer *writer, struct str key, const char *text)
{
	json_key(writer, key);
	json_put_str(writer, str_from_c(text));
}

static void json_options(struct json_writer *writer, const struct cli_option *options)
{
	json_key(writer, S("options"));
	json_open(writer, '[');
	for (; options->name != NULL; options++) {
		json_open(writer, '{');
		put_text(writer, S("name"), options->name);
		if (options->letter != 0)
			put_text(writer, S("letter"), (const char[]){ options->letter, '\0' });
		if (options->value != NULL)
			put_text(writer, S("value"), options->value);
		json_key(writer, S("repeats"));
		json_put_bool(writer, options->repeats);
		put_text(writer, S("text"), options->text);
		json_close(writer, '}');
	}
	json_close(writer, ']');
}

static void json_usage(struct json_writer *writer, const struct cli_command *command,
		       const struct cli_subcommand *word)
{
	AUTO(buf) usage = { 0 };
	cli_usage(command, word, &usage);
	json_key(writer, S("usage"));
	json_put_str(writer, buf_str(&usage));
}

static void json_command(struct json_writer *writer, const struct cli_command *command)
{
	json_open(writer, '{');
	put_text(writer, S("name"), command->name);
	put_text(writer, S("text"), command->text);
	put_text(writer, S("group"), cli_group_name(command->group));
	if (command->subcommands == NULL)
		json_usage(writer, command, NULL);
	json_options(writer, command->options);
	json_key(writer, S("words"));
	json_open(writer, '[');
	for (const struct cli_subcommand *word = command->subcommands;
	     word != NULL && word->name != NULL; word++) {
		json_open(writer, '{');
		put_text(writer, S("name"), word->name);
		put_text(writer, S("text"), word->text);
		json_usage(writer, command, word);
		json_options(writer, word->options);
		json_close(writer, '}');
	}
	json_close(writer, ']');
	json_close(writer, '}');
}

void help_json(const struct cli_command *only, struct buf *out)
{
	struct json_writer writer = { .out = out };
	const struct cli_command *command;
	if (only != NULL) {
		json_command(&writer, only);
		return;
	}
	json_open(&writer, '[');
	for (size_t i = 0; (command = cli_command_at(i)) != NULL; i++)
		if (command->group != CLI_HIDDEN)
			json_command(&writer, command);
	json_close(&writer, ']');
}
