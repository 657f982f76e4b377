/* api/api_tools.c -- the list of tools, and the trust in custom tools.
 *
 * The list is computed on a reader thread, because custom tools are read from files and their
 * programs are hashed.
 */
#include "active/executor_jobs.h"
#include "api/api_documents.h"
#include "api/read_job.h"
#include "document/documents.h"
#include "contract/describe.h"
#include "tool/tool_schema.h"

/* Prefix of references to other types in a schema. */
#define SCHEMAS S("/openapi.json#/components/schemas/")

static const struct json *tree_of(struct buf *text, struct arena *arena)
{
	const struct json *json;
	struct error error;
	bool good = json_read(str_copy(arena, buf_str(text)), arena, &json, &error);
	require(good);
	return json;
}

static const struct json *schema_of(const struct type *type, bool input, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	if (type == NULL) {
		buf_add(&text, S("{\"type\":\"object\"}"));
	} else if (input) {
		describe_schema_input(type, SCHEMAS, &writer);
	} else {
		describe_schema(type, SCHEMAS, &writer);
	}
	return tree_of(&text, arena);
}

/* The effect class under the configured isolation: without a sandbox, no effect is contained. */
static enum run_effect_class class_now(const struct api *api, enum run_effect_class class)
{
	return class == RUN_CLASS_CONTAINED && !api->settings.contained ? RUN_CLASS_ONCE : class;
}

static struct run_tool_item built_in(const struct api *api, const struct tool *tool,
				     struct arena *arena)
{
	struct run_tool_item *item = run_tool_item_new(arena);
	SET(item, name, str_from_c(tool->name));
	SET(item, text, str_from_c(tool->text));
	bool reaches = api->settings.networked && tool->child;
	SET(item, class,
	    reaches && tool->class == RUN_CLASS_CONTAINED ? RUN_CLASS_ONCE
							  : class_now(api, tool->class));
	SET(item, risk, tool->risk);
	SET(item, timeout_seconds, tool_timeout_seconds(tool));
	SET(item, custom, false);
	SET(item, inputs, schema_of(tool->inputs == NULL ? NULL : tool->inputs(), true, arena));
	SET(item, parameters, tool_parameters(tool, arena));
	if (tool->outputs != NULL)
		SET(item, outputs, schema_of(tool->outputs(), false, arena));
	SET(item, trusted, true);
	return *item;
}

static struct run_tool_item custom(const struct api *api, const struct custom_tool *tool,
				   struct arena *arena)
{
	struct run_tool_item *item = run_tool_item_new(arena);
	const struct run_custom_tool *definition = tool->definition;
	SET(item, name, tool->name);
	SET(item, text, definition == NULL ? S("") : definition->description);
	SET(item, class, class_now(api, definition == NULL ? RUN_CLASS_ONCE : definition->class));
	SET(item, risk, tool_custom_risk(tool));
	SET(item, timeout_seconds, tool_custom_timeout_seconds(tool));
	SET(item, custom, true);
	SET(item, inputs, definition == NULL ? schema_of(NULL, true, arena) : definition->inputs);
	SET(item, parameters, tool_custom_parameters(tool, arena));
	SET(item, trusted, tool->why.code == ERROR_NONE);
	if (tool->why.code != ERROR_NONE)
		SET(item, reason, str_copy(arena, str_from_c(tool->why.text)));
	SET(item, definition, tool->definition_hash);
	if (definition != NULL)
		SET(item, program, tool->program_hash);
	return *item;
}

static void list_work(struct executor_read *read, struct store_reader *reader)
{
	struct api_read_job *r = (struct api_read_job *)read;
	struct arena *arena = &read->arena;
	struct custom_tools *customs = r->api->settings.customs;
	struct custom_tool *found;
	struct error error;
	(void)reader;
	size_t more = custom_tools_list(customs, arena, &found), count = 0;
	struct run_tool_item *items =
		arena_array(arena, struct run_tool_item, tool_table.count + more);
	for (size_t i = 0; i < tool_table.count; i++)
		items[count++] = built_in(r->api, tool_table.at[i], arena);
	for (size_t i = 0; i < more; i++) {
		struct custom_tool tool;
		if (custom_tools_read(customs, found[i].name, arena, &tool, &error))
			items[count++] = custom(r->api, &tool, arena);
	}
	struct run_tool_list *answer = run_tool_list_new(arena);
	SET(answer, items, ((struct run_tool_item_list){ items, count }));
	r->text = run_tool_list_text(answer, arena);
}

void api_tool_list(struct api_call *call)
{
	struct api_read_job *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	api_read_job_begin(r, list_work);
}

/* ---- trust ------------------------------------------------------------------------- */

struct trust_change {
	struct custom_tools *customs;
	struct str name, by;
	bool has_definition, has_program;
	struct hash definition, program; /* hashes that the caller has reviewed */
	int64_t now;
};

static bool check_expected_hashes(const struct trust_change *t, const struct custom_tool *tool,
				  struct error *error)
{
	if ((t->has_definition && !hash_equal(&t->definition, &tool->definition_hash)) ||
	    (t->has_program && !hash_equal(&t->program, &tool->program_hash)))
		return fail(error, ERROR_CONFLICT,
			    "tool " STR_FMT " has changed since it was reviewed; review it again",
			    STR_ARG(t->name));
	return true;
}

static bool compose(void *context, struct store_reader *reader, struct arena *arena,
		    struct documents_changes *out_changes, struct problems *problems,
		    struct error *error)
{
	const struct trust_change *t = context;
	struct custom_tool tool;
	(void)reader;
	(void)problems;
	if (!custom_tools_read(t->customs, t->name, arena, &tool, error))
		return false;
	/* Missing trust is what this request changes; any other defect remains an error. */
	if (tool.why.code != ERROR_NONE && !tool.untrusted) {
		*error = tool.why;
		return false;
	}
	if (!check_expected_hashes(t, &tool, error))
		return false;
	struct run_trust *trust = run_trust_new(arena);
	SET(trust, name, tool.name);
	SET(trust, definition, tool.definition_hash);
	SET(trust, program, tool.program_hash);
	SET(trust, trusted_at, t->now);
	SET(trust, trusted_by, t->by);
	struct documents_change *change = arena_new(arena, struct documents_change);
	*change = (struct documents_change){ .kind = document_kind_name(DOCUMENT_TRUST),
					     .name = tool.name,
					     .revision = -1,
					     .body = run_trust_text(trust, arena) };
	*out_changes = (struct documents_changes){ change, 1 };
	return true;
}

static const struct api_documents_answer trust_answer = { DOCUMENT_TRUST, { "", 0 } };

void api_trust_add(struct api_call *call, const struct run_trust_request *body)
{
	struct trust_change *t = arena_new(call->arena, struct trust_change);
	t->customs = call->api->settings.customs;
	t->name = str_copy(call->arena, body->name);
	t->by = str_copy(call->arena, api_caller_name(call));
	t->has_definition = has(body, definition);
	t->definition = body->definition;
	t->has_program = has(body, program);
	t->program = body->program;
	t->now = platform_wall_us(loop_platform(call->api->settings.loop));
	api_documents_compose(call, &trust_answer, t->name, compose, t);
}

void api_trust_revoke(struct api_call *call)
{
	api_documents_change(call, &trust_answer, api_name(call, S("name")), -2, S(""));
}
