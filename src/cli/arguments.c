/* cli/arguments.c -- parses argv by the command table.
 *
 * The parser makes one pass.  The first word that is not an option names the command; the second
 * names the subcommand if the command has some.  The options of a command are known only after its
 * name, so only the common options may stand before it.  Options are written `--name value`,
 * `--name=value` or `-n value`; `--` ends the options.
 */
#include "cli/arguments.h"

#include <string.h>

#include "contract/closest.h"

struct parse {
	struct cli *cli;
	struct cli_parsed_option *options;
	char **words;
	int count, at;
	bool only_arguments; /* after -- */
};

/* ---- options --------------------------------------------------------------------------- */

static bool option_is(const struct cli_option *option, struct str word)
{
	bool brief = option->letter != 0 && word.size == 2 && word.at[0] == '-' &&
		     word.at[1] == option->letter;
	return brief || str_equal(word, str_from_c(option->name)) ||
	       (option->alias != NULL && str_equal(word, str_from_c(option->alias)));
}

static const struct cli_option *option_in(const struct cli_option *options, struct str word)
{
	for (; options->name != NULL; options++)
		if (option_is(options, word))
			return options;
	return NULL;
}

/* What a subcommand calls --version is not the --version of every command. */
static const struct cli_option *find_option(const struct cli *cli, struct str word)
{
	const struct cli_option *option = NULL;
	if (cli->subcommand != NULL)
		option = option_in(cli->subcommand->options, word);
	if (option == NULL && cli->command != NULL)
		option = option_in(cli->command->options, word);
	return option != NULL ? option : option_in(cli_common_options(), word);
}

static const struct config_row *find_setting(const struct cli *cli, struct str word)
{
	const struct config_row *row;
	for (size_t i = 0; (row = config_at(i)) != NULL; i++) {
		struct cli_option option = { .name = row->flag, .letter = row->letter };
		if (row->flag[0] != '\0' && option_is(&option, word) &&
		    (cli_takes_setting(NULL, row) || cli_takes_setting(cli->command, row)))
			return row;
	}
	return NULL;
}

static size_t add_names(const struct cli_option *options, struct str *names, size_t count)
{
	for (; options->name != NULL; options++)
		names[count++] = str_from_c(options->name);
	return count;
}

static bool refuse_option(const struct cli *cli, struct str word, struct error *error)
{
	struct str names[CLI_OPTIONS * 4 + CONFIG_COUNT];
	const struct config_row *row;
	size_t count = add_names(cli_common_options(), names, 0);
	if (cli->command != NULL)
		count = add_names(cli->command->options, names, count);
	if (cli->subcommand != NULL)
		count = add_names(cli->subcommand->options, names, count);
	for (size_t i = 0; (row = config_at(i)) != NULL; i++)
		if (cli_takes_setting(NULL, row) || cli_takes_setting(cli->command, row))
			names[count++] = str_from_c(row->flag);
	struct str near = closest_word((struct str_list){ names, count }, word);
	const char *name = cli->command != NULL ? cli->command->name : "";
	if (near.size > 0)
		return fail(error, ERROR_USAGE,
			    "unknown option " STR_FMT "; did you mean " STR_FMT
			    "? See baton help%s%s",
			    STR_ARG(word), STR_ARG(near), name[0] != '\0' ? " " : "", name);
	return fail(error, ERROR_USAGE, "unknown option " STR_FMT "; see baton help%s%s",
		    STR_ARG(word), name[0] != '\0' ? " " : "", name);
}

/* Is the value one of "a|b|c"?  The error lists them. */
static bool check_choice(const char *choices, const char *what, const char *value,
			 struct error *error)
{
	struct str rest = str_from_c(choices), choice;
	AUTO(buf) list = { 0 };
	while (str_cut(&rest, '|', &choice)) {
		if (str_equal(choice, str_from_c(value)))
			return true;
		buf_add_format(&list, "%s" STR_FMT, list.size == 0 ? "" : ", ", STR_ARG(choice));
	}
	return fail(error, ERROR_USAGE, "%s cannot be \"%s\"; expected one of " STR_FMT, what,
		    value, STR_ARG(buf_str(&list)));
}

static bool option_is_repeated(const struct cli *cli, const struct cli_option *option,
			       const struct config_row *row)
{
	for (size_t i = 0; i < cli->option_count; i++)
		if ((option != NULL && cli->options[i].option == option) ||
		    (row != NULL && cli->options[i].row == row))
			return true;
	return false;
}

