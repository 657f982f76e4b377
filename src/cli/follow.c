/* cli/follow.c -- a run told line by line, from its SSE stream.
 *
 * The stream is read as it comes and cut into events; the seq of each is remembered, so that after
 * the server has gone (and another one is found) the telling goes on behind the last line.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/time.h"
#include "cli/cli.h"
#include "contract/run.h"
#include "net/local_client.h"
#include "net/sse.h"

struct following {
	struct cli *cli;
	int64_t *seen;
	struct sse_reader stream;
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

static bool take_event(void *context, struct str id, struct str type, struct str data)
{
	struct following *f = context;
	AUTO(arena) arena = { 0 };
	const struct json *json;
	struct error error;
	struct problems problems = { .arena = &arena };
	(void)id;
	(void)type;
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

static bool take_bytes(void *context, int status, struct str bytes)
{
	struct following *f = context;
	if (status == 200)
		sse_feed(&f->stream, bytes);
	return !f->stream.ended;
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
		return lost ? CLI_SERVER_LOST : cli_fail(&error);
	struct str status = json_text(json_member(result, S("status")));
	if (str_equal(status, S("running")))
		return CLI_SERVER_LOST;
	const struct json *shown = cli->json ? result : json_member(result, S("outputs"));
	printf(STR_FMT "\n", STR_ARG(json_print(&cli->arena, shown)));
	if (str_equal(status, S("success")))
		return 0;
	struct str why = json_text(json_member(result, S("error")));
	fprintf(stderr, "baton: the run failed: " STR_FMT "\n", STR_ARG(why));
	return 1;
}

int cli_follow(struct cli *cli, const struct uuid *run, int64_t *seen)
{
	char id[UUID_TEXT_SIZE];
	AUTO(arena) arena = { 0 };
	struct following f = { .cli = cli, .seen = seen };
	sse_reader_init(&f.stream, LIMIT_JSON_BYTES, take_event, &f);
	struct str target = str_format(&arena, "/api/runs/" STR_FMT "/stream?after=%lld",
				       STR_ARG(uuid_text(run, id)), (long long)*seen);
	struct local_answer answer;
	struct error error;
	bool good = local_request(cli->socket_path, S("GET"), target, S(""), S(""), &arena,
				  take_bytes, &f, &answer, &error);
	int status = CLI_SERVER_LOST;
	if (good && answer.status == 404) {
		fail(&error, ERROR_NOT_FOUND, "no run " STR_FMT, STR_ARG(uuid_text(run, id)));
		status = cli_fail(&error);
	} else if (f.finished || good) {
		/* A stream that ends in order is that of a run that has ended, told or not. */
		status = print_result(cli, run);
	}
	sse_reader_done(&f.stream);
	return status;
}
