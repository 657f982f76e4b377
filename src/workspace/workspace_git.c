/* workspace/workspace_git.c -- snapshots of workspaces, made by git in child processes.
 *
 * git runs in the native sandbox and can write only the workspace and its git directory, so that
 * hostile files in a workspace cannot use git to reach anything else.  Each operation is one shell
 * script (take.sh, restore.sh) in one child process.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/packed.h"
#include "base/slots.h"
#include "os/file.h"
#include "os/loop.h"
#include "os/failpoint.h"
#include "os/process.h"
#include "sandbox/sandbox.h"
#include "workspace/workspace.h"

enum { TREE_TEXT_LIMIT = 4096 };

struct workspace_git {
	struct workspace base;
	struct loop *loop;
	struct arena arena;
	const char *work, *trees, *locks; /* folders */
	struct slots operations;
};

/* A running take or restore. */
struct operation {
	struct workspace_git *git;
	uint64_t id;
	struct sandbox_lifeline lifeline;
	workspace_done *done;
	void *context;
	uint64_t argument;
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

static bool folder(struct workspace *workspace, const struct uuid *run, struct arena *arena,
		   const char **out_path, struct error *error)
{
	const char *path = run_path(arena, git_of(workspace)->work, run, "");
	if (!folder_make(path, error))
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

static void operation_ended(void *context, uint64_t argument, const struct process_result *result)
{
	struct workspace_git *git = context;
	struct operation *operation = slots_get(&git->operations, argument);
	if (operation == NULL)
		return;
	slots_remove(&git->operations, argument);
	struct error error = { 0 };
	struct str tree = str_trim(result->output);
	if (!sandbox_was_built(&operation->lifeline))
		fail(&error, ERROR_ISOLATION, "the sandbox for git cannot be built: " STR_FMT,
		     STR_ARG(str_head(str_trim(result->errors), 300)));
	else if (result->exit_status != 0 || tree.size == 0)
		fail(&error, ERROR_IO, "cannot take or restore the workspace: " STR_FMT,
		     STR_ARG(str_head(str_trim(result->errors), 300)));
	sandbox_lifeline_close(&operation->lifeline);
	operation->done(operation->context, operation->argument,
			error.code == ERROR_NONE ? tree : S(""), &error);
	free(operation);
}

static bool operation_spawn(struct operation *operation, const struct uuid *run, const char *script,
			    struct str tree, struct error *error)
{
	struct workspace_git *git = operation->git;
	AUTO(arena) arena = { 0 };
	const char *workspace;
	const char *git_folder = run_path(&arena, git->trees, run, ".git");
	if (!folder(&git->base, run, &arena, &workspace, error) ||
	    !folder_make(git_folder, error) || !sandbox_lifeline_open(&operation->lifeline, error))
		return false;
	const struct sandbox_mount mount = { git_folder, "/trees", true };
	const char *const command[] = { "/usr/bin/env",
					"GIT_DIR=/trees",
					"GIT_WORK_TREE=/workspace",
					"GIT_CONFIG_NOSYSTEM=1",
					"GIT_CONFIG_GLOBAL=/dev/null",
					str_format(&arena, "TREE=" STR_FMT, STR_ARG(tree)).at,
					"/bin/sh",
					"-c",
					str_c(&arena, script_text(script)),
					NULL };
	const struct sandbox_spec sandbox = { .workspace = workspace,
					      .mounts = &mount,
					      .mount_count = 1,
					      .status_descriptor = 3,
					      .lifeline_descriptor = 4,
					      .command = command };
	const int keep[] = { operation->lifeline.status, operation->lifeline.lifeline };
	const struct process_spec spec = {
		.argv = sandbox_find(S("native"))->command(&sandbox, &arena),
		.keep = keep,
		.keep_count = COUNT(keep),
		.output_limit = TREE_TEXT_LIMIT,
		.done = operation_ended,
		.context = git,
		.argument = operation->id,
	};
	uint64_t process;
	if (process_start(git->loop, &spec, &process, error))
		return true;
	sandbox_lifeline_close(&operation->lifeline);
	return false;
}

/* A failure to start is reported from a timer, because done() must not be called from inside take()
 * or restore(). */
struct failed_start {
	struct workspace_git *git;
	workspace_done *done;
	void *context;
	uint64_t argument;
	struct error error;
};

static void report_failed_start(void *context, uint64_t argument)
{
	struct failed_start *failed = context;
	(void)argument;
	failed->done(failed->context, failed->argument, S(""), &failed->error);
	free(failed);
}

static void operation_start(struct workspace_git *git, const struct uuid *run, const char *script,
			    struct str tree, workspace_done *done, void *context, uint64_t argument)
{
	struct operation *operation = calloc(1, sizeof(*operation));
	require(operation != NULL);
	*operation = (struct operation){
		.git = git, .done = done, .context = context, .argument = argument
	};
	operation->id = slots_add(&git->operations, operation);
	struct error error;
	if (operation_spawn(operation, run, script, tree, &error))
		return;
	slots_remove(&git->operations, operation->id);
	free(operation);
	struct failed_start *failed = calloc(1, sizeof(*failed));
	require(failed != NULL);
	*failed = (struct failed_start){ git, done, context, argument, error };
	platform_timer_start(loop_platform(git->loop), 0, report_failed_start, failed, 0);
}

static void take(struct workspace *workspace, const struct uuid *run, workspace_done *done,
		 void *context, uint64_t argument)
{
	FAILPOINT("workspace.before_take");
	operation_start(git_of(workspace), run, "take.sh", S(""), done, context, argument);
}

static void restore(struct workspace *workspace, const struct uuid *run, struct str tree,
		    workspace_done *done, void *context, uint64_t argument)
{
	FAILPOINT("workspace.before_restore");
	operation_start(git_of(workspace), run, "restore.sh", tree, done, context, argument);
}

static bool lock(struct workspace *workspace, const struct uuid *effect, int *out_descriptor,
		 struct error *error)
{
	AUTO(arena) arena = { 0 };
	return file_lock(run_path(&arena, git_of(workspace)->locks, effect, ""), out_descriptor,
			 error);
}

static void unlock(struct workspace *workspace, const struct uuid *effect, int descriptor)
{
	AUTO(arena) arena = { 0 };
	unlink(run_path(&arena, git_of(workspace)->locks, effect, ""));
	close(descriptor);
}

static const struct workspace_ops ops = { folder, take, restore, lock, unlock };

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
		free(left);
	}
	slots_done(&git->operations);
	arena_done(&git->arena);
	free(git);
}
