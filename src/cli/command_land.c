/* cli/command_land.c -- baton land: brings the commits of a run to a branch of the user's repository.
 *
 * It is the user's own git that works, in the current folder, with the user's configuration and hooks, like a command
 * that they type.  Nothing begins unless the repository is clean, so a failure can always be taken back: what git
 * has begun is aborted, and the branch and the files are as they were.
 *
 *	merge     git merge --no-ff
 *	--rebase  the commits are picked one by one on top of the branch; the run's own branch stays
 *	--squash  one commit with all changes
 */
#include <string.h>

#include "cli/child_command.h"
#include "cli/output.h"
#include "cli/run_lookup.h"
#include "cli/server_request.h"
#include "os/file.h"
#include "os/process.h"

enum { GIT_WORDS = 12, LISTED = 20 };

struct land_state {
	struct run_name run;
	const char *branch, *into, *began; /* began: the branch that was checked out */
	struct str before;                 /* commit of the branch before */
	bool switched;
};

static bool prepare(struct cli *cli, struct error *error)
{
	struct land_state *state = arena_new(&cli->arena, struct land_state);
	cli->state = state;
	state->into = cli_value(cli, "--into", 0);
	if (cli_has(cli, "--rebase") && cli_has(cli, "--squash"))
		return fail(error, ERROR_USAGE, "--rebase or --squash, not both");
	if (state->into != NULL && state->into[0] == '-')
		return fail(error, ERROR_USAGE, "--into needs the name of a branch");
	return run_name_parse(cli_argument(cli, 0), "RUN", &state->run, error);
}

/* ---- git ------------------------------------------------------------------------------ */

static struct child_command git_run(struct cli *cli, const char *const *words)
{
	const char *argv[GIT_WORDS + 2] = { "git" };
	for (size_t i = 0; words[i] != NULL; i++) {
		require(i < GIT_WORDS);
		argv[i + 1] = words[i];
	}
	const struct process_spec spec = { .argv = argv,
					   .environment = cli->environment,
					   .output_limit = LIMIT_JSON_BYTES };
	return child_command_wait(&spec, &cli->arena);
}

#define GIT(cli, ...) git_run(cli, (const char *const[]){ __VA_ARGS__, NULL })

/* The last lines of what git said; some errors of merges are on stdout. */
static struct str said(const struct child_command *child)
{
	return child->errors.size > 0 ? child->errors : child->output;
}

static bool git_must(const struct child_command *child, const char *what, struct error *error)
{
	return child->status == 0 || fail(error, ERROR_CONFLICT, "%s: " STR_FMT, what,
					  STR_ARG(str_head(said(child), 600)));
}

/* ---- is the repository ready? --------------------------------------------------------- */

static bool check_operations(struct cli *cli, struct error *error)
{
	static const struct {
		const char *file, *name;
	} operations[] = {
		{ "rebase-merge", "rebase" }, { "rebase-apply", "rebase" },
		{ "MERGE_HEAD", "merge" },    { "CHERRY_PICK_HEAD", "cherry-pick" },
		{ "REVERT_HEAD", "revert" },  { "BISECT_LOG", "bisect" },
	};
	struct child_command folder = GIT(cli, "rev-parse", "--absolute-git-dir");
	if (folder.status != 0)
		return fail(error, ERROR_NOT_FOUND,
			    "the current folder is not in a git repository; run baton land in the "
			    "repository of the run");
	for (size_t i = 0; i < COUNT(operations); i++)
		if (file_exists(str_format(&cli->arena, STR_FMT "/%s", STR_ARG(folder.output),
					   operations[i].file)
					.at))
			return fail(error, ERROR_CONFLICT,
				    "a %s is in progress in the repository; finish it with git %s "
				    "%s, then land the run",
				    operations[i].name, operations[i].name,
				    strcmp(operations[i].name, "bisect") == 0
					    ? "reset"
					    : "--continue or --abort");
	return true;
}

static bool check_clean(struct cli *cli, struct error *error)
{
	struct child_command status = GIT(cli, "status", "--porcelain", "--untracked-files=no",
					  "--ignore-submodules=dirty");
	if (!git_must(&status, "the repository cannot be read", error))
		return false;
	if (status.output.size == 0)
		return true;
	struct str rest = status.output, line;
	size_t count = 0;
	while (str_cut(&rest, '\n', &line))
		count++;
	return fail(error, ERROR_CONFLICT,
		    "the repository has uncommitted changes (%zu file%s); commit or stash them, "
		    "then land the run",
		    count, count == 1 ? "" : "s");
}

