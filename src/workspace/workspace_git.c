/* workspace/workspace_git.c -- snapshots of workspaces, made by git in child processes.
 *
 * git runs in the native sandbox and can write only the workspace and its git directory, so that
 * hostile files in a workspace cannot use git to reach anything else.  Each operation is one shell
 * script (prelude.sh, then take.sh, restore.sh, begin.sh, merge.sh, changes.sh, drop.sh or remove.sh) in one child
 * process.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/packed.h"
#include "base/sha256.h"
#include "base/slots.h"
#include "os/file.h"
#include "os/folder_usage.h"
#include "os/lock_holders.h"
#include "os/loop.h"
#include "os/failpoint.h"
#include "os/process.h"
#include "sandbox/sandbox.h"
#include "workspace/workspace.h"

/* Two files of a list of changes: names of objects, modes, a size and a path. */
enum { TREE_TEXT_LIMIT = 4096, CHANGES_TEXT_LIMIT = 1 << 20, BRANCH_HASH_CHARS = 16 };
/* The clock of a file system is behind by a tick of the kernel, and some store no microseconds. */
enum { FILE_CLOCK_US = 50000 };

struct workspace_git {
	struct workspace base;
	struct loop *loop;
	struct arena arena;
	const char *work, *trees, *locks; /* folders */
	struct slots operations;
	size_t jobs; /* on reader threads: the last one frees what is closed */
	bool closed;
};

/* Looks on a reader thread whether anything in a folder changed since a time. */
struct touch_job {
	struct job job; /* first */
	struct arena arena;
	struct workspace_git *git;
	uint64_t operation;
	const char *folder;
	int64_t since_us;
	bool touched;
};

/* A running take or restore. */
struct operation {
	struct workspace_git *git;
	uint64_t id;
	struct sandbox_lifeline lifeline;
	uint64_t process; /* 0 = it waits for a place */
	uint64_t timer;   /* its deadline */
	struct error why; /* it is told to end; code NONE = it is not */
	workspace_done *done;
	void *context;
	uint64_t argument;
	/* What it does, for an operation that waits for a place for its child. */
	struct arena arena;
	struct uuid run;
	const char *script;
	struct str branch, parent, tree;
	struct str branches; /* merge: lines of tree and name */
};

/* A folder that is being removed. */
struct dropping {
	struct arena arena;
	const char *folder, *index;
};

struct request {
	const struct uuid *run;
	const char *script;
	struct str branch, parent, tree, branches;
	int64_t timeout_us;
	int64_t since_us; /* of changes */
};

static struct workspace_git *git_of(struct workspace *workspace)
{
	return (struct workspace_git *)workspace;
}

static const char *run_path(struct arena *arena, const char *folder, const struct uuid *id,
			    const char *ending)
{
	char text[UUID_TEXT_SIZE];
	uuid_text(id, text);
	return str_format(arena, "%s/%s%s", folder, text, ending).at;
}

/* Names of branches are paths of steps; a hash is a good name of a file. */
static const char *branch_hash(struct arena *arena, struct str branch)
{
	char text[HASH_TEXT_SIZE];
	struct hash hash = hash_of(branch);
	hash_text(&hash, text);
	text[BRANCH_HASH_CHARS] = '\0';
	return str_format(arena, "%s", text).at;
}

/* No branch has this name, which stands for the folder of all. */
#define WORKSPACE_ALL_BRANCHES S("*")

static const char *folder_path(const struct workspace_git *git, const struct uuid *run,
			       struct str branch, struct arena *arena)
{
	if (branch.size == 0)
		return run_path(arena, git->work, run, "");
	if (str_equal(branch, WORKSPACE_ALL_BRANCHES))
		return run_path(arena, git->work, run, ".branches");
	return str_format(arena, "%s/%s", run_path(arena, git->work, run, ".branches"),
			  branch_hash(arena, branch))
		.at;
}

static bool folder(struct workspace *workspace, const struct uuid *run, struct str branch,
		   struct arena *arena, const char **out_path, struct error *error)
{
	const struct workspace_git *git = git_of(workspace);
	const char *path = folder_path(git, run, branch, arena);
	if ((branch.size > 0 &&
	     !folder_make(run_path(arena, git->work, run, ".branches"), error)) ||
	    !folder_make(path, error))
		return false;
	*out_path = path;
	return true;
}

