/* The flight recorder: its contents, stall reports, and the files of a dying process. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/file.h"
#include "os/loop.h"

struct trial {
	struct loop *loop;
	char folder[64];
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	unsigned stalls;
	char phase[32], file[64];
	uint64_t subject;
};

static void stalled(void *context, const struct flight_stall *stall)
{
	struct trial *trial = context;
	if (stall->again)
		return; /* the scenario of a held loop reads these */
	pthread_mutex_lock(&trial->mutex);
	trial->stalls++;
	snprintf(trial->phase, sizeof(trial->phase), "%s", stall->phase);
	snprintf(trial->file, sizeof(trial->file), "%s", stall->file);
	trial->subject = stall->subject;
	cr_assert_gt(stall->lasted_us, LIMIT_LOOP_STALL_MS * 1000);
	pthread_cond_signal(&trial->changed);
	pthread_mutex_unlock(&trial->mutex);
}

static void await_stalls(struct trial *trial, unsigned count)
{
	pthread_mutex_lock(&trial->mutex);
	while (trial->stalls < count)
		pthread_cond_wait(&trial->changed, &trial->mutex);
	pthread_mutex_unlock(&trial->mutex);
}

static void trial_open(struct trial *trial)
{
	struct error error;
	*trial = (struct trial){ .folder = "/tmp/baton-test-XXXXXX" };
	pthread_mutex_init(&trial->mutex, NULL);
	pthread_cond_init(&trial->changed, NULL);
	cr_assert_not_null(mkdtemp(trial->folder));
	cr_assert(loop_new(&trial->loop, &error));
	cr_assert(loop_watch(trial->loop, trial->folder, stalled, trial, &error));
}

/* Removes the files and returns their number. */
static unsigned clear_folder(const char *path)
{
	unsigned count = 0;
	DIR *folder = opendir(path);
	cr_assert_not_null(folder);
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
		if (entry->d_name[0] != '.') {
			cr_assert_eq(unlinkat(dirfd(folder), entry->d_name, 0), 0);
			count++;
		}
	closedir(folder);
	cr_assert_eq(rmdir(path), 0);
	return count;
}

static unsigned trial_close(struct trial *trial)
{
	loop_free(trial->loop);
	return clear_folder(trial->folder);
}

static struct str file_text(const struct trial *trial, const char *name, struct arena *arena)
{
	char path[200];
	struct str text;
	struct error error;
	snprintf(path, sizeof(path), "%s/%s", trial->folder, name);
	cr_assert(file_read(path, 100000, arena, &text, &error), "%s", error.text);
	return text;
}

static bool says(struct str text, const char *part)
{
	size_t at;
	return str_find(text, str_from_c(part), &at);
}

/* Records a phase of this duration without waiting for it. */
static void pretend(struct flight *flight, const char *name, uint64_t subject, int64_t took_us)
{
	struct flight_mark mark = flight_begin(flight, name, subject);
	mark.start_us -= took_us;
	flight_end(flight, mark);
}

/* File names contain milliseconds: a stall in another millisecond gets another file. */
static void next_millisecond(void)
{
	struct timespec begun, now;
	clock_gettime(CLOCK_REALTIME, &begun);
	do
		clock_gettime(CLOCK_REALTIME, &now);
	while (now.tv_sec == begun.tv_sec && now.tv_nsec / 1000000 == begun.tv_nsec / 1000000);
}

struct holding {
	struct job job;
	struct trial *trial;
};

static void nothing(struct job *job, unsigned thread)
{
	(void)job;
	(void)thread;
}

/* Occupies the loop until the watchdog reports a stall, which it does before the phase ends. */
static void hold(struct job *job)
{
	struct holding *holding = (struct holding *)(void *)job;
	await_stalls(holding->trial, 1);
	loop_stop(holding->trial->loop);
}

