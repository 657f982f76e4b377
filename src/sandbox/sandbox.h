/* sandbox/sandbox.h -- builds the bubblewrap command line that isolates a child process.
 *
 * Every child runs in a pid namespace of its own and dies with the server, with any isolation:
 * nothing survives a `kill -9` of the server.  This is the purpose of the lifeline, a pipe whose
 * write end only the server holds: when it closes, the first process of the namespace exits, and
 * the kernel kills the rest.  (bwrap's --die-with-parent has gaps during startup: a parent that
 * died earlier goes unnoticed, and killing bwrap between its two processes leaves the second one
 * waiting forever.)
 *
 * The sandboxes (sandboxes.def):
 *
 *	native   only the workspace is writable, as /workspace; /usr and some files of /etc are
 *	         readable; no network, no capabilities, an empty environment
 *	off      the whole machine with the rights of the server; set by tools.isolation = off
 *
 * command() returns an argument list; nothing is started here.  If bwrap is missing or fails, the
 * tool does not run (ERROR_ISOLATION).  bwrap writes the status file before it starts the command;
 * sandbox_was_built() reads it to find out whether the command was started.
 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include "base/error.h"

struct sandbox_mount {
	const char *host, *inside;
	bool writable;
};

struct sandbox_spec {
	const char *workspace;              /* folder on the host */
	bool read_only;                     /* of the workspace */
	bool network;                       /* use the host's network; otherwise there is none */
	const struct sandbox_mount *mounts; /* additional mounts; the host paths must exist */
	size_t mount_count;
	int status_descriptor;      /* number in the child; bwrap writes its status there */
	int lifeline_descriptor;    /* number in the child; closes when the server dies */
	const char *const *command; /* NULL-terminated */
};

struct sandbox {
	const char *name, *text;
	bool contained; /* the child can change only the workspace and writable mounts */
	/* Builds the argument list, NULL-terminated, in the arena. */
	const char *const *(*command)(const struct sandbox_spec *spec, struct arena *arena);
};

const struct sandbox *sandbox_find(struct str name); /* NULL when unknown */

/* The lifeline and status file of one child; open before it starts, close after it ends. */
struct sandbox_lifeline {
	int status;   /* an anonymous file, inherited by the child */
	int lifeline; /* the read end, inherited by the child */
	int ours;     /* the write end */
};

MUST_CHECK bool sandbox_lifeline_open(struct sandbox_lifeline *line, struct error *error);
void sandbox_lifeline_cut(struct sandbox_lifeline *line); /* kills the child and its descendants */
void sandbox_lifeline_close(struct sandbox_lifeline *line);
bool sandbox_was_built(const struct sandbox_lifeline *line); /* valid after the child ended */

#endif
