/* sim/sim_story.c -- invariants of a run's events beyond folding: acknowledgments, real starts of
 * tools, and the end of the run.
 *
 * The checks read the record of everything ever committed.  The only other sources are the ledger of
 * child processes and the acknowledgments that callers got.
 */
#include <stdlib.h>

#include "contract/run_class_types.h"
#include "contract/event_result.h"
#include "contract/run_event_types.h"
#include "contract/run_node_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_start_types.h"
#include "contract/run_value_types.h"
#include "engine/run.h"
#include "sim/sim.h"

/* ---- (d) the ledger ----------------------------------------------------------------- */

/* The attempts at one effect according to the disk. */
struct traces {
	bool requested;
	size_t requests;
	int64_t attempt; /* the newest */
	size_t failures; /* attempts that failed, before the newest request */
	enum run_effect_class class;
	const struct sim_recorded
		*finished; /* the event that closed the requested attempt, or NULL */
};

static void trace(struct traces *traces, const struct sim_recorded *at, const struct uuid *effect,
		  int64_t attempt)
{
	const struct event *event = &at->event;
	if (event->type == EVENT_TOOL_REQUESTED &&
	    uuid_equal(&event->as.run_tool_requested->effect, effect)) {
		const struct run_tool_requested *body = event->as.run_tool_requested;
		traces->requested = true;
		traces->requests++;
		traces->attempt = has(body, attempt) ? body->attempt : 1;
		traces->class = body->class;
	} else if (event->type == EVENT_TOOL_RESTARTED &&
		   uuid_equal(&event->as.run_tool_restarted->effect, effect)) {
		traces->attempt = event->as.run_tool_restarted->attempt;
	} else if (event->type == EVENT_TOOL_FINISHED &&
		   uuid_equal(&event->as.run_tool_finished->effect, effect)) {
		traces->failures += event->as.run_tool_finished->outcome == RUN_OUTCOME_FAILED;
		traces->requested = false;
		if (traces->attempt == attempt)
			traces->finished = at;
	}
}

static struct traces traces_of(const struct sim *sim, const struct uuid *run,
			       const struct uuid *effect, int64_t attempt)
{
	struct traces traces = { 0 };
	for (const struct sim_recorded *at = sim_first(sim, run); at != NULL;
	     at = sim_next(sim, at))
		trace(&traces, at, effect, attempt);
	return traces;
}

size_t sim_failures(const struct sim *sim, const struct uuid *run, const struct uuid *effect)
{
	return traces_of(sim, run, effect, 0).failures;
}

/* Slots: a person who settles an outcome with a retry may exceed the limit. */
static void check_room(struct sim *sim, const struct tool_call *call)
{
	size_t alive = 1, extra = 0;
	for (size_t i = 0; i < sim->child_count; i++) {
		const struct sim_child *child = &sim->children[i];
		if (!child->alive || !uuid_equal(&child->run, &call->run))
			continue;
		alive += !child->lingering;
		if (child->class == RUN_CLASS_CONTAINED && call->class == RUN_CLASS_CONTAINED &&
		    child->folder == strtoul(call->workspace, NULL, 10))
			sim_fail(sim, "two contained tools in one folder at once");
	}
	for (const struct sim_recorded *at = sim_first(sim, &call->run); at != NULL;
	     at = sim_next(sim, at))
		extra += at->event.type == EVENT_HUMAN_FINISHED &&
			 at->event.as.run_human_finished->decision == RUN_DECISION_RETRY;
	AUTO(arena) arena = { 0 };
	const struct run *run = sim_fold(sim, &call->run, &arena);
	if (run != NULL && alive > run->graph->concurrency + extra)
		sim_fail(sim, "%zu tools at once, but the limit is %u", alive,
			 run->graph->concurrency);
}

void sim_check_start(struct sim *sim, const struct tool_call *call)
{
	sim_memory_outside();
	struct traces traces = traces_of(sim, &call->run, &call->effect, call->attempt);
	if (traces.requests == 0)
		sim_fail(sim, "a tool is started and its request is not on the disk");
	else if (!traces.requested)
		sim_fail(sim, "a tool is started that is closed on the disk");
	else if (traces.attempt != call->attempt)
		sim_fail(sim, "attempt %lld is started, the disk knows of %lld",
			 (long long)call->attempt, (long long)traces.attempt);
	if (sim_child_lives(sim, &call->effect))
		sim_fail(sim, "a tool is started while a child of the same effect lives");
	check_room(sim, call);
	sim_memory_inside();
}

