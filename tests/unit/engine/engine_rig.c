/* engine/rig.c -- the shell of these tests: it loads nothing and keeps everything. */
#include "contract/run_class_types.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_node_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_question_types.h"
#include "contract/run_snapshot_types.h"
#include "contract/run_start_types.h"
#include "engine/undo.h"
#include "engine/engine_rig.h"

static const struct definition_tool rig_tools[] = {
	{ .name = { "echo", 4 }, .class = RUN_CLASS_PURE },
	{ .name = { "box", 3 }, .class = RUN_CLASS_CONTAINED },
	{ .name = { "put", 3 }, .class = RUN_CLASS_IDEMPOTENT },
	{ .name = { "send", 4 }, .class = RUN_CLASS_ONCE },
};

/* ---- the state as text -------------------------------------------------------------- */

static void dump_value(struct buf *out, const char *name, const struct value *value)
{
	char hash[HASH_TEXT_SIZE];
	if (value->kind == VALUE_ABSENT)
		return;
	buf_add_format(
		out, " %s=%lld:" STR_FMT, name, (long long)value->size,
		STR_ARG(value->kind == VALUE_INLINE ? value->text : hash_text(&value->hash, hash)));
}

static void dump_queue(struct buf *out, const char *name, const struct ready_list *queue)
{
	buf_add_format(out, "%s[", name);
	for (uint32_t i = queue->head; i < queue->tail; i++)
		buf_add_format(out, " " STR_FMT, STR_ARG(queue->at[i]->path));
	buf_add_format(out, " ] ");
}

static void dump_scope(struct buf *out, const struct run *run, const struct scope *scope);

static void dump_activation(struct buf *out, const struct run *run, const struct activation *step)
{
	static const struct run_question nothing;
	const struct run_question *asked =
		step->question.asked == NULL ? &nothing : step->question.asked;
	char effect[UUID_TEXT_SIZE], question[UUID_TEXT_SIZE], revision[HASH_TEXT_SIZE];
	buf_add_format(
		out,
		"\n" STR_FMT " #%u " STR_FMT " arrival %llu open %d settling %d leaving %d " STR_FMT
		" " STR_FMT
		" attempt %lld retries %lld level %lld seq %lld at %lld %lld %lld fault " STR_FMT
		":" STR_FMT " reason " STR_FMT " tree " STR_FMT " revision " STR_FMT
		" items %lld of %lld, %u live round %u begun %lld",
		STR_ARG(step->path), step->ordinal, STR_ARG(step_state_row(step->state)->word),
		(unsigned long long)step->arrival, step->open, step->settling, step->leaving,
		STR_ARG(uuid_text(&step->effect, effect)),
		STR_ARG(uuid_text(&step->question.id, question)), (long long)step->attempt,
		(long long)step->retries, (long long)step->question.level,
		(long long)step->started_seq, (long long)step->started_at,
		(long long)step->ended_at, (long long)step->due_at, STR_ARG(step->fault.code),
		STR_ARG(step->fault.text), STR_ARG(step->reason), STR_ARG(step->tree),
		STR_ARG(hash_text(&asked->revision, revision)), (long long)step->items_entered,
		(long long)step->item_count, step->scopes_live, step->round,
		(long long)step->begun_at);
	dump_value(out, "inputs", &step->inputs);
	dump_value(out, "output", &step->output);
	dump_value(out, "items", &step->items);
	dump_value(out, "before", &step->before);
	dump_value(out, "result", &step->result);
	buf_add_format(
		out,
		" outcome %d ended %lld limit %d asked " STR_FMT " %d %d " STR_FMT " by " STR_FMT,
		(int)step->outcome, (long long)step->ended_seq, step->limit_reached,
		STR_ARG(asked->question), step->question.answered, (int)step->question.decision,
		STR_ARG(step->question.comment), STR_ARG(step->question.by));
	dump_value(out, "opening", &step->opening);
	buf_add_format(out, " call %u of %u tokens %lld", step->call, step->asks_for,
		       (long long)step->tokens);
	for (uint32_t i = 0; i < step->refused_count; i++)
		buf_add_format(out, " refused %u " STR_FMT " " STR_FMT, step->refused[i].call,
			       STR_ARG(step->refused[i].name),
			       STR_ARG(step->refused[i].fault.text));
	for (uint32_t i = 0; i < step->restart_count; i++)
		buf_add_format(out, " restart %lld %lld %lld", (long long)step->restarts[i].seq,
			       (long long)step->restarts[i].at,
			       (long long)step->restarts[i].attempt);
	for (const struct scope *scope = step->scopes; scope != NULL; scope = scope->next)
		dump_scope(out, run, scope);
}

