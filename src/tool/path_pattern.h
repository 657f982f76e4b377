/* tool/path_pattern.h -- patterns of paths: globs.
 *
 *	?         one character of a name          [a-z] [!a]   one of these, none of these
 *	*         any characters of a name         {a,b}        a or b
 *	**        as a whole name: any folders     \            the next character itself
 *
 * A pattern and a path are relative to the same folder.  Matching compares bytes, takes at most the
 * product of their lengths, and needs no memory.
 */
#ifndef TOOL_PATH_PATTERN_H
#define TOOL_PATH_PATTERN_H

#include "base/error.h"

/* A compiled list of globs: braces are expanded. */
struct path_patterns {
	struct str *at;
	size_t count;
};

/* INVALID when braces do not match or make more than LIMIT_GLOB_PATTERNS patterns. */
MUST_CHECK bool path_patterns_add(struct path_patterns *patterns, struct str glob,
				  struct arena *arena, struct error *error);
/* A pattern without a slash matches the last name of the path, in any folder. */
bool path_patterns_match(const struct path_patterns *patterns, struct str path);

/* One pattern, without braces, against the whole path. */
bool path_pattern_match(struct str pattern, struct str path);
struct str path_pattern_last_name(struct str path); /* what is behind the last slash */

#endif
