/* cli/command_webhook.c -- baton webhook. */
#include <string.h>

#include "base/limits.h"
#include "cli/document_command.h"
#include "cli/output.h"

/* ---- output ------------------------------------------------------------------------------ */

static struct str words_of(const struct json *list, struct arena *arena)
{
	struct str words = S("");
	for (size_t i = 0; json_item(list, i) != NULL; i++)
		words = str_format(arena, STR_FMT "%s" STR_FMT, STR_ARG(words), i == 0 ? "" : ",",
				   STR_ARG(json_text(json_item(list, i))));
	return words;
}

static int list(const struct json *page)
{
	const struct json *items = json_member(page, S("items"));
	AUTO(arena) arena = { 0 };
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *item = json_item(items, i);
		const struct json *enabled = json_member(item, S("enabled"));
		struct str name = cli_text(item, "name"), url = cli_text(item, "url");
		struct str events = words_of(json_member(item, S("events")), &arena);
		if (url.size == 0)
			url = cli_text(item, "url_secret");
		cli_line(CLI_RESULT, STR_FMT "  " STR_FMT "  " STR_FMT "  " STR_FMT "%s",
			 STR_ARG(name), STR_ARG(cli_text(item, "channel")), STR_ARG(url),
			 STR_ARG(events),
			 enabled != NULL && enabled->kind == JSON_BOOL && enabled->as.boolean
				 ? ""
				 : "  disabled");
	}
	return cli_flush();
}

static int deliveries(const struct json *page)
{
	const struct json *items = json_member(page, S("items"));
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *item = json_item(items, i);
		struct str error = cli_text(item, "error");
		cli_line(CLI_RESULT,
			 STR_FMT "  " STR_FMT "  " STR_FMT "  " STR_FMT "  " STR_FMT "%s" STR_FMT,
			 STR_ARG(cli_text(item, "id")), STR_ARG(cli_text(item, "created_at")),
			 STR_ARG(cli_text(item, "event")), STR_ARG(cli_text(item, "state")),
			 STR_ARG(cli_text(item, "source")), error.size > 0 ? "  " : "",
			 STR_ARG(error));
	}
	return cli_flush();
}

static int started(const struct json *receipt)
{
	cli_line(CLI_RESULT, STR_FMT, STR_ARG(cli_text(receipt, "id")));
	return cli_flush();
}

/* ---- requests ---------------------------------------------------------------------------- */

/* The values of a repeated option as a list; false when there are none. */
static bool list_of(struct cli *cli, const char *option, struct json *out_list)
{
	size_t count = 0;
	while (cli_value(cli, option, count) != NULL)
		count++;
	struct json *items = arena_array(&cli->arena, struct json, count);
	for (size_t i = 0; i < count; i++)
		items[i] = (struct json){ .kind = JSON_STRING,
					  .as.string = str_from_c(cli_value(cli, option, i)) };
	*out_list = (struct json){ .kind = JSON_LIST, .as.list = { items, count } };
	return count > 0;
}

