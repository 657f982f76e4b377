/* cli/command_completion.c -- baton completion (the shell script) and complete (its back end).
 *
 * The script knows nothing about commands: it passes the words to `baton complete`, which prints
 * the candidates for the last word from the command table, one per line.  Values that only the
 * server knows (run ids, names of agents) are requested from a running server; completion never
 * starts one.  If nothing is printed, the shell completes file names.
 */
#include <stdio.h>
#include <string.h>

#include "base/packed.h"
#include "cli/output.h"
#include "cli/server_request.h"
#include "contract/describe.h"

/* If nothing is printed for a word, each script lets the shell complete file names. */
static const struct {
	const char *shell, *script;
} scripts[] = {
	{ "bash",
	  "# bash completion for baton: eval \"$(baton completion bash)\"\n"
	  "_baton() {\n"
	  "\tlocal word=${COMP_WORDS[COMP_CWORD]} line\n"
	  "\tCOMPREPLY=()\n"
	  "\twhile IFS= read -r line; do\n"
	  "\t\tif [[ $line == \"$word\"* ]]; then COMPREPLY+=(\"$line\"); fi\n"
	  "\tdone < <(\"${COMP_WORDS[0]}\" complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n"
	  "}\n"
	  "complete -o bashdefault -o default -F _baton baton\n" },
	{ "fish", "# fish completion for baton: baton completion fish | source\n"
		  "function __baton_complete\n"
		  "\tset -l words (commandline -opc)\n"
		  "\tset -l word (commandline -ct)\n"
		  "\tset -l found ($words[1] complete $words[2..] \"$word\" 2>/dev/null)\n"
		  "\tif test (count $found) -gt 0\n"
		  "\t\tprintf '%s\\n' $found\n"
		  "\telse\n"
		  "\t\t__fish_complete_path \"$word\"\n"
		  "\tend\n"
		  "end\n"
		  "complete -c baton -f -a '(__baton_complete)'\n" },
	{ "zsh",
	  "#compdef baton\n"
	  "# zsh completion for baton: eval \"$(baton completion zsh)\", or as _baton in a folder of fpath\n"
	  "_baton() {\n"
	  "\tlocal -a found\n"
	  "\tfound=(\"${(@f)$(\"${words[1]}\" complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
	  "\tfound=(${found:#})\n"
	  "\tif (( ${#found} )); then compadd -a found; else _files; fi\n"
	  "}\n"
	  "if [ \"${funcstack[1]}\" = _baton ]; then _baton \"$@\"; else compdef _baton baton; fi\n" },
};

static int print_script(struct cli *cli)
{
	AUTO(buf) out = { 0 };
	struct json_writer writer = { .out = &out };
	const char *script = "";
	for (size_t i = 0; i < COUNT(scripts); i++)
		if (strcmp(scripts[i].shell, cli_argument(cli, 0)) == 0)
			script = scripts[i].script;
	if (!cli->json)
		return cli_print(cli, str_from_c(script));
	json_open(&writer, '{');
	json_key(&writer, S("script"));
	json_put_str(&writer, str_from_c(script));
	json_close(&writer, '}');
	return cli_print(cli, buf_str(&out));
}

/* ---- candidates ------------------------------------------------------------------------ */

struct completion {
	struct cli *cli;
	const struct cli_command *command;
	const struct cli_subcommand *subcommand;
	int arguments;                          /* positional arguments before the last word */
	const struct cli_option *wants_value;   /* the last word is the value of this option */
	const struct config_row *wants_setting; /* the last word is the value of this flag */
	bool only_arguments;
};

static void put_words(const char *choices)
{
	struct str rest = str_from_c(choices), word;
	while (str_cut(&rest, '|', &word))
		cli_line(CLI_RESULT, STR_FMT, STR_ARG(word));
}

