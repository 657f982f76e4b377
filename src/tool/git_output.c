/* tool/git_output.c -- records of git, separated by NUL bytes, and sections of our script. */
#include "tool/git_output.h"

#include "base/limits.h"
#include "tool/tool_text.h"

static bool fail_strange(struct error *error)
{
	return fail(error, ERROR_TOOL_FAILED, "git printed something that cannot be read");
}

/* Takes the next record, which ends in a NUL byte; false when there is none. */
static bool cut_record(struct str *rest, struct str *out_record)
{
	size_t end;
	if (!str_find(*rest, S("\0"), &end))
		return false;
	*out_record = str_head(*rest, end);
	*rest = str_skip(*rest, end + 1);
	return true;
}

static struct str text_of(struct str bytes, struct arena *arena)
{
	return tool_context_utf8(arena, str_copy(arena, bytes));
}

/* ---- status -------------------------------------------------------------------------- */

static bool state_of(char letter, enum run_git_state *out_state)
{
	static const struct {
		char letter;
		enum run_git_state state;
	} states[] = {
		{ '.', RUN_GIT_UNMODIFIED },   { 'M', RUN_GIT_MODIFIED }, { 'A', RUN_GIT_ADDED },
		{ 'D', RUN_GIT_DELETED },      { 'R', RUN_GIT_RENAMED },  { 'C', RUN_GIT_COPIED },
		{ 'T', RUN_GIT_TYPE_CHANGED }, { 'U', RUN_GIT_UNMERGED },
	};
	for (size_t i = 0; i < COUNT(states); i++)
		if (states[i].letter == letter) {
			*out_state = states[i].state;
			return true;
		}
	return false;
}

/* Numbers of fields before the path: "1 XY sub mH mI mW hH hI path" and so on. */
static size_t fields_before_path(char kind)
{
	return kind == '1' ? 8 : kind == '2' ? 9 : kind == 'u' ? 10 : 1;
}

/* Reads a record of a file; *rest has the second record of a renamed one. */
static bool read_entry(struct str record, struct str *rest, struct arena *arena,
		       struct run_git_entry *entry)
{
	char kind = record.at[0];
	enum run_git_state index = RUN_GIT_UNMODIFIED, worktree = RUN_GIT_UNTRACKED;
	struct str path = record, field, old = { 0 };
	for (size_t i = fields_before_path(kind); i > 0; i--)
		if (!str_cut(&path, ' ', &field) || path.at == NULL)
			return false;
	if (kind != '?' && (record.size < 4 || !state_of(record.at[2], &index) ||
			    !state_of(record.at[3], &worktree)))
		return false;
	if (path.size == 0 || (kind == '2' && !cut_record(rest, &old)))
		return false;
	*entry = *run_git_entry_new(arena);
	SET(entry, path, text_of(path, arena));
	if (kind == '2')
		SET(entry, old_path, text_of(old, arena));
	SET(entry, index, index);
	SET(entry, worktree, worktree);
	return true;
}

static void read_header(struct str record, struct arena *arena,
			struct run_git_status_outputs *outputs)
{
	struct str oid = S("# branch.oid "), head = S("# branch.head ");
	if (str_starts(record, oid) && !str_ends(record, S(" (initial)")))
		SET(outputs, commit, text_of(str_skip(record, oid.size), arena));
	if (str_starts(record, head) && !str_ends(record, S(" (detached)")))
		SET(outputs, branch, text_of(str_skip(record, head.size), arena));
}

static size_t count_records(struct str text)
{
	size_t count = 0;
	for (size_t i = 0; i < text.size; i++)
		count += text.at[i] == '\0';
	return count;
}

bool git_output_status(struct str text, bool whole, struct arena *arena,
		       struct run_git_status_outputs *out_outputs, struct error *error)
{
	struct run_git_entry *entries =
		arena_array(arena, struct run_git_entry, count_records(text));
	struct str rest = text, record;
	size_t count = 0;
	bool complete = whole;
	while (cut_record(&rest, &record)) {
		if (record.size > 0 && record.at[0] == '#')
			read_header(record, arena, out_outputs);
		else if (record.size > 0 && read_entry(record, &rest, arena, &entries[count]))
			count++;
		else if (whole)
			return fail_strange(error);
		else
			break;
	}
	SET(out_outputs, clean, count == 0 && complete);
	SET(out_outputs, entries, ((struct run_git_entry_list){ entries, count }));
	SET(out_outputs, truncated, !complete);
	return true;
}

