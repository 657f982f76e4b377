/* os/watchdog.c -- a thread that detects stalls of the loop, and the crash handler.
 *
 * The thread checks the current phase every LIMIT_WATCHDOG_MS while the loop is busy.  If no phase
 * began between two checks, the thread sleeps until the next phase wakes it, so an idle server has
 * no periodic wakeups.  The thread also writes the files, so that a loop that is already late does
 * not wait for the disk.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "os/flight.h"

enum { NAME_SIZE = 64 };

struct watchdog {
	struct flight *flight;
	int folder;
	flight_stalled *stalled;
	void *context;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	atomic_bool sleeping;
	bool closing;
	/* A stall that has ended; the loop reported it. */
	bool has_report;
	struct flight_stall ended;
};

/* ---- files ------------------------------------------------------------------------------- */

/* file_name() and print_file() are safe in a signal handler. */
static void file_name(char name[NAME_SIZE])
{
	struct timespec wall = { 0 };
	clock_gettime(CLOCK_REALTIME, &wall);
	uint64_t ms = (uint64_t)wall.tv_sec * 1000 + (uint64_t)wall.tv_nsec / 1000000;
	static const char prefix[] = "flight-", suffix[] = ".txt";
	enum { DIGITS = 15 };
	memcpy(name, prefix, sizeof(prefix) - 1);
	for (size_t i = DIGITS; i-- > 0; ms /= 10)
		name[sizeof(prefix) - 1 + i] = (char)('0' + ms % 10);
	memcpy(name + sizeof(prefix) - 1 + DIGITS, suffix, sizeof(suffix));
}

static bool print_file(const struct flight *flight, int folder, const char *why,
		       char name[NAME_SIZE])
{
	file_name(name);
	int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file < 0)
		return false;
	flight_print(flight, why, file);
	close(file);
	return true;
}

static bool is_flight_file(const char *name)
{
	size_t size = strlen(name);
	return size < NAME_SIZE && strncmp(name, "flight-", 7) == 0 && size > 11 &&
	       strcmp(name + size - 4, ".txt") == 0;
}

/* Removes the oldest files until at most `most` are left; the names sort by time. */
static void keep_newest(int folder, size_t most)
{
	for (;;) {
		int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		DIR *list = again < 0 ? NULL : fdopendir(again);
		if (list == NULL) {
			if (again >= 0)
				close(again);
			return;
		}
		char oldest[NAME_SIZE] = "";
		size_t count = 0;
		for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
			if (!is_flight_file(entry->d_name))
				continue;
			count++;
			if (oldest[0] == '\0' || strcmp(entry->d_name, oldest) < 0)
				snprintf(oldest, sizeof(oldest), "%.*s", NAME_SIZE - 1,
					 entry->d_name);
		}
		closedir(list);
		if (count <= most || unlinkat(folder, oldest, 0) != 0)
			return;
	}
}

/* ---- the thread -------------------------------------------------------------------------- */

bool watchdog_dozes(const struct watchdog *watchdog)
{
	return atomic_load(&watchdog->sleeping);
}

void watchdog_wake(struct watchdog *watchdog)
{
	pthread_mutex_lock(&watchdog->mutex);
	atomic_store(&watchdog->sleeping, false);
	pthread_cond_signal(&watchdog->changed);
	pthread_mutex_unlock(&watchdog->mutex);
}

void watchdog_tell(struct watchdog *watchdog, const char *phase, uint64_t subject,
		   int64_t lasted_us, bool again)
{
	pthread_mutex_lock(&watchdog->mutex);
	watchdog->has_report = true;
	watchdog->ended = (struct flight_stall){ .phase = phase,
						 .subject = subject,
						 .lasted_us = lasted_us,
						 .again = again,
						 .file = "" };
	pthread_cond_signal(&watchdog->changed);
	pthread_mutex_unlock(&watchdog->mutex);
}

static void report(struct watchdog *watchdog, struct flight_stall stall)
{
	char why[128], name[NAME_SIZE] = "";
	if (stall.again) {
		watchdog->stalled(watchdog->context, &stall);
		return;
	}
	snprintf(why, sizeof(why), "the loop was held for %lld ms%s by %s %llu",
		 (long long)(stall.lasted_us / 1000), stall.lasts ? " so far" : "", stall.phase,
		 (unsigned long long)stall.subject);
	/* Remove old files first, so that the new file is not the one removed. */
	keep_newest(watchdog->folder, LIMIT_FLIGHT_FILES - 1);
	if (!print_file(watchdog->flight, watchdog->folder, why, name))
		name[0] = '\0';
	stall.file = name;
	watchdog->stalled(watchdog->context, &stall);
}

/* Checks the innermost phase.  A stall is reported once, by the thread that detects it first. */
static void check_phase(struct watchdog *watchdog)
{
	struct flight *flight = watchdog->flight;
	uint64_t number = atomic_load_explicit(&flight->current, memory_order_acquire);
	const struct flight_phase *phase = &flight->phases[number % LIMIT_FLIGHT_PHASES];
	if (number == 0)
		return;
	const char *name = atomic_load_explicit(&phase->name, memory_order_relaxed);
	uint64_t subject = atomic_load_explicit(&phase->subject, memory_order_relaxed);
	int64_t held_us =
		flight_now_us() - atomic_load_explicit(&phase->start_us, memory_order_relaxed);
	bool same = atomic_load_explicit(&flight->current, memory_order_acquire) == number;
	if (!same || held_us <= LIMIT_LOOP_STALL_MS * INT64_C(1000) ||
	    atomic_exchange(&flight->named, number) == number)
		return;
	atomic_fetch_add(&flight->stalls, 1);
	report(watchdog,
	       (struct flight_stall){
		       .phase = name, .subject = subject, .lasted_us = held_us, .lasts = true });
}

