/* api/api_profiles.c -- profiles of the pipeline vocabulary, one document per profile. */
#include "active/executor_jobs.h"
#include "api/api_documents.h"
#include "api/merge_patch.h"
#include "api/read_job.h"
#include "contract/pipeline_types.h"
#include "contract/run_settings_types.h"
#include "document/agent_registry.h"
#include "document/documents.h"
#include "document/stored_document.h"

static const struct api_documents_answer profile_answer = { DOCUMENT_PROFILE,
							    { "/api/profiles/", 14 } };

/* ---- reading ----------------------------------------------------------------------- */

struct profile_read {
	struct api_read_job answer; /* first */
	struct str name, agent;     /* of one agent */
	struct str after;           /* of a page */
	int64_t limit;
};

static void list_work(struct executor_read *read, struct store_reader *reader)
{
	struct profile_read *r = (struct profile_read *)read;
	struct arena *arena = &read->arena;
	struct store_document_page page;
	const struct run_selection *selection;
	const void *value;
	if (!stored_document_read(reader, DOCUMENT_SETTINGS, document_kind_name(DOCUMENT_SETTINGS),
				  arena, &value, NULL, &r->answer.error) ||
	    !reader->ops->list_documents(reader, document_kind_name(DOCUMENT_PROFILE), r->after,
					 (size_t)r->limit, arena, &page, &r->answer.error))
		return;
	selection = value;
	struct pipeline_profile *items = arena_array(arena, struct pipeline_profile, page.count);
	for (size_t i = 0; i < page.count; i++) {
		const struct pipeline_profile *profile = document_read_stored(
			DOCUMENT_PROFILE, page.at[i].body, arena, &r->answer.error);
		if (profile == NULL)
			return;
		items[i] = *profile;
	}
	struct run_profile_page *answer = run_profile_page_new(arena);
	SET(answer, items, ((struct pipeline_profile_list){ items, page.count }));
	if (selection != NULL)
		SET(answer, active_profile, selection->active_profile);
	if (page.count == (size_t)r->limit)
		SET(answer, cursor, page.at[page.count - 1].name);
	r->answer.text = run_profile_page_text(answer, arena);
}

void api_profile_list(struct api_call *call)
{
	struct profile_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->after = str_copy(&r->answer.read.arena, api_query(call, S("cursor")));
	if (api_query_int(call, S("limit"), 1, LIMIT_PAGE_ITEMS, 100, &r->limit, &r->answer.error))
		api_read_job_begin(&r->answer, list_work);
	else
		api_read_job_end(&r->answer);
}

void api_profile_read(struct api_call *call)
{
	api_documents_send(call, &profile_answer, api_name(call, S("name")));
}

static void agent_work(struct executor_read *read, struct store_reader *reader)
{
	struct profile_read *r = (struct profile_read *)read;
	const struct pipeline_agent_config *config;
	const void *value;
	if (!stored_document_read(reader, DOCUMENT_PROFILE, r->name, &read->arena, &value, NULL,
				  &r->answer.error))
		return;
	if (value == NULL)
		fail(&r->answer.error, ERROR_NOT_FOUND, "there is no profile called " STR_FMT,
		     STR_ARG(str_head(r->name, LIMIT_NAME_BYTES)));
	else if (agent_registry_profile_agent(reader, value, r->agent, &read->arena, &config,
					      &r->answer.error))
		r->answer.text = pipeline_agent_config_text(config, &read->arena);
}

void api_profile_agent(struct api_call *call)
{
	struct profile_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->name = str_copy(&r->answer.read.arena, api_name(call, S("name")));
	r->agent = str_copy(&r->answer.read.arena, api_name(call, S("agent")));
	api_read_job_begin(&r->answer, agent_work);
}

/* ---- changing ---------------------------------------------------------------------- */

void api_profile_create(struct api_call *call, const struct pipeline_profile *body)
{
	api_documents_change(call, &profile_answer, body->name, 0,
			     pipeline_profile_text(body, call->arena));
}

