/* store/writer.c -- the queue between the loop thread and the writer thread.
 *
 * There is no lock.  The queue belongs to the loop thread.  When the writer thread is free, the loop
 * moves the head of the queue into `flight`, which only the writer thread uses until the job is
 * done.  done() starts the next batch before it delivers the results of this one, so that the disk
 * and the loop work in parallel.
 *
 * The cost of a commit is fitted as a + b·n over recent commits with n appends each: the appends of
 * a commit share one fsync, so neither a cost per append nor a cost per commit alone would predict
 * the backlog.  The weight of a commit decreases by an eighth with each newer one.
 */
#include "store/writer.h"

#include <stdlib.h>

#include "base/limits.h"

/* Weighted sums over commits: weight, appends, cost, and their products. */
struct cost {
	double weight, n, us, nn, nus;
};

struct writer {
	struct job job; /* first: the job is the writer */
	struct platform *platform;
	struct store *store;
	writer_failed *failed;
	void *context;

	struct writer_ticket *first, **last; /* queued, oldest first */
	size_t waiting;                      /* queued or in flight */
	bool broken;
	struct cost cost;
	struct histogram sizes, times;

	/* Used by the writer thread from submit to done. */
	struct {
		struct writer_ticket *first; /* NULL: nothing is in flight */
		struct store_append *appends[LIMIT_WRITER_BATCH];
		size_t count;
		bool committed;
		int64_t took_us;
		struct error error;
	} flight;
};

static const double size_bounds[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024 };
static const double time_bounds[] = { 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
				      0.05,   0.1,   0.25,   0.5,   1,    2.5 };

static void cost_add(struct cost *cost, double n, double us)
{
	const double fade = 0.875;
	cost->weight = cost->weight * fade + 1;
	cost->n = cost->n * fade + n;
	cost->us = cost->us * fade + us;
	cost->nn = cost->nn * fade + n * n;
	cost->nus = cost->nus * fade + n * us;
}

/* Least squares of a + b·n; when all commits have the same size, b is 0. */
static void cost_fit(const struct cost *cost, double *out_commit, double *out_append)
{
	double spread = cost->weight * cost->nn - cost->n * cost->n;
	double append = 0;
	if (spread > cost->weight * cost->weight / 100)
		append = (cost->weight * cost->nus - cost->n * cost->us) / spread;
	if (append < 0)
		append = 0;
	double commit = cost->weight > 0 ? (cost->us - append * cost->n) / cost->weight : 0;
	*out_append = append;
	*out_commit = commit < 0 ? 0 : commit;
}

static void run(struct job *job, unsigned thread)
{
	(void)thread;
	struct writer *writer = (struct writer *)job;
	int64_t begun = platform_mono_us(writer->platform);
	writer->flight.committed = writer->store->writer->commit(
		writer->store, writer->flight.appends, writer->flight.count, &writer->flight.error);
	writer->flight.took_us = platform_mono_us(writer->platform) - begun;
}

static void depart(struct writer *writer)
{
	if (writer->first == NULL || writer->flight.first != NULL)
		return;
	writer->flight.first = writer->first;
	writer->flight.count = 0;
	struct writer_ticket **end = &writer->first;
	while (*end != NULL && writer->flight.count < LIMIT_WRITER_BATCH) {
		writer->flight.appends[writer->flight.count++] = &(*end)->append;
		end = &(*end)->next;
	}
	/* `end` is the link after the last append of the batch; the rest stays queued. */
	struct writer_ticket *rest = *end;
	*end = NULL;
	writer->first = rest;
	if (rest == NULL)
		writer->last = &writer->first;
	platform_submit(writer->platform, LANE_WRITER, &writer->job);
}

static void done(struct job *job)
{
	struct writer *writer = (struct writer *)job;
	struct writer_ticket *ticket = writer->flight.first;
	writer->flight.first = NULL;
	if (!writer->flight.committed) {
		writer->broken = true;
		writer->failed(writer->context, &writer->flight.error);
		return;
	}
	double took_us = (double)writer->flight.took_us;
	cost_add(&writer->cost, (double)writer->flight.count, took_us);
	histogram_add(&writer->sizes, (double)writer->flight.count);
	histogram_add(&writer->times, took_us / 1e6);
	depart(writer);
	while (ticket != NULL) {
		/* done() may free the ticket. */
		struct writer_ticket *next = ticket->next;
		writer->waiting--;
		ticket->done(ticket);
		ticket = next;
	}
}

struct writer *writer_new(struct platform *platform, struct store *store, writer_failed *failed,
			  void *context)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	require(writer != NULL);
	writer->job.name = "commit";
	writer->job.run = run;
	writer->job.done = done;
	writer->platform = platform;
	writer->store = store;
	writer->failed = failed;
	writer->context = context;
	writer->last = &writer->first;
	histogram_init(&writer->sizes, size_bounds, COUNT(size_bounds));
	histogram_init(&writer->times, time_bounds, COUNT(time_bounds));
	return writer;
}

void writer_append(struct writer *writer, struct writer_ticket *ticket)
{
	writer->waiting++;
	if (writer->broken)
		return;
	ticket->append.outcome = STORE_PENDING;
	ticket->queued_us = platform_mono_us(writer->platform);
	ticket->next = NULL;
	*writer->last = ticket;
	writer->last = &ticket->next;
	depart(writer);
}

size_t writer_waiting(const struct writer *writer)
{
	return writer->waiting;
}

int64_t writer_oldest_us(const struct writer *writer)
{
	const struct writer_ticket *oldest =
		writer->flight.first != NULL ? writer->flight.first : writer->first;
	return oldest == NULL ? 0 : platform_mono_us(writer->platform) - oldest->queued_us;
}

int64_t writer_work_us(const struct writer *writer)
{
	if (writer->waiting == 0)
		return 0;
	double commit, append;
	cost_fit(&writer->cost, &commit, &append);
	size_t commits = (writer->waiting + LIMIT_WRITER_BATCH - 1) / LIMIT_WRITER_BATCH;
	int64_t work = (int64_t)(commit * (double)commits + append * (double)writer->waiting);
	int64_t oldest = writer_oldest_us(writer);
	return work > oldest ? work : oldest;
}

const struct histogram *writer_commit_sizes(const struct writer *writer)
{
	return &writer->sizes;
}

const struct histogram *writer_commit_times(const struct writer *writer)
{
	return &writer->times;
}

void writer_free(struct writer *writer)
{
	if (writer == NULL)
		return;
	require(writer->flight.first == NULL);
	free(writer);
}
