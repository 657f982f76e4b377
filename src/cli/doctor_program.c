/* cli/doctor_program.c -- checks of the program and of the programs it depends on.
 *
 * The checks run the other programs and build a sandbox, because an installed file alone does not
 * prove that it works.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/packed.h"
#include "cli/doctor.h"
#include "os/fast_hash.h"
#include "os/loop.h"
#include "os/machine.h"
#include "os/process.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_layers.h"
#include "sandbox/sandbox_limits.h"
#include "sandbox/toolchains.h"
#include "store/store.h"

/* ---- children -------------------------------------------------------------------------- */

struct child_command doctor_run(struct doctor *doctor, const char *const *argv)
{
	const char *const *all = doctor->cli->environment;
	const char *kept[2] = { NULL };
	for (size_t i = 0; all[i] != NULL && kept[0] == NULL; i++)
		if (strncmp(all[i], "PATH=", 5) == 0)
			kept[0] = all[i];
	const struct process_spec spec = { .argv = argv, .environment = kept };
	return child_command_run(&spec, &doctor->cli->arena);
}

struct child_command doctor_baton(struct doctor *doctor, const char *const *words)
{
	return child_command_baton(doctor->cli, true, words, S(""), &doctor->cli->arena);
}

/* Reads the first line of `program --version`; adds a finding if the program does not run. */
static bool program_version(struct doctor *doctor, const char *program, struct str *out_line)
{
	const char *const argv[] = { program, "--version", NULL };
	struct child_command child = doctor_run(doctor, argv);
	struct str rest = child.output;
	if (child.status != 0 || !str_cut(&rest, '\n', out_line)) {
		doctor_add_finding(
			doctor, DOCTOR_FAIL,
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
	doctor_add_finding(doctor, DOCTOR_OK, NULL, "baton %s, SQLite %s, compiled by %s %s",
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
		doctor_add_finding(doctor, DOCTOR_OK, NULL,
				   "%zu files, %zu bytes, built into the program", count, bytes);
	else
		doctor_add_finding(doctor, DOCTOR_FAIL, "rebuild the program: make",
				   "index.html is missing from the program (%zu files)", count);
}

void doctor_limits(struct doctor *doctor)
{
	int64_t now, most;
	machine_open_files(&now, &most);
	if (now >= LIMIT_OPEN_FILES_LEAST)
		doctor_add_finding(doctor, DOCTOR_OK, NULL, "limit %lld", (long long)now);
	else
		doctor_add_finding(
			doctor, DOCTOR_WARN,
			str_format(
				&doctor->cli->arena,
				"run ulimit -n %lld before baton serve, or set LimitNOFILE= in its systemd unit",
				(long long)(most < 65536 ? most : 65536))
				.at,
			"limit %lld: too low for %d connections and %d child processes",
			(long long)now, LIMIT_HTTP_CONNECTIONS, LIMIT_CHILDREN);
}

/* ---- required programs ----------------------------------------------------------------- */

void doctor_git(struct doctor *doctor)
{
	struct str line;
	if (program_version(doctor, "git", &line))
		doctor_add_finding(doctor, DOCTOR_OK, NULL, STR_FMT, STR_ARG(line));
}

/* Without it everything works, only slower. */
void doctor_libcrypto(struct doctor *doctor)
{
	if (fast_hash_load())
		doctor_add_finding(doctor, DOCTOR_OK, NULL, "hashes values over %d bytes",
				   LIMIT_HASH_PORTABLE_BYTES);
	else
		doctor_add_finding(doctor, DOCTOR_OK, "apt install libssl3",
				   "not installed: large values are hashed more slowly");
}

/* Builds the sandbox that tools run in, with `folder` as workspace, and runs `true` in it. */
static void sandbox_check(struct doctor *doctor, struct str version, char *folder)
{
	static const char *const command[] = { "/bin/true", NULL };
	struct sandbox_lifeline lifeline;
	struct error error;
	if (!sandbox_lifeline_open(&lifeline, &error)) {
		doctor_add_finding(doctor, DOCTOR_FAIL, NULL, "%s", error.text);
		return;
	}
	const struct sandbox_spec sandbox = { .workspace = folder,
					      .status_descriptor = 3,
					      .lifeline_descriptor = 4,
					      .keeper_descriptor = 5,
					      .started_descriptor = 6,
					      .command = command };
	const int keep[] = { lifeline.status, lifeline.lifeline, lifeline.keeper, lifeline.status };
	const struct process_spec spec = {
		.argv = sandbox_find(S("native"))->command(&sandbox, &doctor->cli->arena),
		.keep = keep,
		.keep_count = COUNT(keep),
	};
	struct child_command child = child_command_run(&spec, &doctor->cli->arena);
	bool built = sandbox_was_built(&lifeline) && child.status == 0;
	sandbox_lifeline_close(&lifeline);
	if (built)
		doctor_add_finding(doctor, DOCTOR_OK, NULL, STR_FMT "; ran a command in it",
				   STR_ARG(version));
	else
		doctor_add_finding(
			doctor, DOCTOR_FAIL,
			"allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
			"or an AppArmor profile for bwrap); or set tools.isolation to off to go without",
			"the sandbox cannot be built, so shell steps fail: " STR_FMT,
			STR_ARG(child.errors));
}

void doctor_sandbox(struct doctor *doctor)
{
	struct str version;
	char folder[] = "/tmp/baton-doctor-XXXXXX";
	if (strcmp(config_text(&doctor->cli->config, CONFIG_TOOLS_ISOLATION), "off") == 0)
		doctor_add_finding(
			doctor, DOCTOR_WARN, "baton config set tools.isolation native",
			"tools.isolation is off: tools can access everything that your user can");
	if (!program_version(doctor, "bwrap", &version))
		return;
	if (mkdtemp(folder) == NULL) {
		doctor_add_finding(doctor, DOCTOR_FAIL, NULL,
				   "cannot create a folder in /tmp to test the sandbox");
		return;
	}
	sandbox_check(doctor, version, folder);
	remove(folder);
}

void doctor_sandbox_layers(struct doctor *doctor)
{
	const struct config *config = &doctor->cli->config;
	struct sandbox_layers layers = { .seccomp = config_text(config, CONFIG_SANDBOX_SECCOMP),
					 .landlock = config_text(config, CONFIG_SANDBOX_LANDLOCK) };
	const char *fix = "see \"The walls of the sandbox\" in docs/operating.md";
	if (strcmp(config_text(config, CONFIG_TOOLS_ISOLATION), "off") == 0) {
		doctor_add_finding(doctor, DOCTOR_WARN, "baton config set tools.isolation native",
				   "none, because tools.isolation is off");
		return;
	}
	sandbox_layers_choose(&layers, &doctor->cli->arena);
	if (layers.refusal != NULL)
		doctor_add_finding(doctor, DOCTOR_FAIL, fix, "every command is refused: %s",
				   layers.refusal);
	else if (layers.warning != NULL)
		doctor_add_finding(doctor, DOCTOR_WARN, fix, "%s (in use: %s)", layers.warning,
				   layers.text);
	else
		doctor_add_finding(doctor, DOCTOR_OK, NULL, "%s", layers.text);
}

/* Proposes what the sandbox does not see yet. */
void doctor_toolchains(struct doctor *doctor)
{
	const struct config *config = &doctor->cli->config;
	struct arena *arena = &doctor->cli->arena;
	struct str_list mounts = config_list(config, CONFIG_SANDBOX_MOUNTS);
	struct toolchains toolchains;
	struct error error;
	AUTO(buf) proposal = { 0 };
	if (!toolchains_open(&toolchains, mounts, config->user_home, doctor->cli->data_folder,
			     arena, &error)) {
		doctor_add_finding(doctor, DOCTOR_FAIL, "the server does not start with it", "%s",
				   error.text);
		return;
	}
	struct str_list found = toolchains_propose(&toolchains, config->user_home, arena);
	for (size_t i = 0; i < mounts.count + found.count; i++) {
		struct str place = i < mounts.count ? mounts.at[i] : found.at[i - mounts.count];
		buf_add_format(&proposal, "%s" STR_FMT, i > 0 ? "," : "", STR_ARG(place));
	}
	const char *fix = str_format(arena, "baton config set sandbox.mounts '" STR_FMT "'",
				     STR_ARG(buf_str(&proposal)))
				  .at;
	if (toolchains.missing != NULL)
		doctor_add_finding(doctor, DOCTOR_WARN, "correct sandbox.mounts",
				   "sandbox.mounts: %s not found", toolchains.missing);
	doctor_add_finding(doctor, DOCTOR_OK, found.count > 0 ? fix : NULL,
			   "/usr and %zu folder%s are visible in the sandbox%s",
			   toolchains.mount_count, toolchains.mount_count == 1 ? "" : "s",
			   found.count > 0 ? "; more toolchains are on this machine" : "");
}

/* Reports what a server would do that is started in the place of this command. */
void doctor_sandbox_limits(struct doctor *doctor)
{
	const struct config *config = &doctor->cli->config;
	struct sandbox_limits limits = { .uid = config_number(config, CONFIG_SANDBOX_UID) };
	if (strcmp(config_text(config, CONFIG_TOOLS_ISOLATION), "off") == 0) {
		doctor_add_finding(doctor, DOCTOR_WARN, "baton config set tools.isolation native",
				   "none, because tools.isolation is off");
		return;
	}
	sandbox_limits_choose(&limits, config_text(config, CONFIG_SANDBOX_LIMITS),
			      &doctor->cli->arena);
	if (limits.warning != NULL)
		doctor_add_finding(doctor, DOCTOR_WARN,
				   "see \"Limits of sandboxed commands\" in docs/operating.md",
				   "%s", limits.warning);
	else
		doctor_add_finding(doctor, DOCTOR_OK, NULL, "%s", limits.text);
}
