/* runtime/live.c -- a run in memory: commands in, appends out, effects behind the commit.
 *
 * A turn is one command with everything that came of it: the decision, the rows, and what must
 * happen once they are on the disk.  Turns of one run are committed in order; the next command is
 * decided while the one before is still at the writer.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "os/point.h"
#include "runtime/inside.h"

struct turn {
	struct writer_ticket ticket; /* first: done() gets it back as a turn */
	struct runtime *runtime;
	uint64_t live;
	struct turn *next; /* in live->flying */
	struct item *item;
	struct arena arena;
	struct decision decision;
	int64_t now;
	struct str *computing; /* pure steps that this turn started */
	size_t computing_count;
	struct runtime_notice notice;
};

/* ---- items --------------------------------------------------------------------------- */

struct item *item_new(enum command_kind kind)
{
	struct item *item = calloc(1, sizeof(*item));
	require(item != NULL);
	item->command.kind = kind;
	return item;
}

void item_free(struct item *item)
{
	arena_done(&item->arena);
	free(item);
}

static void queue_add(struct item_queue *queue, struct item *item)
{
	item->next = NULL;
	if (queue->last != NULL)
		queue->last->next = item;
	else
		queue->first = item;
	queue->last = item;
}

static struct item *queue_take(struct item_queue *queue)
{
	struct item *item = queue->first;
	if (item == NULL)
		return NULL;
	queue->first = item->next;
	if (queue->first == NULL)
		queue->last = NULL;
	return item;
}

static void item_reply(struct item *item, const struct uuid *run, const struct error *error)
{
	struct runtime_reply reply = { .error = error, .run = *run };
	if (item->replied != NULL)
		item->replied(item->context, item->argument, &reply);
}

const struct json *json_copy(struct arena *arena, const struct json *json)
{
	const struct json *copy;
	struct error error;
	bool good = json_read(json_print(arena, json), arena, &copy, &error);
	require(good);
	return copy;
}

/* ---- coming and going ---------------------------------------------------------------- */

static struct str key_of(const struct live *live)
{
	return (struct str){ live->key, sizeof(live->key) };
}

struct live *live_find(struct runtime *runtime, const struct uuid *run)
{
	return map_get(&runtime->by_run, uuid_str(run));
}

static struct live *live_add(struct runtime *runtime, const struct uuid *run)
{
	struct live *live = calloc(1, sizeof(*live));
	require(live != NULL);
	live->runtime = runtime;
	live->run_id = *run;
	memcpy(live->key, run->bytes, sizeof(live->key));
	live->id = slots_add(&runtime->lives, live);
	map_put(&runtime->by_run, key_of(live), live);
	return live;
}

struct live *live_new(struct runtime *runtime, struct uuid run, struct graph_use *graph)
{
	struct live *live = live_add(runtime, &run);
	live->phase = LIVE_READY;
	live->graph = graph;
	live->run = run_new(&live->arena, run, graph->graph);
	return live;
}

static void live_drop_state(struct live *live)
{
	if (live->graph != NULL)
		graphs_release(&live->runtime->graphs, live->graph);
	live->graph = NULL;
	live->run = NULL;
	arena_done(&live->arena);
	live_forget_loaded(live);
}

static void live_free(struct live *live)
{
	map_remove(&live->runtime->by_run, key_of(live));
	slots_remove(&live->runtime->lives, live->id);
	live_drop_state(live);
	free(live);
}

void live_settle(struct live *live)
{
	bool over = live->run == NULL || live->run->seq == 0 || run_ended(live->run);
	if (over && live->phase == LIVE_READY && live->in_flight == 0 && live->holds == 0 &&
	    live->inbox.first == NULL && live->redo.first == NULL && !live->pumping)
		live_free(live);
}

static bool has_blob(const struct turn *turn, const struct hash *hash, struct str *out_bytes)
{
	for (size_t i = 0; i < turn->decision.blob_count; i++)
		if (hash_equal(&turn->decision.blobs[i].hash, hash)) {
			*out_bytes = turn->decision.blobs[i].bytes;
			return true;
		}
	return false;
}

