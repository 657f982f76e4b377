/* engine_probe.c -- the engine as a process that reads commands and prints answers, for tests/model.
 *
 * Lines of JSON come in, one line goes out for each.
 *
 *	{"yaml": definition, "run": uuid}     begins a session and drops the previous one;
 *	{"graph": run.Graph, "run": uuid}     {"graph": …} or {"problems": text} comes back
 *	{"do": "create", "now": us, "inputs": {…}, "by": who, "queued": bool}
 *	{"do": "start" | "pause" | "resume" | "cancel", "now": us, "by": who}
 *	{"do": "retry", "now": us, "by": who, "queued": bool}
 *	{"do": "computed", "now": us, "step": path, "output": any | "fault": code | "echo": true}
 *	{"do": "finished", "now": us, "step": path, "outcome": word, "output": any, "fault": code,
 *	 "log": any, "usage": run.TurnUsage}
 *	{"do": "answered", "now": us, "step": path, "decision": word, "by": who, "output": any}
 *	{"do": "restarted" | "due", "now": us, "step": path}
 *	{"do": "signal", "now": us, "name": text, "output": any, "by": who}
 *
 * `echo` computes the step like a tool that returns its inputs; `other_effect` and `other_revision`
 * make the command refer to an effect or revision that the state does not have.
 *
 * Answers: {"refused": code} or {"events": [[type, step]…], "stops": [step…]}, with `state`: the
 * state of the run, its fault, its outputs, each of its activations, and each turn of an agent.  The
 * outputs come from the events, because the state drops outputs that no later step can read (R3).
 *
 * Every event is printed, parsed and folded into a second run; both runs must print the same text.  A
 * value is supplied only when the engine needs it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/map.h"
#include "contract/run_question_types.h"
#include "contract/run_start_types.h"
#include "definition/definition_compile.h"
#include "engine/decide.h"
#include "engine/run.h"
#include "engine/states.h"

struct blob {
	struct hash hash;
	const struct json *json; /* NULL until the engine needs it */
	struct str bytes;
	struct blob *next;
};

struct said {
	struct str step, output; /* JSON text */
	struct said *next;
};

struct session {
	struct arena arena;
	const struct graph *graph;
	struct run *run, *mirror;
	struct blob *blobs;
	struct said *said; /* newest first */
};

static const struct definition_tool tools[] = {
	{ .name = { "echo", 4 }, .class = RUN_CLASS_PURE },
	{ .name = { "get", 3 }, .class = RUN_CLASS_IDEMPOTENT },
	{ .name = { "pay", 3 }, .class = RUN_CLASS_KEYED },
	{ .name = { "ask", 3 }, .class = RUN_CLASS_PROBE },
	{ .name = { "write", 5 }, .class = RUN_CLASS_CONTAINED },
	{ .name = { "send", 4 }, .class = RUN_CLASS_ONCE },
	{ .name = { "submit", 6 }, .class = RUN_CLASS_PURE },
};

static _Noreturn void give_up(const char *why, const char *what)
{
	fprintf(stderr, "engine_probe: %s: %s\n", why, what);
	abort();
}

/* ---- values ----------------------------------------------------------------------------- */

static struct blob *find_blob(const struct session *session, const struct hash *hash)
{
	for (struct blob *blob = session->blobs; blob != NULL; blob = blob->next)
		if (hash_equal(&blob->hash, hash))
			return blob;
	return NULL;
}

static const struct json *look(void *context, const struct hash *hash)
{
	const struct blob *blob = find_blob(context, hash);
	return blob == NULL ? NULL : blob->json;
}

static struct engine_values values_of(struct session *session)
{
	static struct engine_tree tree;
	tree = (struct engine_tree){ .step = S(""), .tree = S("tree") };
	return (struct engine_values){ look, session, &tree, NULL, NULL };
}

static const struct json *read_json(struct session *session, struct str text)
{
	const struct json *json = NULL;
	struct error error;
	if (!json_read(text, &session->arena, &json, &error))
		give_up("not JSON", str_c(&session->arena, text));
	return json;
}

static void keep_blobs(struct session *session, const struct decision *decision)
{
	for (size_t i = 0; i < decision->blob_count; i++) {
		if (find_blob(session, &decision->blobs[i].hash) != NULL)
			continue;
		struct blob *blob = arena_new(&session->arena, struct blob);
		*blob = (struct blob){ .hash = decision->blobs[i].hash,
				       .bytes = str_copy(&session->arena, decision->blobs[i].bytes),
				       .next = session->blobs };
		session->blobs = blob;
	}
}

