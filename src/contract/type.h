/* contract/type.h -- the tables that rows expand to, for code that walks every field of a type.
 *
 * contract/tables.h makes one const `struct type` of each ENTITY, ENUM and UNION.  The parser, the
 * printer and the reference documents use only these tables.  x_type() returns the type of x;
 * contract/modules.h finds a type by its wire name.
 *
 *	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++)
 *
 * The tables never change.  `state` points at the data that is derived from them, under a lock, at
 * first use or by contract_init().
 */
#ifndef CONTRACT_TYPE_H
#define CONTRACT_TYPE_H

#include <stdatomic.h>

#include "contract/contract.h"

enum type_kind {
	KIND_STR,
	KIND_INT,
	KIND_REAL,
	KIND_BOOL,
	KIND_TIME,
	KIND_UUID,
	KIND_HASH,
	KIND_SECRET,
	KIND_OBJECT,
	KIND_ANY,
	KIND_ENUM,
	KIND_ENTITY,
	KIND_UNION,
};

enum openness {
	CONTRACT_CLOSED, /* an unknown field is a problem */
	CONTRACT_WIRE,   /* ignored and not printed: foreign formats */
	CONTRACT_KEPT,   /* kept and printed back */
};

enum shape {
	SHAPE_END,     /* terminates the table */
	SHAPE_ONE,     /* scalars and enums inline, entities and unions by const pointer */
	SHAPE_LIST,    /* { at, count } of values */
	SHAPE_MAP,     /* { at, count } of { key, value } */
	SHAPE_CONST,   /* no struct member; the value is always the string `constant` */
	SHAPE_CHECK,   /* no struct member: a hook */
	SHAPE_COMPUTE, /* no struct member: a hook */
};

enum presence {
	PRESENCE_NULLABLE, /* the row has no other presence word; a mistake unless `nullable` */
	PRESENCE_REQUIRED,
	PRESENCE_OPTIONAL,
	PRESENCE_DEFAULT,
	PRESENCE_MADE,
	PRESENCE_COMPUTED, /* ignored on input, null until it is computed */
};

enum making { CONTRACT_MAKE_none, CONTRACT_MAKE_uuid4, CONTRACT_MAKE_uuid_hex, CONTRACT_MAKE_now };

struct field {
	struct str name; /* on the wire; empty in hooks */
	struct str text;
	enum shape shape;
	enum presence presence;
	enum making making;
	bool nullable, unique, deprecated;
	bool has_low, has_high, above; /* above: `low` itself is not allowed */
	bool has_length;
	type_function *of;    /* type of the value; of an item when a list or map */
	size_t offset, mark;  /* of the member and of its mark */
	struct str fallback;  /* JSON text of DEFAULT */
	struct str constant;  /* string of CONST */
	struct str prefix;    /* prefix of a GENERATED value */
	struct str alias;     /* second name: accepted, never printed */
	struct str tag_in;    /* the sibling field that has the tag of the union's case */
	const char *pattern;  /* POSIX extended regular expression */
	double low, high;     /* bounds of a number, or of each item when a list */
	uint64_t least, most; /* characters of text, items of a list or map */
	void (*check)(const void *value, struct check *check);
	void (*compute)(void *value);
};

struct enum_word {
	struct str name, text;
};

struct enum_old {
	struct str name;
	uint32_t value;
};

struct union_case {
	struct str tag, member;
	type_function *of; /* NULL: OTHER, the case that keeps an unknown object as a JSON tree */
};

struct type_ready; /* derived from the rows, contract/contract_internal.h */

struct type_state {
	_Atomic(const struct type_ready *) ready;
	bool building;
};

struct type {
	enum type_kind kind;
	struct str name, text; /* wire name */
	size_t size;
	size_t entry_size, entry_value; /* size of a map's entry; offset of the value in it */
	struct type_state *state;
	/* entities */
	enum openness openness;
	size_t kept;                         /* offset of kept_fields, 0 when there is none */
	const struct field *(*fields)(void); /* terminated by SHAPE_END; use type_fields() */
	/* enums; a word's index is its value */
	const struct enum_word *words;
	size_t word_count;
	const struct enum_old *olds; /* ENUM_ALIAS rows, terminated by an empty name */
	/* unions; a case's index is its kind */
	struct str tag; /* empty: the field that holds the union has TAG_IN */
	const struct union_case *cases;
	size_t case_count;
	size_t as; /* offset of the pointer */
};

const struct field *type_fields(const struct type *type);
bool field_is_hook(const struct field *field);            /* a hook has no name and no value */
const struct type *field_type(const struct field *field); /* NULL for CONST and hooks */

#endif
