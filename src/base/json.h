/* base/json.h -- JSON as a tree in an arena, and a writer that streams into a buf.
 *
 * Reading is strict RFC 8259: UTF-8 is validated, duplicate keys are refused, depth, size and
 * node count are bounded, integers are exact in 64 bits (a number written without fraction and
 * exponent that fits int64 is JSON_INT, every other one JSON_REAL; `-0` is JSON_REAL, because only
 * a double keeps the sign; one beyond a double is refused).  The error has line and column in its
 * own fields, not in its text.  Strings without escapes point into the text, so the text must
 * live as long as the tree.
 *
 * The same tree is what base/yaml.h reads YAML into.
 *
 * Our own entities never meet a tree by hand: contract/contract.h parses and prints them.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

enum json_kind { JSON_NULL, JSON_BOOL, JSON_INT, JSON_REAL, JSON_STRING, JSON_LIST, JSON_OBJECT };

struct json;
struct json_member;

struct json {
	enum json_kind kind;
	/* Where it stands.  YAML: line and column, 1-based.  JSON: line is 0 and column is the
	 * byte offset; json_place() turns either into line and column. */
	uint32_t line, column;
	union {
		bool boolean;
		int64_t integer;
		double real;
		struct str string;
		struct {
			const struct json *at;
			size_t count;
		} list;
		struct {
			const struct json_member *at;
			size_t count;
		} object;
	} as;
};

struct json_member {
	struct str key;
	uint32_t line, column; /* of the key */
	struct json value;
};

MUST_CHECK bool json_read(struct str text, struct arena *arena, const struct json **out_json,
			  struct error *error);
/* Line and column (1-based, in bytes) of a node's or member's line/column pair. */
void json_place(struct str text, uint32_t line, uint32_t column, uint32_t *out_line,
		uint32_t *out_column);

const char *json_kind_name(enum json_kind kind); /* "string", "integer", ... */

/* Null-safe lookups: NULL in or nothing there gives NULL (or the empty str). */
const struct json *json_member(const struct json *object, struct str key);
const struct json *json_item(const struct json *list, size_t index);
struct str json_text(const struct json *json); /* "" unless a string */

bool json_is_number(const struct json *json);
double json_real(const struct json *number);
/* 1 and 1.0 are equal, two whole numbers are compared exactly; members may stand in any order. */
bool json_equal(const struct json *a, const struct json *b);

/* ---- writing ---------------------------------------------------------------------------
 * The writer puts commas and colons itself:
 *	json_open(&w, '{'); json_key(&w, S("id")); json_put_str(&w, id); json_close(&w, '}');
 * Doubles are printed with as few digits as read back to the same double; a whole number within
 * int64 gets all its digits and no ".0" (1 and 1.0 are the same JSON number), minus zero is `-0`.
 * Strings must be UTF-8 and are escaped minimally.  Raw text must not be empty.  Whether it all
 * fitted is asked once at the end: !buf->full. */
struct json_writer {
	struct buf *out;
	bool needs_comma;
};

void json_open(struct json_writer *writer, char bracket);  /* '{' or '[' */
void json_close(struct json_writer *writer, char bracket); /* '}' or ']' */
void json_key(struct json_writer *writer, struct str key);
void json_put_null(struct json_writer *writer);
void json_put_bool(struct json_writer *writer, bool value);
void json_put_int(struct json_writer *writer, int64_t value);
void json_put_real(struct json_writer *writer, double value); /* NaN and infinity: require() */
void json_put_str(struct json_writer *writer, struct str value);
void json_put_raw(struct json_writer *writer, struct str text); /* JSON text as it is */
void json_put_tree(struct json_writer *writer, const struct json *tree);

struct str json_print(struct arena *arena, const struct json *tree);

#endif