static void dump_called(struct buf *out, const struct run *run, const struct scope *scope)
{
	if (scope->turn.called == NULL)
		return;
	struct graph_numbers body = graph_body(run->graph, scope->owner->node);
	const struct run_graph_agent *agent = run->graph->nodes[body.at[0]].row->agent;
	for (size_t i = 0; i < agent->required_tools.count; i++)
		buf_add_format(out, " called=%d", scope->turn.called[i]);
}

static void dump_scope(struct buf *out, const struct run *run, const struct scope *scope)
{
	struct graph_numbers body =
		graph_body(run->graph, scope->owner == NULL ? GRAPH_ROOT : scope->owner->node);
	char signature[HASH_TEXT_SIZE];
	buf_add_format(out, "\n{" STR_FMT " live %u failed " STR_FMT, STR_ARG(scope->path),
		       scope->live, STR_ARG(scope->failed.path));
	buf_add_format(out, " turn %lld %lld " STR_FMT " %d " STR_FMT " %lld %lld %lld %lld %lld",
		       (long long)scope->turn.entered_seq, (long long)scope->turn.entered_at,
		       STR_ARG(scope->turn.note), scope->turn.is_signed,
		       STR_ARG(hash_text(&scope->turn.signature, signature)),
		       (long long)scope->turn.repeats, (long long)scope->turn.corrections,
		       (long long)scope->turn.kept_from, (long long)scope->turn.kept.told,
		       (long long)scope->turn.kept.results);
	dump_called(out, run, scope);
	for (size_t i = 0; i < body.count; i++) {
		const struct place *place = &scope->places[i];
		buf_add_format(out, " %u.%u.%u.%d." STR_FMT "." STR_FMT, place->count,
			       place->waiting_on, place->readers_left, place->done,
			       STR_ARG(place->newest == NULL ? S("") : place->newest->path),
			       STR_ARG(place->final == NULL ? S("") : place->final->path));
	}
	/* In which order they stand in the body's list is nobody's business. */
	for (size_t i = 0; i < body.count; i++)
		for (uint32_t n = 1; n <= scope->places[i].count; n++)
			for (const struct activation *a = scope->first; a != NULL; a = a->next)
				if (a->node == body.at[i] && a->ordinal == n)
					dump_activation(out, run, a);
	buf_add(out, S("}"));
}

struct str run_dump(const struct run *run, struct arena *arena)
{
	AUTO(buf) out = { 0 };
	buf_add_format(
		&out,
		"seq %lld " STR_FMT " at %lld %lld %lld %lld fault " STR_FMT ":" STR_FMT
		" stopped " STR_FMT " queued %d paused %d cancelling %d live %u busy %u timers %u "
		"begun %lld humans %u workspace %d iterations %lld arrivals %llu paths %u floor %lld days %lld ",
		(long long)run->seq, STR_ARG(run_state_row(run->state)->word),
		(long long)run->created_at, (long long)run->updated_at, (long long)run->ended_at,
		(long long)run->due_at, STR_ARG(run->fault.code), STR_ARG(run->fault.text),
		STR_ARG(run->stopped.code), run->queued, run->paused, run->cancelling, run->live,
		run->busy, run->timers, (long long)run->begun_at, run->humans,
		run->folder.holder != NULL, (long long)run->iterations,
		(unsigned long long)run->arrivals, run->paths.count, (long long)run->floor,
		has(run->start, retention_days) ? (long long)run->start->retention_days : -1);
	dump_value(&out, "inputs", &run->inputs);
	dump_value(&out, "outputs", &run->outputs);
	for (uint32_t i = 0; i < run->warnings.count; i++)
		buf_add_format(&out, "\nwarning %d " STR_FMT " " STR_FMT,
			       (int)run->warnings.at[i].code, STR_ARG(run->warnings.at[i].step),
			       STR_ARG(run->warnings.at[i].text));
	buf_add_format(&out, "\ndropped %lld", (long long)run->warnings.dropped);
	dump_queue(&out, "pure", &run->pure);
	dump_queue(&out, "tools", &run->tools);
	dump_queue(&out, "contained", &run->contained);
	dump_queue(&out, "parked", &run->parked);
	dump_queue(&out, "computing", &run->computing);
	for (const struct run_signal *signal = run->signals; signal != NULL; signal = signal->next)
		dump_value(&out, str_c(arena, signal->name), &signal->data);
	for (const struct undo_record *undo = run->undos; undo != NULL; undo = undo->before)
		dump_value(&out, str_c(arena, undo->path), &undo->inputs);
	if (run->root != NULL)
		dump_scope(&out, run, run->root);
	return str_copy(arena, buf_str(&out));
}

