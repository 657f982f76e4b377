/* tool/git_call.c -- children of git tools.
 *
 * Only a script of ours and git run in the sandbox of such a child, but for git_hooks.  A child that writes to the
 * user's repository does not see the run's workspace, and one that writes to the workspace can only read the
 * repository: what comes back is a pack that goes through this process (decision 0080).
 */
#include "tool/git_call.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/packed.h"
#include "os/failpoint.h"
#include "os/file.h"
#include "sandbox/sandbox_limits.h"
#include "tool/git_place.h"

enum { REFUSED = 64 };

struct git_call *git_call_of(struct tool_child *child)
{
	return (struct git_call *)(void *)((char *)child - offsetof(struct git_call, child));
}

void git_call_free(struct git_call *git)
{
	buf_done(&git->bytes);
	arena_done(&git->arena);
	free(git);
}

void git_call_set(struct git_call *git, struct str name, struct str value)
{
	size_t at = 0;
	while (at < git->variable_count && !str_equal(git->variables[at].name, name))
		at++;
	require(at < GIT_CALL_VARIABLES);
	git->variables[at] = (struct sandbox_variable){ name, str_copy(&git->arena, value) };
	if (at == git->variable_count)
		git->variable_count++;
}

void git_call_set_number(struct git_call *git, struct str name, int64_t value)
{
	git_call_set(git, name, str_format(&git->arena, "%lld", (long long)value));
}

void git_call_take_place(struct git_call *git, struct str repository, struct str_list paths)
{
	struct str *copy = arena_array(&git->arena, struct str, paths.count);
	for (size_t i = 0; i < paths.count; i++)
		copy[i] = str_copy(&git->arena, paths.at[i]);
	git->paths = (struct str_list){ copy, paths.count };
	git->repository = str_c(&git->arena, repository);
}

/* ---- the child ----------------------------------------------------------------------- */

static struct str packed_text(const char *name)
{
	for (const struct packed_file *file = packed_runners; file->name != NULL; file++)
		if (strcmp(file->name, name) == 0)
			return (struct str){ (const char *)file->bytes, file->size };
	bool packed = false;
	require(packed);
	return S("");
}

static const char *const *command_line(const struct git_call *git, struct arena *arena)
{
	const char **words = arena_array(arena, const char *, GIT_CALL_PATHS + 8);
	size_t count = 0;
	words[count++] = "/bin/sh";
	words[count++] = "-c";
	words[count++] =
		str_format(arena, STR_FMT "\n" STR_FMT, STR_ARG(packed_text("git_prelude")),
			   STR_ARG(packed_text(git->script)))
			.at;
	words[count++] = "sh";
	words[count++] = git->operation;
	if (git->repository != NULL)
		words[count++] = git->repository;
	if (!git->paths_as_input)
		for (size_t i = 0; i < git->paths.count && i < GIT_CALL_PATHS; i++)
			words[count++] = str_c(arena, git->paths.at[i]);
	words[count] = NULL;
	return words;
}

/* A server of root works on a repository as its owner, so that what it writes there belongs to them. */
static void choose_user(const struct git_call *git, struct tool_child_spec *spec)
{
	if (git->keeps_owners)
		spec->box.owning = SANDBOX_OWN_NOTHING;
	if (geteuid() != 0 || git->place == NULL || !git->host.sandbox->contained)
		return;
	int64_t owner = file_owner(git->place->common);
	if (git->in_repository) {
		spec->box.user = owner;
		spec->box.owning = SANDBOX_OWN_NOTHING;
	} else if (spec->limits != NULL && spec->limits->enforcement == SANDBOX_UID) {
		spec->box.user = owner > 0 ? owner : SANDBOX_USER_ROOT;
		spec->box.owning = SANDBOX_OWN_WORKSPACE;
	}
}

