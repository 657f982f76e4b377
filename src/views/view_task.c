/* views/view_task.c -- S3: steps made of parts, and execution events.
 *
 * S3 has no object for a whole task, only the steps of its history.  A run is one step here, made
 * of everything that happened in it: a tool call and its result are parts of those names; a
 * question, its answer and a wait are text; so are what the run was given (its inputs, first) and
 * how it ended (last).  The history (`more`) has a step for each activation, part of that one.
 * metadata.state is Baton's word and metadata.status S3's: paused, success, error or cancelled.
 *
 * A plain workflow's honest values: no team, so team_config is empty; the inputs as JSON text are
 * the initial prompt; who calls and who asks is the definition; a step's own agent_name is the
 * tool, "human" or "wait".  A recovery names the effect that was left open as its error, the
 * effect's class as its strategy, and succeeded in that the call was made again.
 */
#include "contract/task.h"

#include "views/tree.h"
#include "views/view.h"

/* ---- names --------------------------------------------------------------------------- */

static struct str task_id(const struct story *story)
{
	return story_id_text(story, story->source->run);
}

static struct str call_id(const struct story *story, const struct story_step *step)
{
	return story_id_hex(story, "tc_", story_call_id(story, step));
}

static struct str step_id(const struct story *story, const struct story_step *step)
{
	struct str parts[] = { uuid_str(&story->source->run), S("step"), step->node->name };
	return story_id_hex(story, "step_", uuid_derive(parts, COUNT(parts)));
}

/* ---- parts --------------------------------------------------------------------------- */

static struct task_part text_part(const struct story *story, struct str text)
{
	struct task_text_part *part = task_text_part_new(story->arena);
	SET(part, text, text);
	return (struct task_part){ .kind = TASK_PART_TEXT, .as.text = part };
}

static const struct task_tool_call *call_of(const struct story *story,
					    const struct story_step *step)
{
	struct task_tool_call *call = task_tool_call_new(story->arena);
	SET(call, id, call_id(story, step));
	SET(call, tool_name, step->node->tool);
	SET(call, args, step->inputs);
	return call;
}

static const struct task_tool_result *result_of(const struct story *story,
						const struct story_step *step)
{
	struct task_tool_result *result = task_tool_result_new(story->arena);
	const struct json *exit_code = json_member(step->output, S("exit_code"));
	SET(result, tool_call_id, call_id(story, step));
	SET(result, result, story_output_text(story, step));
	if (step->fault.size > 0)
		SET(result, error, step->fault);
	SET(result, execution_time_ms, story_duration_ms(step->started_at, step->ended_at));
	if (exit_code != NULL && exit_code->kind == JSON_INT)
		SET(result, exit_code, exit_code->as.integer);
	return result;
}

static struct task_part call_part(const struct story *story, const struct story_step *step)
{
	struct task_tool_call_part *part = task_tool_call_part_new(story->arena);
	SET(part, tool_call, call_of(story, step));
	return (struct task_part){ .kind = TASK_PART_TOOL_CALL, .as.tool_call = part };
}

static struct task_part result_part(const struct story *story, const struct story_step *step)
{
	struct task_tool_result_part *part = task_tool_result_part_new(story->arena);
	SET(part, tool_result, result_of(story, step));
	return (struct task_part){ .kind = TASK_PART_TOOL_RESULT, .as.tool_result = part };
}

/* The parts an event adds, two at most; returns how many. */
static size_t event_parts(const struct story *story, size_t index, struct task_part *out)
{
	const struct event *event = &story->source->events[index];
	const struct story_step *step = story_step(story, event);
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
		out[0] = call_part(story, step);
		out[1] = result_part(story, step);
		return 2;
	case EVENT_TOOL_REQUESTED:
		out[0] = call_part(story, step);
		return 1;
	case EVENT_TOOL_FINISHED:
		out[0] = result_part(story, step);
		return 1;
	case EVENT_TOOL_RESTARTED:
	case EVENT_TIMER_REQUESTED:
	case EVENT_HUMAN_REQUESTED:
	case EVENT_HUMAN_FINISHED:
		out[0] = text_part(story, story_says(story, index));
		return 1;
	case EVENT_TIMER_FINISHED:
	case EVENT_DOCUMENT_CHANGED:
	case EVENT_RUN_COMPACTED:
		break;
	}
	return 0;
}

/* ---- steps --------------------------------------------------------------------------- */

/* How many parts a step may have, as its row says. */
static size_t parts_most(void)
{
	const struct field *field = type_fields(task_step_type());
	while (!str_equal(field->name, S("parts")))
		field++;
	return (size_t)field->most;
}