/* ---- snapshots ---------------------------------------------------------------------- */

struct str run_snapshot_of(const struct run *run, struct arena *arena)
{
	struct run_names names;
	const struct run_snapshot *snapshot = run_snapshot(run, arena, &names);
	struct str text = run_snapshot_text(snapshot, arena);
	/* What it names is what it says by hash. */
	size_t said = 0;
	for (struct str rest = text; rest.size > 0;) {
		size_t at;
		if (!str_find(rest, S("\"sha256\":"), &at))
			break;
		rest = str_skip(rest, at + 1);
		said++;
	}
	cr_assert_eq(names.count, said + 1, "%zu values, %zu names", said, names.count);
	return text;
}

static struct run *restore(struct str text, struct uuid id, const struct graph *graph,
			   struct arena *arena)
{
	const struct run_snapshot *snapshot;
	struct run *run;
	struct error error;
	bool good = run_snapshot_read(text, arena, &snapshot, &error) &&
		    run_restore(snapshot, id, graph, arena, &run, &error);
	cr_assert(good, "%s", error.text);
	return run;
}

static void fold(struct run *run, const struct event *events, size_t count)
{
	struct error error;
	for (size_t i = 0; i < count; i++) {
		bool good = evolve(run, &events[i], &error);
		cr_assert(good, "%s", error.text);
	}
}

void check_snapshots(const struct event *history, size_t count, struct uuid id,
		     const struct graph *graph)
{
	AUTO(arena) whole = { 0 };
	struct run *run = run_new(&whole, id, graph), *folding = run_new(&whole, id, graph);
	fold(run, history, count);
	struct str dump = run_dump(run, &whole);
	struct str end = count > 0 ? run_snapshot_of(run, &whole) : S("");
	for (size_t k = 1; k <= count; k++) {
		AUTO(arena) arena = { 0 };
		fold(folding, &history[k - 1], 1);
		struct run *other = restore(run_snapshot_of(folding, &arena), id, graph, &arena);
		fold(other, &history[k], count - k);
		struct str told = run_dump(other, &arena), again = run_snapshot_of(other, &arena);
		cr_assert(str_equal(told, dump),
			  "from seq %zu:\n" STR_FMT "\n---- whole:\n" STR_FMT, k, STR_ARG(told),
			  STR_ARG(dump));
		cr_assert(str_equal(again, end),
			  "from seq %zu:\n" STR_FMT "\n---- whole:\n" STR_FMT, k, STR_ARG(again),
			  STR_ARG(end));
	}
}

/* ---- values ------------------------------------------------------------------------- */

static struct rig_blob *find_blob(const struct rig *rig, const struct hash *hash)
{
	for (struct rig_blob *blob = rig->blobs; blob != NULL; blob = blob->next)
		if (hash_equal(&blob->hash, hash))
			return blob;
	return NULL;
}

static const struct json *look(void *context, const struct hash *hash)
{
	const struct rig_blob *blob = find_blob(context, hash);
	return blob == NULL ? NULL : blob->json;
}

static void keep_blobs(struct rig *rig, const struct decision *decision)
{
	for (size_t i = 0; i < decision->blob_count; i++) {
		const struct decision_blob *from = &decision->blobs[i];
		struct hash hash = hash_of(from->bytes);
		cr_assert(hash_equal(&hash, &from->hash));
		/* Whatever is short stands in the event; a sub-run's graph never does. */
		cr_assert(from->bytes.size > LIMIT_VALUE_INLINE ||
			  str_starts(from->bytes, S("{\"name\":\"other\"")));
		if (find_blob(rig, &hash) != NULL)
			continue;
		struct rig_blob *blob = arena_new(&rig->arena, struct rig_blob);
		*blob = (struct rig_blob){ .hash = hash,
					   .bytes = str_copy(&rig->arena, from->bytes),
					   .next = rig->blobs };
		rig->blobs = blob;
	}
}

