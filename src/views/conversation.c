/* views/conversation.c -- collects turns and calls from a run's timeline. */
#include "views/conversation.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_node_types.h"
#include "contract/run_talk_types.h"
#include "contract/run_value_types.h"

static bool is_turn(const struct timeline_step *step)
{
	return step->node->kind == RUN_NODE_AGENT;
}

/* The path of the session that a turn belongs to, and in *out_body the turn's body: "dev" and "dev[3]/"
 * of "dev[3]/turn".  Of a turn that is a step of its own, the step's path and "". */
static struct str talk_path(const struct timeline_step *step, struct str *out_body)
{
	struct str path = step->path;
	size_t slash = path.size;
	*out_body = S("");
	while (slash > 0 && path.at[slash - 1] != '/')
		slash--;
	if (slash < 2 || path.at[slash - 2] != ']' || !str_equal(step->node->name, S("turn")) ||
	    step->parent == NULL || step->parent->node->kind != RUN_NODE_SESSION)
		return path;
	size_t bracket = slash - 2;
	while (bracket > 0 && path.at[bracket] != '[')
		bracket--;
	*out_body = str_head(path, slash);
	return str_head(path, bracket);
}

/* ---- usage ----------------------------------------------------------------------------- */

static void usage_begin(struct run_talk_usage *sum)
{
	SET(sum, turns, 0);
	SET(sum, input_tokens, 0);
	SET(sum, output_tokens, 0);
	SET(sum, cache_read_tokens, 0);
	SET(sum, cache_creation_tokens, 0);
}

static void usage_add_cost(struct run_talk_usage *sum, double dollars)
{
	SET(sum, cost_usd, (has(sum, cost_usd) ? sum->cost_usd : 0) + dollars);
}

static void usage_add(struct run_talk_usage *sum, const struct json *json, struct arena *arena)
{
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = json, .lenient = true };
	const struct run_turn_usage *usage = run_turn_usage_parse(&source, arena, &problems);
	if (usage == NULL)
		return;
	sum->turns++;
	sum->input_tokens += usage->input_tokens;
	sum->output_tokens += usage->output_tokens;
	sum->cache_read_tokens += usage->cache_read_tokens;
	sum->cache_creation_tokens += usage->cache_creation_tokens;
	/* A price that was computed when the turn ended, in units of 1e-12 dollars, counts before one
	 * that the driver reported. */
	const struct json *cost = json_member(json, S("cost"));
	if (cost != NULL && cost->kind == JSON_INT)
		usage_add_cost(sum, (double)cost->as.integer / 1e12);
	else if (usage->cost_usd > 0)
		usage_add_cost(sum, usage->cost_usd);
}

/* Every attempt costs. */
static void usage_add_step(struct run_talk_usage *sum, const struct timeline_step *step,
			   struct arena *arena)
{
	for (const struct timeline_call *call = step->call; call != NULL; call = call->before)
		if (call->usage != NULL)
			usage_add(sum, call->usage, arena);
}

static void usage_join(struct run_talk_usage *sum, const struct run_talk_usage *other)
{
	sum->turns += other->turns;
	sum->input_tokens += other->input_tokens;
	sum->output_tokens += other->output_tokens;
	sum->cache_read_tokens += other->cache_read_tokens;
	sum->cache_creation_tokens += other->cache_creation_tokens;
	if (has(other, cost_usd))
		usage_add_cost(sum, other->cost_usd);
}

/* ---- calls ----------------------------------------------------------------------------- */

/* The activation of the nth call of this tool in the body; NULL = it was not made. */
static const struct timeline_step *call_step(const struct timeline *timeline, struct str body,
					     struct str tool, size_t nth)
{
	struct str path = nth == 1 ? str_format(timeline->arena, STR_FMT STR_FMT, STR_ARG(body),
						STR_ARG(tool))
				   : str_format(timeline->arena, STR_FMT STR_FMT "#%zu",
						STR_ARG(body), STR_ARG(tool), nth);
	return body.size == 0 ? NULL : timeline_find(timeline, path);
}

/* What a person would see in a terminal; the output as JSON of a tool that writes to no stream. */
static struct str result_text(const struct timeline *timeline, const struct json *output)
{
	struct str text = timeline_output_text(timeline, output);
	struct str errors = json_text(json_member(output, S("stderr")));
	const struct json *status = json_member(output, S("exit_code"));
	if (errors.size > 0)
		text = str_format(timeline->arena, STR_FMT STR_FMT, STR_ARG(text), STR_ARG(errors));
	if (status != NULL && status->kind == JSON_INT && status->as.integer != 0)
		text = str_format(timeline->arena, STR_FMT "[exit status %lld]", STR_ARG(text),
				  (long long)status->as.integer);
	return text;
}

