/* maintenance/retention.c -- removes events that are too old or too many (architecture R8).
 *
 * A pass has six parts.  Each may be cut off anywhere: what is done stays done, and the next pass
 * finds the rest.
 *
 *	list      old runs, a page at a time, on a reader thread
 *	compact   a command to each run: `run.compacted`, the new floor and a snapshot are one append
 *	expire    idempotency keys that are too old
 *	purge     events below the floors, a slice at a time on the writer thread; the loop submits
 *	          the next slice when one is done, so appends that came meanwhile go first
 *	sweep     contents of artifacts that no run names, on a reader thread
 *	remove    workspaces of compacted runs, each recorded first
 */
#include <stdlib.h>

#include "active/active_run.h"
#include "active/projection.h"
#include "artifact/artifact.h"
#include "base/limits.h"
#include "base/log.h"
#include "contract/graph_types.h"
#include "contract/run_store_types.h"
#include "document/server_settings.h"
#include "engine/run.h"
#include "engine/states.h"
#include "maintenance/maintenance_job.h"
#include "os/failpoint.h"
#include "workspace/workspace.h"
#include "contract/document_kind.h"
#include "document/stored_document.h"

static const int64_t day_us = INT64_C(86400) * 1000000;

struct candidate {
	struct uuid run;
	int64_t floor;
	bool ended;
};

struct pass {
	struct maintenance_job job;
	struct maintenance_compaction wanted;
	struct maintenance_retention retention; /* as it is set now */
	int64_t server_days;                    /* what the server's document says; -1 = nothing */
	int64_t now;
	bool begun;
	struct uuid after; /* the last run of the page before */
	bool more_pages;
	struct candidate at[LIMIT_RETENTION_PAGE_RUNS];
	size_t count, next;
	struct uuid *folders; /* runs that have a workspace; NULL = not listed yet */
	size_t folder_count, folder_next;
	bool purge_more;
	uint64_t purged_before;
	int64_t values_before;
	struct maintenance_compacted result;
	struct error error;
	maintenance_compact_done *done;
	void *context;
	uint64_t argument;
};

/* ---- how long ------------------------------------------------------------------------ */

static void consider(int64_t days, int64_t *least)
{
	if (days >= 0 && (*least < 0 || days < *least))
		*least = days;
}

static int64_t in_map(const struct int_map *map, struct str key)
{
	for (size_t i = 0; i < map->count; i++)
		if (str_equal(map->at[i].key, key))
			return map->at[i].value;
	return -1;
}

/* Days by task and by status go before the default; -1 = the policy has none. */
static int64_t policy_days(const struct graph_retention_policy *policy, struct str name,
			   struct str state)
{
	if (policy == NULL)
		return -1;
	bool good = str_equal(state, run_state_row(RUN_SUCCEEDED)->word);
	int64_t days = -1;
	if (policy->is.by_task == GIVEN)
		consider(in_map(&policy->by_task, name), &days);
	if (policy->is.by_status == GIVEN)
		consider(in_map(&policy->by_status, good ? S("completed") : S("failed")), &days);
	if (days < 0 && policy->is.default_days == GIVEN)
		days = policy->default_days;
	return days;
}

static int64_t days_of(const struct pass *pass, const struct store_run *row, int64_t own)
{
	const struct maintenance_retention *settings = &pass->retention;
	if (pass->wanted.days >= 0)
		return pass->wanted.days;
	int64_t days = -1;
	consider(own, &days);
	consider(pass->server_days, &days);
	consider(settings->days_set ? settings->days : -1, &days);
	consider(policy_days(settings->policy, row->name, row->state), &days);
	return days >= 0 ? days : settings->days;
}

/* The shortest time that any run could be kept: what `list` looks for. */
static int64_t least_days(const struct pass *pass, bool own)
{
	const struct maintenance_retention *settings = &pass->retention;
	const struct graph_retention_policy *policy = settings->policy;
	if (pass->wanted.days >= 0)
		return pass->wanted.days;
	if (own)
		return 0;
	int64_t days = settings->days;
	consider(pass->server_days, &days);
	for (size_t i = 0; policy != NULL && i < policy->by_task.count; i++)
		consider(policy->by_task.at[i].value, &days);
	for (size_t i = 0; policy != NULL && i < policy->by_status.count; i++)
		consider(policy->by_status.at[i].value, &days);
	if (policy != NULL)
		consider(policy->default_days, &days);
	return days;
}

