/* views/view_tree.h -- small JSON objects for members without a declared type.
 *
 *	TREE(arena, { S("step"), view_tree_text(path) }, { S("attempt"), view_tree_int(2) })
 *
 * A member with the value view_tree_none() is left out.
 */
#ifndef VIEWS_VIEW_TREE_H
#define VIEWS_VIEW_TREE_H

#include <stdbool.h>

#include "base/json.h"

struct tree_value {
	bool there;
	struct json json;
};

struct tree_member {
	struct str key;
	struct tree_value value;
};

#define TREE(arena, ...)                                                     \
	view_tree_object(arena, (const struct tree_member[]){ __VA_ARGS__ }, \
			 COUNT(((const struct tree_member[]){ __VA_ARGS__ })))

const struct json *view_tree_object(struct arena *arena, const struct tree_member *members,
				    size_t count);
/* The members of `first`, then those of `second` (NULL = none) whose names `first` does not have. */
const struct json *view_tree_merge(struct arena *arena, const struct json *first,
				   const struct json *second);
struct tree_value view_tree_none(void);
struct tree_value view_tree_text(struct str text);
struct tree_value view_tree_text_if(struct str text); /* left out when empty */
struct tree_value view_tree_int(int64_t number);
struct tree_value view_tree_bool(bool value);
struct tree_value view_tree_time(struct arena *arena, int64_t us);
struct tree_value view_tree_copy(const struct json *tree); /* left out when NULL */

#endif
