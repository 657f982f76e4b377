/* api/api_health.c -- liveness, readiness and component health.
 *
 * A supervisor asks whether the process is alive (/health/live) and whether it accepts work
 * (/health/ready); both are answered from memory at once.  A person or a monitor asks which
 * component is in trouble (/health): this checks the disk on a reader thread, and the time until
 * the loop handles the result is the lag of the loop.
 *
 * Every component reports its measurements and limits together with its status, so that an operator
 * can judge the threshold.
 */
#include <stdlib.h>

#include "active/executor.h"
#include "active/quarantine.h"
#include "active/executor_jobs.h"
#include "api/api_internal.h"
#include "contract/run_server_types.h"
#include "contract/runtime_types.h"
#include "contract/task_types.h"
#include "os/file.h"

void api_health(struct api_call *call)
{
	struct runtime_health_response *health = runtime_health_response_new(call->arena);
	SET(health, status, S("ok"));
	SET(health, version, str_from_c(call->api->settings.version));
	api_reply_json(call->api, call->exchange, 200,
		       runtime_health_response_text(health, call->arena));
}

void api_health_live(struct api_call *call)
{
	struct run_probe *probe = run_probe_new(call->arena);
	SET(probe, status, S("ok"));
	api_reply_json(call->api, call->exchange, 200, run_probe_text(probe, call->arena));
}

void api_health_ready(struct api_call *call)
{
	struct run_probe *probe = run_probe_new(call->arena);
	int status = 503;
	switch (call->api->state) {
	case API_RECOVERING:
		SET(probe, status, S("recovering"));
		SET(probe, reason, S("the server has just started and is recovering open runs"));
		break;
	case API_DRAINING:
		SET(probe, status, S("draining"));
		SET(probe, reason,
		    S("the server is stopping: it finishes running work and accepts no new work"));
		break;
	case API_READY:
		SET(probe, status, S("ok"));
		status = 200;
		break;
	}
	api_reply_json(call->api, call->exchange, status, run_probe_text(probe, call->arena));
}

/* ---- every component --------------------------------------------------------------- */

enum { COMPONENTS_MOST = 8, MS_US = 1000, SECOND_US = 1000000 };

struct health_read {
	struct executor_read read;
	struct api *api;
	uint64_t exchange;
	struct task_health_check_event components[COMPONENTS_MOST];
	size_t count;
	enum task_health_status worst;
	int64_t measured_at; /* us, monotonic: when the reader thread finished */
	bool readable;
	struct error unreadable, no_room;
	uint64_t room_bytes;
	bool sandbox_there;
};

static void add(struct health_read *r, struct str component, enum task_health_status status,
		struct str metrics)
{
	struct error error;
	const struct json *json;
	bool good = json_read(metrics, &r->read.arena, &json, &error);
	require(good && r->count < COMPONENTS_MOST);
	struct task_health_check_event *event = task_health_check_event_new(&r->read.arena);
	SET(event, component, component);
	SET(event, status, status);
	SET(event, metrics, json);
	SET(event, timestamp, platform_wall_us(loop_platform(r->api->settings.loop)));
	r->components[r->count++] = *event;
	if (status > r->worst)
		r->worst = status;
}

static void health_work(struct executor_read *read, struct store_reader *reader)
{
	struct health_read *r = (struct health_read *)read;
	const struct api_settings *settings = &r->api->settings;
	r->readable = reader->ops->newest_position(reader) >= 0;
	if (!folder_room(settings->data_folder, &r->room_bytes, &r->no_room))
		r->room_bytes = 0;
	r->sandbox_there =
		settings->sandbox_program != NULL && file_exists(settings->sandbox_program);
	r->measured_at = platform_mono_us(loop_platform(settings->loop));
}

