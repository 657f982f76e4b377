/* api/api_agents.c -- the agent registry: one document per agent, in the run, runtime or graph
 * vocabulary.
 *
 * The lists of the runtime and graph vocabularies have no cursor member, so every list carries the
 * next page in the Link header; the run vocabulary has it in the body, too.
 */
#include <stdlib.h>

#include "active/agent_configuration.h"
#include "active/executor_jobs.h"
#include "api/api_documents.h"
#include "api/read_job.h"
#include "contract/graph_types.h"
#include "contract/run_agent_types.h"
#include "contract/run_resolved_types.h"
#include "document/stored_document.h"
#include "views/view_agent.h"

enum agent_view { AGENT_RUN, AGENT_RUNTIME, AGENT_GRAPH, AGENT_VIEWS };

static const struct str view_names[AGENT_VIEWS] = { { "run", 3 },
						    { "runtime", 7 },
						    { "graph", 5 } };

static const struct api_documents_answer agent_answer = { DOCUMENT_AGENT, { "/api/agents/", 12 } };

struct agent_read {
	struct executor_read read; /* first */
	struct api *api;
	uint64_t exchange;
	enum agent_view view;
	struct str name, had; /* of one agent; had: If-None-Match */
	struct str after;     /* of a page: name of the last agent before it */
	int64_t limit;
	int64_t revision;
	struct str text, next; /* next: Link header, "" on the last page */
	struct error error;
};

static bool view_of(const struct api_call *call, enum agent_view unless, enum agent_view *out_view,
		    struct error *error)
{
	struct str said = api_query(call, S("view"));
	*out_view = unless;
	if (said.size == 0)
		return true;
	for (size_t i = 0; i < COUNT(view_names); i++)
		if (str_equal(view_names[i], said)) {
			*out_view = (enum agent_view)i;
			return true;
		}
	return fail(error, ERROR_USAGE,
		    "unknown view \"" STR_FMT "\" of agents; expected one of run, runtime, graph",
		    STR_ARG(str_head(said, LIMIT_QUOTE_BYTES)));
}

static struct agent_read *read_new(struct api_call *call)
{
	struct agent_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->api = call->api;
	r->exchange = call->exchange;
	return r;
}

static void read_free(struct agent_read *r)
{
	arena_done(&r->read.arena);
	free(r);
}

static void refuse(struct agent_read *r)
{
	api_reply_error(r->api, r->exchange, &r->error, NULL);
	read_free(r);
}

/* ---- the list ---------------------------------------------------------------------- */

static struct str print_page(const struct agent_read *r, const struct run_agent *items,
			     size_t count, struct str cursor, struct arena *arena)
{
	if (r->view == AGENT_RUNTIME) {
		struct runtime_agent_info *infos =
			arena_array(arena, struct runtime_agent_info, count);
		for (size_t i = 0; i < count; i++)
			infos[i] = *view_agent_info(&items[i], arena);
		struct runtime_list_agents_response *page = runtime_list_agents_response_new(arena);
		SET(page, agents, ((struct runtime_agent_info_list){ infos, count }));
		return runtime_list_agents_response_text(page, arena);
	}
	if (r->view == AGENT_GRAPH) {
		struct graph_agent *agents = arena_array(arena, struct graph_agent, count);
		for (size_t i = 0; i < count; i++)
			agents[i] = *view_agent_graph(&items[i], arena);
		struct run_graph_agents *page = run_graph_agents_new(arena);
		SET(page, agents, ((struct graph_agent_list){ agents, count }));
		return run_graph_agents_text(page, arena);
	}
	struct run_agent_page *page = run_agent_page_new(arena);
	SET(page, items, ((struct run_agent_list){ items, count }));
	if (cursor.size > 0)
		SET(page, cursor, cursor);
	return run_agent_page_text(page, arena);
}

static void list_work(struct executor_read *read, struct store_reader *reader)
{
	struct agent_read *r = (struct agent_read *)read;
	struct arena *arena = &read->arena;
	struct store_document_page page;
	if (!reader->ops->list_documents(reader, document_kind_name(DOCUMENT_AGENT), r->after,
					 (size_t)r->limit, arena, &page, &r->error))
		return;
	struct run_agent *items = arena_array(arena, struct run_agent, page.count);
	for (size_t i = 0; i < page.count; i++) {
		const struct run_agent *agent =
			document_read_stored(DOCUMENT_AGENT, page.at[i].body, arena, &r->error);
		if (agent == NULL)
			return;
		items[i] = *agent;
	}
	struct str cursor = page.count == (size_t)r->limit ? page.at[page.count - 1].name : S("");
	r->text = print_page(r, items, page.count, cursor, arena);
	if (cursor.size > 0)
		r->next = str_format(arena,
				     "</api/agents?view=" STR_FMT "&limit=%lld&cursor=" STR_FMT
				     ">; rel=\"next\"",
				     STR_ARG(view_names[r->view]), (long long)r->limit,
				     STR_ARG(cursor));
}

