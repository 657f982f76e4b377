/* tracker/tracker_file.c -- a folder of Markdown issues in the repository: issues/NNN-title.md.
 *
 * Works without a network.  Files are read within the folder only; symbolic links are refused
 * (os/confined_path.h).  A comment is one append to the file, so it is there as a whole or not at all.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "os/confined_path.h"
#include "os/file.h"
#include "tracker/issue_file.h"
#include "tracker/tracker.h"

/* ---- the folder ------------------------------------------------------------------------- */

struct entry {
	int64_t number;
	struct str name;
};

static struct str folder_of(const struct tracker_exchange *exchange)
{
	struct str folder = exchange->settings->folder;
	return str_starts(folder, S("/"))
		       ? folder
		       : str_format(exchange->arena, STR_FMT "/" STR_FMT,
				    STR_ARG(exchange->request->repository), STR_ARG(folder));
}

static int newest_first(const void *a, const void *b)
{
	const struct entry *one = a, *other = b;
	if (one->number != other->number)
		return one->number < other->number ? 1 : -1;
	return str_compare(one->name, other->name);
}

static bool list_entries(const struct tracker_exchange *exchange, struct entry **out_entries,
			 size_t *out_count, struct error *error)
{
	struct str_list names;
	size_t count = 0;
	if (!folder_list(str_c(exchange->arena, exchange->url), exchange->arena, &names, error))
		return false;
	struct entry *entries = arena_array(exchange->arena, struct entry, names.count);
	for (size_t i = 0; i < names.count; i++)
		if (issue_file_number(names.at[i], &entries[count].number))
			entries[count++].name = names.at[i];
	qsort(entries, count, sizeof(*entries), newest_first);
	*out_entries = entries;
	*out_count = count;
	return true;
}

static struct str stem_of(struct str name)
{
	return str_ends(name, S(".md")) ? str_head(name, name.size - 3) : name;
}

/* 7, 007, #7, 007-title and 007-title.md name the same file. */
static bool find_entry(const struct tracker_exchange *exchange, struct str *out_name,
		       struct error *error)
{
	struct str id = str_trim(exchange->request->id);
	struct entry *entries;
	size_t count, found = 0;
	int64_t number = -1;
	if (str_starts(id, S("#")))
		id = str_skip(id, 1);
	bool numbered = str_to_int(id, &number);
	if (!list_entries(exchange, &entries, &count, error))
		return false;
	for (size_t i = 0; i < count; i++)
		if (numbered ? entries[i].number == number
			     : str_equal(stem_of(entries[i].name), stem_of(id))) {
			*out_name = entries[i].name;
			found++;
		}
	if (found > 1)
		return fail(error, ERROR_CONFLICT,
			    "%zu files have this number, " STR_FMT
			    " among them; name the issue by its whole file name",
			    found, STR_ARG(*out_name));
	return found == 1 || fail(error, ERROR_NOT_FOUND,
				  "there is no such issue; expected a file NNN-title.md there");
}

/* ---- issues ----------------------------------------------------------------------------- */

static bool read_text(const struct tracker_exchange *exchange, struct str name,
		      struct str *out_text, struct error *error)
{
	uint64_t size;
	if (!confined_read(str_c(exchange->arena, exchange->url), str_c(exchange->arena, name), 0,
			   LIMIT_TRACKER_FILE_BYTES, exchange->arena, out_text, &size, error))
		return false;
	return size <= LIMIT_TRACKER_FILE_BYTES ||
	       fail(error, ERROR_TOO_LARGE, STR_FMT " has more than %d bytes", STR_ARG(name),
		    LIMIT_TRACKER_FILE_BYTES);
}

static struct run_issue *issue_of(const struct tracker_exchange *exchange, struct str name,
				  const struct issue_file *file, size_t most)
{
	struct run_issue *issue = run_issue_new(exchange->arena);
	bool truncated;
	SET(issue, id, stem_of(name));
	SET(issue, title, file->title);
	SET(issue, description, tracker_shorten(file->description, most, &truncated));
	SET(issue, status, file->status);
	SET(issue, labels, file->labels);
	SET(issue, tracker, PIPELINE_PROFILE_TRACKER_FILE);
	SET(issue, url,
	    str_format(exchange->arena, "file://" STR_FMT "/" STR_FMT, STR_ARG(exchange->url),
		       STR_ARG(name)));
	if (truncated)
		SET(issue, truncated, true);
	return issue;
}

static bool read_issue(struct tracker_exchange *exchange, struct tracker_move *out_move,
		       struct error *error)
{
	struct issue_file file;
	struct str name, text;
	if (!find_entry(exchange, &name, error) || !read_text(exchange, name, &text, error) ||
	    !issue_file_read(text, name, exchange->arena, &file, error))
		return false;
	return tracker_end(run_issue_tree(issue_of(exchange, name, &file, LIMIT_TRACKER_TEXT_BYTES),
					  exchange->arena),
			   out_move);
}

static bool is_open(struct str status)
{
	static const char *const closed[] = { "closed", "done", "resolved", "wontfix", "rejected" };
	for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++)
		if (str_equal_folded(status, str_from_c(closed[i])))
			return false;
	return true;
}

