/* llm/llm_replay.c -- the driver replay: replies from a cassette, without model, key and network.
 *
 * The reply is found by the content of the request, so a run that asks the same gets the same, in any
 * process and in any order.
 */
#include <stdlib.h>

#include "llm/cassette.h"
#include "llm/llm_calls.h"
#include "llm/models.h"

struct replay_turn {
	struct llm_running running; /* first */
};

static const struct run_replay_options *read_options(const struct json *options,
						     struct arena *arena, struct problems *problems)
{
	return run_replay_options_parse(&(struct contract_source){ .json = options }, arena,
					problems);
}

static void found(struct job *at)
{
	struct cassette_job *job = (struct cassette_job *)at;
	struct llm_running *running = llm_calls_find(job->host, job->running);
	if (running != NULL && job->entry != NULL) {
		const struct run_turn_result *reply = job->entry->reply;
		struct llm_result result = { .text = reply->text };
		if (has(reply, thinking))
			result.thinking = reply->thinking;
		if (has(reply, calls))
			result.calls = reply->calls;
		if (has(reply, stop))
			result.stop = reply->stop;
		if (has(job->entry, usage))
			result.usage = job->entry->usage;
		for (size_t i = 0; i < result.thinking.count; i++)
			llm_calls_piece(running, LLM_PART_THINKING, result.thinking.at[i].text);
		llm_calls_piece(running, LLM_PART_TEXT, result.text);
		for (size_t i = 0; i < result.calls.count; i++)
			llm_calls_piece(running, LLM_PART_CALL, result.calls.at[i].name);
		llm_calls_done(running, &result);
	} else if (running != NULL)
		llm_calls_done(running, &(struct llm_result){ .error = job->error });
	cassette_job_free(job);
}

/* The cassette answers soon. */
static void end(struct llm_running *running)
{
	(void)running;
}

static bool start(struct llm_host *host, const struct llm_call *call, uint64_t *out_running,
		  struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct problems problems = { .arena = &arena };
	const struct run_replay_options *options =
		read_options(call->turn->options, &arena, &problems);
	if (options == NULL)
		return problems_fail(&problems, error);
	if (host->models == NULL)
		return fail(error, ERROR_INTERNAL, "this program has no cassettes");
	struct replay_turn *turn = calloc(1, sizeof(*turn));
	require(turn != NULL);
	turn->running.end = end;
	if (!llm_calls_begin(&turn->running, host, call, error)) {
		free(turn);
		return false;
	}
	struct cassette_job *job = calloc(1, sizeof(*job));
	require(job != NULL);
	job->job.done = found;
	job->folder = host->models->folder;
	job->name = str_copy(&job->arena, options->cassette);
	job->request = cassette_request(call->model, call->turn);
	job->host = host;
	job->running = turn->running.id;
	cassette_read(job);
	*out_running = turn->running.id;
	return true;
}

static void check(struct str model, const struct json *options, struct arena *arena,
		  struct problems *problems)
{
	(void)model; /* any name: it is part of the request */
	read_options(options, arena, problems);
}

const struct llm_driver llm_replay = {
	.name = "replay",
	.text = "Recorded replies from a cassette; needs no key and no network.",
	.check = check,
	.start = start,
	.stop = llm_calls_stop,
};
