/* tool/path_pattern.h -- patterns of paths: globs, and the lines of a .gitignore.
 *
 *	?         one character of a name          [a-z] [!a]   one of these, none of these
 *	*         any characters of a name         {a,b}        a or b (globs only)
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

/* ---- .gitignore ------------------------------------------------------------------------ */

/* The rules of one .gitignore, and those of the folders around it. */
struct ignore_rules {
	const struct ignore_rules *around; /* NULL = none */
	struct str folder;                 /* "" = the root, else ends in a slash */
	struct str *lines;                 /* comments and empty lines are left out */
	size_t count;
};

/* Reads the text of FOLDER/.gitignore; lines beyond LIMIT_IGNORE_LINES are left out. */
const struct ignore_rules *ignore_rules_read(const struct ignore_rules *around, struct str folder,
					     struct str text, struct arena *arena);
/* Whether the path, relative to the root, is ignored.  The caller asks for the folders around it first:
 * what is in an ignored folder is ignored. */
bool ignore_rules_match(const struct ignore_rules *rules, struct str path, bool is_folder);

#endif
