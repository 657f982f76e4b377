/* api/api_call.h -- one request on its way through the phases, from its arrival to its answer.
 *
 * The record belongs to router.c, which finds it by its exchange: a handler is given the record for
 * its call and keeps only the exchange, because the record is freed when the answer is given.
 * Everything here happens on the loop; only `read` is filled in by a reader's thread.
 */
#ifndef API_API_CALL_H
#define API_API_CALL_H

#include "active/executor_jobs.h"
#include "active/run_commands.h"
#include "api/api.h"
#include "api/route.h"
#include "base/limits.h"
#include "contract/runtime_types.h"

struct api;

/* The phases, in their order; api/phases.c has one function for each. */
enum api_phase {
	PHASE_MATCH,
	PHASE_HOST,
	PHASE_AUTHENTICATE,
	PHASE_AUTHORISE,
	PHASE_LIMIT,
	PHASE_READ,
	PHASE_PARSE,
	PHASE_RUN,
	PHASE_PRINT,
	PHASE_AUDIT,
	PHASE_COUNT,
};

enum phase_answer {
	PHASE_NEXT,
	PHASE_REFUSED, /* the error says why; it goes on with PHASE_PRINT */
	PHASE_WAITS,   /* somebody will go on with it: a reader's thread, or the handler's answer */
};

enum api_caller_kind {
	CALLER_NOBODY,   /* not asked for, or not known */
	CALLER_LOOPBACK, /* from this machine, where no key is asked for */
	CALLER_OWNER,    /* through baton.sock */
	CALLER_KEY,
};

struct api_caller {
	enum api_caller_kind kind;
	enum run_role role;
	struct uuid key; /* KEY */
	char label[LIMIT_NAME_BYTES + 1];
};

struct api_parameter {
	struct str name, value;
};

struct api_answer {
	int status;
	const struct http_header *headers;
	size_t header_count;
	struct str body;
	bool streams; /* the body follows piece by piece */
};

enum { REQUEST_ID_SIZE = 129, TRACE_SIZE = 56 };

/* One request, from its arrival until its answer is given; streams and sockets until they end.
 * A handler is given it for the call and names it by its exchange afterwards. */
struct api_call {
	struct executor_read read; /* first: a long body is parsed on a reader's thread */
	struct arena *arena;       /* the record's own: good until the answer */
	struct api *api;
	uint64_t exchange;
	const struct http_request *request; /* for the handler's call; then NULL */
	const struct route *route;          /* NULL while none is found */
	enum api_phase phase;
	bool running;        /* its handler is being called */
	bool over;           /* answered while the handler was running: freed behind it */
	bool gone;           /* nobody waits for the answer any more */
	bool begun;          /* a stream or a socket */
	uint64_t connection; /* its id in api->streams or api->sockets; 0 = neither */

	/* From the path and the query. */
	struct uuid id;                               /* {id} */
	struct str path;                              /* {path} */
	struct api_parameter names[LIMIT_PATH_NAMES]; /* any other: api_name() */
	size_t name_count;
	struct api_parameter query[LIMIT_QUERY_PARAMETERS]; /* api_query() */
	size_t query_count;
	struct str allow; /* methods of the path */

	struct api_caller caller;
	struct idempotency_key key; /* Idempotency-Key, in its scope; key "" when there is none */
	char trace[TRACE_SIZE];     /* a good traceparent, or "" */
	char request_id[REQUEST_ID_SIZE];
	char subject[UUID_TEXT_SIZE]; /* what it was about, for the audit */
	int retry_after;              /* seconds; 0 = not said */

	const void *body; /* parsed */
	struct problems problems;
	struct error error;
	struct http_request kept; /* a copy, when the request must outlive its arrival */
	struct api_answer answer;
};

/* router.c */
struct api_call *api_call_of(const struct api *api, uint64_t exchange); /* NULL when gone */
/* Goes on with the phase it is at. */
void api_call_advance(struct api_call *call);
void api_call_free(struct api_call *call);

/* phases.c */
typedef enum phase_answer phase_function(struct api_call *call, struct error *error);
extern phase_function *const api_phases[PHASE_COUNT];

/* reply.c */
phase_function api_print_answer, api_audit_answer;
/* Sets the answer to the error's problem. */
void api_answer_error(struct api_call *call, const struct error *error,
		      const struct problems *problems);

#endif
