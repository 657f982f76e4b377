/* active/alarm.c -- alarms: waits, deadlines, retries, questions that nobody answered.
 *
 * The rows of open effects hold the due times, by the wall clock (architecture R18).  Rows that are
 * due soon have an alarm in memory.  The others are found by a scan of the store, made before the
 * first of them is due, so a million runs may wait without being in memory.
 *
 * While the process lives an alarm counts by the monotonic clock: setting the wall clock does not
 * move it.  After a restart the wall clock decides, and alarms that are late ring at once.
 */
#include "active/alarm.h"

#include <stdlib.h>
#include <string.h>

#include "active/active_run.h"
#include "active/executor_jobs.h"
#include "active/executor_state.h"
#include "base/limits.h"
#include "base/log.h"
#include "contract/run_open_types.h"
#include "os/failpoint.h"
#include "active/stored_row.h"

struct alarm {
	struct arena arena;
	char key[16]; /* in executor->alarms */
	uint64_t id;  /* in executor->alarm_slots */
	struct uuid run;
	struct str step;
	int64_t due_at;
	uint64_t timer;
};

static void alarm_free(struct alarm *alarm)
{
	arena_done(&alarm->arena);
	free(alarm);
}

static struct alarm *alarm_find(const struct executor *executor, const struct uuid *effect)
{
	return map_get(&executor->alarms, uuid_str(effect));
}

static void remove_alarm(struct executor *executor, struct alarm *alarm)
{
	map_remove(&executor->alarms, (struct str){ alarm->key, sizeof(alarm->key) });
	slots_remove(&executor->alarm_slots, alarm->id);
	platform_timer_stop(executor->settings.platform, alarm->timer);
	alarm_free(alarm);
}

static void ring(void *context, uint64_t id)
{
	struct executor *executor = context;
	struct alarm *alarm = slots_get(&executor->alarm_slots, id);
	if (alarm == NULL)
		return;
	FAILPOINT("timer.fired");
	struct pending_command *pending = pending_command_new(COMMAND_DUE);
	pending->command.step = str_copy(&pending->arena, alarm->step);
	pending->not_before = alarm->due_at;
	struct uuid run = alarm->run;
	remove_alarm(executor, alarm);
	active_run_command(active_run_get(executor, &run), pending);
}

/* ---- the next scan ------------------------------------------------------------------- */

static void scan_timer(void *context, uint64_t argument)
{
	struct executor *executor = context;
	(void)argument;
	executor->alarm_scan_timer = 0;
	alarm_scan(executor);
}

/* Makes sure that a scan happens before `due_at`.  Which of two scans is earlier is decided by the
 * monotonic clock: the wall clock may have been set between them. */
static void scan_before(struct executor *executor, int64_t due_at)
{
	struct platform *platform = executor->settings.platform;
	int64_t delay = due_at - LIMIT_ALARM_MS * INT64_C(1000) / 2 - executor_now(executor);
	int64_t at = platform_mono_us(platform) + (delay > 0 ? delay : 0);
	if (executor->alarm_scan_timer != 0 && executor->alarm_scan_at <= at)
		return;
	if (executor->alarm_scan_timer != 0)
		platform_timer_stop(platform, executor->alarm_scan_timer);
	executor->alarm_scan_at = at;
	executor->alarm_scan_timer = platform_timer_start(platform, delay, scan_timer, executor, 0);
}

void alarm_set(struct executor *executor, const struct uuid *run, const struct uuid *effect,
	       struct str step, int64_t due_at)
{
	int64_t now = executor_now(executor);
	struct alarm *alarm = alarm_find(executor, effect);
	if (alarm != NULL && alarm->due_at == due_at)
		return;
	if (alarm != NULL)
		remove_alarm(executor, alarm);
	if (due_at - now > LIMIT_ALARM_MS * INT64_C(1000)) {
		scan_before(executor, due_at);
		return;
	}
	alarm = calloc(1, sizeof(*alarm));
	require(alarm != NULL);
	memcpy(alarm->key, effect->bytes, sizeof(alarm->key));
	alarm->run = *run;
	alarm->step = str_copy(&alarm->arena, step);
	alarm->due_at = due_at;
	alarm->id = slots_add(&executor->alarm_slots, alarm);
	map_put(&executor->alarms, (struct str){ alarm->key, sizeof(alarm->key) }, alarm);
	alarm->timer = platform_timer_start(executor->settings.platform, due_at - now, ring,
					    executor, alarm->id);
}

