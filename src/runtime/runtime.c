/* runtime/runtime.c -- the room's front: making, ending, reading, answering. */
#include <stdlib.h>

#include "base/limits.h"
#include "runtime/inside.h"

int64_t runtime_now(struct runtime *runtime)
{
	return system_wall_us(runtime->settings.system);
}

void runtime_fail(struct runtime *runtime, const struct error *error)
{
	if (runtime->failed)
		return;
	runtime->failed = true;
	runtime->settings.fatal(runtime->settings.context, error);
}

static void writer_stopped(void *context, const struct error *error)
{
	runtime_fail(context, error);
}

/* What definitions may name, and how recovery will treat it under this isolation. */
static void make_catalogue(struct runtime *runtime)
{
	const struct tool_table *tools = runtime->settings.tools;
	runtime->catalogue = calloc(tools->count, sizeof(*runtime->catalogue));
	require(runtime->catalogue != NULL);
	for (size_t i = 0; i < tools->count; i++) {
		enum run_effect_class class = tools->at[i]->class;
		if (class == RUN_CLASS_CONTAINED && !runtime->settings.contained)
			class = RUN_CLASS_ONCE;
		runtime->catalogue[i] =
			(struct definition_tool){ str_from_c(tools->at[i]->name), class };
	}
}

static bool open_readers(struct runtime *runtime, struct error *error)
{
	unsigned count = system_reader_threads(runtime->settings.system);
	struct store *store = runtime->settings.store;
	runtime->readers = calloc(count, sizeof(struct store_reader *));
	require(runtime->readers != NULL);
	for (unsigned i = 0; i < count; i++)
		if (!store->ops->reader_open(store, &runtime->readers[i], error))
			return false;
	return true;
}

bool runtime_new(const struct runtime_settings *settings, struct runtime **out_runtime,
		 struct error *error)
{
	struct runtime *runtime = calloc(1, sizeof(*runtime));
	require(runtime != NULL);
	runtime->settings = *settings;
	pthread_mutex_init(&runtime->graphs.lock, NULL);
	make_catalogue(runtime);
	runtime->writer = writer_new(settings->system, settings->store, writer_stopped, runtime);
	if (!open_readers(runtime, error)) {
		runtime_free(runtime);
		return false;
	}
	*out_runtime = runtime;
	return true;
}

/* What waits for a person, a timer or a child when the program ends. */
static void discard_what_waits(struct runtime *runtime)
{
	uint32_t index = 0;
	uint64_t id;
	for (struct live *live; (live = slots_next(&runtime->lives, &index, &id)) != NULL;)
		live_discard(live);
	index = 0;
	for (struct arena *effect; (effect = slots_next(&runtime->effects, &index, &id)) != NULL;) {
		arena_done(effect);
		free(effect);
	}
	index = 0;
	for (struct fetching *f; (f = slots_next(&runtime->fetches, &index, &id)) != NULL;)
		fetch_discard(f);
	while (runtime->chores != NULL) {
		struct chore *first = runtime->chores;
		runtime->chores = first->next;
		first->free(first);
	}
	index = 0;
	for (void *watch; (watch = slots_next(&runtime->watches, &index, &id)) != NULL;)
		free(watch);
	documents_discard(runtime);
	schedules_discard(runtime);
}

void runtime_free(struct runtime *runtime)
{
	runtime->closing = true;
	discard_what_waits(runtime);
	unsigned count = system_reader_threads(runtime->settings.system);
	for (unsigned i = 0; i < count; i++)
		if (runtime->readers[i] != NULL)
			runtime->settings.store->ops->reader_close(runtime->readers[i]);
	free(runtime->readers);
	writer_free(runtime->writer);
	graphs_done(&runtime->graphs);
	free(runtime->catalogue);
	slots_done(&runtime->lives);
	slots_done(&runtime->effects);
	slots_done(&runtime->watches);
	slots_done(&runtime->fetches);
	map_done(&runtime->by_run);
	map_done(&runtime->claims);
	map_done(&runtime->calls);
	map_done(&runtime->turns);
	alarms_discard(runtime);
	queue_discard(runtime);
	free(runtime);
}

/* ---- reading ------------------------------------------------------------------------- */

static void read_run(struct job *job, unsigned thread)
{
	struct runtime_read *read = (struct runtime_read *)job;
	read->work(read, read->runtime->readers[thread]);
}

static void read_done(struct job *job)
{
	struct runtime_read *read = (struct runtime_read *)job;
	read->done(read);
}

