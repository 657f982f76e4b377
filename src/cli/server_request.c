/* cli/server_request.c -- requests to the server, and event streams from it. */
#include "cli/server_request.h"

#include <string.h>

#include "base/limits.h"
#include "net/local_client.h"
#include "net/sse.h"

static struct str headers_of(struct cli *cli, bool body)
{
	AUTO(buf) headers = { 0 };
	if (body)
		buf_add(&headers, S("Content-Type: application/json\r\n"));
	if (body && cli->idempotency_key.size > 0)
		buf_add_format(&headers, "Idempotency-Key: " STR_FMT "\r\n",
			       STR_ARG(cli->idempotency_key));
	if (body && cli->condition.size > 0)
		buf_add_format(&headers, STR_FMT "\r\n", STR_ARG(cli->condition));
	if (cli->api_key != NULL)
		buf_add_format(&headers, "Authorization: Bearer %s\r\n", cli->api_key);
	return str_copy(&cli->arena, buf_str(&headers));
}

/* Converts the server's problem+json into *error; cli_fail() prints its details. */
static bool fail_with_problem(struct cli *cli, const struct json *json, int status,
			      struct error *error)
{
	enum error_code code = ERROR_INTERNAL;
	error_code_from_name(json_text(json_member(json, S("code"))), &code);
	cli->problem = json;
	struct str detail = json_text(json_member(json, S("detail")));
	if (detail.size == 0)
		return fail(error, code, "the server responded with HTTP status %d", status);
	return fail(error, code, STR_FMT, STR_ARG(detail));
}

static bool read_answer(struct cli *cli, const struct local_answer *answer,
			const struct json **out_json, struct error *error)
{
	const struct json *json = NULL;
	if (answer->body.size > 0 && !json_read(answer->body, &cli->arena, &json, error)) {
		fail(error, ERROR_INTERNAL,
		     "%s responded with HTTP status %d and a body that is not JSON", cli->address,
		     answer->status);
		return false;
	}
	if (answer->status >= 400)
		return fail_with_problem(cli, json, answer->status, error);
	*out_json = json;
	return true;
}

static bool request(struct cli *cli, const char *method, struct str target, struct str body,
		    struct local_answer *out_answer, bool *out_lost, struct error *error)
{
	*out_lost = false;
	if (!local_request(cli->address, str_from_c(method), target, headers_of(cli, body.size > 0),
			   body, &cli->arena, NULL, NULL, out_answer, error)) {
		*out_lost = error->code == ERROR_UNAVAILABLE || error->code == ERROR_IO;
		return false;
	}
	cli->server_answered = true;
	return true;
}

bool cli_request(struct cli *cli, const char *method, struct str target, struct str body,
		 const struct json **out_json, bool *out_lost, struct error *error)
{
	struct local_answer answer;
	return request(cli, method, target, body, &answer, out_lost, error) &&
	       read_answer(cli, &answer, out_json, error);
}

int cli_call(struct cli *cli, const char *method, struct str target, struct str body,
	     const struct json **out_json)
{
	struct error error;
	bool lost;
	if (cli_request(cli, method, target, body, out_json, &lost, &error))
		return 0;
	return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
}

bool cli_fetch(struct cli *cli, struct str target, struct str *out_bytes, bool *out_lost,
	       struct error *error)
{
	struct local_answer answer;
	const struct json *json;
	if (!request(cli, "GET", target, S(""), &answer, out_lost, error) ||
	    (answer.status >= 400 && !read_answer(cli, &answer, &json, error)))
		return false;
	*out_bytes = answer.body;
	return true;
}

struct str cli_run_target(struct cli *cli, const struct uuid *run, const char *suffix)
{
	char id[UUID_TEXT_SIZE];
	return str_format(&cli->arena, "/api/runs/" STR_FMT "%s", STR_ARG(uuid_text(run, id)),
			  suffix);
}

