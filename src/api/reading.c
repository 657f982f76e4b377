/* api/reading.c -- answers that are worked out on a reader's thread. */
#include "api/reading.h"

#include <stdlib.h>

void *api_reading_new(struct api *api, uint64_t exchange, size_t size)
{
	struct api_reading *reading = calloc(1, size);
	require(reading != NULL);
	reading->api = api;
	reading->exchange = exchange;
	return reading;
}

void api_reading_end(struct api_reading *reading)
{
	if (reading->error.code != ERROR_NONE)
		api_reply_error(reading->api, reading->exchange, &reading->error, NULL);
	else
		api_reply_json(reading->api, reading->exchange, 200, reading->text);
	arena_done(&reading->read.arena);
	free(reading);
}

static void reading_done(struct runtime_read *read)
{
	api_reading_end((struct api_reading *)read);
}

void api_reading_begin(struct api_reading *reading, api_reading_work *work)
{
	reading->read.work = work;
	reading->read.done = reading_done;
	runtime_read(reading->api->settings.runtime, &reading->read);
}
