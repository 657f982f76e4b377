/* active/large_value.c -- prints, hashes and frees large values on reader threads.
 *
 * The loop hands pointers over and gets pointers back.  A tree that is printed elsewhere shares
 * memory with values that the run has loaded and with its graph; both are pinned until the job is
 * done, because the run may lose its state meanwhile.
 */
#include "active/large_value.h"

#include <stdlib.h>

#include "active/commit_cycle.h"
#include "active/executor_state.h"
#include "os/fast_hash.h"

size_t executor_value_on_loop(const struct executor *executor)
{
	size_t set = executor->settings.value_on_loop_bytes;
	return set > 0 ? set : LIMIT_VALUE_ON_LOOP_BYTES;
}

/* ---- freeing --------------------------------------------------------------------------- */

struct discard_job {
	struct job job;
	struct arena arena;
};

static void discard_run(struct job *job, unsigned thread)
{
	(void)thread;
	arena_done(&((struct discard_job *)job)->arena);
}

static void discard_done(struct job *job)
{
	free(job);
}

void executor_discard(struct executor *executor, struct arena *arena)
{
	if (arena->taken <= LIMIT_FREE_ON_LOOP_BYTES || executor->closing) {
		arena_done(arena);
		return;
	}
	struct discard_job *discard = malloc(sizeof(*discard));
	require(discard != NULL);
	*discard = (struct discard_job){
		.job = { .run = discard_run, .done = discard_done, .name = "free" },
		.arena = *arena,
	};
	*arena = (struct arena){ 0 };
	platform_submit(executor->settings.platform, LANE_READER, &discard->job);
}

/* ---- printing -------------------------------------------------------------------------- */

struct printed_value *large_value_text(const struct json *json, struct arena *arena)
{
	AUTO(buf) text = buf_limited(LIMIT_VALUE_BYTES);
	struct json_writer writer = { .out = &text };
	json_put_tree(&writer, json);
	struct printed_value *printed = arena_new(arena, struct printed_value);
	printed->json = json;
	if (!text.full) {
		printed->text = str_copy(arena, buf_str(&text));
		if (printed->text.size > LIMIT_HASH_PORTABLE_BYTES)
			fast_hash_load();
		printed->hash = hash_of(printed->text);
	}
	return printed;
}

struct print_job {
	struct executor_read read; /* its arena has the text */
	uint64_t active;
	const struct json *json; /* in the cycle's arena, and in what is pinned */
	struct value_pins pins;
	struct print_key key;
	struct str prefix; /* likewise in the cycle's arena */
	struct printed_value *printed;
	value_fetch_done *done;
};

static void print_work(struct executor_read *read, struct store_reader *reader)
{
	struct print_job *job = (struct print_job *)read;
	(void)reader;
	job->printed = large_value_text(job->json, &read->arena);
	job->printed->is_prefixed = job->prefix.size > 0;
	if (job->printed->is_prefixed)
		job->printed->prefixed = hash_prefixed(job->prefix, job->printed->text);
}

static void print_done(struct executor_read *read)
{
	struct print_job *job = (struct print_job *)read;
	struct executor *executor = read->executor;
	struct active_run *active = active_run_by_id(executor, job->active);
	require(active != NULL && active->deciding != NULL);
	struct decision *decision = &active->deciding->decision;
	job->printed->key = job->key;
	job->printed->next = decision->printed;
	decision->printed = job->printed;
	arena_join(&active->deciding->arena, &read->arena);
	value_fetch_unpin(executor, &job->pins);
	active_run_unpin(active);
	value_fetch_done *done = job->done;
	uint64_t id = job->active;
	free(job);
	done(executor, id, 0, NULL);
}

void large_value_print(struct active_run *active, const struct decision *decision,
		       value_fetch_done *done)
{
	struct print_job *job = calloc(1, sizeof(*job));
	require(job != NULL);
	job->active = active->id;
	job->json = decision->to_print;
	job->key = decision->print_key;
	job->prefix = decision->print_prefix;
	job->done = done;
	job->read.work = print_work;
	job->read.done = print_done;
	value_fetch_pin(active, &job->pins);
	active_run_pin(active);
	executor_read(active->executor, &job->read);
}
