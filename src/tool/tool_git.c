/* tool/tool_git.c -- git_status, git_diff and git_commit in a repository of the run's workspace.
 *
 * git runs as a sandboxed child, by a script that keeps the repository's own configuration away from
 * it (git.sh): hooks, filters, drivers and monitors that a hostile repository names are never run.
 *
 * A commit cannot be taken back by restoring the workspace, whose trees leave .git alone (decision
 * 0038).  So git_commit has class probe: the effect's id is a trailer of the message, and after a crash
 * the probe looks for it in all branches.  The commit happens when its ref is moved, in one rename.  A
 * call that was stopped or timed out is looked up in the same way, so that it ends with what is true.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/packed.h"
#include "contract/run_tool_types.h"
#include "os/failpoint.h"
#include "tool/git_output.h"
#include "tool/tool_child.h"
#include "tool/tool_context.h"

enum { MAX_PATHS = 64, MAX_VARIABLES = 8, PROBE_SECONDS = 120, REFUSED = 64 };

enum git_operation { GIT_STATUS, GIT_DIFF, GIT_COMMIT, GIT_PROBE };

static const char *const operation_names[] = { "status", "diff", "commit", "probe" };

struct git_call {
	struct tool_running running; /* first */
	struct tool_child child;
	struct arena arena;
	struct tool_host host;
	enum git_operation operation;
	const char *workspace, *repository;
	bool read_only;
	int lock;
	size_t diff_bytes;
	struct str_list paths;
	struct sandbox_variable variables[MAX_VARIABLES];
	size_t variable_count;
	struct error error; /* of a commit that is looked up after it was cut off */
	bool verifying;
	tool_asked *asked; /* of a probe; NULL = a call */
	void *context;
	uint64_t argument;
};

static struct git_call *git_of(struct tool_child *child)
{
	return (struct git_call *)(void *)((char *)child - offsetof(struct git_call, child));
}

static void git_free(struct git_call *git)
{
	arena_done(&git->arena);
	free(git);
}

static void set(struct git_call *git, struct str name, struct str value)
{
	require(git->variable_count < MAX_VARIABLES);
	git->variables[git->variable_count++] =
		(struct sandbox_variable){ name, str_copy(&git->arena, value) };
}

static void set_number(struct git_call *git, struct str name, int64_t value)
{
	set(git, name, str_format(&git->arena, "%lld", (long long)value));
}

/* ---- the child ----------------------------------------------------------------------- */

static const char *script_text(struct arena *arena)
{
	for (const struct packed_file *file = packed_runners; file->name != NULL; file++)
		if (strcmp(file->name, "git") == 0)
			return str_c(arena, (struct str){ (const char *)file->bytes, file->size });
	bool packed = false;
	require(packed);
	return NULL;
}

/* Paths of a commit come on stdin, where there is room for them; others are arguments. */
static const char *const *command_line(const struct git_call *git, struct arena *arena)
{
	const char **words = arena_array(arena, const char *, MAX_PATHS + 8);
	size_t count = 0;
	words[count++] = "/bin/sh";
	words[count++] = "-c";
	words[count++] = script_text(arena);
	words[count++] = "sh";
	words[count++] = operation_names[git->operation];
	words[count++] = git->repository;
	if (git->operation == GIT_STATUS || git->operation == GIT_DIFF)
		for (size_t i = 0; i < git->paths.count && i < MAX_PATHS; i++)
			words[count++] = str_c(arena, git->paths.at[i]);
	words[count] = NULL;
	return words;
}

static bool spawn(struct git_call *git, double timeout_seconds, struct error *error)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) input = { 0 };
	for (size_t i = 0; git->operation == GIT_COMMIT && i < git->paths.count; i++) {
		buf_add(&input, git->paths.at[i]);
		buf_add_char(&input, '\0');
	}
	const struct tool_child_spec spec = {
		.sandbox = git->host.sandbox,
		.limits = git->host.limits,
		.box = { .workspace = git->workspace,
			 .read_only = git->read_only,
			 .command = command_line(git, &arena) },
		.lock = git->lock,
		.input = buf_str(&input),
		.timeout_seconds = timeout_seconds,
		.environment = git->variables,
		.environment_count = git->variable_count,
	};
	return tool_child_start(&git->child, git->host.loop, &spec, error);
}

/* The script's own refusals have exit statuses of their own and a sentence on stderr. */
static bool succeeded(const struct git_call *git, const struct process_result *result,
		      struct error *error)
{
	static const enum error_code codes[] = { ERROR_INVALID, ERROR_CONFLICT, ERROR_NOT_FOUND };
	AUTO(arena) arena = { 0 };
	int refusal = result->exit_status - REFUSED;
	if (!tool_child_was_cut_off(&git->child, result) && tool_child_began(&git->child) &&
	    refusal >= 0 && refusal < (int)COUNT(codes)) {
		struct str text = tool_context_utf8(&arena, str_trim(result->errors));
		return fail(error, codes[refusal], STR_FMT, STR_ARG(text));
	}
	return tool_child_succeeded(&git->child, result, error);
}

