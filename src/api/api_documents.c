/* api/api_documents.c -- reading and changing documents of any kind.
 *
 * The response to a change is the committed document.  Only a repeated request (the same
 * Idempotency-Key again) reads the document as it is stored now.
 */
#include <stdlib.h>

#include "active/executor_jobs.h"
#include "active/run_commands.h"
#include "api/api_documents.h"
#include "base/buf.h"
#include "document/documents.h"
#include "document/stored_document.h"

/* ---- revisions in headers ---------------------------------------------------------- */

static struct str etag_of(int64_t revision, struct arena *arena)
{
	return str_format(arena, "\"%lld\"", (long long)revision);
}

bool api_documents_expected(const struct api_call *call, int64_t *out_revision, struct error *error)
{
	struct str match = http_header(call->request, S("If-Match"));
	struct str none = http_header(call->request, S("If-None-Match"));
	int64_t revision = -1;
	if (match.size > 0 && none.size > 0)
		return fail(error, ERROR_USAGE, "send If-Match or If-None-Match, not both");
	if (none.size > 0 && !str_equal(none, S("*")))
		return fail(error, ERROR_USAGE,
			    "If-None-Match must be * in a change: the document must not exist yet");
	if (none.size > 0)
		revision = 0;
	if (str_equal(match, S("*")))
		revision = -2;
	else if (match.size > 0 &&
		 (match.size < 3 || !str_starts(match, S("\"")) || !str_ends(match, S("\"")) ||
		  !str_to_int(str_head(str_skip(match, 1), match.size - 2), &revision) ||
		  revision < 0))
		return fail(error, ERROR_USAGE, "If-Match must be one ETag, such as \"3\", or *");
	*out_revision = revision;
	return true;
}

void api_documents_reply(struct api *api, uint64_t exchange, int status, struct str etag,
			 struct str location, struct str had, struct str body)
{
	struct http_header headers[3] = { { S("Content-Type"), S("application/json") },
					  { S("ETag"), etag },
					  { S("Location"), location } };
	size_t count = location.size > 0 ? 3 : 2;
	if (had.size > 0 && (str_equal(had, etag) || str_equal(had, S("*"))))
		api_reply(api, exchange, 304, headers + 1, 1, S(""));
	else
		api_reply(api, exchange, status, headers, count, body);
}

/* Percent-encodes a name as one path segment. */
static struct str escaped(struct str text, struct arena *arena)
{
	AUTO(buf) out = { 0 };
	for (size_t i = 0; i < text.size; i++) {
		char c = text.at[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
		if (plain)
			buf_add_char(&out, c);
		else
			buf_add_format(&out, "%%%02X", (unsigned char)c);
	}
	return str_copy(arena, buf_str(&out));
}

struct str api_documents_location(struct str path, struct str name, struct arena *arena)
{
	return str_format(arena, STR_FMT STR_FMT, STR_ARG(path), STR_ARG(escaped(name, arena)));
}

/* ---- one request ------------------------------------------------------------------- */

struct document_request {
	struct executor_read read; /* first */
	struct api *api;
	uint64_t exchange;
	struct api_documents_answer answer;
	struct str name, had; /* had: If-None-Match of a GET */
	int64_t revision;
	struct str text;
	struct error error;
};

static struct document_request *
request_new(struct api_call *call, const struct api_documents_answer *answer, struct str name)
{
	struct document_request *request = calloc(1, sizeof(*request));
	require(request != NULL);
	request->api = call->api;
	request->exchange = call->exchange;
	request->answer = *answer;
	request->answer.path = str_copy(&request->read.arena, answer->path);
	request->name = str_copy(&request->read.arena, name);
	request->had = S("");
	return request;
}

static void request_free(struct document_request *request)
{
	arena_done(&request->read.arena);
	free(request);
}

static void send_work(struct executor_read *read, struct store_reader *reader)
{
	struct document_request *request = (struct document_request *)read;
	enum document_kind kind = request->answer.kind;
	struct str kind_name = document_kind_name(kind);
	const void *value;
	if (!stored_document_read(reader, kind, request->name, &read->arena, &value,
				  &request->revision, &request->error))
		return;
	if (value == NULL)
		fail(&request->error, ERROR_NOT_FOUND, "there is no " STR_FMT " called " STR_FMT,
		     STR_ARG(kind_name), STR_ARG(str_head(request->name, LIMIT_NAME_BYTES)));
	else
		request->text = contract_text(document_type(kind), value, &read->arena);
}

static void send_done(struct executor_read *read)
{
	struct document_request *request = (struct document_request *)read;
	if (request->error.code != ERROR_NONE)
		api_reply_error(request->api, request->exchange, &request->error, NULL);
	else
		api_documents_reply(request->api, request->exchange, 200,
				    etag_of(request->revision, &read->arena), S(""), request->had,
				    request->text);
	request_free(request);
}

static void send(struct document_request *request)
{
	request->read.work = send_work;
	request->read.done = send_done;
	executor_read(request->api->settings.executor, &request->read);
}

void api_documents_send(struct api_call *call, const struct api_documents_answer *answer,
			struct str name)
{
	struct document_request *request = request_new(call, answer, name);
	request->had =
		str_copy(&request->read.arena, http_header(call->request, S("If-None-Match")));
	send(request);
}

/* ---- changing ---------------------------------------------------------------------- */

static void changed(void *context, uint64_t deletes, const struct executor_reply *reply)
{
	struct document_request *request = context;
	struct arena *arena = &request->read.arena;
	if (reply->error != NULL) {
		api_reply_error(request->api, request->exchange, reply->error, reply->problems);
	} else if (deletes) {
		api_reply(request->api, request->exchange, 204, NULL, 0, S(""));
	} else if (reply->body.size == 0) {
		send(request); /* a repeated request: no body in the reply */
		return;
	} else {
		struct str location = S("");
		if (reply->created && request->answer.path.size > 0)
			location =
				api_documents_location(request->answer.path, request->name, arena);
		api_documents_reply(request->api, request->exchange, location.size > 0 ? 201 : 200,
				    etag_of(reply->revision, arena), location, S(""), reply->body);
	}
	request_free(request);
}

void api_documents_change(struct api_call *call, const struct api_documents_answer *answer,
			  struct str name, int64_t revision, struct str body)
{
	const struct documents_change change = { .kind = document_kind_name(answer->kind),
						 .name = name,
						 .revision = revision,
						 .body = body,
						 .by = api_caller_name(call),
						 .key = call->key };
	documents_change(call->api->settings.documents, &change, changed,
			 request_new(call, answer, name), body.size == 0);
}

void api_documents_compose(struct api_call *call, const struct api_documents_answer *answer,
			   struct str name, documents_compose *compose, void *context)
{
	const struct documents_composition how = { .compose = compose,
						   .context = context,
						   .by = api_caller_name(call),
						   .key = call->key };
	documents_change_composed(call->api->settings.documents, &how, changed,
				  request_new(call, answer, name), false);
}

void api_documents_add_problems(struct problems *problems, struct str pointer,
				const struct problems *of_part)
{
	for (size_t i = 0; i < of_part->count; i++) {
		const struct problem *problem = &of_part->at[i];
		problems_add(problems,
			     str_format(problems->arena, STR_FMT STR_FMT, STR_ARG(pointer),
					STR_ARG(problem->pointer)),
			     0, 0, STR_FMT, STR_ARG(problem->text));
	}
	problems->hidden += of_part->hidden;
}
