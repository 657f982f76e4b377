/* contract/contract.h -- typed values that are declared as rows: parse, check, default and print.
 *
 * Every entity, enum and union is declared once, as rows in contracts/<module>.def (the grammar
 * is in contracts/README.md).  A module's header expands its rows into plain C types and functions:
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
 *	           const struct json *x_tree(const struct x *value, struct arena *arena);
 *	           struct x_list { const struct x *at; size_t count; };
 *	           struct x_map { const struct x_entry *at; size_t count; };  at[i].key, .value
 *	UNION x    struct x { enum x_kind kind; union { ...one pointer per case... } as; }; the
 *	           same functions except x_new and x_make
 *	ENUM x     enum x { ... }; struct str x_name(enum x value);
 *	           bool x_from(struct str word, enum x *out); size_t x_count(void);
 *	module m   m_module_types[], m_module_type_count: every type of the rows
 *
 * x_new returns a value with all defaults and presence marks.  x_make completes a value that code
 * has filled in: it generates the GENERATED members that are still absent and runs COMPUTE.
 *
 * x_parse returns NULL when the document has problems.  It reports all problems of the document,
 * each with a JSON pointer and a line and column.  A parsed value borrows from the JSON tree, and
 * therefore from the source text: both must live as long as the value.
 *
 * Presence.  value->is.field is one of enum mark.  Code writes a member with SET, which also writes
 * the mark: a NULLABLE member written without SET prints as null.  Nested values are const
 * pointers, because defaults are shared; to change one, make a new one.  Printing a value whose
 * REQUIRED or GENERATED member was never set is a bug of the program and fails a require().
 *
 * Threads: the data derived from the rows (default images, name indexes, compiled patterns) is
 * built once per type, under a lock, at first use or by contract_init().  It never changes
 * afterwards, so every function here may be called from any thread.
 *
 * contract/type.h has the tables themselves, for code that walks all fields of a type.
 */
#ifndef CONTRACT_CONTRACT_H
#define CONTRACT_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/str.h"
#include "base/uuid.h"
#include "contract/problem.h"

/* ---- presence ------------------------------------------------------------------------- */

enum mark {
	ABSENT,    /* no value; an OPTIONAL member is left out when printed */
	IS_NULL,   /* null */
	DEFAULTED, /* the default of the row */
	GIVEN,     /* given by the document, generated, computed or SET */
};

/* `value` is evaluated twice.  The last argument may contain commas. */
#define SET(value, field, ...) \
	((void)((value)->field = (__VA_ARGS__)), (void)((value)->is.field = GIVEN))
#define SET_NULL(value, field) ((void)((value)->is.field = IS_NULL))
#define has(value, field)      ((value)->is.field >= DEFAULTED)

/* ---- values that are more than plain C ------------------------------------------------ */

/* A reference to a secret, "env:NAME" or "file:path", never the secret itself.  It is a type of its
 * own, so that it cannot be passed by mistake where a text is expected. */
struct secret {
	struct str reference;
};

/* The unknown fields of a KEPT entity, in document order: member `kept_fields`. */
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

struct type; /* contract/type.h */
typedef const struct type *type_function(void);

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

/* ---- reading and printing ------------------------------------------------------------- */

/* The time and the random bytes for GENERATED fields.  The caller supplies them, so that this room
 * depends on neither a clock nor a random number generator. */
struct contract_world {
	int64_t now; /* microseconds since 1970 UTC */
	void (*random)(void *context, void *bytes, size_t size);
	void *context;
};

struct contract_source {
	const struct json *json;
	struct str text; /* source text, for line numbers in problems; may be empty */
	/* For stored events: unknown fields are ignored.  Unknown enum words are still problems. */
	bool lenient;
	/* NULL: a missing GENERATED field is a problem instead of being generated. */
	const struct contract_world *world;
};

/* The generic forms of the typed functions, for code that knows the type only at run time. */
void *contract_new(const struct type *type, struct arena *arena);
void contract_make(const struct type *type, void *value, struct arena *arena,
		   const struct contract_world *world);
const void *contract_parse(const struct type *type, const struct contract_source *source,
			   struct arena *arena, struct problems *problems);
void contract_print(const struct type *type, const void *value, struct json_writer *writer);
struct str contract_text(const struct type *type, const void *value, struct arena *arena);
/* Shares the lists and objects that the value itself has as trees. */
const struct json *contract_tree(const struct type *type, const void *value, struct arena *arena);
struct str contract_word(const struct type *type, uint32_t value);
bool contract_word_find(const struct type *type, struct str word, uint32_t *out_value);

/* For CHECK functions: reports a problem at the member with the wire name `field`, or at the whole
 * entity when `field` is NULL. */
struct check;
void check_fail(struct check *check, const char *field, const char *format, ...) PRINTF_LIKE(3, 4);

/* Builds the derived data of these types now instead of at first use. */
void contract_init(const struct type *const *types, size_t count);
/* Finds mistakes in rows that the compiler cannot find: see contracts/README.md. */
MUST_CHECK bool contract_self_test(const struct type *const *types, size_t count,
				   struct error *error);

#endif