static struct str script_text(const char *name)
{
	for (const struct packed_file *file = packed_scripts; file->name != NULL; file++)
		if (strcmp(file->name, name) == 0)
			return (struct str){ (const char *)file->bytes, file->size };
	bool packed = false;
	require(packed);
	return S("");
}

/* Takes the operation off the books and tells its owner. */
static void operation_finish(struct operation *operation, struct str tree,
			     const struct error *error)
{
	struct workspace_git *git = operation->git;
	platform_timer_stop(loop_platform(git->loop), operation->timer);
	slots_remove(&git->operations, operation->id);
	sandbox_lifeline_close(&operation->lifeline);
	if (operation->done != NULL)
		operation->done(operation->context, operation->argument,
				error->code == ERROR_NONE ? tree : S(""), error);
	arena_done(&operation->arena);
	free(operation);
}

/* take.sh prints "over FILES BYTES" for a folder that is too large. */
static bool is_over(struct str text, struct error *error)
{
	size_t space;
	if (!str_starts(text, S("over ")) || !str_find(str_skip(text, 5), S(" "), &space))
		return false;
	fail(error, ERROR_TOO_LARGE,
	     "the workspace is too large to be stored before this step: it has " STR_FMT
	     " files with " STR_FMT
	     " bytes, and %d files and %d bytes are allowed; delete files, or name those that need "
	     "not be restored in .gitignore",
	     STR_ARG(str_head(str_skip(text, 5), space)), STR_ARG(str_skip(text, 6 + space)),
	     LIMIT_SNAPSHOT_FILES, LIMIT_SNAPSHOT_BYTES);
	return true;
}

/* merge.sh prints a line "conflict FILE (BRANCHES)" for each file. */
static bool is_conflict(struct str text, struct error *error)
{
	AUTO(buf) files = { 0 };
	if (!str_starts(text, S("conflict ")))
		return false;
	while (text.size > 0) {
		size_t end;
		if (!str_find(text, S("\n"), &end))
			end = text.size;
		buf_add_format(&files, "%s" STR_FMT, files.size > 0 ? ", " : "",
			       STR_ARG(str_head(str_skip(text, 9), end - 9)));
		text = str_skip(text, end < text.size ? end + 1 : end);
	}
	fail(error, ERROR_CONFLICT,
	     "steps that ran in parallel changed the same files in ways that cannot be merged: " STR_FMT,
	     STR_ARG(str_head(buf_str(&files), 600)));
	return true;
}

static void operation_ended(void *context, uint64_t argument, const struct process_result *result)
{
	struct workspace_git *git = context;
	struct operation *operation = slots_get(&git->operations, argument);
	if (operation == NULL)
		return;
	struct error error = { 0 };
	struct str tree = str_trim(result->output);
	bool good = result->exit_status == 0 && tree.size > 0;
	if (!good && operation->why.code != ERROR_NONE)
		error = operation->why;
	else if (!sandbox_was_built(&operation->lifeline))
		fail(&error, ERROR_ISOLATION, "the sandbox for git cannot be built: " STR_FMT,
		     STR_ARG(str_head(str_trim(result->errors), 300)));
	else if (!good)
		fail(&error, ERROR_IO, "cannot take or restore the workspace: " STR_FMT,
		     STR_ARG(str_head(str_trim(result->errors), 300)));
	else
		(void)(is_over(tree, &error) || is_conflict(tree, &error));
	operation_finish(operation, tree, &error);
}

/* An operation that still waits for a place ends at once; a child is killed first. */
static void operation_end(struct operation *operation, enum error_code code, const char *text)
{
	if (operation->why.code != ERROR_NONE)
		return;
	fail(&operation->why, code, "%s", text);
	if (operation->process == 0) {
		struct error why = operation->why;
		operation_finish(operation, S(""), &why);
		return;
	}
	sandbox_lifeline_cut(&operation->lifeline);
	process_end(operation->git->loop, operation->process);
}

static void timed_out(void *context, uint64_t id)
{
	struct operation *operation = slots_get(&((struct workspace_git *)context)->operations, id);
	if (operation == NULL)
		return;
	operation->timer = 0;
	operation_end(operation, ERROR_TIMEOUT,
		      "the workspace could not be stored or restored in time");
}

