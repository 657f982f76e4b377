/* engine/keep.c -- values of events and snapshots as the state keeps them. */
#include "engine/run.h"

struct value run_value_keep(struct run *run, const struct run_value *from)
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

struct fault run_fault_keep(struct run *run, const struct run_fault *from)
{
	if (from == NULL)
		return (struct fault){ S(""), S("") };
	return (struct fault){ str_copy(run->arena, from->code), str_copy(run->arena, from->text) };
}

struct fault run_refusal(struct run *run, const struct run_human_finished *event)
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
	return (struct fault){ error_row(code)->name, text };
}
