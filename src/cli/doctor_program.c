/* cli/doctor_program.c -- checks of the program and of what it needs around it.
 *
 * Other programs are really run, the sandbox really built: that a file is there says little.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/packed.h"
#include "cli/doctor.h"
#include "os/loop.h"
#include "os/machine.h"
#include "os/process.h"
#include "sandbox/sandbox.h"
#include "store/store.h"

/* ---- children -------------------------------------------------------------------------- */

struct child_run {
	struct loop *loop;
	struct arena *arena;
	uint64_t process;
	struct doctor_child result;
};

static void child_ended(void *context, uint64_t argument, const struct process_result *result)
{
	struct child_run *run = context;
	(void)argument;
	run->result.status = result->exit_status;
	run->result.output = str_copy(run->arena, str_trim(result->output));
	run->result.errors = str_copy(run->arena, str_trim(result->errors));
	loop_stop(run->loop);
}

static void child_too_slow(void *context, uint64_t argument)
{
	struct child_run *run = context;
	(void)argument;
	process_end(run->loop, run->process);
}

static struct doctor_child run_child(struct doctor *doctor, const struct process_spec *wanted)
{
	struct child_run run = { .arena = &doctor->cli->arena, .result = { .status = -1 } };
	struct process_spec spec = *wanted;
	struct error error;
	if (!loop_new(&run.loop, &error)) {
		run.result.errors = str_copy(run.arena, str_from_c(error.text));
		return run.result;
	}
	spec.output_limit = LIMIT_TOOL_OUTPUT_BYTES;
	spec.done = child_ended;
	spec.context = &run;
	if (process_start(run.loop, &spec, &run.process, &error)) {
		platform_timer_start(loop_platform(run.loop), LIMIT_DOCTOR_CHILD_MS * 1000,
				     child_too_slow, &run, 0);
		loop_run(run.loop);
	} else {
		run.result.errors = str_copy(run.arena, str_from_c(error.text));
	}
	loop_free(run.loop);
	return run.result;
}

struct doctor_child doctor_run(struct doctor *doctor, const char *const *argv)
{
	const struct process_spec spec = { .argv = argv, .environment = doctor->cli->environment };
	return run_child(doctor, &spec);
}

struct doctor_child doctor_baton(struct doctor *doctor, const char *const *words)
{
	enum { ROOM = 12 };
	const char *argv[ROOM] = { "/proc/self/exe", "--home", doctor->cli->data_folder,
				   "--server",       "",       "--json" };
	size_t count = 6;
	for (; *words != NULL && count + 1 < ROOM; words++)
		argv[count++] = *words;
	return doctor_run(doctor, argv);
}

/* The first line of what a program says about itself, or a failure. */
static bool ask_version(struct doctor *doctor, const char *program, struct str *out_line)
{
	const char *const argv[] = { program, "--version", NULL };
	struct doctor_child child = doctor_run(doctor, argv);
	struct str rest = child.output;
	if (child.status != 0 || !str_cut(&rest, '\n', out_line)) {
		doctor_print(doctor, DOCTOR_FAIL,
			     str_format(&doctor->cli->arena, "install it: apt install %s",
					strcmp(program, "bwrap") == 0 ? "bubblewrap" : program)
				     .at,
			     "%s does not run: " STR_FMT, program, STR_ARG(child.errors));
		return false;
	}
	return true;
}

/* ---- the program ----------------------------------------------------------------------- */

void doctor_version(struct doctor *doctor)
{
	doctor_print(doctor, DOCTOR_OK, NULL, "baton %s, SQLite %s, compiled by %s %s",
		     BATON_VERSION, store_sqlite_version(),
#ifdef __clang__
		     "clang",
#else
		     "gcc",
#endif
		     __VERSION__);
}

void doctor_pages(struct doctor *doctor)
{
	size_t count = 0, bytes = 0;
	bool index = false;
	for (const struct packed_file *file = doctor->cli->packed_pages; file->name != NULL;
	     file++) {
		count++;
		bytes += file->size;
		index = index || (strcmp(file->name, "index.html") == 0 && file->size > 0);
	}
	if (index)
		doctor_print(doctor, DOCTOR_OK, NULL, "%zu files, %zu bytes in the program", count,
			     bytes);
	else
		doctor_print(doctor, DOCTOR_FAIL, "build the program again: make",
			     "the program has no page (%zu files)", count);
}