void api_profile_replace(struct api_call *call, const struct pipeline_profile *body)
{
	struct error error;
	int64_t revision;
	if (!api_documents_expected(call, &revision, &error))
		api_reply_error(call->api, call->exchange, &error, NULL);
	else
		api_documents_change(call, &profile_answer, api_name(call, S("name")), revision,
				     pipeline_profile_text(body, call->arena));
}

void api_profile_delete(struct api_call *call)
{
	struct error error;
	int64_t revision;
	if (!api_documents_expected(call, &revision, &error))
		api_reply_error(call->api, call->exchange, &error, NULL);
	else
		api_documents_change(call, &profile_answer, api_name(call, S("name")), revision,
				     S(""));
}

void api_profile_activate(struct api_call *call)
{
	static const struct api_documents_answer answer = { DOCUMENT_SETTINGS, { "", 0 } };
	struct run_selection *selection = run_selection_new(call->arena);
	SET(selection, active_profile, api_name(call, S("name")));
	api_documents_change(call, &answer, document_kind_name(DOCUMENT_SETTINGS), -1,
			     run_selection_text(selection, call->arena));
}

/* ---- patching ---------------------------------------------------------------------- */

/* The patch as text: the parsed body does not live until patch_compose() runs. */
struct profile_patch {
	struct str name, patch;
	int64_t revision;
};

static bool patch_compose(void *context, struct store_reader *reader, struct arena *arena,
			  struct documents_changes *out_changes, struct problems *problems,
			  struct error *error)
{
	const struct profile_patch *patch = context;
	const struct json *stored, *with;
	struct store_document row;
	bool found;
	if (!reader->ops->read_document(reader, document_kind_name(DOCUMENT_PROFILE), patch->name,
					arena, &row, &found, error) ||
	    !json_read(patch->patch, arena, &with, error) ||
	    (found && !json_read(row.body, arena, &stored, error)))
		return false;
	if (!found)
		return fail(error, ERROR_NOT_FOUND, "there is no profile called " STR_FMT,
			    STR_ARG(patch->name));
	struct documents_change *change = arena_new(arena, struct documents_change);
	*change = (struct documents_change){
		.kind = document_kind_name(DOCUMENT_PROFILE),
		.name = patch->name,
		.revision = patch->revision,
		.body = json_print(arena, merge_patch(stored, with, arena)),
	};
	struct problems found_problems = { .arena = arena };
	if (document_read(DOCUMENT_PROFILE, change->body, arena, &found_problems) == NULL) {
		api_documents_add_problems(problems, S(""), &found_problems);
		return problems_fail(problems, error);
	}
	*out_changes = (struct documents_changes){ change, 1 };
	return true;
}

/* The patch as received: the declared member `name` and all undeclared members. */
static const struct json *patch_tree(const struct run_profile_patch *body, struct arena *arena)
{
	size_t count = body->kept_fields.count;
	struct json_member *members = arena_array(arena, struct json_member, count + 1);
	for (size_t i = 0; i < count; i++)
		members[i] = body->kept_fields.at[i];
	if (has(body, name)) {
		members[count].key = S("name");
		members[count].value.kind = JSON_STRING;
		members[count++].value.as.string = body->name;
	}
	struct json *tree = arena_new(arena, struct json);
	tree->kind = JSON_OBJECT;
	tree->as.object.at = members;
	tree->as.object.count = count;
	return tree;
}

void api_profile_patch(struct api_call *call, const struct run_profile_patch *body)
{
	struct error error;
	struct profile_patch *patch = arena_new(call->arena, struct profile_patch);
	patch->name = str_copy(call->arena, api_name(call, S("name")));
	patch->patch = json_print(call->arena, patch_tree(body, call->arena));
	if (!api_documents_expected(call, &patch->revision, &error))
		api_reply_error(call->api, call->exchange, &error, NULL);
	else
		api_documents_compose(call, &profile_answer, patch->name, patch_compose, patch);
}