static bool take_option(struct parse *parse, struct error *error)
{
	struct cli *cli = parse->cli;
	const char *text = parse->words[parse->at];
	struct str word = str_from_c(text);
	const char *value = NULL;
	size_t equals;
	if (str_starts(word, S("--")) && str_find(word, S("="), &equals)) {
		value = text + equals + 1;
		word = str_head(word, equals);
	}
	const struct cli_option *option = find_option(cli, word);
	const struct config_row *row = option == NULL ? find_setting(cli, word) : NULL;
	if (option == NULL && row == NULL)
		return refuse_option(cli, word, error);
	bool takes_value = option != NULL ? option->value != NULL : row->type != CONFIG_BOOL;
	if (!takes_value && value != NULL && option != NULL)
		return fail(error, ERROR_USAGE, STR_FMT " takes no value", STR_ARG(word));
	if (takes_value && value == NULL) {
		if (parse->at + 1 == parse->count)
			return fail(error, ERROR_USAGE, STR_FMT " needs a value", STR_ARG(word));
		value = parse->words[++parse->at];
	}
	if (!takes_value && value == NULL)
		value = "true";
	if (option != NULL && option->choices != NULL &&
	    !check_choice(option->choices, option->name, value, error))
		return false;
	if ((option == NULL || !option->repeats) && option_is_repeated(cli, option, row))
		return fail(error, ERROR_USAGE, STR_FMT " is given twice", STR_ARG(word));
	parse->options[cli->option_count++] =
		(struct cli_parsed_option){ .option = option, .row = row, .value = value };
	return true;
}

/* ---- commands and arguments ------------------------------------------------------------ */

static bool refuse_command(struct str name, struct error *error)
{
	struct str names[64];
	size_t count = 0;
	for (size_t i = 0; cli_command_at(i) != NULL && count < COUNT(names); i++)
		names[count++] = str_from_c(cli_command_at(i)->name);
	struct str near = closest_word((struct str_list){ names, count }, name);
	if (near.size > 0)
		return fail(error, ERROR_USAGE,
			    "unknown command " STR_FMT "; did you mean " STR_FMT "? See baton help",
			    STR_ARG(name), STR_ARG(near));
	return fail(error, ERROR_USAGE, "unknown command " STR_FMT "; see baton help",
		    STR_ARG(name));
}

static bool refuse_subcommand(const struct cli_command *command, struct str name,
			      struct error *error)
{
	AUTO(buf) names = { 0 };
	for (const struct cli_subcommand *word = command->subcommands; word->name != NULL; word++)
		buf_add_format(&names, "%s%s", word == command->subcommands ? "" : ", ",
			       word->name);
	if (name.size == 0)
		return fail(error, ERROR_USAGE,
			    "%s needs a subcommand: one of " STR_FMT "; see baton help %s",
			    command->name, STR_ARG(buf_str(&names)), command->name);
	return fail(error, ERROR_USAGE,
		    "unknown subcommand \"" STR_FMT "\" of %s; expected one of " STR_FMT
		    "; see baton help %s",
		    STR_ARG(name), command->name, STR_ARG(buf_str(&names)), command->name);
}

static const struct cli_subcommand *find_subcommand(const struct cli_command *command,
						    struct str name)
{
	for (const struct cli_subcommand *word = command->subcommands; word->name != NULL; word++)
		if (str_equal(str_from_c(word->name), name))
			return word;
	return NULL;
}

static bool take_word(struct parse *parse, struct error *error)
{
	struct cli *cli = parse->cli;
	char *text = parse->words[parse->at];
	struct str word = str_from_c(text);
	if (cli->command == NULL) {
		cli->command = cli_command_find(word);
		return cli->command != NULL || refuse_command(word, error);
	}
	if (cli->command->subcommands != NULL && cli->subcommand == NULL) {
		cli->subcommand = find_subcommand(cli->command, word);
		return cli->subcommand != NULL || refuse_subcommand(cli->command, word, error);
	}
	cli->arguments[cli->argument_count++] = text;
	return true;
}

/* Checks the number of positional arguments against the command table. */
static bool check_arguments(const struct cli *cli, struct error *error)
{
	const struct cli_command *command = cli->command;
	if (command->subcommands != NULL && cli->subcommand == NULL)
		return refuse_subcommand(command, S(""), error);
	const struct cli_argument *takes =
		cli->subcommand != NULL ? cli->subcommand->arguments : command->arguments;
	int count = 0;
	for (; takes[count].name != NULL; count++) {
		if (count >= cli->argument_count && !takes[count].optional) {
			AUTO(buf) usage = { 0 };
			cli_usage(command, cli->subcommand, &usage);
			return fail(error, ERROR_USAGE, "%s is missing: baton " STR_FMT,
				    takes[count].name, STR_ARG(buf_str(&usage)));
		}
		if (count < cli->argument_count && takes[count].choices != NULL &&
		    !check_choice(takes[count].choices, takes[count].name, cli->arguments[count],
				  error))
			return false;
		if (takes[count].repeats)
			return true;
	}
	if (cli->argument_count > count)
		return fail(error, ERROR_USAGE, "unexpected argument \"%s\"; see baton help %s",
			    cli->arguments[count], command->name);
	return true;
}

static bool parse_words(struct parse *parse, struct error *error)
{
	for (; parse->at < parse->count; parse->at++) {
		const char *word = parse->words[parse->at];
		if (!parse->only_arguments && strcmp(word, "--") == 0)
			parse->only_arguments = true;
		else if (!parse->only_arguments && word[0] == '-' && word[1] != '\0') {
			if (!take_option(parse, error))
				return false;
		} else if (!take_word(parse, error)) {
			return false;
		}
		if (parse->cli->command != NULL && parse->cli->command->raw) {
			/* The words that are being completed are not parsed as options. */
			for (parse->at++; parse->at < parse->count; parse->at++)
				parse->cli->arguments[parse->cli->argument_count++] =
					parse->words[parse->at];
		}
	}
	return true;
}

