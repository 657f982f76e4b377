/* contract/describe_workflow.c -- JSON Schema of workflow files, for editors and for programs that write them.
 *
 * One document for every dialect; the keys of a file decide which part applies, as they do when it is compiled.
 * The schema says what a file may look like; names, dependencies and expressions are checked by `baton check`.
 */
#include "base/limits.h"
#include "base/map.h"
#include "contract/describe.h"
#include "contract/modules.h"

/* The types that a file can contain, each once. */
struct reached_types {
	struct arena arena;
	struct map names;
	const struct type **at;
	size_t count, room;
};

static void reach(struct reached_types *reached, const struct type *type)
{
	static char mark;
	bool named =
		type->kind == KIND_ENTITY || type->kind == KIND_UNION || type->kind == KIND_ENUM;
	if (!named || map_get(&reached->names, type->name) != NULL)
		return;
	map_put(&reached->names, type->name, &mark);
	if (reached->count == reached->room) {
		size_t room = reached->room == 0 ? 32 : reached->room * 2;
		const struct type **more = arena_array(&reached->arena, const struct type *, room);
		for (size_t i = 0; i < reached->count; i++)
			more[i] = reached->at[i];
		reached->at = more;
		reached->room = room;
	}
	reached->at[reached->count++] = type;
	for (size_t i = 0; type->kind == KIND_UNION && i < type->case_count; i++)
		if (type->cases[i].of != NULL)
			reach(reached, type->cases[i].of());
	if (type->kind != KIND_ENTITY)
		return;
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++)
		if (!field_is_hook(field) && field->shape != SHAPE_CONST)
			reach(reached, field->of());
}

static void put_dialects(struct json_writer *writer)
{
	json_key(writer, S("if"));
	json_put_raw(writer, S("{\"anyOf\":[{\"required\":[\"nodes\"]},{\"required\":[\"edges\"]},"
			       "{\"required\":[\"entry_point\"]},{\"required\":[\"patterns\"]}]}"));
	json_key(writer, S("then"));
	/* The nodes of a file of patterns come into being when the patterns are expanded. */
	json_put_raw(writer, S("{\"if\":{\"required\":[\"patterns\"],\"not\":{\"required\":["
			       "\"nodes\"]}},\"then\":{\"type\":\"object\"},"
			       "\"else\":{\"$ref\":\"#/$defs/run.GraphFile\"}}"));
	json_key(writer, S("else"));
	json_put_raw(
		writer,
		S("{\"if\":{\"not\":{\"required\":[\"steps\"]},\"anyOf\":["
		  "{\"required\":[\"handoff_rules\"]},{\"required\":[\"collaboration_patterns\"]},"
		  "{\"required\":[\"guardrail_policies\"]},{\"required\":[\"execution_config\"]},"
		  "{\"required\":[\"default_llm\"]}]},"
		  "\"then\":{\"$ref\":\"#/$defs/task.TeamConfig\"},"
		  "\"else\":{\"$ref\":\"#/$defs/run.Definition\"}}"));
}

static void put_text(struct json_writer *writer, const char *key, const char *text)
{
	json_key(writer, str_from_c(key));
	json_put_str(writer, str_from_c(text));
}

void describe_workflow_schema(struct buf *out)
{
	AUTO(buf) line = buf_limited(LIMIT_DESCRIPTION_BYTES);
	struct json_writer writer = { .out = &line };
	struct reached_types reached = { 0 };
	/* by name: their headers would make this file one more that every change of a row recompiles */
	reach(&reached, contract_find(S("run.Definition")));
	reach(&reached, contract_find(S("run.GraphFile")));
	reach(&reached, contract_find(S("run.GraphFileTask")));
	reach(&reached, contract_find(S("task.TeamConfig")));
	json_open(&writer, '{');
	put_text(&writer, "$schema", "https://json-schema.org/draft/2020-12/schema");
	put_text(&writer, "title", "Baton workflow file");
	put_text(
		&writer, "description",
		"What a workflow file may look like: steps, a graph, or a team. `baton check` also "
		"checks names, dependencies and expressions.");
	put_text(&writer, "type", "object");
	put_dialects(&writer);
	json_key(&writer, S("$defs"));
	json_open(&writer, '{');
	for (size_t i = 0; i < reached.count; i++) {
		json_key(&writer, reached.at[i]->name);
		describe_schema_file(reached.at[i], S("#/$defs/"), &writer);
	}
	json_close(&writer, '}');
	json_close(&writer, '}');
	describe_indented(buf_str(&line), out);
	map_done(&reached.names);
	arena_done(&reached.arena);
}
