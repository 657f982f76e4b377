/* api/workflow_check.c -- what is wrong with a definition, in the forms that responses have. */
#include "api/workflow_check.h"

#include <stdlib.h>

#include "active/workflow_list.h"
#include "api/workflow_item.h"
#include "base/limits.h"
#include "base/sha256.h"

enum { ETAG_DIGITS = 32 };

struct str workflow_etag(const struct hash *text, struct arena *arena)
{
	char hex[HASH_TEXT_SIZE];
	return str_format(arena, "\"" STR_FMT "\"",
			  STR_ARG(str_head(hash_text(text, hex), ETAG_DIGITS)));
}

static int place_order(const void *left, const void *right)
{
	const struct problem *a = left, *b = right;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->column > b->column) - (a->column < b->column);
}

static void add_problems(struct workflow_check *check, struct arena *arena)
{
	struct problems *problems = &check->problems;
	size_t count = problems->count;
	struct runtime_workflow_problem *places =
		arena_array(arena, struct runtime_workflow_problem, count);
	struct str *texts = arena_array(arena, struct str, count);
	if (count > 0)
		qsort(problems->at, count, sizeof(*problems->at), place_order);
	for (size_t i = 0; i < count; i++) {
		const struct problem *from = &problems->at[i];
		places[i] = *runtime_workflow_problem_new(arena);
		SET(&places[i], pointer, from->pointer);
		SET(&places[i], text, from->text);
		texts[i] = str_format(arena, STR_FMT ": " STR_FMT, STR_ARG(from->pointer),
				      STR_ARG(from->text));
		if (from->line == 0)
			continue;
		SET(&places[i], line, from->line);
		SET(&places[i], column, from->column);
		texts[i] = str_format(arena, "%u:%u: " STR_FMT, from->line, from->column,
				      STR_ARG(texts[i]));
	}
	check->errors = (struct str_list){ texts, count };
	check->places = (struct runtime_workflow_problem_list){ places, count };
}

static void check_text(struct workflow_check *check, struct executor *executor,
		       struct store_reader *reader, struct str name,
		       const struct workflow_text *text, struct arena *arena)
{
	struct problems found = { .arena = arena };
	struct str *warnings = arena_array(arena, struct str, LIMIT_PROBLEMS + 1);
	size_t count = 0;
	*check = (struct workflow_check){ .problems = { .arena = arena } };
	check->is_valid = executor_workflow_check(executor, reader, text, arena, &check->own_name,
						  &check->graph, &check->problems, &found);
	add_problems(check, arena);
	bool misnamed = check->own_name.size > 0 && !str_equal(check->own_name, name);
	if (misnamed)
		warnings[count++] =
			str_format(arena,
				   "the definition calls itself " STR_FMT ", not " STR_FMT
				   ": it cannot be started by that name",
				   STR_ARG(check->own_name), STR_ARG(name));
	for (size_t i = 0; i < found.count; i++)
		warnings[count++] = str_format(arena, "%u:%u: " STR_FMT, found.at[i].line,
					       found.at[i].column, STR_ARG(found.at[i].text));
	check->warnings = (struct str_list){ warnings, count };
}

void workflow_check(struct workflow_check *check, struct executor *executor,
		    struct store_reader *reader, struct str name, struct str yaml,
		    struct str prompts_folder, struct arena *arena)
{
	const struct workflow_text text = { .yaml = yaml,
					    .prompts_folder = prompts_folder,
					    .draws = true };
	check_text(check, executor, reader, name, &text, arena);
}

void workflow_check_start(struct workflow_check *check, struct executor *executor,
			  struct store_reader *reader, struct str name, struct str yaml,
			  struct str prompts_folder, struct arena *arena)
{
	const struct workflow_text text = { .yaml = yaml, .prompts_folder = prompts_folder };
	check_text(check, executor, reader, name, &text, arena);
}

struct str workflow_editor_text(struct str name, const struct definition_found *found,
				const struct workflow_check *check, struct arena *arena)
{
	struct runtime_workflow_editor_response *response =
		runtime_workflow_editor_response_new(arena);
	struct str_list shadows = workflow_shadows(found, arena);
	SET(response, name, name);
	SET(response, yaml_content, found->yaml);
	SET(response, is_valid, check->is_valid);
	SET(response, validation_errors, check->errors);
	SET(response, warnings, check->warnings);
	if (check->places.count > 0)
		SET(response, problems, check->places);
	SET(response, source, definition_source_name(found->source));
	if (shadows.count > 0)
		SET(response, shadows, shadows);
	SET(response, etag, workflow_etag(&found->hash, arena));
	if (found->source == DEFINITION_STORED) {
		SET(response, version, found->version);
		SET(response, saved_at, found->saved_at);
		SET(response, saved_by, found->saved_by);
	}
	return runtime_workflow_editor_response_text(response, arena);
}
