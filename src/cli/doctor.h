/* cli/doctor.h -- the checks of baton doctor; private to cli.
 *
 * A check examines one thing and adds one or more findings.  It changes nothing.  A check that
 * cannot examine its subject adds a finding that says so.
 */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "cli/child_command.h"

enum doctor_result { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL };

struct doctor_finding {
	const char *check;
	enum doctor_result result;
	struct str text, fix; /* fix: what to do about it; empty = nothing */
};

struct doctor {
	struct cli *cli;
	const char *check; /* name of the current check */
	struct doctor_finding *findings;
	size_t count;
	bool has_folder, has_store; /* the data folder exists; it contains a database */
	bool answers;               /* a server answers on baton.sock */
	struct str owner;           /* contents of the lock file: "pid 7 at http://..." */
};

/* Adds a finding of the current check.  `fix` is copied; NULL = nothing to do. */
void doctor_add_finding(struct doctor *doctor, enum doctor_result result, const char *fix,
			const char *format, ...) PRINTF_LIKE(4, 5);

/* Runs another program with PATH alone as its environment and waits for it. */
struct child_command doctor_run(struct doctor *doctor, const char *const *argv);
/* Runs this program with --json on the same data folder: as a client of the owner, or as owner. */
struct child_command doctor_baton(struct doctor *doctor, const char *const *words);

/* The checks, in the order in which they run. */
void doctor_version(struct doctor *doctor);
void doctor_pages(struct doctor *doctor);
void doctor_sandbox(struct doctor *doctor);
void doctor_sandbox_layers(struct doctor *doctor);
void doctor_sandbox_limits(struct doctor *doctor);
void doctor_toolchains(struct doctor *doctor);
void doctor_git(struct doctor *doctor);
void doctor_libcrypto(struct doctor *doctor);
void doctor_limits(struct doctor *doctor);
void doctor_folder(struct doctor *doctor);
void doctor_clock(struct doctor *doctor);
void doctor_disk(struct doctor *doctor);
void doctor_settings(struct doctor *doctor);
void doctor_owner(struct doctor *doctor);
void doctor_store(struct doctor *doctor);
void doctor_port(struct doctor *doctor);
void doctor_keys(struct doctor *doctor);
void doctor_secrets(struct doctor *doctor);

/* baton doctor sandbox: runs the escape kit in a sandbox and prints what it found.  Returns the exit
 * status: 1 if something got out, or if the kit could not run. */
int doctor_escape(struct cli *cli);

#endif
