/* cli/doctor.h -- what baton doctor's checks share; private to the room.
 *
 * A check looks at one thing and says one or more lines about it.  It changes nothing, and what it
 * cannot look at is itself a finding.
 */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include "cli/cli.h"

enum doctor_result { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL };

struct doctor_finding {
	const char *check;
	enum doctor_result result;
	struct str text, fix; /* fix: empty when there is nothing to do */
};

struct doctor {
	struct cli *cli;
	const char *check; /* the one in work */
	struct doctor_finding *findings;
	size_t count;
	bool has_folder, has_store; /* the data folder, a database in it */
	bool answers;               /* somebody answers on baton.sock */
	struct str owner;           /* the lock's text: "pid 7 at http://..." */
};

void doctor_print(struct doctor *doctor, enum doctor_result result, const char *fix,
		  const char *format, ...) PRINTF_LIKE(4, 5);

/* A child's end: its exit status, or -1 and why it has none. */
struct doctor_child {
	int status;
	struct str output, errors;
};

/* Runs a program with our environment and waits for it. */
struct doctor_child doctor_run(struct doctor *doctor, const char *const *argv);
/* Runs this very program on the same data folder: it speaks to the owner, or is it for a moment. */
struct doctor_child doctor_baton(struct doctor *doctor, const char *const *words);

/* The checks, in the order in which they are made. */
void doctor_version(struct doctor *doctor);
void doctor_pages(struct doctor *doctor);
void doctor_sandbox(struct doctor *doctor);
void doctor_bash(struct doctor *doctor);
void doctor_git(struct doctor *doctor);
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

#endif