bool live_unwritten(const struct live *live, const struct hash *hash, struct str *out_bytes)
{
	if (live->turn != NULL && has_blob(live->turn, hash, out_bytes))
		return true;
	for (const struct turn *turn = live->flying; turn != NULL; turn = turn->next)
		if (has_blob(turn, hash, out_bytes))
			return true;
	return false;
}

/* ---- loading ------------------------------------------------------------------------- */

struct loading {
	struct runtime_read read;
	uint64_t live;
	struct uuid run_id;
	struct arena state; /* becomes the run's */
	struct graph_use *graph;
	struct run *run;
	struct error error;
};

static bool load_graph(struct loading *loading, struct store_reader *reader,
		       const struct run_created *created)
{
	struct graphs *graphs = &loading->read.runtime->graphs;
	loading->graph = graphs_find(graphs, &created->definition, false);
	if (loading->graph == NULL) {
		struct str text;
		bool found;
		if (!reader->ops->read_blob(reader, &created->definition, &loading->read.arena,
					    &text, &found, &loading->error))
			return false;
		if (!found)
			return fail(&loading->error, ERROR_STORAGE,
				    "the run's graph is not stored");
		loading->graph = graphs_load(graphs, text, NULL, &loading->error);
	}
	if (loading->graph == NULL)
		return false;
	loading->run = run_new(&loading->state, loading->run_id, loading->graph->graph);
	return true;
}

static bool load_event(struct loading *loading, struct store_reader *reader,
		       const struct store_event_row *row)
{
	struct event event;
	if (!event_read(row->type, row->at, row->body, &loading->read.arena, &event,
			&loading->error))
		return false;
	if (loading->run == NULL) {
		if (event.type != EVENT_RUN_CREATED)
			return fail(&loading->error, ERROR_STORAGE, "its stream has no beginning");
		if (!load_graph(loading, reader, event.as.run_created))
			return false;
	}
	return evolve(loading->run, &event, &loading->error);
}

static void load_work(struct runtime_read *read, struct store_reader *reader)
{
	struct loading *loading = (struct loading *)read;
	int64_t after = 0;
	for (;;) {
		struct store_event_page page;
		if (!reader->ops->read_events(reader, &loading->run_id, after,
					      LIMIT_STREAM_PAGE_EVENTS, &read->arena, &page,
					      &loading->error))
			return;
		for (size_t i = 0; i < page.count; i++)
			if (!load_event(loading, reader, &page.at[i]))
				return;
		if (page.count < LIMIT_STREAM_PAGE_EVENTS)
			return;
		after = page.at[page.count - 1].seq;
	}
}

static void refuse_inbox(struct live *live, const struct error *error)
{
	for (struct item *item; (item = queue_take(&live->inbox)) != NULL;) {
		item_reply(item, &live->run_id, error);
		item_free(item);
	}
}

static void resume_open(struct live *live)
{
	struct run *run = live->run;
	for (uint32_t i = 0; i < run->count; i++)
		if (run->activations[i].open)
			effect_kind_of(run->graph->nodes[run->activations[i].node].kind)
				->resume(live, &run->activations[i]);
	for (uint32_t i = run->computing.head; i < run->computing.tail; i++)
		compute_begin(live, run->activations[run->computing.at[i]].path);
}

static void load_done(struct runtime_read *read)
{
	struct loading *loading = (struct loading *)read;
	struct runtime *runtime = read->runtime;
	struct live *live = slots_get(&runtime->lives, loading->live);
	require(live != NULL);
	struct error error = loading->error;
	live->phase = LIVE_READY;
	bool recovering = live->recovering, resuming = live->resuming;
	live->recovering = live->resuming = false;
	if (error.code == ERROR_NONE && loading->run == NULL)
		fail(&error, ERROR_NOT_FOUND, "no such run");
	if (error.code == ERROR_NONE) {
		live->arena = loading->state;
		live->graph = loading->graph;
		live->run = loading->run;
		live->run->arena = &live->arena;
	} else {
		if (loading->graph != NULL)
			graphs_release(&runtime->graphs, loading->graph);
		arena_done(&loading->state);
	}
	arena_done(&read->arena);
	free(loading);
	if (error.code != ERROR_NONE) {
		refuse_inbox(live, &error);
		live_settle(live);
	} else {
		/* Nothing is decided until all that was open is on its way: what a decision opens
		 * must not be taken for something that a crash left behind. */
		live->pumping = true;
		if (resuming)
			resume_open(live);
		live->pumping = false;
		live_pump(live);
	}
	if (recovering)
		recovery_loaded(runtime);
}

