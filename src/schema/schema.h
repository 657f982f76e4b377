/* schema/schema.h -- JSON Schema: 2020-12, or draft 7 where `$schema` says so.
 *
 * A schema is compiled once and checked against any number of values.  Compiling finds what is
 * wrong with the schema itself (keywords of the wrong shape, patterns that are none, references
 * that lead nowhere), each with its pointer; checking finds everything that is wrong with a value.
 *
 *	const struct schema *schema;
 *	if (!schema_compile(json, NULL, &arena, &schema, &problems)) ...
 *	if (!schema_check(schema, value, &arena, &problems)) ...
 *	schema_done(schema);
 *
 * References go within the document, by `$id` and anchor, or to the documents given with it; there
 * is no network.  Circles of references are fine as long as they lead into the value; one that does
 * not is a problem of the value's check.  `format`, `content*` and unknown keywords are not
 * checked.  Patterns are matched by PCRE2 under a match limit; one that takes too long does not
 * match.  Depth and steps are bounded by limits.def.
 *
 * Threads: a compiled schema may be used by one thread at a time (PCRE2's match data is its own).
 */
#ifndef SCHEMA_SCHEMA_H
#define SCHEMA_SCHEMA_H

#include "contract/contract.h"

struct schema;

/* A document that references may name by its address. */
struct schema_document {
	struct str uri;
	const struct json *json;
};

struct schema_library {
	const struct schema_document *at;
	size_t count;
};

/* Borrows the trees; everything else is in the arena except the patterns. */
MUST_CHECK bool schema_compile(const struct json *json, const struct schema_library *library,
			       struct arena *arena, struct schema **out_schema,
			       struct problems *problems);
/* False when anything is wrong with the value: each problem with its JSON pointer. */
MUST_CHECK bool schema_check(struct schema *schema, const struct json *value, struct arena *arena,
			     struct problems *problems);
void schema_done(struct schema *schema); /* NULL is fine */

#endif