static const struct json *output_of(struct git_call *git, const struct process_result *result,
				    struct error *error)
{
	struct arena *arena = &git->arena;
	struct str text = result->output;
	if (git->operation == GIT_STATUS) {
		struct run_git_status_outputs *outputs = run_git_status_outputs_new(arena);
		return git_output_status(text, result->output_dropped == 0, arena, outputs, error)
			       ? TOOL_OUTPUT(run_git_status_outputs, outputs, arena)
			       : NULL;
	}
	if (git->operation == GIT_DIFF) {
		struct run_git_diff_outputs *outputs = run_git_diff_outputs_new(arena);
		return git_output_diff(text, git->diff_bytes, arena, outputs, error)
			       ? TOOL_OUTPUT(run_git_diff_outputs, outputs, arena)
			       : NULL;
	}
	struct run_git_commit_outputs *outputs = run_git_commit_outputs_new(arena);
	return git_output_commit(text, arena, outputs, error)
		       ? TOOL_OUTPUT(run_git_commit_outputs, outputs, arena)
		       : NULL;
}

static void finish(struct git_call *git, const struct tool_result *result)
{
	tool_context_done(&git->running, result);
	git_free(git);
}

/* What a probe found.  Without a repository there is no commit, and none will come. */
static enum tool_answer answer_of(struct git_call *git, const struct process_result *result,
				  const struct json **out_output)
{
	struct error error;
	if (!succeeded(git, result, &error))
		return error.code == ERROR_NOT_FOUND ? TOOL_NOT_HAPPENED : TOOL_UNKNOWN;
	if (str_equal(str_trim(result->output), S("none")))
		return TOOL_NOT_HAPPENED;
	*out_output = output_of(git, result, &error);
	return *out_output != NULL ? TOOL_HAPPENED : TOOL_UNKNOWN;
}

/* ---- a commit that was cut off --------------------------------------------------------- */

static void verified(struct tool_child *child, const struct process_result *result)
{
	struct git_call *git = git_of(child);
	struct tool_result answer = { .error = git->error };
	switch (answer_of(git, result, &answer.output)) {
	case TOOL_HAPPENED:
		answer.error = (struct error){ 0 };
		break;
	case TOOL_NOT_HAPPENED:
		break;
	case TOOL_UNKNOWN:
		tool_fail_unknown(&git->running, "it was started", &answer.error);
		break;
	}
	tool_child_close(child);
	finish(git, &answer);
}

static void verify(struct git_call *git)
{
	struct tool_result answer = { .error = git->error };
	struct error error;
	git->verifying = true;
	git->operation = GIT_PROBE;
	git->child = (struct tool_child){ .ended = verified };
	if (spawn(git, LIMIT_GIT_VERIFY_MS / 1000.0, &error))
		return;
	tool_fail_unknown(&git->running, "it was started", &answer.error);
	finish(git, &answer);
}

/* ---- calls --------------------------------------------------------------------------- */

static void git_ended(struct tool_child *child, const struct process_result *result)
{
	struct git_call *git = git_of(child);
	struct tool_result answer = { 0 };
	FAILPOINT("tool.git_ended");
	if (succeeded(git, result, &answer.error))
		answer.output = output_of(git, result, &answer.error);
	bool uncertain = git->operation == GIT_COMMIT && answer.output == NULL &&
			 tool_child_began(child) &&
			 (git->running.stop_error.code != ERROR_NONE ||
			  tool_child_was_cut_off(child, result) || result->exit_status == 0);
	tool_child_close(child);
	if (!uncertain) {
		finish(git, &answer);
		return;
	}
	git->error = answer.error;
	verify(git);
}

/* A commit that is being looked up ends soon by itself. */
static void git_end(struct tool_running *running)
{
	struct git_call *git = (struct git_call *)running;
	if (!git->verifying)
		tool_child_end(&git->child);
}

static struct git_call *git_new(const struct tool_host *host, const struct tool_call *call,
				enum git_operation operation)
{
	struct git_call *git = calloc(1, sizeof(*git));
	require(git != NULL);
	git->host = *host;
	git->operation = operation;
	git->read_only = operation == GIT_STATUS || operation == GIT_DIFF;
	git->workspace = str_c(&git->arena, str_from_c(call->workspace));
	git->lock = call->lock;
	git->child.log = call->log;
	git->child.mask = call->mask;
	git->running.end = git_end;
	return git;
}

static void take_place(struct git_call *git, struct str repository, struct str_list paths)
{
	struct str *copy = arena_array(&git->arena, struct str, paths.count);
	for (size_t i = 0; i < paths.count; i++)
		copy[i] = str_copy(&git->arena, paths.at[i]);
	git->paths = (struct str_list){ copy, paths.count };
	git->repository = str_c(&git->arena, repository);
}