static int64_t most_events(const struct pass *pass)
{
	return pass->wanted.max_events >= 0 ? pass->wanted.max_events : pass->retention.max_events;
}

/* ---- list ---------------------------------------------------------------------------- */

static int64_t own_days(const struct store_run *row, struct arena *arena)
{
	const struct json *json;
	struct error error;
	struct problems problems = { .arena = arena };
	if (!json_read(row->summary, arena, &json, &error))
		return -1;
	struct contract_source source = { .json = json, .lenient = true };
	const struct run_summary *summary = run_summary_parse(&source, arena, &problems);
	return summary != NULL && has(summary, retention_days) ? summary->retention_days : -1;
}

/* The new floor: everything of an ended run that is old enough; of any other run what is over the
 * number. */
static int64_t floor_of(const struct pass *pass, const struct store_old_run *old,
			const struct store_run *row, struct arena *arena)
{
	int64_t days = days_of(pass, row, own_days(row, arena));
	/* Zero days have passed even if the clock was set back since. */
	if (old->ended_at != 0 && (days == 0 || pass->now - old->ended_at >= days * day_us))
		return old->seq + 1;
	int64_t most = most_events(pass), left = old->seq - (old->floor > 0 ? old->floor - 1 : 0);
	return most > 0 && left > most ? old->seq + 2 - most : 0;
}

static bool look_at(struct pass *pass, struct store_reader *reader, const struct store_old_run *old)
{
	AUTO(arena) arena = { 0 };
	struct store_run row;
	bool found;
	if (!reader->ops->read_run(reader, &old->id, &arena, &row, &found, &pass->error))
		return false;
	pass->result.runs++;
	int64_t floor = found ? floor_of(pass, old, &row, &arena) : 0;
	if (floor > old->floor && floor >= 2)
		pass->at[pass->count++] = (struct candidate){ old->id, floor, old->ended_at != 0 };
	return true;
}

static bool begin_list(struct pass *pass, struct store_reader *reader)
{
	struct store_size size = { 0 };
	if (pass->wanted.counts_values && !reader->admin->measure(reader, &size, &pass->error))
		return false;
	pass->values_before = size.blobs;
	pass->purged_before = executor_store_stats(pass->job.executor).purged;
	return true;
}

/* An imported policy takes the place of retention_policy.yaml. */
static bool read_policy(struct pass *pass, struct store_reader *reader, struct arena *arena)
{
	const void *policy;
	if (!stored_document_read(reader, DOCUMENT_RETENTION,
				  document_kind_name(DOCUMENT_RETENTION), arena, &policy, NULL,
				  &pass->error))
		return false;
	if (policy != NULL)
		pass->retention.policy = policy;
	return true;
}

static void list_work(struct executor_read *read, struct store_reader *reader)
{
	struct pass *pass = (struct pass *)read;
	struct store_old_runs page;
	int64_t own = 0;
	if (!pass->begun && !begin_list(pass, reader))
		return;
	if (!read_policy(pass, reader, &read->arena))
		return;
	if (!reader->ops->read_guard(reader, PROJECTION_OWN_RETENTION, &own, &pass->error))
		return;
	int64_t days = least_days(pass, own > 0);
	int64_t before = days == 0 ? INT64_MAX : pass->now - days * day_us + 1;
	if (!reader->ops->list_old(reader, before, most_events(pass),
				   pass->begun ? &pass->after : NULL, LIMIT_RETENTION_PAGE_RUNS,
				   &read->arena, &page, &pass->error))
		return;
	pass->begun = true;
	pass->count = pass->next = 0;
	pass->more_pages = page.count == LIMIT_RETENTION_PAGE_RUNS;
	for (size_t i = 0; i < page.count; i++) {
		if (!look_at(pass, reader, &page.at[i]))
			return;
		pass->after = page.at[i].id;
	}
}

/* ---- the end ------------------------------------------------------------------------- */

static void pass_free(struct maintenance_job *job)
{
	arena_done(&job->read.arena);
	free(job);
}

