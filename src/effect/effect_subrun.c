/* effect/effect_subrun.c -- a run as a step of another run (architecture R16).
 *
 * The child's id is the effect's id, so beginning is idempotent: a reader looks first whether the
 * child exists.  An ended child closes the effect with its outcome; a child under way goes on by
 * itself; a child that does not exist is created.  The same look is made after a crash and when a
 * child ends.  Only what is stored of parent and child counts, so it does not matter which of them
 * is in memory.
 */
#include "effect/effect.h"

#include <stdlib.h>

#include "active/executor_jobs.h"
#include "active/run_load.h"
#include "active/run_prompts.h"
#include "contract/run_graph_types.h"
#include "contract/run_node_types.h"
#include "contract/run_open_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_start_types.h"
#include "os/failpoint.h"
#include "active/stored_row.h"

struct look {
	struct executor_read read;
	uint64_t active; /* the parent, which is pinned; 0 = found by the effect's row */
	struct uuid child, parent;
	struct str step; /* the parent's */
	bool open;       /* the effect */
	bool exists;     /* the child is stored */
	bool ended;      /* the child has ended */
	bool called_off; /* the child must not begin, or not go on */
	bool unwinds;    /* only this is wanted: whether the parent still waits for its cleanup */
	bool overdue;    /* it does not */
	int64_t now;
	enum run_outcome outcome;
	const struct json *output;
	struct failure fault;
	/* What the child is created with. */
	struct str graph_text;
	struct value inputs;
	struct str by, trace, profile, repository, plan_path_pattern, tracker;
	bool simulated;
	struct cached_graph *graph;
	const struct json *given;
	struct error error;
};

/* ---- on a reader's thread ------------------------------------------------------------ */

static bool read_value(struct look *look, struct store_reader *reader, const struct value *value,
		       const struct json **out)
{
	/* The parsed value shares the text, and the state that holds it is freed soon. */
	struct str text = str_copy(&look->read.arena, value->text);
	bool found = true;
	*out = NULL;
	if (value->kind == VALUE_ABSENT)
		return true;
	if (value->kind == VALUE_STORED &&
	    !reader->ops->read_blob(reader, &value->hash, &look->read.arena, &text, &found,
				    &look->error))
		return false;
	if (!found)
		return fail(&look->error, ERROR_STORAGE, "a value of a sub-run is not stored");
	return json_read(text, &look->read.arena, out, &look->error);
}

static bool read_effect(struct look *look, struct store_reader *reader)
{
	struct store_effect effect;
	const struct json *json;
	struct arena *arena = &look->read.arena;
	if (!reader->ops->read_effect(reader, &look->child, arena, &effect, &look->open,
				      &look->error))
		return false;
	if (!look->open)
		return true;
	if (!json_read(effect.body, arena, &json, &look->error))
		return stored_effect_fail(&effect, &look->error);
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = json, .text = effect.body, .lenient = true };
	const struct run_open_effect *body = run_open_effect_parse(&source, arena, &problems);
	if (body == NULL) {
		problems_fail(&problems, &look->error);
		return stored_effect_fail(&effect, &look->error);
	}
	look->parent = effect.run;
	look->step = body->step;
	return true;
}

static void take_end(struct look *look, struct store_reader *reader, const struct run *run)
{
	look->ended = true;
	look->outcome = run->state == RUN_SUCCEEDED   ? RUN_OUTCOME_OK
			: run->state == RUN_CANCELLED ? RUN_OUTCOME_CANCELLED
						      : RUN_OUTCOME_FAILED;
	look->fault.code = str_copy(&look->read.arena, run->fault.code);
	look->fault.text = str_copy(&look->read.arena, run->fault.text);
	if (look->outcome == RUN_OUTCOME_OK)
		read_value(look, reader, &run->outputs, &look->output);
}

/* The parent may have left memory, so its stored state counts. */
static void look_at_parent(struct look *look, struct store_reader *reader)
{
	struct executor *executor = look->read.executor;
	struct loaded_run loaded;
	if (!look->open || !run_load(executor, reader, &look->parent, &loaded, &look->error))
		return;
	const struct run *run = loaded.run;
	look->overdue = run != NULL && !run_ended(run) &&
			(run->abandoned || (run->cancelling && !run->unwinding && run->due_at > 0 &&
					    run->due_at <= look->now));
	run_load_discard(executor, &loaded);
}

