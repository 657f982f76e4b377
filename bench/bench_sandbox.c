/* Starts no-op commands in the sandbox, one after the other, and prints how long each variant takes.
 *
 *	bench_sandbox ROUNDS FOLDER
 *
 * Every variant is a command line of sandbox/sandbox_native.c.  `bare` is bubblewrap with the keeper and
 * neither seccomp nor Landlock; `spawn` is /bin/true without any sandbox, the floor.  One line of JSON
 * for each: milliseconds from the start of the child to its end, and of processor time. */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "sandbox/sandbox_layers.h"
#include "sandbox/sandbox_limits.h"

enum { MB = 1048576, WARM_UP = 5 };

static double now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* The child's 3, 4, 5, 6: status, lifeline, keeper, status. */
static bool run(const char *const *argv, const struct sandbox_lifeline *line)
{
	static char *const environment[] = { NULL };
	union {
		const char *const *from;
		char **to;
	} words = { .from = argv };
	posix_spawn_file_actions_t actions;
	pid_t child;
	int status;
	posix_spawn_file_actions_init(&actions);
	if (line != NULL) {
		const int keep[] = { line->status, line->lifeline, line->keeper, line->status };
		/* Out of the way first: a number may be one of its own targets. */
		for (int i = 0; i < 4; i++)
			posix_spawn_file_actions_adddup2(&actions, keep[i], 100 + i);
		for (int i = 0; i < 4; i++)
			posix_spawn_file_actions_adddup2(&actions, 100 + i, 3 + i);
		posix_spawn_file_actions_addclosefrom_np(&actions, 7);
	}
	bool good = posix_spawnp(&child, argv[0], &actions, NULL, words.to, environment) == 0 &&
		    waitpid(child, &status, 0) == child && status == 0 &&
		    (line == NULL || sandbox_was_built(line));
	posix_spawn_file_actions_destroy(&actions);
	return good;
}

/* Processor time of every child so far; the load of the machine does not change it much. */
static double cpu_ms(void)
{
	struct rusage usage;
	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static double once(const struct sandbox_spec *spec)
{
	static const char *const plain[] = { "/bin/true", NULL };
	struct arena arena = { 0 };
	struct error error;
	struct sandbox_lifeline line;
	double begin = now_ms();
	bool good;
	if (spec == NULL) {
		good = run(plain, NULL);
	} else {
		good = sandbox_lifeline_open(&line, &error) &&
		       run(sandbox_find(S("native"))->command(spec, &arena), &line);
		sandbox_lifeline_close(&line);
	}
	double took = now_ms() - begin;
	arena_done(&arena);
	if (!good) {
		fprintf(stderr, "bench_sandbox: the command failed\n");
		exit(1);
	}
	return took;
}

static int compare(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;
	return (a > b) - (a < b);
}

static void measure(const char *name, const struct sandbox_spec *spec, size_t rounds)
{
	double *took = calloc(rounds, sizeof(*took));
	if (took == NULL)
		exit(1);
	for (int i = 0; i < WARM_UP; i++)
		once(spec);
	double cpu = cpu_ms();
	for (size_t i = 0; i < rounds; i++)
		took[i] = once(spec);
	cpu = (cpu_ms() - cpu) / (double)rounds;
	qsort(took, rounds, sizeof(*took), compare);
	printf("{\"variant\":\"%s\",\"least\":%.2f,\"median\":%.2f,\"p99\":%.2f,\"cpu\":%.2f}\n",
	       name, took[0], took[rounds / 2], took[rounds - 1 - rounds / 100], cpu);
	free(took);
}

int main(int count, char **words)
{
	static const char *const command[] = { "/bin/true", NULL };
	if (count != 3)
		return 2;
	size_t rounds = strtoul(words[1], NULL, 10);
	struct arena arena = { 0 };
	struct sandbox_limits limits = { .processes = 1024,
					 .memory_bytes = 4096LL * MB,
					 .tmp_bytes = 1024LL * MB,
					 .file_bytes = 4096LL * MB,
					 .uid = 65533 };
	sandbox_limits_choose(&limits, "rlimit", &arena);
	const struct sandbox_layers all = { .seccomp = "required", .landlock = "required" };
	const struct sandbox_layers seccomp = { .seccomp = "required", .landlock = "off" };
	const struct sandbox_layers landlock = { .seccomp = "off", .landlock = "required" };
	const struct sandbox_layers none = { .seccomp = "off", .landlock = "off" };
	const struct sandbox_layers *const layers[] = { &all, &seccomp, &landlock, &none };
	static const char *const names[] = { "all", "seccomp", "landlock", "bare" };
	for (size_t i = 0; i < 4; i++) {
		const struct sandbox_spec spec = { .workspace = words[2],
						   .limits = &limits,
						   .layers = layers[i],
						   .status_descriptor = 3,
						   .lifeline_descriptor = 4,
						   .keeper_descriptor = 5,
						   .started_descriptor = 6,
						   .command = command };
		measure(names[i], &spec, rounds);
	}
	measure("spawn", NULL, rounds);
	arena_done(&arena);
	return 0;
}
