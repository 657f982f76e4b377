/* Parsing of argv by the command table. */
#include <criterion/criterion.h>
#include <string.h>

#include "cli/cli.h"

static struct cli cli;
static struct error error;

static void end(void)
{
	arena_done(&cli.arena);
}

TestSuite(arguments, .fini = end);

/* Parses a line of words that are separated by single spaces. */
static bool parse(const char *line)
{
	char *words[32];
	int count = 0;
	arena_done(&cli.arena);
	cli = (struct cli){ 0 };
	error = (struct error){ 0 };
	struct str rest = str_from_c(line), word;
	while (str_cut(&rest, ' ', &word))
		words[count++] = (char *)(uintptr_t)str_c(&cli.arena, word);
	return cli_parse(&cli, count, words, &error);
}

Test(arguments, command_subcommand_arguments_and_options)
{
	cr_assert(parse("--home /x run flow.yaml --input a=1 -i f --input=b=2 --json"), "%s",
		  error.text);
	cr_assert_str_eq(cli.command->name, "run");
	cr_assert_null(cli.subcommand);
	cr_assert_eq(cli.argument_count, 1);
	cr_assert_str_eq(cli_argument(&cli, 0), "flow.yaml");
	cr_assert_null(cli_argument(&cli, 1));
	cr_assert_str_eq(cli_value(&cli, "--input", 0), "a=1");
	cr_assert_str_eq(cli_value(&cli, "--input", 1), "b=2");
	cr_assert_null(cli_value(&cli, "--input", 2));
	cr_assert_str_eq(cli_value(&cli, "--inputs", 0), "f");
	cr_assert(cli.json && !cli_has(&cli, "--id"));
	cr_assert(parse("config set serve.port 1"));
	cr_assert_str_eq(cli.subcommand->name, "set");
	cr_assert_str_eq(cli_argument(&cli, 1), "1");
}

Test(arguments, no_words_show_help)
{
	cr_assert(cli_parse(&cli, 0, NULL, &error));
	cr_assert_str_eq(cli.command->name, "help");
	cr_assert(parse("--version"));
	cr_assert_str_eq(cli.command->name, "version");
	cr_assert(parse("watch --help"));
	cr_assert(cli.show_help);
}

Test(arguments, two_dashes_end_the_options)
{
	cr_assert(parse("watch -- --help"));
	cr_assert(!cli.show_help);
	cr_assert_str_eq(cli_argument(&cli, 0), "--help");
	cr_assert(parse("contract check run.Event -"));
	cr_assert_str_eq(cli_argument(&cli, 1), "-");
}

Test(arguments, a_raw_command_takes_any_words)
{
	cr_assert(parse("complete run --inptu -x --"), "%s", error.text);
	cr_assert_eq(cli.argument_count, 4);
	cr_assert_str_eq(cli_argument(&cli, 1), "--inptu");
}

Test(arguments, refusals)
{
	static const struct {
		const char *line, *words;
	} wrong[] = {
		{ "dance", "unknown command dance" },
		{ "run", "FILE|NAME is missing: baton run" },
		{ "run a b", "unexpected argument \"b\"" },
		{ "run a --id", "needs a value" },
		{ "run a --id x --id y", "given twice" },
		{ "run a --home x --home y", "given twice" },
		{ "run a --nothing", "unknown option --nothing" },
		{ "--id x run a", "unknown option --id" },
		{ "config", "config needs a subcommand: one of list, get, set, unset" },
		{ "config dance",
		  "unknown subcommand \"dance\" of config; expected one of list, get, set, unset" },
		{ "runs --json=1", "takes no value" },
		{ "runs --port 1", "unknown option --port" },
	};
	for (size_t i = 0; i < COUNT(wrong); i++) {
		cr_assert(!parse(wrong[i].line), "%s", wrong[i].line);
		cr_assert_eq(error.code, ERROR_USAGE);
		cr_assert_not_null(strstr(error.text, wrong[i].words), "%s: %s", wrong[i].line,
				   error.text);
	}
	cr_assert(!parse("dance --json") && cli.json);
}
