/* tool/output_log.h -- what a tool writes to stdout and stderr during one attempt.
 *
 * The log is the only copy of the text in memory.  A reader is an offset into it and nothing else: a
 * late one starts at 0, a slow one later gets the rest as one larger chunk.  Offsets count the bytes
 * of the text in the order of arrival, both streams together.
 *
 * The text is UTF-8: invalid bytes become replacement characters, also where a character is split
 * between two writes.  Control sequences stay.  The log keeps its first LIMIT_STEP_LOG_HEAD_BYTES
 * and its last LIMIT_STEP_LOG_TAIL_BYTES, measured as JSON text so that any log fits into a value,
 * and counts what it drops in between.
 *
 * On the loop's thread.
 */
#ifndef TOOL_OUTPUT_LOG_H
#define TOOL_OUTPUT_LOG_H

#include "base/str.h"

struct json;
struct output_log;
struct secret_mask;

enum output_stream { OUTPUT_STDOUT, OUTPUT_STDERR };

struct output_chunk {
	enum output_stream stream;
	uint64_t offset;
	uint64_t omitted; /* bytes between the requested offset and this one that were dropped */
	struct str text;  /* borrowed until the log changes */
};

struct output_log *output_log_new(void);
void output_log_free(struct output_log *log);
/* Call before the first addition.  From then on secrets are masked; the end of a stream that could be
 * the beginning of a secret is kept back until more arrives.  The mask must live until
 * output_log_close(). */
void output_log_set_mask(struct output_log *log, const struct secret_mask *mask);
void output_log_add(struct output_log *log, enum output_stream stream, struct str bytes);
/* Nothing more will be added: an incomplete character at the end becomes a replacement character. */
void output_log_close(struct output_log *log);

uint64_t output_log_size(const struct output_log *log); /* with what was dropped */
/* The text from this offset on that belongs to one stream; false when there is none yet. */
bool output_log_read(const struct output_log *log, uint64_t offset, struct output_chunk *out_chunk);
/* The whole log as run.Log; NULL when nothing was written. */
const struct json *output_log_json(const struct output_log *log, struct arena *arena);

#endif