static bool begin(struct git_call *git, const struct tool_call *call, uint64_t *out_running,
		  struct error *error)
{
	git->child.ended = git_ended;
	if (!spawn(git,
		   call->tool->timeout_seconds > 0 ? call->tool->timeout_seconds
						   : LIMIT_TOOL_SECONDS,
		   error)) {
		git_free(git);
		return false;
	}
	tool_context_begin(&git->running, &git->host, call);
	*out_running = git->running.id;
	return true;
}

static bool status_start(const struct tool_host *host, const struct tool_call *call,
			 uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_git_status_inputs *inputs =
		TOOL_INPUTS(run_git_status_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	struct git_call *git = git_new(host, call, GIT_STATUS);
	take_place(git, inputs->repository, inputs->paths);
	set(git, S("UNTRACKED"), inputs->untracked ? S("all") : S("no"));
	return begin(git, call, out_running, error);
}

static bool diff_start(const struct tool_host *host, const struct tool_call *call,
		       uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_git_diff_inputs *inputs =
		TOOL_INPUTS(run_git_diff_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	struct git_call *git = git_new(host, call, GIT_DIFF);
	take_place(git, inputs->repository, inputs->paths);
	git->diff_bytes = (size_t)inputs->max_bytes;
	set(git, S("BASE"), has(inputs, base) ? inputs->base : S(""));
	set(git, S("STAGED"), inputs->staged ? S("1") : S("0"));
	set_number(git, S("CONTEXT"), inputs->context);
	set_number(git, S("DIFF_BYTES"), inputs->max_bytes + 1);
	set_number(git, S("NUMBER_BYTES"), LIMIT_GIT_NUMBER_BYTES);
	return begin(git, call, out_running, error);
}

/* The variables of a commit are those of its probe, too. */
static struct git_call *commit_new(const struct tool_host *host, const struct tool_call *call,
				   enum git_operation operation, struct error *error)
{
	AUTO(arena) arena = { 0 };
	char id[UUID_TEXT_SIZE];
	const struct run_git_commit_inputs *inputs =
		TOOL_INPUTS(run_git_commit_inputs, call, &arena, error);
	if (inputs == NULL)
		return NULL;
	struct git_call *git = git_new(host, call, operation);
	take_place(git, inputs->repository, inputs->paths);
	set(git, S("EFFECT"), uuid_text(&call->effect, id));
	set(git, S("MESSAGE"), inputs->message);
	set(git, S("PATHS"), inputs->paths.count > 0 ? S("1") : S("0"));
	set(git, S("ALLOW_EMPTY"), inputs->allow_empty ? S("1") : S("0"));
	set(git, S("NAME"), has(inputs, author_name) ? inputs->author_name : S(""));
	set(git, S("EMAIL"), has(inputs, author_email) ? inputs->author_email : S(""));
	set_number(git, S("NUMBER_BYTES"), LIMIT_GIT_NUMBER_BYTES);
	return git;
}

static bool commit_start(const struct tool_host *host, const struct tool_call *call,
			 uint64_t *out_running, struct error *error)
{
	struct git_call *git = commit_new(host, call, GIT_COMMIT, error);
	return git != NULL && begin(git, call, out_running, error);
}

static void probe_ended(struct tool_child *child, const struct process_result *result)
{
	struct git_call *git = git_of(child);
	const struct json *output = NULL;
	enum tool_answer answer = answer_of(git, result, &output);
	tool_child_close(child);
	git->asked(git->context, git->argument, answer, output);
	git_free(git);
}

static bool commit_probe(const struct tool_host *host, const struct tool_call *call,
			 struct error *error)
{
	struct git_call *git = commit_new(host, call, GIT_PROBE, error);
	if (git == NULL)
		return false;
	git->asked = call->asked;
	git->context = call->context;
	git->argument = call->argument;
	git->child.log = NULL;
	git->child.ended = probe_ended;
	if (spawn(git, PROBE_SECONDS, error))
		return true;
	git_free(git);
	return false;
}

const struct tool tool_git_status = {
	.name = "git_status",
	.text = "Lists the files of a git repository in the run's workspace that differ from its last "
		"commit. Use it before git_commit, and to see what has been done.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_LOW,
	.inputs = run_git_status_inputs_type,
	.outputs = run_git_status_outputs_type,
	.start = status_start,
	.child = true,
	.stop = tool_context_stop,
};

const struct tool tool_git_diff = {
	.name = "git_diff",
	.text = "Shows what has changed in a git repository in the run's workspace, as a unified diff. "
		"Use it to check the work; new files that git does not track are not in it.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_LOW,
	.inputs = run_git_diff_inputs_type,
	.outputs = run_git_diff_outputs_type,
	.start = diff_start,
	.child = true,
	.stop = tool_context_stop,
};

const struct tool tool_git_commit = {
	.name = "git_commit",
	.text = "Commits changes in a git repository in the run's workspace. Use it when a piece of "
		"work is complete and checked.",
	.class = RUN_CLASS_PROBE,
	.risk = RUN_RISK_MEDIUM,
	.inputs = run_git_commit_inputs_type,
	.outputs = run_git_commit_outputs_type,
	.start = commit_start,
	.child = true,
	.stop = tool_context_stop,
	.probe = commit_probe,
};
