/* api/api_files.c -- files of a profile's repository, for pages that show plans and designs; paths for new profiles.
 *
 * The kernel confines a path to repo_root while it resolves it, symbolic links included (os/confined_path.h).  Everything
 * is read on a reader thread.
 */
#include "api/read_job.h"
#include "base/utf8.h"
#include "contract/pipeline_types.h"
#include "contract/run_file_types.h"
#include "document/agent_registry.h"
#include "os/confined_folder.h"
#include "os/confined_path.h"
#include "os/file.h"
#include "tool/path_pattern.h"

struct files_read {
	struct api_read_job answer; /* first */
	struct str profile, path, pattern;
};

static struct files_read *files_new(struct api_call *call, struct str path)
{
	struct files_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->profile = str_copy(&r->answer.read.arena, api_query(call, S("profile")));
	r->path = str_copy(&r->answer.read.arena, path);
	return r;
}

/* repo_root, and the path relative to it. */
static bool find_place(struct files_read *r, struct store_reader *reader, struct str *out_root,
		       struct str *out_path)
{
	const struct pipeline_profile *profile;
	size_t at;
	if (!agent_registry_profile(reader, r->profile, &r->answer.read.arena, &profile,
				    &r->answer.error))
		return false;
	if (profile == NULL)
		return fail(&r->answer.error, ERROR_CONFIGURATION,
			    "no profile is active; name one with ?profile=");
	if (str_find(r->path, S("\0"), &at))
		return fail(&r->answer.error, ERROR_INVALID, "the path contains a NUL character");
	struct str root = profile->repo_root, path = r->path;
	while (root.size > 1 && str_ends(root, S("/")))
		root = str_head(root, root.size - 1);
	if (str_starts(path, root) && (path.size == root.size || path.at[root.size] == '/'))
		path = str_skip(path, root.size + (path.size > root.size));
	*out_root = root;
	*out_path = path;
	return true;
}

static void read_work(struct executor_read *read, struct store_reader *reader)
{
	struct files_read *r = (struct files_read *)read;
	struct arena *arena = &read->arena;
	struct str root, path, text;
	uint64_t size;
	size_t bad;
	if (!find_place(r, reader, &root, &path) ||
	    !confined_read(str_c(arena, root), str_c(arena, path), 0, LIMIT_FILE_SHOWN_BYTES, arena,
			   &text, &size, &r->answer.error))
		return;
	if (size > LIMIT_FILE_SHOWN_BYTES) {
		fail(&r->answer.error, ERROR_TOO_LARGE, STR_FMT " has more than %d bytes",
		     STR_ARG(path), LIMIT_FILE_SHOWN_BYTES);
		return;
	}
	if (!utf8_valid(text, &bad)) {
		fail(&r->answer.error, ERROR_INVALID,
		     STR_FMT " is not a text: byte %zu is not UTF-8", STR_ARG(path), bad);
		return;
	}
	struct run_file_content *content = run_file_content_new(arena);
	SET(content, filename, path_pattern_last_name(path));
	SET(content, path, path);
	SET(content, content, text);
	r->answer.text = run_file_content_text(content, arena);
}

void api_file_read(struct api_call *call, const struct run_file_request *body)
{
	api_read_job_begin(&files_new(call, body->path)->answer, read_work);
}

void api_file_show(struct api_call *call)
{
	api_read_job_begin(&files_new(call, call->path)->answer, read_work);
}

/* The files of the folder that match; links and folders are left out. */
static void put_entries(struct files_read *r, const struct confined_folder *folder,
			const struct path_patterns *patterns, struct str root, struct str directory)
{
	struct arena *arena = &r->answer.read.arena;
	struct run_file_entry *files = arena_array(arena, struct run_file_entry, folder->count);
	size_t count = 0;
	for (size_t i = 0; i < folder->count; i++) {
		struct str name = str_copy(arena, str_from_c(folder->at[i].name)), path = name;
		struct confined_info info;
		size_t bad;
		if (directory.size > 0)
			path = str_format(arena, STR_FMT "/" STR_FMT, STR_ARG(directory),
					  STR_ARG(name));
		if (folder->at[i].kind != CONFINED_FILE || !utf8_valid(name, &bad) ||
		    !path_patterns_match(patterns, name) ||
		    !confined_examine(str_c(arena, root), str_c(arena, path), &info))
			continue;
		struct run_file_entry *entry = &files[count++];
		*entry = *run_file_entry_new(arena);
		SET(entry, name, name);
		SET(entry, relative_path, path);
		SET(entry, size_bytes, (int64_t)info.size);
		SET(entry, modified_at, info.modified_us);
	}
	struct run_file_list *list = run_file_list_new(arena);
	SET(list, files, ((struct run_file_entry_list){ files, count }));
	SET(list, directory, directory);
	SET(list, truncated, folder->dropped > 0);
	r->answer.text = run_file_list_text(list, arena);
}

