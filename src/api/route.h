/* api/route.h -- the routes of routes.def as a table, and the search for the route of a request.
 *
 * A path is split at its slashes before its segments are unescaped, so an escaped slash never
 * separates segments.  In a pattern, `{id}` matches a UUID, `{path}` one or more segments (all that
 * the rest of the pattern leaves), and any other name in braces one nonempty segment.  When several
 * patterns match, the one with the most fixed segments wins, whatever their order.
 */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "contract/run_key_types.h"

struct api_call;

typedef void route_plain(struct api_call *call);
/* Parses a request body into its entity; NULL with problems. */
typedef const void *route_parse(const struct contract_source *source, struct arena *arena,
				struct problems *problems);
typedef void route_body(struct api_call *call, const void *body);

enum route_kind {
	ROUTE_END,
	ROUTE_HTTP,         /* `plain`, or `parse` and `with_body` */
	ROUTE_SOCKET,       /* a WebSocket */
	ROUTE_QUERY,        /* modifies the row before: a query parameter */
	ROUTE_ANY_QUERY,    /* modifies the row before: parameters are not checked */
	ROUTE_NO_KEY,       /* modifies the row before: no API key needed */
	ROUTE_MAY_BE_EMPTY, /* modifies the row before: no body counts as {} */
};

struct route {
	enum route_kind kind;
	struct str method, path;
	struct str name; /* of the handler, or of the parameter */
	enum run_role role;
	route_plain *plain;
	type_function *takes; /* the body's type; NULL = no body */
	route_parse *parse;
	route_body *with_body;
};

/* "GET /api/runs/{id}": names the route in logs and in the scope of an idempotency key. */
struct str route_text(const struct route *route, struct arena *arena);
bool route_needs_key(const struct route *route);
/* True when a request without a body counts as {}. */
bool route_may_be_empty(const struct route *route);
bool route_changes(const struct route *route); /* neither GET nor OPTIONS */

/* Sets the call's route and the values of its path.  Fails with NOT_FOUND, with METHOD_NOT_ALLOWED
 * (call->allow is set), or with USAGE for invalid escapes.  OPTIONS matches every path. */
MUST_CHECK bool route_find(struct api_call *call, bool socket, struct error *error);
/* Reads the query parameters into the call.  USAGE for a parameter that the route does not have,
 * that occurs twice, or that cannot be unescaped. */
MUST_CHECK bool route_query(struct api_call *call, struct error *error);

#endif
