/* tests/unit/contract_pipeline/pipeline_support.h -- text in, value or problems out. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <criterion/criterion.h>
#include <string.h>

#include "base/buf.h"
#include "contract/pipeline_types.h"
#include "contract/pipeline_v1_types.h"
#include "contract/type.h"

/* Both modules' types, one after the other; NULL after the last. */
const struct type *type_at(size_t index);
const struct type *type_named(struct str name); /* NULL when there is none */

/* Parses; `out_lines` gets the problems, one a line.  The dice give 1, 2, 3 ... */
const void *read_as(const struct type *type, struct str text, struct arena *arena,
		    struct str *out_lines);
/* Parses, and fails the test when that does not work. */
const void *read_good(const struct type *type, struct str text, struct arena *arena);
/* What parsing and printing makes of a document; printing it once more must give the same. */
struct str reprint(const struct type *type, struct str text, struct arena *arena);

#define assert_str(got, expected)                                                                \
	do {                                                                                     \
		struct str got_ = (got), expected_ = (expected);                                 \
		cr_assert(str_equal(got_, expected_), "got      " STR_FMT "\nexpected " STR_FMT, \
			  STR_ARG(got_), STR_ARG(expected_));                                    \
	} while (0)

/* A document and the problems it has, exactly. */
struct bad {
	const char *type, *text, *lines;
};

void assert_bad(const struct bad *rows, size_t count);

#endif