static void give_needs(struct session *session, struct decision *decision)
{
	if (decision->need_count == 0)
		give_up("needs", "nothing");
	for (size_t i = 0; i < decision->need_count; i++) {
		struct blob *blob = find_blob(session, &decision->needs[i]);
		if (blob == NULL || blob->json != NULL)
			give_up("needs", "what is not there, or what it has");
		blob->json = read_json(session, blob->bytes);
	}
	decision->need_count = 0;
}

static void forget_given(struct session *session)
{
	for (struct blob *blob = session->blobs; blob != NULL; blob = blob->next)
		blob->json = NULL;
}

/* ---- printing --------------------------------------------------------------------------- */

static void put_member(struct json_writer *out, struct str key, struct str value)
{
	json_key(out, key);
	if (value.size == 0)
		json_put_null(out);
	else
		json_put_str(out, value);
}

static void put_value(struct json_writer *out, const struct session *session,
		      const struct value *value)
{
	const struct blob *blob =
		value->kind == VALUE_STORED ? find_blob(session, &value->hash) : NULL;
	if (value->kind == VALUE_ABSENT)
		json_put_null(out);
	else
		json_put_raw(out, blob == NULL ? value->text : blob->bytes);
}

static struct str said_of(const struct session *session, struct str step)
{
	for (const struct said *said = session->said; said != NULL; said = said->next)
		if (str_equal(said->step, step))
			return said->output;
	return S("null");
}

static void put_scope(struct json_writer *out, struct session *session, const struct run *run,
		      const struct scope *scope);

static void put_milestone(struct json_writer *out, const struct milestone *milestone)
{
	if (milestone == NULL) {
		json_put_null(out);
		return;
	}
	json_open(out, '{');
	json_key(out, S("data"));
	json_put_raw(out, milestone->data);
	json_key(out, S("starts"));
	json_put_bool(out, milestone->starts);
	json_key(out, S("passed"));
	if (milestone->ended)
		json_put_bool(out, milestone->passed);
	else
		json_put_null(out);
	json_close(out, '}');
}

static void put_activation(struct json_writer *out, struct session *session, const struct run *run,
			   const struct activation *step)
{
	bool final = step_state_row(step->state)->final;
	/* After a good answer a step fails only because of its rounds, and has its output. */
	bool refused = step->question.decision != RUN_DECISION_APPROVE &&
		       step->question.decision != RUN_DECISION_MODIFY && !step->question.continues;
	bool asked = run_node(run, step)->kind == RUN_NODE_HUMAN && step->state != STEP_SUCCEEDED &&
		     (refused || step->state != STEP_FAILED);
	/* A container that a retry continued may have left its body before it was cancelled. */
	bool cut_off = step->state == STEP_CANCELLED && run_is_container(run_node(run, step)->kind);
	bool has_output = final && !asked && !cut_off && step->state != STEP_SKIPPED;
	json_key(out, step->path);
	json_open(out, '{');
	put_member(out, S("state"), step_state_row(step->state)->word);
	json_key(out, S("attempt"));
	json_put_int(out, run_can_stop(run_node(run, step)->kind) ? step->attempt : 0);
	json_key(out, S("open"));
	json_put_bool(out, step->open || step->settling);
	json_key(out, S("due"));
	if (final || step->due_at == 0)
		json_put_null(out);
	else
		json_put_int(out, step->due_at);
	json_key(out, S("output"));
	json_put_raw(out, has_output ? said_of(session, step->path) : S("null"));
	put_member(out, S("fault"), step->fault.code);
	json_key(out, S("inputs"));
	if (step->open && !step->settling && run_node(run, step)->kind == RUN_NODE_TOOL)
		put_value(out, session, &step->inputs);
	else
		json_put_null(out);
	json_key(out, S("log"));
	put_value(out, session, &step->log);
	json_key(out, S("limit_reached"));
	json_put_bool(out, step->limit_reached);
	json_key(out, S("milestone"));
	put_milestone(out, step->milestone);
	json_close(out, '}');
	for (const struct scope *scope = step->scopes; scope != NULL; scope = scope->next)
		put_scope(out, session, run, scope);
}

