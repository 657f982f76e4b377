/* api/api_call.h -- one HTTP request between its arrival and its response.
 *
 * router.c owns the record and finds it by its exchange id.  A handler gets the record for the
 * duration of the call and keeps only the exchange id, because the record is freed with the
 * response.  All fields belong to the loop's thread, except while a reader thread parses a long
 * body (`read`).
 */
#ifndef API_API_CALL_H
#define API_API_CALL_H

#include "active/executor_jobs.h"
#include "active/run_commands.h"
#include "api/api.h"
#include "api/route.h"
#include "base/limits.h"

struct api;

/* The phases in their order; api_phases[] has one function for each. */
enum api_phase {
	PHASE_MATCH,
	PHASE_HOST,
	PHASE_AUTHENTICATE,
	PHASE_AUTHORIZE,
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
	PHASE_REFUSED, /* `error` is set; continue with PHASE_PRINT */
	PHASE_WAITS,   /* a reader thread or the handler's response continues the call */
};

enum api_caller_kind {
	CALLER_NOBODY,   /* not authenticated */
	CALLER_LOOPBACK, /* over loopback without a key */
	CALLER_OWNER,    /* through baton.sock */
	CALLER_KEY,
};

struct api_caller {
	enum api_caller_kind kind;
	enum run_role role;
	struct uuid key; /* CALLER_KEY */
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
	bool streams; /* the body follows in pieces */
};

enum { REQUEST_ID_SIZE = 129, TRACE_SIZE = 56 };

/* Lives until the response is sent; the record of a stream or WebSocket lives until that ends. */
struct run_problem;

struct api_call {
	struct executor_read read; /* first: parses a long body on a reader thread */
	struct arena *arena;       /* freed with the record */
	struct api *api;
	uint64_t exchange;
	const struct http_request *request; /* NULL after the handler returned */
	const struct route *route;          /* NULL before PHASE_MATCH, or when none matches */
	enum api_phase phase;
	bool running;        /* the handler is on the stack */
	bool over;           /* responded inside the handler: freed when the handler returns */
	bool gone;           /* the client has disconnected */
	bool begun;          /* became a stream or a WebSocket */
	uint64_t connection; /* id in api->streams or api->sockets; 0 = neither */

	/* From the path and the query. */
	struct uuid id;                               /* {id} */
	struct str path;                              /* {path} */
	struct api_parameter names[LIMIT_PATH_NAMES]; /* any other name: api_name() */
	size_t name_count;
	struct api_parameter query[LIMIT_QUERY_PARAMETERS]; /* api_query() */
	size_t query_count;
	struct str allow; /* methods of the path, for the Allow header */

	struct api_caller caller;
	struct idempotency_key key; /* Idempotency-Key with its scope; key.key "" = none */
	char trace[TRACE_SIZE];     /* a valid traceparent, or "" */
	char request_id[REQUEST_ID_SIZE];
	char subject[UUID_TEXT_SIZE]; /* id of the affected object, for the audit log */
	int retry_after;              /* seconds; 0 = no Retry-After */

	const void *body;         /* parsed */
	struct arena body_memory; /* of a long body: its text and tree; empty for a short one */
	struct problems problems;
	struct run_problem *problem; /* attributes of the error response; NULL = none */
	struct error error;
	struct http_request kept; /* copy of a request that is parsed on a reader thread */
	struct api_answer answer;
};

/* router.c */
struct api_call *api_call_of(const struct api *api, uint64_t exchange); /* NULL when freed */
/* Runs the phases from call->phase on, until one waits or the response is sent. */
void api_call_advance(struct api_call *call);
void api_call_free(struct api_call *call);

/* phases.c */
typedef enum phase_answer phase_function(struct api_call *call, struct error *error);
extern phase_function *const api_phases[PHASE_COUNT];

/* reply.c */
phase_function api_print_answer, api_audit_answer;
/* The error response of this call, on which a handler may set attributes before it replies. */
struct run_problem *api_problem(struct api_call *call);
/* Sets call->answer to the problem document of the error. */
void api_answer_error(struct api_call *call, const struct error *error,
		      const struct problems *problems);

#endif
