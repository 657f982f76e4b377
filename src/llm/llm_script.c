/* llm/llm_script.c -- the driver script: replies from a script, for tests, demonstrations and dry
 * runs.
 *
 * The replies are in the agent's options, so they are part of the graph and recorded with the
 * request.  The choice of a reply depends on the call only (prompt, path of the step, attempt), not
 * on earlier calls: the same turn gets the same reply in any process, after a crash, and in a
 * rebuilt run.  The driver uses no network, no files and no random numbers.
 */
#include <stdlib.h>

#include "llm/llm_calls.h"

#include "contract/run_turn_types.h"

/* A running turn with its reply, which is copied because the options are valid only during start().
 */
struct scripted_turn {
	struct llm_running running; /* first */
	struct str text, thinking;  /* of a stream that breaks: what comes before */
	struct run_turn_call_list calls;
	struct error fault;
	bool counted;
	struct run_turn_usage usage;
	int64_t pieces, piece; /* number of pieces, and how many were sent */
	int64_t every_us;      /* between two pieces */
	bool stalls;           /* the reply never ends */
	uint64_t timer;        /* 0 = nothing more comes */
};

/* ---- choosing the reply -------------------------------------------------------------- */
/* The last #n of the path: the round of the step, or of the container it is in. */
static int64_t round_of(struct str path)
{
	size_t at = path.size;
	while (at > 0 && path.at[at - 1] != '#')
		at--;
	int64_t round;
	struct str digits = str_skip(path, at);
	size_t size = 0;
	while (size < digits.size && digits.at[size] >= '0' && digits.at[size] <= '9')
		size++;
	return at > 0 && str_to_int(str_head(digits, size), &round) ? round : 1;
}

/* From 1: the model has spoken in the turns before. */
static int64_t turn_of(const struct run_turn *turn)
{
	int64_t number = 1;
	for (size_t i = 0; i < turn->messages.count; i++)
		number += str_equal(turn->messages.at[i].role, S("assistant"));
	return number;
}

static struct str prompt_of(const struct run_turn *turn)
{
	size_t count = turn->messages.count;
	return count == 0 ? S("") : turn->messages.at[count - 1].content;
}

static int64_t parts_of(const struct run_turn *turn)
{
	size_t count = turn->messages.count;
	const struct run_turn_message *newest = count == 0 ? NULL : &turn->messages.at[count - 1];
	return newest != NULL && has(newest, parts) ? (int64_t)newest->parts.count : 0;
}

/* The step of an agent with tools is its session: the path of a turn is that of the session and [n]/turn. */
static struct str session_of(struct str path)
{
	if (!str_ends(path, S("]/turn")))
		return path;
	size_t at = path.size - 6;
	while (at > 0 && path.at[at - 1] != '[')
		at--;
	return str_head(path, at > 0 ? at - 1 : path.size);
}

static bool fits(const struct run_script_reply *reply, const struct llm_call *call)
{
	size_t at;
	return (!has(reply, contains) || str_find(prompt_of(call->turn), reply->contains, &at)) &&
	       (!has(reply, step) || str_equal(reply->step, call->step) ||
		str_equal(reply->step, session_of(call->step))) &&
	       (!has(reply, round) || reply->round == round_of(call->step)) &&
	       (!has(reply, parts) || reply->parts == parts_of(call->turn)) &&
	       (!has(reply, turn) || reply->turn == turn_of(call->turn)) &&
	       (!has(reply, attempt) || reply->attempt == call->attempt);
}

static const struct run_script_options *read_options(const struct json *options,
						     struct arena *arena, struct problems *problems)
{
	struct contract_source source = { .json = options };
	return run_script_options_parse(&source, arena, problems);
}

static const struct run_script_reply *find_reply(const struct llm_call *call, struct arena *arena,
						 struct error *error)
{
	struct problems problems = { .arena = arena };
	const struct run_script_options *options =
		read_options(call->turn->options, arena, &problems);
	if (options == NULL) {
		problems_fail(&problems, error);
		error_prefix(error, "the script: ");
		return NULL;
	}
	for (size_t i = 0; i < options->replies.count; i++)
		if (fits(&options->replies.at[i], call))
			return &options->replies.at[i];
	fail(error, ERROR_INVALID,
	     "the script has no reply for step " STR_FMT
	     ", round %lld, turn %lld, attempt %lld, with "
	     "this prompt: end the replies with one that has no conditions",
	     STR_ARG(call->step), (long long)round_of(call->step), (long long)turn_of(call->turn),
	     (long long)call->attempt);
	return NULL;
}

/* ---- sending the reply --------------------------------------------------------------- */

static void scripted_turn_end(struct scripted_turn *turn)
{
	struct run_turn_thinking thinking = *run_turn_thinking_new(&turn->running.arena);
	struct llm_result result = { .error = turn->fault };
	SET(&thinking, text, turn->thinking);
	if (turn->counted)
		result.usage = &turn->usage;
	if (turn->fault.code == ERROR_NONE) {
		result.text = turn->text;
		result.thinking =
			(struct run_turn_thinking_list){ &thinking, turn->thinking.size > 0 };
		result.calls = turn->calls;
		result.stop = turn->calls.count > 0 ? RUN_TURN_STOP_CALLS : RUN_TURN_STOP_END;
	}
	llm_calls_done(&turn->running, &result);
}

