/* definition/tree_build.h -- builds JSON trees whose values keep the places of a file.
 *
 * A dialect is translated into the tree of a run.Definition.  Every value that is made here has the
 * line and column of the value in the author's file that it comes from, so that a problem found by a
 * later pass names the place that the author must change.  Everything lives in the arena.
 */
#ifndef DEFINITION_TREE_BUILD_H
#define DEFINITION_TREE_BUILD_H

#include "base/json.h"

/* Initialize with `{ .arena = arena, .place = json }`; place NULL = unknown. */
struct tree_object {
	struct arena *arena;
	const struct json *place;
	struct json_member *at;
	size_t count, room;
};

struct tree_list {
	struct arena *arena;
	const struct json *place;
	struct json *at;
	size_t count, room;
};

/* The same value at another place. */
struct json tree_at(struct json json, const struct json *place);
struct json tree_text(struct str text, const struct json *place);
struct json tree_bool(bool value, const struct json *place);
struct json tree_int(int64_t value, const struct json *place);

void tree_add(struct tree_object *object, struct str key, struct json value);
/* Adds a value under the key of another member, which keeps its place. */
void tree_add_member(struct tree_object *object, const struct json_member *like, struct json value);
/* Adds a member of another object under the same name, if it is there. */
void tree_take(struct tree_object *object, const struct json *from, struct str key);
struct json tree_object(const struct tree_object *object);
void tree_append(struct tree_list *list, struct json value);
struct json tree_list(const struct tree_list *list);

/* The JSON pointer of the deepest value that begins at this place; "" = none. */
struct str tree_pointer(const struct json *tree, uint32_t line, uint32_t column,
			struct arena *arena);

#endif