/* Shows the repository to the child, and says where it is. */
static void add_repository(struct git_call *git, struct tool_child_spec *spec,
			   struct sandbox_mount *mounts)
{
	const struct git_place *place = git->place;
	bool contained = git->host.sandbox->contained;
	if (place == NULL)
		return;
	mounts[0] = (struct sandbox_mount){ place->top, "/repository", false };
	mounts[1] = (struct sandbox_mount){ place->gitdir, "/repository.gitdir", false };
	mounts[2] = (struct sandbox_mount){ place->common, "/repository.common", false };
	spec->box.mounts = mounts;
	spec->box.mount_count = git->in_repository ? 2 : 3;
	if (git->in_repository) {
		spec->box.workspace = place->common;
		spec->limits = NULL;
	}
	const char *common = git->in_repository ? "/workspace" : mounts[2].inside;
	git_call_set(git, S("PLACE"), str_from_c(place->top));
	git_call_set(git, S("TOP"), str_from_c(contained ? mounts[0].inside : place->top));
	git_call_set(git, S("GITDIR"), str_from_c(contained ? mounts[1].inside : place->gitdir));
	git_call_set(git, S("COMMON"), str_from_c(contained ? common : place->common));
}

bool git_call_spawn(struct git_call *git, double timeout_seconds, struct error *error)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) input = { 0 };
	struct sandbox_mount mounts[GIT_CALL_MOUNTS];
	for (size_t i = 0; git->paths_as_input && i < git->paths.count; i++) {
		buf_add(&input, git->paths.at[i]);
		buf_add_char(&input, '\0');
	}
	struct tool_child_spec spec = {
		.sandbox = git->host.sandbox,
		.limits = git->host.limits,
		.box = { .workspace = git->workspace,
			 .read_only = git->read_only,
			 .command = command_line(git, &arena) },
		.lock = git->lock,
		.input = git->input.size > 0 ? git->input : buf_str(&input),
		.timeout_seconds = timeout_seconds,
		.environment = git->variables,
	};
	add_repository(git, &spec, mounts);
	choose_user(git, &spec);
	spec.environment_count = git->variable_count;
	return tool_child_start(&git->child, git->host.loop, &spec, error);
}

/* Bytes beyond the limit are counted, so that the reader knows. */
static void piece_arrived(struct tool_child *child, struct str bytes)
{
	struct git_call *git = git_call_of(child);
	if (git->bytes.size <= git->bytes_limit)
		buf_add(&git->bytes, str_head(bytes, git->bytes_limit + 1 - git->bytes.size));
}

bool git_call_succeeded(const struct git_call *git, const struct process_result *result,
			struct error *error)
{
	static const enum error_code codes[] = { ERROR_INVALID, ERROR_CONFLICT, ERROR_NOT_FOUND,
						 ERROR_TOOL_FAILED };
	AUTO(arena) arena = { 0 };
	int refusal = result->exit_status - REFUSED;
	if (!tool_child_was_cut_off(&git->child, result) && tool_child_began(&git->child) &&
	    refusal >= 0 && refusal < (int)COUNT(codes)) {
		struct str text = tool_context_utf8(&arena, str_trim(result->errors));
		return fail(error, codes[refusal], STR_FMT, STR_ARG(text));
	}
	return tool_child_succeeded(&git->child, result, error);
}

/* ---- calls --------------------------------------------------------------------------- */

void git_call_finish(struct git_call *git, const struct tool_result *result)
{
	tool_context_done(&git->running, result);
	git_call_free(git);
}

static void next_begin(void *context, uint64_t id);

/* The next child of the call, as soon as there is a place for it. */
static void next_spawn(struct git_call *git)
{
	struct tool_result answer = { 0 };
	git->child.piece = git->bytes_limit > 0 ? piece_arrived : NULL;
	git->waiting = false;
	if (git->running.stop_error.code == ERROR_NONE &&
	    git_call_spawn(git, git->timeout_seconds, &answer.error))
		return;
	if (git->running.stop_error.code == ERROR_NONE && answer.error.code == ERROR_UNAVAILABLE) {
		git->waiting = true;
		platform_child_await(loop_platform(git->host.loop), next_begin,
				     git->running.tool_context, git->running.id);
		return;
	}
	git_call_finish(git, &answer);
}

static void next_begin(void *context, uint64_t id)
{
	struct git_call *git = (struct git_call *)tool_context_find(context, id);
	if (git != NULL)
		next_spawn(git);
}