/* What view_file has shown to the model. */
static void add_attachments(const struct timeline *timeline, struct run_talk_call *out,
			    const struct timeline_step *step)
{
	struct problems problems = { .arena = timeline->arena };
	struct contract_source source = { .json = step->output, .lenient = true };
	if (!has(step->node, tool) || !str_equal(step->node->tool, S("view_file")))
		return;
	const struct run_attachment *shown =
		run_attachment_parse(&source, timeline->arena, &problems);
	if (shown != NULL)
		SET(out, attachments, ((struct run_attachment_list){ shown, 1 }));
}

static void add_result(const struct timeline *timeline, struct run_talk_call *out,
		       const struct timeline_step *step)
{
	const struct timeline_step *first = step;
	while (step->call != NULL && step->call->instead.size > 0 &&
	       timeline_find(timeline, step->call->instead) != NULL)
		step = timeline_find(timeline, step->call->instead);
	if (step != first)
		SET(out, instead_of, first->node->name);
	SET(out, step, step->path);
	SET(out, state, vocabulary_step(step->state)->word);
	if (step->started)
		SET(out, started_at, step->started_at);
	if (step->ended)
		SET(out, ended_at, step->ended_at);
	if (step->fault.size > 0)
		SET(out, error, step->fault);
	if (step->output == NULL)
		return;
	add_attachments(timeline, out, step);
	struct str text = result_text(timeline, step->output);
	struct str shown = utf8_head(text, LIMIT_TALK_RESULT_BYTES);
	SET(out, result, shown);
	if (shown.size < text.size)
		SET(out, result_left_out, (int64_t)(text.size - shown.size));
}

static struct run_talk_call talk_call(const struct timeline *timeline,
				      const struct run_turn_call *call, struct str refusal,
				      const struct timeline_step *step)
{
	struct run_talk_call *out = run_talk_call_new(timeline->arena);
	SET(out, name, call->name);
	if (has(call, arguments))
		SET(out, arguments, call->arguments);
	if (has(call, malformed))
		SET(out, malformed, call->malformed);
	if (step != NULL)
		add_result(timeline, out, step);
	else if (refusal.size > 0)
		SET(out, error, refusal);
	return *out;
}

/* What the session made of the call with this index; NULL = the event is not known. */
static const struct run_call_opened *opened_as(const struct timeline *timeline,
					       const struct timeline_call *turn, size_t index)
{
	const struct view_source *source = timeline->source;
	size_t at = timeline_index(timeline, turn->ended_seq);
	if (at == source->event_count || source->events[at].type != EVENT_TURN_FINISHED)
		return NULL;
	const struct run_turn_finished *event = source->events[at].as.run_turn_finished;
	return has(event, calls) && index < event->calls.count ? &event->calls.at[index] : NULL;
}

/* The arguments that a person has given instead of the model's; NULL = none. */
static const struct json *edited_arguments(const struct timeline_step *approval)
{
	const struct json *output = approval == NULL ? NULL : approval->output;
	return str_equal(json_text(json_member(output, S("decision"))), S("modify"))
		       ? json_member(output, S("value"))
		       : NULL;
}

/* Whether the calls were made by the same node; calls of `delegate` have a node for each agent. */
static bool same_node(const struct timeline *timeline, const struct timeline_call *turn,
		      struct run_turn_call_list calls, size_t one, size_t other)
{
	const struct run_call_opened *a = opened_as(timeline, turn, one);
	const struct run_call_opened *b = opened_as(timeline, turn, other);
	return str_equal(a != NULL && has(a, node) ? a->node : calls.at[one].name,
			 b != NULL && has(b, node) ? b->node : calls.at[other].name);
}

static struct run_talk_call_list talk_calls(const struct timeline *timeline, struct str body,
					    const struct timeline_call *turn,
					    struct run_turn_call_list calls)
{
	struct run_talk_call *at = arena_array(timeline->arena, struct run_talk_call, calls.count);
	bool *made = arena_array(timeline->arena, bool, calls.count);
	size_t approvals = 0;
	for (size_t i = 0; i < calls.count; i++) {
		const struct run_call_opened *opened = opened_as(timeline, turn, i);
		bool refused = opened != NULL && has(opened, fault);
		const struct timeline_step *approval = NULL, *step = NULL;
		size_t nth = 1;
		if (opened != NULL && has(opened, approve) && opened->approve)
			approval = call_step(timeline, body, S("approve"), ++approvals);
		for (size_t k = 0; k < i; k++)
			nth += made[k] && same_node(timeline, turn, calls, k, i);
		/* A call that a person has not approved is told by the question. */
		bool asked = approval != NULL && approval->state != VOCABULARY_STEP_SUCCEEDED;
		if (!refused)
			step = asked ? approval
				     : call_step(timeline, body,
						 opened != NULL && has(opened, node)
							 ? opened->node
							 : calls.at[i].name,
						 nth);
		made[i] = step != NULL && !asked;
		at[i] = talk_call(timeline, &calls.at[i], refused ? opened->fault->text : S(""),
				  step);
		const struct json *edited = edited_arguments(approval);
		if (edited != NULL)
			SET(&at[i], arguments, edited);
	}
	return (struct run_talk_call_list){ at, calls.count };
}

