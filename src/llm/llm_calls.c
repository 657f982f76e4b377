/* llm/llm_calls.c -- ids of running turns. */
#include "llm/llm_calls.h"

#include <stdlib.h>

#include "base/limits.h"
#include "llm/models.h"
#include "net/http_client.h"

bool llm_calls_begin(struct llm_running *running, struct llm_host *host,
		     const struct llm_call *call, struct error *error)
{
	if (host->calls.live >= LIMIT_TURNS)
		return fail(error, ERROR_UNAVAILABLE, "%d turns are already running", LIMIT_TURNS);
	running->host = host;
	running->done = call->done;
	running->piece = call->piece;
	running->context = call->context;
	running->argument = call->argument;
	running->id = slots_add(&host->calls, running);
	return true;
}

struct llm_running *llm_calls_find(const struct llm_host *host, uint64_t id)
{
	return slots_get(&host->calls, id);
}

void llm_calls_piece(const struct llm_running *running, enum llm_part part, struct str delta)
{
	if (running->piece != NULL && delta.size > 0)
		running->piece(running->context, running->argument, part, delta);
}

static void running_free(struct llm_running *running)
{
	if (running->release != NULL)
		running->release(running);
	arena_done(&running->arena);
	free(running);
}

void llm_calls_done(struct llm_running *running, const struct llm_result *result)
{
	slots_remove(&running->host->calls, running->id);
	struct llm_result stopped = { .usage = result->usage, .error = running->stop_error };
	bool ended = running->stop_error.code != ERROR_NONE && result->error.code != ERROR_NONE;
	running->done(running->context, running->argument, ended ? &stopped : result);
	running_free(running);
}

void llm_calls_stop(struct llm_host *host, uint64_t id, const struct error *why)
{
	struct llm_running *running = llm_calls_find(host, id);
	if (running == NULL || running->stop_error.code != ERROR_NONE)
		return;
	running->stop_error = *why;
	running->end(running);
}

struct llm_counts llm_counts(const struct llm_host *host)
{
	if (host->models == NULL)
		return (struct llm_counts){ 0 };
	struct model_counts gates = model_gates_counts(host->models->gates);
	return (struct llm_counts){ .requests = gates.inside,
				    .waiting = gates.waiting,
				    .open = gates.open,
				    .opened = gates.opened,
				    .connections =
					    http_client_counts(host->models->http).connections };
}

void llm_host_done(struct llm_host *host)
{
	uint32_t index = 0;
	uint64_t id;
	for (struct llm_running *running;
	     (running = slots_next(&host->calls, &index, &id)) != NULL;)
		running_free(running);
	slots_done(&host->calls);
}