static void add_store(struct health_read *r, const struct executor_counts *counts)
{
	struct arena *arena = &r->read.arena;
	add(r, S("store"),
	    !r->readable   ? TASK_HEALTH_UNHEALTHY
	    : counts->full ? TASK_HEALTH_DEGRADED
			   : TASK_HEALTH_HEALTHY,
	    str_format(arena, "{\"readable\":%s,\"refuses_for_want_of_room\":%s,\"commits\":%llu}",
		       r->readable ? "true" : "false", counts->full ? "true" : "false",
		       (unsigned long long)counts->store.commits));
	size_t waiting = counts->waiting_appends;
	add(r, S("writer"),
	    waiting > LIMIT_WRITER_QUEUE       ? TASK_HEALTH_UNHEALTHY
	    : waiting > LIMIT_WRITER_QUEUE / 2 ? TASK_HEALTH_DEGRADED
					       : TASK_HEALTH_HEALTHY,
	    str_format(arena, "{\"waiting\":%zu,\"limit\":%lld}", waiting,
		       (long long)LIMIT_WRITER_QUEUE));
	bool low = r->room_bytes < (uint64_t)LIMIT_DISK_LOW_BYTES;
	add(r, S("disk"),
	    counts->full ? TASK_HEALTH_UNHEALTHY
	    : low        ? TASK_HEALTH_DEGRADED
			 : TASK_HEALTH_HEALTHY,
	    str_format(arena, "{\"free_bytes\":%llu,\"low_below_bytes\":%lld}",
		       (unsigned long long)r->room_bytes, (long long)LIMIT_DISK_LOW_BYTES));
}

static void add_others(struct health_read *r, const struct executor_counts *counts)
{
	struct arena *arena = &r->read.arena;
	int64_t late = platform_mono_us(loop_platform(r->api->settings.loop)) - r->measured_at;
	add(r, S("loop"),
	    late > (int64_t)LIMIT_LOOP_STALL_MS * MS_US ? TASK_HEALTH_DEGRADED
							: TASK_HEALTH_HEALTHY,
	    str_format(arena, "{\"late_ms\":%lld,\"stall_above_ms\":%lld,\"exchanges\":%zu}",
		       (long long)(late / MS_US), (long long)LIMIT_LOOP_STALL_MS,
		       http_open_exchanges(r->api->server)));
	add(r, S("tools"), r->sandbox_there ? TASK_HEALTH_HEALTHY : TASK_HEALTH_UNHEALTHY,
	    str_format(arena, "{\"sandbox\":%s,\"contained\":%s,\"open\":%zu,\"limit\":%lld}",
		       r->sandbox_there ? "true" : "false",
		       r->api->settings.contained ? "true" : "false", counts->open_tools,
		       (long long)LIMIT_CHILDREN));
	bool recovering = r->api->state == API_RECOVERING;
	add(r, S("recovery"), recovering ? TASK_HEALTH_DEGRADED : TASK_HEALTH_HEALTHY,
	    str_format(arena, "{\"done\":%s,\"live_runs\":%zu}", recovering ? "false" : "true",
		       counts->active_runs));
}

/* Runs that cannot be loaded, with the error of each. */
static void add_runs(struct health_read *r)
{
	const struct quarantine *quarantine = executor_quarantine(r->read.executor);
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	json_open(&writer, '{');
	json_key(&writer, S("quarantined"));
	json_open(&writer, '[');
	for (size_t i = 0; i < quarantine->count; i++) {
		char id[UUID_TEXT_SIZE];
		json_open(&writer, '{');
		json_key(&writer, S("run_id"));
		json_put_str(&writer, uuid_text(&quarantine->at[i].run, id));
		json_key(&writer, S("error"));
		json_put_str(&writer, str_from_c(quarantine->at[i].error.text));
		json_close(&writer, '}');
	}
	json_close(&writer, ']');
	json_close(&writer, '}');
	add(r, S("runs"), quarantine->count > 0 ? TASK_HEALTH_DEGRADED : TASK_HEALTH_HEALTHY,
	    str_copy(&r->read.arena, buf_str(&text)));
}

static void health_done(struct executor_read *read)
{
	struct health_read *r = (struct health_read *)read;
	const struct executor_counts counts = executor_counts(read->executor);
	int64_t now = platform_mono_us(loop_platform(r->api->settings.loop));
	add_others(r, &counts);
	add_store(r, &counts);
	add_runs(r);
	struct run_health *health = run_health_new(&read->arena);
	SET(health, status, r->worst);
	SET(health, version, str_from_c(r->api->settings.version));
	SET(health, uptime_seconds, (now - r->api->began_at) / SECOND_US);
	SET(health, components, ((struct task_health_check_event_list){ r->components, r->count }));
	api_reply_json(r->api, r->exchange, r->worst == TASK_HEALTH_UNHEALTHY ? 503 : 200,
		       run_health_text(health, &read->arena));
	arena_done(&read->arena);
	free(r);
}

void api_health_report(struct api_call *call)
{
	struct health_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->api = call->api;
	r->exchange = call->exchange;
	r->read.work = health_work;
	r->read.done = health_done;
	executor_read(call->api->settings.executor, &r->read);
}