/* A `once` effect is started as often as it was requested: again only after a known failure, or
 * because a person requested it. */
static void check_ledger(struct sim *sim)
{
	for (size_t i = 0; i < sim->child_count; i++) {
		const struct sim_child *child = &sim->children[i];
		size_t starts = 1;
		for (size_t k = i + 1; k < sim->child_count; k++) {
			const struct sim_child *other = &sim->children[k];
			if (!uuid_equal(&child->effect, &other->effect))
				continue;
			starts++;
			if (child->attempt >= other->attempt)
				sim_fail(sim, "two starts of one effect with the same attempt");
		}
		if (child->class != RUN_CLASS_ONCE)
			continue;
		struct traces traces = traces_of(sim, &child->run, &child->effect, child->attempt);
		if (starts > traces.requests)
			sim_fail(sim, "a `once` tool was started again without a request");
		if (traces.finished == NULL ||
		    traces.finished->row.position <= sim->life_ends[child->life])
			continue;
		if (traces.finished->event.as.run_tool_finished->outcome != RUN_OUTCOME_UNKNOWN)
			sim_fail(sim, "an interrupted `once` tool is not marked as unknown");
	}
}

/* ---- (g) one run -------------------------------------------------------------------- */

/* After run.cancelling, only closing events of open effects may follow, until run.unwinding; and what
 * finally steps that were under way do. */
static bool begins(enum event_type type)
{
	return type != EVENT_RUN_UNWINDING && type != EVENT_RUN_RETRIED &&
	       type != EVENT_TOOL_RESTARTED && type != EVENT_TIMER_FINISHED &&
	       type != EVENT_HUMAN_FINISHED && type != EVENT_HUMAN_ESCALATED &&
	       type != EVENT_STEP_COMPUTED && type != EVENT_TOOL_FINISHED &&
	       type != EVENT_TURN_FINISHED && type != EVENT_SUBRUN_FINISHED &&
	       type != EVENT_RUN_FINISHED && type != EVENT_RUN_COMPACTED;
}

static const struct sim_recorded *end_event(const struct sim *sim, const struct uuid *run)
{
	for (const struct sim_recorded *at = sim_first(sim, run); at != NULL;
	     at = sim_next(sim, at))
		if (at->event.type == EVENT_RUN_FINISHED)
			return at;
	return NULL;
}

static struct str value_text(struct sim *sim, const struct run_value *value, struct arena *arena)
{
	if (value == NULL)
		return S("-");
	return has(value, sha256) ? sim_blob(sim, &value->sha256, arena)
				  : json_print(arena, value->json);
}

/* The outcome of a sub-run is that of the child, unless the child was never created. */
static void check_child(struct sim *sim, const struct sim_recorded *at)
{
	AUTO(arena) arena = { 0 };
	const struct run_subrun_finished *body = at->event.as.run_subrun_finished;
	const struct sim_recorded *end = end_event(sim, &body->effect);
	if (sim_known(sim, &body->effect) == SIZE_MAX) {
		if (body->outcome == RUN_OUTCOME_OK)
			sim_fail(sim, "a sub-run succeeded but its child never existed");
		return;
	}
	if (end == NULL || end > at) {
		sim_fail(sim, "a sub-run is closed and the child has not ended");
		return;
	}
	const struct run_finished *child = end->event.as.run_finished;
	if (child->outcome != body->outcome)
		sim_fail(sim, "a sub-run's outcome is not the child's");
	if (child->outcome == RUN_OUTCOME_OK &&
	    !str_equal(value_text(sim, has(child, outputs) ? child->outputs : NULL, &arena),
		       value_text(sim, has(body, output) ? body->output : NULL, &arena)))
		sim_fail(sim, "a sub-run's output is not the child's");
}

/* Within one life, a delay takes its time whatever happens to the wall clock.  Two cases are not
 * checked: waits that were delayed by the disk, and waits requested just when the clock was set,
 * because the wall clock decides until the request is on the disk and acted on. */
enum { PATIENCE_US = 60 * 1000000 };

static bool clock_was_set(const struct sim *sim, int64_t from, int64_t to)
{
	for (size_t i = 0; i < SIM_JUMPS; i++)
		if (sim->jumps[i] > from && sim->jumps[i] < to)
			return true;
	return false;
}

