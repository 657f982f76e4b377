/* Replies as providers send them: a stream and a whole document of each wire format, with thinking,
 * text and two calls in parallel. */
#ifndef UNIT_LLM_STREAMS_H
#define UNIT_LLM_STREAMS_H

#include "llm/wire.h"

struct sample {
	const char *name;
	const struct wire *wire;
	bool streams;
	const char *bytes;
	const char *expected; /* as result_text() of test_wire.c prints it */
};

extern const struct sample samples[];
extern const size_t sample_count;

#endif
