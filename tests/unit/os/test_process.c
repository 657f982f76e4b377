/* Child processes: output limit, exits and signals, process_end(), inherited descriptors. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/limits.h"
#include "os/file.h"
#include "os/process.h"

struct trial {
	struct loop *loop;
	unsigned done, wanted;
	int exit_status, signal;
	uint64_t argument;
	char output[65536], errors[65536];
	size_t output_size, errors_size;
	uint64_t output_dropped, errors_dropped;
	uint64_t process;
};

static void open_trial(struct trial *trial)
{
	struct error error;
	*trial = (struct trial){ .wanted = 1 };
	cr_assert(loop_new(&trial->loop, &error));
}

static void child_done(void *context, uint64_t argument, const struct process_result *result)
{
	struct trial *trial = context;
	trial->done++;
	trial->argument = argument;
	trial->exit_status = result->exit_status;
	trial->signal = result->signal;
	trial->output_size = result->output.size;
	trial->errors_size = result->errors.size;
	cr_assert_lt(result->output.size, sizeof(trial->output));
	cr_assert_lt(result->errors.size, sizeof(trial->errors));
	memcpy(trial->output, result->output.at, result->output.size);
	memcpy(trial->errors, result->errors.at, result->errors.size);
	trial->output_dropped = result->output_dropped;
	trial->errors_dropped = result->errors_dropped;
	if (trial->done == trial->wanted)
		loop_stop(trial->loop);
}

static struct process_spec shell(struct trial *trial, const char *const *argv)
{
	return (struct process_spec){
		.argv = argv,
		.output_limit = 4096,
		.done = child_done,
		.context = trial,
		.argument = 77,
	};
}

#define SHELL(script) ((const char *const[]){ "sh", "-c", script, NULL })

static void start(struct trial *trial, const struct process_spec *spec)
{
	struct error error = { 0 };
	cr_assert(process_start(trial->loop, spec, &trial->process, &error), "%s", error.text);
	cr_assert_neq(trial->process, 0);
}

static void finish(struct trial *trial)
{
	loop_run(trial->loop);
	cr_assert_eq(trial->done, trial->wanted);
	cr_assert_eq(process_count(trial->loop), 0);
	loop_free(trial->loop);
}

static void expect_output(const struct trial *trial, const char *text)
{
	cr_assert_eq(trial->output_size, strlen(text), "output: %.*s", (int)trial->output_size,
		     trial->output);
	cr_assert_eq(memcmp(trial->output, text, trial->output_size), 0);
}

Test(process, output_errors_and_exit_status)
{
	struct trial trial;
	open_trial(&trial);
	struct process_spec spec = shell(&trial, SHELL("echo out; echo err >&2; exit 7"));
	start(&trial, &spec);
	cr_assert_eq(process_count(trial.loop), 1);
	finish(&trial);
	expect_output(&trial, "out\n");
	cr_assert_eq(trial.errors_size, 4);
	cr_assert_eq(trial.exit_status, 7);
	cr_assert_eq(trial.signal, 0);
	cr_assert_eq(trial.argument, 77);
	cr_assert_eq(trial.output_dropped, 0);
}

Test(process, output_beyond_the_limit_is_counted)
{
	struct trial trial;
	open_trial(&trial);
	struct process_spec spec =
		shell(&trial, SHELL("head -c 300000 /dev/zero; head -c 4097 /dev/zero >&2"));
	start(&trial, &spec);
	finish(&trial);
	cr_assert_eq(trial.output_size, 4096);
	cr_assert_eq(trial.output_dropped, 300000 - 4096);
	cr_assert_eq(trial.errors_size, 4096);
	cr_assert_eq(trial.errors_dropped, 1);
}

Test(process, a_limit_of_nothing_keeps_nothing)
{
	struct trial trial;
	open_trial(&trial);
	struct process_spec spec = shell(&trial, SHELL("echo hello"));
	spec.output_limit = 0;
	start(&trial, &spec);
	finish(&trial);
	cr_assert_eq(trial.output_size, 0);
	cr_assert_eq(trial.output_dropped, 6);
}

Test(process, input_directory_and_environment)
{
	struct trial trial;
	open_trial(&trial);
	/* /dev/stdin and /dev/stdout can be opened: they are pipes, not sockets. */
	struct process_spec spec =
		shell(&trial, SHELL("pwd; echo $NAME; env | wc -l; cat /dev/stdin > /dev/stdout"));
	spec.environment = (const char *const[]){ "NAME=value", "PATH=/usr/bin:/bin", NULL };
	spec.directory = "/usr";
	spec.input = S("given");
	start(&trial, &spec);
	finish(&trial);
	/* the shell adds PWD and other variables, so the count is only bounded */
	cr_assert_eq(memcmp(trial.output, "/usr\nvalue\n", 11), 0);
	cr_assert_eq(memcmp(trial.output + trial.output_size - 5, "given", 5), 0);
	cr_assert_eq(trial.exit_status, 0);
}