static const struct json *run_metadata(const struct story *story, size_t left_out)
{
	const struct vocabulary_run_row *words = story_words(story);
	bool asks = words->mark == VOCABULARY_ASKS, held = words->mark == VOCABULARY_HELD;
	return TREE(
		story->arena, { S("workflow"), tree_text(story->source->graph->name) },
		{ S("state"), tree_text(words->word) }, { S("status"), tree_text_if(words->task) },
		{ S("pause_reason"), asks   ? tree_text(S("hitl_intervention"))
				     : held ? tree_text(S("user_request"))
					    : tree_none() },
		{ S("parts_left_out"), left_out > 0 ? tree_int((int64_t)left_out) : tree_none() });
}

static struct view_document run_document(const struct story *story)
{
	struct task_step *run = task_step_new(story->arena);
	size_t events = story->source->event_count, count = 0, most = parts_most();
	struct task_part *parts = arena_array(story->arena, struct task_part, 2 * events);
	for (size_t i = 0; i < events; i++)
		count += event_parts(story, i, &parts[count]);
	size_t left_out = count > most ? count - most : 0;
	SET(run, step_id, story_id_hex(story, "step_", story->source->run));
	SET(run, timestamp, story->created_at);
	SET(run, agent_name, story->source->graph->name);
	SET(run, task_id, task_id(story));
	SET(run, parts, ((struct task_part_list){ parts + left_out, count - left_out }));
	SET(run, metadata, run_metadata(story, left_out));
	return view_one(story, "task", task_step_type(), run);
}

static const struct task_step *history_step(const struct story *story,
					    const struct story_step *step)
{
	struct task_step *shown = task_step_new(story->arena);
	struct task_part *parts = arena_array(story->arena, struct task_part, 4);
	size_t count = 0;
	if (step->begun_seq > 0)
		count += event_parts(story, story_index(story, step->begun_seq), &parts[count]);
	if (step->ended_seq > 0)
		count += event_parts(story, story_index(story, step->ended_seq), &parts[count]);
	SET(shown, step_id, step_id(story, step));
	SET(shown, timestamp, step->started_at);
	SET(shown, agent_name, story_agent(step));
	SET(shown, task_id, step->node->name);
	SET(shown, parent_step_id, story_id_hex(story, "step_", story->source->run));
	SET(shown, parts, ((struct task_part_list){ parts, count }));
	SET(shown, metadata,
	    TREE(story->arena, { S("state"), tree_text(vocabulary_step(step->state)->word) },
		 { S("attempts"), tree_int(step->attempts) }));
	return shown;
}

/* A step stands where its first event does. */
static struct view_documents more_documents(const struct story *story)
{
	const void **steps = arena_array(story->arena, const void *, story->count);
	size_t count = 0;
	for (size_t i = 0; i < story->source->event_count; i++) {
		const struct story_step *step = story_step(story, &story->source->events[i]);
		if (step == NULL)
			continue;
		int64_t first = step->begun_seq > 0 ? step->begun_seq : step->ended_seq;
		if (first == story_seq(story, i))
			steps[count++] = history_step(story, step);
	}
	struct view_document *at = arena_array(story->arena, struct view_document, 1);
	at[0] = view_many("history", task_step_type(), steps, count);
	return (struct view_documents){ at, 1 };
}

/* ---- events -------------------------------------------------------------------------- */

static const struct task_task_start_event *task_start(const struct story *story)
{
	struct task_task_start_event *event = task_task_start_event_new(story->arena);
	SET(event, task_id, task_id(story));
	SET(event, timestamp, story->created_at);
	SET(event, initial_prompt, json_print(story->arena, story->inputs));
	SET(event, execution_mode, task_execution_mode_name(TASK_MODE_AUTONOMOUS));
	SET(event, team_config, TREE(story->arena, { S(""), tree_none() }));
	return event;
}

static const struct task_task_complete_event *task_complete(const struct story *story)
{
	struct task_task_complete_event *event = task_task_complete_event_new(story->arena);
	enum task_final_status status;
	bool known = task_final_status_from(story_words(story)->task, &status);
	require(known);
	SET(event, task_id, task_id(story));
	SET(event, timestamp, story->ended_at);
	SET(event, final_status, status);
	SET(event, summary, story_result(story));
	SET(event, total_steps, (int64_t)story->ended_count);
	SET(event, total_duration_ms, story_duration_ms(story->created_at, story->ended_at));
	return event;
}

static const struct task_agent_start_event *agent_start(const struct story *story,
							const struct story_step *step)
{
	struct task_agent_start_event *event = task_agent_start_event_new(story->arena);
	SET(event, agent_name, story_agent(step));
	SET(event, step_id, step_id(story, step));
	SET(event, timestamp, step->started_at);
	return event;
}

static const struct task_agent_complete_event *agent_complete(const struct story *story,
							      const struct story_step *step)
{
	struct task_agent_complete_event *event = task_agent_complete_event_new(story->arena);
	SET(event, agent_name, story_agent(step));
	SET(event, step_id, step_id(story, step));
	SET(event, timestamp, step->ended_at);
	SET(event, execution_time_ms, story_duration_ms(step->started_at, step->ended_at));
	return event;
}

