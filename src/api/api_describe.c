/* api/api_describe.c -- the interface describes itself.
 *
 * The document is large and printed once, so the first request would hold up the loop: every one
 * goes to a reader thread, where it waits for the first.
 */
#include <stdlib.h>

#include "api/inside.h"
#include "contract/describe.h"

struct openapi_read {
	struct runtime_read read;
	struct api *api;
	uint64_t exchange;
	struct str text;
};

static void openapi_work(struct runtime_read *read, struct store_reader *reader)
{
	struct openapi_read *r = (struct openapi_read *)read;
	(void)reader;
	r->text = describe_openapi_kept();
}

static void openapi_done(struct runtime_read *read)
{
	struct openapi_read *r = (struct openapi_read *)read;
	api_reply_json(r->api, r->exchange, 200, r->text);
	arena_done(&read->arena);
	free(r);
}

void api_openapi(struct api_call *call)
{
	struct openapi_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->api = call->api;
	r->exchange = call->exchange;
	r->read.work = openapi_work;
	r->read.done = openapi_done;
	runtime_read(call->api->settings.runtime, &r->read);
}