static void list_done(struct executor_read *read)
{
	struct agent_read *r = (struct agent_read *)read;
	const struct http_header headers[] = { { S("Content-Type"), S("application/json") },
					       { S("Link"), r->next } };
	if (r->error.code != ERROR_NONE) {
		refuse(r);
		return;
	}
	api_reply(r->api, r->exchange, 200, headers, r->next.size > 0 ? 2 : 1, r->text);
	read_free(r);
}

void api_agent_list(struct api_call *call)
{
	struct agent_read *r = read_new(call);
	r->after = str_copy(&r->read.arena, api_query(call, S("cursor")));
	if (!view_of(call, AGENT_RUNTIME, &r->view, &r->error) ||
	    !api_query_int(call, S("limit"), 1, LIMIT_PAGE_ITEMS, 100, &r->limit, &r->error)) {
		refuse(r);
		return;
	}
	r->read.work = list_work;
	r->read.done = list_done;
	executor_read(call->api->settings.executor, &r->read);
}

/* ---- one --------------------------------------------------------------------------- */

static void one_work(struct executor_read *read, struct store_reader *reader)
{
	struct agent_read *r = (struct agent_read *)read;
	struct arena *arena = &read->arena;
	const void *value;
	if (!stored_document_read(reader, DOCUMENT_AGENT, r->name, arena, &value, &r->revision,
				  &r->error))
		return;
	if (value == NULL)
		fail(&r->error, ERROR_NOT_FOUND, "there is no agent called " STR_FMT,
		     STR_ARG(str_head(r->name, LIMIT_NAME_BYTES)));
	else if (r->view == AGENT_RUNTIME)
		r->text = runtime_agent_info_text(view_agent_info(value, arena), arena);
	else
		r->text = graph_agent_text(view_agent_graph(value, arena), arena);
}

static void one_done(struct executor_read *read)
{
	struct agent_read *r = (struct agent_read *)read;
	if (r->error.code != ERROR_NONE) {
		refuse(r);
		return;
	}
	struct str etag = str_format(&read->arena, "\"%lld\"", (long long)r->revision);
	api_documents_reply(r->api, r->exchange, 200, etag, S(""), r->had, r->text);
	read_free(r);
}

void api_agent_read(struct api_call *call)
{
	enum agent_view view;
	struct error error;
	if (!view_of(call, AGENT_RUN, &view, &error)) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	if (view == AGENT_RUN) {
		api_documents_send(call, &agent_answer, api_name(call, S("name")));
		return;
	}
	struct agent_read *r = read_new(call);
	r->view = view;
	r->name = str_copy(&r->read.arena, api_name(call, S("name")));
	r->had = str_copy(&r->read.arena, http_header(call->request, S("If-None-Match")));
	r->read.work = one_work;
	r->read.done = one_done;
	executor_read(call->api->settings.executor, &r->read);
}

/* ---- as a run would have it ---------------------------------------------------------- */

struct resolved_read {
	struct api_read_job answer; /* first */
	struct str name, profile;
};

static void resolved_work(struct executor_read *read, struct store_reader *reader)
{
	struct resolved_read *r = (struct resolved_read *)read;
	const struct run_resolved_agent *agent;
	if (executor_agent_configuration(read->executor, reader, r->name, r->profile, &read->arena,
					 &agent, &r->answer.error))
		r->answer.text = run_resolved_agent_text(agent, &read->arena);
}

void api_agent_resolved(struct api_call *call)
{
	struct resolved_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->name = str_copy(&r->answer.read.arena, api_name(call, S("name")));
	r->profile = str_copy(&r->answer.read.arena, api_query(call, S("profile")));
	api_read_job_begin(&r->answer, resolved_work);
}

/* ---- changing ---------------------------------------------------------------------- */

/* False after replying: an option that the driver does not take fails every start. */
static bool check_options(struct api_call *call, const struct run_agent *agent)
{
	struct problems problems = { .arena = call->arena };
	struct error error;
	executor_agent_check(call->api->settings.executor, agent, call->arena, &problems);
	if (problems.count == 0)
		return true;
	problems_fail(&problems, &error);
	api_reply_error(call->api, call->exchange, &error, &problems);
	return false;
}

void api_agent_create(struct api_call *call, const struct run_agent *body)
{
	if (!check_options(call, body))
		return;
	api_documents_change(call, &agent_answer, body->name, 0, run_agent_text(body, call->arena));
}

void api_agent_replace(struct api_call *call, const struct run_agent *body)
{
	struct error error;
	int64_t revision;
	if (!api_documents_expected(call, &revision, &error))
		api_reply_error(call->api, call->exchange, &error, NULL);
	else if (check_options(call, body))
		api_documents_change(call, &agent_answer, api_name(call, S("name")), revision,
				     run_agent_text(body, call->arena));
}

void api_agent_delete(struct api_call *call)
{
	struct error error;
	int64_t revision;
	if (!api_documents_expected(call, &revision, &error))
		api_reply_error(call->api, call->exchange, &error, NULL);
	else
		api_documents_change(call, &agent_answer, api_name(call, S("name")), revision,
				     S(""));
}
