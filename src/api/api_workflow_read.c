/* api/api_workflow_read.c -- one workflow: its description, its text for an editor, its graph, and
 * what it takes and gives.
 *
 * All of them read the definition that a start would use, whatever its source.
 */
#include <stdlib.h>

#include "api/api_documents.h"
#include "api/read_job.h"
#include "api/workflow_check.h"
#include "api/workflow_item.h"
#include "active/workflow_list.h"
#include "base/yaml.h"
#include "contract/run_workflow_types.h"
#include "views/view_dag.h"

struct workflow_read {
	struct api_read_job answer; /* first */
	struct str name;
	struct str etag; /* "" = none */
	int64_t version; /* ?version=; 0 = the definition in use */
};

static bool find(struct workflow_read *r, struct store_reader *reader,
		 struct definition_found *out_found)
{
	return definition_registry_find(r->answer.api->settings.definitions, reader, r->name,
					&r->answer.read.arena, out_found, &r->answer.error);
}

static void read_done(struct executor_read *read)
{
	struct workflow_read *r = (struct workflow_read *)read;
	if (r->answer.error.code != ERROR_NONE || r->etag.size == 0) {
		api_read_job_end(&r->answer);
		return;
	}
	/* Never 304: newest runs and problems change while the text stays. */
	api_documents_reply(r->answer.api, r->answer.exchange, 200, r->etag, S(""), S(""),
			    r->answer.text);
	executor_discard(read->executor, &read->arena);
	free(r);
}

static struct workflow_read *read_new(struct api *api, uint64_t exchange, struct str name)
{
	struct workflow_read *r = api_read_job_new(api, exchange, sizeof(*r));
	r->name = str_copy(&r->answer.read.arena, name);
	r->etag = S("");
	return r;
}

static struct workflow_read *read_of(struct api_call *call)
{
	return read_new(call->api, call->exchange, api_name(call, S("name")));
}

static void read_begin(struct workflow_read *r, api_read_job_work *work)
{
	r->answer.read.work = work;
	r->answer.read.done = read_done;
	executor_read(r->answer.api->settings.executor, &r->answer.read);
}

/* A mapping of the file that nothing but its readers uses; NULL = there is none. */
static const struct json *declared_in(const struct json *tree, struct str key)
{
	const struct json *value = json_member(tree, key);
	return value != NULL && value->kind == JSON_OBJECT ? value : NULL;
}

/* ---- the workflow ------------------------------------------------------------------ */

static void detail_work(struct executor_read *read, struct store_reader *reader)
{
	struct workflow_read *r = (struct workflow_read *)read;
	struct arena *arena = &read->arena;
	struct definition_found found;
	if (!find(r, reader, &found))
		return;
	struct runtime_workflow_item item =
		executor_workflow_item(read->executor, reader, r->name, found.yaml, arena);
	struct runtime_workflow_detail *detail = runtime_workflow_detail_new(arena);
	r->etag = workflow_etag(&found.hash, arena);
	SET(detail, name, r->name);
	if (has(&item, description))
		SET(detail, description, item.description);
	SET(detail, inputs, item.inputs);
	if (has(&item, problem))
		SET(detail, problem, item.problem);
	SET(detail, source, definition_source_name(found.source));
	SET(detail, shadows, workflow_shadows(&found, arena));
	if (found.path.size > 0)
		SET(detail, path, found.path);
	SET(detail, etag, r->etag);
	if (found.source == DEFINITION_STORED) {
		SET(detail, version, found.version);
		SET(detail, saved_at, found.saved_at);
		SET(detail, saved_by, found.saved_by);
	}
	if (has(&item, experimental))
		SET(detail, experimental, true);
	const struct json *tree = NULL;
	struct error unread;
	if (yaml_read(found.yaml, arena, &tree, &unread)) {
		if (declared_in(tree, S("capabilities")) != NULL)
			SET(detail, capabilities, declared_in(tree, S("capabilities")));
		if (declared_in(tree, S("evaluation")) != NULL)
			SET(detail, evaluation, declared_in(tree, S("evaluation")));
	}
	SET(detail, yaml_content, found.yaml);
	SET(detail, recent_runs, workflow_runs(reader, r->name, arena));
	r->answer.text = runtime_workflow_detail_text(detail, arena);
}

void api_workflow_read(struct api_call *call)
{
	read_begin(read_of(call), detail_work);
}

/* ---- for an editor ----------------------------------------------------------------- */

static void editor_work(struct executor_read *read, struct store_reader *reader)
{
	struct workflow_read *r = (struct workflow_read *)read;
	struct arena *arena = &read->arena;
	struct definition_found found;
	struct workflow_check check;
	if (!find(r, reader, &found))
		return;
	workflow_check(&check, read->executor, reader, r->name, found.yaml, S(""), arena);
	r->etag = workflow_etag(&found.hash, arena);
	r->answer.text = workflow_editor_text(r->name, &found, &check, arena);
}

