/* git_checkout, git_publish, git_snapshot, git_restore and git_hooks; where a repository is. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contract/run_tool_types.h"
#include "tool/git_output.h"
#include "tool/git_place.h"
#include "tool_rig.h"

static struct rig the_rig, *rig = &the_rig;

static void shell_in(const char *folder, const char *command)
{
	AUTO(arena) arena = { 0 };
	const char *line =
		str_format(
			&arena,
			"cd '%s' && export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 HOME=/nonexistent "
			"&& { %s; } </dev/null >/dev/null 2>&1",
			folder, command)
			.at;
	cr_assert_eq(system(line), 0, "%s", command);
}

static const char *printed_in(const char *folder, const char *command)
{
	static char text[1024];
	AUTO(arena) arena = { 0 };
	FILE *pipe = popen(str_format(&arena, "cd '%s' && { git -c safe.directory='*' %s; } 2>&1",
				      folder, command)
				   .at,
			   "r");
	cr_assert_not_null(pipe);
	text[fread(text, 1, sizeof(text) - 1, pipe)] = '\0';
	pclose(pipe);
	return text;
}

static void setup(void)
{
	rig_open(rig);
	rig->run.bytes[0] = 0xab;
	rig->repository = rig_path(rig, "user repo");
	cr_assert_eq(mkdir(rig->repository, 0755), 0);
	shell_in(
		rig->repository,
		"git init -q -b main && git config user.name Ada && git config user.email a@b.c && "
		"printf 'one\\n' >a && git add -A && git commit -q -m first");
}

static void teardown(void)
{
	rig_close(rig);
}

TestSuite(git_branch, .init = setup, .fini = teardown);

static const struct json *call(const char *tool, const char *inputs)
{
	cr_assert(rig_call(rig, tool, inputs), "%s", rig->error.text);
	cr_assert_eq(rig->error.code, ERROR_NONE, "%s", rig->error.text);
	return rig_json(rig, str_c(&rig->arena, rig->output));
}

static void expect_error(const char *tool, const char *inputs, enum error_code code,
			 const char *text)
{
	rig_call(rig, tool, inputs);
	cr_assert_eq(rig->error.code, code, "%s %s: %s", tool, inputs, rig->error.text);
	cr_assert_not_null(strstr(rig->error.text, text), "%s", rig->error.text);
}

static struct str member(const struct json *json, const char *name)
{
	return json_text(json_member(json, str_from_c(name)));
}

Test(git_branch, commits_go_to_the_branch_that_the_run_has_claimed)
{
	const struct json *output = call("git_checkout", "{}");
	cr_assert(str_equal(member(output, "branch"), S("baton/ab000000")));
	cr_assert(str_equal(member(output, "base_branch"), S("main")));
	shell_in(rig->workspace, "echo two >>a && echo new >n");
	call("git_commit", "{\"message\": \"second\"}");
	output = call("git_publish", "{}");
	cr_assert_str_eq(printed_in(rig->repository, "log --format='%an %s' baton/ab000000"),
			 "Ada second\nAda first\n");
	cr_assert_str_eq(printed_in(rig->repository, "status --porcelain"), "");
	/* Again, as after a crash: the same answer, and nothing moves. */
	const struct json *again = call("git_publish", "{}");
	cr_assert(str_equal(member(again, "commit"), member(output, "commit")));
	cr_assert(str_equal(member(again, "previous"), member(output, "commit")));
	cr_assert_str_eq(printed_in(rig->repository, "reflog show --format=%gs baton/ab000000"),
			 "baton: run ab000000-0000-0000-0000-000000000000 publishes\n"
			 "baton: run ab000000-0000-0000-0000-000000000000 from main\n");
}

Test(git_branch, a_clone_that_was_not_completed_is_made_again)
{
	call("git_checkout", "{\"branch\": \"b\"}");
	shell_in(
		rig->workspace,
		"mkdir .git.baton && echo x >.git.baton/run && mv .git .git.baton/git && echo cut >a");
	const struct json *output = call("git_checkout", "{\"branch\": \"b\"}");
	cr_assert(str_equal(member(output, "branch"), S("b")));
	cr_assert_str_eq(printed_in(rig->workspace, "status --porcelain"), "");
	cr_assert_neq(access(str_format(&rig->arena, "%s/.git.baton", rig->workspace).at, F_OK), 0);
}

Test(git_branch, an_unfinished_claim_of_another_run_is_not_ours)
{
	/* The log of a branch that was never made, as a kill can leave it; then another run makes it. */
	shell_in(
		rig->repository,
		"mkdir -p .git/logs/refs/heads && "
		"printf '%040d %s B <b@c> 1 +0000\\tbaton: run ab000000-0000-0000-0000-000000000000 from main\\n' 0 "
		"$(git rev-parse HEAD) >.git/logs/refs/heads/b");
	rig->run.bytes[0] = 0xcd;
	cr_assert(str_equal(member(call("git_checkout", "{\"branch\": \"b\"}"), "branch"), S("b")));
	shell_in(rig->workspace, "find . -mindepth 1 -delete");
	rig->run.bytes[0] = 0xab;
	cr_assert(
		str_equal(member(call("git_checkout", "{\"branch\": \"b\"}"), "branch"), S("b-2")));
}

Test(git_branch, files_in_the_way_and_another_repository_are_refused)
{
	shell_in(rig->workspace, "echo mine >a");
	expect_error("git_checkout", "{}", ERROR_CONFLICT, "the workspace has files in the way");
	shell_in(rig->workspace, "rm -rf a .git.baton && git init -q .");
	expect_error("git_checkout", "{}", ERROR_CONFLICT,
		     "the workspace has a git repository already");
	expect_error("git_publish", "{}", ERROR_NOT_FOUND,
		     "the workspace was not made by git_checkout");
}