static void cancel_now(void *context, uint64_t id)
{
	struct operation *operation = slots_get(&((struct workspace_git *)context)->operations, id);
	if (operation != NULL)
		operation_end(operation, ERROR_CANCELLED, "it was told to stop");
}

/* From a timer: done() must not be called from inside cancel(). */
static void cancel(struct workspace *workspace, uint64_t operation)
{
	struct workspace_git *git = git_of(workspace);
	if (slots_get(&git->operations, operation) != NULL)
		platform_timer_start(loop_platform(git->loop), 0, cancel_now, git, operation);
}

static const char *const *operation_command(const struct operation *operation, struct arena *arena)
{
	const char **words = arena_array(arena, const char *, 16);
	size_t count = 0;
	words[count++] = "/usr/bin/env";
	words[count++] = "GIT_DIR=/trees";
	words[count++] = "GIT_WORK_TREE=/workspace";
	words[count++] = "GIT_CONFIG_NOSYSTEM=1";
	words[count++] = "GIT_CONFIG_GLOBAL=/dev/null";
	words[count++] = operation->branch.size == 0
				 ? "GIT_INDEX_FILE=/trees/index"
				 : str_format(arena, "GIT_INDEX_FILE=/trees/index-%s",
					      branch_hash(arena, operation->branch))
					   .at;
	words[count++] = str_format(arena, "TREE=" STR_FMT, STR_ARG(operation->tree)).at;
	words[count++] = str_format(arena, "BRANCHES=" STR_FMT, STR_ARG(operation->branches)).at;
	words[count++] = str_format(arena, "FILES=%d", LIMIT_SNAPSHOT_FILES).at;
	words[count++] = str_format(arena, "MOST=%d", LIMIT_RECORDED_FILES).at;
	words[count++] = str_format(arena, "BYTES=%d", LIMIT_SNAPSHOT_BYTES).at;
	words[count++] = "/bin/sh";
	words[count++] = "-c";
	words[count++] = str_format(arena, STR_FMT STR_FMT, STR_ARG(script_text("prelude.sh")),
				    STR_ARG(script_text(operation->script)))
				 .at;
	return words;
}

/* The user for whom a server of root runs commands (sandbox/sandbox_limits.h): what such a command
 * has written belongs to that user, and root without its capabilities cannot read it.  0 = none. */
static int64_t owner_of(const char *const *folders, size_t count)
{
	int64_t owner = 0;
	for (size_t i = 0; i < count && owner == 0 && geteuid() == 0; i++)
		owner = file_owner(folders[i]);
	return owner;
}

static bool operation_spawn(struct operation *operation, struct error *error)
{
	struct workspace_git *git = operation->git;
	AUTO(arena) arena = { 0 };
	const char *workspace, *parent;
	const char *git_folder = run_path(&arena, git->trees, &operation->run, ".git");
	bool begins = strcmp(operation->script, "begin.sh") == 0;
	if (!folder(&git->base, &operation->run, operation->branch, &arena, &workspace, error) ||
	    !folder(&git->base, &operation->run, operation->parent, &arena, &parent, error) ||
	    !folder_make(git_folder, error) || !sandbox_lifeline_open(&operation->lifeline, error))
		return false;
	const struct sandbox_mount mounts[] = { { git_folder, "/trees", true },
						{ parent, "/parent", false } };
	const char *const folders[] = { workspace, parent, git_folder };
	const struct sandbox_spec sandbox = { .workspace = workspace,
					      .user = owner_of(folders, COUNT(folders)),
					      .mounts = mounts,
					      .mount_count = begins ? 2 : 1,
					      .status_descriptor = 3,
					      .lifeline_descriptor = 4,
					      .keeper_descriptor = 5,
					      .started_descriptor = 6,
					      .command = operation_command(operation, &arena) };
	const int keep[] = { operation->lifeline.status, operation->lifeline.lifeline,
			     operation->lifeline.keeper, operation->lifeline.status };
	const struct process_spec spec = {
		.argv = sandbox_find(S("native"))->command(&sandbox, &arena),
		.keep = keep,
		.keep_count = COUNT(keep),
		.output_limit = strcmp(operation->script, "changes.sh") == 0 ? CHANGES_TEXT_LIMIT
									     : TREE_TEXT_LIMIT,
		.done = operation_ended,
		.context = git,
		.argument = operation->id,
	};
	if (process_start(git->loop, &spec, &operation->process, error))
		return true;
	sandbox_lifeline_close(&operation->lifeline);
	operation->lifeline = (struct sandbox_lifeline){ -1, -1, -1, -1 };
	return false;
}

