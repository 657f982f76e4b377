/* git_status, git_diff and git_commit; repositories that want to run programs; commits after a crash. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/git_output.h"
#include "tool_rig.h"

static struct rig the_rig, *rig = &the_rig;

/* A command in the workspace, without the sandbox. */
static void shell(const char *command)
{
	AUTO(arena) arena = { 0 };
	const char *line =
		str_format(
			&arena,
			"cd '%s' && export GIT_CONFIG_GLOBAL=/dev/null "
			"GIT_CONFIG_NOSYSTEM=1 HOME=/nonexistent && { %s; } </dev/null >/dev/null 2>&1",
			rig->workspace, command)
			.at;
	cr_assert_eq(system(line), 0, "%s", command);
}

static const char *printed(const char *command)
{
	static char text[1024];
	AUTO(arena) arena = { 0 };
	FILE *pipe = popen(
		str_format(&arena, "cd '%s' && { %s; } 2>&1", rig->workspace, command).at, "r");
	cr_assert_not_null(pipe);
	text[fread(text, 1, sizeof(text) - 1, pipe)] = '\0';
	pclose(pipe);
	return text;
}

static void setup(void)
{
	rig_open(rig);
	shell("git init -q -b main && git config user.name Ada && git config user.email ada@example.org "
	      "&& printf 'one\\ntwo\\n' >a && mkdir d && echo x >d/b && git add -A && "
	      "GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' "
	      "git commit -q -m first");
}

static void teardown(void)
{
	rig_close(rig);
}

TestSuite(git, .init = setup, .fini = teardown);

