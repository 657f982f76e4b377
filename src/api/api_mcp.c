/* api/api_mcp.c -- MCP servers and tiers as documents.
 *
 * Nothing is started.
 */
#include <stdlib.h>

#include "active/executor_jobs.h"
#include "api/api_documents.h"
#include "api/read_job.h"
#include "contract/graph_types.h"
#include "contract/run_agent_types.h"
#include "contract/run_workflow_types.h"

static const struct api_documents_answer server_answer = { DOCUMENT_MCP_SERVER,
							   { "/api/mcp/servers/", 17 } };
static const struct api_documents_answer tiers_answer = { DOCUMENT_TIERS, { "", 0 } };

/* ---- MCP servers ------------------------------------------------------------------- */

struct server_list {
	struct api_read_job answer; /* first */
	struct str after;
	int64_t limit;
};

static void list_work(struct executor_read *read, struct store_reader *reader)
{
	struct server_list *r = (struct server_list *)read;
	struct arena *arena = &read->arena;
	struct store_document_page page;
	if (!reader->ops->list_documents(reader, document_kind_name(DOCUMENT_MCP_SERVER), r->after,
					 (size_t)r->limit, arena, &page, &r->answer.error))
		return;
	struct graph_mcp_server *items = arena_array(arena, struct graph_mcp_server, page.count);
	for (size_t i = 0; i < page.count; i++) {
		const struct graph_mcp_server *server = document_read_stored(
			DOCUMENT_MCP_SERVER, page.at[i].body, arena, &r->answer.error);
		if (server == NULL)
			return;
		items[i] = *server;
	}
	struct run_mcp_server_page *out = run_mcp_server_page_new(arena);
	SET(out, items, ((struct graph_mcp_server_list){ items, page.count }));
	if (page.count == (size_t)r->limit)
		SET(out, cursor, page.at[page.count - 1].name);
	r->answer.text = run_mcp_server_page_text(out, arena);
}

void api_mcp_server_list(struct api_call *call)
{
	struct error error;
	int64_t limit;
	if (!api_query_int(call, S("limit"), 1, LIMIT_PAGE_ITEMS, 100, &limit, &error)) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	struct server_list *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->after = str_copy(&r->answer.read.arena, api_query(call, S("cursor")));
	r->limit = limit;
	api_read_job_begin(&r->answer, list_work);
}

void api_mcp_server_create(struct api_call *call, const struct graph_mcp_server *body)
{
	api_documents_change(call, &server_answer, body->name, DOCUMENTS_NEW,
			     graph_mcp_server_text(body, call->arena));
}

void api_mcp_server_read(struct api_call *call)
{
	api_documents_send(call, &server_answer, api_name(call, S("name")));
}

static void change(struct api_call *call, const struct api_documents_answer *answer,
		   struct str name, struct str body)
{
	struct error error;
	int64_t revision;
	if (!api_documents_expected(call, &revision, &error))
		api_reply_error(call->api, call->exchange, &error, NULL);
	else
		api_documents_change(call, answer, name, revision, body);
}

void api_mcp_server_replace(struct api_call *call, const struct graph_mcp_server *body)
{
	change(call, &server_answer, api_name(call, S("name")),
	       graph_mcp_server_text(body, call->arena));
}

void api_mcp_server_delete(struct api_call *call)
{
	change(call, &server_answer, api_name(call, S("name")), S(""));
}

/* ---- tiers ------------------------------------------------------------------------- */

void api_tiers_read(struct api_call *call)
{
	api_documents_send(call, &tiers_answer, document_kind_name(DOCUMENT_TIERS));
}

void api_tiers_replace(struct api_call *call, const struct run_tiers *body)
{
	change(call, &tiers_answer, document_kind_name(DOCUMENT_TIERS),
	       run_tiers_text(body, call->arena));
}

void api_tiers_delete(struct api_call *call)
{
	change(call, &tiers_answer, document_kind_name(DOCUMENT_TIERS), S(""));
}
