/* schema/schema.h -- JSON Schema: 2020-12, or draft 7 if `$schema` says so.
 *
 * A schema is compiled once and then checked against any number of values.  Compiling reports the
 * problems of the schema itself (keywords with a wrong type, invalid patterns, broken references);
 * checking reports all problems of a value.  Each problem has a JSON pointer.
 *
 *	const struct schema *schema;
 *	if (!schema_compile(json, NULL, &arena, &schema, &problems)) ...
 *	if (!schema_check(schema, value, &arena, &problems)) ...
 *	schema_done(schema);
 *
 * References resolve within the document, by `$id` and anchor, or to the documents of the library;
 * nothing is fetched.  Cycles of references are allowed if they descend into the value; a cycle
 * that does not is reported when a value is checked.  `format` (unless asked for), `content*` and
 * unknown keywords are ignored.  If `$schema` of the root names a document of the library with `$vocabulary`, keywords of
 * other vocabularies are ignored, and an unknown vocabulary that is required is a problem.
 * Patterns are those of ECMA-262 (pattern.c); PCRE2 matches them with a match limit, and a
 * pattern that exceeds it does not match.  Numbers are compared and divided exactly: integers of 64
 * bits, and doubles as the shortest decimal number that they print as.  limits.def bounds depth and
 * steps.
 *
 * Threads: one thread at a time may use a compiled schema, because it contains PCRE2's match data.
 */
#ifndef SCHEMA_SCHEMA_H
#define SCHEMA_SCHEMA_H

#include "contract/contract.h"

struct schema;

/* A document that references can address by its URI. */
struct schema_document {
	struct str uri;
	const struct json *json;
};

struct schema_library {
	const struct schema_document *at;
	size_t count;
};

/* Compiles a schema.  The JSON trees must live as long as the schema.  Everything is in the arena
 * except the patterns, which schema_done() frees. */
MUST_CHECK bool schema_compile(const struct json *json, const struct schema_library *library,
			       struct arena *arena, struct schema **out_schema,
			       struct problems *problems);
/* The same, and `format` is checked if `formats`: date-time, date, time, ipv4, ipv6, hostname, uuid,
 * json-pointer, regex.  Another format is then a problem of the schema. */
MUST_CHECK bool schema_compile_formats(const struct json *json,
				       const struct schema_library *library, bool formats,
				       struct arena *arena, struct schema **out_schema,
				       struct problems *problems);
/* Checks a value; false when it has problems. */
MUST_CHECK bool schema_check(struct schema *schema, const struct json *value, struct arena *arena,
			     struct problems *problems);
void schema_done(struct schema *schema); /* may be NULL */

#endif
