/* views/task_chunk.h -- a piece of a reply that is being written, in the task vocabulary.
 *
 * Chunks are not stored, so they are no part of a timeline: whoever sends them says what is in them.
 */
#ifndef VIEWS_TASK_CHUNK_H
#define VIEWS_TASK_CHUNK_H

#include "base/uuid.h"

struct task_chunk {
	struct uuid run;
	struct str step, agent, text;
	bool is_final;
	int64_t at; /* us UTC */
};

/* The id of a step in the task vocabulary is derived from this. */
struct uuid task_chunk_step(const struct uuid *run, struct str path);
/* The prefix and the id without its dashes. */
struct str task_chunk_hex(const char *prefix, const struct uuid *id, struct arena *arena);
/* task.StreamChunk as JSON, in the arena. */
struct str task_chunk_text(const struct task_chunk *chunk, struct arena *arena);

#endif
