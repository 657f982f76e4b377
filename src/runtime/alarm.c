/* runtime/alarm.c -- what is due: waits, deadlines, attempts to come, questions nobody answered.
 *
 * Rows of open effects say when, by the wall clock (architecture R18).  Those that are due soon
 * have an alarm in memory; the others cost nothing until a look at the disk, made in time, finds
 * them near.  So a million runs may wait without one of them being in memory.
 *
 * While the process lives a delay is a delay, whatever happens to the wall clock: the loop counts
 * what is left monotonically, and a time that has come has come.  After a restart the wall decides,
 * and what is late is due at once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "os/point.h"
#include "runtime/inside.h"

struct alarm {
	struct arena arena;
	char key[16]; /* in runtime->alarms */
	uint64_t id;  /* in runtime->alarm_slots */
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

static struct alarm *alarm_find(const struct runtime *runtime, const struct uuid *effect)
{
	return map_get(&runtime->alarms, uuid_str(effect));
}

static void remove_alarm(struct runtime *runtime, struct alarm *alarm)
{
	map_remove(&runtime->alarms, (struct str){ alarm->key, sizeof(alarm->key) });
	slots_remove(&runtime->alarm_slots, alarm->id);
	system_timer_stop(runtime->settings.system, alarm->timer);
	alarm_free(alarm);
}

static void rang(void *context, uint64_t id)
{
	struct runtime *runtime = context;
	struct alarm *alarm = slots_get(&runtime->alarm_slots, id);
	if (alarm == NULL)
		return;
	POINT("timer.fired");
	struct item *item = item_new(COMMAND_DUE);
	item->command.step = str_copy(&item->arena, alarm->step);
	item->not_before = alarm->due_at;
	struct uuid run = alarm->run;
	remove_alarm(runtime, alarm);
	live_command(live_get(runtime, &run), item);
}

/* ---- looking ahead ------------------------------------------------------------------- */

static void look_ahead(void *context, uint64_t argument)
{
	struct runtime *runtime = context;
	(void)argument;
	runtime->look_ahead = 0;
	alarms_look(runtime);
}

/* There is something on the disk that is due then.  Which of two looks comes first is counted by
 * the monotonic clock: the wall may have been set between them. */
static void look_in_time(struct runtime *runtime, int64_t due_at)
{
	struct system *system = runtime->settings.system;
	int64_t delay = due_at - LIMIT_ALARM_MS * INT64_C(1000) / 2 - runtime_now(runtime);
	int64_t at = system_mono_us(system) + (delay > 0 ? delay : 0);
	if (runtime->look_ahead != 0 && runtime->look_ahead_at <= at)
		return;
	if (runtime->look_ahead != 0)
		system_timer_stop(system, runtime->look_ahead);
	runtime->look_ahead_at = at;
	runtime->look_ahead = system_timer_start(system, delay, look_ahead, runtime, 0);
}

void alarm_set(struct runtime *runtime, const struct uuid *run, const struct uuid *effect,
	       struct str step, int64_t due_at)
{
	int64_t now = runtime_now(runtime);
	struct alarm *alarm = alarm_find(runtime, effect);
	if (alarm != NULL && alarm->due_at == due_at)
		return;
	if (alarm != NULL)
		remove_alarm(runtime, alarm);
	if (due_at - now > LIMIT_ALARM_MS * INT64_C(1000)) {
		look_in_time(runtime, due_at);
		return;
	}
	alarm = calloc(1, sizeof(*alarm));
	require(alarm != NULL);
	memcpy(alarm->key, effect->bytes, sizeof(alarm->key));
	alarm->run = *run;
	alarm->step = str_copy(&alarm->arena, step);
	alarm->due_at = due_at;
	alarm->id = slots_add(&runtime->alarm_slots, alarm);
	map_put(&runtime->alarms, (struct str){ alarm->key, sizeof(alarm->key) }, alarm);
	alarm->timer = system_timer_start(runtime->settings.system, due_at - now, rang, runtime,
					  alarm->id);
}

void alarm_clear(struct runtime *runtime, const struct uuid *effect)
{
	struct alarm *alarm = alarm_find(runtime, effect);
	if (alarm != NULL)
		remove_alarm(runtime, alarm);
}

void alarms_discard(struct runtime *runtime)
{
	size_t i = 0;
	struct str key;
	for (struct alarm *alarm; (alarm = map_next(&runtime->alarms, &i, &key)) != NULL;)
		alarm_free(alarm);
	map_done(&runtime->alarms);
	slots_done(&runtime->alarm_slots);
}

/* ---- a look at the disk --------------------------------------------------------------- */

struct look {
	struct runtime_read read;
	struct store_effect_page page;
	struct str *steps;
	int64_t later; /* when the first is due that is not near; 0 = none is */
	int64_t now;
	struct error error;
};

static bool read_step(const struct store_effect *effect, struct arena *arena, struct str *out_step,
		      struct error *error)
{
	const struct json *json;
	if (!json_read(effect->body, arena, &json, error))
		return false;
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = json, .text = effect->body, .lenient = true };
	if (str_equal(effect->kind, S("human"))) {
		const struct run_open_question *question =
			run_open_question_parse(&source, arena, &problems);
		if (question == NULL)
			return problems_fail(&problems, error);
		*out_step = question->step;
		return true;
	}
	const struct run_open_effect *body = run_open_effect_parse(&source, arena, &problems);
	if (body == NULL)
		return problems_fail(&problems, error);
	*out_step = body->step;
	return true;
}

static void look_work(struct runtime_read *read, struct store_reader *reader)
{
	struct look *look = (struct look *)read;
	int64_t near = look->now + LIMIT_ALARM_MS * INT64_C(1000);
	struct store_effect_page first;
	if (!reader->ops->list_due(reader, 0, near, LIMIT_ALARMS, &read->arena, &look->page,
				   &look->error))
		return;
	look->steps = arena_array(&read->arena, struct str, look->page.count);
	for (size_t i = 0; i < look->page.count; i++)
		if (!read_step(&look->page.at[i], &read->arena, &look->steps[i], &look->error))
			return;
	/* What is left of this page, or the earliest behind it, tells when to look again. */
	if (look->page.count == LIMIT_ALARMS)
		look->later = look->page.at[look->page.count - 1].due_at;
	else if (reader->ops->list_due(reader, near, INT64_MAX, 1, &read->arena, &first,
				       &look->error) &&
		 first.count > 0)
		look->later = first.at[0].due_at;
}

static void look_done(struct runtime_read *read)
{
	struct look *look = (struct look *)read;
	struct runtime *runtime = read->runtime;
	if (look->error.code != ERROR_NONE)
		runtime_fail(runtime, &look->error);
	/* One that is set is newer than what was read. */
	for (size_t i = 0; look->error.code == ERROR_NONE && i < look->page.count; i++)
		if (alarm_find(runtime, &look->page.at[i].id) == NULL)
			alarm_set(runtime, &look->page.at[i].run, &look->page.at[i].id,
				  look->steps[i], look->page.at[i].due_at);
	if (look->later > 0)
		look_in_time(runtime, look->later);
	arena_done(&read->arena);
	free(look);
}

void alarms_look(struct runtime *runtime)
{
	struct look *look = calloc(1, sizeof(*look));
	require(look != NULL);
	look->now = runtime_now(runtime);
	look->read.work = look_work;
	look->read.done = look_done;
	runtime_read(runtime, &look->read);
}
