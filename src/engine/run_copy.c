/* engine/run_copy.c -- copies values of events and snapshots into the state. */
#include "engine/run.h"

#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_output_types.h"
#include "contract/run_value_types.h"

struct value run_value_copy(struct run *run, const struct run_value *from)
{
	if (from == NULL)
		return (struct value){ .kind = VALUE_ABSENT };
	if (has(from, sha256))
		return (struct value){ .kind = VALUE_STORED,
				       .hash = from->sha256,
				       .size = from->size };
	static const struct json null_json = { .kind = JSON_NULL };
	struct str text = json_print(run->arena, has(from, json) ? from->json : &null_json);
	return (struct value){ .kind = VALUE_INLINE, .text = text, .size = (int64_t)text.size };
}

struct value run_answer_value(struct run *run, const struct question *question)
{
	AUTO(arena) arena = { 0 };
	struct run_answer_result *result = run_answer_result_new(&arena);
	SET(result, decision, run_decision_name(question->decision));
	SET(result, comment, question->comment);
	SET(result, by, question->by);
	struct str text = str_copy(run->arena, run_answer_result_text(result, &arena));
	return (struct value){ .kind = VALUE_INLINE, .text = text, .size = (int64_t)text.size };
}

struct str_list run_texts_copy(struct run *run, struct str_list from)
{
	struct str *at = arena_array(run->arena, struct str, from.count);
	for (size_t i = 0; i < from.count; i++)
		at[i] = str_copy(run->arena, from.at[i]);
	return (struct str_list){ at, from.count };
}

bool run_answer_is_good(const struct run_human_finished *answer)
{
	return answer->decision == RUN_DECISION_APPROVE ||
	       answer->decision == RUN_DECISION_MODIFY ||
	       answer->decision == RUN_DECISION_HAPPENED ||
	       (has(answer, continues) && answer->continues);
}

void run_secrets_copy(struct run *run, struct activation *activation,
		      struct run_secret_use_list from)
{
	struct secret_use *at = arena_array(run->arena, struct secret_use, from.count);
	for (size_t i = 0; i < from.count; i++)
		at[i] = (struct secret_use){ .pointer = str_copy(run->arena, from.at[i].pointer),
					     .name = str_copy(run->arena, from.at[i].name),
					     .offset = from.at[i].offset };
	activation->secrets = at;
	activation->secret_count = (uint32_t)from.count;
}

struct failure run_failure_copy(struct run *run, const struct run_fault *from)
{
	if (from == NULL)
		return (struct failure){ S(""), S("") };
	return (struct failure){ str_copy(run->arena, from->code),
				 str_copy(run->arena, from->text) };
}

struct failure run_refusal(struct run *run, const struct run_human_finished *event)
{
	bool late = event->decision == RUN_DECISION_TIMEOUT;
	bool never = event->decision == RUN_DECISION_NOT_HAPPENED;
	struct str comment = has(event, comment) ? event->comment : S("");
	enum error_code code = late ? ERROR_TIMEOUT : never ? ERROR_TOOL_FAILED : ERROR_REJECTED;
	struct str text = late    ? S("nobody answered in time")
			  : never ? str_format(run->arena, "it did not happen, says " STR_FMT,
					       STR_ARG(event->by))
				  : str_format(run->arena, "rejected by " STR_FMT "%s" STR_FMT,
					       STR_ARG(event->by), comment.size > 0 ? ": " : "",
					       STR_ARG(comment));
	return (struct failure){ error_row(code)->name, text };
}

/* ---- warnings ---------------------------------------------------------------------------- */

void engine_warnings_add(struct warnings *warnings, struct warning warning, struct arena *arena)
{
	if (warnings->count == warnings->room) {
		size_t room = warnings->room == 0 ? 4 : warnings->room * 2;
		struct warning *at = arena_array(arena, struct warning, room);
		for (size_t i = 0; i < warnings->count; i++)
			at[i] = warnings->at[i];
		warnings->at = at;
		warnings->room = room;
	}
	warnings->at[warnings->count++] = warning;
}

bool engine_warnings_have(const struct warnings *warnings, const struct warning *warning)
{
	for (size_t i = 0; i < warnings->count; i++)
		if (warnings->at[i].code == warning->code &&
		    str_equal(warnings->at[i].step, warning->step) &&
		    str_equal(warnings->at[i].text, warning->text))
			return true;
	return false;
}

