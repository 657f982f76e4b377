/* active/run_changes.c -- asks the clone of a run, then the repository. */
#include "active/run_changes.h"

#include <stdlib.h>

#include "active/executor_state.h"
#include "contract/run_tool_types.h"
#include "tool/git_changes.h"

struct changes_read {
	struct arena arena;
	struct executor *executor;
	struct uuid run;
	struct str repository;
	const struct json *query;
	bool from_workspace;
	run_changes_done *done;
	void *context;
	uint64_t argument;
};

static void read_free(struct changes_read *r)
{
	arena_done(&r->arena);
	free(r);
}

static void read_ended(void *context, uint64_t argument, const struct tool_result *result);

static bool read_begin(struct changes_read *r, struct error *error)
{
	struct workspace *workspace = r->executor->settings.workspace;
	uint64_t running;
	struct tool_call call = { .tool = &git_changes,
				  .name = S("git_changes"),
				  .class = git_changes.class,
				  .run = r->run,
				  .inputs = r->query,
				  .repository = r->repository,
				  .read_only = true,
				  .lock = -1,
				  .done = read_ended,
				  .context = r };
	if (r->from_workspace &&
	    !workspace->ops->folder(workspace, &r->run, S(""), &r->arena, &call.workspace, error))
		return false;
	return git_changes.start(&r->executor->settings.host, &call, &running, error);
}

static void read_ended(void *context, uint64_t argument, const struct tool_result *result)
{
	struct changes_read *r = context;
	struct error error = result->error;
	(void)argument;
	/* The user of the sandbox cannot enter a workspace that is being made. */
	bool none = error.code == ERROR_NOT_FOUND || error.code == ERROR_ISOLATION;
	if (none && r->from_workspace && r->repository.size > 0) {
		r->from_workspace = false;
		if (read_begin(r, &error))
			return;
	}
	r->done(r->context, r->argument, result->output, &error);
	read_free(r);
}

bool executor_read_changes(struct executor *executor, const struct run_changes_request *request,
			   run_changes_done *done, void *context, uint64_t argument,
			   struct error *error)
{
	struct changes_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->executor = executor;
	r->run = request->run;
	r->repository = str_copy(&r->arena, request->repository);
	r->from_workspace = !request->workspace_removed;
	r->done = done;
	r->context = context;
	r->argument = argument;
	r->query = contract_tree(run_changes_query_type(), request->query, &r->arena);
	if (request->workspace_removed && request->repository.size == 0)
		fail(error, ERROR_NOT_FOUND, "the run has no repository");
	else if (read_begin(r, error))
		return true;
	read_free(r);
	return false;
}