struct str cli_step_target(struct cli *cli, const struct uuid *run, struct str step,
			   const char *suffix)
{
	struct str target = cli_run_target(cli, run, "/steps/"), part;
	while (str_cut(&step, '/', &part))
		target = cli_target(cli, str_c(&cli->arena, target), str_c(&cli->arena, part),
				    step.size > 0 ? "/" : suffix);
	return target;
}

void cli_idempotency_key_set(struct cli *cli)
{
	char id[UUID_TEXT_SIZE];
	struct uuid own = uuid_from_random(cli->random);
	cli->idempotency_key = str_copy(&cli->arena, uuid_text(&own, id));
}

struct str cli_target(struct cli *cli, const char *prefix, const char *name, const char *suffix)
{
	AUTO(buf) target = { 0 };
	buf_add(&target, str_from_c(prefix));
	for (; *name != '\0'; name++) {
		bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
			     (*name >= '0' && *name <= '9') || strchr("-._~", *name) != NULL;
		if (plain)
			buf_add_char(&target, *name);
		else
			buf_add_format(&target, "%%%02X", (unsigned char)*name);
	}
	buf_add(&target, str_from_c(suffix));
	return str_copy(&cli->arena, buf_str(&target));
}

struct str cli_query(struct cli *cli, struct str target, const char *name, const char *value)
{
	size_t at;
	if (value == NULL)
		return target;
	struct str before = str_format(&cli->arena, STR_FMT "%c%s=", STR_ARG(target),
				       str_find(target, S("?"), &at) ? '&' : '?', name);
	return cli_target(cli, before.at, value, "");
}

/* ---- responses ------------------------------------------------------------------------- */

struct str cli_text(const struct json *object, const char *name)
{
	return json_text(json_member(object, str_from_c(name)));
}

long long cli_number(const struct json *object, const char *name)
{
	const struct json *member = json_member(object, str_from_c(name));
	return member != NULL && member->kind == JSON_INT ? (long long)member->as.integer : 0;
}

bool cli_is_true(const struct json *object, const char *name)
{
	const struct json *member = json_member(object, str_from_c(name));
	return member != NULL && member->kind == JSON_BOOL && member->as.boolean;
}

/* ---- streams --------------------------------------------------------------------------- */

struct stream_reader {
	cli_event *event;
	cli_tick *tick; /* NULL = no ticks */
	void *context;
	struct sse_reader stream;
	struct buf text; /* the body of an error response */
};

static bool take_event(void *context, struct str id, struct str type, struct str data)
{
	struct stream_reader *reader = context;
	(void)type;
	return reader->event(reader->context, id, data);
}

static bool take_bytes(void *context, int status, struct str bytes)
{
	struct stream_reader *reader = context;
	if (bytes.size == 0)
		return reader->tick(reader->context);
	if (status != 200)
		return buf_add(&reader->text, bytes);
	sse_feed(&reader->stream, bytes);
	return !reader->stream.ended;
}

bool cli_stream(struct cli *cli, struct str target, cli_event *event, cli_tick *tick, void *context,
		bool *out_lost, struct error *error)
{
	struct stream_reader reader = { .event = event,
					.tick = tick,
					.context = context,
					.text = buf_limited(LIMIT_JSON_BYTES) };
	sse_reader_init(&reader.stream, LIMIT_JSON_BYTES, take_event, &reader);
	struct local_answer answer;
	const struct json *ignored;
	struct str headers = headers_of(cli, false);
	bool good = tick == NULL ? local_request(cli->address, S("GET"), target, headers, S(""),
						 &cli->arena, take_bytes, &reader, &answer, error)
				 : local_follow(cli->address, target, headers, LIMIT_TREE_TICK_MS,
						&cli->arena, take_bytes, &reader, &answer, error);
	*out_lost = !good && (error->code == ERROR_UNAVAILABLE || error->code == ERROR_IO);
	if (good) {
		cli->server_answered = true;
		answer.body = str_copy(&cli->arena, buf_str(&reader.text));
		if (answer.status >= 400)
			good = read_answer(cli, &answer, &ignored, error);
	}
	sse_reader_done(&reader.stream);
	buf_done(&reader.text);
	return good;
}
