/* plan/plan_path.c -- the path of a plan, from the pattern of a profile.
 *
 * The key of an issue comes from a tracker or from a person ("acme/site#12", a URL), so it never adds
 * folders: what a name of a file should not have becomes "-".  The pattern comes from the owner and may
 * name folders, but the result stays inside of the folder that it is relative to.
 */
#include "base/buf.h"
#include "base/limits.h"
#include "plan/plan.h"

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
}

/* Dots are kept between plain characters, so that no part is "." or "..". */
static void add_key(struct buf *buf, struct str key)
{
	bool gap = false, any = false;
	for (size_t i = 0; i < key.size; i++) {
		char c = key.at[i];
		bool dot = c == '.' && i > 0 && i + 1 < key.size && is_plain(key.at[i - 1]) &&
			   is_plain(key.at[i + 1]);
		if (!is_plain(c) && !dot) {
			gap = any;
			continue;
		}
		if (gap)
			buf_add_char(buf, '-');
		gap = false;
		any = true;
		buf_add_char(buf, c);
	}
	if (!any)
		buf_add(buf, S("plan"));
}

static bool check_parts(struct str path, struct error *error)
{
	struct str rest = path, part;
	if (path.size == 0 || path.at[0] == '/')
		return fail(error, ERROR_INVALID,
			    "the path of the plan is \"" STR_FMT "\"; "
			    "plan_path_pattern must be relative to the repository",
			    STR_ARG(path));
	while (str_cut(&rest, '/', &part)) {
		if (str_equal(part, S("..")))
			return fail(error, ERROR_INVALID,
				    "the path of the plan is \"" STR_FMT "\"; "
				    "plan_path_pattern must not contain \"..\"",
				    STR_ARG(path));
	}
	return true;
}

bool plan_path(struct str pattern, struct str date, struct str issue_key, struct arena *arena,
	       struct str *out_path, struct error *error)
{
	const struct str date_mark = S("{date}"), key_mark = S("{issue_key}");
	AUTO(buf) path = buf_limited(LIMIT_PLAN_PATH_BYTES);
	for (struct str rest = pattern; rest.size > 0;) {
		if (str_starts(rest, date_mark)) {
			buf_add(&path, date);
			rest = str_skip(rest, date_mark.size);
		} else if (str_starts(rest, key_mark)) {
			add_key(&path, issue_key);
			rest = str_skip(rest, key_mark.size);
		} else {
			buf_add_char(&path, rest.at[0]);
			rest = str_skip(rest, 1);
		}
	}
	if (path.full)
		return fail(error, ERROR_INVALID,
			    "the path of the plan is longer than %d bytes; shorten "
			    "plan_path_pattern or the key of the issue",
			    LIMIT_PLAN_PATH_BYTES);
	struct str text = str_copy(arena, buf_str(&path));
	if (!check_parts(text, error))
		return false;
	*out_path = text;
	return true;
}