/* The workflows that the server knows; without a server, the built-in ones. */
static void put_workflows(struct cli *cli)
{
	const struct json *answer;
	struct error error;
	bool lost;
	if (!cli_request(cli, "GET", S("/api/workflows?limit=200"), S(""), &answer, &lost,
			 &error)) {
		for (const struct packed_file *one = cli->packed_examples; one->name != NULL; one++)
			cli_line(CLI_RESULT, "%s", one->name);
		return;
	}
	const struct json *names = json_member(answer, S("workflows"));
	for (size_t i = 0; json_item(names, i) != NULL; i++)
		cli_line(CLI_RESULT, STR_FMT, STR_ARG(json_text(json_item(names, i))));
}

/* Prints one member of each item of a list from the server. */
static void put_from_server(struct cli *cli, struct str target, struct str list, struct str name)
{
	const struct json *answer;
	struct error error;
	bool lost;
	if (!cli_request(cli, "GET", target, S(""), &answer, &lost, &error))
		return;
	const struct json *items = list.size > 0 ? json_member(answer, list) : answer;
	for (size_t i = 0; json_item(items, i) != NULL; i++)
		cli_line(CLI_RESULT, STR_FMT,
			 STR_ARG(json_text(json_member(json_item(items, i), name))));
}

static void put_values(struct cli *cli, enum cli_value_kind kind, const char *choices)
{
	const struct config_row *row;
	const struct cli_command *command;
	const struct description *description;
	switch (kind) {
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
	case CLI_WEBHOOK:
		put_from_server(cli, S("/api/webhooks"), S("items"), S("name"));
		return;
	case CLI_TRIGGER:
		put_from_server(cli, S("/api/triggers"), S("items"), S("name"));
		return;
	case CLI_KEY:
		put_from_server(cli, S("/api/keys"), S("items"), S("id"));
		return;
	case CLI_TOOL:
		put_from_server(cli, S("/api/tools"), S("items"), S("name"));
		return;
	case CLI_SETTING:
		for (size_t i = 0; (row = config_at(i)) != NULL; i++)
			cli_line(CLI_RESULT, STR_FMT, STR_ARG(row->name));
		return;
	case CLI_COMMAND_NAME:
		for (size_t i = 0; (command = cli_command_at(i)) != NULL; i++)
			if (command->group != CLI_HIDDEN)
				cli_line(CLI_RESULT, "%s", command->name);
		return;
	case CLI_WORKFLOW:
		put_workflows(cli);
		return;
	case CLI_DESCRIPTION:
		for (size_t i = 0; (description = description_at(i)) != NULL; i++)
			cli_line(CLI_RESULT, STR_FMT, STR_ARG(description->name));
		cli_line(CLI_RESULT, "commands");
		return;
	case CLI_ONE_OF:
		put_words(choices);
		return;
	}
}

static void put_options(const struct cli_option *options)
{
	for (; options->name != NULL; options++)
		cli_line(CLI_RESULT, "%s", options->name);
}

/* The server does not accept the address of another one. */
static bool option_is_offered(const struct cli_command *command, const struct config_row *row)
{
	if (command != NULL && command->kind == CLI_SERVER && row == config_row(CONFIG_SERVER))
		return false;
	return cli_takes_setting(NULL, row) || (command != NULL && cli_takes_setting(command, row));
}

static void put_all_options(const struct completion *completion)
{
	const struct config_row *row;
	put_options(cli_common_options());
	if (completion->command != NULL)
		put_options(completion->command->options);
	if (completion->subcommand != NULL)
		put_options(completion->subcommand->options);
	for (size_t i = 0; (row = config_at(i)) != NULL; i++)
		if (option_is_offered(completion->command, row))
			cli_line(CLI_RESULT, "%s", row->flag);
}