/* The operation's turn has come: there is a place for its child. */
static void operation_begin(void *context, uint64_t id)
{
	struct workspace_git *git = context;
	struct operation *operation = slots_get(&git->operations, id);
	struct error error;
	if (operation == NULL || operation_spawn(operation, &error))
		return;
	if (error.code == ERROR_UNAVAILABLE)
		platform_child_await(loop_platform(git->loop), operation_begin, git, id);
	else
		operation_finish(operation, S(""), &error);
}

static void git_free(struct workspace_git *git)
{
	arena_done(&git->arena);
	free(git);
}

/* Every write changes the time of the file's or the folder's inode, and no program can set it.  So a
 * folder without a newer inode is as it was. */
static void touch_run(struct job *job, unsigned thread)
{
	struct touch_job *touch = (struct touch_job *)job;
	struct folder_usage usage;
	struct error error;
	(void)thread;
	touch->touched = true;
	if (!folder_usage_begin(&usage, touch->folder, &error))
		return;
	bool complete = folder_usage_step(&usage, LIMIT_TOUCH_ENTRIES);
	touch->touched =
		!complete || usage.too_deep || usage.changed_us + FILE_CLOCK_US >= touch->since_us;
	folder_usage_done(&usage);
}

static void touch_done(struct job *job)
{
	struct touch_job *touch = (struct touch_job *)job;
	struct workspace_git *git = touch->git;
	struct operation *operation =
		git->closed ? NULL : slots_get(&git->operations, touch->operation);
	const struct error good = { 0 };
	git->jobs--;
	if (git->closed && git->jobs == 0)
		git_free(git);
	else if (operation != NULL && touch->touched)
		platform_child_await(loop_platform(git->loop), operation_begin, git, operation->id);
	else if (operation != NULL)
		operation_finish(operation, S("changed 0"), &good);
	arena_done(&touch->arena);
	free(touch);
}

static void touch_begin(struct operation *operation, int64_t since_us)
{
	struct touch_job *touch = calloc(1, sizeof(*touch));
	require(touch != NULL);
	touch->job = (struct job){ .run = touch_run, .done = touch_done, .name = "folder" };
	touch->git = operation->git;
	touch->operation = operation->id;
	touch->folder =
		folder_path(operation->git, &operation->run, operation->branch, &touch->arena);
	touch->since_us = since_us;
	operation->git->jobs++;
	platform_submit(loop_platform(operation->git->loop), LANE_READER, &touch->job);
}

/* Every operation waits for its place in the queue of all children, also when there is one now:
 * done() must not be called from inside take() or restore(). */
static uint64_t operation_start(struct workspace *workspace, const struct request *request,
				workspace_done *done, void *context, uint64_t argument)
{
	struct workspace_git *git = git_of(workspace);
	struct operation *operation = calloc(1, sizeof(*operation));
	require(operation != NULL);
	*operation = (struct operation){ .git = git,
					 .lifeline = { -1, -1, -1, -1 },
					 .done = done,
					 .context = context,
					 .argument = argument,
					 .run = *request->run,
					 .script = request->script };
	operation->branch = str_copy(&operation->arena, request->branch);
	operation->parent = str_copy(&operation->arena, request->parent);
	operation->tree = str_copy(&operation->arena, request->tree);
	operation->branches = str_copy(&operation->arena, request->branches);
	operation->id = slots_add(&git->operations, operation);
	int64_t timeout_us =
		request->timeout_us > 0 ? request->timeout_us : (int64_t)LIMIT_SNAPSHOT_MS * 1000;
	operation->timer = platform_timer_start(loop_platform(git->loop), timeout_us, timed_out,
						git, operation->id);
	if (request->since_us > 0)
		touch_begin(operation, request->since_us);
	else
		platform_child_await(loop_platform(git->loop), operation_begin, git, operation->id);
	return operation->id;
}

static uint64_t take(struct workspace *workspace, const struct uuid *run, struct str branch,
		     int64_t timeout_us, workspace_done *done, void *context, uint64_t argument)
{
	FAILPOINT("workspace.before_take");
	struct request request = {
		.run = run, .script = "take.sh", .branch = branch, .timeout_us = timeout_us
	};
	return operation_start(workspace, &request, done, context, argument);
}

