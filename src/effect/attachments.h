/* effect/attachments.h -- pictures and recordings of a request: artifacts by hash become parts with
 * their bytes; private to effect.
 *
 * A recorded request names its attachments, because a value holds at most 1 MiB.  Their bytes are read
 * when the request is sent, and compared with the hash, so that a turn that is repeated after a crash
 * sends the same bytes.
 *
 *	attachments_of    what the request shows; of too many, the newest
 *	attachments_read  reads the bytes on a reader thread; calls done() on the loop
 *	attachments_put   the request with parts instead of attachments
 */
#ifndef EFFECT_ATTACHMENTS_H
#define EFFECT_ATTACHMENTS_H

#include "active/executor_jobs.h"
#include "artifact/artifact.h"
#include "contract/run_turn_types.h"

struct attachment {
	struct hash sha256;
	struct str name, media_type;
	struct str data; /* base64; valid once it is read */
};

struct attachments {
	struct attachment *at; /* each content once */
	size_t count;
};

/* In the arena; with copies of everything. */
struct attachments attachments_of(const struct run_turn *turn, struct arena *arena);

struct attachments_read {
	struct executor_read read; /* first */
	const struct artifacts *artifacts;
	struct attachments attachments;
	uint64_t asking; /* the turn */
	struct error error;
};

/* `done` gets &result->read and frees it with its arena. */
void attachments_read(struct executor *executor, struct artifacts *artifacts,
		      const struct attachments *wanted, uint64_t asking,
		      void (*done)(struct executor_read *read));

/* The request as a driver gets it.  Shares memory with both. */
const struct run_turn *attachments_put(const struct run_turn *turn,
				       const struct attachments *attachments, struct arena *arena);

#endif
