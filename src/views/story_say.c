/* views/story_say.c -- what several vocabularies say alike.
 *
 * Sentences and details are made once, so that the activity log, the trace and the execution
 * events of one run never tell different stories.
 */
#include "views/story.h"

#include "base/time.h"
#include "views/tree.h"

struct uuid story_event_id(const struct story *story, int64_t seq)
{
	struct str parts[] = { uuid_str(&story->source->run), S("event"),
			       str_format(story->arena, "%lld", (long long)seq) };
	return uuid_derive(parts, COUNT(parts));
}

struct str story_id_text(const struct story *story, struct uuid id)
{
	char text[UUID_TEXT_SIZE];
	return str_copy(story->arena, uuid_text(&id, text));
}

struct str story_id_hex(const struct story *story, const char *prefix, struct uuid id)
{
	char text[UUID_TEXT_SIZE];
	struct str rest = uuid_text(&id, text), piece, hex = str_from_c(prefix);
	while (str_cut(&rest, '-', &piece))
		hex = str_format(story->arena, STR_FMT STR_FMT, STR_ARG(hex), STR_ARG(piece));
	return hex;
}

struct uuid story_call_id(const struct story *story, const struct story_step *step)
{
	return uuid_is_zero(&step->effect) ? story_event_id(story, step->ended_seq) : step->effect;
}

struct str story_agent(const struct story_step *step)
{
	switch (step->node->kind) {
	case RUN_NODE_TOOL:
		return step->node->tool;
	case RUN_NODE_HUMAN:
	case RUN_NODE_WAIT:
		break;
	}
	return run_node_kind_name(step->node->kind);
}

int64_t story_duration_ms(int64_t from, int64_t to)
{
	return to > from ? (to - from) / 1000 : 0;
}

struct str story_output_text(const struct story *story, const struct story_step *step)
{
	const struct json *printed = json_member(step->output, S("stdout"));
	if (printed != NULL && printed->kind == JSON_STRING)
		return json_text(printed);
	return step->output == NULL ? S("") : json_print(story->arena, step->output);
}

struct str story_result(const struct story *story)
{
	if (!story->ended)
		return S("");
	if (story->fault.size > 0)
		return story->fault;
	return story->outputs == NULL ? S("{}") : json_print(story->arena, story->outputs);
}

/* ---- sentences ----------------------------------------------------------------------- */

static struct str say_end(const struct story *story, const struct story_step *step)
{
	struct arena *arena = story->arena;
	if (step->fault.size > 0)
		return str_format(arena, STR_FMT " failed: " STR_FMT, STR_ARG(step->node->name),
				  STR_ARG(step->fault));
	return str_format(arena, STR_FMT " is done", STR_ARG(step->node->name));
}

static struct str say_answer(const struct story *story, const struct story_step *step)
{
	const struct run_human_finished *answer = step->answer;
	bool rejected = answer->decision == RUN_DECISION_REJECT;
	struct str comment = has(answer, comment) ? answer->comment : S("");
	return str_format(story->arena, STR_FMT " %s " STR_FMT "%s" STR_FMT, STR_ARG(answer->by),
			  rejected ? "rejected" : "approved", STR_ARG(step->node->name),
			  comment.size > 0 ? ": " : "", STR_ARG(comment));
}

static struct str say_step(const struct story *story, const struct event *event,
			   const struct story_step *step)
{
	struct arena *arena = story->arena;
	struct str name = step->node->name, agent = story_agent(step);
	char due[TIME_TEXT_SIZE];
	switch (event->type) {
	case EVENT_TOOL_REQUESTED:
		return str_format(arena, STR_FMT " calls " STR_FMT, STR_ARG(name), STR_ARG(agent));
	case EVENT_TOOL_RESTARTED:
		return str_format(arena, STR_FMT " calls " STR_FMT " again, attempt %lld",
				  STR_ARG(name), STR_ARG(agent),
				  (long long)event->as.run_tool_restarted->attempt);
	case EVENT_TIMER_REQUESTED:
		return str_format(arena, STR_FMT " waits until " STR_FMT, STR_ARG(name),
				  STR_ARG(time_text(step->due_at, due)));
	case EVENT_HUMAN_REQUESTED:
		return str_format(arena, STR_FMT " asks: " STR_FMT, STR_ARG(name),
				  STR_ARG(step->question->question));
	case EVENT_HUMAN_FINISHED:
		return say_answer(story, step);
	case EVENT_STEP_COMPUTED:
	case EVENT_TOOL_FINISHED:
	case EVENT_TIMER_FINISHED:
	case EVENT_RUN_CREATED:
	case EVENT_RUN_FINISHED:
	case EVENT_DOCUMENT_CHANGED:
	case EVENT_RUN_COMPACTED:
		break;
	}
	return say_end(story, step);
}

