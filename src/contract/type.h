/* contract/type.h -- the tables that rows become, for those who walk every field of a type.
 *
 * contract/tables.h makes one const `struct type` of each ENTITY, ENUM and UNION; the reader, the
 * printer and the describers are written against these tables alone.  A type is found by its
 * x_type() or, by its wire name, through contract/modules.h.
 *
 *	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++)
 *
 * The tables never change.  `state` points at what is derived from them at first use, under a
 * lock; contract_init() derives it at once.
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
	SHAPE_END,     /* the row after the last */
	SHAPE_ONE,     /* scalars and enums in place, entities and unions a const pointer */
	SHAPE_LIST,    /* { at, count } of values */
	SHAPE_MAP,     /* { at, count } of { key, value } */
	SHAPE_CONST,   /* no member; always the string `constant` */
	SHAPE_CHECK,   /* no member: a hook */
	SHAPE_COMPUTE, /* no member: a hook */
};

enum presence {
	PRESENCE_NULLABLE, /* no other word was said; a mistake unless `nullable` */
	PRESENCE_REQUIRED,
	PRESENCE_OPTIONAL,
	PRESENCE_DEFAULT,
	PRESENCE_MADE,
	PRESENCE_COMPUTED, /* ignored on input, null while not computed */
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
	type_function *of;    /* the value's type, an item's type */
	size_t offset, mark;  /* of the member and of its mark */
	struct str fallback;  /* DEFAULT's JSON text */
	struct str constant;  /* CONST's string */
	struct str prefix;    /* in front of what is GENERATED */
	struct str alias;     /* read too, never printed */
	struct str tag_in;    /* the sibling that tells the union's case */
	const char *pattern;  /* POSIX extended */
	double low, high;     /* numbers; items when a list */
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
	type_function *of; /* NULL: OTHER, the case that keeps unknown objects as a tree */
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
	size_t entry_size, entry_value; /* of a map's entry; where its value is */
	struct type_state *state;
	/* entities */
	enum openness openness;
	size_t kept;                         /* offset of kept_fields, 0 when there is none */
	const struct field *(*fields)(void); /* rows, ended by SHAPE_END; type_fields() */
	/* enums; a word's index is its value */
	const struct enum_word *words;
	size_t word_count;
	const struct enum_old *olds; /* ended by an empty name */
	/* unions; a case's index is its kind */
	struct str tag; /* empty: told by TAG_IN */
	const struct union_case *cases;
	size_t case_count;
	size_t as; /* offset of the pointer */
};

const struct field *type_fields(const struct type *type);
bool field_is_hook(const struct field *field);            /* no name, no value */
const struct type *field_type(const struct field *field); /* NULL for CONST and hooks */

#endif