static bool labels_of(struct cli *cli, struct json *out_labels, struct error *error)
{
	size_t count = 0;
	while (cli_value(cli, "--label", count) != NULL)
		count++;
	struct json_member *members = arena_array(&cli->arena, struct json_member, count);
	for (size_t i = 0; i < count; i++) {
		struct str rest = str_from_c(cli_value(cli, "--label", i)), name;
		if (!str_cut(&rest, '=', &name) || rest.at == NULL || name.size == 0)
			return fail(error, ERROR_USAGE, "--label must be NAME=VALUE, not \"%s\"",
				    cli_value(cli, "--label", i));
		members[i] =
			(struct json_member){ .key = name,
					      .value = { .kind = JSON_STRING, .as.string = rest } };
	}
	*out_labels = (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
	return true;
}

static bool prepare_add(struct cli *cli, struct document_call *call, struct error *error)
{
	static const struct {
		const char *option, *member;
	} texts[] = { { "--url", "url" },          { "--url-secret", "url_secret" },
		      { "--secret", "secret" },    { "--channel", "channel" },
		      { "--from", "from" },        { "--user", "user" },
		      { "--security", "security" } },
	  lists[] = { { "--event", "events" },
		      { "--workflow", "workflows" },
		      { "--profile", "profiles" },
		      { "--to", "to" } };
	struct json_member members[COUNT(texts) + COUNT(lists) + 1];
	size_t count = 0;
	for (size_t i = 0; i < COUNT(texts); i++) {
		const char *value = cli_value(cli, texts[i].option, 0);
		if (value != NULL)
			members[count++] = (struct json_member){
				.key = str_from_c(texts[i].member),
				.value = { .kind = JSON_STRING, .as.string = str_from_c(value) },
			};
	}
	for (size_t i = 0; i < COUNT(lists); i++) {
		members[count].key = str_from_c(lists[i].member);
		count += list_of(cli, lists[i].option, &members[count].value);
	}
	if (cli_has(cli, "--label")) {
		members[count].key = S("labels");
		if (!labels_of(cli, &members[count++].value, error))
			return false;
	}
	const struct json given = { .kind = JSON_OBJECT, .as.object = { members, count } };
	call->method = "POST";
	call->target = S("/api/webhooks");
	return cli_document(cli, "webhook", cli_argument(cli, 0), &given, &call->body, error);
}

static bool prepare(struct cli *cli, struct error *error)
{
	const char *word = cli->subcommand->name, *name = cli_argument(cli, 0);
	struct document_call *call;
	if (!document_command_prepare(cli, "/api/webhooks", "a webhook's", &call, error))
		return false;
	if (strcmp(word, "list") == 0) {
		call->target = S("/api/webhooks?limit=1000");
		call->show = list;
	} else if (strcmp(word, "add") == 0) {
		return prepare_add(cli, call, error);
	} else if (strcmp(word, "remove") == 0) {
		call->method = "DELETE";
	} else if (strcmp(word, "test") == 0) {
		call->method = "POST";
		call->target = cli_target(cli, "/api/webhooks/", name, "/test");
		call->show = started;
	} else if (strcmp(word, "deliveries") == 0) {
		const char *state = cli_value(cli, "--state", 0);
		call->target = cli_target(
			cli, "/api/webhooks/", name,
			str_format(&cli->arena, "/deliveries?limit=200%s%s",
				   state == NULL ? "" : "&state=", state == NULL ? "" : state)
				.at);
		call->show = deliveries;
	} else if (strcmp(word, "redeliver") == 0) {
		struct str target = cli_target(cli, "/api/webhooks/", name, "/deliveries/");
		call->method = "POST";
		call->target = cli_target(cli, str_c(&cli->arena, target), cli_argument(cli, 1),
					  "/redeliver");
		call->show = started;
	}
	return true;
}

#define NAME                                                      \
	{                                                         \
		{                                                 \
			.name = "NAME", .value_kind = CLI_WEBHOOK \
		}                                                 \
	}

static const struct cli_subcommand subcommands[] = {
	{ .name = "list", .text = "List webhooks by name" },
	{ .name = "show", .text = "Show a webhook", .arguments = NAME },
	{ .name = "add",
	  .text = "Add a webhook, which reports events from now on",
	  .arguments = { { .name = "NAME" } },
	  .options = { { .name = "--url",
			 .value = "URL",
			 .text = "Address of the receiver; smtp://HOST:PORT for e-mail" },
		       { .name = "--url-secret",
			 .value = "REFERENCE",
			 .text = "Reference to the address: env:NAME or file:NAME" },
		       { .name = "--secret",
			 .value = "REFERENCE",
			 .text = "Reference to the signing key, or to the password of the mail server" },
		       { .name = "--channel",
			 .value = "CHANNEL",
			 .value_kind = CLI_ONE_OF,
			 .choices = "webhook|slack|email",
			 .text = "What is sent: webhook, slack or email (default webhook)" },
		       { .name = "--event",
			 .value = "EVENT",
			 .repeats = true,
			 .text = "Report this event (default: approval_needed and every end)" },
		       { .name = "--workflow",
			 .letter = 'w',
			 .value = "NAME",
			 .value_kind = CLI_WORKFLOW,
			 .repeats = true,
			 .text = "Only runs of this workflow" },
		       { .name = "--label",
			 .value = "NAME=VALUE",
			 .repeats = true,
			 .text = "Only runs with this label" },
		       { .name = "--profile",
			 .value = "NAME",
			 .value_kind = CLI_PROFILE,
			 .repeats = true,
			 .text = "Only runs of this profile" },
		       { .name = "--from", .value = "ADDRESS", .text = "E-mail: the sender" },
		       { .name = "--to",
			 .value = "ADDRESS",
			 .repeats = true,
			 .text = "E-mail: a recipient" },
		       { .name = "--user",
			 .value = "NAME",
			 .text = "E-mail: user of the mail server" },
		       { .name = "--security",
			 .value = "WORD",
			 .value_kind = CLI_ONE_OF,
			 .choices = "starttls|none",
			 .text = "E-mail: starttls or none (default starttls)" },
		       { DOCUMENT_FILE("webhook") } } },
	{ .name = "remove", .text = "Remove a webhook", .arguments = NAME },
	{ .name = "test", .text = "Deliver a test message, once", .arguments = NAME },
	{ .name = "deliveries",
	  .text = "List deliveries, newest first",
	  .arguments = NAME,
	  .options = { { .name = "--state",
			 .value = "STATE",
			 .value_kind = CLI_ONE_OF,
			 .choices = "pending|delivered|failed|cancelled",
			 .text = "Only deliveries in this state; failed ones are dead letters" } } },
	{ .name = "redeliver",
	  .text = "Deliver again, with the same delivery id",
	  .arguments = { { .name = "NAME", .value_kind = CLI_WEBHOOK }, { .name = "DELIVERY" } } },
	{ .name = NULL },
};

const struct cli_command command_webhook = {
	.name = "webhook",
	.text = "Report events of runs to other programs, Slack or by e-mail",
	.group = CLI_SETTINGS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.subcommands = subcommands,
	.examples = { { "baton webhook add team --url https://example.com/hook --secret env:HOOK_KEY",
			"Report questions and ends of runs, signed with the key in HOOK_KEY" },
		      { "baton webhook add chat --channel slack --url-secret file:slack-url "
			"--event approval_needed",
			"Report questions in Slack" },
		      { "baton webhook deliveries team --state failed",
			"List what could not be delivered" } },
	.prepare = prepare,
	.run = document_command_run,
};
