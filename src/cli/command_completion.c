/* cli/command_completion.c -- completion: a script for the shell, and what it asks.
 *
 * The script knows nothing about commands: it hands the words to `baton complete`, which looks
 * into the same table as everything else and prints what may stand there, one a line.  Values that
 * only the server knows are asked of it if it is there; nobody is started for a completion.
 * Nothing printed means: a file name, which the shell knows best.
 */
#include <stdio.h>
#include <string.h>

#include "base/packed.h"
#include "cli/server_request.h"
#include "contract/describe.h"

static const char script[] =
	"# bash completion for baton: eval \"$(baton completion bash)\"\n"
	"_baton() {\n"
	"\tlocal word=${COMP_WORDS[COMP_CWORD]} line\n"
	"\tCOMPREPLY=()\n"
	"\twhile IFS= read -r line; do\n"
	"\t\tif [[ $line == \"$word\"* ]]; then COMPREPLY+=(\"$line\"); fi\n"
	"\tdone < <(\"${COMP_WORDS[0]}\" complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
	"}\n"
	"complete -o bashdefault -o default -F _baton baton\n";

static int print_script(struct cli *cli)
{
	AUTO(buf) out = { 0 };
	struct json_writer writer = { .out = &out };
	if (!cli->json)
		return cli_print(cli, str_from_c(script));
	json_open(&writer, '{');
	json_key(&writer, S("script"));
	json_put_str(&writer, str_from_c(script));
	json_close(&writer, '}');
	return cli_print(cli, buf_str(&out));
}

static bool prepare_script(struct cli *cli, struct error *error)
{
	const char *shell = cli_argument(cli, 0);
	return strcmp(shell, "bash") == 0 ||
	       fail(error, ERROR_USAGE, "there is a completion for bash, not for %s", shell);
}

/* ---- candidates ------------------------------------------------------------------------ */

struct completing {
	struct cli *cli;
	const struct cli_command *command;
	const struct cli_word *word;
	int arguments;                        /* complete ones behind command and word */
	const struct cli_option *wants_value; /* the last complete word was this option */
	const struct config_row *wants_setting;
	bool only_arguments;
};

static void put_words(const char *words)
{
	struct str rest = str_from_c(words), word;
	while (str_cut(&rest, '|', &word))
		printf(STR_FMT "\n", STR_ARG(word));
}

/* One member of each item of a list that the server has. */
static void put_from_server(struct cli *cli, struct str target, struct str list, struct str name)
{
	const struct json *answer;
	struct error error;
	bool lost;
	if (!cli_request(cli, "GET", target, S(""), &answer, &lost, &error))
		return;
	const struct json *items = list.size > 0 ? json_member(answer, list) : answer;
	for (size_t i = 0; json_item(items, i) != NULL; i++)
		printf(STR_FMT "\n", STR_ARG(json_text(json_member(json_item(items, i), name))));
}

static void put_values(struct cli *cli, enum cli_values values, const char *words)
{
	const struct config_row *row;
	const struct cli_command *command;
	const struct description *description;
	switch (values) {
	case CLI_TEXT:
	case CLI_FILE:
		return;
	case CLI_RUN:
		put_from_server(cli, S("/api/runs?limit=100"), S(""), S("run_id"));
		return;
	case CLI_REQUEST:
		put_from_server(cli, S("/api/inbox"), S("items"), S("id"));
		return;
	case CLI_PROFILE:
		put_from_server(cli, S("/api/profiles"), S("items"), S("name"));
		return;
	case CLI_AGENT:
		put_from_server(cli, S("/api/agents"), S("agents"), S("name"));
		return;
	case CLI_SCHEDULE:
		put_from_server(cli, S("/api/schedules"), S("items"), S("name"));
		return;
	case CLI_KEY:
		put_from_server(cli, S("/api/keys"), S("items"), S("id"));
		return;
	case CLI_SETTING:
		for (size_t i = 0; (row = config_at(i)) != NULL; i++)
			printf(STR_FMT "\n", STR_ARG(row->name));
		return;
	case CLI_COMMAND_NAME:
		for (size_t i = 0; (command = cli_command_at(i)) != NULL; i++)
			if (command->group != CLI_HIDDEN)
				printf("%s\n", command->name);
		return;
	case CLI_WORKFLOW:
		for (const struct packed_file *one = cli->packed_examples; one->name != NULL; one++)
			printf("%s\n", one->name);
		return;
	case CLI_DESCRIPTION:
		for (size_t i = 0; (description = description_at(i)) != NULL; i++)
			printf(STR_FMT "\n", STR_ARG(description->name));
		printf("commands\n");
		return;
	case CLI_ONE_OF:
		put_words(words);
		return;
	}
}

