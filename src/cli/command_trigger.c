/* cli/command_trigger.c -- baton trigger. */
#include <string.h>

#include "base/limits.h"
#include "cli/document_command.h"
#include "cli/output.h"

static int list(const struct json *page)
{
	const struct json *items = json_member(page, S("items"));
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *item = json_item(items, i);
		const struct json *enabled = json_member(item, S("enabled"));
		struct str workflow = cli_text(item, "workflow"), signal = cli_text(item, "signal");
		struct str when = cli_text(item, "when");
		cli_line(CLI_RESULT, STR_FMT "  " STR_FMT "  %s " STR_FMT "%s" STR_FMT "%s",
			 STR_ARG(cli_text(item, "name")), STR_ARG(cli_text(item, "source")),
			 workflow.size > 0 ? "starts" : "signals",
			 STR_ARG(workflow.size > 0 ? workflow : signal),
			 when.size > 0 ? "  when " : "", STR_ARG(when),
			 enabled != NULL && enabled->kind == JSON_BOOL && enabled->as.boolean
				 ? ""
				 : "  disabled");
	}
	return cli_flush();
}

static bool prepare_add(struct cli *cli, struct document_call *call, struct error *error)
{
	static const struct {
		const char *option, *member;
	} texts[] = { { "--source", "source" },  { "--secret", "secret" },
		      { "--when", "when" },      { "--workflow", "workflow" },
		      { "--signal", "signal" },  { "--run-label", "label" },
		      { "--profile", "profile" } };
	struct json_member members[COUNT(texts) + 1];
	size_t count = 0;
	for (size_t i = 0; i < COUNT(texts); i++) {
		const char *value = cli_value(cli, texts[i].option, 0);
		if (value != NULL)
			members[count++] = (struct json_member){
				.key = str_from_c(texts[i].member),
				.value = { .kind = JSON_STRING, .as.string = str_from_c(value) },
			};
	}
	if (cli_has(cli, "--input")) {
		members[count].key = S("inputs");
		if (!cli_inputs(cli, "NAME=VALUE", &members[count++].value, error))
			return false;
	}
	const struct json given = { .kind = JSON_OBJECT, .as.object = { members, count } };
	call->method = "POST";
	call->target = S("/api/triggers");
	return cli_document(cli, "trigger", cli_argument(cli, 0), &given, &call->body, error);
}

static bool prepare(struct cli *cli, struct error *error)
{
	const char *word = cli->subcommand->name;
	struct document_call *call;
	if (!document_command_prepare(cli, "/api/triggers", "a trigger's", &call, error))
		return false;
	if (strcmp(word, "list") == 0) {
		call->target = S("/api/triggers?limit=1000");
		call->show = list;
	} else if (strcmp(word, "add") == 0) {
		return prepare_add(cli, call, error);
	} else if (strcmp(word, "remove") == 0) {
		call->method = "DELETE";
	}
	return true;
}

#define NAME                                                      \
	{                                                         \
		{                                                 \
			.name = "NAME", .value_kind = CLI_TRIGGER \
		}                                                 \
	}

static const struct cli_subcommand subcommands[] = {
	{ .name = "list", .text = "List triggers by name" },
	{ .name = "show", .text = "Show a trigger", .arguments = NAME },
	{ .name = "add",
	  .text = "Add a trigger; its address is /api/triggers/NAME",
	  .arguments = { { .name = "NAME" } },
	  .options = { { .name = "--source",
			 .value = "SOURCE",
			 .value_kind = CLI_ONE_OF,
			 .choices = "github|gitlab|generic",
			 .text = "Who signs the requests: github, gitlab or generic (default generic)" },
		       { .name = "--secret",
			 .value = "REFERENCE",
			 .text = "Reference to the key of the signatures: env:NAME or file:NAME" },
		       { .name = "--when",
			 .value = "EXPRESSION",
			 .text = "Condition over headers and body (default: always)" },
		       { .name = "--workflow",
			 .letter = 'w',
			 .value = "NAME",
			 .value_kind = CLI_WORKFLOW,
			 .text = "Workflow to start" },
		       { .name = "--input",
			 .letter = 'i',
			 .value = "NAME=VALUE",
			 .repeats = true,
			 .text = "Set one input; ${body.x} and ${headers.x} are replaced" },
		       { .name = "--profile",
			 .value = "NAME",
			 .value_kind = CLI_PROFILE,
			 .text = "Profile of the run" },
		       { .name = "--signal",
			 .value = "NAME",
			 .text = "Send this signal to a run, instead of starting one" },
		       { .name = "--run-label",
			 .value = "NAME=VALUE",
			 .text = "Label of the run that gets the signal, a template" },
		       { DOCUMENT_FILE("trigger") } } },
	{ .name = "remove", .text = "Remove a trigger", .arguments = NAME },
	{ .name = NULL },
};

const struct cli_command command_trigger = {
	.name = "trigger",
	.text = "Start or signal runs by signed requests of GitHub, GitLab and others",
	.group = CLI_SETTINGS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.subcommands = subcommands,
	.examples = { { "baton trigger add issues --source github --secret env:GITHUB_HOOK_KEY "
			"--when \"body.action == 'labeled'\" --workflow issue-triage "
			"--input 'title=${body.issue.title}'",
			"Start a run when an issue is labeled" },
		      { "baton trigger list", "List triggers" } },
	.prepare = prepare,
	.run = document_command_run,
};