/* ---- turns ----------------------------------------------------------------------------- */

static struct str thinking_text(struct run_turn_thinking_list thinking, struct arena *arena)
{
	struct str text = S("");
	for (size_t i = 0; i < thinking.count; i++)
		text = i == 0 ? thinking.at[i].text
			      : str_format(arena, STR_FMT "\n\n" STR_FMT, STR_ARG(text),
					   STR_ARG(thinking.at[i].text));
	return text;
}

/* The note stands in the event that began the turn, shortly before the request. */
static void add_note(const struct timeline *timeline, struct run_talk_turn *out,
		     const struct timeline_step *step)
{
	enum { EVENTS_BEFORE = 16 };
	const struct view_source *source = timeline->source;
	size_t at = timeline_index(timeline, step->begun_seq);
	if (step->begun_seq == 0 || at == source->event_count)
		return;
	for (size_t n = 0; at > 0 && n < EVENTS_BEFORE; n++) {
		const struct event *event = &source->events[--at];
		if (event->type != EVENT_STEP_ENTERED ||
		    timeline_step(timeline, event) != step->parent)
			continue;
		bool sums = has(event->as.run_step_entered, summarizes);
		if (sums)
			SET(out, summarizes, true);
		else if (has(event->as.run_step_entered, note))
			SET(out, note, event->as.run_step_entered->note);
		return;
	}
}

static void add_reply(const struct timeline *timeline, struct run_talk_turn *out, struct str body,
		      const struct timeline_call *call)
{
	struct problems problems = { .arena = timeline->arena };
	struct contract_source source = { .json = call->output, .lenient = true };
	const struct run_turn_result *reply =
		run_turn_result_parse(&source, timeline->arena, &problems);
	if (reply == NULL)
		return;
	SET(out, text, reply->text);
	if (has(reply, thinking))
		SET(out, thinking, thinking_text(reply->thinking, timeline->arena));
	if (has(reply, calls))
		SET(out, calls, talk_calls(timeline, body, call, reply->calls));
	if (has(reply, stop))
		SET(out, stop, reply->stop);
}

static struct run_talk_turn *talk_turn(const struct timeline *timeline,
				       const struct timeline_step *step)
{
	struct run_talk_turn *out = run_talk_turn_new(timeline->arena);
	const struct timeline_call *call = step->call;
	struct str body;
	(void)talk_path(step, &body);
	SET(out, step, step->path);
	SET(out, attempt, step->attempts);
	SET(out, state, vocabulary_step(step->state)->word);
	SET(out, live, call != NULL && call->ended_at == 0 && !step->ended);
	SET(out, text, S(""));
	if (!uuid_is_zero(&step->effect))
		SET(out, turn, step->effect);
	if (step->started)
		SET(out, started_at, step->started_at);
	if (step->ended)
		SET(out, ended_at, step->ended_at);
	if (call == NULL)
		return out;
	if (body.size > 0)
		add_note(timeline, out, step);
	if (call->output != NULL)
		add_reply(timeline, out, body, call);
	if (call->fault.size > 0)
		SET(out, error, call->fault);
	if (call->usage != NULL)
		SET(out, usage, call->usage);
	return out;
}

static size_t turn_bytes(const struct run_talk_turn *turn, struct arena *arena)
{
	size_t bytes = turn->text.size + (has(turn, thinking) ? turn->thinking.size : 0);
	for (size_t i = 0; has(turn, calls) && i < turn->calls.count; i++) {
		const struct run_talk_call *call = &turn->calls.at[i];
		bytes += (has(call, result) ? call->result.size : 0) +
			 (has(call, arguments) ? json_print(arena, call->arguments).size : 0);
	}
	return bytes;
}

/* ---- talks ----------------------------------------------------------------------------- */

/* A talk while it is collected. */
struct collected {
	struct str path;
	const struct timeline_step **steps; /* of its turns, oldest first */
	size_t count, room;
	struct run_talk_usage *usage;
};

static void collected_add(struct collected *talk, const struct timeline_step *step,
			  struct arena *arena)
{
	if (talk->count == talk->room) {
		talk->room = talk->room == 0 ? 4 : talk->room * 2;
		const struct timeline_step **steps =
			arena_array(arena, const struct timeline_step *, talk->room);
		for (size_t i = 0; i < talk->count; i++)
			steps[i] = talk->steps[i];
		talk->steps = steps;
	}
	talk->steps[talk->count++] = step;
	usage_add_step(talk->usage, step, arena);
}

