/* store/writer.c -- the queue between the loop and the writer lane.
 *
 * There is no lock.  The queue belongs to the loop thread; when the lane is free the loop moves
 * the head of the queue into `flight`, and until the job's done() the lane alone touches that.
 * done() starts the next batch before it delivers this one, so that the disk works while the
 * loop does.
 */
#include "store/writer.h"

#include <stdlib.h>

#include "base/limits.h"

struct writer {
	struct job job; /* first: the job is the writer */
	struct system *system;
	struct store *store;
	writer_failed *failed;
	void *context;

	struct writer_ticket *first, **last; /* queued, oldest first */
	size_t waiting;                      /* queued or in flight */
	bool broken;

	/* The lane's from submit to done. */
	struct {
		struct writer_ticket *first; /* NULL: nothing is in flight */
		struct store_append *appends[LIMIT_WRITER_BATCH];
		size_t count;
		bool committed;
		struct error error;
	} flight;
};

static void run(struct job *job, unsigned thread)
{
	(void)thread;
	struct writer *writer = (struct writer *)job;
	writer->flight.committed = writer->store->ops->commit(
		writer->store, writer->flight.appends, writer->flight.count, &writer->flight.error);
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
	/* `end` is the link after the last one taken: what hangs there stays queued. */
	struct writer_ticket *rest = *end;
	*end = NULL;
	writer->first = rest;
	if (rest == NULL)
		writer->last = &writer->first;
	system_submit(writer->system, LANE_WRITER, &writer->job);
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
	depart(writer);
	while (ticket != NULL) {
		/* done() may free the ticket. */
		struct writer_ticket *next = ticket->next;
		writer->waiting--;
		ticket->done(ticket);
		ticket = next;
	}
}

struct writer *writer_new(struct system *system, struct store *store, writer_failed *failed,
			  void *context)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	require(writer != NULL);
	writer->job.run = run;
	writer->job.done = done;
	writer->system = system;
	writer->store = store;
	writer->failed = failed;
	writer->context = context;
	writer->last = &writer->first;
	return writer;
}

void writer_append(struct writer *writer, struct writer_ticket *ticket)
{
	writer->waiting++;
	if (writer->broken)
		return;
	ticket->append.outcome = STORE_PENDING;
	ticket->next = NULL;
	*writer->last = ticket;
	writer->last = &ticket->next;
	depart(writer);
}

size_t writer_waiting(const struct writer *writer)
{
	return writer->waiting;
}

void writer_free(struct writer *writer)
{
	if (writer == NULL)
		return;
	require(writer->flight.first == NULL);
	free(writer);
}