void doctor_limits(struct doctor *doctor)
{
	int64_t now, most;
	machine_open_files(&now, &most);
	if (now >= LIMIT_OPEN_FILES_LEAST)
		doctor_print(doctor, DOCTOR_OK, NULL, "%lld at once", (long long)now);
	else
		doctor_print(
			doctor, DOCTOR_WARN,
			str_format(&doctor->cli->arena,
				   "ulimit -n %lld before baton serve, or LimitNOFILE= in its unit",
				   (long long)(most < 65536 ? most : 65536))
				.at,
			"%lld at once: too few for %d connections and %d children", (long long)now,
			LIMIT_HTTP_CONNECTIONS, LIMIT_CHILDREN);
}

/* ---- programs it needs ----------------------------------------------------------------- */

void doctor_git(struct doctor *doctor)
{
	struct str line;
	if (ask_version(doctor, "git", &line))
		doctor_print(doctor, DOCTOR_OK, NULL, STR_FMT, STR_ARG(line));
}

/* "GNU bash, version 5.2.15(1)-release (...)": 5.1 can wait for the lifeline with a coprocess. */
void doctor_bash(struct doctor *doctor)
{
	struct str line, rest, major, minor;
	size_t at;
	int64_t big, small;
	if (!ask_version(doctor, "bash", &line))
		return;
	if (!str_find(line, S("version "), &at)) {
		doctor_print(doctor, DOCTOR_WARN, NULL, "not understood: " STR_FMT, STR_ARG(line));
		return;
	}
	rest = str_skip(line, at + 8);
	bool known = str_cut(&rest, '.', &major) && str_cut(&rest, '.', &minor) &&
		     str_to_int(major, &big) && str_to_int(minor, &small);
	if (known && (big > 5 || (big == 5 && small >= 1)))
		doctor_print(doctor, DOCTOR_OK, NULL, STR_FMT, STR_ARG(line));
	else
		doctor_print(doctor, DOCTOR_FAIL, "install bash 5.1 or newer", STR_FMT,
			     STR_ARG(line));
}

/* Builds the sandbox tools run in, around a folder of its own, and runs `true` in it. */
static void try_sandbox(struct doctor *doctor, struct str version, char *folder)
{
	static const char *const command[] = { "/bin/true", NULL };
	struct sandbox_lifeline tie;
	struct error error;
	if (!sandbox_lifeline_open(&tie, &error)) {
		doctor_print(doctor, DOCTOR_FAIL, NULL, "%s", error.text);
		return;
	}
	const struct sandbox_spec sandbox = { .workspace = folder,
					      .status_descriptor = 3,
					      .lifeline_descriptor = 4,
					      .command = command };
	const int keep[] = { tie.status, tie.lifeline };
	const struct process_spec spec = {
		.argv = sandbox_find(S("native"))->command(&sandbox, &doctor->cli->arena),
		.keep = keep,
		.keep_count = COUNT(keep),
	};
	struct doctor_child child = run_child(doctor, &spec);
	bool built = sandbox_was_built(&tie) && child.status == 0;
	sandbox_lifeline_close(&tie);
	if (built)
		doctor_print(doctor, DOCTOR_OK, NULL, STR_FMT "; a command ran in it",
			     STR_ARG(version));
	else
		doctor_print(
			doctor, DOCTOR_FAIL,
			"allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
			"or an AppArmor profile for bwrap); tools.isolation = off gives the sandbox up",
			"it cannot be built, so shell steps fail: " STR_FMT, STR_ARG(child.errors));
}

void doctor_sandbox(struct doctor *doctor)
{
	struct str version;
	char folder[] = "/tmp/baton-doctor-XXXXXX";
	if (strcmp(config_text(&doctor->cli->config, CONFIG_TOOLS_ISOLATION), "off") == 0)
		doctor_print(
			doctor, DOCTOR_WARN, "baton config set tools.isolation native",
			"tools.isolation is off: tools see the whole machine with your rights");
	if (!ask_version(doctor, "bwrap", &version))
		return;
	if (mkdtemp(folder) == NULL) {
		doctor_print(doctor, DOCTOR_FAIL, NULL,
			     "no folder can be made in /tmp to try it with");
		return;
	}
	try_sandbox(doctor, version, folder);
	remove(folder);
}
