/* contract/problem.h -- the list of problems of a document, each with its place and a text.
 *
 * A parser adds to the list and continues, so that one response reports every problem.  The texts
 * live in the arena of the list or in the arena of the parse.
 */
#ifndef CONTRACT_PROBLEM_H
#define CONTRACT_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/str.h"

/* What a check knows of the text at the place of a problem, and of how to mend it.  Only a reader of the
 * text can make a range and an edit of it (definition/problem_range.h). */
struct problem_hint {
	struct str word; /* what is wrong, as the text has it; "" = what begins at the place */
	uint32_t skip;   /* occurrences of the word between the place and the wrong one */
	struct str replacement; /* of the word; "" = none is known */
	struct str dependency;  /* a step that depends_on lacks; "" = none */
	bool is_list; /* dependency: line and column are those of the list, not of the step */
	uint32_t line, column; /* dependency: where it is added */
};

/* A replacement of a part of the text that mends a problem. */
struct problem_fix {
	struct str title; /* "" = there is none */
	uint32_t line, column, end_line, end_column;
	struct str text;
};

struct problem {
	struct str pointer; /* RFC 6901; "" is the document itself */
	uint32_t line,
		column; /* 1-based, in characters of YAML, in bytes of JSON; 0 = no source text */
	uint32_t end_line, end_column; /* behind the last character; 0 = not known */
	struct str text;
	bool configuration; /* of what the installation has configured, not of the document */
	struct problem_hint hint;
	struct problem_fix fix;
};

/* Initialize with `{ .arena = &arena }`; with a NULL arena, the parse's arena is used.  The list has
 * at most LIMIT_PROBLEMS items; `hidden` counts the rest. */
struct problems {
	struct arena *arena;
	struct problem *at;
	size_t count, hidden;
};

/* Adds a problem that a check outside the rows has found.  Line and column are those of struct json
 * for YAML, 0 when unknown.  NULL when the list is full. */
struct problem *problems_add(struct problems *problems, struct str pointer, uint32_t line,
			     uint32_t column, const char *format, ...) PRINTF_LIKE(5, 6);
/* Notes which word is wrong and what should stand there; nothing for a NULL problem.  Both texts live as long
 * as the problem. */
void problem_suggest(struct problem *problem, struct str word, struct str replacement);
/* Adds a problem of the configuration; it has no place in the document. */
void problems_add_configuration(struct problems *problems, const char *format, ...)
	PRINTF_LIKE(2, 3);
/* One line each: "line:column /pointer: text". */
struct str problems_text(const struct problems *problems, struct arena *arena);
/* If there are problems, fills `error` with ERROR_INVALID, or ERROR_CONFIGURATION if all of them are, the first problem with its place and
 * "(and N more)", and returns false.  Otherwise returns true and leaves the error unchanged. */
bool problems_fail(const struct problems *problems, struct error *error);

#endif