Test(flight, a_stall_is_named_while_it_lasts)
{
	struct trial trial;
	trial_open(&trial);
	struct holding holding = { .job = { .run = nothing, .done = hold, .name = "holder" },
				   .trial = &trial };
	platform_submit(loop_platform(trial.loop), LANE_READER, &holding.job);
	loop_run(trial.loop);
	cr_assert_eq(trial.stalls, 1);
	cr_assert_str_eq(trial.phase, "holder");
	AUTO(arena) arena = { 0 };
	struct str text = file_text(&trial, trial.file, &arena);
	cr_assert(says(text, "by holder 0\n"));
	cr_assert(says(text, "under way  holder 0\n"));
	/* The end of the phase is not reported as a second stall. */
	cr_assert_eq(loop_stalls(trial.loop), 1);
	cr_assert_eq(trial_close(&trial), 1);
}

Test(flight, one_that_is_over_already_is_named_too_and_the_innermost_is_to_blame)
{
	struct trial trial;
	trial_open(&trial);
	struct flight *flight = loop_flight(trial.loop);
	pretend(flight, "short", 1, 1000);
	struct flight_mark outer = flight_begin(flight, "outer", 2);
	outer.start_us -= 300000;
	pretend(flight, "inner", 3, 200000);
	await_stalls(&trial, 1);
	flight_end(flight, outer);
	cr_assert_str_eq(trial.phase, "inner");
	cr_assert_eq(trial.subject, 3);
	cr_assert_eq(loop_stalls(trial.loop), 1);
	/* A long phase with many short nested phases is itself the stall. */
	outer = flight_begin(flight, "outer", 4);
	outer.start_us -= 300000;
	pretend(flight, "inner", 5, 50000);
	flight_end(flight, outer);
	await_stalls(&trial, 2);
	cr_assert_str_eq(trial.phase, "outer");
	/* A long tick is reported only if no phase in it was reported. */
	flight_tick(flight, 400000);
	flight_tick(flight, 1000);
	cr_assert_eq(loop_stalls(trial.loop), 2);
	flight_tick(flight, 400000);
	await_stalls(&trial, 3);
	cr_assert_str_eq(trial.phase, "turn");
	trial_close(&trial);
}

Test(flight, keeps_the_newest_phases_and_the_newest_files)
{
	struct trial trial;
	trial_open(&trial);
	struct flight *flight = loop_flight(trial.loop);
	for (unsigned i = 0; i < LIMIT_FLIGHT_PHASES + 10; i++)
		pretend(flight, "passed", 1000 + i, 0);
	char last[sizeof(trial.file)] = "";
	unsigned told = 0;
	for (unsigned i = 0; i < LIMIT_FLIGHT_FILES + 3; i++) {
		next_millisecond();
		pretend(flight, "slow", i, 200000);
		await_stalls(&trial, ++told);
		/* Two files in the same millisecond would have the same name. */
		if (trial.file[0] == '\0')
			i--;
		else
			memcpy(last, trial.file, sizeof(last));
	}
	AUTO(arena) arena = { 0 };
	struct str text = file_text(&trial, last, &arena);
	cr_assert(says(text, "  passed 1265\n"));
	cr_assert_not(says(text, "  passed 1009\n"));
	cr_assert_eq(trial_close(&trial), LIMIT_FLIGHT_FILES);
}

Test(flight, a_phase_that_was_overwritten_inside_ends_in_peace)
{
	struct trial trial;
	trial_open(&trial);
	struct flight *flight = loop_flight(trial.loop);
	struct flight_mark outer = flight_begin(flight, "outer", 0);
	for (unsigned i = 0; i < LIMIT_FLIGHT_PHASES; i++)
		pretend(flight, "inner", i, 0);
	flight_end(flight, outer);
	cr_assert_eq(atomic_load(&flight->current), 0);
	trial_close(&trial);
}

struct dying {
	struct job job;
	int number;
};

static void die(struct job *job, unsigned thread)
{
	(void)thread;
	raise(((struct dying *)(void *)job)->number);
}