static void live_load(struct live *live)
{
	struct loading *loading = calloc(1, sizeof(*loading));
	require(loading != NULL);
	live->phase = LIVE_LOADING;
	loading->live = live->id;
	loading->run_id = live->run_id;
	loading->read.work = load_work;
	loading->read.done = load_done;
	runtime_read(live->runtime, &loading->read);
}

struct live *live_get(struct runtime *runtime, const struct uuid *run)
{
	struct live *live = live_find(runtime, run);
	if (live == NULL) {
		live = live_add(runtime, run);
		live->resuming = true;
		live_load(live);
	}
	return live;
}

/* ---- committing ---------------------------------------------------------------------- */

static struct store_effect open_row(const struct event *event, struct arena *arena)
{
	struct store_effect row = { .kind = S("tool") };
	struct run_open_effect *body = run_open_effect_new(arena);
	if (event->type == EVENT_HUMAN_REQUESTED) {
		const struct run_human_requested *asked = event->as.run_human_requested;
		struct run_open_question *question = run_open_question_new(arena);
		SET(question, step, asked->step);
		SET(question, kind, asked->kind);
		SET(question, question, asked->question);
		SET(question, inputs, asked->inputs);
		SET(question, revision, asked->revision);
		SET(question, asked_at, event->at);
		row.id = asked->effect;
		row.kind = S("human");
		row.body = run_open_question_text(question, arena);
		return row;
	}
	if (event->type == EVENT_TIMER_REQUESTED) {
		row.id = event->as.run_timer_requested->effect;
		row.kind = S("timer");
		row.due_at = event->as.run_timer_requested->due_at;
		SET(body, step, event->as.run_timer_requested->step);
	} else {
		row.id = event->as.run_tool_requested->effect;
		SET(body, step, event->as.run_tool_requested->step);
	}
	row.body = run_open_effect_text(body, arena);
	return row;
}

static bool closes(const struct event *event, struct uuid *out_effect)
{
	if (event->type == EVENT_TOOL_FINISHED)
		*out_effect = event->as.run_tool_finished->effect;
	else if (event->type == EVENT_TIMER_FINISHED)
		*out_effect = event->as.run_timer_finished->effect;
	else if (event->type == EVENT_HUMAN_FINISHED)
		*out_effect = event->as.run_human_finished->effect;
	else
		return false;
	return true;
}

static bool opens(const struct event *event)
{
	return event->type == EVENT_TOOL_REQUESTED || event->type == EVENT_TIMER_REQUESTED ||
	       event->type == EVENT_HUMAN_REQUESTED;
}

/* An effect that is requested and refused in one go (inputs over the limit) never was open. */
static bool closed_again(const struct decision *decision, size_t opening)
{
	struct uuid effect;
	return opening + 1 < decision->event_count &&
	       decision->events[opening].type == EVENT_TOOL_REQUESTED &&
	       closes(&decision->events[opening + 1], &effect) &&
	       uuid_equal(&effect, &decision->events[opening].as.run_tool_requested->effect);
}

static void fill_events(struct turn *turn, struct store_append *append)
{
	const struct decision *decision = &turn->decision;
	size_t count = decision->event_count;
	struct store_event *events = arena_array(&turn->arena, struct store_event, count);
	struct store_effect *opened = arena_array(&turn->arena, struct store_effect, count);
	struct uuid *closed = arena_array(&turn->arena, struct uuid, count);
	for (size_t i = 0; i < count; i++) {
		const struct event *event = &decision->events[i];
		events[i] = (struct store_event){ event_name(event->type), event->at,
						  event_body(event, &turn->arena) };
		if (closes(event, &closed[append->closed_count]))
			append->closed_count++;
	}
	for (size_t i = 0; i < count; i++)
		if (opens(&decision->events[i]) && !closed_again(decision, i))
			opened[append->opened_count++] =
				open_row(&decision->events[i], &turn->arena);
	append->events = events;
	append->event_count = count;
	append->opened = opened;
	append->closed = closed;
}

