/* api/api_workflow_versions.c -- the versions of stored workflows, and their differences. */
#include "api/read_job.h"
#include "api/workflow_check.h"
#include "base/text_diff.h"
#include "contract/run_workflow_types.h"
#include "document/definition_registry.h"

struct versions_read {
	struct api_read_job answer; /* first */
	struct str name;
	int64_t before, limit; /* of a page */
	int64_t version, diff; /* of one version; diff 0 = none */
};

static struct versions_read *read_new(struct api_call *call)
{
	struct versions_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->name = str_copy(&r->answer.read.arena, api_name(call, S("name")));
	return r;
}

static void refuse(struct api_call *call, const struct error *error)
{
	api_reply_error(call->api, call->exchange, error, NULL);
}

/* The number of the current version; 0 = the workflow is not stored. */
static bool read_current(const struct versions_read *r, struct store_reader *reader,
			 struct arena *arena, int64_t *out_version, struct error *error)
{
	struct definition_found found;
	struct error missing;
	bool exists = definition_registry_find(r->answer.api->settings.definitions, reader, r->name,
					       arena, &found, &missing);
	*out_version = exists ? found.version : 0;
	if (exists || missing.code == ERROR_NOT_FOUND || missing.code == ERROR_FORBIDDEN)
		return true;
	*error = missing;
	return false;
}

static struct runtime_workflow_version describe(const struct run_definition_version *version,
						int64_t current, struct arena *arena)
{
	struct runtime_workflow_version item = { 0 };
	struct hash hash = hash_of(version->yaml_content);
	SET(&item, version, version->version);
	SET(&item, saved_at, version->saved_at);
	SET(&item, saved_by, version->saved_by);
	SET(&item, current, version->version == current);
	SET(&item, deleted, version->deleted);
	if (!version->deleted)
		SET(&item, etag, workflow_etag(&hash, arena));
	SET(&item, bytes, (int64_t)version->yaml_content.size);
	return item;
}

/* ---- the list ---------------------------------------------------------------------- */

static void list_work(struct executor_read *read, struct store_reader *reader)
{
	struct versions_read *r = (struct versions_read *)read;
	struct arena *arena = &read->arena;
	struct error *error = &r->answer.error;
	struct definition_versions found;
	struct definition_found now;
	int64_t current;
	if (!definition_registry_versions(reader, r->name, r->before, (size_t)r->limit, arena,
					  &found, error) ||
	    !read_current(r, reader, arena, &current, error))
		return;
	/* A workflow that was never stored has no versions; an unknown one is an error. */
	if (found.count == 0 && r->before == 0 &&
	    !definition_registry_find(r->answer.api->settings.definitions, reader, r->name, arena,
				      &now, error))
		return;
	struct runtime_workflow_version *items =
		arena_array(arena, struct runtime_workflow_version, found.count);
	for (size_t i = 0; i < found.count; i++)
		items[i] = describe(found.at[i], current, arena);
	struct runtime_workflow_versions *page = runtime_workflow_versions_new(arena);
	SET(page, workflow, r->name);
	SET(page, versions, ((struct runtime_workflow_version_list){ items, found.count }));
	if (found.more)
		SET(page, cursor,
		    str_format(arena, "%lld", (long long)items[found.count - 1].version));
	r->answer.text = runtime_workflow_versions_text(page, arena);
}

void api_workflow_versions(struct api_call *call)
{
	struct error error;
	int64_t limit, before;
	if (!api_query_int(call, S("limit"), 1, LIMIT_VERSION_PAGE, 50, &limit, &error) ||
	    !api_query_int(call, S("cursor"), 1, INT32_MAX, 0, &before, &error)) {
		refuse(call, &error);
		return;
	}
	struct versions_read *r = read_new(call);
	r->limit = limit;
	r->before = before;
	api_read_job_begin(&r->answer, list_work);
}

/* ---- one version ------------------------------------------------------------------- */

static bool read_version(const struct versions_read *r, struct store_reader *reader, int64_t number,
			 struct arena *arena, const struct run_definition_version **out_version,
			 struct error *error)
{
	if (!definition_registry_version(reader, r->name, number, arena, out_version, error))
		return false;
	return *out_version != NULL ||
	       fail(error, ERROR_NOT_FOUND, "workflow " STR_FMT " has no version %lld",
		    STR_ARG(str_head(r->name, LIMIT_NAME_BYTES)), (long long)number);
}

static void version_work(struct executor_read *read, struct store_reader *reader)
{
	struct versions_read *r = (struct versions_read *)read;
	struct arena *arena = &read->arena;
	struct error *error = &r->answer.error;
	const struct run_definition_version *version, *other;
	int64_t current;
	if (!read_version(r, reader, r->version, arena, &version, error) ||
	    !read_current(r, reader, arena, &current, error))
		return;
	struct runtime_workflow_version item = describe(version, current, arena);
	SET(&item, workflow, version->workflow);
	SET(&item, yaml_content, version->yaml_content);
	if (r->diff > 0) {
		if (!read_version(r, reader, r->diff, arena, &other, error))
			return;
		SET(&item, diff_from, r->diff);
		SET(&item, diff,
		    text_diff(other->yaml_content, version->yaml_content,
			      str_format(arena, "version %lld", (long long)r->diff),
			      str_format(arena, "version %lld", (long long)r->version), arena));
	}
	r->answer.text = runtime_workflow_version_text(&item, arena);
}

void api_workflow_version(struct api_call *call)
{
	struct error error;
	struct str number = api_name(call, S("version"));
	int64_t version, diff;
	if (!str_to_int(number, &version) || version < 1 || version > INT32_MAX) {
		fail(&error, ERROR_NOT_FOUND,
		     "a version is a number from 1 on, not \"" STR_FMT "\"",
		     STR_ARG(str_head(number, LIMIT_QUOTE_BYTES)));
		refuse(call, &error);
		return;
	}
	if (!api_query_int(call, S("diff"), 1, INT32_MAX, 0, &diff, &error)) {
		refuse(call, &error);
		return;
	}
	struct versions_read *r = read_new(call);
	r->version = version;
	r->diff = diff;
	api_read_job_begin(&r->answer, version_work);
}