/* Checks the file of a child process that dies by signal `number` in the middle of a phase. */
static void dies(int number, bool broken_invariant, const char *why)
{
	struct trial trial = { .folder = "/tmp/baton-test-XXXXXX" };
	cr_assert_not_null(mkdtemp(trial.folder));
	pid_t child = fork();
	if (child == 0) {
		struct error error;
		if (freopen("/dev/null", "w", stderr) == NULL || !loop_new(&trial.loop, &error) ||
		    !loop_watch(trial.loop, trial.folder, stalled, &trial, &error))
			_exit(1);
		flight_begin(loop_flight(trial.loop), "dying", 77);
		require(!broken_invariant);
		/* Raise the signal on the thread of a lane, where a fault may happen too. */
		struct dying dying = { .job = { .run = die }, .number = number };
		platform_submit(loop_platform(trial.loop), LANE_READER, &dying.job);
		loop_free(trial.loop);
		_exit(2);
	}
	int status;
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == number, "status %x", status);
	DIR *folder = opendir(trial.folder);
	struct dirent *entry;
	while ((entry = readdir(folder)) != NULL && entry->d_name[0] == '.')
		;
	cr_assert_not_null(entry);
	AUTO(arena) arena = { 0 };
	struct str text = file_text(&trial, entry->d_name, &arena);
	cr_assert(says(text, why));
	cr_assert(says(text, "under way  dying 77\n"));
	closedir(folder);
	cr_assert_eq(clear_folder(trial.folder), 1);
}

Test(flight, a_dying_process_leaves_its_last_phases)
{
	dies(SIGABRT, true, "the process aborted");
	dies(SIGABRT, false, "the process aborted");
	/* A sanitizer may handle the signal itself. */
	struct sigaction there;
	if (sigaction(SIGILL, NULL, &there) == 0 && there.sa_handler == SIG_DFL)
		dies(SIGILL, false, "the process faulted");
}

Test(flight, a_folder_that_is_not_there_is_an_error)
{
	struct loop *loop;
	struct error error;
	cr_assert(loop_new(&loop, &error));
	cr_assert_not(loop_watch(loop, "/no/such/folder", stalled, NULL, &error));
	cr_assert_eq(error.code, ERROR_IO);
	loop_free(loop);
}

Test(flight, the_bytes_of_a_phase_are_counted_and_the_most_is_kept)
{
	static struct flight flight;
	struct flight_mark outer = flight_begin(&flight, "outer", 1);
	work_add(WORK_PARSED, 100);
	struct flight_mark inner = flight_begin(&flight, "inner", 2);
	work_add(WORK_PRINTED, 7);
	flight_end(&flight, inner);
	flight_end(&flight, outer);
	struct flight_mark next = flight_begin(&flight, "next", 3);
	work_add(WORK_PARSED, 40);
	flight_end(&flight, next);
	work_add(WORK_PARSED, 1000); /* nobody's */
	cr_expect_eq(flight.total.bytes[WORK_PARSED], 140);
	cr_expect_eq(flight.most.bytes[WORK_PARSED], 100);
	cr_expect_eq(flight.total.bytes[WORK_PRINTED], 7, "what is nested counts once");
	cr_expect_eq(flight.phases[1].bytes, 107);
	cr_expect_eq(flight.phases[2].bytes, 7);
}

Test(flight, turns_are_measured)
{
	struct trial trial;
	trial_open(&trial);
	struct holding holding = { .job = { .run = nothing, .done = hold }, .trial = &trial };
	platform_submit(loop_platform(trial.loop), LANE_READER, &holding.job);
	loop_run(trial.loop);
	cr_assert_str_eq(trial.phase, "job");
	/* The long tick ends when the loop runs again. */
	holding.job.done = hold;
	platform_submit(loop_platform(trial.loop), LANE_READER, &holding.job);
	loop_run(trial.loop);
	const struct histogram *ticks = loop_ticks(trial.loop);
	cr_assert_geq(ticks->count, 1);
	uint64_t slow = ticks->count;
	for (size_t i = 0; i < ticks->bound_count; i++)
		if (ticks->bounds[i] < 0.11)
			slow -= ticks->counts[i];
	cr_assert_eq(slow, 1);
	trial_close(&trial);
}