/* A run's first append brings its graph along. */
static void fill_blobs(struct turn *turn, struct store_append *append, const struct live *live)
{
	const struct decision *decision = &turn->decision;
	size_t count = decision->blob_count + 1;
	struct store_blob *blobs = arena_array(&turn->arena, struct store_blob, count);
	for (size_t i = 0; i < decision->blob_count; i++)
		blobs[append->blob_count++] =
			(struct store_blob){ decision->blobs[i].hash, decision->blobs[i].bytes };
	if (append->expected_seq == 0)
		blobs[append->blob_count++] =
			(struct store_blob){ live->graph->graph->hash, live->graph->text };
	append->blobs = blobs;
}

static void fill_run_row(struct turn *turn, struct store_run *row, const struct run *run)
{
	struct run_summary *summary = run_summary_new(&turn->arena);
	SET(summary, steps_ended, run_steps_ended(run));
	SET(summary, steps, run->count);
	if (run->fault.code.size > 0)
		SET(summary, error, run->fault.text);
	*row = (struct store_run){ .id = run->id,
				   .name = run->graph->name,
				   .state = run_state_row(run->state)->word,
				   .stepping = run_is_stepping(run),
				   .created_at = run->created_at,
				   .updated_at = run->updated_at,
				   .ended_at = run->ended_at,
				   .summary = run_summary_text(summary, &turn->arena) };
}

static void turn_free(struct turn *turn)
{
	item_free(turn->item);
	arena_done(&turn->arena);
	free(turn);
}

/* What waited for the commit leaves now: the reply, the notice, the effects. */
static void turn_act(struct turn *turn, struct live *live)
{
	item_reply(turn->item, &live->run_id, NULL);
	turn->notice.position = turn->ticket.append.last_position;
	bus_notify(turn->runtime, &turn->notice);
	for (size_t i = 0; i < turn->decision.event_count; i++) {
		const struct event *event = &turn->decision.events[i];
		if (event->type == EVENT_TOOL_REQUESTED)
			effect_begin(live, event->as.run_tool_requested->step);
		else if (event->type == EVENT_TOOL_RESTARTED)
			effect_begin(live, event->as.run_tool_restarted->step);
		else if (event->type == EVENT_TIMER_REQUESTED)
			effect_begin(live, event->as.run_timer_requested->step);
		else if (event->type == EVENT_HUMAN_REQUESTED)
			effect_begin(live, event->as.run_human_requested->step);
	}
	for (size_t i = 0; i < turn->computing_count; i++)
		compute_begin(live, turn->computing[i]);
}

/* Once nothing decided on the old state is under way, everything is decided again on a new one. */
static void reload_when_quiet(struct live *live)
{
	if (live->in_flight > 0 || live->turn != NULL)
		return;
	while (live->inbox.first != NULL)
		queue_add(&live->redo, queue_take(&live->inbox));
	live->inbox = live->redo;
	live->redo = (struct item_queue){ 0 };
	live_drop_state(live);
	live_load(live);
}

/* Its item goes back to be decided again; the rest of the turn is forgotten. */
static void turn_redo(struct turn *turn, struct live *live)
{
	queue_add(&live->redo, turn->item);
	arena_done(&turn->arena);
	free(turn);
	reload_when_quiet(live);
}

/* Somebody else wrote this stream: a new run whose id is taken, or a state that is behind. */
static void turn_refused(struct turn *turn, struct live *live)
{
	if (turn->item->command.kind != COMMAND_CREATE) {
		turn_redo(turn, live);
		return;
	}
	struct error error;
	fail(&error, ERROR_CONFLICT, "there is already a run with this id");
	item_reply(turn->item, &live->run_id, &error);
	turn_free(turn);
	live_drop_state(live);
	if (live->inbox.first != NULL)
		live_load(live);
}

static void turn_committed(struct writer_ticket *ticket)
{
	struct turn *turn = (struct turn *)ticket;
	struct live *live = slots_get(&turn->runtime->lives, turn->live);
	require(live != NULL);
	live->in_flight--;
	for (struct turn **link = &live->flying; *link != NULL; link = &(*link)->next)
		if (*link == turn) {
			*link = turn->next;
			break;
		}
	POINT("runtime.committed");
	if (ticket->append.outcome == STORE_CONFLICT) {
		turn_refused(turn, live);
	} else {
		live->holds++;
		turn_act(turn, live);
		live->holds--;
		turn_free(turn);
	}
	live_settle(live);
}

