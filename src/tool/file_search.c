/* tool/file_search.c -- a search as a sequence of short jobs. */
#include "tool/file_search.h"

#include <stdlib.h>

#include "base/limits.h"

static struct file_search *search_of(struct job *job)
{
	return (struct file_search *)(void *)((char *)job - offsetof(struct file_search, job));
}

void *file_search_new(size_t size, const struct type *inputs, const struct tool_call *call,
		      struct error *error)
{
	struct file_search *search = calloc(1, size);
	require(search != NULL);
	struct arena *arena = &search->arena;
	search->root = str_c(arena, str_from_c(call->workspace));
	search->inputs = tool_context_inputs(inputs, json_copy(arena, call->inputs), arena, error);
	if (search->inputs != NULL)
		return search;
	file_search_free(search);
	return NULL;
}

void file_search_free(struct file_search *search)
{
	if (search->done != NULL)
		search->done(search);
	file_walk_free(search->walk);
	arena_done(&search->arena);
	free(search);
}

static void work(struct job *job, unsigned thread)
{
	struct file_search *search = search_of(job);
	int64_t now = platform_mono_us(search->platform);
	int64_t until = now + LIMIT_SEARCH_SLICE_MS * INT64_C(1000);
	int64_t end = search->began_us + LIMIT_SEARCH_MS * INT64_C(1000);
	(void)thread;
	while (!search->ended && now < until && !atomic_load(&search->stopped)) {
		search->ended = search->step(search);
		now = platform_mono_us(search->platform);
		if (!search->ended && now >= end)
			search->ended = search->truncated = true;
	}
	if (!search->ended || search->result.error.code != ERROR_NONE)
		return;
	if (search->walk != NULL && file_walk_partial(search->walk))
		search->truncated = true;
	search->result.output = search->output(search);
}

static void worked(struct job *job)
{
	struct file_search *search = search_of(job);
	if (!search->ended && !atomic_load(&search->stopped)) {
		platform_submit(search->platform, LANE_READER, &search->job);
		return;
	}
	tool_context_done(&search->running, &search->result);
	file_search_free(search);
}

/* The job sees it at its next step. */
static void end(struct tool_running *running)
{
	atomic_store(&((struct file_search *)running)->stopped, true);
}

void file_search_start(struct file_search *search, const struct tool_host *host,
		       const struct tool_call *call, uint64_t *out_running)
{
	search->platform = loop_platform(host->loop);
	search->began_us = platform_mono_us(search->platform);
	search->running.end = end;
	tool_context_begin(&search->running, host, call);
	search->job = (struct job){ .run = work, .done = worked, .name = "search" };
	*out_running = search->running.id;
	platform_submit(search->platform, LANE_READER, &search->job);
}

bool file_search_room(struct file_search *search, size_t bytes)
{
	if (search->output_bytes + bytes > LIMIT_SEARCH_OUTPUT_BYTES) {
		search->truncated = true;
		return false;
	}
	search->output_bytes += bytes;
	return true;
}
