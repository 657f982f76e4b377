/* runtime/effect_subrun.c -- a run of its own as a step of another one (architecture R16).
 *
 * The child's id is the effect's, so beginning is idempotent: whoever begins looks first whether
 * the child is there.  Found ended, its outcome closes the effect; found under way it goes on by
 * itself; not found, it is created.  The same look is made after a crash, and when a child ends: of
 * parent and child only what is on the disk counts, so it does not matter which of them is in
 * memory.
 */
#include <stdlib.h>

#include "os/point.h"
#include "runtime/inside.h"

struct look {
	struct runtime_read read;
	uint64_t live; /* the parent's, while it is held; 0 = whoever the effect belongs to */
	struct uuid child, parent;
	struct str step;        /* the parent's */
	bool open, there, over; /* the effect; the child; the child's end */
	enum run_outcome outcome;
	const struct json *output;
	struct fault fault;
	/* What it would be created with. */
	struct str graph_text;
	struct value inputs;
	struct str by;
	struct graph_use *graph;
	const struct json *given;
	struct error error;
};

/* ---- on a reader's thread ------------------------------------------------------------ */

static bool read_value(struct look *look, struct store_reader *reader, const struct value *value,
		       const struct json **out)
{
	/* What is read shares the text, and the state it stands in is given back soon. */
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
		return false;
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = json, .text = effect.body, .lenient = true };
	const struct run_open_effect *body = run_open_effect_parse(&source, arena, &problems);
	if (body == NULL)
		return problems_fail(&problems, &look->error);
	look->parent = effect.run;
	look->step = body->step;
	return true;
}

static void take_end(struct look *look, struct store_reader *reader, const struct run *run)
{
	look->over = true;
	look->outcome = run->state == RUN_SUCCEEDED   ? RUN_OUTCOME_OK
			: run->state == RUN_CANCELLED ? RUN_OUTCOME_CANCELLED
						      : RUN_OUTCOME_FAILED;
	look->fault.code = str_copy(&look->read.arena, run->fault.code);
	look->fault.text = str_copy(&look->read.arena, run->fault.text);
	if (look->outcome == RUN_OUTCOME_OK)
		read_value(look, reader, &run->outputs, &look->output);
}

static void look_work(struct runtime_read *read, struct store_reader *reader)
{
	struct look *look = (struct look *)read;
	struct runtime *runtime = read->runtime;
	struct loaded loaded;
	if (!read_effect(look, reader) || !look->open ||
	    !load_run(runtime, reader, &look->child, &loaded, &look->error))
		return;
	look->there = loaded.run != NULL;
	if (look->there && run_ended(loaded.run))
		take_end(look, reader, loaded.run);
	loaded_discard(runtime, &loaded);
	if (look->there || look->graph_text.size == 0)
		return;
	look->graph = graphs_load(&runtime->graphs, look->graph_text, NULL, &look->error);
	if (look->graph != NULL)
		read_value(look, reader, &look->inputs, &look->given);
}

/* ---- on the loop --------------------------------------------------------------------- */

static void close_effect(struct look *look, enum run_outcome outcome)
{
	struct runtime *runtime = look->read.runtime;
	struct item *item = item_new(COMMAND_FINISHED);
	item->command.step = str_copy(&item->arena, look->step);
	item->command.effect = look->child;
	item->command.outcome = outcome;
	if (look->output != NULL)
		item->command.output = json_copy(&item->arena, look->output);
	if (outcome != RUN_OUTCOME_OK)
		item->command.fault = (struct fault){ str_copy(&item->arena, look->fault.code),
						      str_copy(&item->arena, look->fault.text) };
	POINT("subrun.ended");
	live_command(live_get(runtime, &look->parent), item);
}

/* Inputs that the child does not take are told like those of any other run. */
static void create(struct look *look)
{
	struct runtime *runtime = look->read.runtime;
	struct problems problems = { .arena = &look->read.arena };
	static const struct json nothing = { .kind = JSON_OBJECT };
	const struct json *inputs =
		graph_inputs(look->graph->graph, look->given == NULL ? &nothing : look->given,
			     &look->read.arena, &problems);
	if (inputs == NULL) {
		struct error error;
		problems_fail(&problems, &error);
		look->fault =
			(struct fault){ error_row(ERROR_INVALID)->name,
					str_format(&look->read.arena, "inputs: %s", error.text) };
		close_effect(look, RUN_OUTCOME_FAILED);
		return;
	}
	struct item *item = item_new(COMMAND_CREATE);
	item->command.inputs = json_copy(&item->arena, inputs);
	item->command.parent = look->parent;
	item->command.by = str_copy(&item->arena, look->by);
	POINT("subrun.before_create");
	struct live *child = live_new(runtime, look->child, look->graph);
	look->graph = NULL;
	live_command(child, item);
}

