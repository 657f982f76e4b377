/* base/json.h -- JSON reader (a tree in an arena) and JSON writer (streams into a buf).
 *
 * The reader follows RFC 8259 strictly: it validates UTF-8, refuses duplicate keys, and bounds
 * depth, size and the number of nodes.  A number without fraction and exponent that fits int64
 * becomes JSON_INT, every other number JSON_REAL; `-0` becomes JSON_REAL because only a double
 * keeps the sign; a number outside the range of a double is refused.  On failure the error's line
 * and column fields hold the position; the text does not repeat it.  Strings without escapes point
 * into the text, so the text must live as long as the tree.
 *
 * base/yaml.h reads YAML into the same tree.
 *
 * Entities of contracts/ are parsed and printed by contract/contract.h, never by walking a tree.
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
	/* Position in the text.  YAML: line and column, 1-based.  JSON: line is 0 and column is
	 * the byte offset; json_place() converts both forms into line and column. */
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

/* Whether json_read() accepts the size and the number of values of a text that a json_writer wrote. */
bool json_fits(struct str text);
MUST_CHECK bool json_read(struct str text, struct arena *arena, const struct json **out_json,
			  struct error *error);
/* Converts the position of a node or member into a 1-based line and column (in bytes). */
void json_place(struct str text, uint32_t line, uint32_t column, uint32_t *out_line,
		uint32_t *out_column);

const char *json_kind_name(enum json_kind kind); /* "string", "integer", ... */

/* Lookups accept NULL, and return NULL (or the empty str) when there is no such member or item. */
const struct json *json_member(const struct json *object, struct str key);
const struct json *json_item(const struct json *list, size_t index);
struct str json_text(const struct json *json); /* "" unless a string */

bool json_is_number(const struct json *json);
double json_real(const struct json *number);
/* 1 equals 1.0; two integers are compared exactly; the order of members does not matter. */
bool json_equal(const struct json *a, const struct json *b);

/* ---- writing ---------------------------------------------------------------------------
 * The writer inserts commas and colons:
 *	json_open(&w, '{'); json_key(&w, S("id")); json_put_str(&w, id); json_close(&w, '}');
 * A double is printed with the fewest digits that read back as the same double; a whole number
 * within int64 is printed as an integer without ".0" (1 and 1.0 are the same JSON number); minus
 * zero is `-0`.  Strings must be valid UTF-8; only characters that JSON requires to be escaped are
 * escaped.  Raw text must not be empty.  Check buf->full once at the end to learn whether
 * everything fit. */
struct json_builder;
struct json_writer {
	struct buf *out;
	bool needs_comma;
	struct json_builder *builder; /* makes a tree instead, and `out` is not used */
};

void json_open(struct json_writer *writer, char bracket);  /* '{' or '[' */
void json_close(struct json_writer *writer, char bracket); /* '}' or ']' */
void json_key(struct json_writer *writer, struct str key);
void json_put_null(struct json_writer *writer);
void json_put_bool(struct json_writer *writer, bool value);
void json_put_int(struct json_writer *writer, int64_t value);
void json_put_real(struct json_writer *writer, double value); /* NaN and infinity: require() */
void json_put_str(struct json_writer *writer, struct str value);
void json_put_raw(struct json_writer *writer, struct str text); /* JSON text, copied unchanged */
void json_put_tree(struct json_writer *writer, const struct json *tree);

struct str json_print(struct arena *arena, const struct json *tree);
/* True: the text has at most `most` bytes.  Found without printing, by an upper bound that is exact
 * but for doubles, and without looking at more of the tree than `most` bytes can hold. */
bool json_text_within(const struct json *tree, size_t most);

/* ---- trees without text ----------------------------------------------------------------- */

/* What printing the tree and reading the text back would give: whole doubles become integers,
 * places are lost, nothing of the source is shared. */
const struct json *json_copy(struct arena *arena, const struct json *tree);

/* A writer that builds: everything put into it becomes a tree in the arena, likewise; but a list or
 * object that is put as a tree is shared.  One value is put, then json_builder_end() gives it and
 * frees the builder.  json_put_raw() is not for such a writer. */
struct json_builder *json_builder_new(struct arena *arena);
const struct json *json_builder_end(struct json_builder *builder);

#endif
