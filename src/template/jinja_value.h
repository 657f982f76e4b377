/* template/jinja_value.h -- values of a template; private to template.
 *
 * A value is what an expression gives.  Lists and mappings of the data are not copied: they refer to the
 * JSON, and jinja_value_item() makes an item when it is read.
 */
#ifndef TEMPLATE_JINJA_VALUE_H
#define TEMPLATE_JINJA_VALUE_H

#include "base/limits.h"
#include "template/jinja.h"

struct renderer;

/* ---- values ----------------------------------------------------------------------------- */

enum value_kind {
	VALUE_UNDEFINED, /* string: what is undefined */
	VALUE_NONE,
	VALUE_BOOL,
	VALUE_INT,
	VALUE_REAL,
	VALUE_STRING,
	VALUE_SEQUENCE,
	VALUE_MAPPING,
	VALUE_NAMESPACE,
	VALUE_MACRO,
	VALUE_LOOP,
	VALUE_FUNCTION,
};

enum sequence_flavor {
	SEQUENCE_LIST,
	SEQUENCE_TUPLE,
	SEQUENCE_RANGE,
	SEQUENCE_GENERATOR, /* each item is given once */
	SEQUENCE_KEYS,
	SEQUENCE_VALUES,
	SEQUENCE_ITEMS,
};

enum global_function { FUNCTION_RANGE, FUNCTION_DICT, FUNCTION_NAMESPACE };

struct value {
	enum value_kind kind;
	bool safe; /* a string that is escaped already; an undefined value that is never an error */
	union {
		bool boolean;
		int64_t integer;
		double real;
		struct str string;
		struct sequence *sequence;
		struct mapping *mapping;
		const struct macro *macro;
		struct loop *loop;
		enum global_function function;
	} as;
};

/* The items are those of `json` or of `at`. */
struct sequence {
	enum sequence_flavor flavor;
	const struct json *json;
	struct value *at;
	size_t count;
	size_t taken;                /* of a generator */
	int64_t start, stop, stride; /* of a range, for printing */
	bool is_group;               /* of groupby: has .grouper and .list */
};

struct entry {
	struct value key, value;
};

struct mapping {
	const struct json *json;
	struct entry *at;
	size_t count, room;
};

static inline struct value jinja_value_undefined(struct str what)
{
	return (struct value){ .kind = VALUE_UNDEFINED, .as.string = what };
}

static inline struct value jinja_value_none(void)
{
	return (struct value){ .kind = VALUE_NONE };
}

static inline struct value jinja_value_bool(bool boolean)
{
	return (struct value){ .kind = VALUE_BOOL, .as.boolean = boolean };
}

static inline struct value jinja_value_int(int64_t integer)
{
	return (struct value){ .kind = VALUE_INT, .as.integer = integer };
}

static inline struct value jinja_value_real(double real)
{
	return (struct value){ .kind = VALUE_REAL, .as.real = real };
}

static inline struct value jinja_value_string(struct str string)
{
	return (struct value){ .kind = VALUE_STRING, .as.string = string };
}

struct value jinja_value_of_json(struct renderer *r, const struct json *json);
struct value jinja_value_item(struct renderer *r, const struct sequence *sequence, size_t index);
void jinja_value_entry(struct renderer *r, const struct mapping *mapping, size_t index,
		       struct entry *out);
size_t jinja_value_mapping_count(const struct mapping *mapping);
bool jinja_value_find(struct renderer *r, const struct mapping *mapping, struct value key,
		      struct value *out);
const char *jinja_value_kind_name(struct value value);
bool jinja_value_is_string(struct value value);
bool jinja_value_is_number(struct value value); /* a bool is one */
bool jinja_value_is_whole(struct value value);  /* an int or a bool */
int64_t jinja_value_whole(struct value value);
double jinja_value_as_real(struct value value);
/* Fails if the value is undefined and the rendering strict. */
MUST_CHECK bool jinja_value_true(struct renderer *r, struct value value, bool *out);
MUST_CHECK bool jinja_value_print(struct renderer *r, struct value value, struct buf *out);
MUST_CHECK bool jinja_value_repr(struct renderer *r, struct value value, struct buf *out);
MUST_CHECK bool jinja_value_text(struct renderer *r, struct value value, struct str *out);
MUST_CHECK bool jinja_value_equal(struct renderer *r, struct value a, struct value b, bool *out);
/* Fails for values that have no order. */
MUST_CHECK bool jinja_value_compare(struct renderer *r, struct value a, struct value b, int *out);
MUST_CHECK bool jinja_value_contains(struct renderer *r, struct value container, struct value what,
				     bool *out);
MUST_CHECK bool jinja_value_count(struct renderer *r, struct value value, size_t *out);
/* The items of anything iterable; a generator gives each item once. */
MUST_CHECK bool jinja_value_iterate(struct renderer *r, struct value value, struct sequence **out);
bool jinja_value_has_items(struct value value);

/* ---- characters -------------------------------------------------------------------------- */

bool jinja_text_is_space(uint32_t character);
struct str jinja_text_strip(struct str text, struct str characters, bool left, bool right);
uint32_t jinja_text_upper(uint32_t character);
uint32_t jinja_text_lower(uint32_t character);
bool jinja_text_is_letter(uint32_t character);
void jinja_text_put(struct buf *out, uint32_t character);
void jinja_text_add_upper(struct str text, struct buf *out);
void jinja_text_add_lower(struct str text, struct buf *out);
void jinja_text_add_escaped(struct str text, struct buf *out);     /* for HTML */
struct str jinja_text_folded(struct renderer *r, struct str text); /* in lower case */
/* The byte offset of the character number `index` of a text. */
size_t jinja_text_offset(struct str text, size_t index);

#endif
