/* tests/unit/contract/contract_support.h -- what every contract test needs: text in, value or problems out.
 */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "contract/type.h"
#include "sample.h"

struct outcome {
	const void *value; /* NULL when there were problems */
	struct problems problems;
	struct str lines; /* problems_text */
};

/* A world that counts: now is 1,000,000 us, the dice give 1, 2, 3 ... */
extern struct contract_world test_world;

struct outcome read_as(const struct type *type, struct str text, struct arena *arena);
struct outcome read_leniently(const struct type *type, struct str text, struct arena *arena);
/* Parses, and fails the test when that does not work. */
const void *read_good(const struct type *type, struct str text, struct arena *arena);
/* parse -> print -> parse -> print must give the same; the printed text comes back. */
struct str round_trip(const struct type *type, struct str text, struct arena *arena);

#define assert_str(got, expected)                                                                \
	do {                                                                                     \
		struct str got_ = (got), expected_ = (expected);                                 \
		cr_assert(str_equal(got_, expected_), "got      " STR_FMT "\nexpected " STR_FMT, \
			  STR_ARG(got_), STR_ARG(expected_));                                    \
	} while (0)
#define assert_lines(type, text, expected)                                   \
	do {                                                                 \
		AUTO(arena) arena_ = { 0 };                                  \
		struct outcome outcome_ = read_as((type), S(text), &arena_); \
		cr_assert(outcome_.value == NULL, "no problem in %s", text); \
		assert_str(outcome_.lines, S(expected));                     \
	} while (0)

#endif
