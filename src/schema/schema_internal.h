/* schema/schema_internal.h -- the compiled form of a schema; private to schema. */
#ifndef SCHEMA_INSIDE_H
#define SCHEMA_INSIDE_H

#include "base/map.h"
#include "schema/schema.h"

typedef bool format_check(struct str text);

struct schema_pattern {
	struct schema_pattern *next; /* in the list of all patterns */
	struct str text;
	void *code, *match; /* pcre2_code, pcre2_match_data */
};

struct schema_member {
	struct str key;
	struct schema_pattern *pattern; /* patternProperties */
	struct schema_node *node;
};

struct schema_members {
	struct schema_member *at;
	size_t count;
};

struct schema_nodes {
	struct schema_node **at;
	size_t count;
};

struct schema_needs {
	struct str key;
	struct str_list names;
};

enum {
	TYPE_NULL = 1,
	TYPE_BOOL = 2,
	TYPE_INTEGER = 4,
	TYPE_NUMBER = 8,
	TYPE_STRING = 16,
	TYPE_LIST = 32,
	TYPE_OBJECT = 64
};

/* One schema object or boolean. */
struct schema_node {
	const struct json *json;
	struct str pointer; /* in its document */
	struct str base;    /* URI that its references are relative to */
	bool draft7;
	bool always, never; /* the schemas true and false */
	bool checked_refs;
	unsigned types; /* 0 = any */
	const struct json *constant, *choices;
	const struct json *maximum, *minimum, *above, *below, *multiple;
	int64_t max_length, min_length, max_items, min_items, max_members, min_members; /* -1 */
	int64_t max_contains, min_contains;                                             /* -1 */
	bool unique;
	struct schema_pattern *pattern;
	format_check *format; /* NULL = none, or formats are not checked */
	struct str_list required;
	struct schema_needs *needs; /* dependentRequired */
	size_t needs_count;
	struct schema_members properties, patterns, dependents;
	struct schema_node *additional, *names, *contains, *not, *when, *then, *otherwise;
	struct schema_node *items, *unevaluated_items, *unevaluated_members;
	struct schema_nodes prefix, all, any, one;
	struct str ref, dynamic_ref;
	struct schema_node *target, *dynamic_target;
	struct str dynamic_anchor;
};

/* A node that has a URI. */
struct schema_place {
	struct schema_place *next;
	struct str uri; /* with its fragment */
	struct schema_node *node;
	bool dynamic;
};

struct schema_resource {
	struct schema_resource *next;
	struct str uri; /* without a fragment */
	const struct json *root;
	bool draft7;
};

struct schema {
	struct arena *arena;
	struct schema_node *root;
	struct schema_pattern *patterns;
	struct schema_place *places;
	struct schema_resource *resources;
	struct map by_json; /* JSON tree -> node */
	size_t node_count;
	bool tracks; /* the schema uses unevaluatedItems or unevaluatedProperties */
};

/* format.c: NULL = unknown. */
format_check *format_find(struct str name);

/* number.c */
bool number_is_multiple(const struct json *value, const struct json *of);
int number_compare(const struct json *a, const struct json *b); /* -1, 0 or 1 */
/* json_equal(), but an integer equals a double only if it is the same number. */
bool number_equal_trees(const struct json *a, const struct json *b);

/* pattern.c: the pcre2_code of a regular expression of ECMA-262; NULL = it is not valid or too
 * long. */
void *pattern_compile(struct str text);

/* keyword_kind.c: the bit of a type, 0 = unknown. */
unsigned keyword_kind_type_bit(struct str name);
/* false = the keyword is not one of those that check nothing themselves. */
bool keyword_kind(struct str key, enum json_kind *out_kind);

/* schema_vocabulary.c: the vocabularies that have keywords which check something. */
enum { VOCABULARY_APPLICATOR = 1, VOCABULARY_UNEVALUATED = 2, VOCABULARY_VALIDATION = 4 };
#define VOCABULARY_ALL 7u
/* Those that a meta-schema has in use; it may leave some out, or require unknown ones. */
unsigned schema_vocabulary_read(const struct json *meta, struct problems *problems);
unsigned schema_vocabulary_of(struct str keyword); /* 0 = always in use */

/* uri.c */
struct str uri_join(struct str base, struct str ref, struct arena *arena);
void uri_split(struct str uri, struct str *out_document, struct str *out_fragment);
/* The value at a JSON pointer with percent and ~ escapes; NULL = none. */
const struct json *uri_follow_pointer(const struct json *root, struct str fragment,
				      struct arena *arena);

#endif
