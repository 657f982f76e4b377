/* os/loop_lane.c -- a queue of jobs and the threads that run them.
 *
 * Plain pthreads instead of libuv's thread pool: the writer must be a single thread that runs jobs
 * in order, and a reader thread must know its number, because each reader owns a database
 * connection.
 *
 * Submitting a job wakes one thread, after the mutex is released.  A writer thread that spins for
 * the next commit instead of sleeping was tried: it made a single client slower by a seventh,
 * because the loop then wakes up on the other processor.
 */
#include "os/loop_internal.h"

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

static void *lane_thread(void *argument)
{
	struct lane *lane = argument;
	pthread_mutex_lock(&lane->mutex);
	unsigned number = lane->next_thread++;
	for (;;) {
		struct job *job = job_list_take(&lane->queue);
		if (job == NULL && lane->closing)
			break;
		if (job == NULL) {
			pthread_cond_wait(&lane->changed, &lane->mutex);
			continue;
		}
		lane->waiting--;
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

bool lane_open(struct lane *lane, struct loop *loop, unsigned threads, struct error *error)
{
	require(threads <= LOOP_READERS);
	*lane = (struct lane){ .loop = loop };
	require(pthread_mutex_init(&lane->mutex, NULL) == 0);
	require(pthread_cond_init(&lane->changed, NULL) == 0);
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
	pthread_cond_signal(&lane->changed);
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
	pthread_cond_broadcast(&lane->changed);
	pthread_mutex_unlock(&lane->mutex);
	for (unsigned i = 0; i < lane->threads; i++)
		pthread_join(lane->thread[i], NULL);
	pthread_cond_destroy(&lane->changed);
	pthread_cond_destroy(&lane->idle);
	pthread_mutex_destroy(&lane->mutex);
}
