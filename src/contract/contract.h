/* contract/contract.h -- typed values made from rows: read, checked, defaulted and printed.
 *
 * Every entity, enum and union is declared once, as rows in contracts/<module>.def (the grammar
 * is in contracts/README.md).  A module's header expands its rows into plain C types and doors:
 *
 *	ENTITY x   struct x { struct x_is is; ...members...; };
 *	           const struct type *x_type(void);
 *	           struct x *x_new(struct arena *arena);
 *	           void x_make(struct x *value, struct arena *arena,
 *	                       const struct contract_world *world);
 *	           const struct x *x_parse(const struct contract_source *source,
 *	                                   struct arena *arena, struct problems *problems);
 *	           void x_print(const struct x *value, struct json_writer *writer);
 *	           struct str x_text(const struct x *value, struct arena *arena);
 *	           struct x_list { const struct x *at; size_t count; };
 *	           struct x_map { const struct x_entry *at; size_t count; };  at[i].key, .value
 *	UNION x    struct x { enum x_kind kind; union { ...a pointer a case... } as; }; the same
 *	           doors but x_new and x_make
 *	ENUM x     enum x { ... }; struct str x_name(enum x value);
 *	           bool x_from(struct str word, enum x *out); size_t x_count(void);
 *	module m   m_module_types[], m_module_type_count: every type of the rows
 *
 * x_new gives a value with all defaults and marks; x_make fills in the GENERATED members that are
 * still absent and runs COMPUTE, for values that code makes.
 *
 * x_parse gives NULL when it found problems; it finds all of them in one go, each with a JSON
 * pointer and a place.  A parsed value borrows from the tree, and so from the source text, that
 * it was read from: they must live as long as the value.
 *
 * Presence.  value->is.field is one of enum mark.  Code writes a member with SET, which writes
 * the mark too: a NULLABLE member written without SET prints as null.  Nested values are const
 * pointers, because defaults are shared; to change one, make a new one.  Printing a value whose
 * REQUIRED or GENERATED member was never set is our own bug and fails a require().
 *
 * State: what is derived from the rows (default images, name indexes, compiled patterns) is
 * built once for each type, under a lock, at first use or by contract_init(); after that it is
 * only read, so every function here may be called from any thread.
 */
#ifndef CONTRACT_CONTRACT_H
#define CONTRACT_CONTRACT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/str.h"
#include "base/uuid.h"

/* ---- presence ------------------------------------------------------------------------- */

enum mark {
	ABSENT,    /* nothing there; an OPTIONAL member is left out when printed */
	IS_NULL,   /* null */
	DEFAULTED, /* the row's default */
	GIVEN,     /* given by the document, made, computed or SET */
};

/* `value` is evaluated twice.  The last argument may contain commas. */
#define SET(value, field, ...) \
	((void)((value)->field = (__VA_ARGS__)), (void)((value)->is.field = GIVEN))
#define SET_NULL(value, field) ((void)((value)->is.field = IS_NULL))
#define has(value, field)      ((value)->is.field >= DEFAULTED)

/* ---- values that are more than plain C ------------------------------------------------ */

/* A reference to a secret, "env:NAME" or "file:path", never the secret itself.  A type of its
 * own, so that it cannot be handed to what takes text. */
struct secret {
	struct str reference;
};

/* What a KEPT entity did not know, in the order it came: member `kept_fields`. */
struct contract_kept {
	const struct json_member *at;
	size_t count;
};

/* Two macros that do not call each other, because `bool` is a macro too. */
#define CONTRACT_SCALAR_LIST(name, item) \
	struct name##_list {             \
		item const *at;          \
		size_t count;            \
	};
#define CONTRACT_SCALAR_MAP(name, item)        \
	struct name##_entry {                  \
		struct str key;                \
		item value;                    \
	};                                     \
	struct name##_map {                    \
		const struct name##_entry *at; \
		size_t count;                  \
	};                                     \
	const struct type *name##_type(void);

