/* The command table is complete enough for help, completion and the reference. */
#include <criterion/criterion.h>
#include <string.h>

#include "cli/help.h"

static void check_options(const char *where, const struct cli_option *options)
{
	for (size_t i = 0; options[i].name != NULL; i++) {
		cr_assert(i + 1 < CLI_OPTIONS, "%s: the list has no end", where);
		cr_assert(strncmp(options[i].name, "--", 2) == 0, "%s %s", where, options[i].name);
		cr_assert(options[i].text != NULL && options[i].text[0] != '\0', "%s %s", where,
			  options[i].name);
		cr_assert_eq(options[i].value_kind == CLI_ONE_OF, options[i].choices != NULL);
		cr_assert(options[i].value != NULL || !options[i].repeats);
		for (size_t j = 0; j < i; j++) {
			cr_assert_str_neq(options[i].name, options[j].name);
			cr_assert(options[i].letter == 0 || options[i].letter != options[j].letter);
		}
	}
}

static void check_arguments(const char *where, const struct cli_argument *arguments)
{
	bool optional = false;
	for (size_t i = 0; arguments[i].name != NULL; i++) {
		cr_assert(i + 1 < CLI_ARGUMENTS, "%s: the list has no end", where);
		cr_assert(arguments[i].optional || !optional,
			  "%s: a required argument follows an optional one", where);
		cr_assert_eq(arguments[i].value_kind == CLI_ONE_OF, arguments[i].choices != NULL);
		optional = arguments[i].optional;
	}
}

Test(table, every_command_is_complete)
{
	const struct cli_command *command;
	for (size_t i = 0; (command = cli_command_at(i)) != NULL; i++) {
		cr_assert(command->text != NULL && command->prepare != NULL, "%s", command->name);
		cr_assert((command->run != NULL) == (command->kind != CLI_SERVER), "%s",
			  command->name);
		cr_assert(cli_command_find(str_from_c(command->name)) == command);
		check_options(command->name, command->options);
		check_arguments(command->name, command->arguments);
		cr_assert(command->subcommands == NULL || command->arguments[0].name == NULL, "%s",
			  command->name);
		for (const struct cli_subcommand *word = command->subcommands;
		     word != NULL && word->name != NULL; word++) {
			cr_assert(word->text != NULL && word->text[0] != '\0');
			check_options(word->name, word->options);
			check_arguments(word->name, word->arguments);
		}
		const struct config_row *row;
		for (size_t j = 0; (row = config_at(j)) != NULL; j++)
			if (cli_takes_setting(NULL, row))
				for (const struct cli_option *one = command->options;
				     one->name != NULL; one++)
					cr_assert_str_neq(one->name, row->flag);
	}
}

Test(table, help_is_made_of_it)
{
	const struct cli_command *command;
	AUTO(buf) all = { 0 };
	AUTO(buf) page = { 0 };
	help_all(&all);
	describe_commands(&page);
	for (size_t i = 0; (command = cli_command_at(i)) != NULL; i++) {
		AUTO(buf) one = { 0 };
		AUTO(arena) arena = { 0 };
		size_t at;
		bool shown = command->group != CLI_HIDDEN;
		help_command(command, &one);
		cr_assert(str_find(buf_str(&one), str_from_c(command->text), &at));
		cr_assert_eq(
			str_find(buf_str(&all), str_format(&arena, "\n  %s ", command->name), &at),
			shown);
		cr_assert_eq(str_find(buf_str(&page),
				      str_format(&arena, "\n### %s\n", command->name), &at),
			     shown);
	}
}

Test(table, as_json)
{
	AUTO(buf) out = { 0 };
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error = { 0 };
	help_json(NULL, &out);
	cr_assert(json_read(buf_str(&out), &arena, &json, &error), "%s", error.text);
	cr_assert(json->kind == JSON_LIST && json->as.list.count >= 15);
}
