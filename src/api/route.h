/* api/route.h -- the rows of routes.def as one table, and which row a request is for.
 *
 * A path is cut at its slashes and each segment is unescaped on its own, so an escaped slash is
 * never one of ours.  In a row's path `{id}` takes a UUID, `{path}` one or more segments, as many
 * as the row's tail leaves, and any other name in braces one segment that is not empty.  Of several
 * rows that fit, the one with more fixed segments is taken, whatever their order.
 */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "contract/run_types.h"

struct api_call;

typedef void route_plain(struct api_call *call);
/* The body of a request as its entity; NULL with problems. */
typedef const void *route_parse(const struct contract_source *source, struct arena *arena,
				struct problems *problems);
typedef void route_body(struct api_call *call, const void *body);

enum route_kind {
	ROUTE_END,
	ROUTE_DOOR,         /* plain, or parse and with_body */
	ROUTE_SOCKET,       /* becomes a WebSocket */
	ROUTE_QUERY,        /* of the row before: a parameter */
	ROUTE_ANY_QUERY,    /* of the row before: the parameters are none of ours */
	ROUTE_NO_KEY,       /* of the row before: open to everybody */
	ROUTE_MAY_BE_EMPTY, /* of the row before: no body is {} */
};

struct route {
	enum route_kind kind;
	struct str method, path;
	struct str name; /* of the handler, or of the parameter */
	enum run_role role;
	route_plain *plain;
	route_parse *parse;
	route_body *with_body;
};

/* "GET /api/runs/{id}": names a row in logs and in the scope of an idempotency key. */
struct str route_text(const struct route *route, struct arena *arena);
bool route_needs_key(const struct route *route);
/* A request without a body is one with {}. */
bool route_may_be_empty(const struct route *route);
bool route_changes(const struct route *route); /* its method is one that changes something */

/* Fills in the call's route and what its path says.  NOT_FOUND; METHOD_NOT_ALLOWED with the call's
 * `allow` filled in; USAGE for a path that cannot be unescaped.  OPTIONS fits every path. */
MUST_CHECK bool route_find(struct api_call *call, bool socket, struct error *error);
/* Reads the query into the call: USAGE for a parameter that the row does not take, that comes
 * twice, or that cannot be unescaped. */
MUST_CHECK bool route_query(struct api_call *call, struct error *error);

#endif