static void look_work(struct executor_read *read, struct store_reader *reader)
{
	struct look *look = (struct look *)read;
	struct executor *executor = read->executor;
	struct loaded_run loaded;
	if (!read_effect(look, reader))
		return;
	if (look->unwinds) {
		look_at_parent(look, reader);
		return;
	}
	if (!look->open || !run_load(executor, reader, &look->child, &loaded, &look->error))
		return;
	look->exists = loaded.run != NULL;
	if (look->exists && run_ended(loaded.run))
		take_end(look, reader, loaded.run);
	run_load_discard(executor, &loaded);
	if (look->exists || look->graph_text.size == 0)
		return;
	look->graph =
		graph_cache_load(executor_graphs(executor), look->graph_text, NULL, &look->error);
	if (look->graph != NULL)
		read_value(look, reader, &look->inputs, &look->given);
}

/* ---- on the loop --------------------------------------------------------------------- */

static void close_effect(struct look *look, enum run_outcome outcome)
{
	struct executor *executor = look->read.executor;
	struct pending_command *pending = pending_command_new(COMMAND_FINISHED);
	pending->command.step = str_copy(&pending->arena, look->step);
	pending->command.effect = look->child;
	pending->command.outcome = outcome;
	pending->command.output = look->output;
	if (outcome != RUN_OUTCOME_OK)
		pending->command.fault =
			(struct failure){ str_copy(&pending->arena, look->fault.code),
					  str_copy(&pending->arena, look->fault.text) };
	arena_join(&pending->arena, &look->read.arena);
	FAILPOINT("subrun.ended");
	active_run_command(active_run_get(executor, &look->parent), pending);
}

/* Inputs that the child does not accept fail the step. */
static void create(struct look *look)
{
	struct executor *executor = look->read.executor;
	struct problems problems = { .arena = &look->read.arena };
	static const struct json nothing = { .kind = JSON_OBJECT };
	const struct json *inputs =
		graph_inputs(look->graph->graph, look->given == NULL ? &nothing : look->given,
			     &look->read.arena, &problems);
	if (inputs == NULL) {
		struct error error;
		problems_fail(&problems, &error);
		look->fault =
			(struct failure){ error_row(ERROR_INVALID)->name,
					  str_format(&look->read.arena, "inputs: %s", error.text) };
		close_effect(look, RUN_OUTCOME_FAILED);
		return;
	}
	struct pending_command *pending = pending_command_new(COMMAND_CREATE);
	pending->command.inputs = inputs;
	struct run_start *kept = run_start_new(&pending->arena);
	SET(kept, parent, look->parent);
	if (look->by.size > 0)
		SET(kept, by, str_copy(&pending->arena, look->by));
	if (look->trace.size > 0)
		SET(kept, trace, str_copy(&pending->arena, look->trace));
	if (look->profile.size > 0)
		SET(kept, profile, str_copy(&pending->arena, look->profile));
	if (look->repository.size > 0)
		SET(kept, repository, str_copy(&pending->arena, look->repository));
	if (look->plan_path_pattern.size > 0)
		SET(kept, plan_path_pattern, str_copy(&pending->arena, look->plan_path_pattern));
	if (look->tracker.size > 0)
		SET(kept, tracker, str_copy(&pending->arena, look->tracker));
	run_prompts_record(kept, look->graph->graph, &pending->arena);
	if (look->simulated)
		SET(kept, simulated, true);
	pending->command.start = kept;
	arena_join(&pending->arena, &look->read.arena);
	FAILPOINT("subrun.before_create");
	struct active_run *child = active_run_new(executor, look->child, look->graph);
	look->graph = NULL;
	active_run_command(child, pending);
}

/* The child is cancelled like any other run; its end closes the effect.  again: if its finally and undo
 * steps run, they are ended. */
static void engine_cancel_run(struct executor *executor, const struct uuid *child, bool again)
{
	struct pending_command *pending = pending_command_new(COMMAND_CANCEL);
	pending->command.by = S("baton");
	pending->command.only_first = !again;
	pending->command.comment = S("the run it is part of calls it off");
	active_run_command(active_run_get(executor, child), pending);
}

static bool is_parent_cancelling(const struct look *look)
{
	const struct active_run *parent = active_run_find(look->read.executor, &look->parent);
	const struct activation *step = parent == NULL || parent->run == NULL
						? NULL
						: run_activation(parent->run, look->step);
	return step != NULL && step->stopping;
}

/* Whether the time for finally and undo steps is over in the parent. */
static bool is_parent_abandoned(const struct look *look)
{
	const struct active_run *parent = active_run_find(look->read.executor, &look->parent);
	return parent != NULL && parent->run != NULL && parent->run->abandoned;
}

/* For a child that does not exist. */
static bool is_called_off(const struct look *look)
{
	struct active_run *parent = active_run_find(look->read.executor, &look->parent);
	return is_parent_cancelling(look) ||
	       (parent != NULL && active_run_take_early_stop(parent, &look->child));
}