/* ---- numbers of changed lines -------------------------------------------------------- */

static bool cut_line(struct str *rest, struct str *out_line)
{
	size_t end;
	if (!str_find(*rest, S("\n"), &end))
		return false;
	*out_line = str_head(*rest, end);
	*rest = str_skip(*rest, end + 1);
	return true;
}

/* "added TAB deleted TAB path", or for a renamed file "added TAB deleted TAB", old path, path; a binary
 * file has - for its numbers. */
static bool read_change(struct str *rest, struct arena *arena, struct run_git_change *change)
{
	struct str record, added, deleted, old = { 0 };
	int64_t number;
	if (!cut_record(rest, &record) || !str_cut(&record, '\t', &added) ||
	    !str_cut(&record, '\t', &deleted))
		return false;
	bool renamed = record.size == 0;
	if (renamed && (!cut_record(rest, &old) || !cut_record(rest, &record)))
		return false;
	*change = *run_git_change_new(arena);
	SET(change, path, text_of(record, arena));
	if (renamed)
		SET(change, old_path, text_of(old, arena));
	if (str_to_int(added, &number))
		SET(change, added, number);
	if (str_to_int(deleted, &number))
		SET(change, deleted, number);
	return true;
}

/* A section of bytes: a line with the size of what follows and of what there is, then the bytes. */
static bool cut_section(struct str *rest, struct str *out_section, bool *out_truncated)
{
	struct str line, first;
	int64_t size, all;
	if (!cut_line(rest, &line) || !str_cut(&line, ' ', &first) || !str_to_int(first, &size) ||
	    !str_to_int(line, &all) || size < 0 || (uint64_t)size > rest->size)
		return false;
	*out_section = str_head(*rest, (size_t)size);
	*rest = str_skip(*rest, (size_t)size);
	*out_truncated = all > size;
	return true;
}

static bool read_changes(struct str *rest, struct arena *arena,
			 struct run_git_change_list *out_changes, bool *out_truncated,
			 struct error *error)
{
	struct str section;
	if (!cut_section(rest, &section, out_truncated))
		return fail_strange(error);
	struct run_git_change *changes =
		arena_array(arena, struct run_git_change, count_records(section));
	size_t count = 0;
	while (section.size > 0 && read_change(&section, arena, &changes[count]))
		count++;
	*out_changes = (struct run_git_change_list){ changes, count };
	return section.size == 0 || *out_truncated || fail_strange(error);
}

static struct str whole_lines(struct str text, size_t most)
{
	text = str_head(text, most);
	while (text.size > 0 && text.at[text.size - 1] != '\n')
		text.size--;
	return text;
}

bool git_output_diff(struct str text, size_t most, struct arena *arena,
		     struct run_git_diff_outputs *out_outputs, struct error *error)
{
	struct run_git_change_list changes;
	bool more_files;
	struct str diff = text;
	if (!read_changes(&diff, arena, &changes, &more_files, error))
		return false;
	bool truncated = diff.size > most;
	if (truncated)
		diff = whole_lines(diff, most);
	SET(out_outputs, files, changes);
	SET(out_outputs, files_truncated, more_files);
	SET(out_outputs, diff, text_of(diff, arena));
	SET(out_outputs, truncated, truncated);
	return true;
}

bool git_output_commit(struct str text, struct arena *arena,
		       struct run_git_commit_outputs *out_outputs, struct error *error)
{
	struct str commit, branch, parent;
	struct run_git_change_list changes;
	bool more_files;
	if (!cut_line(&text, &commit) || !cut_line(&text, &branch) || !cut_line(&text, &parent) ||
	    commit.size == 0)
		return fail_strange(error);
	if (!read_changes(&text, arena, &changes, &more_files, error))
		return false;
	SET(out_outputs, commit, text_of(commit, arena));
	if (branch.size > 0)
		SET(out_outputs, branch, text_of(branch, arena));
	if (parent.size > 0)
		SET(out_outputs, parent, text_of(parent, arena));
	SET(out_outputs, files, changes);
	SET(out_outputs, files_truncated, more_files);
	return true;
}