Test(process, the_environment_is_not_ours)
{
	struct trial trial;
	open_trial(&trial);
	setenv("BATON_SECRET", "x", 1);
	struct process_spec spec = shell(&trial, SHELL("echo ${BATON_SECRET:-none}"));
	start(&trial, &spec);
	finish(&trial);
	expect_output(&trial, "none\n");
}

Test(process, without_input_stdin_is_empty)
{
	struct trial trial;
	open_trial(&trial);
	struct process_spec spec = shell(&trial, SHELL("cat | wc -c"));
	start(&trial, &spec);
	finish(&trial);
	expect_output(&trial, "0\n");
}

Test(process, input_nobody_reads_harms_nobody)
{
	struct trial trial;
	open_trial(&trial);
	char *large = calloc(1, 1000000);
	struct process_spec spec = shell(&trial, SHELL("exec <&-; echo closed"));
	spec.input = (struct str){ large, 1000000 };
	start(&trial, &spec);
	free(large);
	finish(&trial);
	expect_output(&trial, "closed\n");
	cr_assert_eq(trial.exit_status, 0);
}

Test(process, a_large_input_arrives_whole)
{
	struct trial trial;
	open_trial(&trial);
	char *large = calloc(1, 1000000);
	struct process_spec spec = shell(&trial, SHELL("wc -c"));
	spec.input = (struct str){ large, 1000000 };
	start(&trial, &spec);
	free(large);
	finish(&trial);
	expect_output(&trial, "1000000\n");
}

Test(process, a_signal_is_reported)
{
	struct trial trial;
	open_trial(&trial);
	struct process_spec spec = shell(&trial, SHELL("kill -SEGV $$"));
	start(&trial, &spec);
	finish(&trial);
	cr_assert_eq(trial.exit_status, -1);
	cr_assert_eq(trial.signal, SIGSEGV);
}

Test(process, ending_asks_first)
{
	struct trial trial;
	open_trial(&trial);
	struct process_spec spec =
		shell(&trial, SHELL("trap 'echo asked; exit 3' TERM; echo on >&2; "
				    "while :; do sleep 0.01; done"));
	start(&trial, &spec);
	process_end(trial.loop, trial.process);
	process_end(trial.loop, trial.process);
	process_end(trial.loop, 12345);
	loop_run(trial.loop);
	/* The scheduler decides whether the trap is installed before the signal arrives. */
	cr_assert((trial.exit_status == 3 && trial.output_size == 6) || trial.signal == SIGTERM);
	cr_assert_eq(trial.done, 1);
	process_end(trial.loop, trial.process);
	loop_free(trial.loop);
}

Test(process, ending_kills_who_does_not_listen)
{
	struct trial trial;
	open_trial(&trial);
	char path[] = "/tmp/baton-test-XXXXXX";
	cr_assert_not_null(mkdtemp(path));
	char script[200];
	snprintf(script, sizeof(script),
		 "trap '' TERM; mkfifo %s/f; (trap '' TERM; echo > %s/f; sleep 1000) & "
		 "read x < %s/f; kill -TERM -$$; echo alive; wait; sleep 1000",
		 path, path, path);
	struct process_spec spec = shell(&trial, SHELL(script));
	start(&trial, &spec);
	process_end(trial.loop, trial.process);
	loop_run(trial.loop);
	cr_assert_eq(trial.done, 1);
	cr_assert(trial.signal == SIGKILL || trial.signal == SIGTERM);
	loop_free(trial.loop);
	snprintf(script, sizeof(script), "%s/f", path);
	unlink(script);
	rmdir(path);
}

Test(process, a_grandchild_that_keeps_the_pipe_does_not_hold_done_for_ever)
{
	struct trial trial;
	open_trial(&trial);
	struct process_spec spec = shell(&trial, SHELL("sleep 1000 & echo $!; exit 4"));
	start(&trial, &spec);
	finish(&trial);
	cr_assert_eq(trial.exit_status, 4);
	trial.output[trial.output_size] = '\0';
	pid_t grandchild = (pid_t)strtol(trial.output, NULL, 10);
	cr_assert_gt(grandchild, 1);
	/* It was a member of the group, so it was killed; it may still be a zombie. */
	char stat_path[64], state = 'X';
	snprintf(stat_path, sizeof(stat_path), "/proc/%d/stat", (int)grandchild);
	for (;;) {
		FILE *stat = fopen(stat_path, "r");
		if (stat == NULL)
			break;
		int items = fscanf(stat, "%*d %*s %c", &state);
		fclose(stat);
		if (items != 1 || state == 'Z' || state == 'X')
			break;
	}
}