static void check_wait(struct sim *sim, const struct sim_recorded *asked)
{
	const struct run_timer_requested *body = asked->event.as.run_timer_requested;
	if (has(body, signal) || sim->mode == SIM_DISK_FULL)
		return;
	const struct sim_recorded *at = asked;
	while (at != NULL && !(at->event.type == EVENT_TIMER_FINISHED &&
			       uuid_equal(&at->event.as.run_timer_finished->effect, &body->effect)))
		at = sim_next(sim, at);
	int64_t waited = at == NULL ? 0 : at->mono - asked->mono;
	int64_t wanted = body->due_at - asked->event.at;
	if (at == NULL || at->life != asked->life || asked->mono - asked->jumped_at < PATIENCE_US ||
	    clock_was_set(sim, asked->mono, asked->mono + PATIENCE_US))
		return;
	sim->counts.punctual++;
	if (waited > wanted + PATIENCE_US || waited < wanted - PATIENCE_US)
		sim_fail(sim, "a wait of %lld us took %lld us", (long long)wanted,
			 (long long)waited);
}

/* Counts rare situations. */
static void count_event(struct sim_counts *counts, const struct event *event)
{
	enum event_type type = event->type;
	if (type == EVENT_RUN_CREATED) {
		counts->subruns += has(event->as.run_created, parent);
		counts->queued += has(event->as.run_created, queued);
	} else if (type == EVENT_RUN_CANCELLING) {
		counts->cancels += !has(event->as.run_cancelling, fault);
		counts->timeouts += has(event->as.run_cancelling, fault);
	} else if (type == EVENT_HUMAN_FINISHED) {
		enum run_decision decision = event->as.run_human_finished->decision;
		counts->settled += decision == RUN_DECISION_HAPPENED ||
				   decision == RUN_DECISION_NOT_HAPPENED ||
				   decision == RUN_DECISION_RETRY;
	} else if (type == EVENT_TOOL_FINISHED) {
		const struct run_tool_finished *body = event->as.run_tool_finished;
		counts->unknown += body->outcome == RUN_OUTCOME_UNKNOWN;
		counts->retries += has(body, next) && has(body->next, retry_at);
	}
	counts->pauses += type == EVENT_RUN_PAUSED;
	counts->signals += type == EVENT_RUN_SIGNALLED;
	counts->messages += type == EVENT_MESSAGE_SENT;
	counts->readings += type == EVENT_MESSAGE_READ;
	counts->escalations += type == EVENT_HUMAN_ESCALATED;
}

void sim_count_story(struct sim *sim)
{
	for (size_t i = 0; i < sim->record_count; i++)
		count_event(&sim->counts, &sim->record[i].event);
}

/* A finally step that runs when its run is cancelled is left alone.  If its outcome is unknown, a
 * person is asked.  The activation may be gone, so any finally step of the graph will do. */
static bool settles_finally(const struct run *run, const struct event *event)
{
	if (event->type != EVENT_HUMAN_REQUESTED ||
	    event->as.run_human_requested->kind != RUN_REQUEST_OUTCOME_UNKNOWN)
		return false;
	for (size_t i = 0; i < run->graph->node_count; i++)
		if (run->graph->nodes[i].section == RUN_SECTION_FINALLY)
			return true;
	return false;
}

static void check_run(struct sim *sim, const struct run *run)
{
	bool cancelling = false, ended = false;
	for (const struct sim_recorded *at = sim_first(sim, &run->id); at != NULL;
	     at = sim_next(sim, at)) {
		enum event_type type = at->event.type;
		if (cancelling && begins(type) && !settles_finally(run, &at->event))
			sim_fail(sim, STR_FMT " behind run.cancelling", STR_ARG(event_name(type)));
		if (ended && type != EVENT_RUN_COMPACTED && type != EVENT_RUN_RETRIED)
			sim_fail(sim, STR_FMT " behind the end of a run",
				 STR_ARG(event_name(type)));
		cancelling = type != EVENT_RUN_UNWINDING && type != EVENT_RUN_RETRIED &&
			     (cancelling || type == EVENT_RUN_CANCELLING);
		ended = (ended && type != EVENT_RUN_RETRIED) || type == EVENT_RUN_FINISHED;
		if (type == EVENT_SUBRUN_FINISHED)
			check_child(sim, at);
		if (type == EVENT_TIMER_REQUESTED)
			check_wait(sim, at);
	}
}