static void pass_end(struct pass *pass)
{
	pass->result.error = pass->error.code == ERROR_NONE ? NULL : &pass->error;
	struct store_stats stats = executor_store_stats(pass->job.executor);
	pass->result.events = (int64_t)(stats.purged - pass->purged_before);
	pass->done(pass->context, pass->argument, &pass->result);
	maintenance_job_end(&pass->job);
}

static void measure_work(struct executor_read *read, struct store_reader *reader)
{
	struct pass *pass = (struct pass *)read;
	struct store_size size;
	if (!reader->admin->measure(reader, &size, &pass->error))
		return;
	pass->result.values = pass->values_before - size.blobs;
	pass->result.free_bytes = size.free_bytes;
}

static void measure_done(struct executor_read *read)
{
	pass_end((struct pass *)read);
}

static void measure_or_end(struct pass *pass)
{
	if (!pass->wanted.counts_values || pass->error.code != ERROR_NONE) {
		pass_end(pass);
		return;
	}
	pass->job.read.work = measure_work;
	pass->job.read.done = measure_done;
	executor_read(pass->job.executor, &pass->job.read);
}

/* ---- remove -------------------------------------------------------------------------- */
/* The removal is recorded before anything is removed, so a run whose workspace is half gone cannot be
 * retried; what a crash leaves is found by the next pass.  A folder whose run is not stored is left
 * alone: an older database may have been put in place. */

static void remove_next(struct pass *pass);

/* A workspace goes when its run has ended long enough ago and all its events are gone. */
static bool must_remove(const struct pass *pass, const struct store_run *row)
{
	if (row->ended_at == 0 || row->floor < row->seq)
		return false;
	return pass->wanted.workspaces ||
	       pass->now - row->ended_at >= pass->retention.workspace_days * day_us;
}

static void find_work(struct executor_read *read, struct store_reader *reader)
{
	struct pass *pass = (struct pass *)read;
	const struct workspace *workspace = pass->job.maintenance->settings.workspace;
	if (pass->folders == NULL && !workspace->ops->list(workspace, &read->arena, &pass->folders,
							   &pass->folder_count, &pass->error))
		return;
	pass->count = pass->next = 0;
	for (size_t looked = 0;
	     pass->folder_next < pass->folder_count && looked < LIMIT_RETENTION_PAGE_RUNS;
	     looked++) {
		AUTO(arena) arena = { 0 };
		struct store_run row;
		bool found;
		const struct uuid *run = &pass->folders[pass->folder_next++];
		if (!reader->ops->read_run(reader, run, &arena, &row, &found, &pass->error))
			return;
		if (found && must_remove(pass, &row))
			pass->at[pass->count++] = (struct candidate){ .run = *run, .ended = true };
	}
}

static void find_done(struct executor_read *read)
{
	remove_next((struct pass *)read);
}

static void pass_remove(struct pass *pass)
{
	if (pass->job.maintenance->settings.workspace == NULL || pass->error.code != ERROR_NONE) {
		measure_or_end(pass);
		return;
	}
	pass->job.read.work = find_work;
	pass->job.read.done = find_done;
	executor_read(pass->job.executor, &pass->job.read);
}

static void workspace_removed(void *context, uint64_t number, struct str tree,
			      const struct error *error)
{
	struct pass *pass = (struct pass *)maintenance_job_find(context, number);
	(void)tree;
	if (pass == NULL)
		return;
	FAILPOINT("retention.workspace_removed");
	if (error->code == ERROR_NONE)
		pass->result.workspaces++;
	else
		log_line(LOG_WARNING, "a workspace stays for now: %s", error->text);
	remove_next(pass);
}

static void removal_recorded(void *context, uint64_t number, const struct executor_reply *reply)
{
	struct pass *pass = (struct pass *)maintenance_job_find(context, number);
	if (pass == NULL)
		return;
	FAILPOINT("retention.removal_recorded");
	struct workspace *workspace = pass->job.maintenance->settings.workspace;
	if (reply->error == NULL) {
		workspace->ops->remove(workspace, &reply->run, workspace_removed,
				       pass->job.maintenance, pass->job.number);
		return;
	}
	if (reply->error->code == ERROR_STORAGE_FULL)
		pass->error = *reply->error;
	remove_next(pass); /* it was retried meanwhile, or cannot be loaded */
}