/* What the next decision about a session will look at. */
static void put_turn(struct json_writer *out, struct session *session, const struct scope *scope)
{
	json_key(out, str_format(&session->arena, STR_FMT "[%lld]", STR_ARG(scope->owner->path),
				 (long long)scope->item));
	json_open(out, '{');
	json_key(out, S("note"));
	json_put_bool(out, scope->turn.note.size > 0);
	json_key(out, S("repeats"));
	json_put_int(out, scope->turn.repeats);
	json_key(out, S("corrections"));
	json_put_int(out, scope->turn.corrections);
	json_key(out, S("kept_from"));
	json_put_int(out, scope->turn.kept_from);
	json_close(out, '}');
}

static void put_scope(struct json_writer *out, struct session *session, const struct run *run,
		      const struct scope *scope)
{
	if (scope->owner != NULL && run_node(run, scope->owner)->kind == RUN_NODE_SESSION)
		put_turn(out, session, scope);
	for (const struct activation *step = scope->first; step != NULL; step = step->next)
		put_activation(out, session, run, step);
}

static struct str state_text(struct session *session, const struct run *run)
{
	AUTO(buf) text = { 0 };
	struct json_writer out = { .out = &text };
	json_open(&out, '{');
	put_member(&out, S("run"), run_state_row(run->state)->word);
	put_member(&out, S("fault"), run->fault.code);
	json_key(&out, S("outputs"));
	put_value(&out, session, &run->outputs);
	json_key(&out, S("issues"));
	json_put_int(&out, (int64_t)run->issues.count);
	json_key(&out, S("steps"));
	json_open(&out, '{');
	if (run->root != NULL)
		put_scope(&out, session, run, run->root);
	json_close(&out, '}');
	json_close(&out, '}');
	return str_copy(&session->arena, buf_str(&text));
}

/* ---- the mirror ------------------------------------------------------------------------- */

/* A run.Value as an event has it. */
static struct str value_text(struct session *session, const struct json *value)
{
	struct hash hash;
	if (value == NULL)
		return S("null");
	if (json_member(value, S("is")) != NULL)
		return json_print(&session->arena, json_member(value, S("is")));
	bool named = hash_parse(json_text(json_member(value, S("sha256"))), &hash);
	const struct blob *blob = named ? find_blob(session, &hash) : NULL;
	if (blob == NULL)
		give_up("a value that was not given", "");
	return blob == NULL ? S("") : blob->bytes;
}

/* The output of a question is its answer, with the values that the person supplied. */
static struct str answer_text(struct session *session, const struct json *body)
{
	AUTO(buf) text = { 0 };
	struct json_writer out = { .out = &text };
	if (json_member(body, S("value")) != NULL)
		return value_text(session, json_member(body, S("value")));
	json_open(&out, '{');
	json_key(&out, S("decision"));
	json_put_str(&out, json_text(json_member(body, S("decision"))));
	json_key(&out, S("comment"));
	json_put_str(&out, json_text(json_member(body, S("comment"))));
	json_key(&out, S("by"));
	json_put_str(&out, json_text(json_member(body, S("by"))));
	json_close(&out, '}');
	return str_copy(&session->arena, buf_str(&text));
}

static void remember(struct session *session, enum event_type type, const struct json *body)
{
	struct said *said = arena_new(&session->arena, struct said);
	said->step = json_text(json_member(body, S("step")));
	said->output = value_text(session, json_member(body, S("output")));
	if (type == EVENT_HUMAN_FINISHED) {
		/* Must be called before the event is folded: whether it is the step's own question. */
		const struct activation *step = run_activation(session->mirror, said->step);
		said->output = step != NULL && step->settling
				       ? value_text(session, json_member(body, S("value")))
				       : answer_text(session, body);
	}
	said->next = session->said;
	session->said = said;
}

static void mirror(struct session *session, const struct decision *decision,
		   struct json_writer *out)
{
	for (size_t i = 0; i < decision->event_count; i++) {
		const struct event *event = &decision->events[i];
		struct str text = str_copy(&session->arena, event_body(event, decision->arena));
		const struct json *body = read_json(session, text);
		struct event again;
		struct error error;
		remember(session, event->type, body);
		if (!event_read(event_name(event->type), event->at, text, &session->arena, &again,
				&error) ||
		    !evolve(session->mirror, &again, &error))
			give_up(error.text, str_c(&session->arena, text));
		json_open(out, '[');
		json_put_str(out, event_name(event->type));
		json_put_str(out, json_text(json_member(body, S("step"))));
		json_close(out, ']');
	}
}