void engine_warnings_forget_outputs(struct warnings *warnings)
{
	size_t kept = 0;
	for (size_t i = 0; i < warnings->count; i++)
		if (warnings->at[i].step.size > 0)
			warnings->at[kept++] = warnings->at[i];
	warnings->count = kept;
}

size_t engine_warnings_of_step(const struct warnings *warnings, struct str step)
{
	size_t count = 0;
	for (size_t i = 0; i < warnings->count; i++)
		count += str_equal(warnings->at[i].step, step);
	return count;
}

void run_warnings_add(struct run *run, struct run_warning_list from, int64_t dropped)
{
	for (size_t i = 0; i < from.count; i++) {
		const struct run_warning *row = &from.at[i];
		struct warning warning = { row->code,
					   has(row, step) ? str_copy(run->arena, row->step) : S(""),
					   str_copy(run->arena, row->text) };
		engine_warnings_add(&run->warnings, warning, run->arena);
	}
	run->warnings.dropped += dropped;
}

struct run_warning_list run_warnings_print(const struct warnings *warnings, struct arena *arena)
{
	struct run_warning *rows = arena_array(arena, struct run_warning, warnings->count);
	for (size_t i = 0; i < warnings->count; i++) {
		rows[i] = *run_warning_new(arena);
		SET(&rows[i], code, warnings->at[i].code);
		if (warnings->at[i].step.size > 0)
			SET(&rows[i], step, warnings->at[i].step);
		SET(&rows[i], text, warnings->at[i].text);
	}
	return (struct run_warning_list){ rows, warnings->count };
}

/* ---- attempts ---------------------------------------------------------------------------- */

struct restart *run_restarts_copy(struct run *run, const struct restart *from, size_t count,
				  struct restart more)
{
	struct restart *all = arena_array(run->arena, struct restart, count + 1);
	for (size_t i = 0; i < count; i++)
		all[i] = from[i];
	all[count] = more;
	return all;
}

/* A question restored from an old snapshot may have a level without recorded escalations. */
void run_question_passed_on(struct run *run, struct question *question, int64_t level, int64_t at)
{
	bool known = level == question->level + 1 &&
		     (question->level == 0 || question->passed_on != NULL);
	struct restart moment = { run->seq + 1, at, 0, 0 };
	question->passed_on =
		known ? run_restarts_copy(run, question->passed_on, (size_t)question->level, moment)
		      : NULL;
	question->level = level;
}

struct attempts *run_attempts(struct run *run, struct activation *activation)
{
	if (activation->attempts == NULL)
		activation->attempts = arena_new(run->arena, struct attempts);
	return activation->attempts;
}

void run_attempt_requested(struct run *run, struct activation *activation, int64_t number,
			   int64_t due_at, int64_t at)
{
	const struct run_graph_node *row = run_node(run, activation)->row;
	bool usual = due_at == (has(row, timeout_us) ? at + row->timeout_us : 0);
	activation->attempt = number;
	if (activation->started_seq != run->seq + 1 || !usual)
		run_attempts(run, activation)->request =
			(struct restart){ run->seq + 1, at, number, .due_at = usual ? 0 : due_at };
}

void run_attempt_failed(struct run *run, struct activation *activation, int64_t retry_at,
			int64_t at)
{
	struct attempts *attempts = run_attempts(run, activation);
	struct attempt *all =
		arena_array(run->arena, struct attempt, (size_t)attempts->failed_count + 1);
	for (uint32_t i = 0; i < attempts->failed_count; i++)
		all[i] = attempts->failed[i];
	all[attempts->failed_count++] = (struct attempt){ .request = attempts->request,
							  .effect = activation->effect,
							  .seq = run->seq + 1,
							  .at = at,
							  .outcome = activation->outcome,
							  .fault = activation->fault,
							  .output = activation->output,
							  .log = activation->log,
							  .figures = activation->figures,
							  .files = activation->files,
							  .file_count = activation->file_count,
							  .retry_at = retry_at };
	attempts->failed = all;
	attempts->request = (struct restart){ 0 };
}

void run_attempt_wanted(struct run *run, struct activation *activation, int64_t at)
{
	run_attempts(run, activation)->answered = (struct restart){ run->seq + 1, at, 0, 0 };
}