static void turn_commit(struct turn *turn, struct live *live)
{
	struct run *run = live->run;
	struct store_append *append = &turn->ticket.append;
	append->expected_seq = run->seq - (int64_t)turn->decision.event_count;
	fill_run_row(turn, &append->run, run);
	fill_events(turn, append);
	fill_blobs(turn, append, live);
	turn->ticket.done = turn_committed;
	turn->notice = (struct runtime_notice){ .run = run->id,
						.seq = run->seq,
						.ended = run_ended(run),
						.waiting = run->state == RUN_WAITING_HUMAN };
	live->in_flight++;
	turn->next = live->flying;
	live->flying = turn;
	POINT("runtime.before_append");
	writer_append(turn->runtime->writer, &turn->ticket);
}

/* The program ends: what is under way is on the disk and goes on from there next time. */
void live_discard(struct live *live)
{
	for (struct item *item; (item = queue_take(&live->inbox)) != NULL;)
		item_free(item);
	for (struct item *item; (item = queue_take(&live->redo)) != NULL;)
		item_free(item);
	if (live->turn != NULL)
		turn_free(live->turn);
	while (live->flying != NULL) {
		struct turn *first = live->flying;
		live->flying = first->next;
		turn_free(first);
	}
	live_free(live);
}

/* ---- deciding ------------------------------------------------------------------------ */

static void turn_advance(struct turn *turn, struct live *live);

static void turn_fetched(struct runtime *runtime, uint64_t id, uint64_t argument,
			 const struct error *error)
{
	(void)argument;
	struct live *live = slots_get(&runtime->lives, id);
	require(live != NULL);
	if (error != NULL) {
		runtime_fail(runtime, error);
		return;
	}
	live->phase = LIVE_READY;
	struct turn *turn = live->turn;
	if (live->redo.first != NULL) {
		live->turn = NULL;
		turn_redo(turn, live);
		return;
	}
	turn_advance(turn, live);
	live_pump(live);
}

/* The pure steps this turn started: they are computed once it is committed. */
static void note_computing(struct turn *turn, const struct run *run)
{
	int64_t before = run->seq - (int64_t)turn->decision.event_count;
	size_t room = run->computing.tail - run->computing.head;
	turn->computing = arena_array(&turn->arena, struct str, room);
	for (uint32_t i = run->computing.head; i < run->computing.tail; i++) {
		const struct activation *activation = &run->activations[run->computing.at[i]];
		if (activation->started_seq > before)
			turn->computing[turn->computing_count++] = activation->path;
	}
}

static void turn_advance(struct turn *turn, struct live *live)
{
	struct engine_values values = live_values(live);
	if (advance(live->run, turn->now, &values, &turn->decision) == ENGINE_NEED) {
		live->phase = LIVE_FETCHING;
		live->turn = turn;
		fetch(live, &turn->decision, turn_fetched, 0);
		return;
	}
	live->turn = NULL;
	note_computing(turn, live->run);
	turn_commit(turn, live);
	/* Only now: the events were printed from it. */
	live_forget_loaded(live);
}

static void turn_begin(struct live *live, struct item *item)
{
	struct turn *turn = calloc(1, sizeof(*turn));
	require(turn != NULL);
	turn->runtime = live->runtime;
	turn->live = live->id;
	turn->item = item;
	turn->decision.arena = &turn->arena;
	turn->now = item->command.now = runtime_now(live->runtime);
	struct error error;
	if (!decide(live->run, &item->command, &turn->decision, &error)) {
		item_reply(item, &live->run_id, &error);
		turn_free(turn);
		return;
	}
	turn_advance(turn, live);
}

void live_pump(struct live *live)
{
	if (live->pumping)
		return;
	live->pumping = true;
	while (live->phase == LIVE_READY && live->run != NULL && live->redo.first == NULL &&
	       !live->runtime->failed) {
		struct item *item = queue_take(&live->inbox);
		if (item == NULL)
			break;
		turn_begin(live, item);
	}
	live->pumping = false;
	live_settle(live);
}

void live_command(struct live *live, struct item *item)
{
	queue_add(&live->inbox, item);
	live_pump(live);
}
