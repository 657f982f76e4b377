/* cli/follow.c -- a run told line by line, from its SSE stream.
 *
 * The stream is read as it comes and cut into events; the seq of each is remembered, so that after
 * the server has gone (and another one is found) the telling goes on behind the last line.
 */
#include <stdio.h>

#include "base/time.h"
#include "cli/cli.h"
#include "contract/run.h"

struct following {
	int64_t *seen;
	bool finished;
};

/* What an event is about, in a few words. */
static void tell(const struct run_event *event)
{
	char at[TIME_TEXT_SIZE];
	const struct json *data = event->data;
	struct str step = json_text(json_member(data, S("step")));
	struct str outcome = json_text(json_member(data, S("outcome")));
	struct str decision = json_text(json_member(data, S("decision")));
	const struct json *fault = json_member(data, S("fault"));
	fprintf(stderr, STR_FMT "  %-16.*s  " STR_FMT, STR_ARG(time_text(event->at, at)),
		STR_ARG(event->type), STR_ARG(step));
	if (outcome.size > 0)
		fprintf(stderr, "  " STR_FMT, STR_ARG(decision.size > 0 ? decision : outcome));
	if (fault != NULL)
		fprintf(stderr, "  " STR_FMT, STR_ARG(json_text(json_member(fault, S("text")))));
	fprintf(stderr, "\n");
	if (str_equal(event->type, S("human.requested")))
		fprintf(stderr, "    " STR_FMT "\n    answer with: baton approve " STR_FMT "\n",
			STR_ARG(json_text(json_member(data, S("question")))),
			STR_ARG(json_text(json_member(data, S("effect")))));
}

static bool take_event(void *context, struct str id, struct str data)
{
	struct following *f = context;
	(void)id;
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	struct problems problems = { .arena = &arena };
	if (!json_read(data, &arena, &json, &error))
		return true;
	struct contract_source source = { .json = json, .lenient = true };
	const struct run_event *event = run_event_parse(&source, &arena, &problems);
	if (event == NULL || event->seq <= *f->seen)
		return true;
	tell(event);
	*f->seen = event->seq;
	f->finished = str_equal(event->type, S("run.finished"));
	return !f->finished;
}

static int print_result(struct cli *cli, const struct uuid *run)
{
	char id[UUID_TEXT_SIZE];
	struct error error;
	const struct json *result;
	bool lost;
	struct str target =
		str_format(&cli->arena, "/api/runs/" STR_FMT, STR_ARG(uuid_text(run, id)));
	if (!cli_request(cli, "GET", target, S(""), &result, &lost, &error))
		return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
	struct str status = json_text(json_member(result, S("status")));
	if (str_equal(status, S("running")))
		return CLI_SERVER_LOST;
	const struct json *shown = cli->json ? result : json_member(result, S("outputs"));
	int printed = cli_print_json(cli, shown);
	if (printed != 0)
		return printed;
	if (str_equal(status, S("success")))
		return 0;
	struct str why = json_text(json_member(result, S("error")));
	fprintf(stderr, "baton: the run failed: " STR_FMT "\n", STR_ARG(why));
	return 1;
}

int cli_follow(struct cli *cli, const struct uuid *run, int64_t *seen)
{
	char id[UUID_TEXT_SIZE];
	struct following f = { .seen = seen };
	struct str target = str_format(&cli->arena, "/api/runs/" STR_FMT "/stream?after=%lld",
				       STR_ARG(uuid_text(run, id)), (long long)*seen);
	struct error error;
	bool lost;
	bool good = cli_stream(cli, target, take_event, &f, &lost, &error);
	/* A stream that ends in order is that of a run that has ended, told or not. */
	if (f.finished || good)
		return print_result(cli, run);
	if (lost)
		return CLI_SERVER_LOST;
	if (error.code == ERROR_NOT_FOUND)
		fail(&error, ERROR_NOT_FOUND, "no run " STR_FMT, STR_ARG(uuid_text(run, id)));
	return cli_fail(cli, &error);
}