static uint64_t restore(struct workspace *workspace, const struct uuid *run, struct str branch,
			struct str tree, workspace_done *done, void *context, uint64_t argument)
{
	FAILPOINT("workspace.before_restore");
	struct request request = {
		.run = run, .script = "restore.sh", .branch = branch, .tree = tree
	};
	return operation_start(workspace, &request, done, context, argument);
}

static uint64_t begin(struct workspace *workspace, const struct uuid *run, struct str branch,
		      struct str parent, struct str tree, int64_t timeout_us, workspace_done *done,
		      void *context, uint64_t argument)
{
	FAILPOINT("workspace.before_begin");
	struct request request = { .run = run,
				   .script = "begin.sh",
				   .branch = branch,
				   .parent = parent,
				   .tree = tree,
				   .timeout_us = timeout_us };
	return operation_start(workspace, &request, done, context, argument);
}

static uint64_t merge(struct workspace *workspace, const struct uuid *run, struct str branch,
		      struct str base, const struct workspace_branch *branches, size_t count,
		      workspace_done *done, void *context, uint64_t argument)
{
	AUTO(buf) lines = { 0 };
	FAILPOINT("workspace.before_merge");
	for (size_t i = 0; i < count; i++)
		buf_add_format(&lines, "%s" STR_FMT " " STR_FMT, i == 0 ? "" : "\n",
			       STR_ARG(branches[i].tree), STR_ARG(branches[i].name));
	struct request request = { .run = run,
				   .script = "merge.sh",
				   .branch = branch,
				   .tree = base,
				   .branches = buf_str(&lines) };
	return operation_start(workspace, &request, done, context, argument);
}

static uint64_t changes(struct workspace *workspace, const struct uuid *run, struct str branch,
			struct str tree, int64_t since_us, workspace_done *done, void *context,
			uint64_t argument)
{
	FAILPOINT("workspace.before_changes");
	struct request request = { .run = run,
				   .script = "changes.sh",
				   .branch = branch,
				   .tree = tree,
				   .since_us = since_us };
	return operation_start(workspace, &request, done, context, argument);
}

/* The folders are empty: they and their indexes go.  Others of the run may be in use. */
static void dropped(void *context, uint64_t argument, struct str tree, const struct error *error)
{
	struct dropping *dropping = context;
	(void)argument;
	(void)tree;
	(void)error; /* what could not be removed goes with the run */
	rmdir(dropping->folder);
	if (dropping->index != NULL)
		unlink(dropping->index);
	arena_done(&dropping->arena);
	free(dropping);
}

static void drop(struct workspace *workspace, const struct uuid *run, struct str branch)
{
	struct workspace_git *git = git_of(workspace);
	struct dropping *dropping = calloc(1, sizeof(*dropping));
	require(dropping != NULL);
	dropping->folder = folder_path(git, run, branch, &dropping->arena);
	if (branch.size > 0)
		dropping->index = str_format(&dropping->arena, "%s/index-%s",
					     run_path(&dropping->arena, git->trees, run, ".git"),
					     branch_hash(&dropping->arena, branch))
					  .at;
	else
		dropping->folder = run_path(&dropping->arena, git->work, run, ".branches");
	if (access(dropping->folder, F_OK) != 0) {
		arena_done(&dropping->arena);
		free(dropping);
		return;
	}
	struct request request = { .run = run,
				   .script = "drop.sh",
				   .branch = branch.size > 0 ? branch : WORKSPACE_ALL_BRANCHES };
	operation_start(workspace, &request, dropped, dropping, 0);
}

/* A workspace that is being removed, and whom to tell. */
struct removing {
	struct arena arena;
	const char *branches, *folder, *trees;
	workspace_done *done;
	void *context;
	uint64_t argument;
};

static void removed(void *context, uint64_t argument, struct str tree, const struct error *error)
{
	struct removing *removing = context;
	(void)argument;
	FAILPOINT("workspace.emptied");
	rmdir(removing->branches);
	rmdir(removing->folder);
	rmdir(removing->trees);
	removing->done(removing->context, removing->argument, tree, error);
	arena_done(&removing->arena);
	free(removing);
}