/* ---- checkouts and what follows -------------------------------------------------------- */

static struct str_list lines_of(struct str text, struct arena *arena)
{
	size_t count = 0;
	struct str line;
	for (size_t i = 0; i < text.size; i++)
		count += text.at[i] == '\n';
	struct str *lines = arena_array(arena, struct str, count);
	for (size_t i = 0; i < count && cut_line(&text, &line); i++)
		lines[i] = text_of(line, arena);
	return (struct str_list){ lines, count };
}

bool git_output_claim(struct str text, struct arena *arena, struct git_claim *out_claim,
		      struct error *error)
{
	struct str branch, base, base_branch, tip;
	if (!cut_line(&text, &branch) || !cut_line(&text, &base) ||
	    !cut_line(&text, &base_branch) || !cut_line(&text, &tip) || branch.size == 0 ||
	    base.size == 0 || tip.size == 0)
		return fail_strange(error);
	*out_claim = (struct git_claim){ .branch = str_copy(arena, branch),
					 .base = str_copy(arena, base),
					 .base_branch = str_copy(arena, base_branch),
					 .tip = str_copy(arena, tip) };
	return true;
}

static bool read_conventions(struct str *rest, struct arena *arena,
			     struct run_git_convention_list *out_list)
{
	struct str line, path, text;
	int64_t count;
	bool truncated;
	if (!cut_line(rest, &line) || !str_to_int(line, &count) || count < 0 ||
	    count > LIMIT_GIT_CONVENTIONS)
		return false;
	struct run_git_convention *list =
		arena_array(arena, struct run_git_convention, (size_t)count);
	for (int64_t i = 0; i < count; i++) {
		if (!cut_line(rest, &path) || !cut_section(rest, &text, &truncated))
			return false;
		list[i] = *run_git_convention_new(arena);
		SET(&list[i], path, text_of(path, arena));
		SET(&list[i], text, text_of(text, arena));
		SET(&list[i], truncated, truncated);
	}
	*out_list = (struct run_git_convention_list){ list, (size_t)count };
	return true;
}

bool git_output_checkout(struct str text, struct arena *arena,
			 struct run_git_checkout_outputs *out_outputs, struct error *error)
{
	struct str branch, base, base_branch, tip, warnings;
	struct run_git_convention_list conventions;
	bool truncated;
	if (!cut_line(&text, &branch) || !cut_line(&text, &base) ||
	    !cut_line(&text, &base_branch) || !cut_line(&text, &tip) ||
	    !cut_section(&text, &warnings, &truncated) ||
	    !read_conventions(&text, arena, &conventions))
		return fail_strange(error);
	SET(out_outputs, branch, text_of(branch, arena));
	SET(out_outputs, base_commit, text_of(base, arena));
	if (base_branch.size > 0)
		SET(out_outputs, base_branch, text_of(base_branch, arena));
	SET(out_outputs, commit, text_of(tip, arena));
	SET(out_outputs, warnings, lines_of(warnings, arena));
	SET(out_outputs, conventions, conventions);
	return true;
}

bool git_output_pack(struct str bytes, struct arena *arena, struct git_pack *out_pack,
		     struct error *error)
{
	struct str branch, commit, count;
	if (!cut_line(&bytes, &branch) || !cut_line(&bytes, &commit) || !cut_line(&bytes, &count) ||
	    branch.size == 0 || commit.size == 0)
		return fail_strange(error);
	*out_pack = (struct git_pack){ .branch = str_copy(arena, branch),
				       .commit = str_copy(arena, commit),
				       .count = str_copy(arena, count),
				       .bytes = bytes };
	return true;
}

bool git_output_publish(struct str text, struct arena *arena,
			struct run_git_publish_outputs *out_outputs, struct error *error)
{
	struct str branch, commit, previous;
	if (!cut_line(&text, &branch) || !cut_line(&text, &commit) || !cut_line(&text, &previous))
		return fail_strange(error);
	SET(out_outputs, branch, text_of(branch, arena));
	SET(out_outputs, commit, text_of(commit, arena));
	SET(out_outputs, previous, text_of(previous, arena));
	return true;
}

