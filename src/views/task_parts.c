/* views/task_parts.c -- ids, calls and parts that the history and the events of the task vocabulary
 * share. */
#include "views/task_parts.h"

#include "views/task_chunk.h"

#include "contract/run_tool_types.h"
#include "contract/run_value_types.h"

/* ---- names ------------------------------------------------------------------------- */

struct str task_parts_run_id(const struct timeline *timeline)
{
	return timeline_id_text(timeline, timeline->source->run);
}

static struct str call_id(const struct timeline *timeline, const struct timeline_call *call)
{
	return timeline_id_hex(timeline, "tc_", timeline_call_id(timeline, call));
}

struct str task_parts_step_id(const struct timeline *timeline, const struct timeline_step *step)
{
	return timeline_id_hex(timeline, "step_",
			       task_chunk_step(&timeline->source->run, step->path));
}

/* ---- parts ------------------------------------------------------------------------- */

static struct task_part text_part(const struct timeline *timeline, struct str text)
{
	struct task_text_part *part = task_text_part_new(timeline->arena);
	SET(part, text, text);
	return (struct task_part){ .kind = TASK_PART_TEXT, .as.text = part };
}

const struct task_tool_call *task_parts_call(const struct timeline *timeline,
					     const struct timeline_step *step,
					     const struct timeline_call *call)
{
	struct task_tool_call *shown = task_tool_call_new(timeline->arena);
	SET(shown, id, call_id(timeline, call));
	SET(shown, tool_name, timeline_agent(step));
	SET(shown, args, call->inputs);
	return shown;
}

const struct run_write_artifact_outputs *task_parts_artifact(const struct timeline *timeline,
							     const struct timeline_step *step,
							     const struct timeline_call *call)
{
	if (step == NULL || call->output == NULL ||
	    !str_equal(timeline_agent(step), S("write_artifact")))
		return NULL;
	struct problems problems = { .arena = timeline->arena };
	struct contract_source source = { .json = call->output, .lenient = true };
	return run_write_artifact_outputs_parse(&source, timeline->arena, &problems);
}

const struct task_tool_result *task_parts_result(const struct timeline *timeline,
						 const struct timeline_step *step,
						 const struct timeline_call *call)
{
	const struct run_write_artifact_outputs *written =
		task_parts_artifact(timeline, step, call);
	struct task_tool_result *result = task_tool_result_new(timeline->arena);
	const struct json *exit_code = json_member(call->output, S("exit_code"));
	SET(result, tool_call_id, call_id(timeline, call));
	SET(result, result, timeline_output_text(timeline, call->output));
	if (call->fault.size > 0)
		SET(result, error, call->fault);
	SET(result, execution_time_ms, timeline_duration_ms(call->begun_at, call->ended_at));
	if (call->figures != NULL && has(call->figures, exit_code))
		SET(result, exit_code, call->figures->exit_code);
	else if (exit_code != NULL && exit_code->kind == JSON_INT)
		SET(result, exit_code, exit_code->as.integer);
	if (call->figures != NULL && has(call->figures, cpu_us))
		SET(result, resource_usage, run_call_figures_tree(call->figures, timeline->arena));
	if (written != NULL)
		SET(result, artifacts,
		    ((struct str_list){
			    arena_copy(timeline->arena, &written->name, sizeof(written->name)),
			    1 }));
	return result;
}

static struct task_part call_part(const struct timeline *timeline, const struct timeline_step *step,
				  const struct timeline_call *call)
{
	struct task_tool_call_part *part = task_tool_call_part_new(timeline->arena);
	SET(part, tool_call, task_parts_call(timeline, step, call));
	return (struct task_part){ .kind = TASK_PART_TOOL_CALL, .as.tool_call = part };
}

static struct task_part result_part(const struct timeline *timeline,
				    const struct timeline_step *step,
				    const struct timeline_call *call)
{
	struct task_tool_result_part *part = task_tool_result_part_new(timeline->arena);
	SET(part, tool_result, task_parts_result(timeline, step, call));
	return (struct task_part){ .kind = TASK_PART_TOOL_RESULT, .as.tool_result = part };
}