static void remove_all(struct workspace *workspace, const struct uuid *run, workspace_done *done,
		       void *context, uint64_t argument)
{
	struct workspace_git *git = git_of(workspace);
	struct removing *removing = calloc(1, sizeof(*removing));
	require(removing != NULL);
	FAILPOINT("workspace.before_remove");
	*removing = (struct removing){ .done = done, .context = context, .argument = argument };
	removing->branches = run_path(&removing->arena, git->work, run, ".branches");
	removing->folder = run_path(&removing->arena, git->work, run, "");
	removing->trees = run_path(&removing->arena, git->trees, run, ".git");
	drop(workspace, run, S(""));
	struct request request = { .run = run, .script = "remove.sh" };
	operation_start(workspace, &request, removed, removing, 0);
}

static int by_bytes(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(struct uuid));
}

/* A run is in both folders, and in the first one twice while it has branches. */
static bool list(const struct workspace *workspace, struct arena *arena, struct uuid **out_runs,
		 size_t *out_count, struct error *error)
{
	const struct workspace_git *git = (const struct workspace_git *)workspace;
	struct str_list names[2];
	size_t count = 0;
	if (!folder_list(git->work, arena, &names[0], error) ||
	    !folder_list(git->trees, arena, &names[1], error))
		return false;
	*out_runs = arena_array(arena, struct uuid, names[0].count + names[1].count);
	for (size_t n = 0; n < 2; n++)
		for (size_t i = 0; i < names[n].count; i++) {
			struct str rest = names[n].at[i], id;
			if (str_cut(&rest, '.', &id) && uuid_parse(id, &(*out_runs)[count]))
				count++;
		}
	if (count > 1)
		qsort(*out_runs, count, sizeof(**out_runs), by_bytes);
	*out_count = count > 0;
	for (size_t i = 1; i < count; i++)
		if (!uuid_equal(&(*out_runs)[i], &(*out_runs)[i - 1]))
			(*out_runs)[(*out_count)++] = (*out_runs)[i];
	return true;
}

static bool lock(struct workspace *workspace, const struct uuid *effect, int *out_descriptor,
		 struct error *error)
{
	AUTO(arena) arena = { 0 };
	return file_lock_for_children(run_path(&arena, git_of(workspace)->locks, effect, ""),
				      out_descriptor, error);
}

static void unlock(struct workspace *workspace, const struct uuid *effect, int descriptor)
{
	AUTO(arena) arena = { 0 };
	unlink(run_path(&arena, git_of(workspace)->locks, effect, ""));
	close(descriptor);
}

static size_t kill_holders(struct workspace *workspace, const struct uuid *effect)
{
	AUTO(arena) arena = { 0 };
	return lock_holders_kill(run_path(&arena, git_of(workspace)->locks, effect, ""));
}

static const struct workspace_ops ops = {
	.folder = folder,
	.take = take,
	.restore = restore,
	.begin = begin,
	.merge = merge,
	.changes = changes,
	.cancel = cancel,
	.drop = drop,
	.list = list,
	.remove = remove_all,
	.lock = lock,
	.unlock = unlock,
	.kill_holders = kill_holders,
};

bool workspace_git_open(struct loop *loop, const char *data_folder,
			struct workspace **out_workspace, struct error *error)
{
	struct workspace_git *git = calloc(1, sizeof(*git));
	require(git != NULL);
	git->base.ops = &ops;
	git->loop = loop;
	git->work = str_format(&git->arena, "%s/work", data_folder).at;
	git->trees = str_format(&git->arena, "%s/trees", data_folder).at;
	git->locks = str_format(&git->arena, "%s/locks", data_folder).at;
	if (!folder_make(git->work, error) || !folder_make(git->trees, error) ||
	    !folder_make(git->locks, error)) {
		workspace_git_close(&git->base);
		return false;
	}
	*out_workspace = &git->base;
	return true;
}

void workspace_git_close(struct workspace *workspace)
{
	struct workspace_git *git = git_of(workspace);
	uint32_t index = 0;
	uint64_t id;
	for (struct operation *left; (left = slots_next(&git->operations, &index, &id)) != NULL;) {
		sandbox_lifeline_close(&left->lifeline);
		arena_done(&left->arena);
		free(left);
	}
	slots_done(&git->operations);
	git->closed = true;
	if (git->jobs == 0)
		git_free(git);
}
