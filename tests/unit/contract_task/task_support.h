/* tests/unit/contract_task/task_support.h -- documents from files, read as the type they are named for.
 */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <criterion/criterion.h>

#include "contract/task_types.h"
#include "contract/type.h"

struct outcome {
	const void *value; /* NULL when there were problems */
	struct problems problems;
	struct str lines; /* problems_text */
};

/* The module's type of that wire name; the test fails when there is none. */
const struct type *type_named(struct str name);
/* A file of this folder, and the tree of a JSON text. */
struct str file_text(const char *name, struct arena *arena);
const struct json *tree_of(struct str text, struct arena *arena);

/* Every read has a world of its own: now is 1,000,000 us, the dice give 1, 2, 3 ... */
struct outcome read_tree(const struct type *type, const struct json *json, struct str text,
			 struct arena *arena);
struct outcome read_text(const struct type *type, struct str text, struct arena *arena);
/* Reads and prints; the test fails when there are problems. */
struct str printed(const struct type *type, struct str text, struct arena *arena);

/* The object with one member replaced or added; with value.at NULL without that member. */
struct str object_with(const struct json *object, struct str key, struct str value,
		       struct arena *arena);
/* The smallest good document of that type, from defaults.json. */
const struct json *least_of(struct str name, struct arena *arena);

#define assert_str(got, expected)                                                                \
	do {                                                                                     \
		struct str got_ = (got), expected_ = (expected);                                 \
		cr_assert(str_equal(got_, expected_), "got      " STR_FMT "\nexpected " STR_FMT, \
			  STR_ARG(got_), STR_ARG(expected_));                                    \
	} while (0)
#define assert_lines(type, text, expected)                                     \
	do {                                                                   \
		AUTO(arena) arena_ = { 0 };                                    \
		struct outcome outcome_ = read_text((type), S(text), &arena_); \
		cr_assert(outcome_.value == NULL, "no problem in %s", text);   \
		assert_str(outcome_.lines, S(expected));                       \
	} while (0)

#endif
