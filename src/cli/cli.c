/* cli/cli.c -- the table of commands and what they share. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "contract/run.h"
#include "net/local_client.h"

#define COMMAND(name) extern const struct cli_command command_##name;
#include "cli/commands.def"
#undef COMMAND

static const struct cli_command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "cli/commands.def"
#undef COMMAND
};

const struct cli_command *cli_command_at(size_t index)
{
	return index < COUNT(commands) ? commands[index] : NULL;
}

const struct cli_command *cli_find(const char *name)
{
	for (size_t i = 0; i < COUNT(commands); i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

int cli_fail(const struct error *error)
{
	const struct error_row *row = error_row(error->code);
	fprintf(stderr, "baton: ");
	if (error->line > 0)
		fprintf(stderr, "%u:%u: ", error->line, error->column);
	fprintf(stderr, "%s [" STR_FMT "]\n", error->text, STR_ARG(row->name));
	return row->exit_status;
}

/* ---- arguments ----------------------------------------------------------------------- */

static void drop_arguments(struct cli *cli, int at, int count)
{
	for (int i = at; i + count < cli->argument_count; i++)
		cli->arguments[i] = cli->arguments[i + count];
	cli->argument_count -= count;
}

bool cli_option(struct cli *cli, const char *name, char letter, const char **out_value,
		struct error *error)
{
	const char brief[] = { '-', letter, '\0' };
	*out_value = NULL;
	for (int i = 0; i < cli->argument_count; i++) {
		if (strcmp(cli->arguments[i], name) != 0 &&
		    (letter == 0 || strcmp(cli->arguments[i], brief) != 0))
			continue;
		if (i + 1 == cli->argument_count)
			return fail(error, ERROR_USAGE, "%s needs a value", cli->arguments[i]);
		*out_value = cli->arguments[i + 1];
		drop_arguments(cli, i, 2);
		return true;
	}
	return true;
}

bool cli_flag(struct cli *cli, const char *name)
{
	for (int i = 0; i < cli->argument_count; i++)
		if (strcmp(cli->arguments[i], name) == 0) {
			drop_arguments(cli, i, 1);
			return true;
		}
	return false;
}

bool cli_no_argument(struct cli *cli, struct error *error)
{
	if (cli->argument_count == 0)
		return true;
	return fail(error, ERROR_USAGE, "%s is not understood here; see baton help",
		    cli->arguments[0]);
}

bool cli_one_argument(struct cli *cli, const char *what, const char **out_value,
		      struct error *error)
{
	if (cli->argument_count == 0)
		return fail(error, ERROR_USAGE, "%s is missing; see baton help", what);
	*out_value = cli->arguments[0];
	drop_arguments(cli, 0, 1);
	return cli_no_argument(cli, error);
}

/* ---- requests ------------------------------------------------------------------------ */

/* The server's problem+json as an error of ours; every further problem is told at once. */
static bool fail_as_told(const struct json *json, int status, struct error *error)
{
	enum error_code code = ERROR_INTERNAL;
	error_code_from_name(json_text(json_member(json, S("code"))), &code);
	const struct json *details = json_member(json, S("details"));
	for (size_t i = 0; json_item(details, i) != NULL; i++) {
		const struct json *place = json_item(details, i);
		const struct json *line = json_member(place, S("line"));
		const struct json *column = json_member(place, S("column"));
		if (line != NULL && column != NULL)
			fprintf(stderr, "%lld:%lld ", (long long)line->as.integer,
				(long long)column->as.integer);
		fprintf(stderr, STR_FMT ": " STR_FMT "\n",
			STR_ARG(json_text(json_member(place, S("pointer")))),
			STR_ARG(json_text(json_member(place, S("text")))));
	}
	struct str detail = json_text(json_member(json, S("detail")));
	if (detail.size == 0)
		return fail(error, code, "the server answered %d", status);
	return fail(error, code, STR_FMT, STR_ARG(detail));
}

bool cli_request(struct cli *cli, const char *method, struct str target, struct str body,
		 const struct json **out_json, bool *out_lost, struct error *error)
{
	struct local_answer answer;
	struct str headers = body.size > 0 ? S("Content-Type: application/json\r\n") : S("");
	*out_lost = false;
	if (!local_request(cli->socket_path, str_from_c(method), target, headers, body, &cli->arena,
			   NULL, NULL, &answer, error)) {
		*out_lost = error->code == ERROR_UNAVAILABLE || error->code == ERROR_IO;
		return false;
	}
	if (!json_read(answer.body, &cli->arena, out_json, error))
		return false;
	return answer.status < 400 || fail_as_told(*out_json, answer.status, error);
}