static void act(struct look *look)
{
	struct executor *executor = look->read.executor;
	if (look->unwinds) {
		if (look->overdue)
			engine_cancel_run(executor, &look->child, true);
	} else if (look->ended) {
		close_effect(look, look->outcome);
	} else if (look->exists && (look->called_off || is_parent_cancelling(look))) {
		/* A crash may have come between the cancel of the parent and that of the child.  For a
		 * child that is being cancelled already it changes nothing. */
		engine_cancel_run(executor, &look->child, is_parent_abandoned(look));
	} else if (look->exists) {
		/* The child resumes by itself when it is loaded. */
		active_run_get(executor, &look->child);
	} else if (active_run_find(executor, &look->child) != NULL) {
		/* The child is being created; a stop waits in its inbox. */
	} else if (look->called_off) {
		look->fault = (struct failure){ error_row(ERROR_CANCELLED)->name,
						S("it was called off before it began") };
		close_effect(look, RUN_OUTCOME_CANCELLED);
	} else if (look->graph != NULL && !executor_is_draining(executor)) {
		create(look);
	}
}

/* A stop for a child that does not exist yet is being looked up; once that has failed the child can
 * be created. */
static bool must_look_again(const struct look *look)
{
	const struct active_run *child = active_run_find(look->read.executor, &look->child);
	return look->open && !look->exists && look->graph != NULL &&
	       look->error.code == ERROR_NONE && !executor_is_draining(look->read.executor) &&
	       child != NULL && child->run == NULL;
}

/* A child that was called off may have been created, and may even have ended, since the store was read:
 * that is certain only when it is read again. */
static bool must_confirm(struct look *look)
{
	if (!look->open || look->unwinds || look->error.code != ERROR_NONE || look->exists ||
	    look->called_off || active_run_find(look->read.executor, &look->child) != NULL)
		return false;
	look->called_off = is_called_off(look);
	return look->called_off;
}

static void look_done(struct executor_read *read)
{
	struct look *look = (struct look *)read;
	struct executor *executor = read->executor;
	if (must_look_again(look) || must_confirm(look)) {
		if (look->graph != NULL)
			graph_cache_release(executor_graphs(executor), look->graph);
		look->graph = NULL;
		executor_read(executor, read);
		return;
	}
	struct active_run *active =
		look->active == 0 ? NULL : active_run_by_id(executor, look->active);
	if (look->error.code != ERROR_NONE)
		executor_fail(executor, &look->error);
	else if (look->open)
		act(look);
	if (look->graph != NULL)
		graph_cache_release(executor_graphs(executor), look->graph);
	if (active != NULL) {
		active_run_unpin(active);
		active_run_settle(active);
	}
	executor_discard(executor, &read->arena);
	free(look);
}

static struct look *look_new(const struct uuid *child)
{
	struct look *look = calloc(1, sizeof(*look));
	require(look != NULL);
	look->child = *child;
	look->read.work = look_work;
	look->read.done = look_done;
	return look;
}

void effect_subrun_ended(struct executor *executor, const struct uuid *child)
{
	executor_read(executor, &look_new(child)->read);
}

void effect_subrun_unwinds(struct executor *executor, const struct uuid *child)
{
	struct look *look = look_new(child);
	look->unwinds = true;
	look->now = executor_now(executor);
	executor_read(executor, &look->read);
}

static void begin(struct active_run *active, struct activation *activation)
{
	struct look *look = look_new(&activation->effect);
	struct arena *arena = &look->read.arena;
	look->active = active->id;
	look->graph_text = run_graph_text(run_node(active->run, activation)->row->graph, arena);
	look->inputs = activation->inputs;
	look->inputs.text = str_copy(arena, activation->inputs.text);
	look->by = str_copy(arena, active->run->start->by);
	look->trace = str_copy(arena, active->run->start->trace);
	look->profile = str_copy(arena, active->run->start->profile);
	look->repository = str_copy(arena, active->run->start->repository);
	look->plan_path_pattern = str_copy(arena, active->run->start->plan_path_pattern);
	look->tracker = str_copy(arena, active->run->start->tracker);
	look->simulated = effect_is_simulated(active);
	active_run_pin(active);
	executor_read(active->executor, &look->read);
}

/* A child that does not exist yet is not created any more. */
static void stop(struct active_run *active, const struct uuid *effect)
{
	FAILPOINT("subrun.before_stop");
	active_run_note_early_stop(active, effect);
	engine_cancel_run(active->executor, effect, false);
}

static void stop_again(struct active_run *active, const struct uuid *effect)
{
	active_run_note_early_stop(active, effect);
	engine_cancel_run(active->executor, effect, true);
}

const struct effect_kind effect_subrun = {
	.name = "subrun",
	.node = RUN_NODE_SUBRUN,
	.begin = begin,
	.resume = begin,
	.stop = stop,
	.stop_again = stop_again,
};