static bool waits_again(const struct event *retried)
{
	const struct run_retried *body = retried->as.run_retried;
	return has(body, queued) && body->queued;
}

/* A run that was cancelled while queued has not begun. */
static bool has_begun(const struct sim *sim, const struct sim_recorded *end)
{
	const struct sim_recorded *at = sim_first(sim, &end->row.run);
	const struct run_created *created = at->event.as.run_created;
	bool begun = !has(created, queued) || !created->queued;
	for (; at != end; at = sim_next(sim, at)) {
		begun = begun || at->event.type == EVENT_RUN_STARTED;
		if (at->event.type == EVENT_RUN_RETRIED)
			begun = !waits_again(&at->event);
	}
	return begun;
}

/* Of the runs with a concurrency key, one is active at a time, from its begin to its end. */
static void check_alone(struct sim *sim)
{
	size_t under_way = 0;
	for (size_t i = 0; i < sim->record_count; i++) {
		const struct event *event = &sim->record[i].event;
		const struct sim_recorded *first = sim_first(sim, &sim->record[i].row.run);
		if (first == NULL)
			continue; /* of the system stream */
		const struct run_created *created = first->event.as.run_created;
		if (!has(created, key))
			continue;
		bool queued = has(created, queued) && created->queued;
		under_way += event->type == EVENT_RUN_STARTED ||
			     (event->type == EVENT_RUN_RETRIED && !waits_again(event)) ||
			     (event->type == EVENT_RUN_CREATED && !queued);
		if (under_way > 1)
			sim_fail(sim, "two runs with the same concurrency key are active");
		if (event->type == EVENT_RUN_FINISHED && under_way > 0)
			under_way -= has_begun(sim, &sim->record[i]);
	}
}

void sim_check_story(struct sim *sim, struct run *const *folds)
{
	check_alone(sim);
	for (size_t i = 0; i < sim->known_count; i++)
		check_run(sim, folds[i]);
	sim_check_told(sim);
	check_ledger(sim);
}

/* ---- (e) the same end as in a calm world -------------------------------------------- */

static void add_value(struct sim *sim, const struct value *value, struct buf *out,
		      struct arena *arena)
{
	if (value->kind == VALUE_STORED)
		buf_add(out, sim_blob(sim, &value->hash, arena));
	else if (value->kind == VALUE_INLINE)
		buf_add(out, value->text);
	else
		buf_add(out, S("-"));
}

static int compare_paths(const void *a, const void *b)
{
	const struct activation *const *left = a, *const *right = b;
	return str_compare((*left)->path, (*right)->path);
}

/* Which of several faults came first depends on timing, so the fault of a body or a run is not
 * compared, only its existence. */
static struct str end_of(struct sim *sim, const struct run *run, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	buf_add(&text, run_state_row(run->state)->word);
	buf_add(&text, S(" "));
	add_value(sim, &run->outputs, &text, arena);
	const struct activation **steps =
		arena_array(arena, const struct activation *, run->paths.count);
	size_t count = 0;
	for (uint32_t i = 0; i < run->paths.room; i++)
		if (run->paths.at[i] != NULL)
			steps[count++] = run->paths.at[i];
	qsort(steps, count, sizeof(*steps), compare_paths);
	for (size_t i = 0; i < count; i++) {
		const struct activation *step = steps[i];
		enum run_node_kind kind = run_node(run, step)->kind;
		bool told = step->state == STEP_FAILED && !run_is_container(kind) &&
			    kind != RUN_NODE_SUBRUN;
		buf_add_format(&text, "\n" STR_FMT " " STR_FMT " " STR_FMT ": " STR_FMT,
			       STR_ARG(step->path), STR_ARG(step_state_row(step->state)->word),
			       STR_ARG(told ? step->fault.code : S("")),
			       STR_ARG(told ? step->fault.text : S("")));
	}
	return str_copy(arena, buf_str(&text));
}

/* The effect was stopped, with its run or by its timeout. */
static bool is_told_before(const struct sim *sim, const struct sim_recorded *end)
{
	const struct uuid *effect = &end->event.as.run_tool_finished->effect;
	for (const struct sim_recorded *at = sim_first(sim, &end->row.run); at != end;
	     at = sim_next(sim, at))
		if (at->event.type == EVENT_RUN_CANCELLING ||
		    (at->event.type == EVENT_TOOL_REQUESTED &&
		     uuid_equal(&at->event.as.run_tool_requested->effect, effect) &&
		     has(at->event.as.run_tool_requested, due_at)))
			return true;
	return false;
}