static void remove_next(struct pass *pass)
{
	if (pass->error.code != ERROR_NONE || pass->next == pass->count) {
		if (pass->error.code == ERROR_NONE && pass->folder_next < pass->folder_count)
			pass_remove(pass);
		else
			measure_or_end(pass);
		return;
	}
	struct pending_command *pending = pending_command_new(COMMAND_COMPACT);
	const struct candidate *candidate = &pass->at[pass->next++];
	pending->command.removes_workspace = true;
	pending->replied = removal_recorded;
	pending->context = pass->job.maintenance;
	pending->argument = pass->job.number;
	FAILPOINT("retention.before_removal");
	active_run_command(active_run_get(pass->job.executor, &candidate->run), pending);
}

/* ---- sweep --------------------------------------------------------------------------- */

static bool run_exists(void *context, const struct uuid *run, bool *out_exists, struct error *error)
{
	struct store_reader *reader = context;
	AUTO(arena) arena = { 0 };
	struct store_run row;
	return reader->ops->read_run(reader, run, &arena, &row, out_exists, error);
}

static void sweep_work(struct executor_read *read, struct store_reader *reader)
{
	struct pass *pass = (struct pass *)read;
	const struct artifact_runs runs = { .exists = run_exists,
					    .context = reader,
					    .before = pass->now - LIMIT_UPLOAD_DAYS * day_us };
	FAILPOINT("retention.before_sweep");
	bool good = artifacts_sweep(pass->job.maintenance->settings.artifacts, &runs,
				    &pass->result.artifacts, &pass->error);
	(void)good; /* pass->error has the failure */
}

static void sweep_done(struct executor_read *read)
{
	FAILPOINT("retention.swept");
	pass_remove((struct pass *)read);
}

static void pass_sweep(struct pass *pass)
{
	if (pass->job.maintenance->settings.artifacts == NULL || pass->error.code != ERROR_NONE) {
		pass_remove(pass);
		return;
	}
	pass->job.read.work = sweep_work;
	pass->job.read.done = sweep_done;
	executor_read(pass->job.executor, &pass->job.read);
}

/* ---- expire and purge ---------------------------------------------------------------- */

static struct pass *pass_of_admin(struct executor_admin_job *admin)
{
	return (struct pass *)maintenance_job_of_admin(admin);
}

static void purge_work(struct executor_admin_job *admin, struct store *store)
{
	struct pass *pass = pass_of_admin(admin);
	FAILPOINT("retention.before_purge");
	struct platform *platform = executor_config(pass->job.executor)->platform;
	const struct store_deadline deadline = { platform, platform_mono_us(platform) +
								   LIMIT_PURGE_MS * INT64_C(1000) };
	store->admin->purge(store, LIMIT_PURGE_ROWS, &deadline, &pass->purge_more, &pass->error);
}

static void purge_done(struct executor_admin_job *admin)
{
	struct pass *pass = pass_of_admin(admin);
	FAILPOINT("retention.purged");
	if (pass->error.code == ERROR_STORAGE)
		executor_fail(pass->job.executor, &pass->error);
	if (pass->error.code == ERROR_NONE && pass->purge_more)
		executor_admin_job(pass->job.executor, admin);
	else
		pass_sweep(pass);
}

static void forget_work(struct executor_admin_job *admin, struct store *store)
{
	struct pass *pass = pass_of_admin(admin);
	FAILPOINT("retention.before_forget");
	store->admin->expire_requests(store, pass->now - (int64_t)LIMIT_REQUEST_KEPT_MS * 1000,
				      &pass->error);
}

static void forget_done(struct executor_admin_job *admin)
{
	struct pass *pass = pass_of_admin(admin);
	FAILPOINT("retention.forgotten");
	if (pass->error.code != ERROR_NONE) {
		purge_done(admin);
		return;
	}
	admin->work = purge_work;
	admin->done = purge_done;
	executor_admin_job(pass->job.executor, admin);
}

static void pass_purge(struct pass *pass)
{
	pass->job.admin.work = forget_work;
	pass->job.admin.done = forget_done;
	executor_admin_job(pass->job.executor, &pass->job.admin);
}

/* ---- compact ------------------------------------------------------------------------- */

static void list_done(struct executor_read *read);
static void compact_next(struct pass *pass);

