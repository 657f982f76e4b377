/* llm/llm_script.c -- a model that says what it was told to: for tests, demonstrations and dry
 * runs.
 *
 * The replies stand in the agent's options, so they are pinned with the graph and recorded with the
 * request.  Which one is given depends on the call alone (the prompt, the step's path, the
 * attempt), never on calls before it: the same turn gets the same reply in another process too,
 * after a crash and in a rebuilt run.  No network, no files, no dice.
 */
#include <stdlib.h>

#include "llm/llm_calls.h"

/* A turn under way, with what it will say: the options go with the call of start(). */
struct playing {
	struct llm_running running; /* first */
	struct str text;            /* unless it fails */
	struct error fault;
	bool counted;
	struct run_turn_usage usage; /* numbers only, so a copy is its own */
	int64_t pieces, piece;       /* to tell, and told */
	uint64_t timer;              /* 0: it hangs */
};

/* ---- which reply --------------------------------------------------------------------- */

/* The last #n of the path: a step's own rounds, or else those of what it is in. */
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

static struct str prompt_of(const struct run_turn *turn)
{
	size_t count = turn->messages.count;
	return count == 0 ? S("") : turn->messages.at[count - 1].content;
}

static bool fits(const struct run_script_reply *reply, const struct llm_call *call)
{
	size_t at;
	return (!has(reply, contains) || str_find(prompt_of(call->turn), reply->contains, &at)) &&
	       (!has(reply, step) || str_equal(reply->step, call->step)) &&
	       (!has(reply, round) || reply->round == round_of(call->step)) &&
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
	     "the script has no reply for step " STR_FMT ", round %lld, attempt %lld, with this "
	     "prompt: end the replies with one that has no conditions",
	     STR_ARG(call->step), (long long)round_of(call->step), (long long)call->attempt);
	return NULL;
}

/* ---- saying it ----------------------------------------------------------------------- */

static void end_playing(struct playing *playing)
{
	struct llm_result result = { .error = playing->fault };
	if (playing->counted)
		result.usage = &playing->usage;
	if (playing->fault.code == ERROR_NONE)
		result.text = playing->text;
	llm_calls_done(&playing->running, &result);
}

/* Where the nth of the pieces ends, moved behind the character it would cut. */
static size_t end_of_piece(const struct playing *playing, int64_t n)
{
	struct str text = playing->text;
	size_t at = n >= playing->pieces ? text.size
					 : text.size / (size_t)playing->pieces * (size_t)n +
						   text.size % (size_t)playing->pieces * (size_t)n /
							   (size_t)playing->pieces;
	while (at < text.size && ((unsigned char)text.at[at] & 0xC0) == 0x80)
		at++;
	return at;
}

static void play(void *context, uint64_t id);

static void set_timer(struct playing *playing, int64_t delay_us)
{
	playing->timer = platform_timer_start(playing->running.host->platform, delay_us, play,
					      playing->running.host, playing->running.id);
}

/* One piece a turn of the loop, then the end. */
static void play(void *context, uint64_t id)
{
	struct playing *playing = (struct playing *)llm_calls_find(context, id);
	if (playing == NULL)
		return;
	bool speaks = playing->fault.code == ERROR_NONE && playing->running.piece != NULL;
	if (!speaks || playing->piece == playing->pieces) {
		end_playing(playing);
		return;
	}
	size_t begin = end_of_piece(playing, playing->piece);
	size_t end = end_of_piece(playing, ++playing->piece);
	llm_calls_piece(&playing->running, str_head(str_skip(playing->text, begin), end - begin));
	set_timer(playing, 0);
}

static void end(struct llm_running *running)
{
	struct playing *playing = (struct playing *)running;
	if (playing->timer != 0)
		platform_timer_stop(running->host->platform, playing->timer);
	playing->fault = running->told;
	set_timer(playing, 0);
}

static struct playing *playing_new(const struct run_script_reply *reply)
{
	struct playing *playing = calloc(1, sizeof(*playing));
	require(playing != NULL);
	struct arena *arena = &playing->running.arena;
	playing->running.end = end;
	playing->pieces = reply->pieces;
	if (has(reply, text))
		playing->text = str_copy(arena, reply->text);
	else if (has(reply, json))
		playing->text = json_print(arena, reply->json);
	if (has(reply, fail)) {
		enum error_code code;
		bool known = error_code_from_name(run_turn_fault_name(reply->fail->code), &code);
		require(known);
		fail(&playing->fault, code, STR_FMT, STR_ARG(reply->fail->text));
	}
	playing->counted = has(reply, usage);
	if (playing->counted)
		playing->usage = *reply->usage;
	return playing;
}

static bool start(struct llm_host *host, const struct llm_call *call, uint64_t *out_running,
		  struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_script_reply *reply = find_reply(call, &arena, error);
	if (reply == NULL)
		return false;
	struct playing *playing = playing_new(reply);
	if (!llm_calls_begin(&playing->running, host, call, error)) {
		arena_done(&playing->running.arena);
		free(playing);
		return false;
	}
	if (!has(reply, hang) || !reply->hang)
		set_timer(playing, reply->after_ms * 1000);
	*out_running = playing->running.id;
	return true;
}

static void check(struct str model, const struct json *options, struct arena *arena,
		  struct problems *problems)
{
	(void)model; /* any: nobody is asked */
	read_options(options, arena, problems);
}

const struct llm_driver llm_script = {
	.name = "script",
	.text = "Says what the agent's options tell it to; needs no key and no network.",
	.check = check,
	.start = start,
	.stop = llm_calls_stop,
};