/* Checks that every effect closed as unknown may be unknown; true when there is one. */
static bool is_unknown(struct sim *sim, const struct sim_recorded *at)
{
	if (at->event.type != EVENT_TOOL_FINISHED ||
	    at->event.as.run_tool_finished->outcome != RUN_OUTCOME_UNKNOWN)
		return false;
	struct traces traces =
		traces_of(sim, &at->row.run, &at->event.as.run_tool_finished->effect, 0);
	if (traces.class != RUN_CLASS_ONCE && traces.class != RUN_CLASS_CONTAINED &&
	    traces.class != RUN_CLASS_PROBE &&
	    !(traces.class == RUN_CLASS_KEYED && is_told_before(sim, at)))
		sim_fail(sim, "an effect is unknown that could have been repeated");
	return true;
}

/* Branches need their trees: if git fails, so does the step. */
static bool git_failed(const struct event *event)
{
	struct event_result result;
	const struct run_fault *fault = event_result(event, &result) ? result.fault : NULL;
	if (event->type == EVENT_BRANCH_ENDED && has(event->as.run_branch_ended, fault))
		fault = event->as.run_branch_ended->fault;
	return fault != NULL && str_ends(fault->text, S("git failed by order"));
}

/* Whether the run or one of its sub-runs had something that may differ between worlds: an unknown
 * outcome, a retry, or a cancel by a person.  *called_off: the run was cancelled by the program; then only its
 * final state is the same. */
static bool is_disturbed(struct sim *sim, const struct uuid *run, bool *called_off)
{
	bool disturbed = false, ignored;
	for (const struct sim_recorded *at = sim_first(sim, run); at != NULL;
	     at = sim_next(sim, at)) {
		disturbed = is_unknown(sim, at) || git_failed(&at->event) ||
			    at->event.type == EVENT_RUN_RETRIED || disturbed;
		if (at->event.type == EVENT_SUBRUN_REQUESTED)
			disturbed = is_disturbed(sim, &at->event.as.run_subrun_requested->effect,
						 &ignored) ||
				    disturbed;
		if (at->event.type != EVENT_RUN_CANCELLING)
			continue;
		*called_off = true;
		disturbed = disturbed || !has(at->event.as.run_cancelling, fault);
	}
	return disturbed;
}

static int compare_writes(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
	return left < right ? -1 : left > right;
}

static struct str sorted_content(struct sim *sim, const struct uuid *run, struct arena *arena)
{
	size_t folder = sim_workspace_folder(&sim->workspace, run, S(""));
	const struct sim_content *content = &sim->workspace.folders[folder].content;
	size_t size = content->count * sizeof(*content->at);
	uint64_t *copy = arena_array(arena, uint64_t, content->count);
	for (size_t i = 0; i < content->count; i++)
		copy[i] = content->at[i];
	qsort(copy, content->count, sizeof(*copy), compare_writes);
	return (struct str){ (const char *)copy, size };
}

void sim_check_same_end(struct sim *sim, struct sim *calm)
{
	for (size_t i = 0; i < sim->plan.run_count && !sim->failed; i++) {
		AUTO(arena) arena = { 0 };
		const struct uuid *id = &sim->plan.runs[i].id;
		struct run *run = sim_fold(sim, id, &arena), *other = sim_fold(calm, id, &arena);
		if (run == NULL || other == NULL) {
			sim_fail(sim, "a run is missing at the end");
			return;
		}
		bool called_off = false;
		if (is_disturbed(sim, id, &called_off) ||
		    !sim->plan.steady[sim->plan.runs[i].definition])
			continue;
		is_disturbed(calm, id, &called_off);
		sim->counts.compared++;
		if (called_off) {
			if (run->state != other->state)
				sim_fail(sim, "run %zu is cancelled in one world only", i);
			continue;
		}
		struct str mine = end_of(sim, run, &arena), theirs = end_of(calm, other, &arena);
		if (!str_equal(mine, theirs))
			sim_fail(sim,
				 "run %zu ends differently than in the calm world:\n" STR_FMT
				 "\n-- undisturbed:\n" STR_FMT,
				 i, STR_ARG(mine), STR_ARG(theirs));
		if (!str_equal(sorted_content(sim, id, &arena), sorted_content(calm, id, &arena)))
			sim_fail(sim, "run %zu leaves a different folder than in the calm world",
				 i);
	}
}
