/* Failpoints: a rule acts at its pass; the trace contains every name passed before. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/file.h"
#include "os/failpoint.h"

/* Passes a, b, b, b in a child process with these rules; returns its wait status. */
static int walk(const char *rules, const char *trace)
{
	pid_t child = fork();
	if (child == 0) {
		unsetenv("BATON_POINTS");
		unsetenv("BATON_POINTS_TRACE");
		if (rules != NULL)
			setenv("BATON_POINTS", rules, 1);
		if (trace != NULL)
			setenv("BATON_POINTS_TRACE", trace, 1);
		if (freopen("/dev/null", "w", stderr) == NULL)
			_exit(99);
		failpoint_setup();
		if (failpoint_active != (rules != NULL || trace != NULL))
			_exit(98);
		FAILPOINT("a");
		FAILPOINT("b");
		FAILPOINT("b");
		FAILPOINT("b");
		_exit(0);
	}
	int status;
	cr_assert_eq(waitpid(child, &status, 0), child);
	return status;
}

static bool killed(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

Test(point, without_rules_nothing_happens)
{
	cr_assert_eq(walk(NULL, NULL), 0);
}

Test(point, the_named_passing_kills)
{
	char trace[] = "/tmp/baton-test-XXXXXX";
	int file = mkstemp(trace);
	cr_assert_geq(file, 0);
	close(file);
	AUTO(arena) arena = { 0 };
	struct error error;
	struct str text;
	cr_assert(killed(walk("other=kill;b=kill@2", trace)));
	cr_assert(file_read(trace, 1000, &arena, &text, &error));
	cr_assert(str_equal(text, S("a\nb\nb\n")), STR_FMT, STR_ARG(text));
	/* The trace is appended to; no rule kills this time. */
	cr_assert_eq(walk("b=kill@4; c=kill", trace), 0);
	cr_assert(file_read(trace, 1000, &arena, &text, &error));
	cr_assert(str_equal(text, S("a\nb\nb\na\nb\nb\nb\n")), STR_FMT, STR_ARG(text));
	cr_assert(killed(walk(" a=kill ;", trace)));
	cr_assert(file_read(trace, 1000, &arena, &text, &error));
	cr_assert(str_ends(text, S("b\nb\nb\na\n")));
	unlink(trace);
}

Test(point, a_limit_is_what_was_ordered)
{
	setenv("BATON_POINTS", "a=limit@3;b=kill@9", 1);
	failpoint_setup();
	cr_assert_eq(FAILPOINT_LIMIT("a", 100), 3);
	cr_assert_eq(FAILPOINT_LIMIT("a", 100), 3, "as often as it is asked for");
	cr_assert_eq(FAILPOINT_LIMIT("b", 100), 100);
	FAILPOINT("a"); /* no rule acts here */
	unsetenv("BATON_POINTS");
	failpoint_setup();
	cr_assert_eq(FAILPOINT_LIMIT("a", 100), 100);
	cr_assert_eq(WEXITSTATUS(walk("a=limit", NULL)), 2);
	cr_assert_eq(WEXITSTATUS(walk("a=limit@0", NULL)), 2);
}

Test(point, an_abort_is_an_abort)
{
	int status = walk("b=abort@2", NULL);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

Test(point, whoever_passes_is_held_until_the_gate_opens)
{
	char folder[] = "/tmp/baton-test-XXXXXX", gate[64], trace[64];
	cr_assert_not_null(mkdtemp(folder));
	snprintf(gate, sizeof(gate), "%s/gate", folder);
	snprintf(trace, sizeof(trace), "%s/trace", folder);
	cr_assert_eq(mkfifo(gate, 0600), 0);
	setenv("BATON_POINTS_GATE", gate, 1);
	/* The FIFO is open here before the child opens it, so written bytes stay in it. */
	int ours = open(gate, O_RDWR | O_CLOEXEC);
	cr_assert_geq(ours, 0);
	cr_assert_eq(write(ours, "xy", 2), 2);
	cr_assert_eq(walk("a=hold;b=hold@2", trace), 0);
	cr_assert_eq(write(ours, "xy", 2), 2);
	cr_assert_eq(walk("b=hold@2-3", trace), 0);
	/* Each hold consumed one byte: none is left. */
	cr_assert_eq(fcntl(ours, F_SETFL, O_NONBLOCK), 0);
	char byte;
	cr_assert_eq(read(ours, &byte, 1), -1);
	close(ours);
	unlink(gate);
	unlink(trace);
	rmdir(folder);
}

/* Expects which of six passes find the disk full, as letters. */
static void full_passings(const char *rules, const char *expected)
{
	setenv("BATON_POINTS", rules, 1);
	failpoint_setup();
	for (const char *letter = expected; *letter != '\0'; letter++) {
		FAILPOINT("a");
		cr_assert_eq(FAILPOINT_FULL("a"), *letter == 'f', "%s, passing %d", rules,
			     (int)(letter - expected) + 1);
		cr_assert_not(FAILPOINT_FULL("b"));
	}
}

Test(point, the_disk_is_full_when_the_rule_says_so)
{
	full_passings("a=full", "f.....");
	full_passings("a=full@3", "..f...");
	full_passings("a=full@2-4", ".fff..");
	full_passings("a=full@1;a=full@5-5;c=kill", "f...f.");
	unsetenv("BATON_POINTS");
	failpoint_setup();
	cr_assert_not(failpoint_active);
	cr_assert_not(FAILPOINT_FULL("a"));
}

Test(point, wrong_rules_end_the_process)
{
	static const char *const wrong[] = { "a",          "a=",        "=kill",      "a=explode",
					     "a=kill@0",   "a=kill@-1", "a=kill@x",   "a=kill@",
					     "a=full@",    "a=full@0",  "a=full@3-2", "a=full@3-",
					     "a=kill@1-2", "a=full@-3", "a=fuller",   "a=hold",
					     "a=hold@1-2" };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		int status = walk(wrong[i], NULL);
		cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 2, "%s", wrong[i]);
	}
	int status = walk(NULL, "/no/such/folder/trace");
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 2);
}