/* ---- commands --------------------------------------------------------------------------- */

static bool flag(const struct json *line, struct str key)
{
	const struct json *value = json_member(line, key);
	return value != NULL && value->kind == JSON_BOOL && value->as.boolean;
}

static struct str text_of(const struct json *line, struct str key)
{
	return json_text(json_member(line, key));
}

static int word_of(struct str word, const char *const *words)
{
	for (int i = 0; words[i] != NULL; i++)
		if (str_equal(word, str_from_c(words[i])))
			return i;
	give_up("not a word it knows", word.size == 0 ? "(none)" : word.at);
}

static enum command_kind kind_of(struct str word)
{
	/* In the order of enum command_kind. */
	static const char *const words[] = { "create",   "start",     "computed", "finished",
					     "answered", "restarted", "due",      "pause",
					     "resume",   "cancel",    "retry",    "signal",
					     NULL };
	return (enum command_kind)word_of(word, words);
}

static const struct json *rendered(struct session *session, struct str path)
{
	const struct activation *step = run_activation(session->run, path);
	struct decision decision = { .arena = &session->arena };
	const struct json *out = NULL;
	static const struct json nothing = { .kind = JSON_NULL };
	if (step == NULL)
		return &nothing;
	for (;;) {
		struct engine_values values = values_of(session);
		struct failure fault;
		if (engine_render_inputs(session->run, step, &values, &decision, &out, &fault) ==
		    ENGINE_DONE)
			return out;
		give_needs(session, &decision);
	}
}

static struct command command_of(struct session *session, const struct json *line)
{
	static const char *const outcomes[] = { "ok", "failed", "cancelled", "unknown", NULL };
	static const char *const decisions[] = { "approve",      "reject", "modify",  "happened",
						 "not_happened", "retry",  "timeout", NULL };
	static const struct hash other_revision = { { 1 } }, no_revision;
	struct command command = { .kind = kind_of(text_of(line, S("do"))),
				   .now = json_member(line, S("now"))->as.integer,
				   .inputs = json_member(line, S("inputs")),
				   .queued = flag(line, S("queued")),
				   .step = text_of(line, S("step")),
				   .output = json_member(line, S("output")),
				   .log = json_member(line, S("log")),
				   .usage = json_member(line, S("usage")),
				   .by = text_of(line, S("by")),
				   .comment = text_of(line, S("comment")),
				   .name = text_of(line, S("name")) };
	const struct activation *step = run_activation(session->run, command.step);
	if (step != NULL)
		command.effect =
			command.kind == COMMAND_ANSWERED ? step->question.id : step->effect;
	if (flag(line, S("other_effect")))
		command.effect.bytes[0] ^= 1;
	if (command.kind == COMMAND_ANSWERED) {
		command.final = flag(line, S("final"));
		command.decision =
			(enum run_decision)word_of(text_of(line, S("decision")), decisions);
		command.revision = flag(line, S("other_revision")) ? &other_revision
				   : step == NULL                  ? NULL
				   : step->question.asked == NULL  ? &no_revision
								  : &step->question.asked->revision;
	}
	if (command.kind == COMMAND_CREATE && command.by.size > 0) {
		struct run_start *start = run_start_new(&session->arena);
		SET(start, by, command.by);
		command.start = start;
	}
	if (command.kind == COMMAND_FINISHED)
		command.outcome = (enum run_outcome)word_of(text_of(line, S("outcome")), outcomes);
	if (text_of(line, S("fault")).size > 0)
		command.fault = (struct failure){ text_of(line, S("fault")), S("as it was told") };
	if (flag(line, S("echo")))
		command.output = rendered(session, command.step);
	return command;
}

static void check_same(struct str was, struct str is, const char *what)
{
	if (!str_equal(was, is)) {
		fprintf(stderr, STR_FMT "\n" STR_FMT "\n", STR_ARG(was), STR_ARG(is));
		give_up(what, "the states differ");
	}
}

