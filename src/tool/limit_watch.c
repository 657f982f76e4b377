/* tool/limit_watch.c -- watches a sandboxed command and reports when it exceeds its limits.
 *
 * A check is one or more jobs on a reader thread: each visits a bounded part of the workspace.  A
 * job may be in progress when the command ends; then the watch lives until the job is done.
 */
#include "tool/limit_watch.h"

#include <stdlib.h>

#include "base/limits.h"

enum { PAUSE_FACTOR = 10 }; /* a check takes at most a tenth of a reader's time */

struct limit_watch {
	struct job job; /* first, so that a job pointer converts to a watch */
	struct loop *loop;
	struct arena arena;
	const struct sandbox_limits *limits;
	const char *workspace;
	struct cgroup group;
	bool has_group;
	const struct sandbox_lifeline *line; /* NULL = not begun, or ended */
	limit_watch_exceeded *exceeded;
	void *context;
	uint64_t timer;
	/* The check in progress. */
	struct sandbox_check check;
	bool checking, complete;
	int64_t began_us;
	struct error excess;
};

static void watch_free(struct limit_watch *watch)
{
	if (watch->has_group)
		cgroup_free(&watch->group);
	arena_done(&watch->arena);
	free(watch);
}

static void check_run(struct job *job, unsigned thread)
{
	struct limit_watch *watch = (struct limit_watch *)job;
	(void)thread;
	watch->complete = sandbox_check_step(&watch->check, &watch->excess);
}

static void check_begin(void *context, uint64_t argument);

static void check_stepped(struct job *job)
{
	struct limit_watch *watch = (struct limit_watch *)job;
	struct platform *platform = loop_platform(watch->loop);
	bool ended = watch->line == NULL;
	if (!ended && !watch->complete) {
		platform_submit(platform, LANE_READER, &watch->job);
		return;
	}
	watch->checking = false;
	sandbox_check_done(&watch->check);
	if (ended) {
		watch_free(watch);
		return;
	}
	if (watch->excess.code != ERROR_NONE) {
		watch->exceeded(watch->context, &watch->excess);
		return;
	}
	int64_t pause_us = (platform_mono_us(platform) - watch->began_us) * PAUSE_FACTOR;
	if (pause_us < LIMIT_SANDBOX_CHECK_MS * INT64_C(1000))
		pause_us = LIMIT_SANDBOX_CHECK_MS * INT64_C(1000);
	watch->timer = platform_timer_start(platform, pause_us, check_begin, watch, 0);
}

static void check_begin(void *context, uint64_t argument)
{
	struct limit_watch *watch = context;
	(void)argument;
	watch->timer = 0;
	watch->checking = true;
	watch->began_us = platform_mono_us(loop_platform(watch->loop));
	watch->check = (struct sandbox_check){
		.limits = watch->limits,
		.group = watch->has_group ? &watch->group : NULL,
		.workspace = watch->workspace,
		.pid = sandbox_first_process(watch->line),
	};
	watch->job = (struct job){ .run = check_run, .done = check_stepped, .name = "limits" };
	platform_submit(loop_platform(watch->loop), LANE_READER, &watch->job);
}

bool limit_watch_new(struct loop *loop, const struct sandbox_limits *limits, const char *workspace,
		     struct limit_watch **out_watch, struct error *error)
{
	struct limit_watch *watch = calloc(1, sizeof(*watch));
	require(watch != NULL);
	watch->loop = loop;
	watch->limits = limits;
	if (workspace != NULL)
		watch->workspace = str_c(&watch->arena, str_from_c(workspace));
	if (limits->enforcement == SANDBOX_CGROUP) {
		if (!sandbox_limits_group(limits, &watch->group, error)) {
			watch_free(watch);
			return false;
		}
		watch->has_group = true;
	}
	*out_watch = watch;
	return true;
}

const struct cgroup *limit_watch_group(const struct limit_watch *watch)
{
	return watch->has_group ? &watch->group : NULL;
}

void limit_watch_begin(struct limit_watch *watch, const struct sandbox_lifeline *line,
		       limit_watch_exceeded *exceeded, void *context)
{
	watch->line = line;
	watch->exceeded = exceeded;
	watch->context = context;
	watch->timer =
		platform_timer_start(loop_platform(watch->loop),
				     LIMIT_SANDBOX_CHECK_MS * INT64_C(1000), check_begin, watch, 0);
}

bool limit_watch_end(struct limit_watch *watch, struct error *out_excess)
{
	bool exceeded = watch->has_group && watch->line != NULL &&
			sandbox_group_excess(watch->limits, &watch->group, out_excess);
	platform_timer_stop(loop_platform(watch->loop), watch->timer);
	watch->line = NULL;
	if (!watch->checking)
		watch_free(watch);
	return exceeded;
}
