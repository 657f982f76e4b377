/* document/schedule_change.c -- people create, change, pause and delete schedules.
 *
 * The schedule and its progress change in one commit.  Due times that have come before the change
 * are taken first, under the old schedule, so a change never loses a due time.
 *
 * A run that is being started when the change is committed belongs to the old schedule.  The change
 * is answered after that start, so a caller who knows that a schedule is deleted, paused or changed
 * sees no further run of the old one begin.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "contract/document_kind.h"
#include "document/documents_state.h"
#include "document/schedule_jobs.h"
#include "document/schedule_read.h"
#include "document/schedules.h"

struct schedule_job {
	struct schedule_job *next; /* in documents->schedule_jobs */
	struct arena arena;
	struct documents *documents;
	struct schedules_change change;
	int64_t now, opened_at;
	executor_replied *replied;
	void *context;
	uint64_t argument;
	bool done; /* committed; answered when no run of the schedule is being started */
	struct executor_reply reply; /* of a done job; its text is in the arena */
};

/* Time zone and definition must exist when the schedule is made, not only when it comes due. */
static bool check_names(const struct schedule_job *job, struct store_reader *reader,
			const struct run_schedule *schedule, struct arena *arena,
			struct problems *problems, struct error *error)
{
	const struct executor_settings *settings = executor_config(job->documents->executor);
	struct zone zone;
	struct str yaml;
	struct error why;
	if (!schedule_zone(schedule->time_zone, arena, &zone, &why))
		problems_add(problems, S("/time_zone"), 0, 0, "%s", why.text);
	if (!settings->definition(settings->context, reader, schedule->workflow, arena, &yaml,
				  &why))
		problems_add(problems, S("/workflow"), 0, 0, "%s", why.text);
	return problems_fail(problems, error);
}

static bool set_compose(const struct schedule_job *job, struct store_reader *reader,
			const struct run_schedule *schedule, const struct run_schedule *old,
			const struct run_schedule_progress *progress, struct arena *arena,
			struct documents_change *changes, struct problems *problems,
			struct error *error)
{
	struct schedule_clock clock;
	struct zone zone;
	if (!check_names(job, reader, schedule, arena, problems, error) ||
	    !schedule_zone(schedule->time_zone, arena, &zone, error) ||
	    !schedule_clock_init(&clock, schedule, &zone, error))
		return false;
	if (old != NULL && !schedule_progress_now(reader, old, progress, job->now, job->opened_at,
						  arena, &progress, error))
		return false;
	const struct run_schedule_progress *after =
		schedule_begin(schedule, &clock, progress, job->now, arena);
	changes[0].body = run_schedule_text(schedule, arena);
	changes[1].body = run_schedule_progress_text(after, arena);
	return true;
}

/* The schedule after the change. */
static bool wanted(const struct schedule_job *job, const struct run_schedule *old,
		   struct arena *arena, struct problems *problems,
		   const struct run_schedule **out_schedule, struct error *error)
{
	if (job->change.verb == SCHEDULE_SET) {
		*out_schedule = document_read(DOCUMENT_SCHEDULE, job->change.body, arena, problems);
		return *out_schedule != NULL || problems_fail(problems, error);
	}
	if (old == NULL)
		return fail(error, ERROR_NOT_FOUND, "there is no schedule called " STR_FMT,
			    STR_ARG(job->change.name));
	struct run_schedule *changed = arena_copy(arena, old, sizeof(*old));
	SET(changed, paused, job->change.verb == SCHEDULE_PAUSE);
	*out_schedule = changed;
	return true;
}

static bool change_compose(void *context, struct store_reader *reader, struct arena *arena,
			   struct documents_changes *out_changes, struct problems *problems,
			   struct error *error)
{
	const struct schedule_job *job = context;
	const struct run_schedule *old, *schedule;
	const struct run_schedule_progress *progress;
	int64_t revision;
	struct documents_change *changes = arena_array(arena, struct documents_change, 2);
	changes[0] = (struct documents_change){ .kind = document_kind_name(DOCUMENT_SCHEDULE),
						.name = job->change.name,
						.revision = job->change.revision,
						.body = S("") };
	changes[1] =
		(struct documents_change){ .kind = document_kind_name(DOCUMENT_SCHEDULE_PROGRESS),
					   .name = job->change.name,
					   .revision = -1,
					   .body = S("") };
	if (!schedules_read(reader, job->change.name, arena, &old, &progress, &revision, error))
		return false;
	*out_changes = (struct documents_changes){ changes, 2 };
	if (job->change.verb == SCHEDULE_DELETE) {
		/* When there is no schedule, the refusal is about the schedule alone. */
		out_changes->count = old == NULL ? 1 : 2;
		return true;
	}
	if (!wanted(job, old, arena, problems, &schedule, error))
		return false;
	/* A change without a difference leaves the due times as they are. */
	if (old != NULL &&
	    str_equal(run_schedule_text(schedule, arena), run_schedule_text(old, arena))) {
		changes[0].body = run_schedule_text(old, arena);
		out_changes->count = 1;
		return true;
	}
	return set_compose(job, reader, schedule, old, progress, arena, changes, problems, error);
}

static void job_free(struct schedule_job *job)
{
	for (struct schedule_job **link = &job->documents->schedule_jobs; *link != NULL;
	     link = &(*link)->next)
		if (*link == job) {
			*link = job->next;
			break;
		}
	arena_done(&job->arena);
	free(job);
}

static void changed(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct schedule_job *job = context;
	(void)argument;
	if (reply->error == NULL && schedules_are_starting(job->documents, job->change.name)) {
		job->done = true;
		job->reply = *reply;
		job->reply.body = str_copy(&job->arena, reply->body);
		return;
	}
	job->replied(job->context, job->argument, reply);
	job_free(job);
}

static struct schedule_job *job_to_tell(const struct documents *documents, struct str name)
{
	struct schedule_job *job = documents->schedule_jobs;
	while (job != NULL && !(job->done && str_equal(job->change.name, name)))
		job = job->next;
	return job;
}

void schedule_jobs_reply(struct documents *documents, struct str name)
{
	/* Two schedules can have one name: one was deleted and created again. */
	if (executor_has_failed(documents->executor) || schedules_are_starting(documents, name))
		return;
	for (struct schedule_job *job; (job = job_to_tell(documents, name)) != NULL;) {
		job->replied(job->context, job->argument, &job->reply);
		job_free(job);
	}
}

void schedules_change(struct documents *documents, const struct schedules_change *change,
		      executor_replied *replied, void *context, uint64_t argument)
{
	struct schedule_job *job = calloc(1, sizeof(*job));
	require(job != NULL);
	job->documents = documents;
	job->change = *change;
	job->change.name = str_copy(&job->arena, change->name);
	job->change.body = str_copy(&job->arena, change->body);
	job->now = executor_now(documents->executor);
	job->opened_at = schedules_opened_at(documents);
	job->replied = replied;
	job->context = context;
	job->argument = argument;
	job->next = documents->schedule_jobs;
	documents->schedule_jobs = job;
	const struct documents_composition how = {
		.compose = change_compose, .context = job, .by = change->by, .key = change->key
	};
	documents_change_composed(documents, &how, changed, job, 0);
}

void schedule_jobs_discard(struct documents *documents)
{
	while (documents->schedule_jobs != NULL)
		job_free(documents->schedule_jobs);
}
