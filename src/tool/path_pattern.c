/* tool/path_pattern.c -- matching of globs.
 *
 * Both kinds of star are matched by going back to the last one only: a later star makes an earlier one
 * superfluous, so no input makes the time grow exponentially.
 */
#include "tool/path_pattern.h"

#include "base/limits.h"

/* Matches one character class at the beginning of the pattern; 0 = it is not a class.  Otherwise the
 * size of the class, and whether the character is in it. */
static size_t match_class(struct str pattern, char c, bool *out_match)
{
	size_t at = 1;
	bool inside = false;
	bool negated = pattern.size > 1 && (pattern.at[1] == '!' || pattern.at[1] == '^');
	at += negated;
	for (size_t first = at; at < pattern.size; at++) {
		if (pattern.at[at] == ']' && at > first) {
			*out_match = inside != negated && c != '/';
			return at + 1;
		}
		if (pattern.at[at] == '\\' && at + 1 < pattern.size)
			at++;
		unsigned char low = (unsigned char)pattern.at[at], high = low;
		if (at + 2 < pattern.size && pattern.at[at + 1] == '-' &&
		    pattern.at[at + 2] != ']') {
			at += 2;
			high = (unsigned char)pattern.at[at];
		}
		inside |= (unsigned char)c >= low && (unsigned char)c <= high;
	}
	return 0;
}

/* Matches one thing that is not a star.  Returns its size in the pattern; 0 = it does not match. */
static size_t match_one(struct str pattern, char c)
{
	bool inside;
	if (pattern.size == 0)
		return 0;
	if (pattern.at[0] == '?')
		return c != '/' ? 1 : 0;
	if (pattern.at[0] == '[') {
		size_t size = match_class(pattern, c, &inside);
		if (size > 0)
			return inside ? size : 0;
	}
	if (pattern.at[0] == '\\' && pattern.size > 1)
		return pattern.at[1] == c ? 2 : 0;
	return pattern.at[0] == c ? 1 : 0;
}

/* A name without slashes. */
static bool match_name(struct str pattern, struct str name)
{
	struct str star_pattern = { 0 }, star_name = { 0 };
	bool star = false;
	for (;;) {
		size_t size;
		if (pattern.size > 0 && pattern.at[0] == '*') {
			pattern = str_skip(pattern, 1);
			star = true;
			star_pattern = pattern;
			star_name = name;
			continue;
		}
		if (name.size == 0 && pattern.size == 0)
			return true;
		size = name.size > 0 ? match_one(pattern, name.at[0]) : 0;
		if (size > 0) {
			pattern = str_skip(pattern, size);
			name = str_skip(name, 1);
		} else if (star && star_name.size > 0) {
			star_name = str_skip(star_name, 1);
			pattern = star_pattern;
			name = star_name;
		} else {
			return false;
		}
	}
}

/* The first name of a path; *rest is what follows its slash. */
static struct str first_name(struct str path, struct str *rest)
{
	size_t slash;
	if (!str_find(path, S("/"), &slash)) {
		*rest = str_skip(path, path.size);
		return path;
	}
	*rest = str_skip(path, slash + 1);
	return str_head(path, slash);
}

/* Names are matched like characters, and `**` is their star. */
bool path_pattern_match(struct str pattern, struct str path)
{
	struct str star_pattern = { 0 }, star_path = { 0 }, rest, path_rest;
	bool star = false;
	for (;;) {
		struct str name = first_name(pattern, &rest);
		if (str_equal(name, S("**"))) {
			/* At the end it matches what is inside, not the folder itself. */
			if (rest.size == 0)
				return path.size > 0;
			star = true;
			pattern = star_pattern = rest;
			star_path = path;
			continue;
		}
		if (path.size == 0 && pattern.size == 0)
			return true;
		if (path.size > 0 && pattern.size > 0 &&
		    match_name(name, first_name(path, &path_rest))) {
			pattern = rest;
			path = path_rest;
			continue;
		}
		if (!star || star_path.size == 0)
			return false;
		first_name(star_path, &star_path);
		pattern = star_pattern;
		path = star_path;
	}
}