/* False: refused. */
static bool decided(struct session *session, const struct command *command,
		    struct decision *decision, struct error *error)
{
	struct str before = state_text(session, session->run);
	for (;;) {
		struct engine_values values = values_of(session);
		enum engine_answer answer = decide(session->run, command, &values, decision, error);
		if (answer == ENGINE_DONE)
			break;
		if (decision->event_count > 0)
			give_up("decide", "events were made, but the answer is not ENGINE_DONE");
		if (answer == ENGINE_REFUSED) {
			check_same(before, state_text(session, session->run), "refused");
			return false;
		}
		give_needs(session, decision);
	}
	for (;;) {
		struct engine_values values = values_of(session);
		keep_blobs(session, decision);
		if (advance(session->run, command->now, &values, decision) == ENGINE_DONE)
			break;
		keep_blobs(session, decision);
		give_needs(session, decision);
	}
	keep_blobs(session, decision);
	return true;
}

static void answer_command(struct session *session, const struct json *line,
			   struct json_writer *out)
{
	AUTO(arena) arena = { 0 };
	struct decision decision = { .arena = &arena };
	struct command command = command_of(session, line);
	struct error error = { 0 };
	json_open(out, '{');
	if (!decided(session, &command, &decision, &error)) {
		put_member(out, S("refused"), error_row(error.code)->name);
		put_member(out, S("text"), str_from_c(error.text));
	} else {
		json_key(out, S("events"));
		json_open(out, '[');
		mirror(session, &decision, out);
		json_close(out, ']');
		json_key(out, S("stops"));
		json_open(out, '[');
		for (size_t i = 0; i < decision.stop_count; i++)
			json_put_str(out, decision.stops[i].step);
		json_close(out, ']');
	}
	forget_given(session);
	struct str state = state_text(session, session->run);
	check_same(state, state_text(session, session->mirror), "the mirror");
	json_key(out, S("state"));
	json_put_raw(out, state);
	json_close(out, '}');
}

/* ---- sessions --------------------------------------------------------------------------- */

static bool other_workflow(void *context, struct str name, struct arena *arena,
			   struct str *out_yaml, struct error *error)
{
	(void)context, (void)arena;
	if (!str_equal(name, S("other")))
		return fail(error, ERROR_NOT_FOUND, "no workflow " STR_FMT, STR_ARG(name));
	*out_yaml = S(
		"name: other\ninputs: {x: {required: false}}\nsteps: [{name: one, tool: echo}]\n");
	return true;
}

static void begin(struct session *session, const struct json *line, struct json_writer *out)
{
	struct definition_tools library = { .at = tools,
					    .count = COUNT(tools),
					    .workflow = other_workflow };
	struct problems problems = { .arena = &session->arena };
	const struct json *given = json_member(line, S("graph"));
	struct str text = given == NULL ? S("") : json_print(&session->arena, given);
	struct error error;
	struct uuid id = { { 1 } };
	json_open(out, '{');
	if (given == NULL && !definition_compile(text_of(line, S("yaml")), &library,
						 &session->arena, &text, &problems)) {
		put_member(out, S("problems"), problems_text(&problems, &session->arena));
	} else if (!graph_load(text, &session->arena, &session->graph, &error)) {
		put_member(out, S("problems"), str_from_c(error.text));
	} else {
		if (!uuid_parse(text_of(line, S("run")), &id))
			give_up("not a run's id", "");
		session->run = run_new(&session->arena, id, session->graph);
		session->mirror = run_new(&session->arena, id, session->graph);
		json_key(out, S("graph"));
		json_put_raw(out, text);
	}
	json_close(out, '}');
}

int main(void)
{
	struct session session = { 0 };
	AUTO(buf) text = { 0 };
	char *line = NULL;
	size_t room = 0;
	ssize_t size;
	while ((size = getline(&line, &room, stdin)) > 0) {
		AUTO(arena) arena = { 0 };
		struct str from = str_copy(&arena, (struct str){ line, (size_t)size });
		const struct json *json = NULL;
		struct error error;
		if (!json_read(from, &arena, &json, &error))
			give_up("not JSON", line);
		struct json_writer out = { .out = &text };
		buf_clear(&text);
		if (json_member(json, S("do")) == NULL) {
			arena_done(&session.arena);
			session = (struct session){ 0 };
			begin(&session, json, &out);
		} else if (session.run == NULL) {
			give_up("no session", line);
		} else {
			answer_command(&session, json, &out);
		}
		buf_add_char(&text, '\n');
		fwrite(text.at, 1, text.size, stdout);
		fflush(stdout);
	}
	arena_done(&session.arena);
	free(line);
	return 0;
}
