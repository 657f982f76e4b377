/* contract/describe_routes.h -- the rows of routes.def as a table, for the reference documents.
 *
 * The table has the order of the rows: a route or a socket, followed by the rows that belong to it
 * (ROUTES_OF iterates over those).  The server's own table, with the handlers, is in api/route.c.
 */
#ifndef CONTRACT_DESCRIBE_ROUTES_H
#define CONTRACT_DESCRIBE_ROUTES_H

#include "contract/type.h"

enum route_row_kind {
	ROUTE_ROW_END,
	ROUTE_ROW_DOOR,
	ROUTE_ROW_SOCKET,
	/* These belong to the route or socket before them: */
	ROUTE_ROW_QUERY,
	ROUTE_ROW_ALSO,
	ROUTE_ROW_NO_KEY,
	ROUTE_ROW_MAY_BE_EMPTY,
};

enum route_row_answer {
	ROUTE_ANSWER_ONE,
	ROUTE_ANSWER_LIST,
	ROUTE_ANSWER_EVENTS,
	ROUTE_ANSWER_BYTES,
	ROUTE_ANSWER_NOTHING,
};

struct route_row {
	enum route_row_kind kind;
	const char *method, *path, *name, *text;
	size_t role; /* in role_rows */
	type_function *takes;
	/* DOOR and ALSO: the answer; QUERY: `of` is the parameter's type */
	enum route_row_answer answer;
	type_function *of;
	const char *media;
	int status;
};

extern const struct route_row route_rows[]; /* the last is ROUTE_ROW_END */

bool route_row_belongs(const struct route_row *row); /* to the route or socket before it */
#define ROUTES_OF(row, item) \
	for (const struct route_row *item = (row) + 1; route_row_belongs(item); item++)
bool route_row_needs_key(const struct route_row *row);
/* The next `{name}` of a path; false after the last. */
bool route_row_parameter(struct str *rest, struct str *out_name);
/* The operation id: the handler's name.  When several routes share a handler, the later ones add the
 * first parameter of their path. */
struct str route_row_operation(const struct route_row *row, struct arena *arena);

struct role_row {
	const char *word, *text;
};

extern const struct role_row role_rows[]; /* the last has no word */

#endif
