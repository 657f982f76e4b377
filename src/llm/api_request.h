/* llm/api_request.h -- what the driver api sends: the requests of a turn, one for each model that it may
 * ask.
 *
 * They are made when the turn starts, because the turn's own memory lives no longer.  A key is read
 * at that time, and is kept in the arena of the turn alone.
 */
#ifndef LLM_API_REQUEST_H
#define LLM_API_REQUEST_H

#include "base/secret_mask.h"
#include "llm/models.h"
#include "llm/provider.h"

struct api_request {
	struct endpoint endpoint;
	struct str body;
	struct str key; /* "" = none */
};

struct api_requests {
	struct api_request *at;
	size_t count;
	const struct run_api_options *options; /* in the arena */
	const struct secret_mask *mask;        /* finds the keys; NULL = there are none */
	int64_t turn;                          /* from 1, for errors */
};

/* Fails with INVALID, TOO_LARGE or UNAUTHENTICATED, naming provider and model.  Everything is in the
 * arena. */
MUST_CHECK bool api_requests_make(const struct models *models, const struct llm_call *call,
				  struct arena *arena, struct api_requests *out_requests,
				  struct error *error);
const struct run_api_options *api_options_read(const struct json *options, struct arena *arena,
					       struct problems *problems);
/* Puts provider, model and turn in front of the error's text. */
void api_request_blame(const struct api_requests *requests, const struct api_request *request,
		       struct error *error);

#endif