bool git_output_snapshot(struct str text, struct arena *arena,
			 struct run_git_snapshot_outputs *out_outputs, struct error *error)
{
	struct str tree, commit;
	if (!cut_line(&text, &tree) || !cut_line(&text, &commit) || tree.size == 0)
		return fail_strange(error);
	SET(out_outputs, tree, text_of(tree, arena));
	if (commit.size > 0)
		SET(out_outputs, commit, text_of(commit, arena));
	return true;
}

bool git_output_restore(struct str text, struct arena *arena,
			struct run_git_restore_outputs *out_outputs, struct error *error)
{
	struct run_git_change_list changes;
	bool more_files;
	if (!read_changes(&text, arena, &changes, &more_files, error))
		return false;
	SET(out_outputs, files, changes);
	SET(out_outputs, files_truncated, more_files);
	return true;
}

bool git_output_hooks(struct str text, struct arena *arena,
		      struct run_git_hooks_outputs *out_outputs, struct error *error)
{
	struct run_git_change_list changes;
	struct str line, printed;
	bool more_files, truncated;
	if (!cut_line(&text, &line) || line.size != 3)
		return fail_strange(error);
	if (!read_changes(&text, arena, &changes, &more_files, error))
		return false;
	if (!cut_section(&text, &printed, &truncated))
		return fail_strange(error);
	SET(out_outputs, ran, line.at[0] == '1');
	SET(out_outputs, changed, line.at[2] == '1');
	SET(out_outputs, files, changes);
	SET(out_outputs, files_truncated, more_files);
	SET(out_outputs, stdout, text_of(printed, arena));
	if (str_trim(text).size > 0)
		SET(out_outputs, message, text_of(str_trim(text), arena));
	return true;
}

/* "M", path; or "R100", old path, path.  The files come in the order of their numbers. */
static bool read_status_letter(struct str *names, enum run_git_state *out_state)
{
	struct str letter, path;
	if (!cut_record(names, &letter) || letter.size == 0 || !state_of(letter.at[0], out_state))
		return false;
	bool two = letter.at[0] == 'R' || letter.at[0] == 'C';
	return cut_record(names, &path) && (!two || cut_record(names, &path));
}

static bool read_changed_files(struct str *rest, struct arena *arena, struct run_changes *out,
			       struct error *error)
{
	struct run_git_change_list changes;
	struct str names;
	bool more_names, more_files;
	if (!cut_section(rest, &names, &more_names))
		return fail_strange(error);
	if (!read_changes(rest, arena, &changes, &more_files, error))
		return false;
	struct run_changed_file *files = arena_array(arena, struct run_changed_file, changes.count);
	size_t count = 0;
	enum run_git_state state;
	for (; count < changes.count && read_status_letter(&names, &state); count++) {
		const struct run_git_change *change = &changes.at[count];
		struct run_changed_file *file = &files[count];
		*file = *run_changed_file_new(arena);
		SET(file, path, change->path);
		SET(file, status, state);
		if (has(change, old_path))
			SET(file, old_path, change->old_path);
		if (has(change, added))
			SET(file, added, change->added);
		if (has(change, deleted))
			SET(file, deleted, change->deleted);
	}
	SET(out, files, ((struct run_changed_file_list){ files, count }));
	SET(out, files_truncated, more_names || more_files);
	return true;
}

bool git_output_changes(struct str text, size_t diff_bytes, struct arena *arena,
			struct run_changes *out_changes, struct error *error)
{
	struct git_claim claim;
	struct str line;
	if (!git_output_claim(text, arena, &claim, error))
		return false;
	for (int i = 0; i < 4; i++)
		if (!cut_line(&text, &line))
			return fail_strange(error);
	if (!read_changed_files(&text, arena, out_changes, error))
		return false;
	SET(out_changes, branch, text_of(claim.branch, arena));
	SET(out_changes, base_commit, text_of(claim.base, arena));
	if (claim.base_branch.size > 0)
		SET(out_changes, base_branch, text_of(claim.base_branch, arena));
	SET(out_changes, commit, text_of(claim.tip, arena));
	if (diff_bytes > 0) {
		bool truncated = text.size > diff_bytes;
		SET(out_changes, diff,
		    text_of(truncated ? whole_lines(text, diff_bytes) : text, arena));
		SET(out_changes, truncated, truncated);
	}
	return true;
}
