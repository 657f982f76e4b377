/* Every entity of the task vocabulary by its document: read, defaulted, printed, read again.
 *
 * documents/ has one with every member given.  defaults.json has the smallest one, with what it
 * must print as: the defaults of the vocabulary, null for optional fields, and generated values.
 */
#include "task_support.h"

#include <string.h>

/* The sixty classes of the vocabulary. */
static const char *const names[] = {
	"TaskStep",
	"TextPart",
	"ToolCall",
	"ToolCallPart",
	"ToolResult",
	"ToolResultPart",
	"Artifact",
	"ArtifactPart",
	"ImagePart",
	"AudioPart",
	"MemoryReference",
	"MemoryPart",
	"GuardrailCheck",
	"GuardrailPart",
	"StreamChunk",
	"TaskStartEvent",
	"TaskCompleteEvent",
	"TaskPausedEvent",
	"TaskResumedEvent",
	"AgentStartEvent",
	"AgentCompleteEvent",
	"AgentHandoffEvent",
	"ParallelExecutionStartEvent",
	"ParallelExecutionSyncEvent",
	"ConsensusProposalEvent",
	"ConsensusVoteEvent",
	"ConsensusReachedEvent",
	"ToolCallEvent",
	"ToolResultEvent",
	"MemoryStoreEvent",
	"MemoryRetrieveEvent",
	"MemoryConsolidateEvent",
	"HITLRequestEvent",
	"HITLResponseEvent",
	"GuardrailViolationEvent",
	"GuardrailPolicyUpdateEvent",
	"ArtifactCreatedEvent",
	"ArtifactModifiedEvent",
	"ArtifactVersionedEvent",
	"ErrorEvent",
	"RecoveryEvent",
	"BreakpointHitEvent",
	"UserInterventionEvent",
	"HealthCheckEvent",
	"PerformanceMetricEvent",
	"LLMConfig",
	"ToolConfig",
	"HandoffRule",
	"CollaborationPattern",
	"GuardrailPolicy",
	"MemoryConfig",
	"AgentConfig",
	"ExecutionConfig",
	"TeamConfig",
	"LangChainImport",
	"LangChainExport",
	"AutoGenImport",
	"AutoGenExport",
	"CrewAIImport",
	"CrewAIExport",
};

/* What is recorded in a history keeps members it does not know; the rest refuses them. */
static const char *const kept[] = {
	"TaskStep",        "TextPart",   "ToolCall",       "ToolCallPart",  "ToolResult",
	"ToolResultPart",  "Artifact",   "ArtifactPart",   "ImagePart",     "AudioPart",
	"MemoryReference", "MemoryPart", "GuardrailCheck", "GuardrailPart",
};

static struct str wire_name(size_t i, struct arena *arena)
{
	return str_format(arena, "task.%s", names[i]);
}

static bool is_kept(const char *name)
{
	for (size_t i = 0; i < COUNT(kept); i++)
		if (strcmp(kept[i], name) == 0)
			return true;
	return false;
}

Test(documents, the_rows_have_no_mistake)
{
	struct error error = { .text = "" };
	cr_assert(contract_self_test(task_module_types, task_module_type_count, &error), "%s",
		  error.text);
}

Test(documents, the_module_is_the_seed)
{
	AUTO(arena) arena = { 0 };
	size_t entities = 0, enums = 0, unions = 0, fields = 0, words = 0;
	for (size_t i = 0; i < task_module_type_count; i++) {
		const struct type *type = task_module_types[i];
		entities += type->kind == KIND_ENTITY;
		enums += type->kind == KIND_ENUM;
		unions += type->kind == KIND_UNION;
		words += type->word_count;
		const struct field *field = type_fields(type);
		for (; field->shape != SHAPE_END; field++)
			fields += !field_is_hook(field);
	}
	cr_assert_eq(entities, COUNT(names));
	cr_assert_eq(entities, 60);
	cr_assert_eq(fields, 344);
	cr_assert_eq(enums, 19);
	cr_assert_eq(words, 66);
	cr_assert_eq(unions, 2);
	for (size_t i = 0; i < COUNT(names); i++)
		cr_assert_eq(type_named(wire_name(i, &arena))->kind, KIND_ENTITY);
}

Test(documents, a_full_document_comes_back_as_it_was)
{
	for (size_t i = 0; i < COUNT(names); i++) {
		AUTO(arena) arena = { 0 };
		const struct type *type = type_named(wire_name(i, &arena));
		struct str name = str_format(&arena, "documents/task.%s.json", names[i]);
		struct str text = file_text(str_c(&arena, name), &arena);
		const struct json *json = tree_of(text, &arena);
		struct str once = printed(type, text, &arena);
		assert_str(once, json_print(&arena, json));
		assert_str(printed(type, once, &arena), once);
		/* Full means full: every member of the rows is in the document. */
		const struct field *field = type_fields(type);
		for (; field->shape != SHAPE_END; field++)
			cr_assert(field_is_hook(field) || json_member(json, field->name) != NULL,
				  STR_FMT "." STR_FMT, STR_ARG(type->name), STR_ARG(field->name));
	}
}

