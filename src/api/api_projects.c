/* api/api_projects.c -- the trust in the workflows of projects.
 *
 * A project's folder is part of a repository, so its workflows are somebody else's code: a server
 * uses one only while its text has the hash that an admin approved.  Only the owner of the data
 * folder can name folders of the machine, so trust is given through baton.sock alone.
 */
#include "api/api_documents.h"
#include "api/read_job.h"
#include "contract/run_workflow_types.h"
#include "document/definition_registry.h"

static const struct api_documents_answer project_answer = { DOCUMENT_PROJECT, { "", 0 } };

static void list_work(struct executor_read *read, struct store_reader *reader)
{
	struct api_read_job *r = (struct api_read_job *)read;
	struct arena *arena = &read->arena;
	struct store_document_page page;
	if (!reader->ops->list_documents(reader, document_kind_name(DOCUMENT_PROJECT), S(""),
					 LIMIT_PROJECTS, arena, &page, &r->error))
		return;
	struct run_project *items = arena_array(arena, struct run_project, page.count);
	for (size_t i = 0; i < page.count; i++) {
		const struct run_project *project =
			document_read_stored(DOCUMENT_PROJECT, page.at[i].body, arena, &r->error);
		if (project == NULL)
			return;
		items[i] = *project;
	}
	struct run_project_page *answer = run_project_page_new(arena);
	SET(answer, items, ((struct run_project_list){ items, page.count }));
	r->text = run_project_page_text(answer, arena);
}

void api_project_list(struct api_call *call)
{
	struct api_read_job *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	api_read_job_begin(r, list_work);
}

struct project_change {
	struct str path, by;
	struct uuid id;
	bool reviewed; /* the caller sent the hashes that were reviewed */
	struct hash_map expected;
	int64_t now;
};

static bool check_reviewed(const struct project_change *change,
			   const struct project_workflow *workflows, size_t count,
			   struct error *error)
{
	bool same = change->expected.count == count;
	for (size_t i = 0; same && i < count; i++) {
		bool found = false;
		for (size_t k = 0; k < change->expected.count; k++)
			found = found ||
				(str_equal(change->expected.at[k].key, workflows[i].name) &&
				 hash_equal(&change->expected.at[k].value, &workflows[i].hash));
		same = found;
	}
	return same || !change->reviewed ||
	       fail(error, ERROR_CONFLICT,
		    "the workflows of the project have changed since they were reviewed; review "
		    "them again");
}

static bool compose(void *context, struct store_reader *reader, struct arena *arena,
		    struct documents_changes *out_changes, struct problems *problems,
		    struct error *error)
{
	const struct project_change *change = context;
	struct project_workflow *workflows;
	size_t count;
	(void)reader;
	(void)problems;
	if (!definition_registry_project(str_c(arena, change->path), arena, &workflows, &count,
					 error) ||
	    !check_reviewed(change, workflows, count, error))
		return false;
	struct hash_entry *entries = arena_array(arena, struct hash_entry, count);
	for (size_t i = 0; i < count; i++)
		entries[i] = (struct hash_entry){ workflows[i].name, workflows[i].hash };
	struct run_project *project = run_project_new(arena);
	SET(project, id, change->id);
	SET(project, path, change->path);
	SET(project, workflows, ((struct hash_map){ entries, count }));
	SET(project, trusted_at, change->now);
	SET(project, trusted_by, change->by);
	struct documents_change *only = arena_new(arena, struct documents_change);
	char id[UUID_TEXT_SIZE];
	*only = (struct documents_change){ .kind = document_kind_name(DOCUMENT_PROJECT),
					   .name = str_copy(arena, uuid_text(&change->id, id)),
					   .revision = DOCUMENTS_ANY,
					   .body = run_project_text(project, arena) };
	*out_changes = (struct documents_changes){ only, 1 };
	return true;
}

void api_project_trust(struct api_call *call, const struct run_project_request *body)
{
	struct project_change *change = arena_new(call->arena, struct project_change);
	const struct str parts[] = { S("project"), body->path };
	struct error error;
	char id[UUID_TEXT_SIZE];
	if (!call->request->local || !str_starts(body->path, S("/"))) {
		if (!call->request->local)
			fail(&error, ERROR_FORBIDDEN,
			     "projects can be trusted only through baton.sock, by the owner of the "
			     "data folder: run baton trust --project FOLDER");
		else
			fail(&error, ERROR_INVALID, "the path of a project must be absolute");
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	change->path = str_copy(call->arena, body->path);
	change->by = str_copy(call->arena, api_caller_name(call));
	change->id = uuid_derive(parts, COUNT(parts));
	change->reviewed = has(body, workflows);
	if (change->reviewed)
		change->expected = body->workflows;
	change->now = platform_wall_us(loop_platform(call->api->settings.loop));
	api_documents_compose(call, &project_answer, uuid_text(&change->id, id), compose, change);
}

void api_project_revoke(struct api_call *call)
{
	char id[UUID_TEXT_SIZE];
	api_documents_change(call, &project_answer, uuid_text(&call->id, id), -2, S(""));
}
