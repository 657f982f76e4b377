/* One whole document for every entity, documents/<wire name>.json: every field given, read and
 * printed back without a change. */
#include "pipeline_support.h"

#include <dirent.h>
#include <stdio.h>

static struct str document(struct str name, struct arena *arena)
{
	const char *path =
		str_c(arena, str_format(arena, DOCUMENTS "/" STR_FMT ".json", STR_ARG(name)));
	FILE *file = fopen(path, "rb");
	cr_assert(file != NULL, "there is no document for " STR_FMT, STR_ARG(name));
	enum { ROOM = 65536 };
	char *text = arena_take(arena, ROOM);
	size_t size = fread(text, 1, ROOM, file);
	fclose(file);
	cr_assert(size > 0 && size < ROOM);
	return (struct str){ text, size };
}

/* A document that leaves a field out would not say whether the field works. */
static void assert_whole(const struct type *type, const struct json *json)
{
	for (const struct field *f = type_fields(type); f->shape != SHAPE_END; f++) {
		if (field_is_hook(f))
			continue;
		const struct json *member = json_member(json, f->name);
		cr_assert(member != NULL, "the document of " STR_FMT " has no " STR_FMT,
			  STR_ARG(type->name), STR_ARG(f->name));
		cr_assert(member->kind != JSON_NULL, STR_FMT "." STR_FMT, STR_ARG(type->name),
			  STR_ARG(f->name));
	}
}

Test(documents, every_entity_comes_back_unchanged)
{
	size_t entities = 0;
	for (size_t i = 0; type_at(i) != NULL; i++) {
		const struct type *type = type_at(i);
		if (type->kind != KIND_ENTITY)
			continue;
		AUTO(arena) arena = { 0 };
		struct str text = document(type->name, &arena);
		const struct json *json;
		struct error error;
		cr_assert(json_read(text, &arena, &json, &error), STR_FMT ": %s",
			  STR_ARG(type->name), error.text);
		assert_whole(type, json);
		assert_str(reprint(type, text, &arena), json_print(&arena, json));
		entities++;
	}
	cr_assert_eq(entities, 40);
}

Test(documents, none_is_left_over)
{
	DIR *folder = opendir(DOCUMENTS);
	cr_assert_not_null(folder);
	size_t count = 0;
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		struct str name = str_from_c(entry->d_name);
		if (!str_ends(name, S(".json")))
			continue;
		const struct type *type = type_named(str_head(name, name.size - 5));
		cr_assert(type != NULL && type->kind == KIND_ENTITY, "%s", entry->d_name);
		count++;
	}
	closedir(folder);
	cr_assert_eq(count, 40);
}

Test(documents, values_arrive_in_their_members)
{
	AUTO(arena) arena = { 0 };
	struct str text = document(S("pipeline.ImplementationState"), &arena);
	const struct pipeline_implementation_state *state =
		read_good(pipeline_implementation_state_type(), text, &arena);
	cr_assert_eq(state->status, PIPELINE_STATUS_PAUSED);
	cr_assert_eq(state->agentic_status, PIPELINE_AGENTIC_AWAITING_APPROVAL);
	assert_str(state->issue->id, S("JIRA-123"));
	assert_str(state->design->source, S("file"));
	cr_assert(has(state, human_approved) && state->human_approved);
	cr_assert_eq(state->last_review->severity, PIPELINE_SEVERITY_CRITICAL);
	cr_assert_eq(state->evaluation_result->items_rejected.at[0].disposition,
		     PIPELINE_DISPOSITION_REJECT);
	cr_assert_eq(state->approved_items.at[1], 3);
	cr_assert_eq(state->oracle_consultations.at[0].outcome, PIPELINE_CONSULTATION_ERROR);
	cr_assert_eq(state->oracle_consultations.at[0].tokens.at[1].value, 80);
	cr_assert_eq(state->history.at[0].kept_fields.count, 1);
	assert_str(state->history.at[0].kept_fields.at[0].key, S("attempt"));
	assert_str(state->tool_calls.at[0].tool_name, S("read_file"));
	cr_assert(!state->tool_results.at[0].success);
}

/* Any pipeline's state can be read as what all have in common; the rest is kept. */
Test(documents, implementation_state_reads_as_its_base)
{
	AUTO(arena) arena = { 0 };
	struct str text = document(S("pipeline.ImplementationState"), &arena);
	const struct pipeline_base_pipeline_state *state =
		read_good(pipeline_base_pipeline_state_type(), text, &arena);
	assert_str(state->pipeline_type, S("implementation"));
	cr_assert_eq(state->kept_fields.count, 27);
	struct str printed = pipeline_base_pipeline_state_text(state, &arena);
	const struct json *json;
	struct error error;
	cr_assert(json_read(text, &arena, &json, &error));
	assert_str(printed, json_print(&arena, json));
}
