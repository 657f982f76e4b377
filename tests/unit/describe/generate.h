/* tests/unit/describe/generate.h -- documents made from the rows alone.
 *
 * What the rows say about a value is enough to make one, so every entity gets its documents
 * without anybody writing them.  Only what CHECK rows say is beyond it: fix_ups.def helps.
 */
#ifndef GENERATE_H
#define GENERATE_H

#include "contract/type.h"

enum fullness {
	MINIMAL, /* only what must be there */
	FULL,    /* every field that may be given, every case of a union in lists of it */
};

/* A whole document of an entity or union. */
struct json *generate(const struct type *type, enum fullness fullness, struct arena *arena);
/* A value for one field, good by its rules. */
struct json *generate_field(const struct field *field, enum fullness fullness, struct arena *arena);
/* The case of a union as a document of it. */
struct json *generate_case(const struct type *type, size_t index, enum fullness fullness,
			   struct arena *arena);

/* ---- trees ------------------------------------------------------------------------------ */

struct json json_parse_own(struct str text, struct arena *arena); /* JSON text, must be good */
struct json json_string(struct str text);
/* A copy with the member set, added at the end when it was not there, or (NULL) taken out. */
struct json *json_with(const struct json *object, struct str key, const struct json *value,
		       struct arena *arena);

/* Whether the text matches, read as the engine reads patterns. */
bool pattern_fits(const char *pattern, struct str text, struct arena *arena);

#endif