static void pass_list(struct pass *pass)
{
	pass->job.read.work = list_work;
	pass->job.read.done = list_done;
	executor_read(pass->job.executor, &pass->job.read);
}

static void compacted(void *context, uint64_t number, const struct executor_reply *reply)
{
	struct pass *pass = (struct pass *)maintenance_job_find(context, number);
	if (pass == NULL)
		return;
	FAILPOINT("retention.compacted");
	char id[UUID_TEXT_SIZE];
	if (reply->error == NULL)
		pass->result.compacted++;
	else if (reply->error->code == ERROR_STORAGE_FULL)
		pass->error = *reply->error;
	else if (reply->error->code != ERROR_CONFLICT)
		log_run(LOG_WARNING, uuid_text(&reply->run, id), "cannot be compacted: %s",
			reply->error->text);
	compact_next(pass);
}

/* One at a time: there is no hurry.  A run that has not ended is left alone until recovery is over. */
static void compact_next(struct pass *pass)
{
	struct executor *executor = pass->job.executor;
	while (pass->next < pass->count && pass->error.code == ERROR_NONE) {
		const struct candidate *candidate = &pass->at[pass->next++];
		if (!candidate->ended && !executor_has_recovered(executor))
			continue;
		struct pending_command *pending = pending_command_new(COMMAND_COMPACT);
		pending->command.floor = candidate->floor;
		pending->replied = compacted;
		pending->context = pass->job.maintenance;
		pending->argument = pass->job.number;
		FAILPOINT("retention.before_compact");
		active_run_command(active_run_get(executor, &candidate->run), pending);
		return;
	}
	if (pass->error.code != ERROR_NONE)
		pass_end(pass);
	else if (pass->more_pages)
		pass_list(pass);
	else
		pass_purge(pass);
}

static void list_done(struct executor_read *read)
{
	struct pass *pass = (struct pass *)read;
	arena_done(&read->arena);
	compact_next(pass);
}

/* ---- beginning ----------------------------------------------------------------------- */

static void pass_begin(struct maintenance_job *job)
{
	struct pass *pass = (struct pass *)job;
	struct server_settings_stored server =
		server_settings_stored(job->maintenance->settings.documents);
	pass->now = executor_now(job->executor);
	pass->retention = job->maintenance->settings.retention;
	if (server.log_retention_max_events > 0)
		pass->retention.max_events = server.log_retention_max_events;
	pass->server_days = server.log_retention_days > 0 ? server.log_retention_days : -1;
	pass_list(pass);
}

void maintenance_compact(struct maintenance *maintenance,
			 const struct maintenance_compaction *compaction,
			 maintenance_compact_done *done, void *context, uint64_t argument)
{
	struct pass *pass = calloc(1, sizeof(*pass));
	require(pass != NULL);
	pass->wanted = *compaction;
	pass->done = done;
	pass->context = context;
	pass->argument = argument;
	pass->job.begin = pass_begin;
	pass->job.free = pass_free;
	maintenance_job_add(maintenance, &pass->job);
}

static void look_again(void *context, uint64_t argument);

static void looked(void *context, uint64_t argument, const struct maintenance_compacted *result)
{
	struct maintenance *maintenance = context;
	(void)argument;
	if (result->error != NULL)
		log_line(LOG_WARNING, "old events stay for now: %s", result->error->text);
	else if (result->compacted > 0)
		log_line(LOG_INFO, "compacted %lld old run%s, %lld events are gone",
			 (long long)result->compacted, result->compacted == 1 ? "" : "s",
			 (long long)result->events);
	platform_timer_start(executor_config(maintenance->settings.executor)->platform,
			     INT64_C(1000) * LIMIT_RETENTION_EVERY_MS, look_again, maintenance, 0);
}

static void look_again(void *context, uint64_t argument)
{
	struct maintenance *maintenance = context;
	const struct maintenance_compaction as_set = { .days = -1, .max_events = -1 };
	(void)argument;
	maintenance_compact(maintenance, &as_set, looked, maintenance, 0);
}

void maintenance_start(struct maintenance *maintenance)
{
	platform_timer_start(executor_config(maintenance->settings.executor)->platform,
			     INT64_C(1000) * LIMIT_RETENTION_FIRST_MS, look_again, maintenance, 0);
}
