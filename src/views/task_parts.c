/* views/task_parts.c -- names, calls and parts: S3's history and its events say the same of them.
 */
#include "views/task_parts.h"

/* ---- names --------------------------------------------------------------------------- */

struct str task_parts_run_id(const struct story *story)
{
	return story_id_text(story, story->source->run);
}

static struct str call_id(const struct story *story, const struct story_call *call)
{
	return story_id_hex(story, "tc_", story_call_id(story, call));
}

struct str task_parts_step_id(const struct story *story, const struct story_step *step)
{
	struct str parts[] = { uuid_str(&story->source->run), S("step"), step->path };
	return story_id_hex(story, "step_", uuid_derive(parts, COUNT(parts)));
}

/* ---- parts --------------------------------------------------------------------------- */

static struct task_part text_part(const struct story *story, struct str text)
{
	struct task_text_part *part = task_text_part_new(story->arena);
	SET(part, text, text);
	return (struct task_part){ .kind = TASK_PART_TEXT, .as.text = part };
}

const struct task_tool_call *task_parts_call(const struct story *story,
					     const struct story_step *step,
					     const struct story_call *call)
{
	struct task_tool_call *shown = task_tool_call_new(story->arena);
	SET(shown, id, call_id(story, call));
	SET(shown, tool_name, story_agent(step));
	SET(shown, args, call->inputs);
	return shown;
}

const struct task_tool_result *task_parts_result(const struct story *story,
						 const struct story_call *call)
{
	struct task_tool_result *result = task_tool_result_new(story->arena);
	const struct json *exit_code = json_member(call->output, S("exit_code"));
	SET(result, tool_call_id, call_id(story, call));
	SET(result, result, story_output_text(story, call->output));
	if (call->fault.size > 0)
		SET(result, error, call->fault);
	SET(result, execution_time_ms, story_duration_ms(call->begun_at, call->ended_at));
	if (exit_code != NULL && exit_code->kind == JSON_INT)
		SET(result, exit_code, exit_code->as.integer);
	return result;
}

static struct task_part call_part(const struct story *story, const struct story_step *step,
				  const struct story_call *call)
{
	struct task_tool_call_part *part = task_tool_call_part_new(story->arena);
	SET(part, tool_call, task_parts_call(story, step, call));
	return (struct task_part){ .kind = TASK_PART_TOOL_CALL, .as.tool_call = part };
}

static struct task_part result_part(const struct story *story, const struct story_call *call)
{
	struct task_tool_result_part *part = task_tool_result_part_new(story->arena);
	SET(part, tool_result, task_parts_result(story, call));
	return (struct task_part){ .kind = TASK_PART_TOOL_RESULT, .as.tool_result = part };
}

/* What an agent or a sub-run gave; why it gave nothing. */
static struct task_part reply_part(const struct story *story, size_t index,
				   const struct story_call *call)
{
	return text_part(story, call->fault.size > 0 ? story_says(story, index)
						     : story_output_text(story, call->output));
}

size_t task_parts_of(const struct story *story, size_t index, struct task_part *out)
{
	const struct event *event = &story->source->events[index];
	const struct story_step *step = story_step(story, event);
	const struct story_call *call = story_call(story, index);
	if (!story_covers(story, event))
		return 0;
	switch (event->type) {
	case EVENT_RUN_CREATED:
		out[0] = text_part(story, json_print(story->arena, story->inputs));
		return 1;
	case EVENT_RUN_FINISHED:
		out[0] = text_part(story, story_result(story));
		return 1;
	case EVENT_STEP_COMPUTED:
		if (call->begun_seq > 0) {
			out[0] = result_part(story, call);
			return 1;
		}
		out[0] = call_part(story, step, call);
		out[1] = result_part(story, call);
		return 2;
	case EVENT_STEP_STARTED:
	case EVENT_TOOL_REQUESTED:
		out[0] = call_part(story, step, call);
		return 1;
	case EVENT_TOOL_FINISHED:
		out[0] = result_part(story, call);
		return 1;
	case EVENT_TURN_FINISHED:
	case EVENT_SUBRUN_FINISHED:
		out[0] = reply_part(story, index, call);
		return 1;
	case EVENT_STEP_SKIPPED:
	case EVENT_STEP_ENTERED:
	case EVENT_STEP_LEFT:
	case EVENT_TOOL_RESTARTED:
	case EVENT_TIMER_REQUESTED:
	case EVENT_HUMAN_REQUESTED:
	case EVENT_HUMAN_ESCALATED:
	case EVENT_HUMAN_FINISHED:
	case EVENT_TURN_REQUESTED:
	case EVENT_SUBRUN_REQUESTED:
	case EVENT_RUN_STARTED:
	case EVENT_RUN_PAUSED:
	case EVENT_RUN_RESUMED:
	case EVENT_RUN_CANCELLING:
	case EVENT_RUN_SIGNALLED:
		out[0] = text_part(story, story_says(story, index));
		return 1;
	case EVENT_TIMER_FINISHED:
		if (call->begun_seq > 0)
			break; /* that it began says until when */
		out[0] = text_part(story, story_says(story, index));
		return 1;
	case EVENT_DOCUMENT_CHANGED:
	case EVENT_RUN_COMPACTED:
		break;
	}
	return 0;
}
