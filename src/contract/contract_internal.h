/* contract/contract_internal.h -- declarations shared by the files of this room; no other room
 * includes it.
 *
 * type_index.c derives indexes, patterns and default images from the rows of a type; parse.c walks
 * a JSON tree; parse_union.c selects the case of a union; parse_value.c reads scalars and enums;
 * problem.c collects the problems.
 */
#ifndef CONTRACT_ENGINE_H
#define CONTRACT_ENGINE_H

#include <regex.h>

#include "base/limits.h"
#include "contract/type.h"

/* An entry of a name index.  `row` is the index of the field, enum word or union case. */
struct ready_name {
	struct str name;
	uint32_t row;
	bool old; /* an alias or old spelling: accepted, never suggested */
};

/* The derived data of a type; immutable once it is built. */
struct type_ready {
	/* entities, one item per row */
	const struct field *fields;
	size_t field_count;
	const struct type **of;
	const regex_t **patterns; /* NULL where there is none */
	const void *image;        /* a value with all defaults */
	bool has_tag_in, has_hooks;
	/* unions, one item per case: whether the entity has the tag among its own fields */
	const bool *tag_inside;
	size_t other; /* index of the OTHER case, SIZE_MAX when there is none */
	/* entities, enums, unions: sorted */
	const struct ready_name *names;
	size_t name_count;
	struct str mistake; /* the first mistake in the rows, without the type's name; "" = none */
};

/* NULL only while this type is being built, that is, when its default contains itself. */
const struct type_ready *type_ready(const struct type *type);
bool ready_find(const struct type_ready *ready, struct str name,
		const struct ready_name **out_name);
struct str ready_closest(const struct type_ready *ready, struct str word); /* "" = none close */

/* ---- reading --------------------------------------------------------------------------- */

/* The position of the parser: a linked list on the C stack, formatted as a JSON pointer only when a
 * problem is reported. */
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
	size_t room; /* bytes that values may still allocate */
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

/* NULL when the list is full. */
struct problem *problem_add(struct parse *parse, const struct path *path, struct place place,
			    const char *format, ...) PRINTF_LIKE(4, 5);
/* True when the list is full: the problem is then only counted and needs no text. */
bool problem_hide(struct parse *parse);
/* Converts the byte offsets of problems from `first` on to lines and columns, in one pass over the
 * text. */
void problems_locate(struct problems *problems, size_t first, struct str text);
/* For problem texts.  quoted: a string in quotes, escaped and truncated.  json_said: the type and
 * value of a node, as in `integer 5` or `string "abc"`. */
struct str quoted(struct arena *arena, struct str s);
struct str json_said(struct arena *arena, const struct json *json);

/* The rules that a value must satisfy. */
struct rules {
	const struct field *field; /* NULL: none */
	const regex_t *pattern;
};

/* The destination of one value: an item of a list, a value of a map, or the target of a ONE. */
struct slot {
	const struct type *type;
	struct rules rules;
	struct str tag;  /* TAG_IN: the tag of the case; tag.at NULL = the object has its own tag */
	struct str skip; /* the tag of the enclosing union, which is no field of the entity */
};

void parse_slot(struct parse *parse, const struct path *path, const struct slot *slot,
		const struct json *json, void *out);
void parse_union(struct parse *parse, const struct path *path, const struct slot *slot,
		 const struct json *json, void *out);
/* Allocates zeroed memory for values; NULL and a problem when the document is too large. */
void *parse_take(struct parse *parse, const struct path *path, const struct json *json,
		 size_t count, size_t size);
/* Adds the problem "must be <expected>, got ..." and returns false. */
bool parse_wrong(struct parse *parse, const struct path *path, const struct json *json,
		 const char *expected);
/* Reads one scalar or enum into `out`; false and a problem when the value is not valid. */
bool parse_leaf(struct parse *parse, const struct path *path, const struct type *type,
		struct rules rules, const struct json *json, void *out);
bool parse_length(struct parse *parse, const struct path *path, const struct field *field,
		  const struct json *json, size_t count);
/* Checks UNIQUE: `items` are the values of `type` that were read from the list `json`. */
void parse_unique(struct parse *parse, const struct path *path, const struct type *type,
		  const struct json *json, const void *items);
/* Reads one member of an entity, whatever its shape; `tag` is the value of TAG_IN's sibling. */
bool parse_member(struct parse *parse, const struct path *path, const struct field *field,
		  struct rules rules, struct str tag, const struct json *json, void *value);
void make_field(const struct field *field, void *value, struct arena *arena,
		const struct contract_world *world);

/* ---- members --------------------------------------------------------------------------- */

/* The layout that lists and maps of every type share; members are copied, never cast. */
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