static const struct task_tool_call_event *tool_call(const struct story *story,
						    const struct story_step *step)
{
	struct task_tool_call_event *event = task_tool_call_event_new(story->arena);
	SET(event, tool_call, call_of(story, step));
	SET(event, agent_name, story->source->graph->name);
	SET(event, timestamp, step->started_at);
	return event;
}

static const struct task_tool_result_event *tool_result(const struct story *story,
							const struct story_step *step)
{
	struct task_tool_result_event *event = task_tool_result_event_new(story->arena);
	SET(event, tool_result, result_of(story, step));
	SET(event, timestamp, step->ended_at);
	SET(event, execution_time_ms, story_duration_ms(step->started_at, step->ended_at));
	return event;
}

static const struct task_hitl_request_event *hitl_request(const struct story *story,
							  const struct story_step *step)
{
	struct task_hitl_request_event *event = task_hitl_request_event_new(story->arena);
	SET(event, request_id, story_id_text(story, step->effect));
	switch (step->question->kind) {
	case RUN_REQUEST_APPROVAL:
		SET(event, request_type, TASK_REQUEST_APPROVAL);
		break;
	}
	SET(event, agent_name, story->source->graph->name);
	SET(event, context, story_details(story, story_index(story, step->begun_seq)));
	SET(event, timestamp, step->started_at);
	return event;
}

static const struct task_hitl_response_event *hitl_response(const struct story *story,
							    const struct story_step *step)
{
	struct task_hitl_response_event *event = task_hitl_response_event_new(story->arena);
	bool rejected = step->answer->decision == RUN_DECISION_REJECT;
	SET(event, request_id, story_id_text(story, step->effect));
	SET(event, response_type, rejected ? TASK_RESPONSE_REJECTED : TASK_RESPONSE_APPROVED);
	SET(event, response_data, step->output);
	SET(event, response_time_ms, story_duration_ms(step->started_at, step->ended_at));
	SET(event, timestamp, step->ended_at);
	return event;
}

static const struct task_recovery_event *recovery(const struct story *story, size_t index,
						  const struct story_step *step)
{
	struct task_recovery_event *event = task_recovery_event_new(story->arena);
	SET(event, error_id, story_id_text(story, step->effect));
	SET(event, recovery_strategy, run_effect_class_name(step->node->class));
	SET(event, success, true);
	SET(event, timestamp, story->source->events[index].at);
	SET(event, details, story_details(story, index));
	return event;
}

static struct view_document event_document(const struct story *story, size_t index, struct str word)
{
	const struct story_step *step = story_step(story, &story->source->events[index]);
	struct task_execution_event *event = arena_new(story->arena, struct task_execution_event);
	if (str_equal(word, S("event_task_start")))
		*event = (struct task_execution_event){ TASK_EVENT_TASK_START,
							.as.task_start = task_start(story) };
	else if (str_equal(word, S("event_task_complete")))
		*event = (struct task_execution_event){ TASK_EVENT_TASK_COMPLETE,
							.as.task_complete = task_complete(story) };
	else if (str_equal(word, S("event_agent_start")))
		*event =
			(struct task_execution_event){ TASK_EVENT_AGENT_START,
						       .as.agent_start = agent_start(story, step) };
	else if (str_equal(word, S("event_agent_complete")))
		*event = (struct task_execution_event){ TASK_EVENT_AGENT_COMPLETE,
							.as.agent_complete =
								agent_complete(story, step) };
	else if (str_equal(word, S("event_tool_call")))
		*event = (struct task_execution_event){ TASK_EVENT_TOOL_CALL,
							.as.tool_call = tool_call(story, step) };
	else if (str_equal(word, S("event_tool_result")))
		*event =
			(struct task_execution_event){ TASK_EVENT_TOOL_RESULT,
						       .as.tool_result = tool_result(story, step) };
	else if (str_equal(word, S("event_hitl_request")))
		*event = (struct task_execution_event){ TASK_EVENT_HITL_REQUEST,
							.as.hitl_request =
								hitl_request(story, step) };
	else if (str_equal(word, S("event_hitl_response")))
		*event = (struct task_execution_event){ TASK_EVENT_HITL_RESPONSE,
							.as.hitl_response =
								hitl_response(story, step) };
	else {
		require(str_equal(word, S("event_recovery")));
		*event = (struct task_execution_event){ TASK_EVENT_RECOVERY,
							.as.recovery =
								recovery(story, index, step) };
	}
	return view_one(story, "event", task_execution_event_type(), event);
}

const struct view_ops view_task_ops = { .run = run_document,
					.more = more_documents,
					.event = event_document };
