/* tool/tool_git_branch.c -- git_checkout and git_publish: a run's own work tree of the user's repository.
 *
 * git_checkout claims a branch of the repository, and makes the workspace a clone on it.  git_publish moves that
 * branch to the commits of the clone.  Each has two children, and no child can write to both places (decision
 * 0080).  The repository is the one that the run's start has recorded; no input can name another.
 *
 * Both can be repeated at any time: the claim is found again by the run's id in the reflog, a clone that was not
 * completed is made anew, and a branch that has been moved is there already.
 */
#include "base/limits.h"
#include "contract/run_tool_types.h"
#include "os/failpoint.h"
#include "tool/git_call.h"
#include "tool/git_output.h"

enum { NAMED_CHARS = 8 }; /* of the run's id, in the name of a branch */

static struct git_call *branch_new(const struct tool_host *host, const struct tool_call *call,
				   const char *operation)
{
	char id[UUID_TEXT_SIZE];
	struct git_call *git = git_call_new(host, call, operation);
	git_call_set(git, S("RUN"), uuid_text(&call->run, id));
	return git;
}

/* ---- git_checkout ---------------------------------------------------------------------- */

static const struct json *read_checkout(struct git_call *git, const struct process_result *result,
					struct error *error)
{
	struct arena *arena = &git->arena;
	struct run_git_checkout_outputs *outputs = run_git_checkout_outputs_new(arena);
	return git_output_checkout(result->output, arena, outputs, error)
		       ? TOOL_OUTPUT(run_git_checkout_outputs, outputs, arena)
		       : NULL;
}

/* The branch is the run's: now the clone. */
static const struct json *read_claim(struct git_call *git, const struct process_result *result,
				     struct error *error)
{
	struct git_claim claim;
	FAILPOINT("tool.git_claimed");
	if (!git_output_claim(result->output, &git->arena, &claim, error))
		return NULL;
	git->in_repository = false;
	git->operation = "clone";
	git->read = read_checkout;
	git_call_set(git, S("BRANCH"), claim.branch);
	git_call_set(git, S("BASE_COMMIT"), claim.base);
	git_call_set(git, S("BASE_BRANCH"), claim.base_branch);
	git_call_set(git, S("TIP"), claim.tip);
	git_call_set_number(git, S("CONVENTIONS"), LIMIT_GIT_CONVENTIONS);
	git_call_set_number(git, S("CONVENTION_BYTES"), LIMIT_GIT_CONVENTION_BYTES);
	return NULL;
}

static bool checkout_start(const struct tool_host *host, const struct tool_call *call,
			   uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	char id[UUID_TEXT_SIZE];
	const struct run_git_checkout_inputs *inputs =
		TOOL_INPUTS(run_git_checkout_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	struct git_call *git = branch_new(host, call, "claim");
	struct str run = str_head(uuid_text(&call->run, id), NAMED_CHARS);
	git->script = "git_repository";
	git->in_repository = true;
	git->read = read_claim;
	git_call_set(git, S("BRANCH"),
		     has(inputs, branch) && inputs->branch.size > 0
			     ? inputs->branch
			     : str_format(&arena, "baton/" STR_FMT, STR_ARG(run)));
	git_call_set(git, S("BASE"), has(inputs, base) ? inputs->base : S(""));
	git_call_set(git, S("ALLOW_DIRTY"), inputs->allow_dirty ? S("1") : S("0"));
	git_call_set(git, S("CLAIM"), inputs->claim ? S("1") : S("0"));
	git_call_set_number(git, S("BRANCHES"), LIMIT_GIT_BRANCHES);
	git_call_set_number(git, S("FILES"), LIMIT_SNAPSHOT_FILES);
	git_call_set_number(git, S("BYTES"), LIMIT_SNAPSHOT_BYTES);
	return git_call_begin_in(git, call, true, out_running, error);
}

/* ---- git_publish ----------------------------------------------------------------------- */

static const struct json *read_publish(struct git_call *git, const struct process_result *result,
				       struct error *error)
{
	struct arena *arena = &git->arena;
	struct run_git_publish_outputs *outputs = run_git_publish_outputs_new(arena);
	return git_output_publish(result->output, arena, outputs, error)
		       ? TOOL_OUTPUT(run_git_publish_outputs, outputs, arena)
		       : NULL;
}

/* The commits are here: now they go to the repository. */
static const struct json *read_pack(struct git_call *git, const struct process_result *result,
				    struct error *error)
{
	struct git_pack pack;
	(void)result;
	FAILPOINT("tool.git_packed");
	if (git->bytes.size > git->bytes_limit) {
		fail(error, ERROR_TOO_LARGE,
		     "the commits of the run have more than %d bytes, which is the limit of "
		     "git_publish; commit smaller files",
		     LIMIT_GIT_PUBLISH_BYTES);
		return NULL;
	}
	if (!git_output_pack(buf_str(&git->bytes), &git->arena, &pack, error))
		return NULL;
	git->bytes_limit = 0;
	git->input = pack.bytes;
	git->read_only = false;
	git->script = "git_repository";
	git->operation = "accept";
	git->repository = NULL;
	git->in_repository = true;
	git->place = git->target;
	git->read = read_publish;
	git_call_set(git, S("BRANCH"), pack.branch);
	git_call_set(git, S("COMMIT"), pack.commit);
	git_call_set(git, S("COUNT"), pack.count);
	return NULL;
}

static bool publish_start(const struct tool_host *host, const struct tool_call *call,
			  uint64_t *out_running, struct error *error)
{
	AUTO(arena) arena = { 0 };
	const struct run_git_publish_inputs *inputs =
		TOOL_INPUTS(run_git_publish_inputs, call, &arena, error);
	if (inputs == NULL)
		return false;
	struct git_call *git = branch_new(host, call, "pack");
	git->read = read_pack;
	git->read_only = true;
	git->bytes_limit = LIMIT_GIT_PUBLISH_BYTES;
	git_call_take_place(git, S("."), (struct str_list){ 0 });
	git_call_set(git, S("BRANCH"), has(inputs, branch) ? inputs->branch : S(""));
	return git_call_begin_in(git, call, false, out_running, error);
}

const struct tool tool_git_checkout = {
	.name = "git_checkout",
	.text = "Makes the run's workspace a work tree of the run's repository, on a new branch of its own. "
		"The repository itself gets the branch and is not changed otherwise.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_MEDIUM,
	.timeout_seconds = LIMIT_GIT_CHECKOUT_SECONDS,
	.inputs = run_git_checkout_inputs_type,
	.outputs = run_git_checkout_outputs_type,
	.start = checkout_start,
	.child = true,
	.stop = tool_context_stop,
};

const struct tool tool_git_publish = {
	.name = "git_publish",
	.text = "Moves the run's branch in the run's repository to the commits that the run has made. Use it "
		"after git_commit. Other branches, the files and the index there are not touched.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_MEDIUM,
	.inputs = run_git_publish_inputs_type,
	.outputs = run_git_publish_outputs_type,
	.start = publish_start,
	.child = true,
	.stop = tool_context_stop,
};