Test(documents, the_least_document_is_filled_with_the_seeds_defaults)
{
	AUTO(arena) arena = { 0 };
	const struct json *table = tree_of(file_text("defaults.json", &arena), &arena);
	cr_assert_eq(table->as.object.count, COUNT(names));
	for (size_t i = 0; i < COUNT(names); i++) {
		struct str name = wire_name(i, &arena);
		const struct json *row = json_member(table, name);
		struct str given = json_print(&arena, json_member(row, S("given")));
		struct str expected = json_print(&arena, json_member(row, S("printed")));
		struct str once = printed(type_named(name), given, &arena);
		assert_str(once, expected);
		assert_str(printed(type_named(name), once, &arena), once);
	}
}

Test(documents, everything_in_the_least_document_is_required)
{
	size_t count = 0;
	for (size_t i = 0; i < COUNT(names); i++) {
		AUTO(arena) arena = { 0 };
		struct str name = wire_name(i, &arena);
		const struct json *least = least_of(name, &arena);
		for (size_t j = 0; j < least->as.object.count; j++, count++) {
			struct str key = least->as.object.at[j].key;
			struct str text = object_with(least, key, (struct str){ NULL, 0 }, &arena);
			struct outcome outcome = read_text(type_named(name), text, &arena);
			assert_str(outcome.lines,
				   str_format(&arena, "1:1 /" STR_FMT ": is required\n",
					      STR_ARG(key)));
			text = object_with(least, key, S("null"), &arena);
			outcome = read_text(type_named(name), text, &arena);
			cr_assert_eq(outcome.problems.count, 1);
			assert_str(outcome.problems.at[0].pointer,
				   str_format(&arena, "/" STR_FMT, STR_ARG(key)));
		}
	}
	cr_assert_eq(count, 188);
}

Test(documents, unknown_members_are_kept_in_a_history_and_refused_elsewhere)
{
	for (size_t i = 0; i < COUNT(names); i++) {
		AUTO(arena) arena = { 0 };
		struct str name = wire_name(i, &arena);
		struct str text = object_with(least_of(name, &arena), S("surprise"),
					      S("{\"a\":[1,null]}"), &arena);
		if (is_kept(names[i])) {
			struct str once = printed(type_named(name), text, &arena);
			cr_assert(str_ends(once, S(",\"surprise\":{\"a\":[1,null]}}")));
			assert_str(printed(type_named(name), once, &arena), once);
			continue;
		}
		struct outcome outcome = read_text(type_named(name), text, &arena);
		cr_assert_eq(outcome.problems.count, 1, STR_FMT, STR_ARG(name));
		assert_str(outcome.problems.at[0].pointer, S("/surprise"));
		assert_str(outcome.problems.at[0].text,
			   str_format(&arena, "is not a field of " STR_FMT, STR_ARG(name)));
	}
}

/* A text field does not accept a number, and so on: 7 and "7" are different. */
Test(documents, types_are_not_guessed)
{
	AUTO(arena) arena = { 0 };
	static const struct {
		const char *name, *member, *value, *text;
	} rows[] = {
		{ "task.TextPart", "text", "7", "must be a string, got integer 7" },
		{ "task.TextPart", "confidence", "\"0.5\"",
		  "must be a number, got string \"0.5\"" },
		{ "task.ToolCall", "args", "[]", "must be an object, got list" },
		{ "task.ToolCall", "timeout", "1.5", "must be a whole number, got number 1.5" },
		{ "task.ToolResult", "artifacts", "\"a\"", "must be a list, got string \"a\"" },
		{ "task.StreamChunk", "is_final", "1", "must be true or false, got integer 1" },
		{ "task.LLMConfig", "retry_policy", "null", "must be an object, got null" },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str name = str_from_c(rows[i].name), member = str_from_c(rows[i].member);
		struct str text = object_with(least_of(name, &arena), member,
					      str_from_c(rows[i].value), &arena);
		struct outcome outcome = read_text(type_named(name), text, &arena);
		cr_assert_eq(outcome.problems.count, 1, "%s.%s", rows[i].name, rows[i].member);
		assert_str(outcome.problems.at[0].pointer,
			   str_format(&arena, "/" STR_FMT, STR_ARG(member)));
		assert_str(outcome.problems.at[0].text, str_from_c(rows[i].text));
	}
	struct outcome outcome = read_text(
		task_image_part_type(),
		S("{\"image_url\":\"u\",\"dimensions\":{\"width\":640,\"height\":\"480\"}}"),
		&arena);
	assert_str(outcome.lines,
		   S("1:53 /dimensions/height: must be a whole number, got string \"480\"\n"));
}
