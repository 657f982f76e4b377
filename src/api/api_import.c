/* api/api_import.c -- a folder of another program becomes agents, workflows and settings, all of it or nothing. */
#include "api/import.h"

#include <stdlib.h>

#include "active/workflow_list.h"
#include "api/workflow_item.h"
#include "base/yaml.h"
#include "contract/run_agent_types.h"
#include "document/definition_registry.h"

/* ---- problems ---------------------------------------------------------------------- */

static void note(const struct import *import, struct run_import_problem *list, size_t *count,
		 struct str file, uint32_t line, uint32_t column, struct str text)
{
	if (*count >= LIMIT_PROBLEMS)
		return;
	struct run_import_problem *problem = &list[(*count)++];
	*problem = *run_import_problem_new(import->arena);
	SET(problem, file, file);
	SET(problem, text, text);
	if (line == 0)
		return;
	SET(problem, line, line);
	SET(problem, column, column);
}

void import_problem(struct import *import, struct str file, const struct json *place,
		    const char *format, ...)
{
	va_list list;
	va_start(list, format);
	struct str text = str_format_list(import->arena, format, list);
	va_end(list);
	note(import, import->problems, &import->problem_count, file,
	     place == NULL ? 0 : place->line, place == NULL ? 0 : place->column, text);
}

void import_warn(struct import *import, struct str file, const struct json *place,
		 const char *format, ...)
{
	va_list list;
	va_start(list, format);
	struct str text = str_format_list(import->arena, format, list);
	va_end(list);
	note(import, import->warnings, &import->warning_count, file,
	     place == NULL ? 0 : place->line, place == NULL ? 0 : place->column, text);
}

void import_problems(struct import *import, struct str file, const struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *one = &problems->at[i];
		note(import, import->problems, &import->problem_count, file, one->line, one->column,
		     str_format(import->arena, STR_FMT "%s" STR_FMT, STR_ARG(one->pointer),
				one->pointer.size > 0 ? ": " : "", STR_ARG(one->text)));
	}
}

const struct json *import_tree(struct import *import, struct str file, struct str text)
{
	const struct json *tree;
	struct error error;
	if (text.size > LIMIT_YAML_BYTES) {
		import_problem(import, file, NULL, "the file has %zu bytes; the limit is %d",
			       text.size, LIMIT_YAML_BYTES);
		return NULL;
	}
	if (yaml_read(text, import->arena, &tree, &error))
		return tree;
	const struct json place = { .line = error.line, .column = error.column };
	import_problem(import, file, &place, "%s", error.text);
	return NULL;
}

/* ---- objects ----------------------------------------------------------------------- */

static void add_item(struct import *import, struct str kind, struct str name, const char *action,
		     struct str file)
{
	struct run_import_item *item = &import->items[import->item_count++];
	*item = *run_import_item_new(import->arena);
	SET(item, kind, kind);
	SET(item, name, name);
	SET(item, action, str_from_c(action));
	SET(item, file, file);
}

static bool has_room(struct import *import, struct str file, size_t more)
{
	if (import->change_count + more <= LIMIT_DOCUMENT_CHANGES &&
	    import->item_count < LIMIT_DOCUMENT_CHANGES)
		return true;
	import_problem(import, file, NULL,
		       "an import changes at most %d documents, and a workflow is two; import the "
		       "folder in parts",
		       LIMIT_DOCUMENT_CHANGES);
	return false;
}

static bool is_twice(struct import *import, struct str kind, struct str name, struct str file)
{
	for (size_t i = 0; i < import->item_count; i++)
		if (str_equal(import->items[i].kind, kind) &&
		    str_equal(import->items[i].name, name)) {
			import_problem(
				import, file, NULL,
				"there is already a " STR_FMT " called " STR_FMT " in " STR_FMT,
				STR_ARG(kind), STR_ARG(name), STR_ARG(import->items[i].file));
			return true;
		}
	return false;
}

void import_document(struct import *import, enum document_kind kind, struct str name,
		     struct str body, struct str file)
{
	struct store_document row;
	struct str word = document_kind_name(kind);
	bool found;
	if (import->error.code != ERROR_NONE || is_twice(import, word, name, file) ||
	    !has_room(import, file, 1))
		return;
	if (!import->reader->ops->read_document(import->reader, word, name, import->arena, &row,
						&found, &import->error))
		return;
	bool same = found && str_equal(row.body, body);
	add_item(import, word, name, same ? "unchanged" : found ? "changed" : "created", file);
	if (!same)
		import->changes[import->change_count++] =
			(struct documents_change){ .kind = word,
						   .name = name,
						   .revision = found ? row.revision : DOCUMENTS_NEW,
						   .body = body };
}

void import_workflow(struct import *import, struct str name, struct str yaml, struct str file)
{
	struct definition_found found;
	struct error missing;
	struct documents_changes changes;
	const struct workflow_saving saving = { name, yaml, import->by, import->now };
	if (import->error.code != ERROR_NONE || is_twice(import, S("workflow"), name, file) ||
	    !has_room(import, file, 2))
		return;
	bool stored = definition_registry_find(import->api->settings.definitions, import->reader,
					       name, import->arena, &found, &missing) &&
		      found.source == DEFINITION_STORED;
	bool same = stored && str_equal(found.yaml, yaml);
	add_item(import, S("workflow"), name,
		 same     ? "unchanged"
		 : stored ? "changed"
			  : "created",
		 file);
	if (same || !workflow_version_changes(&saving, import->reader, import->arena, &changes,
					      &import->error))
		return;
	for (size_t i = 0; i < changes.count; i++)
		import->changes[import->change_count++] = changes.at[i];
}