/* ---- braces ---------------------------------------------------------------------------- */

/* The closing brace of the one at `open`, and the first comma of its own between them. */
static bool find_brace(struct str glob, size_t open, size_t *out_close)
{
	size_t depth = 0;
	for (size_t i = open; i < glob.size; i++) {
		if (glob.at[i] == '\\')
			i++;
		else if (glob.at[i] == '{')
			depth++;
		else if (glob.at[i] == '}' && --depth == 0) {
			*out_close = i;
			return true;
		}
	}
	return false;
}

static bool first_brace(struct str glob, size_t *out_open)
{
	for (size_t i = 0; i < glob.size; i++) {
		if (glob.at[i] == '\\')
			i++;
		else if (glob.at[i] == '{') {
			*out_open = i;
			return true;
		}
	}
	return false;
}

/* The end of the alternative that begins at `at`: a comma outside of inner braces, or `close`. */
static size_t alternative_end(struct str glob, size_t at, size_t close)
{
	size_t depth = 0;
	for (; at < close; at++) {
		if (glob.at[at] == '\\')
			at++;
		else if (glob.at[at] == '{')
			depth++;
		else if (glob.at[at] == '}')
			depth--;
		else if (glob.at[at] == ',' && depth == 0)
			return at;
	}
	return close;
}

/* Replaces the first braces of the pattern at `index` by their alternatives; new patterns go to the
 * end of the list, where they are expanded in their turn. */
static bool expand(struct path_patterns *patterns, size_t index, struct arena *arena,
		   struct error *error)
{
	struct str glob = patterns->at[index];
	size_t open, close;
	while (first_brace(glob, &open)) {
		if (!find_brace(glob, open, &close))
			return fail(error, ERROR_INVALID,
				    "the pattern " STR_FMT " has a { without }",
				    STR_ARG(str_head(glob, glob.size < 80 ? glob.size : 80)));
		struct str kept = { 0 };
		for (size_t at = open + 1; at <= close;) {
			size_t end = alternative_end(glob, at, close);
			struct str one = str_format(arena, STR_FMT STR_FMT STR_FMT,
						    STR_ARG(str_head(glob, open)),
						    STR_ARG(str_head(str_skip(glob, at), end - at)),
						    STR_ARG(str_skip(glob, close + 1)));
			if (kept.at == NULL)
				kept = one;
			else if (patterns->count == LIMIT_GLOB_PATTERNS)
				return fail(error, ERROR_TOO_LARGE,
					    "the patterns have more than %d alternatives",
					    LIMIT_GLOB_PATTERNS);
			else
				patterns->at[patterns->count++] = one;
			at = end + 1;
		}
		glob = kept;
	}
	patterns->at[index] = glob;
	return true;
}

bool path_patterns_add(struct path_patterns *patterns, struct str glob, struct arena *arena,
		       struct error *error)
{
	if (patterns->at == NULL)
		patterns->at = arena_array(arena, struct str, LIMIT_GLOB_PATTERNS);
	if (patterns->count == LIMIT_GLOB_PATTERNS)
		return fail(error, ERROR_TOO_LARGE, "there are more than %d patterns",
			    LIMIT_GLOB_PATTERNS);
	size_t index = patterns->count;
	while (str_starts(glob, S("./")))
		glob = str_skip(glob, 2);
	patterns->at[patterns->count++] = glob;
	for (; index < patterns->count; index++)
		if (!expand(patterns, index, arena, error))
			return false;
	return true;
}

struct str path_pattern_last_name(struct str path)
{
	size_t at = path.size;
	while (at > 0 && path.at[at - 1] != '/')
		at--;
	return str_skip(path, at);
}

bool path_patterns_match(const struct path_patterns *patterns, struct str path)
{
	size_t slash;
	for (size_t i = 0; i < patterns->count; i++) {
		struct str pattern = patterns->at[i];
		if (path_pattern_match(pattern, str_find(pattern, S("/"), &slash)
							? path
							: path_pattern_last_name(path)))
			return true;
	}
	return false;
}