/* Gives what was asked for and nothing more. */
static void give_needs(struct rig *rig, const struct decision *decision)
{
	cr_assert(decision->need_count > 0);
	rig->needs += decision->need_count;
	for (size_t i = 0; i < decision->need_count; i++) {
		struct rig_blob *blob = find_blob(rig, &decision->needs[i]);
		struct error error;
		cr_assert(blob != NULL && blob->json == NULL);
		bool good = json_read(blob->bytes, &rig->arena, &blob->json, &error);
		cr_assert(good);
	}
}

static void forget_given(struct rig *rig)
{
	for (struct rig_blob *blob = rig->blobs; blob != NULL; blob = blob->next)
		blob->json = NULL;
}

/* ---- the mirror --------------------------------------------------------------------- */

static void keep_event(struct rig *rig)
{
	if (rig->events == rig->history_room) {
		rig->history_room = rig->history_room == 0 ? 64 : rig->history_room * 2;
		struct event *more = arena_array(&rig->arena, struct event, rig->history_room);
		for (size_t i = 0; i < rig->events; i++)
			more[i] = rig->history[i];
		rig->history = more;
	}
	rig->history[rig->events++] = rig->last;
}

static void log_event(struct rig *rig, const struct event *event, struct str body)
{
	const struct json *json = rig_json(rig, str_c(&rig->arena, body));
	struct str step = json_text(json_member(json, S("step")));
	buf_add_format(&rig->log, STR_FMT "%s" STR_FMT "\n", STR_ARG(event_name(event->type)),
		       step.size > 0 ? " " : "", STR_ARG(step));
	keep_event(rig);
}

static void mirror(struct rig *rig, const struct decision *decision)
{
	for (size_t i = 0; i < decision->event_count; i++) {
		const struct event *event = &decision->events[i];
		struct str body = str_copy(&rig->arena, event_body(event, decision->arena));
		struct error error;
		bool good = event_read(event_name(event->type), event->at, body, &rig->arena,
				       &rig->last, &error);
		cr_assert(good, "%s", error.text);
		good = evolve(rig->mirror, &rig->last, &error);
		cr_assert(good, "%s", error.text);
		rig->trees += event->type == EVENT_TOOL_REQUESTED &&
			      has(event->as.run_tool_requested, tree);
		log_event(rig, event, body);
	}
	if (rig->forgets_turns)
		return;
	AUTO(arena) arena = { 0 };
	const char *decided = str_c(&arena, run_dump(rig->run, &arena));
	const char *folded = str_c(&arena, run_dump(rig->mirror, &arena));
	cr_assert_str_eq(decided, folded, "\n%s\n---- folded:\n%s", decided, folded);
}

/* ---- commands ----------------------------------------------------------------------- */

/* The tree of the command; without takes_trees there is one for every step. */
static struct engine_values values_for(struct rig *rig, const struct command *command,
				       struct engine_tree *tree)
{
	if (command->kind == COMMAND_TREE_TAKEN)
		*tree = (struct engine_tree){ command->step, command->branch, command->tree,
					      command->fault, command->begun_at };
	else
		*tree = (struct engine_tree){ .step = S(""), .tree = S("tree-1") };
	bool given = command->kind == COMMAND_TREE_TAKEN || !rig->takes_trees;
	return (struct engine_values){ look, rig, given ? tree : NULL, rig->prices, rig->budgets };
}

static void forget_turns(struct rig *rig)
{
	for (struct activation *a = rig->run->root->first; a != NULL; a = a->next)
		if (a->scopes != NULL && a->scopes->next != NULL)
			a->scopes->next->next = NULL;
}