/* Finds the run's branch in this repository, and the branch to land on. */
static bool check_branches(struct cli *cli, struct land_state *state, const struct json *changes,
			   struct error *error)
{
	state->branch = str_c(&cli->arena, cli_text(changes, "branch"));
	const char *ref = str_format(&cli->arena, "refs/heads/%s^{commit}", state->branch).at;
	struct child_command found = GIT(cli, "rev-parse", "-q", "--verify", ref);
	if (found.status != 0)
		return fail(error, ERROR_NOT_FOUND,
			    "this repository has no branch %s; run baton land in the repository of "
			    "the run",
			    state->branch);
	if (!str_equal(found.output, cli_text(changes, "commit")))
		cli_line(CLI_PROGRESS,
			 "note: the run has newer commits that are not published; " STR_FMT
			 " of %s is landed",
			 STR_ARG(str_head(found.output, 12)), state->branch);
	struct child_command head = GIT(cli, "symbolic-ref", "-q", "--short", "HEAD");
	if (head.status != 0)
		return fail(error, ERROR_CONFLICT,
			    "the repository is not on a branch; check out the one to land on, or "
			    "name it with --into");
	state->began = str_c(&cli->arena, head.output);
	if (state->into == NULL)
		state->into = state->began;
	return strcmp(state->into, state->branch) != 0 ||
	       fail(error, ERROR_CONFLICT,
		    "%s is the branch of the run itself; check out the one to land on, or name it "
		    "with --into",
		    state->branch);
}

/* ---- landing --------------------------------------------------------------------------- */

/* Undoes what has begun, and says which files did not fit. */
static bool give_up(struct cli *cli, const char *abort_word, const struct child_command *failed,
		    struct error *error)
{
	struct child_command files =
		GIT(cli, "-c", "core.quotePath=false", "diff", "--name-only", "--diff-filter=U");
	AUTO(buf) list = { 0 };
	struct str rest = files.output, line;
	size_t count = 0;
	while (str_cut(&rest, '\n', &line) && line.size > 0)
		if (++count <= LISTED)
			buf_add_format(&list, "%s" STR_FMT, count > 1 ? ", " : "", STR_ARG(line));
	const struct land_state *state = cli->state;
	struct child_command undone = strcmp(abort_word, "reset") == 0
					      ? GIT(cli, "reset", "-q", "--merge")
					      : GIT(cli, abort_word, "--abort");
	(void)undone; /* git had begun nothing, then */
	if (count == 0)
		return fail(error, ERROR_CONFLICT, "%s cannot be landed on %s: " STR_FMT,
			    state->branch, state->into, STR_ARG(str_head(said(failed), 600)));
	return fail(error, ERROR_CONFLICT,
		    "%s cannot be landed on %s: both have changed " STR_FMT
		    "%s; everything is as it was; merge the branch with git merge %s and resolve "
		    "the conflicts",
		    state->branch, state->into, STR_ARG(str_head(buf_str(&list), 500)),
		    count > LISTED ? " and more" : "", state->branch);
}

static const char *message_of(struct cli *cli, const char *verb)
{
	const struct land_state *state = cli->state;
	char id[UUID_TEXT_SIZE];
	return str_format(&cli->arena, "%s branch '%s' into %s\n\nBaton-Run: " STR_FMT, verb,
			  state->branch, state->into, STR_ARG(uuid_text(&state->run.first, id)))
		.at;
}

static bool land_merge(struct cli *cli, struct error *error)
{
	const struct land_state *state = cli->state;
	struct child_command merged =
		GIT(cli, "merge", "-q", "--no-ff", "--no-edit", "-m", message_of(cli, "Merge"),
		    str_format(&cli->arena, "refs/heads/%s", state->branch).at);
	return merged.status == 0 || give_up(cli, "merge", &merged, error);
}

/* Commits that the branch has already, under other names, are not picked again. */
static bool land_rebase(struct cli *cli, struct error *error)
{
	const struct land_state *state = cli->state;
	struct child_command list =
		GIT(cli, "rev-list", "--reverse", "--no-merges", "--cherry-pick", "--right-only",
		    str_format(&cli->arena, "HEAD...refs/heads/%s", state->branch).at);
	struct str rest = list.output, commit;
	if (!git_must(&list, "the commits of the run cannot be listed", error))
		return false;
	while (str_cut(&rest, '\n', &commit) && commit.size > 0) {
		struct child_command picked = GIT(cli, "cherry-pick", "--ff", "--allow-empty",
						  str_c(&cli->arena, commit));
		if (picked.status == 0)
			continue;
		bool told = give_up(cli, "cherry-pick", &picked, error);
		struct child_command back =
			GIT(cli, "reset", "-q", "--keep", str_c(&cli->arena, state->before));
		return told && back.status == 0;
	}
	return true;
}