const struct task_artifact *task_parts_written(const struct timeline *timeline,
					       const struct timeline_step *step,
					       const struct run_write_artifact_outputs *written)
{
	struct task_artifact *artifact = task_artifact_new(timeline->arena);
	char hex[HASH_TEXT_SIZE];
	SET(artifact, uri,
	    str_format(timeline->arena, "/api/runs/" STR_FMT "/artifacts/" STR_FMT "?version=%lld",
		       STR_ARG(task_parts_run_id(timeline)), STR_ARG(written->name),
		       (long long)written->version));
	SET(artifact, mime_type, written->media_type);
	SET(artifact, size_bytes, written->size);
	SET(artifact, version, str_format(timeline->arena, "%lld", (long long)written->version));
	SET(artifact, checksum,
	    str_format(timeline->arena, "sha256:" STR_FMT,
		       STR_ARG(hash_text(&written->sha256, hex))));
	SET(artifact, created_by, step->path);
	return artifact;
}

static struct task_part artifact_part(const struct timeline *timeline,
				      const struct timeline_step *step,
				      const struct run_write_artifact_outputs *written)
{
	struct task_artifact_part *part = task_artifact_part_new(timeline->arena);
	SET(part, artifact, task_parts_written(timeline, step, written));
	return (struct task_part){ .kind = TASK_PART_ARTIFACT, .as.artifact = part };
}

/* The result of a call and the artifact it wrote. */
static size_t finished_parts(const struct timeline *timeline, const struct timeline_step *step,
			     const struct timeline_call *call, struct task_part *out)
{
	const struct run_write_artifact_outputs *written =
		task_parts_artifact(timeline, step, call);
	size_t count = 0;
	out[count++] = result_part(timeline, step, call);
	if (written != NULL)
		out[count++] = artifact_part(timeline, step, written);
	return count;
}

size_t task_parts_of(const struct timeline *timeline, size_t index, struct task_part *out)
{
	const struct event *event = &timeline->source->events[index];
	const struct timeline_step *step = timeline_step(timeline, event);
	const struct timeline_call *call = timeline_call(timeline, index);
	if (!timeline_covers(timeline, event))
		return 0;
	switch (event->type) {
	case EVENT_RUN_CREATED:
		out[0] = text_part(timeline, json_print(timeline->arena, timeline->inputs));
		return 1;
	case EVENT_RUN_FINISHED: {
		struct timeline shown = timeline_at(timeline, index);
		out[0] = text_part(timeline, timeline_result(&shown));
		return 1;
	}
	case EVENT_STEP_COMPUTED:
		if (call->begun_seq > 0) {
			out[0] = result_part(timeline, step, call);
			return 1;
		}
		out[0] = call_part(timeline, step, call);
		out[1] = result_part(timeline, step, call);
		return 2;
	case EVENT_STEP_STARTED:
	case EVENT_TOOL_REQUESTED:
		out[0] = call_part(timeline, step, call);
		return 1;
	case EVENT_TOOL_FINISHED:
		return finished_parts(timeline, step, call, out);
	case EVENT_TURN_FINISHED:
	case EVENT_SUBRUN_FINISHED:
		/* The output of an agent or a sub-run, or why it failed. */
		out[0] =
			text_part(timeline, call->fault.size > 0
						    ? timeline_format_event(timeline, index)
						    : timeline_output_text(timeline, call->output));
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
	case EVENT_RUN_RETRIED:
	case EVENT_RUN_CANCELLING:
	case EVENT_RUN_UNWINDING:
	case EVENT_RUN_SIGNALLED:
	case EVENT_MESSAGE_SENT:
	case EVENT_MESSAGE_READ:
		out[0] = text_part(timeline, timeline_format_event(timeline, index));
		return 1;
	case EVENT_TIMER_FINISHED:
		if (call->begun_seq > 0)
			break; /* its start has the due time */
		out[0] = text_part(timeline, timeline_format_event(timeline, index));
		return 1;
	case EVENT_DOCUMENT_CHANGED:
	case EVENT_BRANCH_ENDED:
	case EVENT_RUN_COMPACTED:
		break;
	}
	return 0;
}