void runtime_read(struct runtime *runtime, struct runtime_read *read)
{
	read->runtime = runtime;
	read->job.name = "read";
	read->job.run = read_run;
	read->job.done = read_done;
	system_submit(runtime->settings.system, LANE_READER, &read->job);
}

static void care_run(struct job *job, unsigned thread)
{
	struct runtime_care *care = (struct runtime_care *)job;
	(void)thread;
	care->work(care, care->runtime->settings.store);
}

static void care_done(struct job *job)
{
	struct runtime_care *care = (struct runtime_care *)job;
	care->done(care);
}

void runtime_care(struct runtime *runtime, struct runtime_care *care)
{
	care->runtime = runtime;
	care->job.name = "care";
	care->job.run = care_run;
	care->job.done = care_done;
	system_submit(runtime->settings.system, LANE_WRITER, &care->job);
}

struct store_stats runtime_store_stats(const struct runtime *runtime)
{
	return runtime->settings.store->ops->stats(runtime->settings.store);
}

/* ---- answering ----------------------------------------------------------------------- */

/* An answer names the request only; the open effect says which run and step it belongs to. */
struct answering {
	struct runtime_read read;
	struct item *item;
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
	struct loaded loaded;
	size_t open = 0;
	if (!load_run(a->read.runtime, reader, &a->run, &loaded, &a->error))
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
	loaded_discard(a->read.runtime, &loaded);
	if (open == 0)
		return fail(&a->error, ERROR_CONFLICT, "the run waits for nobody's answer");
	if (open > 1)
		return fail(&a->error, ERROR_CONFLICT,
			    "the run waits with %zu questions: say which one (see the inbox)",
			    open);
	a->item->command.effect = a->request;
	return true;
}

static void answer_work(struct runtime_read *read, struct store_reader *reader)
{
	struct answering *a = (struct answering *)read;
	if (!claim_look(a->item, reader, &read->arena, &a->known, &a->repeated, &a->error) ||
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
		a->item->command.step = str_copy(&a->item->arena, question->step);
}

static void answer_done(struct runtime_read *read)
{
	struct answering *a = (struct answering *)read;
	struct item *item = a->item;
	if (a->error.code == ERROR_NONE && !a->repeated &&
	    (!a->found || !str_equal(a->effect.kind, S("human"))))
		fail(&a->error, ERROR_CONFLICT,
		     "no such request is open: it was answered already, or never asked");
	if (a->error.code == ERROR_NONE && a->found && !uuid_is_zero(&a->run) &&
	    !uuid_equal(&a->run, &a->effect.run))
		fail(&a->error, ERROR_CONFLICT, "that question is another run's");
	if (a->error.code != ERROR_NONE) {
		struct runtime_reply reply = { .error = &a->error };
		item->replied(item->context, item->argument, &reply);
		item_free(item);
	} else if (a->repeated) {
		item_reply_repeated(item, &a->known);
		item_free(item);
	} else {
		live_command(live_get(read->runtime, &a->effect.run), item);
	}
	arena_done(&read->arena);
	free(a);
}

static void answer_never(struct item *item)
{
	struct answering *a = (struct answering *)item->waiting;
	arena_done(&a->read.arena);
	free(a);
}

void runtime_answer(struct runtime *runtime, const struct runtime_answer *answer,
		    runtime_replied *replied, void *context, uint64_t argument)
{
	struct error refusal;
	if (!runtime_admits(runtime, &refusal)) {
		replied(context, argument, &(struct runtime_reply){ .error = &refusal });
		return;
	}
	struct item *item = item_new(COMMAND_ANSWERED);
	struct command *command = &item->command;
	command->effect = answer->request;
	command->decision = answer->decision;
	command->comment = str_copy(&item->arena, answer->comment);
	command->by = str_copy(&item->arena, answer->by);
	if (answer->value.size > 0 && !json_read(str_copy(&item->arena, answer->value),
						 &item->arena, &command->output, &refusal)) {
		replied(context, argument, &(struct runtime_reply){ .error = &refusal });
		item_free(item);
		return;
	}
	if (answer->revision != NULL)
		command->revision = arena_copy(&item->arena, answer->revision, sizeof(struct hash));
	item->replied = replied;
	item->context = context;
	item->argument = argument;
	struct answering *a = calloc(1, sizeof(*a));
	require(a != NULL);
	a->item = item;
	a->request = answer->request;
	a->run = answer->run;
	a->read.runtime = runtime;
	a->read.work = answer_work;
	a->read.done = answer_done;
	item->waiting = &a->read;
	item->waiting_done = answer_never;
	claim_take(runtime, item, &answer->key, item_begin);
}