void rig_do(struct rig *rig, const struct command *command)
{
	AUTO(arena) arena = { 0 };
	struct decision decision = { .arena = &arena };
	struct error error = { 0 };
	struct command timed = *command;
	struct engine_tree tree;
	struct engine_values values = values_for(rig, command, &tree);
	timed.now = rig->now += 1000;
	for (;;) {
		enum engine_answer answer = decide(rig->run, &timed, &values, &decision, &error);
		cr_assert(answer != ENGINE_REFUSED, "%s", error.text);
		if (answer == ENGINE_DONE)
			break;
		cr_assert_eq(decision.event_count, 0);
		give_needs(rig, &decision);
	}
	rig->stops += decision.stop_count;
	for (;;) {
		keep_blobs(rig, &decision);
		if (advance(rig->run, rig->now, &values, &decision) == ENGINE_DONE)
			break;
		keep_blobs(rig, &decision);
		give_needs(rig, &decision);
	}
	keep_blobs(rig, &decision);
	rig->wanted =
		decision.tree_count > 0 ? str_copy(&rig->arena, decision.trees[0].step) : S("");
	mirror(rig, &decision);
	forget_given(rig);
	if (rig->forgets_turns)
		forget_turns(rig);
}

void rig_refused(struct rig *rig, const struct command *command, enum error_code code)
{
	AUTO(arena) arena = { 0 };
	struct decision decision = { .arena = &arena };
	struct error error = { 0 };
	const char *before = str_c(&arena, run_dump(rig->run, &arena));
	struct engine_tree tree;
	struct engine_values values = values_for(rig, command, &tree);
	cr_assert_eq(decide(rig->run, command, &values, &decision, &error), ENGINE_REFUSED);
	cr_assert_eq(error.code, code, "%s", error.text);
	cr_assert_eq(decision.event_count, 0);
	cr_assert_str_eq(str_c(&arena, run_dump(rig->run, &arena)), before);
}

const struct json *rig_json(struct rig *rig, const char *text)
{
	const struct json *json = NULL;
	struct error error;
	bool good = json_read(str_copy(&rig->arena, str_from_c(text)), &rig->arena, &json, &error);
	cr_assert(good, "%s", text);
	return json;
}

void rig_create(struct rig *rig, const char *inputs)
{
	struct problems problems = { .arena = &rig->arena };
	const struct json *full =
		graph_inputs(rig->graph, rig_json(rig, inputs), &rig->arena, &problems);
	cr_assert(full != NULL);
	struct command command = { .kind = COMMAND_CREATE, .inputs = full };
	rig_do(rig, &command);
}

void rig_compute(struct rig *rig, const char *step)
{
	struct decision decision = { .arena = &rig->arena };
	const struct json *inputs = NULL;
	struct failure fault;
	for (;;) {
		struct engine_values values = { look, rig, NULL, rig->prices, rig->budgets };
		if (engine_render_inputs(rig->run, rig_step(rig, step), &values, &decision, &inputs,
					 &fault) == ENGINE_DONE)
			break;
		give_needs(rig, &decision);
		decision.need_count = 0;
	}
	struct command command = { .kind = COMMAND_COMPUTED,
				   .step = str_from_c(step),
				   .output = inputs };
	if (json_print(&rig->arena, inputs).size > LIMIT_VALUE_BYTES) {
		command.output = NULL;
		command.fault = (struct failure){ S("too_large"), S("the inputs") };
	}
	rig_do(rig, &command);
}

void rig_compute_all(struct rig *rig)
{
	while (rig->run->computing.head < rig->run->computing.tail) {
		const struct activation *first = rig->run->computing.at[rig->run->computing.head];
		rig_compute(rig, str_c(&rig->arena, first->path));
	}
}

struct command rig_finished(struct rig *rig, const char *step, const char *output)
{
	struct command command = { .kind = COMMAND_FINISHED,
				   .step = str_from_c(step),
				   .effect = rig_step(rig, step)->effect };
	if (output != NULL) {
		command.output = rig_json(rig, output);
	} else {
		command.outcome = RUN_OUTCOME_FAILED;
		command.fault = (struct failure){ S("tool_failed"), S("it broke") };
	}
	return command;
}

void rig_due(struct rig *rig, const char *step)
{
	int64_t due = step[0] == '\0' ? rig->run->due_at : rig_step(rig, step)->due_at;
	cr_assert(due != 0);
	rig->now = rig->now < due ? due : rig->now;
	struct command command = { .kind = COMMAND_DUE, .step = str_from_c(step) };
	rig_do(rig, &command);
}

/* A wait ends when its time has come. */
void rig_finish(struct rig *rig, const char *step, const char *output)
{
	if (run_node(rig->run, rig_step(rig, step))->kind == RUN_NODE_WAIT) {
		rig_due(rig, step);
		return;
	}
	struct command command = rig_finished(rig, step, output);
	rig_do(rig, &command);
}

