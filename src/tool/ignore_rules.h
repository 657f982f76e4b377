/* tool/ignore_rules.h -- the rules of .gitignore files.
 *
 * As git reads them: the last rule that matches decides, and those of an inner folder go before those
 * of the folders around it.
 */
#ifndef TOOL_IGNORE_RULES_H
#define TOOL_IGNORE_RULES_H

#include "base/str.h"

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