void git_call_ended(struct tool_child *child, const struct process_result *result)
{
	struct git_call *git = git_call_of(child);
	struct tool_result answer = { 0 };
	FAILPOINT("tool.git_ended");
	if (git_call_succeeded(git, result, &answer.error))
		answer.output = git->read(git, result, &answer.error);
	tool_child_close(child);
	if (answer.output == NULL && answer.error.code == ERROR_NONE)
		next_spawn(git);
	else
		git_call_finish(git, &answer);
}

/* A commit that is being looked up ends soon by itself. */
static void git_end(struct tool_running *running)
{
	struct git_call *git = (struct git_call *)running;
	if (!git->verifying && !git->waiting)
		tool_child_end(&git->child);
}

struct git_call *git_call_new(const struct tool_host *host, const struct tool_call *call,
			      const char *operation)
{
	struct git_call *git = calloc(1, sizeof(*git));
	require(git != NULL);
	git->host = *host;
	git->script = "git";
	git->operation = operation;
	if (call->workspace != NULL)
		git->workspace = str_c(&git->arena, str_from_c(call->workspace));
	git->lock = call->lock;
	git->timeout_seconds =
		call->tool->timeout_seconds > 0 ? call->tool->timeout_seconds : LIMIT_TOOL_SECONDS;
	git->child.log = call->log;
	git->child.mask = call->mask;
	git->child.ended = git_call_ended;
	git->running.end = git_end;
	git_call_set_number(git, S("NUMBER_BYTES"), LIMIT_GIT_NUMBER_BYTES);
	return git;
}

/* ---- where the repository is ------------------------------------------------------------- */

/* Looks for the repository on a reader thread: its file system may be slow. */
struct place_job {
	struct job job; /* first */
	struct arena arena;
	struct tool_context *tool_context;
	uint64_t running;
	struct str folder;
	struct git_place place;
	struct error error;
};

static void place_run(struct job *job, unsigned thread)
{
	struct place_job *p = (struct place_job *)job;
	(void)thread;
	if (git_place_find(p->folder, &p->arena, &p->place, &p->error))
		p->error = (struct error){ 0 };
}

static void place_done(struct job *job)
{
	struct place_job *p = (struct place_job *)job;
	struct git_call *git = (struct git_call *)tool_context_find(p->tool_context, p->running);
	if (git != NULL) {
		struct tool_result answer = { .error = p->error };
		arena_join(&git->arena, &p->arena);
		git->target = arena_copy(&git->arena, &p->place, sizeof(p->place));
		if (git->place_at_once)
			git->place = git->target;
		if (answer.error.code == ERROR_NONE)
			next_spawn(git);
		else
			git_call_finish(git, &answer);
	}
	arena_done(&p->arena);
	free(p);
}

bool git_call_begin_in(struct git_call *git, const struct tool_call *call, bool at_once,
		       uint64_t *out_running, struct error *error)
{
	if (call->repository.size == 0) {
		git_call_free(git);
		return fail(error, ERROR_CONFIGURATION,
			    "the run has no repository: start it with a profile that names one "
			    "(repo_root), which baton init makes");
	}
	struct place_job *p = calloc(1, sizeof(*p));
	require(p != NULL);
	tool_context_begin(&git->running, &git->host, call);
	*out_running = git->running.id;
	git->place_at_once = at_once;
	git->waiting = true;
	p->job = (struct job){ .run = place_run, .done = place_done, .name = "repository" };
	p->folder = str_copy(&p->arena, call->repository);
	p->tool_context = git->running.tool_context;
	p->running = git->running.id;
	platform_submit(loop_platform(git->host.loop), LANE_READER, &p->job);
	return true;
}

bool git_call_begin(struct git_call *git, const struct tool_call *call, uint64_t *out_running,
		    struct error *error)
{
	git->child.piece = git->bytes_limit > 0 ? piece_arrived : NULL;
	if (!git_call_spawn(git, git->timeout_seconds, error)) {
		git_call_free(git);
		return false;
	}
	tool_context_begin(&git->running, &git->host, call);
	*out_running = git->running.id;
	return true;
}
