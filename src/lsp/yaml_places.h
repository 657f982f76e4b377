/* lsp/yaml_places.h -- the keys and values of a YAML file with their places, also while it is broken.
 *
 * An editor asks about a file in the middle of a change, when base/yaml.h would refuse it.  This scanner goes line
 * by line and relies on indentation: mappings and lists in block style, and flow style ({a: b}, [a, b]) within one
 * line.  Text blocks (| and >) and comments are skipped.  What it does not understand it passes over; it never
 * fails and its time is linear in the size of the text.
 *
 * A place is a path: names of mappings, numbers of list items.  `steps[1].inputs.command` has four segments.
 */
#ifndef LSP_YAML_PLACES_H
#define LSP_YAML_PLACES_H

#include "base/str.h"

enum { YAML_PATH_MOST = 64 }; /* deeper places are passed over */

struct yaml_segment {
	struct str key; /* of a mapping; empty = an item of a list */
	size_t index;   /* of the item */
};

struct yaml_path {
	struct yaml_segment at[YAML_PATH_MOST];
	size_t depth;
};

/* A key, or a scalar value on one line.  The path of a key ends with the key itself. */
struct yaml_place {
	struct yaml_path path;
	bool is_key;
	struct str text; /* without quotes; points into the file */
	uint32_t line;   /* from 0 */
	size_t column;   /* of the text, in bytes from 0 */
};

/* Called for each key and value, in the order of the file; false ends the scan. */
typedef bool yaml_visit(void *context, const struct yaml_place *place);
void yaml_places_scan(struct str text, yaml_visit *visit, void *context);

/* Where a position is that a person is typing at. */
struct yaml_cursor {
	struct yaml_path path; /* of the value; where a key is expected: of the mapping */
	bool expects_key;      /* a key of the mapping, or an item of the list, could begin here */
	bool in_text;    /* inside a text block or a comment: only expressions are completed */
	struct str word; /* what is typed of the key or value, up to the position */
	size_t column;   /* where the word begins, in bytes */
};

/* The line counts from 0, the offset in bytes of the line. */
void yaml_cursor_find(struct str text, uint32_t line, size_t offset, struct yaml_cursor *out);

bool yaml_path_equal(const struct yaml_path *a, const struct yaml_path *b);
/* True when the first `depth` segments are the same. */
bool yaml_path_shares(const struct yaml_path *a, const struct yaml_path *b, size_t depth);

#endif
