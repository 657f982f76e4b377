/* cli/command_key.c -- baton key: create, list and revoke API keys. */
#include <string.h>

#include "base/time.h"
#include "cli/output.h"
#include "cli/server_request.h"

struct key_state {
	const char *method;
	struct str target, body;
};

/* Parses a duration (30d), a date or a time; durations count from now. */
static bool read_expiry(struct cli *cli, const char *text, struct str *out_time,
			struct error *error)
{
	static const struct config_row ahead = { .name = { "--expires", 9 },
						 .type = CONFIG_SECONDS,
						 .least = 1,
						 .most = INT64_C(3153600000),
						 .fallback = "1" };
	struct config_value seconds;
	struct error ignored;
	int64_t moment;
	char buffer[TIME_TEXT_SIZE];
	if (config_value_of_text(&ahead, NULL, text, &cli->arena, &seconds, &ignored))
		moment = cli->now + seconds.number * 1000000;
	else if (!time_parse(str_from_c(text), &moment) &&
		 !time_parse(str_format(&cli->arena, "%sT00:00:00Z", text), &moment))
		return fail(
			error, ERROR_USAGE,
			"--expires must be like 30d, 2027-01-31 or 2027-01-31T12:00:00Z, not \"%s\"",
			text);
	if (moment <= cli->now)
		return fail(error, ERROR_USAGE, "--expires %s is in the past", text);
	*out_time = str_copy(&cli->arena, time_text(moment, buffer));
	return true;
}

static bool prepare_create(struct cli *cli, struct key_state *state, struct error *error)
{
	const char *role = cli_value(cli, "--role", 0), *expires = cli_value(cli, "--expires", 0);
	struct str moment;
	if (expires != NULL && !read_expiry(cli, expires, &moment, error))
		return false;
	AUTO(buf) body = { 0 };
	struct json_writer writer = { .out = &body };
	json_open(&writer, '{');
	json_key(&writer, S("label"));
	json_put_str(&writer, str_from_c(cli_argument(cli, 0)));
	json_key(&writer, S("role"));
	json_put_str(&writer, str_from_c(role != NULL ? role : "viewer"));
	if (expires != NULL) {
		json_key(&writer, S("expires_at"));
		json_put_str(&writer, moment);
	}
	json_close(&writer, '}');
	state->method = "POST";
	state->target = S("/api/keys");
	state->body = str_copy(&cli->arena, buf_str(&body));
	return true;
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct key_state *state = arena_new(&cli->arena, struct key_state);
	struct uuid id;
	char text[UUID_TEXT_SIZE];
	cli->state = state;
	if (strcmp(cli->subcommand->name, "create") == 0)
		return prepare_create(cli, state, error);
	state->method = "GET";
	state->target = S("/api/keys");
	if (strcmp(cli->subcommand->name, "list") == 0)
		return true;
	state->method = "DELETE";
	if (!cli_uuid(cli_argument(cli, 0), "KEY (see baton key list)", &id, error))
		return false;
	state->target =
		str_format(&cli->arena, "/api/keys/" STR_FMT, STR_ARG(uuid_text(&id, text)));
	return true;
}

static void print_key(const struct json *key)
{
	struct str expires = cli_text(key, "expires_at");
	cli_line(CLI_RESULT, STR_FMT "  %-8.*s  %-28.*s  " STR_FMT, STR_ARG(cli_text(key, "id")),
		 STR_ARG(cli_text(key, "role")),
		 STR_ARG(expires.size > 0 ? expires : S("never expires")),
		 STR_ARG(cli_text(key, "label")));
}

static int show(struct cli *cli, const struct json *answer)
{
	if (cli->json || answer == NULL)
		return cli_print_json(cli, answer);
	struct str secret = cli_text(answer, "key");
	if (secret.size > 0) {
		cli_line(CLI_PROGRESS, "the key is shown only this time; its id is " STR_FMT,
			 STR_ARG(cli_text(answer, "id")));
		return cli_print(cli, secret);
	}
	const struct json *items = json_member(answer, S("items"));
	for (size_t i = 0; json_item(items, i) != NULL; i++)
		print_key(json_item(items, i));
	return 0;
}

static int run(struct cli *cli)
{
	struct key_state *state = cli->state;
	for (;;) {
		const struct json *answer;
		int status = cli_call(cli, state->method, state->target, state->body, &answer);
		if (status != 0)
			return status;
		status = show(cli, answer);
		struct str cursor = cli_text(answer, "cursor");
		if (status != 0 || cursor.size == 0)
			return status;
		state->target =
			str_format(&cli->arena, "/api/keys?cursor=" STR_FMT, STR_ARG(cursor));
	}
}

static const struct cli_subcommand subcommands[] = {
	{ .name = "create",
	  .text = "Create a key; it is printed once and never stored",
	  .arguments = { { .name = "LABEL" } },
	  .options = { { .name = "--role",
			 .value = "ROLE",
			 .value_kind = CLI_ONE_OF,
			 .choices = "viewer|operator|admin",
			 .text = "Role of the key: viewer, operator or admin (default viewer)" },
		       { .name = "--expires",
			 .value = "WHEN",
			 .text = "Expiry: a duration like 30d, a date or a time (default never)" } } },
	{ .name = "list", .text = "List keys without their secrets" },
	{ .name = "revoke",
	  .text = "Revoke a key",
	  .arguments = { { .name = "KEY", .value_kind = CLI_KEY } } },
	{ .name = NULL },
};

const struct cli_command command_key = {
	.name = "key",
	.text = "Create, list and revoke API keys",
	.group = CLI_SETTINGS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.subcommands = subcommands,
	.examples = { { "baton key create ci --role operator --expires 90d",
			"Create a key for a CI server" } },
	.prepare = prepare,
	.run = run,
};