static bool contains_folded(struct str text, struct str word)
{
	for (size_t i = 0; i + word.size <= text.size; i++)
		if (str_equal_folded(str_head(str_skip(text, i), word.size), word))
			return true;
	return false;
}

/* Every word occurs somewhere. */
static bool fits(const struct issue_file *file, struct str search)
{
	struct str rest = search, word;
	while (str_cut(&rest, ' ', &word))
		if (word.size > 0 && !contains_folded(file->title, word) &&
		    !contains_folded(file->description, word))
			return false;
	return true;
}

static bool list_issues(struct tracker_exchange *exchange, struct tracker_move *out_move,
			struct error *error)
{
	const struct tracker_request *request = exchange->request;
	struct entry *entries;
	size_t count, found = 0;
	if (!list_entries(exchange, &entries, &count, error))
		return false;
	if (count > LIMIT_TRACKER_FILES)
		return fail(error, ERROR_TOO_LARGE, "the folder has more than %d issues",
			    LIMIT_TRACKER_FILES);
	struct run_issue *items =
		arena_array(exchange->arena, struct run_issue, (size_t)request->limit);
	for (size_t i = 0; i < count && found < (size_t)request->limit; i++) {
		struct issue_file file;
		struct str text;
		if (!read_text(exchange, entries[i].name, &text, error) ||
		    !issue_file_read(text, entries[i].name, exchange->arena, &file, error))
			return false;
		if (is_open(file.status) && fits(&file, request->search))
			items[found++] = *issue_of(exchange, entries[i].name, &file,
						   LIMIT_TRACKER_LIST_TEXT_BYTES);
	}
	struct run_issue_page *page = run_issue_page_new(exchange->arena);
	SET(page, items, ((struct run_issue_list){ items, found }));
	SET(page, tracker, PIPELINE_PROFILE_TRACKER_FILE);
	return tracker_end(run_issue_page_tree(page, exchange->arena), out_move);
}

/* ---- comments --------------------------------------------------------------------------- */

static const struct json *comment_output(const struct tracker_exchange *exchange, struct str name)
{
	struct run_issue_comment_outputs *outputs = run_issue_comment_outputs_new(exchange->arena);
	SET(outputs, issue, stem_of(name));
	SET(outputs, comment_id, exchange->request->marker);
	SET(outputs, url,
	    str_format(exchange->arena, "file://" STR_FMT "/" STR_FMT, STR_ARG(exchange->url),
		       STR_ARG(name)));
	return run_issue_comment_outputs_tree(outputs, exchange->arena);
}

static bool comment(struct tracker_exchange *exchange, struct tracker_move *out_move,
		    struct error *error)
{
	const struct tracker_request *request = exchange->request;
	struct arena *arena = exchange->arena;
	struct str name, text;
	if (!find_entry(exchange, &name, error) || !read_text(exchange, name, &text, error))
		return false;
	if (issue_file_has_comment(text, request->marker))
		return tracker_end(comment_output(exchange, name), out_move);
	if (request->operation == TRACKER_COMMENT_FIND)
		return tracker_end(NULL, out_move);
	struct str block = issue_file_comment(arena, request->text, request->marker);
	if (text.size + block.size > LIMIT_TRACKER_FILE_BYTES)
		return fail(error, ERROR_TOO_LARGE,
			    STR_FMT " would have more than %d bytes with the comment",
			    STR_ARG(name), LIMIT_TRACKER_FILE_BYTES);
	if (!confined_append_line(str_c(arena, exchange->url), str_c(arena, name), block, error))
		return false;
	return tracker_end(comment_output(exchange, name), out_move);
}

static bool locate(struct tracker_exchange *exchange, struct error *error)
{
	if (exchange->request->repository.size == 0 &&
	    !str_starts(exchange->settings->folder, S("/")))
		return fail(error, ERROR_CONFIGURATION,
			    "the run has no profile with a repository, so there is no folder of "
			    "issues; choose a profile");
	exchange->url = folder_of(exchange);
	exchange->subject = exchange->request->operation == TRACKER_ISSUE_LIST
				    ? S("issues")
				    : str_format(exchange->arena, "issue " STR_FMT,
						 STR_ARG(exchange->request->id));
	return folder_exists(str_c(exchange->arena, exchange->url)) ||
	       fail(error, ERROR_NOT_FOUND,
		    "the folder does not exist; create it, or set tracker.folder");
}

static bool next_move(struct tracker_exchange *exchange, struct tracker_move *out_move,
		      struct error *error)
{
	switch (exchange->request->operation) {
	case TRACKER_ISSUE_READ:
		return read_issue(exchange, out_move, error);
	case TRACKER_ISSUE_LIST:
		return list_issues(exchange, out_move, error);
	case TRACKER_COMMENT_ADD:
	case TRACKER_COMMENT_FIND:
		return comment(exchange, out_move, error);
	case TRACKER_PULL_OPEN:
	case TRACKER_PULL_FIND:
	case TRACKER_PULL_FEEDBACK:
		break;
	}
	return fail(error, ERROR_INVALID, "it has no pull requests; github and gitlab have");
}

const struct tracker tracker_file = { .name = "file", .locate = locate, .next_move = next_move };
