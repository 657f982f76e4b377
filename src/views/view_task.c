/* views/view_task.c -- the task vocabulary: steps made of parts, and execution events.
 *
 * The vocabulary has no object for a whole task, only the steps of its history.  So a run is one
 * step: its first part is the inputs, its last part how the run ended.  A tool call and its result
 * are parts of those types, for every attempt; outputs of agents and sub-runs and all other events
 * are text.  The history (`more`) has one step per activation with the path as task_id and the
 * container as parent.  metadata.state is Baton's own word, metadata.status that of the vocabulary:
 * paused, success, error or cancelled.
 *
 * Values of a plain workflow: team_config is empty; the initial prompt is the inputs as JSON; the
 * caller of a tool and the author of a question are the workflow; agent_name of a step is the tool,
 * the agent, the workflow of a sub-run, or "human", "wait", "loop" and so on.  A recovery event has
 * the open effect as its error and the effect class as its strategy; it succeeded when the call was
 * made again.
 */
#include "contract/run_start_types.h"
#include "views/task_parts.h"

#include "contract/run_graph_types.h"
#include "contract/type.h"
#include "views/view_tree.h"

/* ---- steps ------------------------------------------------------------------------- */

/* Maximum number of parts of a step, from its declaration. */
static size_t parts_most(void)
{
	const struct field *field = type_fields(task_step_type());
	while (!str_equal(field->name, S("parts")))
		field++;
	return (size_t)field->most;
}

static const struct json *run_metadata(const struct timeline *timeline, size_t left_out)
{
	const struct vocabulary_run_row *words = timeline_words(timeline);
	bool asks = words->mark == VOCABULARY_ASKS, held = words->mark == VOCABULARY_HELD;
	const struct json *own = TREE(
		timeline->arena, { S("workflow"), view_tree_text(timeline->source->graph->name) },
		{ S("state"), view_tree_text(words->word) },
		{ S("status"), view_tree_text_if(words->task) },
		{ S("summary"), words->mark == VOCABULARY_ISSUES ? view_tree_text(timeline->fault)
								 : view_tree_none() },
		{ S("pause_reason"), asks   ? view_tree_text(S("hitl_intervention"))
				     : held ? view_tree_text(S("user_request"))
					    : view_tree_none() },
		{ S("parts_left_out"),
		  left_out > 0 ? view_tree_int((int64_t)left_out) : view_tree_none() });
	return view_tree_merge(timeline->arena, own, timeline->start->annotations);
}

static struct view_document run_document(const struct timeline *timeline)
{
	struct task_step *run = task_step_new(timeline->arena);
	size_t events = timeline->source->event_count, count = 0, most = parts_most();
	struct task_part *parts = arena_array(timeline->arena, struct task_part, 2 * events);
	for (size_t i = 0; i < events; i++)
		count += task_parts_of(timeline, i, &parts[count]);
	size_t left_out = count > most ? count - most : 0;
	SET(run, step_id, timeline_id_hex(timeline, "step_", timeline->source->run));
	SET(run, timestamp, timeline->created_at);
	SET(run, agent_name, timeline->source->graph->name);
	SET(run, task_id, task_parts_run_id(timeline));
	SET(run, parts, ((struct task_part_list){ parts + left_out, count - left_out }));
	SET(run, metadata, run_metadata(timeline, left_out));
	return view_run(timeline, "task", task_step_type(), run);
}

/* The parts of a step's calls, oldest first; only the newest when there are too many. */
static struct task_part_list step_parts(const struct timeline *timeline,
					const struct timeline_step *step)
{
	const struct timeline_call **calls = timeline_calls(timeline, step);
	size_t count = 0, most = parts_most();
	struct task_part *parts =
		arena_array(timeline->arena, struct task_part, 4 * step->call_count + 2);
	for (size_t i = 0; i < step->call_count; i++) {
		int64_t begun = calls[i]->begun_seq, ended = calls[i]->ended_seq;
		if (begun > 0)
			count += task_parts_of(timeline, timeline_index(timeline, begun),
					       &parts[count]);
		if (ended > 0)
			count += task_parts_of(timeline, timeline_index(timeline, ended),
					       &parts[count]);
	}
	if (step->call_count == 0 && step->ended_seq > 0)
		count += task_parts_of(timeline, timeline_index(timeline, step->ended_seq),
				       &parts[count]);
	size_t left_out = count > most ? count - most : 0;
	return (struct task_part_list){ parts + left_out, count - left_out };
}

static const struct task_step *history_step(const struct timeline *timeline,
					    const struct timeline_step *step)
{
	struct task_step *shown = task_step_new(timeline->arena);
	SET(shown, step_id, task_parts_step_id(timeline, step));
	SET(shown, timestamp, step->started ? step->started_at : step->ended_at);
	SET(shown, agent_name, timeline_agent(step));
	SET(shown, task_id, step->path);
	SET(shown, parent_step_id,
	    step->parent != NULL ? task_parts_step_id(timeline, step->parent)
				 : timeline_id_hex(timeline, "step_", timeline->source->run));
	SET(shown, parts, step_parts(timeline, step));
	SET(shown, metadata,
	    TREE(timeline->arena,
		 { S("state"), view_tree_text(vocabulary_step(step->state)->word) },
		 { S("attempts"), view_tree_int(step->attempts) }));
	return shown;
}

/* Steps are ordered by their first event. */
static struct view_documents more_documents(const struct timeline *timeline)
{
	const void **steps = arena_array(timeline->arena, const void *, timeline->count);
	size_t count = 0;
	for (size_t i = 0; i < timeline->source->event_count; i++) {
		const struct timeline_step *step =
			timeline_step(timeline, &timeline->source->events[i]);
		if (step == NULL)
			continue;
		int64_t first = step->begun_seq > 0 ? step->begun_seq : step->ended_seq;
		if (first == timeline_seq(timeline, i))
			steps[count++] = history_step(timeline, step);
	}
	struct view_document *at = arena_array(timeline->arena, struct view_document, 1);
	at[0] = view_many("history", task_step_type(), steps, count);
	return (struct view_documents){ at, 1 };
}

static struct view_document event_document(const struct view_group *group, size_t n)
{
	return view_one(&group->timeline, "event", task_execution_event_type(),
			task_event(group, n));
}

const struct view_ops view_task_ops = { .run = run_document,
					.more = more_documents,
					.event = event_document };