/* Turns that have begun, by talk, in the order in which the talks began. */
static size_t collect(const struct timeline *timeline, struct collected *out)
{
	AUTO(map) known = { 0 };
	size_t count = 0;
	for (size_t i = 0; i < timeline->count; i++) {
		const struct timeline_step *step = timeline->steps[i];
		struct str body;
		if (!is_turn(step) || step->call == NULL)
			continue;
		struct str path = talk_path(step, &body);
		struct collected *talk = map_get(&known, path);
		if (talk == NULL) {
			talk = &out[count++];
			*talk = (struct collected){ .path = path,
						    .usage = run_talk_usage_new(timeline->arena) };
			usage_begin(talk->usage);
			map_put(&known, talk->path, talk);
		}
		collected_add(talk, step, timeline->arena);
	}
	return count;
}

/* The request of the first turn: system prompt and messages. */
static void add_opening(const struct timeline *timeline, struct run_talk *out,
			const struct timeline_step *first)
{
	struct problems problems = { .arena = timeline->arena };
	struct contract_source source = { .json = first->inputs, .lenient = true };
	const struct run_turn *turn =
		first->inputs == NULL ? NULL : run_turn_parse(&source, timeline->arena, &problems);
	SET(out, system, turn == NULL ? S("") : turn->system);
	SET(out, messages,
	    turn == NULL ? ((struct run_turn_message_list){ NULL, 0 }) : turn->messages);
}

static struct run_talk talk_of(const struct timeline *timeline, const struct collected *talk,
			       size_t *bytes_left)
{
	struct run_talk *out = run_talk_new(timeline->arena);
	const struct timeline_step *newest = talk->steps[talk->count - 1];
	const struct timeline_step *owner = timeline_find(timeline, talk->path);
	size_t most = talk->count < LIMIT_TALK_TURNS ? talk->count : LIMIT_TALK_TURNS;
	struct run_talk_turn *turns = arena_array(timeline->arena, struct run_talk_turn, most);
	size_t first = most; /* filled from the end: the newest are shown */
	while (first > 0) {
		const struct run_talk_turn *turn =
			talk_turn(timeline, talk->steps[talk->count - 1 - (most - first)]);
		size_t bytes = turn_bytes(turn, timeline->arena);
		if (bytes > *bytes_left && first < most)
			break;
		*bytes_left -= bytes > *bytes_left ? *bytes_left : bytes;
		turns[--first] = *turn;
	}
	size_t shown = most - first;
	SET(out, step, talk->path);
	SET(out, agent, timeline_agent(newest));
	SET(out, model, newest->call->model);
	SET(out, state, vocabulary_step(owner == NULL ? newest->state : owner->state)->word);
	add_opening(timeline, out, talk->steps[0]);
	SET(out, turns, ((struct run_talk_turn_list){ turns + first, shown }));
	if (shown < talk->count)
		SET(out, turns_left_out, (int64_t)(talk->count - shown));
	if (talk->usage->turns > 0)
		SET(out, usage, talk->usage);
	return *out;
}

struct run_conversation *conversation(const struct timeline *timeline)
{
	struct arena *arena = timeline->arena;
	struct run_conversation *out = run_conversation_new(arena);
	struct collected *found = arena_array(arena, struct collected, timeline->count);
	size_t count = collect(timeline, found), bytes_left = LIMIT_TALK_BYTES;
	size_t events = timeline->source->event_count;
	struct run_talk *talks = arena_array(arena, struct run_talk, count);
	struct run_talk_usage *sum = run_talk_usage_new(arena);
	usage_begin(sum);
	for (size_t i = count; i > 0; i--) {
		talks[i - 1] = talk_of(timeline, &found[i - 1], &bytes_left);
		usage_join(sum, found[i - 1].usage);
	}
	SET(out, run_id, timeline->source->run);
	SET(out, workflow, timeline->source->graph->name);
	SET(out, state, timeline_words(timeline)->word);
	SET(out, talks, ((struct run_talk_list){ talks, count }));
	if (sum->turns > 0)
		SET(out, usage, sum);
	SET(out, seq, events == 0 ? 0 : timeline_seq(timeline, events - 1));
	return out;
}

struct run_talk_turn *conversation_turn(const struct timeline *timeline,
					const struct timeline_step *step)
{
	const struct timeline_step *found = NULL;
	for (size_t i = 0; !is_turn(step) && i < timeline->count; i++) {
		struct str body;
		if (is_turn(timeline->steps[i]) && timeline->steps[i]->call != NULL &&
		    str_equal(talk_path(timeline->steps[i], &body), step->path))
			found = timeline->steps[i];
	}
	if (is_turn(step))
		found = step;
	return found == NULL ? NULL : talk_turn(timeline, found);
}