static void put_candidates(struct completion *completion, const char *unfinished)
{
	struct cli *cli = completion->cli;
	if (completion->wants_value != NULL) {
		put_values(cli, completion->wants_value->value_kind,
			   completion->wants_value->choices);
		return;
	}
	if (completion->wants_setting != NULL) {
		if (completion->wants_setting->type == CONFIG_CHOICE)
			put_words(completion->wants_setting->choices.at);
		return;
	}
	if (unfinished[0] == '-' && !completion->only_arguments) {
		put_all_options(completion);
		return;
	}
	if (completion->command == NULL) {
		put_values(cli, CLI_COMMAND_NAME, NULL);
		return;
	}
	if (completion->command->subcommands != NULL && completion->subcommand == NULL) {
		for (const struct cli_subcommand *one = completion->command->subcommands;
		     one->name != NULL; one++)
			cli_line(CLI_RESULT, "%s", one->name);
		return;
	}
	const struct cli_argument *takes = completion->subcommand != NULL
						   ? completion->subcommand->arguments
						   : completion->command->arguments;
	for (int i = 0; takes->name != NULL && i < completion->arguments && !takes->repeats; i++)
		takes++;
	if (takes->name != NULL)
		put_values(cli, takes->value_kind, takes->choices);
}

/* ---- parsing the words before the last ------------------------------------------------- */

static const struct cli_option *option_in(const struct cli_option *options, const char *word)
{
	for (; options->name != NULL; options++)
		if (strcmp(options->name, word) == 0 ||
		    (options->letter != 0 && word[0] == '-' && word[1] == options->letter &&
		     word[2] == '\0'))
			return options;
	return NULL;
}

static void take_option(struct completion *completion, const char *text)
{
	const struct config_row *row;
	const struct cli_option *option = option_in(cli_common_options(), text);
	if (option == NULL && completion->command != NULL)
		option = option_in(completion->command->options, text);
	if (option == NULL && completion->subcommand != NULL)
		option = option_in(completion->subcommand->options, text);
	if (option != NULL && option->value != NULL)
		completion->wants_value = option;
	for (size_t i = 0; option == NULL && (row = config_at(i)) != NULL; i++)
		if (row->type != CONFIG_BOOL && strcmp(row->flag, text) == 0)
			completion->wants_setting = row;
}

static void take_word(struct completion *completion, const char *text)
{
	if (completion->wants_value != NULL || completion->wants_setting != NULL) {
		completion->wants_value = NULL;
		completion->wants_setting = NULL;
		return;
	}
	if (!completion->only_arguments && strcmp(text, "--") == 0) {
		completion->only_arguments = true;
	} else if (!completion->only_arguments && text[0] == '-') {
		take_option(completion, text);
	} else if (completion->command == NULL) {
		completion->command = cli_command_find(str_from_c(text));
	} else if (completion->command->subcommands != NULL && completion->subcommand == NULL) {
		for (const struct cli_subcommand *one = completion->command->subcommands;
		     one->name != NULL; one++)
			if (strcmp(one->name, text) == 0)
				completion->subcommand = one;
	} else {
		completion->arguments++;
	}
}

static int complete(struct cli *cli)
{
	struct completion completion = { .cli = cli };
	int last = cli->argument_count - 1;
	for (int i = 0; i < last; i++)
		take_word(&completion, cli->arguments[i]);
	if (last >= 0)
		put_candidates(&completion, cli->arguments[last]);
	return cli_flush();
}

const struct cli_command command_completion = {
	.name = "completion",
	.text = "Print a shell completion script",
	.group = CLI_REFERENCE,
	.kind = CLI_PLAIN,
	.arguments = { { .name = "SHELL", .value_kind = CLI_ONE_OF, .choices = "bash|fish|zsh" } },
	.examples = { { "eval \"$(baton completion bash)\"", "Add to ~/.bashrc" },
		      { "eval \"$(baton completion zsh)\"", "Add to ~/.zshrc, behind compinit" },
		      { "baton completion fish > ~/.config/fish/completions/baton.fish",
			"Install for fish" } },
	.prepare = cli_prepare_nothing,
	.run = print_script,
};

const struct cli_command command_complete = {
	.name = "complete",
	.text = "Print the candidates for the last word",
	.group = CLI_HIDDEN,
	.kind = CLI_PLAIN,
	.raw = true,
	.arguments = { { .name = "WORD", .optional = true, .repeats = true } },
	.prepare = cli_prepare_nothing,
	.run = complete,
};
