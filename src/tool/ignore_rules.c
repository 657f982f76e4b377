/* tool/ignore_rules.c -- reading and matching of .gitignore rules. */
#include "tool/ignore_rules.h"

#include "base/limits.h"
#include "tool/path_pattern.h"

/* Blanks at the end do not count, unless a backslash keeps them. */
static struct str without_blanks(struct str line)
{
	if (str_ends(line, S("\r")))
		line.size--;
	while (line.size > 0 && line.at[line.size - 1] == ' ' &&
	       !(line.size > 1 && line.at[line.size - 2] == '\\'))
		line.size--;
	return line;
}

const struct ignore_rules *ignore_rules_read(const struct ignore_rules *around, struct str folder,
					     struct str text, struct arena *arena)
{
	struct ignore_rules *rules = arena_new(arena, struct ignore_rules);
	struct str rest = text, line;
	size_t count = 0;
	for (size_t i = 0; i < text.size; i++)
		count += text.at[i] == '\n';
	count = count < LIMIT_IGNORE_LINES ? count + 1 : LIMIT_IGNORE_LINES;
	rules->around = around;
	rules->folder = str_copy(arena, folder);
	rules->lines = arena_array(arena, struct str, count);
	while (rules->count < count && str_cut(&rest, '\n', &line)) {
		line = without_blanks(line);
		if (line.size > 0 && line.at[0] != '#')
			rules->lines[rules->count++] = str_copy(arena, line);
	}
	return rules;
}

/* A line with a slash before its end is relative to its folder; another matches a name anywhere. */
static bool line_matches(struct str line, struct str path, bool is_folder)
{
	size_t slash;
	if (str_ends(line, S("/"))) {
		if (!is_folder)
			return false;
		line.size--;
	}
	if (!str_find(line, S("/"), &slash))
		return path_pattern_match(line, path_pattern_last_name(path));
	return path_pattern_match(str_starts(line, S("/")) ? str_skip(line, 1) : line, path);
}

/* The last line that matches decides, and the innermost file goes first. */
bool ignore_rules_match(const struct ignore_rules *rules, struct str path, bool is_folder)
{
	for (; rules != NULL; rules = rules->around) {
		if (!str_starts(path, rules->folder))
			continue;
		struct str inside = str_skip(path, rules->folder.size);
		for (size_t i = rules->count; i > 0; i--) {
			struct str line = rules->lines[i - 1];
			bool kept = str_starts(line, S("!"));
			if (line_matches(kept ? str_skip(line, 1) : line, inside, is_folder))
				return !kept;
		}
	}
	return false;
}