static void list_work(struct executor_read *read, struct store_reader *reader)
{
	struct files_read *r = (struct files_read *)read;
	struct arena *arena = &read->arena;
	struct path_patterns patterns = { 0 };
	struct confined_folder *folder;
	struct str root, directory;
	if (!find_place(r, reader, &root, &directory) ||
	    !path_patterns_add(&patterns, r->pattern, arena, &r->answer.error))
		return;
	while (str_ends(directory, S("/")))
		directory = str_head(directory, directory.size - 1);
	if (str_equal(directory, S(".")))
		directory = S("");
	if (!confined_folder_open(str_c(arena, root), str_c(arena, directory), LIMIT_FILES_LISTED,
				  &folder, &r->answer.error))
		return;
	while (!confined_folder_step(folder, LIMIT_FOLDER_USAGE_ENTRIES))
		continue;
	put_entries(r, folder, &patterns, root, directory);
	confined_folder_close(folder);
}

void api_file_list(struct api_call *call)
{
	struct files_read *r = files_new(call, api_query(call, S("directory")));
	struct str pattern = api_query(call, S("glob_pattern"));
	r->pattern = str_copy(&r->answer.read.arena, pattern.size > 0 ? pattern : S("*.md"));
	api_read_job_begin(&r->answer, list_work);
}

/* ---- paths --------------------------------------------------------------------------- */

/* The folder with HEAD: .git, or what the file .git of a work tree leads to. */
static struct str head_folder(struct str path, struct arena *arena)
{
	struct str git = str_format(arena, STR_FMT "/.git", STR_ARG(path)), text;
	struct error unread;
	if (!file_read(git.at, LIMIT_NAME_BYTES * 32, arena, &text, &unread) ||
	    !str_starts(text, S("gitdir:")))
		return git;
	text = str_trim(str_skip(text, 7));
	return str_starts(text, S("/"))
		       ? text
		       : str_format(arena, STR_FMT "/" STR_FMT, STR_ARG(path), STR_ARG(text));
}

static void validate_work(struct executor_read *read, struct store_reader *reader)
{
	struct files_read *r = (struct files_read *)read;
	struct arena *arena = &read->arena;
	struct run_path_status *status = run_path_status_new(arena);
	struct str head = S(""), branch = S("ref: refs/heads/");
	struct error unread;
	size_t at;
	(void)reader;
	if (!str_starts(r->path, S("/")) || str_find(r->path, S("\0"), &at)) {
		fail(&r->answer.error, ERROR_INVALID, "the path is not absolute");
		return;
	}
	const char *path = str_c(arena, r->path);
	bool folder = folder_exists(path);
	const char *file =
		str_format(arena, STR_FMT "/HEAD", STR_ARG(head_folder(r->path, arena))).at;
	bool git = folder && file_read(file, LIMIT_NAME_BYTES * 32, arena, &head, &unread);
	head = str_trim(head);
	SET(status, path, r->path);
	SET(status, exists, folder || file_exists(path));
	SET(status, is_folder, folder);
	SET(status, is_git_repo, git);
	if (git && str_starts(head, branch))
		SET(status, branch, str_skip(head, branch.size));
	SET(status, message,
	    git                 ? S("it is a git repository")
	    : folder            ? S("it is a folder, but not a git repository; run git init there")
	    : file_exists(path) ? S("it is not a folder")
				: S("it does not exist"));
	r->answer.text = run_path_status_text(status, arena);
}

void api_path_validate(struct api_call *call, const struct run_path_request *body)
{
	api_read_job_begin(&files_new(call, body->path)->answer, validate_work);
}