/* The child is called off like any other run; how it ends closes the effect. */
static void call_off(struct runtime *runtime, const struct uuid *child)
{
	struct item *item = item_new(COMMAND_CANCEL);
	item->command.by = S("baton");
	item->command.comment = S("the run it is part of calls it off");
	live_command(live_get(runtime, child), item);
}

static bool is_parent_cancelling(const struct look *look)
{
	const struct live *parent = live_find(look->read.runtime, &look->parent);
	return parent != NULL && parent->run != NULL && parent->run->cancelling;
}

/* Of a child that is not there. */
static bool is_called_off(const struct look *look)
{
	struct live *parent = live_find(look->read.runtime, &look->parent);
	return is_parent_cancelling(look) ||
	       (parent != NULL && live_take_missed_stop(parent, &look->child));
}

static void act(struct look *look)
{
	struct runtime *runtime = look->read.runtime;
	if (look->over) {
		close_effect(look, look->outcome);
	} else if (look->there && is_parent_cancelling(look)) {
		/* A crash may have come between the parent's cancel and the word to the child;
		 * one that has heard it refuses to hear it again. */
		call_off(runtime, &look->child);
	} else if (look->there) {
		/* It goes on by itself, unless its time is over. */
		live_get(runtime, &look->child);
	} else if (live_find(runtime, &look->child) != NULL) {
		/* It is being created, and whoever stops it is behind that. */
	} else if (is_called_off(look)) {
		look->fault = (struct fault){ error_row(ERROR_CANCELLED)->name,
					      S("it was called off before it began") };
		close_effect(look, RUN_OUTCOME_CANCELLED);
	} else if (look->graph != NULL && !runtime->draining) {
		create(look);
	}
}

/* Somebody tells a child to stop that is not there yet: once that is refused it can begin. */
static bool must_look_again(const struct look *look)
{
	const struct live *child = live_find(look->read.runtime, &look->child);
	return look->open && !look->there && look->graph != NULL &&
	       look->error.code == ERROR_NONE && !look->read.runtime->draining && child != NULL &&
	       child->run == NULL;
}

static void look_done(struct runtime_read *read)
{
	struct look *look = (struct look *)read;
	struct runtime *runtime = read->runtime;
	if (must_look_again(look)) {
		graphs_release(&runtime->graphs, look->graph);
		look->graph = NULL;
		runtime_read(runtime, read);
		return;
	}
	struct live *live = look->live == 0 ? NULL : slots_get(&runtime->lives, look->live);
	if (look->error.code != ERROR_NONE)
		runtime_fail(runtime, &look->error);
	else if (look->open)
		act(look);
	if (look->graph != NULL)
		graphs_release(&runtime->graphs, look->graph);
	if (live != NULL) {
		live->holds--;
		live_settle(live);
	}
	arena_done(&read->arena);
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

void subrun_ended(struct runtime *runtime, const struct uuid *child)
{
	runtime_read(runtime, &look_new(child)->read);
}

static void begin(struct live *live, struct activation *activation)
{
	struct look *look = look_new(&activation->effect);
	struct arena *arena = &look->read.arena;
	look->live = live->id;
	look->graph_text = run_graph_text(run_node(live->run, activation)->row->graph, arena);
	look->inputs = activation->inputs;
	look->inputs.text = str_copy(arena, activation->inputs.text);
	look->by = str_copy(arena, live->run->by);
	live->holds++;
	runtime_read(live->runtime, &look->read);
}

/* It may not be there yet: then it is not created any more. */
static void stop(struct live *live, const struct uuid *effect)
{
	POINT("subrun.before_stop");
	live_miss_stop(live, effect);
	call_off(live->runtime, effect);
}

const struct effect_kind effect_subrun = {
	.name = "subrun",
	.node = RUN_NODE_SUBRUN,
	.begin = begin,
	.resume = begin,
	.stop = stop,
};
