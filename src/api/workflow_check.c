/* api/workflow_check.c -- what is wrong with a definition, in the forms that responses have. */
#include "api/workflow_check.h"

#include <stdlib.h>

#include "active/workflow_list.h"
#include "api/workflow_item.h"
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

static const struct runtime_workflow_fix *fix_of(const struct problem_fix *from,
						 struct arena *arena)
{
	struct runtime_workflow_fix *fix = runtime_workflow_fix_new(arena);
	SET(fix, title, from->title);
	SET(fix, line, from->line);
	SET(fix, column, from->column);
	SET(fix, end_line, from->end_line);
	SET(fix, end_column, from->end_column);
	SET(fix, text, from->text);
	return fix;
}

static void set_problem(struct runtime_workflow_problem *to, const struct problem *from,
			struct arena *arena)
{
	*to = *runtime_workflow_problem_new(arena);
	SET(to, pointer, from->pointer);
	SET(to, text, from->text);
	SET(to, message,
	    from->pointer.size == 0 ? from->text
				    : str_format(arena, STR_FMT ": " STR_FMT,
						 STR_ARG(from->pointer), STR_ARG(from->text)));
	if (from->fix.title.size > 0)
		SET(to, fix, fix_of(&from->fix, arena));
	if (from->line == 0)
		return;
	SET(to, line, from->line);
	SET(to, column, from->column);
	if (from->end_line == 0)
		return;
	SET(to, end_line, from->end_line);
	SET(to, end_column, from->end_column);
}

/* The problems by their places, and as texts. */
static struct runtime_workflow_problem_list
list_problems(struct problems *problems, struct arena *arena, struct str_list *out_texts)
{
	size_t count = problems->count;
	struct runtime_workflow_problem *places =
		arena_array(arena, struct runtime_workflow_problem, count);
	struct str *texts = arena_array(arena, struct str, count);
	if (count > 0)
		qsort(problems->at, count, sizeof(*problems->at), place_order);
	for (size_t i = 0; i < count; i++) {
		set_problem(&places[i], &problems->at[i], arena);
		texts[i] = problems->at[i].line == 0
				   ? places[i].message
				   : str_format(arena, "%u:%u: " STR_FMT, problems->at[i].line,
						problems->at[i].column, STR_ARG(places[i].message));
	}
	*out_texts = (struct str_list){ texts, count };
	return (struct runtime_workflow_problem_list){ places, count };
}

static void check_text(struct workflow_check *check, struct executor *executor,
		       struct store_reader *reader, struct str name,
		       const struct workflow_text *text, struct arena *arena)
{
	struct problems warnings = { .arena = arena };
	*check = (struct workflow_check){ .problems = { .arena = arena } };
	check->is_valid =
		executor_workflow_check(executor, reader, name, text, arena, &check->own_name,
					&check->graph, &check->problems, &warnings);
	check->places = list_problems(&check->problems, arena, &check->errors);
	check->warning_places = list_problems(&warnings, arena, &check->warnings);
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
	if (check->warning_places.count > 0)
		SET(response, warning_problems, check->warning_places);
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
