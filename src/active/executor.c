/* active/executor.c -- the room's front: making, ending, reading, answering. */
#include <stdlib.h>

#include "base/limits.h"
#include "active/executor_internal.h"

int64_t executor_now(struct executor *executor)
{
	return platform_wall_us(executor->settings.platform);
}

void executor_fail(struct executor *executor, const struct error *error)
{
	if (executor->failed)
		return;
	executor->failed = true;
	executor->settings.fatal(executor->settings.context, error);
}

static void writer_stopped(void *context, const struct error *error)
{
	executor_fail(context, error);
}

/* What definitions may name, and how recovery will treat it under this isolation. */
static void make_catalogue(struct executor *executor)
{
	const struct tool_table *tools = executor->settings.tools;
	executor->catalogue = calloc(tools->count, sizeof(*executor->catalogue));
	require(executor->catalogue != NULL);
	for (size_t i = 0; i < tools->count; i++) {
		enum run_effect_class class = tools->at[i]->class;
		if (class == RUN_CLASS_CONTAINED && !executor->settings.contained)
			class = RUN_CLASS_ONCE;
		executor->catalogue[i] =
			(struct definition_tool){ str_from_c(tools->at[i]->name), class };
	}
}

static bool open_readers(struct executor *executor, struct error *error)
{
	unsigned count = platform_reader_threads(executor->settings.platform);
	struct store *store = executor->settings.store;
	executor->readers = calloc(count, sizeof(struct store_reader *));
	require(executor->readers != NULL);
	for (unsigned i = 0; i < count; i++)
		if (!store->ops->reader_open(store, &executor->readers[i], error))
			return false;
	return true;
}

bool executor_new(const struct executor_settings *settings, struct executor **out_runtime,
		  struct error *error)
{
	struct executor *executor = calloc(1, sizeof(*executor));
	require(executor != NULL);
	executor->settings = *settings;
	pthread_mutex_init(&executor->graphs.lock, NULL);
	make_catalogue(executor);
	executor->writer =
		writer_new(settings->platform, settings->store, writer_stopped, executor);
	if (!open_readers(executor, error)) {
		executor_free(executor);
		return false;
	}
	*out_runtime = executor;
	return true;
}

/* What waits for a person, a timer or a child when the program ends. */
static void discard_what_waits(struct executor *executor)
{
	uint32_t index = 0;
	uint64_t id;
	for (struct active_run *active;
	     (active = slots_next(&executor->active_runs, &index, &id)) != NULL;)
		active_run_discard(active);
	index = 0;
	for (struct arena *effect;
	     (effect = slots_next(&executor->effects, &index, &id)) != NULL;) {
		arena_done(effect);
		free(effect);
	}
	index = 0;
	for (struct value_fetch_state *f;
	     (f = slots_next(&executor->fetches, &index, &id)) != NULL;)
		value_fetch_discard(f);
	while (executor->chores != NULL) {
		struct maintenance_job *first = executor->chores;
		executor->chores = first->next;
		first->free(first);
	}
	index = 0;
	for (void *watch; (watch = slots_next(&executor->watches, &index, &id)) != NULL;)
		free(watch);
	documents_discard(executor);
	schedules_discard(executor);
}

void executor_free(struct executor *executor)
{
	executor->closing = true;
	discard_what_waits(executor);
	unsigned count = platform_reader_threads(executor->settings.platform);
	for (unsigned i = 0; i < count; i++)
		if (executor->readers[i] != NULL)
			executor->settings.store->ops->reader_close(executor->readers[i]);
	free(executor->readers);
	writer_free(executor->writer);
	graph_cache_done(&executor->graphs);
	free(executor->catalogue);
	slots_done(&executor->active_runs);
	slots_done(&executor->effects);
	slots_done(&executor->watches);
	slots_done(&executor->fetches);
	map_done(&executor->by_run);
	map_done(&executor->claims);
	map_done(&executor->calls);
	map_done(&executor->turns);
	alarm_discard_all(executor);
	admission_discard(executor);
	free(executor);
}

/* ---- reading ------------------------------------------------------------------------- */

static void read_run(struct job *job, unsigned thread)
{
	struct executor_read *read = (struct executor_read *)job;
	read->work(read, read->executor->readers[thread]);
}

static void read_done(struct job *job)
{
	struct executor_read *read = (struct executor_read *)job;
	read->done(read);
}

void executor_read(struct executor *executor, struct executor_read *read)
{
	read->executor = executor;
	read->job.name = "read";
	read->job.run = read_run;
	read->job.done = read_done;
	platform_submit(executor->settings.platform, LANE_READER, &read->job);
}

static void care_run(struct job *job, unsigned thread)
{
	struct executor_admin_job *care = (struct executor_admin_job *)job;
	(void)thread;
	care->work(care, care->executor->settings.store);
}

static void care_done(struct job *job)
{
	struct executor_admin_job *care = (struct executor_admin_job *)job;
	care->done(care);
}

void executor_admin_job(struct executor *executor, struct executor_admin_job *care)
{
	care->executor = executor;
	care->job.name = "care";
	care->job.run = care_run;
	care->job.done = care_done;
	platform_submit(executor->settings.platform, LANE_WRITER, &care->job);
}