Test(process, a_kept_descriptor_holds_its_lock_until_the_tree_is_dead)
{
	struct trial trial;
	open_trial(&trial);
	struct error error;
	char path[] = "/tmp/baton-test-XXXXXX";
	cr_assert_not_null(mkdtemp(path));
	char lock[64];
	snprintf(lock, sizeof(lock), "%s/effect", path);
	int held, again;
	cr_assert(file_lock(lock, &held, &error));
	/* A background child of the shell holds the lock too, although it has none of the pipes. */
	struct process_spec spec =
		shell(&trial, SHELL("sleep 1000 >/dev/null 2>&1 & exec sleep 1000"));
	spec.keep = &held;
	spec.keep_count = 1;
	start(&trial, &spec);
	close(held);
	cr_assert(!file_lock(lock, &again, &error));
	cr_assert_eq(error.code, ERROR_LOCKED);
	process_end(trial.loop, trial.process);
	finish(&trial);
	cr_assert_eq(trial.signal, SIGTERM);
	/* The whole group got the signal; the lock is released when the last member ends. */
	int file = open(lock, O_RDWR | O_CLOEXEC);
	cr_assert_eq(flock(file, LOCK_EX), 0);
	close(file);
	unlink(lock);
	rmdir(path);
}

Test(process, kept_descriptors_are_found_from_three_on)
{
	struct trial trial;
	open_trial(&trial);
	int one[2], two[2];
	cr_assert_eq(pipe2(one, O_CLOEXEC), 0);
	cr_assert_eq(pipe2(two, O_CLOEXEC), 0);
	int keep[2] = { two[1], one[1] };
	struct process_spec spec = shell(&trial, SHELL("echo a >&3; echo b >&4; ls /proc/self/fd"));
	spec.keep = keep;
	spec.keep_count = 2;
	start(&trial, &spec);
	finish(&trial);
	char got[2];
	cr_assert_eq(read(two[0], got, 2), 2);
	cr_assert_eq(got[0], 'a');
	cr_assert_eq(read(one[0], got, 2), 2);
	cr_assert_eq(got[0], 'b');
	/* 5 is ls reading the folder: nothing else was inherited. */
	expect_output(&trial, "0\n1\n2\n3\n4\n5\n");
	for (int i = 0; i < 2; i++) {
		close(one[i]);
		close(two[i]);
	}
}

Test(process, what_cannot_start_says_so)
{
	struct trial trial;
	open_trial(&trial);
	struct error error = { 0 };
	uint64_t process = 5;
	struct process_spec spec =
		shell(&trial, (const char *const[]){ "baton-no-such-program", NULL });
	cr_assert(!process_start(trial.loop, &spec, &process, &error));
	cr_assert_eq(error.code, ERROR_IO);
	cr_assert_not_null(strstr(error.text, "baton-no-such-program"));
	spec = shell(&trial, SHELL("exit 0"));
	spec.directory = "/no/such/folder";
	cr_assert(!process_start(trial.loop, &spec, &process, &error));
	cr_assert_eq(process, 5);
	cr_assert_eq(process_count(trial.loop), 0);
	cr_assert_eq(trial.done, 0);
	loop_free(trial.loop);
}

Test(process, the_number_of_children_is_limited)
{
	struct trial trial;
	open_trial(&trial);
	struct error error = { 0 };
	uint64_t process, all[LIMIT_CHILDREN];
	struct process_spec spec = shell(&trial, (const char *const[]){ "sleep", "1000", NULL });
	for (size_t i = 0; i < LIMIT_CHILDREN; i++)
		cr_assert(process_start(trial.loop, &spec, &all[i], &error));
	cr_assert(!process_start(trial.loop, &spec, &process, &error));
	cr_assert_eq(error.code, ERROR_UNAVAILABLE);
	cr_assert_eq(process_count(trial.loop), LIMIT_CHILDREN);
	process_end(trial.loop, all[3]);
	loop_run(trial.loop);
	cr_assert_eq(trial.done, 1);
	cr_assert(process_start(trial.loop, &spec, &process, &error));
	/* Freeing the loop kills running children without calling their done(). */
	loop_free(trial.loop);
	cr_assert_eq(trial.done, 1);
}

/* ---- the queue for places ------------------------------------------------------------------ */

