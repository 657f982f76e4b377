/* store/writer.h -- group commit: appends from the loop thread, committed on the writer thread.
 *
 * writer_append() queues an append.  When the writer thread is free, it commits everything that is
 * queued in one transaction, without waiting for more.  done() is called on the loop thread, in the
 * order in which the appends were queued, when the append is committed or refused.  After a failed
 * commit `failed` is called once, and no later append is answered, because the content of the disk
 * is unknown.
 *
 * The writer estimates its backlog (writer_work_us) from the cost of recent commits: a part for
 * each commit and a part for each append.
 *
 * An append and everything it points to must live until done().
 */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include "base/histogram.h"
#include "os/platform.h"
#include "store/store.h"

struct writer;

struct writer_ticket {
	struct store_append append;
	void (*done)(struct writer_ticket *ticket); /* see append.outcome */
	struct writer_ticket *next;                 /* in the queue */
	int64_t queued_us;                          /* when writer_append() was called */
};

typedef void writer_failed(void *context, const struct error *error);

struct writer *writer_new(struct platform *platform, struct store *store, writer_failed *failed,
			  void *context);
void writer_append(struct writer *writer, struct writer_ticket *ticket);
size_t writer_waiting(const struct writer *writer); /* appends that are not answered */
/* How long the oldest of them has waited; 0 when there is none. */
int64_t writer_oldest_us(const struct writer *writer);
/* The estimated time to commit the waiting appends; at least the time that the oldest has waited. */
int64_t writer_work_us(const struct writer *writer);
/* Distributions of appends and of seconds per commit. */
const struct histogram *writer_commit_sizes(const struct writer *writer);
const struct histogram *writer_commit_times(const struct writer *writer);
void writer_free(struct writer *writer); /* only when nothing is in flight */

#endif
