/* contract/problem.h -- what is wrong with a document: every place, with a reason for people.
 *
 * A reader of a document adds to a list of problems and goes on, so that one answer names them all.
 * The texts live in the list's arena, or in that of the parse.
 */
#ifndef CONTRACT_PROBLEM_H
#define CONTRACT_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/str.h"

struct problem {
	struct str pointer;    /* RFC 6901; "" is the document itself */
	uint32_t line, column; /* 1-based, in bytes; 0 when there is no source text */
	struct str text;
};

/* `{ .arena = &arena }` to begin with (without an arena the parse's own is used).  At most
 * LIMIT_PROBLEMS are listed, the rest are counted in `hidden`. */
struct problems {
	struct arena *arena;
	struct problem *at;
	size_t count, hidden;
};

/* For checks beyond the rows; the place as struct json keeps it for YAML, 0 when unknown. */
void problems_add(struct problems *problems, struct str pointer, uint32_t line, uint32_t column,
		  const char *format, ...) PRINTF_LIKE(5, 6);
/* One line each: "line:column /pointer: text". */
struct str problems_text(const struct problems *problems, struct arena *arena);
/* Fills `error` with the first problem, "(and N more)", its place and ERROR_INVALID; false.
 * Without problems: true, and the error stays untouched. */
bool problems_fail(const struct problems *problems, struct error *error);

#endif