void import_agent(struct import *import, const struct run_agent *agent, const struct json *tools,
		  struct str file)
{
	struct arena *arena = import->arena;
	struct run_agent *copy = arena_copy(arena, agent, sizeof(*agent));
	struct str *known = arena_array(arena, struct str, agent->tools.count);
	struct str *others = arena_array(arena, struct str, agent->tools.count);
	size_t known_count = 0, other_count = 0;
	for (size_t i = 0; i < agent->tools.count; i++) {
		if (executor_knows_tool(import->api->settings.executor, import->reader,
					agent->tools.at[i])) {
			known[known_count++] = agent->tools.at[i];
			continue;
		}
		others[other_count++] = agent->tools.at[i];
		import_warn(import, file, json_item(tools, i),
			    "tool " STR_FMT " of agent " STR_FMT
			    " is not known; it is kept as unresolved and not offered to the agent "
			    "until an MCP server has it",
			    STR_ARG(agent->tools.at[i]), STR_ARG(agent->name));
	}
	SET(copy, tools, ((struct str_list){ known, known_count }));
	if (other_count > 0)
		SET(copy, unresolved_tools, ((struct str_list){ others, other_count }));
	import_document(import, DOCUMENT_AGENT, agent->name, run_agent_text(copy, arena), file);
	if (import->agent_count < LIMIT_DOCUMENT_CHANGES)
		import->agents[import->agent_count++] = copy;
}

/* ---- requests ---------------------------------------------------------------------- */

static struct str response_of(const struct import *import)
{
	struct run_import_response *response = run_import_response_new(import->arena);
	SET(response, is_valid, import->problem_count == 0);
	SET(response, dry_run, import->dry_run);
	SET(response, items, ((struct run_import_item_list){ import->items, import->item_count }));
	SET(response, problems,
	    ((struct run_import_problem_list){ import->problems, import->problem_count }));
	SET(response, warnings,
	    ((struct run_import_problem_list){ import->warnings, import->warning_count }));
	return run_import_response_text(response, import->arena);
}

static bool compose(void *context, struct store_reader *reader, struct arena *arena,
		    struct documents_changes *out_changes, struct problems *problems,
		    struct error *error)
{
	struct import *import = context;
	(void)problems;
	import->reader = reader;
	import->arena = arena;
	import->changes = arena_array(arena, struct documents_change, LIMIT_DOCUMENT_CHANGES);
	import->items = arena_array(arena, struct run_import_item, LIMIT_DOCUMENT_CHANGES);
	import->problems = arena_array(arena, struct run_import_problem, LIMIT_PROBLEMS);
	import->warnings = arena_array(arena, struct run_import_problem, LIMIT_PROBLEMS);
	import->agents = arena_array(arena, const struct run_agent *, LIMIT_DOCUMENT_CHANGES);
	import->change_count = import->item_count = import->problem_count = 0;
	import->warning_count = import->agent_count = 0;
	import->error = (struct error){ 0 };
	import->layout(import);
	if (import->error.code != ERROR_NONE) {
		*error = import->error;
		return false;
	}
	import->text = response_of(import);
	*out_changes = (struct documents_changes){ 0 };
	if (import->problem_count == 0 && !import->dry_run)
		*out_changes = (struct documents_changes){ import->changes, import->change_count };
	return true;
}

static void imported(void *context, uint64_t unused, const struct executor_reply *reply)
{
	struct import *import = context;
	(void)unused;
	if (reply->error != NULL)
		api_reply_error(import->api, import->exchange, reply->error, reply->problems);
	else
		api_reply_json(import->api, import->exchange, 200,
			       import->text.size > 0
				       ? import->text /* else a repeated request */
				       : S("{\"is_valid\":true,\"dry_run\":false,\"items\":[],"
					   "\"problems\":[],\"warnings\":[]}"));
	arena_done(&import->own);
	free(import);
}

static void begin(struct api_call *call, const struct run_import_request *body,
		  void (*layout)(struct import *import))
{
	struct import *import = calloc(1, sizeof(*import));
	require(import != NULL);
	struct str_entry *files = arena_array(&import->own, struct str_entry, body->files.count);
	for (size_t i = 0; i < body->files.count; i++)
		files[i] = (struct str_entry){ .key = str_copy(&import->own, body->files.at[i].key),
					       .value = str_copy(&import->own,
								 body->files.at[i].value) };
	import->files = (struct str_map){ files, body->files.count };
	import->api = call->api;
	import->exchange = call->exchange;
	import->dry_run = body->dry_run;
	import->by = str_copy(&import->own, api_caller_name(call));
	import->now = platform_wall_us(loop_platform(call->api->settings.loop));
	import->layout = layout;
	const struct documents_composition how = {
		.compose = compose, .context = import, .by = import->by, .key = call->key
	};
	documents_change_composed(call->api->settings.documents, &how, imported, import, 0);
}

void api_import_graph(struct api_call *call, const struct run_import_request *body)
{
	begin(call, body, import_graph);
}

void api_import_runtime(struct api_call *call, const struct run_import_request *body)
{
	begin(call, body, import_runtime);
}