static const struct json *call(const char *tool, const char *inputs)
{
	cr_assert(rig_call(rig, tool, inputs), "%s", rig->error.text);
	return rig->output.size == 0 ? NULL : rig_json(rig, str_c(&rig->arena, rig->output));
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

static const struct json *entries_of(const struct json *output)
{
	return json_member(output, S("entries"));
}

Test(git, the_status_of_every_file)
{
	const struct json *output = call("git_status", "{}");
	cr_assert(json_member(output, S("clean"))->as.boolean);
	cr_assert(str_equal(member(output, "branch"), S("main")));
	cr_assert_eq(member(output, "commit").size, 40);
	shell("echo three >>a && git mv d/b 'd/new name' && echo y >'un tracked' && echo z >c && git add c "
	      "&& echo zz >>c");
	output = call("git_status", "{}");
	expect_json(
		json_print(&rig->arena, entries_of(output)),
		"[{\"path\":\"a\",\"index\":\"unmodified\",\"worktree\":\"modified\"},"
		"{\"path\":\"c\",\"index\":\"added\",\"worktree\":\"modified\"},"
		"{\"path\":\"d/new name\",\"old_path\":\"d/b\",\"index\":\"renamed\",\"worktree\":"
		"\"unmodified\"},"
		"{\"path\":\"un tracked\",\"index\":\"unmodified\",\"worktree\":\"untracked\"}]");
	output = call("git_status", "{\"paths\": [\"d\"], \"untracked\": false}");
	cr_assert_eq(entries_of(output)->as.list.count, 1);
	shell("git checkout -q --detach");
	output = call("git_status", "{}");
	cr_assert_null(json_member(output, S("branch")));
}

Test(git, the_diff_and_its_numbers)
{
	shell("sed -i s/two/2/ a && printf '\\000\\001' >bin && git add bin");
	const struct json *output = call("git_diff", "{}");
	expect_json(json_print(&rig->arena, json_member(output, S("files"))),
		    "[{\"path\":\"a\",\"added\":1,\"deleted\":1}]");
	size_t at;
	cr_assert(str_find(member(output, "diff"),
			   S("--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"), &at));
	output = call("git_diff", "{\"staged\": true}");
	expect_json(json_print(&rig->arena, json_member(output, S("files"))),
		    "[{\"path\":\"bin\"}]");
	shell("git commit -qam second");
	output = call("git_diff", "{\"base\": \"HEAD~1\", \"paths\": [\"a\"]}");
	expect_json(json_print(&rig->arena, json_member(output, S("files"))),
		    "[{\"path\":\"a\",\"added\":1,\"deleted\":1}]");
	expect_error("git_diff", "{\"base\": \"nowhere\"}", ERROR_NOT_FOUND,
		     "there is no commit nowhere");
	cr_assert(!rig_call(rig, "git_diff", "{\"base\": \"--output=x\"}"));
}

Test(git, a_long_diff_is_truncated)
{
	shell("seq 1 100000 >a");
	const struct json *output = call("git_diff", "{\"max_bytes\": 1000}");
	cr_assert(json_member(output, S("truncated"))->as.boolean);
	cr_assert_leq(member(output, "diff").size, 1000);
	cr_assert(str_ends(member(output, "diff"), S("\n")));
	expect_json(json_print(&rig->arena, json_member(output, S("files"))),
		    "[{\"path\":\"a\",\"added\":100000,\"deleted\":2}]");
	shell("for i in $(seq 1 6000); do echo x >\"file-with-a-long-name-$i\"; done");
	output = call("git_status", "{}");
	cr_assert(json_member(output, S("truncated"))->as.boolean);
	cr_assert(!json_member(output, S("clean"))->as.boolean);
	shell("git add -A");
	output = call("git_diff", "{\"staged\": true}");
	cr_assert(json_member(output, S("files_truncated"))->as.boolean);
}

Test(git, a_commit_has_the_changes_the_author_and_the_effect)
{
	shell("echo three >>a && echo new >n");
	const struct json *output =
		call("git_commit", "{\"message\": \"Add three\\n\\nBecause.\"}");
	cr_assert_not_null(output, "%s", rig->error.text);
	expect_json(
		json_print(&rig->arena, json_member(output, S("files"))),
		"[{\"path\":\"a\",\"added\":1,\"deleted\":0},{\"path\":\"n\",\"added\":1,\"deleted\":0}]");
	cr_assert(str_equal(member(output, "branch"), S("main")));
	cr_assert_str_eq(printed("git log -1 --format='%an <%ae>%n%B'"),
			 "Ada <ada@example.org>\nAdd three\n\nBecause.\n\nBaton-Effect: "
			 "11111111-2222-4333-8444-555555555555\n\n");
	cr_assert_str_eq(printed("git status --porcelain"), "");
	cr_assert_str_eq(printed("git fsck 2>&1; ls .git | grep baton"), "");
	cr_assert_str_eq(printed("git rev-list --count HEAD"), "2\n");
	expect_error("git_commit", "{\"message\": \"x\"}", ERROR_CONFLICT, "nothing to commit");
	output = call("git_commit",
		      "{\"message\": \"empty\", \"allow_empty\": true, "
		      "\"author_name\": \"Bob\", \"author_email\": \"bob@example.org\"}");
	cr_assert_not_null(output, "%s", rig->error.text);
	cr_assert_str_eq(printed("git log -1 --format='%an %ce'"), "Bob bob@example.org\n");
	cr_assert_str_eq(printed("ls .git | grep baton"), "");
}

Test(git, paths_choose_what_is_committed)
{
	shell("echo three >>a && echo new >'n *' && rm d/b");
	const struct json *output =
		call("git_commit", "{\"message\": \"some\", \"paths\": [\"n *\", \"d\"]}");
	cr_assert_not_null(output, "%s", rig->error.text);
	cr_assert_str_eq(printed("git status --porcelain"), " M a\n");
	expect_error("git_commit", "{\"message\": \"x\", \"paths\": [\"none\"]}", ERROR_TOOL_FAILED,
		     "did not match any files");
	expect_error("git_commit", "{\"message\": \"x\", \"paths\": [\"../outside\"]}",
		     ERROR_TOOL_FAILED, "outside repository");
	cr_assert_str_eq(printed("ls .git | grep baton; git status --porcelain"), " M a\n");
}

Test(git, the_first_commit_and_one_without_a_branch)
{
	shell("rm -rf .git && git init -q -b trunk && git config --unset-all user.name || :");
	const struct json *output = call("git_commit", "{\"message\": \"first\"}");
	cr_assert_not_null(output, "%s", rig->error.text);
	cr_assert_null(json_member(output, S("parent")));
	cr_assert_str_eq(printed("git log -1 --format='%an <%ae>'"), "Baton <baton@localhost>\n");
	shell("git checkout -q --detach && echo more >>a");
	output = call("git_commit", "{\"message\": \"detached\"}");
	cr_assert_null(json_member(output, S("branch")));
	cr_assert_str_eq(printed("git log --format=%s HEAD; git log --format=%s trunk; "
				 "git status --porcelain"),
			 "detached\nfirst\nfirst\n");
}

Test(git, a_repository_below_the_workspace)
{
	shell("mkdir sub && cd sub && git init -q -b main && echo x >f");
	const struct json *output =
		call("git_commit", "{\"message\": \"sub\", \"repository\": \"sub\"}");
	cr_assert_not_null(output, "%s", rig->error.text);
	cr_assert_str_eq(printed("cd sub && git log --format=%s"), "sub\n");
	cr_assert_str_eq(printed("git log --format=%s"), "first\n");
}

Test(git, places_without_a_usable_repository)
{
	shell("mkdir empty && ln -s .. out && mkdir linked && echo 'gitdir: ../.git' >linked/.git");
	expect_error("git_status", "{\"repository\": \"empty\"}", ERROR_NOT_FOUND, "git init");
	expect_error("git_status", "{\"repository\": \"none\"}", ERROR_NOT_FOUND, "no folder none");
	expect_error("git_status", "{\"repository\": \"linked\"}", ERROR_INVALID, "submodule");
	expect_error("git_status", "{\"repository\": \"/etc\"}", ERROR_NOT_FOUND, "no folder");
	rig_call(rig, "git_status", "{\"repository\": \"..\"}");
	cr_assert_neq(rig->error.code, ERROR_NONE);
	rig_call(rig, "git_status", "{\"repository\": \"out\"}");
	cr_assert_neq(rig->error.code, ERROR_NONE);
	shell("touch .git/MERGE_HEAD && echo x >>a");
	expect_error("git_commit", "{\"message\": \"x\"}", ERROR_CONFLICT, "MERGE_HEAD");
}

/* ---- a repository that wants to run programs --------------------------------------------- */

/* Everything that git could run for status, diff and commit; each of them would leave a file. */
static void make_hostile(void)
{
	shell("mkdir -p hooks home && for h in pre-commit commit-msg post-commit post-index-change "
	      "reference-transaction prepare-commit-msg post-checkout; do "
	      "printf '#!/bin/sh\\ntouch %s/ran-hook-'$h'\\n' \"$PWD\" >.git/hooks/$h; chmod 755 .git/hooks/$h; "
	      "cp .git/hooks/$h hooks/; done; cat >evil <<END\n"
	      "#!/bin/sh\ntouch \"$PWD/ran-\\$1\"; cat\nEND\nchmod 755 evil");
	shell("e=\"$PWD/evil\" && git config core.hooksPath \"$PWD/hooks\" && git config core.fsmonitor \"$e fsmonitor\" && "
	      "git config filter.x.clean \"$e clean\" && git config filter.x.smudge \"$e smudge\" && "
	      "git config filter.x.process \"$e process\" && git config filter.x.required true && "
	      "git config diff.x.textconv \"$e textconv\" && git config diff.x.command \"$e command\" && "
	      "git config diff.external \"$e external\" && git config core.pager \"$e pager\" && "
	      "git config pager.diff \"$e pagerdiff\" && git config core.editor \"$e editor\" && "
	      "git config commit.gpgsign true && git config gpg.program \"$e gpg\" && "
	      "git config trailer.baton-effect.command \"$e trailer\" && git config trailer.baton-effect.key Baton-Effect && "
	      "git config core.sshCommand \"$e ssh\" && git config credential.helper \"$e credential\" && "
	      "git config core.alternateRefsCommand \"$e refs\" && git config alias.status \"!$e alias\" && "
	      "git config interactive.diffFilter \"$e interactive\" && git config merge.x.driver \"$e merge\" && "
	      "git config core.worktree /usr && git config include.path \"$PWD/included\" && "
	      "printf '[filter \"x\"]\\n\\tclean = %s included\\n' \"$e\" >included && "
	      "printf '[core]\\n\\tfsmonitor = %s home\\n' \"$e\" >.gitconfig && "
	      "echo '* filter=x diff=x merge=x' >.gitattributes && echo '* filter=x diff=x' >.git/info/attributes && "
	      "echo evil >>a && echo more >>d/b");
}

static void nothing_ran(void)
{
	cr_assert_str_eq(printed("ls -a . .git | grep ran- || :"), "", "%s ran",
			 printed("ls -a . .git | grep ran-"));
}

Test(git, the_configuration_of_a_repository_runs_nothing)
{
	make_hostile();
	static const char *const sandboxes[] = { "native", "off" };
	for (size_t i = 0; i < COUNT(sandboxes); i++) {
		rig->host.sandbox = sandbox_find(str_from_c(sandboxes[i]));
		const struct json *output = call("git_status", "{}");
		cr_assert_not_null(output, "%s", rig->error.text);
		nothing_ran();
		output = call("git_diff", "{}");
		cr_assert_not_null(output, "%s", rig->error.text);
		cr_assert_gt(member(output, "diff").size, 10);
		nothing_ran();
		output = call("git_commit", "{\"message\": \"hostile\"}");
		cr_assert_not_null(output, "%s", rig->error.text);
		rig_probe(rig, "git_commit", "{\"message\": \"hostile\"}");
		cr_assert_eq(rig->answer, TOOL_HAPPENED);
		nothing_ran();
		shell("echo again >>a; for n in $(seq 1 3); do echo $n >>d/b; done");
	}
	/* The traps are good: git as it is walks into them. */
	shell("unset GIT_WORK_TREE; git -c core.worktree=\"$PWD\" diff || :; git -c core.worktree=\"$PWD\" status || :");
	cr_assert_str_neq(printed("ls -a . .git | grep ran-"), "");
}

Test(git, names_of_any_bytes)
{
	shell("printf x >\"$(printf 'new\\nline')\" && printf x >\"$(printf 'caf\\351')\" && printf x >'-rf' && "
	      "printf x >':(top)x'");
	const struct json *output = call("git_status", "{}");
	expect_json(
		json_print(&rig->arena, entries_of(output)),
		"[{\"path\":\"-rf\",\"index\":\"unmodified\",\"worktree\":\"untracked\"},"
		"{\"path\":\":(top)x\",\"index\":\"unmodified\",\"worktree\":\"untracked\"},"
		"{\"path\":\"caf\xEF\xBF\xBD\",\"index\":\"unmodified\",\"worktree\":\"untracked\"},"
		"{\"path\":\"new\\nline\",\"index\":\"unmodified\",\"worktree\":\"untracked\"}]");
	output = call("git_commit", "{\"message\": \"-m\", \"paths\": [\"-rf\", \":(top)x\"]}");
	cr_assert_not_null(output, "%s", rig->error.text);
	cr_assert_eq(json_member(output, S("files"))->as.list.count, 2);
	output = call("git_commit", "{\"message\": \"$(touch x) `touch y` --- \\n---\\ndiff\"}");
	cr_assert_not_null(output, "%s", rig->error.text);
	cr_assert_str_eq(
		printed("ls x y 2>/dev/null; git log -1 --format='%(trailers:key=Baton-Effect)'"),
		"Baton-Effect: 11111111-2222-4333-8444-555555555555\n\n");
}

/* ---- after a crash ------------------------------------------------------------------------ */

#define EFFECT  "11111111-2222-4333-8444-555555555555"
#define MESSAGE "{\"message\": \"once\"}"

Test(git, a_commit_that_happened_is_found)
{
	shell("echo three >>a");
	call("git_commit", MESSAGE);
	struct str output = rig->output;
	shell("echo later >>a && git commit -qam later && git checkout -q -b other");
	rig_probe(rig, "git_commit", MESSAGE);
	cr_assert_eq(rig->answer, TOOL_HAPPENED);
	const struct json *then = rig_json(rig, str_c(&rig->arena, output));
	const struct json *now = rig_json(rig, str_c(&rig->arena, rig->output));
	cr_assert(str_equal(member(then, "commit"), member(now, "commit")));
}

Test(git, a_commit_that_did_not_happen_is_not_found)
{
	shell("echo three >>a && cp .git/index .git/baton-index." EFFECT
	      " && touch .git/baton-index." EFFECT ".lock && git commit -qam 'Baton-Effect: " EFFECT
	      " is only mentioned' -m 'Baton-Effect: 00000000-2222-4333-8444-555555555555'");
	rig_probe(rig, "git_commit", MESSAGE);
	cr_assert_eq(rig->answer, TOOL_NOT_HAPPENED);
	cr_assert_str_eq(printed("ls .git | grep baton"), "");
	shell("rm -rf .git");
	rig_probe(rig, "git_commit", MESSAGE);
	cr_assert_eq(rig->answer, TOOL_NOT_HAPPENED);
}

/* The ref has moved and the index has not: without the probe, git would see the commit undone. */
Test(git, a_crash_before_the_index_followed)
{
	shell("echo three >>a && cp .git/index .git/old && cp .git/index .git/baton-index." EFFECT
	      " && GIT_INDEX_FILE=.git/baton-index." EFFECT " git add -A && "
	      "git commit -qam \"$(printf 'once\\n\\nBaton-Effect: " EFFECT
	      "')\" && mv .git/old .git/index");
	cr_assert_str_eq(printed("git status --porcelain"), "MM a\n");
	rig_probe(rig, "git_commit", MESSAGE);
	cr_assert_eq(rig->answer, TOOL_HAPPENED);
	cr_assert_str_eq(printed("git status --porcelain; ls .git | grep baton"), "");
}

/* Killed at any time: the commit is there, or nothing is. */
static void stop_soon(void *context, uint64_t running)
{
	struct error why;
	fail(&why, ERROR_CANCELLED, "told so");
	tool_context_stop(&rig->host, running, &why);
	(void)context;
}

Test(git, a_commit_that_is_stopped_ends_with_what_is_true)
{
	for (int i = 0; i < 12; i++) {
		shell("date +%N >>a");
		const char *head = strdup(printed("git rev-parse HEAD"));
		rig->effect.bytes[15] = (uint8_t)i;
		if (i == 0) {
			rig_call_and_stop(rig, "git_commit", MESSAGE, ERROR_CANCELLED);
		} else {
			rig->started = stop_soon;
			rig->started_us = i * 5000;
			cr_assert(rig_call(rig, "git_commit", MESSAGE));
		}
		bool moved = strcmp(head, printed("git rev-parse HEAD")) != 0;
		cr_assert(rig->error.code == ERROR_NONE || rig->error.code == ERROR_CANCELLED ||
				  rig->error.code == ERROR_OUTCOME_UNKNOWN,
			  "%s", rig->error.text);
		if (rig->error.code != ERROR_OUTCOME_UNKNOWN)
			cr_assert_eq(moved, rig->error.code == ERROR_NONE, "round %d: %s", i,
				     rig->error.text);
		cr_assert_str_eq(printed("ls .git | grep baton"), "");
		shell("git fsck");
		free((void *)(uintptr_t)head);
	}
}

/* ---- what git prints ----------------------------------------------------------------------- */

Test(git_output, text_that_is_cut_or_strange_is_not_believed)
{
	static const struct {
		const char *text;
		size_t size;
		bool whole, good;
	} cases[] = {
		{ "", 0, true, true },
		{ "? a", 3, false, true },
		{ "? a\0", 4, true, true },
		{ "1 .M N... 1 2 3 4 5 a\0", 22, true, true },
		{ "1 .M N... 1 2 3 4 5\0", 20, true, false },
		{ "1 xM N... 1 2 3 4 5 a\0", 22, true, false },
		{ "2 R. N... 1 2 3 4 5 R100 a\0", 27, true, false },
		{ "2 R. N... 1 2 3 4 5 R100 a\0", 27, false, true },
		{ "\0", 1, true, false },
		{ "? \0", 3, true, false },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		AUTO(arena) arena = { 0 };
		struct error error;
		struct run_git_status_outputs *outputs = run_git_status_outputs_new(&arena);
		cr_expect_eq(git_output_status((struct str){ cases[i].text, cases[i].size },
					       cases[i].whole, &arena, outputs, &error),
			     cases[i].good, "%zu", i);
	}
	static const char *const wrong[] = { "",         "x",        "1 1\n",
					     "-1 5\n",   "5 5\nabc", "99999999999999999999 1\n",
					     "3 3\na\tb" };
	for (size_t i = 0; i < COUNT(wrong); i++) {
		AUTO(arena) arena = { 0 };
		struct error error;
		struct run_git_diff_outputs *outputs = run_git_diff_outputs_new(&arena);
		cr_expect(!git_output_diff(str_from_c(wrong[i]), 10, &arena, outputs, &error), "%s",
			  wrong[i]);
	}
}