struct str story_says(const struct story *story, size_t index)
{
	const struct event *event = &story->source->events[index];
	const struct story_step *step = story_step(story, event);
	struct str name = story->source->graph->name;
	if (step != NULL)
		return say_step(story, event, step);
	if (event->type == EVENT_RUN_CREATED)
		return str_format(story->arena, "a run of " STR_FMT " exists", STR_ARG(name));
	if (event->type == EVENT_RUN_FINISHED && story->fault.size > 0)
		return str_format(story->arena, "the run of " STR_FMT " failed: " STR_FMT,
				  STR_ARG(name), STR_ARG(story->fault));
	if (event->type == EVENT_RUN_FINISHED)
		return str_format(story->arena, "the run of " STR_FMT " is done", STR_ARG(name));
	return event_name(event->type);
}

/* ---- details ------------------------------------------------------------------------- */

static const struct json *detail_end(const struct story *story, const struct event *event,
				     const struct story_step *step)
{
	bool failed = step->fault.size > 0;
	enum vocabulary_step state = failed ? VOCABULARY_STEP_FAILED : VOCABULARY_STEP_SUCCEEDED;
	return TREE(story->arena, { S("event"), tree_text(event_name(event->type)) },
		    { S("step"), tree_text(step->node->name) },
		    { S("status"), tree_text(vocabulary_step(state)->word) },
		    { S("output"), tree_copy(step->output) },
		    { S("error"), tree_text_if(step->fault) });
}

static const struct json *detail_begin(const struct story *story, const struct event *event,
				       const struct story_step *step)
{
	char revision[HASH_TEXT_SIZE];
	bool asked = event->type == EVENT_HUMAN_REQUESTED;
	bool again = event->type == EVENT_TOOL_RESTARTED;
	bool waits = event->type == EVENT_TIMER_REQUESTED;
	struct arena *arena = story->arena;
	return TREE(
		arena, { S("event"), tree_text(event_name(event->type)) },
		{ S("step"), tree_text(step->node->name) },
		{ S("question"), asked ? tree_text(step->question->question) : tree_none() },
		{ S("inputs"), again || waits ? tree_none() : tree_copy(step->inputs) },
		{ S("revision"),
		  asked ? tree_text(str_copy(arena, hash_text(&step->question->revision, revision)))
			: tree_none() },
		{ S("attempt"),
		  again ? tree_int(event->as.run_tool_restarted->attempt) : tree_none() },
		{ S("due_at"), waits ? tree_time(arena, step->due_at) : tree_none() });
}

static const struct json *detail_run(const struct story *story, const struct event *event)
{
	bool ended = event->type == EVENT_RUN_FINISHED, created = event->type == EVENT_RUN_CREATED;
	return TREE(story->arena, { S("event"), tree_text(event_name(event->type)) },
		    { S("workflow"), tree_text(story->source->graph->name) },
		    { S("inputs"), created ? tree_copy(story->inputs) : tree_none() },
		    { S("status"), ended ? tree_text(story_words(story)->word) : tree_none() },
		    { S("outputs"), ended ? tree_copy(story->outputs) : tree_none() },
		    { S("error"), ended ? tree_text_if(story->fault) : tree_none() });
}

const struct json *story_details(const struct story *story, size_t index)
{
	const struct event *event = &story->source->events[index];
	const struct story_step *step = story_step(story, event);
	if (step == NULL)
		return detail_run(story, event);
	return story_seq(story, index) == step->ended_seq ? detail_end(story, event, step)
							  : detail_begin(story, event, step);
}