struct command rig_answered(struct rig *rig, const char *step, enum run_decision decision)
{
	return (struct command){ .kind = COMMAND_ANSWERED,
				 .step = str_from_c(step),
				 .effect = rig_step(rig, step)->question.id,
				 .decision = decision,
				 .by = S("ada") };
}

void rig_answer(struct rig *rig, const char *step, enum run_decision decision)
{
	struct command command = rig_answered(rig, step, decision);
	rig_do(rig, &command);
}

/* ---- looking ------------------------------------------------------------------------ */

struct activation *rig_step(struct rig *rig, const char *name)
{
	struct activation *step = run_activation(rig->run, str_from_c(name));
	cr_assert(step != NULL, "no step %s", name);
	return step;
}

const char *rig_state(struct rig *rig, const char *name)
{
	return str_c(&rig->arena, step_state_row(rig_step(rig, name)->state)->word);
}

const char *rig_log(struct rig *rig)
{
	const char *text = str_c(&rig->arena, buf_str(&rig->log));
	buf_clear(&rig->log);
	return text;
}

const char *rig_value(struct rig *rig, const struct value *value)
{
	if (value->kind == VALUE_STORED) {
		const struct rig_blob *blob = find_blob(rig, &value->hash);
		require(blob != NULL);
		return str_c(&rig->arena, blob->bytes);
	}
	return value->kind == VALUE_INLINE ? str_c(&rig->arena, value->text) : "";
}

static void list_scope(struct rig *rig, const struct scope *scope, struct rig_list *list)
{
	for (struct activation *a = scope->first; a != NULL; a = a->next) {
		if (list->count == list->room) {
			list->room = list->room == 0 ? 64 : list->room * 2;
			struct activation **more =
				arena_array(&rig->arena, struct activation *, list->room);
			if (list->count > 0)
				memcpy(more, list->at, list->count * sizeof(*more));
			list->at = more;
		}
		list->at[list->count++] = a;
		for (const struct scope *inner = a->scopes; inner != NULL; inner = inner->next)
			list_scope(rig, inner, list);
	}
}

struct rig_list rig_activations(struct rig *rig)
{
	struct rig_list list = { 0 };
	list_scope(rig, rig->run->root, &list);
	return list;
}

size_t rig_open(struct rig *rig)
{
	struct rig_list list = rig_activations(rig);
	size_t open = 0;
	for (size_t i = 0; i < list.count; i++)
		open += list.at[i]->open;
	return open;
}

/* The only other workflow there is. */
static bool other_workflow(void *context, struct str name, struct arena *arena,
			   struct str *out_yaml, struct error *error)
{
	(void)context, (void)arena;
	if (!str_equal(name, S("other")))
		return fail(error, ERROR_NOT_FOUND, "no workflow is called " STR_FMT,
			    STR_ARG(name));
	*out_yaml =
		S("name: other\ninputs: {x: {type: number}}\nsteps: [{name: one, tool: echo}]\n");
	return true;
}

void rig_init(struct rig *rig, const char *yaml)
{
	*rig = (struct rig){ .now = 1000000 };
	struct definition_tools tools = { .at = rig_tools,
					  .count = COUNT(rig_tools),
					  .workflow = other_workflow };
	struct problems problems = { .arena = &rig->arena };
	struct str text;
	struct error error;
	bool good = definition_compile(str_from_c(yaml), &tools, &rig->arena, &text, &problems);
	cr_assert(good, "%s", str_c(&rig->arena, problems_text(&problems, &rig->arena)));
	good = graph_load(text, &rig->arena, &rig->graph, &error);
	cr_assert(good);
	struct uuid id = { { 1, 2, 3, 4 } };
	rig->run = run_new(&rig->arena, id, rig->graph);
	rig->mirror = run_new(&rig->arena, id, rig->graph);
}

void rig_done(struct rig *rig)
{
	if (rig->graph != NULL && !rig->forgets_turns) {
		check_snapshots(rig->history, rig->events, rig->run->id, rig->graph);
		/* A number that is coprime to most, so that ways and events mix. */
		check_damage(rig->history, rig->events, rig->run->id, rig->graph, 97 + rig->events);
	}
	buf_done(&rig->log);
	arena_done(&rig->arena);
}