static bool land_squash(struct cli *cli, struct error *error)
{
	const struct land_state *state = cli->state;
	struct child_command merged =
		GIT(cli, "merge", "-q", "--squash",
		    str_format(&cli->arena, "refs/heads/%s", state->branch).at);
	if (merged.status != 0)
		return give_up(cli, "reset", &merged, error);
	struct child_command committed =
		GIT(cli, "commit", "-q", "--no-edit", "-m", message_of(cli, "Squash"));
	return committed.status == 0 || give_up(cli, "reset", &committed, error);
}

static bool land(struct cli *cli, struct land_state *state, struct error *error)
{
	if (strcmp(state->into, state->began) != 0) {
		struct child_command moved = GIT(cli, "checkout", "-q", state->into, "--");
		if (!git_must(&moved, "the branch of --into cannot be checked out", error))
			return false;
		state->switched = true;
	}
	struct child_command head = GIT(cli, "rev-parse", "HEAD");
	if (!git_must(&head, "the branch cannot be read", error))
		return false;
	state->before = head.output;
	bool good = cli_has(cli, "--rebase")   ? land_rebase(cli, error)
		    : cli_has(cli, "--squash") ? land_squash(cli, error)
					       : land_merge(cli, error);
	if (!good && state->switched) {
		struct child_command back = GIT(cli, "checkout", "-q", state->began, "--");
		if (back.status != 0)
			cli_line(CLI_PROGRESS, "note: %s is checked out now", state->into);
	}
	return good;
}

static bool is_landed(struct cli *cli, const struct land_state *state)
{
	struct child_command test = GIT(cli, "merge-base", "--is-ancestor",
					str_format(&cli->arena, "refs/heads/%s", state->branch).at,
					str_format(&cli->arena, "refs/heads/%s", state->into).at);
	return test.status == 0;
}

/* ---- what it prints --------------------------------------------------------------------- */

static int report(struct cli *cli, const struct land_state *state, bool landed)
{
	struct child_command head = GIT(cli, "rev-parse", "HEAD");
	struct child_command log =
		GIT(cli, "log", "--format=%h %s",
		    str_format(&cli->arena, STR_FMT "..HEAD", STR_ARG(state->before)).at);
	if (cli->json) {
		AUTO(buf) text = { 0 };
		struct json_writer writer = { .out = &text };
		json_open(&writer, '{');
		json_key(&writer, S("branch"));
		json_put_str(&writer, str_from_c(state->branch));
		json_key(&writer, S("into"));
		json_put_str(&writer, str_from_c(state->into));
		json_key(&writer, S("landed"));
		json_put_bool(&writer, landed);
		json_key(&writer, S("commit"));
		json_put_str(&writer, head.output);
		json_close(&writer, '}');
		return cli_print_json_text(cli, buf_str(&text));
	}
	if (!landed) {
		cli_line(CLI_RESULT, "%s has all commits of %s already", state->into,
			 state->branch);
		return cli_flush();
	}
	cli_line(CLI_RESULT, "landed %s on %s at " STR_FMT, state->branch, state->into,
		 STR_ARG(str_head(head.output, 12)));
	struct str rest = log.output, line;
	for (size_t i = 0; i < LISTED && str_cut(&rest, '\n', &line) && line.size > 0; i++)
		cli_line(CLI_RESULT, "  " STR_FMT, STR_ARG(line));
	return cli_flush();
}

static int run(struct cli *cli)
{
	struct land_state *state = cli->state;
	const struct json *changes;
	struct error error;
	int status = run_name_find(cli, &state->run);
	if (status == 0)
		status = cli_call(cli, "GET", cli_run_target(cli, &state->run.first, "/files"),
				  S(""), &changes);
	if (status != 0)
		return status;
	if (!check_operations(cli, &error) || !check_branches(cli, state, changes, &error))
		return cli_fail(cli, &error);
	if (is_landed(cli, state))
		return report(cli, state, false);
	if (!check_clean(cli, &error) || !land(cli, state, &error))
		return cli_fail(cli, &error);
	return report(cli, state, true);
}

const struct cli_command command_land = {
	.name = "land",
	.text = "Merge the branch of a run into a branch of the repository in the current folder",
	.group = CLI_RUNS,
	.kind = CLI_CLIENT,
	.read_only = true,
	.arguments = { { .name = "RUN", .value_kind = CLI_RUN } },
	.options = { { .name = "--rebase",
		       .text = "Put the commits on top of the branch, without a merge commit" },
		     { .name = "--squash", .text = "Make one commit of all changes" },
		     { .name = "--into",
		       .value = "BRANCH",
		       .text = "Land on this branch, and check it out (default: the current one)" } },
	.examples = { { "baton land 1f0c", "Merge the run's branch into the current one" },
		      { "baton land @last --squash --into main", "One commit on main" } },
	.prepare = prepare,
	.run = run,
};