struct store_stats executor_store_stats(const struct executor *executor)
{
	return executor->settings.store->ops->stats(executor->settings.store);
}

/* ---- answering ----------------------------------------------------------------------- */

/* An answer names the request only; the open effect says which run and step it belongs to. */
struct answering {
	struct executor_read read;
	struct pending_command *pending;
	struct uuid request, run;
	struct store_effect effect;
	bool found;
	struct store_request known; /* what the key was used for before */
	bool repeated;
	struct error error;
};

/* The one question that the run waits with. */
static bool find_question(struct answering *a, struct store_reader *reader)
{
	struct loaded_run loaded;
	size_t open = 0;
	if (!run_load(a->read.executor, reader, &a->run, &loaded, &a->error))
		return false;
	if (loaded.run == NULL)
		return fail(&a->error, ERROR_NOT_FOUND, "no such run");
	for (uint32_t i = 0; i < loaded.run->paths.room; i++) {
		const struct activation *step = loaded.run->paths.at[i];
		if (step == NULL || step->state != STEP_WAITING_HUMAN)
			continue;
		a->request = step->question.id;
		open++;
	}
	loaded_run_discard(a->read.executor, &loaded);
	if (open == 0)
		return fail(&a->error, ERROR_CONFLICT, "the run waits for nobody's answer");
	if (open > 1)
		return fail(&a->error, ERROR_CONFLICT,
			    "the run waits with %zu questions: say which one (see the inbox)",
			    open);
	a->pending->command.effect = a->request;
	return true;
}

static void answer_work(struct executor_read *read, struct store_reader *reader)
{
	struct answering *a = (struct answering *)read;
	if (!idempotency_claim_look_up(a->pending, reader, &read->arena, &a->known, &a->repeated,
				       &a->error) ||
	    a->repeated)
		return;
	if (uuid_is_zero(&a->request) && !find_question(a, reader))
		return;
	if (!reader->ops->read_effect(reader, &a->request, &read->arena, &a->effect, &a->found,
				      &a->error) ||
	    !a->found)
		return;
	const struct json *json;
	if (!json_read(a->effect.body, &read->arena, &json, &a->error))
		return;
	struct problems problems = { .arena = &read->arena };
	struct contract_source source = { .json = json, .text = a->effect.body, .lenient = true };
	const struct run_open_question *question =
		run_open_question_parse(&source, &read->arena, &problems);
	if (question == NULL)
		problems_fail(&problems, &a->error);
	else
		a->pending->command.step = str_copy(&a->pending->arena, question->step);
}

static void answer_done(struct executor_read *read)
{
	struct answering *a = (struct answering *)read;
	struct pending_command *pending = a->pending;
	if (a->error.code == ERROR_NONE && !a->repeated &&
	    (!a->found || !str_equal(a->effect.kind, S("human"))))
		fail(&a->error, ERROR_CONFLICT,
		     "no such request is open: it was answered already, or never asked");
	if (a->error.code == ERROR_NONE && a->found && !uuid_is_zero(&a->run) &&
	    !uuid_equal(&a->run, &a->effect.run))
		fail(&a->error, ERROR_CONFLICT, "that question is another run's");
	if (a->error.code != ERROR_NONE) {
		struct executor_reply reply = { .error = &a->error };
		pending->replied(pending->context, pending->argument, &reply);
		pending_command_free(pending);
	} else if (a->repeated) {
		pending_command_reply_repeated(pending, &a->known);
		pending_command_free(pending);
	} else {
		active_run_command(active_run_get(read->executor, &a->effect.run), pending);
	}
	arena_done(&read->arena);
	free(a);
}

static void answer_never(struct pending_command *pending)
{
	struct answering *a = (struct answering *)pending->waiting;
	arena_done(&a->read.arena);
	free(a);
}

void executor_answer(struct executor *executor, const struct executor_answer *answer,
		     executor_replied *replied, void *context, uint64_t argument)
{
	struct error refusal;
	if (!executor_admits(executor, &refusal)) {
		replied(context, argument, &(struct executor_reply){ .error = &refusal });
		return;
	}
	struct pending_command *pending = pending_command_new(COMMAND_ANSWERED);
	struct command *command = &pending->command;
	command->effect = answer->request;
	command->decision = answer->decision;
	command->comment = str_copy(&pending->arena, answer->comment);
	command->by = str_copy(&pending->arena, answer->by);
	if (answer->value.size > 0 && !json_read(str_copy(&pending->arena, answer->value),
						 &pending->arena, &command->output, &refusal)) {
		replied(context, argument, &(struct executor_reply){ .error = &refusal });
		pending_command_free(pending);
		return;
	}
	if (answer->revision != NULL)
		command->revision =
			arena_copy(&pending->arena, answer->revision, sizeof(struct hash));
	pending->replied = replied;
	pending->context = context;
	pending->argument = argument;
	struct answering *a = calloc(1, sizeof(*a));
	require(a != NULL);
	a->pending = pending;
	a->request = answer->request;
	a->run = answer->run;
	a->read.executor = executor;
	a->read.work = answer_work;
	a->read.done = answer_done;
	pending->waiting = &a->read;
	pending->waiting_done = answer_never;
	idempotency_claim_take(executor, pending, &answer->key, pending_command_begin);
}
