/* store/writer.h -- group commit: appends from the loop thread, committed by the writer lane.
 *
 * writer_append() queues; whatever is queued when the lane is free is committed in one
 * transaction, without waiting for more.  done() is called on the loop thread, in the order in
 * which the appends were queued, when the append is committed or refused (a conflict, no room).
 * After a failed commit `failed` is called once and nothing is acknowledged any more: every later
 * append stays unanswered, because nobody knows what the disk holds.
 *
 * The writer knows how far it is behind: what commits have lately cost, as a part for each commit
 * and a part for each append, gives the work that is waiting (writer_work_us).
 *
 * The append and all it points to must live until done().
 */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include "base/histogram.h"
#include "os/platform.h"
#include "store/store.h"

struct writer;

struct writer_ticket {
	struct store_append append;
	void (*done)(struct writer_ticket *ticket); /* outcome is in append.outcome */
	struct writer_ticket *next;                 /* the queue's */
	int64_t queued_us;                          /* when it was given to the writer */
};

typedef void writer_failed(void *context, const struct error *error);

struct writer *writer_new(struct platform *platform, struct store *store, writer_failed *failed,
			  void *context);
void writer_append(struct writer *writer, struct writer_ticket *ticket);
size_t writer_waiting(const struct writer *writer); /* queued and not yet answered */
/* How long the oldest of these has waited; 0 when there is none. */
int64_t writer_oldest_us(const struct writer *writer);
/* How long it will take to commit what is waiting, by what commits have cost; never less than the
 * oldest has waited. */
int64_t writer_work_us(const struct writer *writer);
/* Of every commit: how many appends, how long. */
const struct histogram *writer_commit_sizes(const struct writer *writer);
const struct histogram *writer_commit_times(const struct writer *writer);
void writer_free(struct writer *writer); /* only when nothing is in flight */

#endif