static void put_options(const struct cli_option *options)
{
	for (; options->name != NULL; options++)
		printf("%s\n", options->name);
}

static void put_all_options(const struct completing *completing)
{
	const struct config_row *row;
	put_options(cli_common_options());
	if (completing->command != NULL)
		put_options(completing->command->options);
	if (completing->word != NULL)
		put_options(completing->word->options);
	for (size_t i = 0; (row = config_at(i)) != NULL; i++)
		if (cli_takes_setting(NULL, row) ||
		    (completing->command != NULL && cli_takes_setting(completing->command, row)))
			printf("%s\n", row->flag);
}

static void put_candidates(struct completing *completing, const char *unfinished)
{
	struct cli *cli = completing->cli;
	if (completing->wants_value != NULL) {
		put_values(cli, completing->wants_value->values, completing->wants_value->words);
		return;
	}
	if (completing->wants_setting != NULL) {
		if (completing->wants_setting->type == CONFIG_CHOICE)
			put_words(completing->wants_setting->choices.at);
		return;
	}
	if (unfinished[0] == '-' && !completing->only_arguments) {
		put_all_options(completing);
		return;
	}
	if (completing->command == NULL) {
		put_values(cli, CLI_COMMAND_NAME, NULL);
		return;
	}
	if (completing->command->words != NULL && completing->word == NULL) {
		for (const struct cli_word *one = completing->command->words; one->name != NULL;
		     one++)
			printf("%s\n", one->name);
		return;
	}
	const struct cli_argument *takes = completing->word != NULL
						   ? completing->word->arguments
						   : completing->command->arguments;
	for (int i = 0; takes->name != NULL && i < completing->arguments && !takes->repeats; i++)
		takes++;
	if (takes->name != NULL)
		put_values(cli, takes->values, takes->words);
}

/* ---- the words before ------------------------------------------------------------------ */

static const struct cli_option *option_in(const struct cli_option *options, const char *word)
{
	for (; options->name != NULL; options++)
		if (strcmp(options->name, word) == 0 ||
		    (options->letter != 0 && word[0] == '-' && word[1] == options->letter &&
		     word[2] == '\0'))
			return options;
	return NULL;
}

static void take_option(struct completing *completing, const char *text)
{
	const struct config_row *row;
	const struct cli_option *option = option_in(cli_common_options(), text);
	if (option == NULL && completing->command != NULL)
		option = option_in(completing->command->options, text);
	if (option == NULL && completing->word != NULL)
		option = option_in(completing->word->options, text);
	if (option != NULL && option->value != NULL)
		completing->wants_value = option;
	for (size_t i = 0; option == NULL && (row = config_at(i)) != NULL; i++)
		if (row->type != CONFIG_BOOL && strcmp(row->flag, text) == 0)
			completing->wants_setting = row;
}

static void take_word(struct completing *completing, const char *text)
{
	if (completing->wants_value != NULL || completing->wants_setting != NULL) {
		completing->wants_value = NULL;
		completing->wants_setting = NULL;
		return;
	}
	if (!completing->only_arguments && strcmp(text, "--") == 0) {
		completing->only_arguments = true;
	} else if (!completing->only_arguments && text[0] == '-') {
		take_option(completing, text);
	} else if (completing->command == NULL) {
		completing->command = cli_find(str_from_c(text));
	} else if (completing->command->words != NULL && completing->word == NULL) {
		for (const struct cli_word *one = completing->command->words; one->name != NULL;
		     one++)
			if (strcmp(one->name, text) == 0)
				completing->word = one;
	} else {
		completing->arguments++;
	}
}

static int complete(struct cli *cli)
{
	struct completing completing = { .cli = cli };
	int last = cli->argument_count - 1;
	for (int i = 0; i < last; i++)
		take_word(&completing, cli->arguments[i]);
	if (last >= 0)
		put_candidates(&completing, cli->arguments[last]);
	return cli_printed();
}

const struct cli_command command_completion = {
	.name = "completion",
	.text = "Print a completion script",
	.group = CLI_REFERENCE,
	.kind = CLI_PLAIN,
	.arguments = { { .name = "SHELL", .values = CLI_ONE_OF, .words = "bash" } },
	.examples = { { "eval \"$(baton completion bash)\"", "In ~/.bashrc" } },
	.prepare = prepare_script,
	.run = print_script,
};

const struct cli_command command_complete = {
	.name = "complete",
	.text = "What may stand where the last word is",
	.group = CLI_HIDDEN,
	.kind = CLI_PLAIN,
	.raw = true,
	.arguments = { { .name = "WORD", .optional = true, .repeats = true } },
	.prepare = cli_nothing,
	.run = complete,
};
