/* contract/contract_internal.h -- what the files of this room share; no other room includes it.
 *
 * ready.c derives from a type's rows what reading and printing need, parse.c walks a tree,
 * parse_union.c picks cases, parse_value.c reads the leaves, problem.c collects what is wrong.
 */
#ifndef CONTRACT_ENGINE_H
#define CONTRACT_ENGINE_H

#include <regex.h>

#include "base/limits.h"
#include "contract/type.h"

/* A name under which a row is found.  `row` is the index of the field, word or case. */
struct ready_name {
	struct str name;
	uint32_t row;
	bool old; /* an alias or old spelling: read, never suggested */
};

/* Derived from the rows once, then only read. */
struct type_ready {
	/* entities, one item a row */
	const struct field *fields;
	size_t field_count;
	const struct type **of;
	const regex_t **patterns; /* NULL where there is none */
	const void *image;        /* a value with all defaults */
	bool has_tag_in, has_hooks;
	/* unions, one item a case: whether the entity prints the tag itself */
	const bool *tag_inside;
	size_t other; /* index of the OTHER case, SIZE_MAX when there is none */
	/* entities, enums, unions: sorted */
	const struct ready_name *names;
	size_t name_count;
	struct str mistake; /* the first mistake in the rows, without the type's name */
};

/* NULL only while this very type is being built: its default contains itself. */
const struct type_ready *type_ready(const struct type *type);
bool ready_find(const struct type_ready *ready, struct str name,
		const struct ready_name **out_name);
struct str ready_closest(const struct type_ready *ready, struct str word); /* "" when none is */

/* ---- reading --------------------------------------------------------------------------- */

/* Where the reader stands: a list of steps on the C stack, made text only for a problem. */
struct path {
	const struct path *up;
	struct str key;
	size_t index; /* when key.at is NULL */
	size_t depth;
};

struct parse {
	struct arena *arena;
	struct problems *problems;
	const struct contract_world *world;
	bool lenient;
	size_t room; /* bytes that values may still take */
};

struct check {
	struct parse *parse;
	const struct path *path;
	const struct json *json;
};

struct path path_key(const struct path *up, struct str key);
struct path path_index(const struct path *up, size_t index);

struct place {
	uint32_t line, column;
};

static inline struct place place_of(const struct json *json)
{
	return (struct place){ json->line, json->column };
}

void problem_add(struct parse *parse, const struct path *path, struct place place,
		 const char *format, ...) PRINTF_LIKE(4, 5);
/* True when the list is full: then the problem is counted here and needs no text. */
bool problem_hide(struct parse *parse);
/* Turns the byte offsets of problems from `first` on into lines in one pass over the text. */
void problems_locate(struct problems *problems, size_t first, struct str text);
/* For texts: quoted, escaped and cut; and a node as "got": `integer 5`, `string "abc"`. */
struct str quoted(struct arena *arena, struct str s);
struct str json_said(struct arena *arena, const struct json *json);

/* Where a value's rules come from. */
struct rules {
	const struct field *field; /* NULL: none */
	const regex_t *pattern;
};

/* A value that stands in place: a list's item, a map's value, what a ONE points to. */
struct slot {
	const struct type *type;
	struct rules rules;
	struct str tag;  /* TAG_IN: the case, when tag.at is not NULL */
	struct str skip; /* a member that belongs to the union around, not to the entity */
};

void parse_slot(struct parse *parse, const struct path *path, const struct slot *slot,
		const struct json *json, void *out);
void parse_union(struct parse *parse, const struct path *path, const struct slot *slot,
		 const struct json *json, void *out);
/* Zeroed memory for values; NULL and a problem when the document asks for too much. */
void *parse_take(struct parse *parse, const struct path *path, const struct json *json,
		 size_t count, size_t size);
/* The problem "must be <expected>, got ..."; false. */
bool parse_wrong(struct parse *parse, const struct path *path, const struct json *json,
		 const char *expected);
/* One scalar or enum into `out`; false and a problem when it is not right. */
bool parse_leaf(struct parse *parse, const struct path *path, const struct type *type,
		struct rules rules, const struct json *json, void *out);
bool parse_length(struct parse *parse, const struct path *path, const struct field *field,
		  const struct json *json, size_t count);
/* UNIQUE: `items` are `count` values of `type`, the list `json` they came from. */
void parse_unique(struct parse *parse, const struct path *path, const struct type *type,
		  const struct json *json, const void *items);
/* One member of an entity, whatever its shape; `tag` is what TAG_IN's sibling says. */
bool parse_member(struct parse *parse, const struct path *path, const struct field *field,
		  struct rules rules, struct str tag, const struct json *json, void *value);
void make_field(const struct field *field, void *value, struct arena *arena,
		const struct contract_world *world);

/* ---- members --------------------------------------------------------------------------- */

/* Lists and maps of every type have this layout; members are copied, never cast. */
struct span {
	const void *at;
	size_t count;
};

static inline void *member_of(void *value, const struct field *field)
{
	return (char *)value + field->offset;
}

static inline const void *member_read(const void *value, const struct field *field)
{
	return (const char *)value + field->offset;
}

static inline enum mark mark_read(const void *value, const struct field *field)
{
	return (enum mark)((const uint8_t *)value)[field->mark];
}

static inline void mark_write(void *value, const struct field *field, enum mark mark)
{
	((uint8_t *)value)[field->mark] = (uint8_t)mark;
}

static inline bool kind_is_pointed(enum type_kind kind)
{
	return kind == KIND_ENTITY || kind == KIND_UNION;
}

#endif
