/* llm/llm_parrot.c -- says the prompt again: a driver for the test that adds one. */
#include <stdlib.h>

#include "contract/run_turn_types.h"
#include "llm/llm_calls.h"

struct parrot {
	struct llm_running running; /* first */
	struct str text;
};

static const struct run_parrot_options *read_options(const struct json *options,
						     struct arena *arena, struct problems *problems)
{
	return run_parrot_options_parse(&(struct contract_source){ .json = options }, arena,
					problems);
}

static void speak(void *context, uint64_t id)
{
	struct parrot *parrot = (struct parrot *)llm_calls_find(context, id);
	if (parrot != NULL)
		llm_calls_done(&parrot->running, &(struct llm_result){ .text = parrot->text });
}

/* It speaks at once, so there is nothing to end early. */
static void end(struct llm_running *running)
{
	(void)running;
}

static bool start(struct llm_host *host, const struct llm_call *call, uint64_t *out_running,
		  struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct problems problems = { .arena = &arena };
	const struct run_parrot_options *options =
		read_options(call->turn->options, &arena, &problems);
	if (options == NULL)
		return problems_fail(&problems, error);
	struct parrot *parrot = calloc(1, sizeof(*parrot));
	require(parrot != NULL);
	parrot->running.end = end;
	parrot->text = str_format(
		&parrot->running.arena, STR_FMT STR_FMT, STR_ARG(options->prefix),
		STR_ARG(call->turn->messages.at[call->turn->messages.count - 1].content));
	if (!llm_calls_begin(&parrot->running, host, call, error)) {
		arena_done(&parrot->running.arena);
		free(parrot);
		return false;
	}
	platform_timer_start(host->platform, 0, speak, host, parrot->running.id);
	*out_running = parrot->running.id;
	return true;
}

static void check(struct str model, const struct json *options, struct arena *arena,
		  struct problems *problems)
{
	(void)model;
	read_options(options, arena, problems);
}

const struct llm_driver llm_parrot = {
	.name = "parrot",
	.text = "Says the prompt again.",
	.check = check,
	.start = start,
	.stop = llm_calls_stop,
};