/* --version of every command; that of workflow show and prompt show takes a value. */
static bool asks_for_version(const struct cli *cli)
{
	for (size_t i = 0; i < cli->option_count; i++) {
		const struct cli_option *option = cli->options[i].option;
		if (option != NULL && option->value == NULL &&
		    strcmp(option->name, "--version") == 0)
			return true;
	}
	return false;
}

bool cli_parse(struct cli *cli, int count, char **words, struct error *error)
{
	struct parse parse = { .cli = cli, .words = words, .count = count };
	parse.options = arena_array(&cli->arena, struct cli_parsed_option, (size_t)count + 1);
	cli->options = parse.options;
	cli->arguments = arena_array(&cli->arena, char *, (size_t)count + 1);
	bool good = parse_words(&parse, error);
	cli->json = cli_has(cli, "--json");
	/* A --json after the word that failed still selects the format of the error. */
	for (int i = parse.at; i < count && !good; i++)
		cli->json = cli->json || strcmp(words[i], "--json") == 0;
	if (!good)
		return false;
	bool version = asks_for_version(cli);
	cli->show_help = cli_has(cli, "--help") && cli->command != NULL;
	if (cli->command == NULL || version)
		cli->command = cli_command_find(version ? S("version") : S("help"));
	cli->read_only = cli->command->read_only;
	return cli->show_help || version || check_arguments(cli, error);
}

/* ---- for commands ---------------------------------------------------------------------- */

const char *cli_argument(const struct cli *cli, int index)
{
	return index < cli->argument_count ? cli->arguments[index] : NULL;
}

const char *cli_value(const struct cli *cli, const char *name, size_t index)
{
	for (size_t i = 0; i < cli->option_count; i++)
		if (cli->options[i].option != NULL &&
		    strcmp(cli->options[i].option->name, name) == 0 && index-- == 0)
			return cli->options[i].value;
	/* Asking for an option that the table does not have is a bug in the command. */
	require(cli->command == NULL || find_option(cli, str_from_c(name)) != NULL);
	return NULL;
}

bool cli_has(const struct cli *cli, const char *name)
{
	return cli_value(cli, name, 0) != NULL;
}

bool cli_uuid(const char *text, const char *what, struct uuid *out_id, struct error *error)
{
	if (uuid_parse(str_from_c(text), out_id))
		return true;
	return fail(error, ERROR_USAGE, "%s must be a UUID, not \"%s\"", what, text);
}

bool cli_prepare_nothing(struct cli *cli, struct error *error)
{
	(void)cli;
	(void)error;
	return true;
}

/* ---- usage ----------------------------------------------------------------------------- */

static void add_option(const struct cli_option *option, struct buf *out)
{
	buf_add(out, S(" ["));
	if (option->letter != 0)
		buf_add_format(out, "-%c", option->letter);
	else
		buf_add(out, str_from_c(option->name));
	if (option->value != NULL)
		buf_add_format(out, " %s", option->value);
	buf_add_format(out, "]%s", option->repeats ? "..." : "");
}

const char *cli_setting_value(const struct config_row *row)
{
	switch (row->type) {
	case CONFIG_TEXT:
	case CONFIG_SECRET:
		return "TEXT";
	case CONFIG_PATH:
		return "PATH";
	case CONFIG_PORT:
		return "PORT";
	case CONFIG_INT:
		return "NUMBER";
	case CONFIG_SECONDS:
		return "SECONDS";
	case CONFIG_BOOL:
		return NULL;
	case CONFIG_CHOICE:
		return row->choices.at; /* a string literal, so it ends with a null byte */
	case CONFIG_LIST:
		return "A,B";
	}
	return NULL;
}

void cli_usage(const struct cli_command *command, const struct cli_subcommand *word,
	       struct buf *out)
{
	const struct config_row *row;
	buf_add(out, str_from_c(command->name));
	if (word != NULL)
		buf_add_format(out, " %s", word->name);
	const struct cli_argument *argument = word != NULL ? word->arguments : command->arguments;
	for (; argument->name != NULL; argument++)
		buf_add_format(out, " %s%s%s%s", argument->optional ? "[" : "", argument->name,
			       argument->repeats ? "..." : "", argument->optional ? "]" : "");
	const struct cli_option *option = command->options;
	for (; option->name != NULL; option++)
		add_option(option, out);
	for (option = word != NULL ? word->options : option; option->name != NULL; option++)
		add_option(option, out);
	for (size_t i = 0; (row = config_at(i)) != NULL; i++) {
		const struct cli_option flag = { .name = row->flag,
						 .letter = row->letter,
						 .value = cli_setting_value(row) };
		if (cli_takes_setting(command, row))
			add_option(&flag, out);
	}
}
