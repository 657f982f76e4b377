/* os/loop_lane.c -- a queue of jobs and the threads that run them.
 *
 * Plain pthreads instead of libuv's pool: the writer must be one thread that takes jobs in order,
 * and a reader must know its number, because each reader owns a database connection.
 *
 * A job wakes one thread, never all of them.  To wake one that sleeps costs about as much as a
 * quarter of a commit on a fast disk, and behind a commit the next one is often a moment away: the
 * writer therefore watches for it a little before it goes to sleep.
 */
#include "os/loop_inside.h"

#include <signal.h>
#include <string.h>

void job_list_add(struct job_list *list, struct job *job)
{
	job->next = NULL;
	if (list->last == NULL)
		list->first = job;
	else
		list->last->next = job;
	list->last = job;
}

struct job *job_list_take(struct job_list *list)
{
	struct job *job = list->first;
	if (job == NULL)
		return NULL;
	list->first = job->next;
	if (list->first == NULL)
		list->last = NULL;
	job->next = NULL;
	return job;
}

/* Tells the processor that this is a loop that waits. */
static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Until a job came, or the time is over. */
static void watch(struct lane *lane)
{
	int64_t end = flight_now_us() + lane->watch_us;
	do {
		for (int i = 0; i < 16; i++) {
			if (atomic_load_explicit(&lane->waiting, memory_order_relaxed) > 0)
				return;
			relax();
		}
	} while (flight_now_us() < end);
}

/* Called and left with the mutex held: until there may be something to do. */
static void await_job(struct lane *lane, bool *watched)
{
	if (lane->watch_us > 0 && !*watched) {
		pthread_mutex_unlock(&lane->mutex);
		*watched = true;
		watch(lane);
		pthread_mutex_lock(&lane->mutex);
	} else {
		pthread_cond_wait(&lane->came, &lane->mutex);
	}
}

static void *lane_thread(void *argument)
{
	struct lane *lane = argument;
	pthread_mutex_lock(&lane->mutex);
	unsigned number = lane->next_thread++;
	bool watched = true;
	for (;;) {
		struct job *job = job_list_take(&lane->queue);
		if (job == NULL && lane->closing)
			break;
		if (job == NULL) {
			await_job(lane, &watched);
			continue;
		}
		lane->waiting--;
		watched = false;
		pthread_mutex_unlock(&lane->mutex);
		job->run(job, number);
		loop_finish(lane->loop, job);
		pthread_mutex_lock(&lane->mutex);
		lane->unfinished--;
		if (lane->unfinished == 0)
			pthread_cond_broadcast(&lane->idle);
	}
	pthread_mutex_unlock(&lane->mutex);
	return NULL;
}

bool lane_open(struct lane *lane, struct loop *loop, unsigned threads, int64_t watch_us,
	       struct error *error)
{
	require(threads <= LOOP_READERS);
	*lane = (struct lane){ .loop = loop, .watch_us = watch_us };
	require(pthread_mutex_init(&lane->mutex, NULL) == 0);
	require(pthread_cond_init(&lane->came, NULL) == 0);
	require(pthread_cond_init(&lane->idle, NULL) == 0);
	sigset_t before;
	flight_block_signals(&before);
	int code = 0;
	while (code == 0 && lane->threads < threads) {
		code = pthread_create(&lane->thread[lane->threads], NULL, lane_thread, lane);
		if (code == 0)
			lane->threads++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (code != 0) {
		lane_close(lane);
		return fail(error, ERROR_IO, "cannot start a thread: %s", strerror(code));
	}
	return true;
}

void lane_submit(struct lane *lane, struct job *job)
{
	pthread_mutex_lock(&lane->mutex);
	require(!lane->closing);
	job_list_add(&lane->queue, job);
	job->queued_us = flight_now_us();
	lane->unfinished++;
	lane->waiting++;
	pthread_mutex_unlock(&lane->mutex);
	pthread_cond_signal(&lane->came);
}

struct loop_queue lane_queue(struct lane *lane)
{
	pthread_mutex_lock(&lane->mutex);
	const struct job *oldest = lane->queue.first;
	struct loop_queue queue = {
		.depth = lane->waiting,
		.oldest_us = oldest == NULL ? 0 : flight_now_us() - oldest->queued_us,
	};
	pthread_mutex_unlock(&lane->mutex);
	return queue;
}

void lane_wait(struct lane *lane)
{
	pthread_mutex_lock(&lane->mutex);
	while (lane->unfinished > 0)
		pthread_cond_wait(&lane->idle, &lane->mutex);
	pthread_mutex_unlock(&lane->mutex);
}

void lane_close(struct lane *lane)
{
	pthread_mutex_lock(&lane->mutex);
	lane->closing = true;
	pthread_cond_broadcast(&lane->came);
	pthread_mutex_unlock(&lane->mutex);
	for (unsigned i = 0; i < lane->threads; i++)
		pthread_join(lane->thread[i], NULL);
	pthread_cond_destroy(&lane->came);
	pthread_cond_destroy(&lane->idle);
	pthread_mutex_destroy(&lane->mutex);
}