/* Callers that want a place; the second one does not want it any more when its turn comes. */
struct waiting {
	struct trial *trial;
	struct process_spec spec;
	uint64_t order[8];
	size_t count, stop_at;
	bool refused;
};

static void place_granted(void *context, uint64_t argument)
{
	struct waiting *waiting = context;
	struct error error;
	uint64_t process;
	waiting->order[waiting->count++] = argument;
	if (argument != 2)
		cr_assert(process_start(waiting->trial->loop, &waiting->spec, &process, &error),
			  "%s", error.text);
	if (waiting->count == waiting->stop_at)
		loop_stop(waiting->trial->loop);
}

/* A caller that asks for the place of a child that has just ended, while others wait for it. */
static void ask_out_of_turn(void *context, uint64_t argument, const struct process_result *result)
{
	struct waiting *waiting = context;
	struct error error = { 0 };
	uint64_t process;
	(void)argument;
	(void)result;
	cr_assert_eq(process_count(waiting->trial->loop), LIMIT_CHILDREN - 1);
	cr_assert(!process_start(waiting->trial->loop, &waiting->spec, &process, &error));
	cr_assert_eq(error.code, ERROR_UNAVAILABLE);
	waiting->refused = true;
}

Test(process, places_are_granted_in_the_order_of_asking)
{
	struct trial trial;
	open_trial(&trial);
	trial.wanted = LIMIT_CHILDREN + 8; /* ends of children do not stop the loop */
	struct error error = { 0 };
	uint64_t all[LIMIT_CHILDREN];
	struct process_spec spec = shell(&trial, (const char *const[]){ "sleep", "1000", NULL });
	struct waiting waiting = { .trial = &trial, .spec = spec, .stop_at = 1 };
	struct process_spec watched = spec;
	watched.done = ask_out_of_turn;
	watched.context = &waiting;
	for (size_t i = 0; i < LIMIT_CHILDREN; i++)
		cr_assert(process_start(trial.loop, i == 6 ? &watched : &spec, &all[i], &error));
	for (uint64_t i = 1; i <= 4; i++)
		platform_child_await(loop_platform(trial.loop), place_granted, &waiting, i);
	process_end(trial.loop, all[3]);
	loop_run(trial.loop);
	cr_assert_eq(process_count(trial.loop), LIMIT_CHILDREN);
	/* The second caller leaves its place to the third one. */
	waiting.stop_at = 3;
	process_end(trial.loop, all[5]);
	loop_run(trial.loop);
	cr_assert_eq(process_count(trial.loop), LIMIT_CHILDREN);
	/* While a caller waits, a place that is free belongs to the queue. */
	waiting.stop_at = 4;
	process_end(trial.loop, all[6]);
	loop_run(trial.loop);
	cr_assert(waiting.refused);
	for (uint64_t i = 0; i < 4; i++)
		cr_assert_eq(waiting.order[i], i + 1);
	loop_free(trial.loop);
}

/* Answers each line with the next word, until there is none left. */
static void converse(void *context, uint64_t argument, struct str bytes)
{
	static const char *const words[] = { "two\n", "three\n", "end\n" };
	struct trial *trial = context;
	cr_assert_eq(argument, 77);
	for (size_t i = 0; i < bytes.size; i++) {
		trial->output[trial->output_size++] = bytes.at[i];
		if (bytes.at[i] != '\n')
			continue;
		size_t lines = trial->errors_dropped++;
		cr_assert(process_write(trial->loop, trial->process, str_from_c(words[lines])));
	}
}

static void converse_done(void *context, uint64_t argument, const struct process_result *result)
{
	struct trial *trial = context;
	(void)argument;
	cr_assert_eq(result->output.size, 0); /* it was passed to piece() */
	trial->exit_status = result->exit_status;
	trial->done++;
	loop_stop(trial->loop);
}

Test(process, a_child_that_converses)
{
	struct trial *trial = calloc(1, sizeof(*trial));
	open_trial(trial);
	struct process_spec spec =
		shell(trial, SHELL("while read -r word && [ \"$word\" != end ]; do echo got $word; "
				   "done; exit 5"));
	spec.converse = true;
	spec.piece = converse;
	spec.done = converse_done;
	start(trial, &spec);
	cr_assert(process_write(trial->loop, trial->process, S("one\n")));
	loop_run(trial->loop);
	cr_assert_eq(trial->done, 1);
	cr_assert_eq(trial->exit_status, 5);
	expect_output(trial, "got one\ngot two\ngot three\n");
	cr_assert(!process_write(trial->loop, trial->process, S("more\n")));
	loop_free(trial->loop);
	free(trial);
}