void api_workflow_editor(struct api_call *call)
{
	read_begin(read_of(call), editor_work);
}

void workflow_editor_send(struct api *api, uint64_t exchange, struct str name)
{
	read_begin(read_new(api, exchange, name), editor_work);
}

/* ---- the graph --------------------------------------------------------------------- */

static bool find_version(struct workflow_read *r, struct store_reader *reader, struct str *out_yaml)
{
	const struct run_definition_version *version;
	struct definition_found found;
	struct error *error = &r->answer.error;
	if (r->version == 0) {
		if (!find(r, reader, &found))
			return false;
		*out_yaml = found.yaml;
		return true;
	}
	if (!definition_registry_version(reader, r->name, r->version, &r->answer.read.arena,
					 &version, error))
		return false;
	if (version == NULL || version->deleted)
		return fail(error, ERROR_NOT_FOUND, "workflow " STR_FMT " has no version %lld",
			    STR_ARG(str_head(r->name, LIMIT_NAME_BYTES)), (long long)r->version);
	*out_yaml = version->yaml_content;
	return true;
}

static void dag_work(struct executor_read *read, struct store_reader *reader)
{
	struct workflow_read *r = (struct workflow_read *)read;
	struct arena *arena = &read->arena;
	struct workflow_check check;
	struct str yaml;
	if (!find_version(r, reader, &yaml))
		return;
	workflow_check(&check, read->executor, reader, r->name, yaml, S(""), arena);
	if (!check.is_valid) {
		problems_fail(&check.problems, &r->answer.error);
		return;
	}
	const struct runtime_dag_response *dag = view_dag(check.graph, arena, &r->answer.error);
	if (dag != NULL)
		r->answer.text = runtime_dag_response_text(dag, arena);
}

void api_workflow_dag(struct api_call *call)
{
	struct error error;
	int64_t version;
	if (!api_query_int(call, S("version"), 1, INT64_MAX / 2, 0, &version, &error)) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	struct workflow_read *r = read_of(call);
	r->version = version;
	read_begin(r, dag_work);
}

/* ---- what it takes and gives ------------------------------------------------------- */

/* The strings of a list, or the keys of an object. */
static struct str_list names_of(const struct json *tree, struct arena *arena)
{
	size_t count = 0;
	if (tree == NULL || (tree->kind != JSON_LIST && tree->kind != JSON_OBJECT))
		return (struct str_list){ 0 };
	size_t room = tree->kind == JSON_LIST ? tree->as.list.count : tree->as.object.count;
	struct str *names = arena_array(arena, struct str, room);
	for (size_t i = 0; i < room; i++) {
		if (tree->kind == JSON_OBJECT)
			names[count++] = tree->as.object.at[i].key;
		else if (tree->as.list.at[i].kind == JSON_STRING)
			names[count++] = tree->as.list.at[i].as.string;
	}
	return (struct str_list){ names, count };
}

static void capabilities_work(struct executor_read *read, struct store_reader *reader)
{
	struct workflow_read *r = (struct workflow_read *)read;
	struct arena *arena = &read->arena;
	struct definition_found found;
	const struct json *tree;
	if (!find(r, reader, &found) || !yaml_read(found.yaml, arena, &tree, &r->answer.error))
		return;
	const struct json *declared = json_member(tree, S("capabilities"));
	struct runtime_workflow_capabilities *capabilities =
		runtime_workflow_capabilities_new(arena);
	static const struct str inputs = { "inputs", 6 }, outputs = { "outputs", 7 };
	const struct json *takes = json_member(declared, inputs);
	const struct json *gives = json_member(declared, outputs);
	SET(capabilities, inputs,
	    names_of(takes != NULL ? takes : json_member(tree, inputs), arena));
	SET(capabilities, outputs,
	    names_of(gives != NULL ? gives : json_member(tree, outputs), arena));
	struct runtime_workflow_capabilities_response *response =
		runtime_workflow_capabilities_response_new(arena);
	SET(response, workflow, r->name);
	SET(response, capabilities, capabilities);
	if (declared_in(tree, S("capabilities")) != NULL)
		SET(response, declared, declared_in(tree, S("capabilities")));
	if (declared_in(tree, S("evaluation")) != NULL)
		SET(response, evaluation, declared_in(tree, S("evaluation")));
	r->answer.text = runtime_workflow_capabilities_response_text(response, arena);
}

void api_workflow_capabilities(struct api_call *call)
{
	read_begin(read_of(call), capabilities_work);
}