static void wait_interval(struct watchdog *watchdog)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += LIMIT_WATCHDOG_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&watchdog->changed, &watchdog->mutex, &until);
}

static void *watchdog_thread(void *argument)
{
	struct watchdog *watchdog = argument;
	struct flight *flight = watchdog->flight;
	uint64_t last_count = 0;
	pthread_mutex_lock(&watchdog->mutex);
	while (!watchdog->closing) {
		if (watchdog->has_report) {
			watchdog->has_report = false;
			struct flight_stall ended = watchdog->ended;
			pthread_mutex_unlock(&watchdog->mutex);
			report(watchdog, ended);
			pthread_mutex_lock(&watchdog->mutex);
			continue;
		}
		uint64_t count = atomic_load(&flight->count);
		if (count == last_count && atomic_load(&flight->current) == 0) {
			atomic_store(&watchdog->sleeping, true);
			/* A phase that began before `sleeping` was set did not wake us. */
			if (atomic_load(&flight->count) == last_count &&
			    atomic_load(&flight->current) == 0)
				pthread_cond_wait(&watchdog->changed, &watchdog->mutex);
			atomic_store(&watchdog->sleeping, false);
			continue;
		}
		last_count = count;
		wait_interval(watchdog);
		pthread_mutex_unlock(&watchdog->mutex);
		check_phase(watchdog);
		pthread_mutex_lock(&watchdog->mutex);
	}
	pthread_mutex_unlock(&watchdog->mutex);
	return NULL;
}

bool watchdog_start(struct flight *flight, const char *folder, flight_stalled *stalled,
		    void *context, struct error *error)
{
	int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (descriptor < 0)
		return fail(error, ERROR_IO, "cannot open %s: %s", folder, strerror(errno));
	struct watchdog *watchdog = calloc(1, sizeof(*watchdog));
	require(watchdog != NULL);
	watchdog->flight = flight;
	watchdog->folder = descriptor;
	watchdog->stalled = stalled;
	watchdog->context = context;
	pthread_condattr_t monotonic;
	require(pthread_condattr_init(&monotonic) == 0);
	require(pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0);
	require(pthread_cond_init(&watchdog->changed, &monotonic) == 0);
	pthread_condattr_destroy(&monotonic);
	require(pthread_mutex_init(&watchdog->mutex, NULL) == 0);
	keep_newest(descriptor, LIMIT_FLIGHT_FILES);
	sigset_t before;
	flight_block_signals(&before);
	int code = pthread_create(&watchdog->thread, NULL, watchdog_thread, watchdog);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (code != 0) {
		close(descriptor);
		free(watchdog);
		return fail(error, ERROR_IO, "cannot start a thread: %s", strerror(code));
	}
	flight->watchdog = watchdog;
	return true;
}

void watchdog_stop(struct flight *flight)
{
	struct watchdog *watchdog = flight->watchdog;
	if (watchdog == NULL)
		return;
	pthread_mutex_lock(&watchdog->mutex);
	watchdog->closing = true;
	pthread_cond_signal(&watchdog->changed);
	pthread_mutex_unlock(&watchdog->mutex);
	pthread_join(watchdog->thread, NULL);
	flight->watchdog = NULL;
	pthread_cond_destroy(&watchdog->changed);
	pthread_mutex_destroy(&watchdog->mutex);
	close(watchdog->folder);
	free(watchdog);
}

/* ---- the end of the process -------------------------------------------------------------- */

/* For the signal handler; set once by flight_on_crash(). */
static struct flight *crash_flight;
static int crash_folder = -1;

static const int crash_signals[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };

void flight_block_signals(sigset_t *out_before)
{
	sigset_t most;
	sigfillset(&most);
	for (size_t i = 0; i < COUNT(crash_signals); i++)
		sigdelset(&most, crash_signals[i]);
	pthread_sigmask(SIG_SETMASK, &most, out_before);
}

static void crash_handler(int number)
{
	int kept = errno;
	char name[NAME_SIZE];
	const char *why = number == SIGABRT ? "the process aborted" : "the process faulted";
	print_file(crash_flight, crash_folder, why, name);
	errno = kept;
	/* SA_RESETHAND restored the default action, which ends the process. */
	raise(number);
}

void flight_on_crash(struct flight *flight)
{
	static char stack[65536];
	require(flight->watchdog != NULL);
	crash_flight = flight;
	crash_folder = flight->watchdog->folder;
	/* The fault may be a stack overflow, so the handler needs its own stack. */
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	sigaltstack(&other, NULL);
	struct sigaction action = { .sa_handler = crash_handler,
				    .sa_flags = (int)(SA_ONSTACK | SA_RESETHAND | SA_NODEFER) };
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < COUNT(crash_signals); i++) {
		struct sigaction current;
		/* Do not replace the handlers of a sanitizer. */
		if (sigaction(crash_signals[i], NULL, &current) == 0 &&
		    current.sa_handler == SIG_DFL)
			sigaction(crash_signals[i], &action, NULL);
	}
}