/* The end of the nth piece, moved to the end of a character. */
static size_t end_of_piece(const struct scripted_turn *turn, int64_t n)
{
	struct str text = turn->text;
	size_t at = n >= turn->pieces ? text.size
				      : text.size / (size_t)turn->pieces * (size_t)n +
						text.size % (size_t)turn->pieces * (size_t)n /
							(size_t)turn->pieces;
	while (at < text.size && ((unsigned char)text.at[at] & 0xC0) == 0x80)
		at++;
	return at;
}

static void play(void *context, uint64_t id);

static void set_timer(struct scripted_turn *turn, int64_t delay_us)
{
	turn->timer = platform_timer_start(turn->running.host->platform, delay_us, play,
					   turn->running.host, turn->running.id);
}

/* Sends one piece per timer, then ends the turn. */
static void play(void *context, uint64_t id)
{
	struct scripted_turn *turn = (struct scripted_turn *)llm_calls_find(context, id);
	if (turn == NULL)
		return;
	turn->timer = 0;
	bool stopped = turn->running.stop_error.code != ERROR_NONE;
	bool speaks = turn->running.piece != NULL && !stopped;
	if (!speaks || turn->piece == turn->pieces) {
		if (stopped || !turn->stalls)
			scripted_turn_end(turn);
		return;
	}
	if (turn->piece == 0)
		llm_calls_piece(&turn->running, LLM_PART_THINKING, turn->thinking);
	size_t begin = end_of_piece(turn, turn->piece);
	size_t end = end_of_piece(turn, ++turn->piece);
	llm_calls_piece(&turn->running, LLM_PART_TEXT,
			str_head(str_skip(turn->text, begin), end - begin));
	for (size_t i = 0; turn->piece == turn->pieces && i < turn->calls.count; i++)
		llm_calls_piece(&turn->running, LLM_PART_CALL, turn->calls.at[i].name);
	set_timer(turn, turn->piece == turn->pieces ? 0 : turn->every_us);
}

static void end(struct llm_running *running)
{
	struct scripted_turn *turn = (struct scripted_turn *)running;
	if (turn->timer != 0)
		platform_timer_stop(running->host->platform, turn->timer);
	turn->fault = running->stop_error;
	set_timer(turn, 0);
}

static struct run_turn_call_list copy_calls(struct run_script_call_list from, struct arena *arena)
{
	struct run_turn_call *at = arena_array(arena, struct run_turn_call, from.count);
	for (size_t i = 0; i < from.count; i++) {
		const struct run_script_call *call = &from.at[i];
		at[i] = *run_turn_call_new(arena);
		SET(&at[i], id,
		    has(call, id) ? str_copy(arena, call->id)
				  : str_format(arena, "call_%zu", i + 1));
		SET(&at[i], name, str_copy(arena, call->name));
		if (call->arguments->kind == JSON_OBJECT)
			SET(&at[i], arguments, json_copy(arena, call->arguments));
		else
			SET(&at[i], malformed,
			    call->arguments->kind == JSON_STRING
				    ? str_copy(arena, call->arguments->as.string)
				    : json_print(arena, call->arguments));
	}
	return (struct run_turn_call_list){ at, from.count };
}

static struct run_turn_usage copy_usage(const struct run_turn_usage *usage, struct arena *arena)
{
	struct run_turn_usage copy = *usage;
	if (has(usage, provider))
		copy.provider = str_copy(arena, usage->provider);
	if (has(usage, model))
		copy.model = str_copy(arena, usage->model);
	return copy;
}

static struct scripted_turn *scripted_turn_new(const struct run_script_reply *reply)
{
	struct scripted_turn *turn = calloc(1, sizeof(*turn));
	require(turn != NULL);
	struct arena *arena = &turn->running.arena;
	turn->running.end = end;
	turn->pieces = reply->pieces;
	turn->every_us = has(reply, every_ms) ? reply->every_ms * 1000 : 0;
	turn->stalls = has(reply, hang) && reply->hang;
	if (has(reply, text))
		turn->text = str_copy(arena, reply->text);
	else if (has(reply, json))
		turn->text = json_print(arena, reply->json);
	if (has(reply, thinking))
		turn->thinking = str_copy(arena, reply->thinking);
	if (has(reply, calls))
		turn->calls = copy_calls(reply->calls, arena);
	if (has(reply, fail)) {
		enum error_code code;
		bool known = error_code_from_name(run_turn_fault_name(reply->fail->code), &code);
		require(known);
		fail(&turn->fault, code, STR_FMT, STR_ARG(reply->fail->text));
	}
	turn->counted = has(reply, usage);
	if (turn->counted)
		turn->usage = copy_usage(reply->usage, arena);
	return turn;
}

static bool start(struct llm_host *host, const struct llm_call *call, uint64_t *out_running,
		  struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_script_reply *reply = find_reply(call, &arena, error);
	if (reply == NULL)
		return false;
	struct scripted_turn *turn = scripted_turn_new(reply);
	if (!llm_calls_begin(&turn->running, host, call, error)) {
		arena_done(&turn->running.arena);
		free(turn);
		return false;
	}
	if (!turn->stalls || turn->text.size > 0 || turn->thinking.size > 0)
		set_timer(turn, reply->after_ms * 1000);
	*out_running = turn->running.id;
	return true;
}

static void check(struct str model, const struct json *options, struct arena *arena,
		  struct problems *problems)
{
	(void)model; /* any name is valid */
	read_options(options, arena, problems);
}

const struct llm_driver llm_script = {
	.name = "script",
	.text = "Replies from a script in the agent's options; needs no key and no network.",
	.check = check,
	.start = start,
	.stop = llm_calls_stop,
};