struct type;
/* str_list is base/str.h's */
CONTRACT_SCALAR_MAP(str, struct str)
CONTRACT_SCALAR_LIST(int, int64_t)
CONTRACT_SCALAR_MAP(int, int64_t)
CONTRACT_SCALAR_LIST(real, double)
CONTRACT_SCALAR_MAP(real, double)
CONTRACT_SCALAR_LIST(bool, bool)
CONTRACT_SCALAR_MAP(bool, bool)
CONTRACT_SCALAR_LIST(time, int64_t)
CONTRACT_SCALAR_MAP(time, int64_t)
CONTRACT_SCALAR_LIST(uuid, struct uuid)
CONTRACT_SCALAR_MAP(uuid, struct uuid)
CONTRACT_SCALAR_LIST(hash, struct hash)
CONTRACT_SCALAR_MAP(hash, struct hash)
CONTRACT_SCALAR_LIST(secret, struct secret)
CONTRACT_SCALAR_MAP(secret, struct secret)
CONTRACT_SCALAR_LIST(object, const struct json *)
CONTRACT_SCALAR_MAP(object, const struct json *)
CONTRACT_SCALAR_LIST(any, const struct json *)
CONTRACT_SCALAR_MAP(any, const struct json *)

/* ---- problems ------------------------------------------------------------------------- */

struct problem {
	struct str pointer;    /* RFC 6901; "" is the document itself */
	uint32_t line, column; /* 1-based, in bytes; 0 when there is no source text */
	struct str text;
};

/* `{ .arena = &arena }` to begin with (without an arena the parse's own is used).  At most
 * LIMIT_PROBLEMS are listed, the rest are counted in `hidden`. */
struct problems {
	struct arena *arena;
	struct problem *at;
	size_t count, hidden;
};

/* For checks beyond the rows; the place as struct json keeps it for YAML, 0 when unknown. */
void problems_add(struct problems *problems, struct str pointer, uint32_t line, uint32_t column,
		  const char *format, ...) PRINTF_LIKE(5, 6);
/* One line each: "line:column /pointer: text". */
struct str problems_text(const struct problems *problems, struct arena *arena);
/* Fills `error` with the first problem, "(and N more)", its place and ERROR_INVALID; false.
 * Without problems: true, and the error stays untouched. */
bool problems_fail(const struct problems *problems, struct error *error);

/* ---- reading and printing ------------------------------------------------------------- */

/* Clock and dice for GENERATED fields, so that this room needs neither. */
struct contract_world {
	int64_t now; /* microseconds since 1970 UTC */
	void (*random)(void *context, void *bytes, size_t size);
	void *context;
};

struct contract_source {
	const struct json *json;
	struct str text; /* source text for places, may be empty */
	/* Stored events: unknown fields are ignored; unknown enum words are still problems. */
	bool lenient;
	/* May be NULL when no GENERATED field can be missing; a missing one is then a problem. */
	const struct contract_world *world;
};

/* The same as the typed doors, for those who walk tables. */
void *contract_new(const struct type *type, struct arena *arena);
void contract_make(const struct type *type, void *value, struct arena *arena,
		   const struct contract_world *world);
const void *contract_parse(const struct type *type, const struct contract_source *source,
			   struct arena *arena, struct problems *problems);
void contract_print(const struct type *type, const void *value, struct json_writer *writer);
struct str contract_text(const struct type *type, const void *value, struct arena *arena);
struct str contract_word(const struct type *type, uint32_t value);
bool contract_word_find(const struct type *type, struct str word, uint32_t *out_value);

/* For CHECK functions: `field` is the wire name of the member to blame, NULL the whole. */
struct check;
void check_fail(struct check *check, const char *field, const char *format, ...) PRINTF_LIKE(3, 4);

/* ---- the tables, for describers ------------------------------------------------------- */

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

typedef const struct type *type_function(void);

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

/* `for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++)` */
const struct field *type_fields(const struct type *type);
bool field_is_hook(const struct field *field);            /* no name, no value */
const struct type *field_type(const struct field *field); /* NULL for CONST and hooks */

/* Builds what is derived from the rows now instead of at first use. */
void contract_init(const struct type *const *types, size_t count);
/* Finds the mistakes in rows that a compiler cannot: see contracts/README.md. */
MUST_CHECK bool contract_self_test(const struct type *const *types, size_t count,
				   struct error *error);

/* JSON Schema 2020-12 of one type.  References are `prefix` and the wire name: "#/$defs/" or
 * "#/components/schemas/".  The first form is what Baton prints (all but OPTIONAL required),
 * the second what it takes; where the two differ the second's name ends in ".Input". */
void describe_schema(const struct type *type, struct str prefix, struct json_writer *writer);
void describe_schema_input(const struct type *type, struct str prefix, struct json_writer *writer);
bool describe_schema_differs(const struct type *type);

#endif
