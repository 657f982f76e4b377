/* api/reading.h -- answers that are worked out on a reader's thread.  This room's.
 *
 *	struct thing_read {
 *		struct api_reading answer; // first
 *		...                        what work() needs to know
 *	};
 *
 * work() casts its runtime_read and fills in the text or the error; then, on the loop, the exchange
 * is answered with it and everything is freed.
 */
#ifndef API_READING_H
#define API_READING_H

#include "api/inside.h"

struct api_reading {
	struct runtime_read read; /* first; its arena has the text */
	struct api *api;
	uint64_t exchange;
	struct str text; /* JSON */
	struct error error;
};

typedef void api_reading_work(struct runtime_read *read, struct store_reader *reader);

/* `size` bytes that begin with an api_reading, zeroed otherwise. */
void *api_reading_new(struct api *api, uint64_t exchange, size_t size);
void api_reading_begin(struct api_reading *reading, api_reading_work *work);
/* Answers with what is there, without any reading. */
void api_reading_end(struct api_reading *reading);

#endif