void alarm_clear(struct executor *executor, const struct uuid *effect)
{
	struct alarm *alarm = alarm_find(executor, effect);
	if (alarm != NULL)
		remove_alarm(executor, alarm);
}

void alarm_discard_all(struct executor *executor)
{
	size_t i = 0;
	struct str key;
	for (struct alarm *alarm; (alarm = map_next(&executor->alarms, &i, &key)) != NULL;)
		alarm_free(alarm);
	map_done(&executor->alarms);
	slots_done(&executor->alarm_slots);
}

/* ---- the scan ------------------------------------------------------------------------- */

struct scan {
	struct executor_read read;
	struct store_effect_page page;
	struct str *steps; /* "" = the run itself */
	bool *readable;
	int64_t later; /* due time of the first row that is not due soon; 0 = none */
	int64_t now;
	struct error error;
};

static bool read_step(const struct store_effect *effect, struct arena *arena, struct str *out_step,
		      struct error *error)
{
	const struct json *json;
	if (!json_read(effect->body, arena, &json, error))
		return stored_effect_fail(effect, error);
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = json, .text = effect->body, .lenient = true };
	if (str_equal(effect->kind, S("human"))) {
		const struct run_open_question *question =
			run_open_question_parse(&source, arena, &problems);
		if (question == NULL) {
			problems_fail(&problems, error);
			return stored_effect_fail(effect, error);
		}
		*out_step = question->step;
		return true;
	}
	const struct run_open_effect *body = run_open_effect_parse(&source, arena, &problems);
	if (body == NULL) {
		problems_fail(&problems, error);
		return stored_effect_fail(effect, error);
	}
	*out_step = body->step;
	return true;
}

static void scan_work(struct executor_read *read, struct store_reader *reader)
{
	struct scan *scan = (struct scan *)read;
	int64_t near = scan->now + LIMIT_ALARM_MS * INT64_C(1000);
	struct store_effect_page first;
	if (!reader->ops->list_due(reader, 0, near, LIMIT_ALARMS, &read->arena, &scan->page,
				   &scan->error))
		return;
	scan->steps = arena_array(&read->arena, struct str, scan->page.count);
	scan->readable = arena_array(&read->arena, bool, scan->page.count);
	/* A row that cannot be parsed never comes due and does not affect other rows. */
	for (size_t i = 0; i < scan->page.count; i++) {
		struct error error;
		scan->readable[i] =
			read_step(&scan->page.at[i], &read->arena, &scan->steps[i], &error);
		if (!scan->readable[i])
			log_line(LOG_ERROR, "a timer is skipped: %s", error.text);
	}
	/* The next scan must come before what this one leaves out. */
	if (scan->page.count == LIMIT_ALARMS)
		scan->later = scan->page.at[scan->page.count - 1].due_at;
	else if (reader->ops->list_due(reader, near, INT64_MAX, 1, &read->arena, &first,
				       &scan->error) &&
		 first.count > 0)
		scan->later = first.at[0].due_at;
}

static void scan_done(struct executor_read *read)
{
	struct scan *scan = (struct scan *)read;
	struct executor *executor = read->executor;
	if (scan->error.code != ERROR_NONE)
		executor_fail(executor, &scan->error);
	/* An alarm that is set is newer than the row that was read. */
	for (size_t i = 0; scan->error.code == ERROR_NONE && i < scan->page.count; i++)
		if (scan->readable[i] && alarm_find(executor, &scan->page.at[i].id) == NULL)
			alarm_set(executor, &scan->page.at[i].run, &scan->page.at[i].id,
				  scan->steps[i], scan->page.at[i].due_at);
	if (scan->later > 0)
		scan_before(executor, scan->later);
	arena_done(&read->arena);
	free(scan);
}

void alarm_scan(struct executor *executor)
{
	struct scan *scan = calloc(1, sizeof(*scan));
	require(scan != NULL);
	scan->now = executor_now(executor);
	scan->read.work = scan_work;
	scan->read.done = scan_done;
	executor_read(executor, &scan->read);
}