Test(git_branch, a_checkout_can_be_stopped)
{
	rig_call_and_stop(rig, "git_checkout", "{}", ERROR_CANCELLED);
	cr_assert_eq(rig->error.code, ERROR_CANCELLED, "%s", rig->error.text);
	call("git_checkout", "{}");
}

Test(git_branch, a_snapshot_names_the_files_and_moves_nothing)
{
	call("git_checkout", "{}");
	shell_in(rig->workspace, "echo two >>a && echo new >n && echo ignored >.git/info/exclude");
	shell_in(rig->workspace, "echo x >ignored");
	struct str tree = str_copy(&rig->arena, member(call("git_snapshot", "{}"), "tree"));
	cr_assert_str_eq(printed_in(rig->workspace, "log --all --format=%s"), "first\n");
	shell_in(rig->workspace, "rm n && echo three >>a && mkdir d && echo x >d/x");
	const struct json *output =
		call("git_diff",
		     str_format(&rig->arena, "{\"base\": \"" STR_FMT "\", \"untracked\": true}",
				STR_ARG(tree))
			     .at);
	expect_json(json_print(&rig->arena, json_member(output, S("files"))),
		    "[{\"path\":\"a\",\"added\":1,\"deleted\":0},{\"path\":\"d/x\",\"added\":1,"
		    "\"deleted\":0},{\"path\":\"n\",\"added\":0,\"deleted\":1}]");
	call("git_restore",
	     str_format(&rig->arena, "{\"commit\": \"" STR_FMT "\"}", STR_ARG(tree)).at);
	shell_in(
		rig->workspace,
		"test \"$(cat a n ignored)\" = \"$(printf 'one\\ntwo\\nnew\\nx')\" && test ! -e d");
	expect_error("git_restore", "{\"commit\": \"nothing\"}", ERROR_NOT_FOUND,
		     "there is no commit nothing");
	cr_assert(!rig_call(rig, "git_diff", "{\"staged\": true, \"untracked\": true}"));
}

Test(git_branch, hooks_run_and_their_changes_are_staged_once)
{
	call("git_checkout", "{}");
	shell_in(rig->workspace,
		 "mkdir -p .git/hooks && printf '#!/bin/sh\\necho ran; echo x >>a; exit 1\\n' "
		 ">.git/hooks/pre-commit && chmod 755 .git/hooks/pre-commit && echo two >>a");
	expect_error("git_hooks", "{}", ERROR_TOOL_FAILED, "failed with exit status 1 again");
	cr_assert_not_null(strstr(rig->error.text, "ran\nran"), "%s", rig->error.text);
	shell_in(rig->workspace, "chmod 644 .git/hooks/pre-commit");
	cr_assert(!json_member(call("git_hooks", "{}"), S("ran"))->as.boolean);
}

Test(git_branch, output_that_cannot_be_read_is_refused)
{
	AUTO(arena) arena = { 0 };
	struct error error;
	static const char *const texts[] = {
		"",
		"b\nc\n\n",
		"b\nc\n\nd\n",
		"b\nc\n\nd\n5 5\nabc",
		"b\nc\n\nd\n0 0\n9\n",
		"b\nc\n\nd\n0 0\n-1\n",
		"b\nc\n\nd\n0 0\n1\np\n99 99\nx",
	};
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct run_git_checkout_outputs *outputs = run_git_checkout_outputs_new(&arena);
		cr_assert(!git_output_checkout(str_from_c(texts[i]), &arena, outputs, &error),
			  "%zu", i);
	}
	struct run_git_hooks_outputs *hooks = run_git_hooks_outputs_new(&arena);
	cr_assert(!git_output_hooks(S("1 1\n"), &arena, hooks, &error));
	struct run_changes *changes = run_changes_new(&arena);
	cr_assert(!git_output_changes(S("b\nc\n\nd\n0 0\n"), 0, &arena, changes, &error));
	cr_assert(git_output_changes(S("b\nc\n\nd\n0 0\n0 0\nline\nlonger line\n"), 6, &arena,
				     changes, &error));
	cr_assert(str_equal(changes->diff, S("line\n")) && changes->truncated);
}

Test(git_branch, a_repository_is_found_from_a_folder_below_and_from_a_worktree)
{
	AUTO(arena) arena = { 0 };
	struct git_place place;
	struct error error;
	shell_in(rig->repository, "mkdir -p x/y && git worktree add -q ../linked");
	const char *below = str_format(&arena, "%s/x/y/", rig->repository).at;
	cr_assert(git_place_find(str_from_c(below), &arena, &place, &error));
	cr_assert_str_eq(place.top, rig->repository);
	cr_assert_str_eq(place.gitdir, place.common);
	cr_assert(git_place_find(str_from_c(rig_path(rig, "linked")), &arena, &place, &error));
	cr_assert_not_null(strstr(place.gitdir, "/worktrees/linked"));
	cr_assert_str_eq(place.top, rig_path(rig, "linked"));
	cr_assert(!git_place_find(S("/"), &arena, &place, &error));
	cr_assert_eq(error.code, ERROR_NOT_FOUND);
	shell_in(rig->repository, "git clone -q --bare . ../bare.git");
	cr_assert(!git_place_find(str_from_c(rig_path(rig, "bare.git")), &arena, &place, &error));
	cr_assert_eq(error.code, ERROR_INVALID);
	shell_in(rig->folder, "mkdir broken && echo nonsense >broken/.git");
	cr_assert(!git_place_find(str_from_c(rig_path(rig, "broken")), &arena, &place, &error));
	cr_assert_not_null(strstr(error.text, "does not name a git repository"));
}
