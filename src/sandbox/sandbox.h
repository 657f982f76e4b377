/* sandbox/sandbox.h -- builds the bubblewrap command line that isolates a child process.
 *
 * Every child runs in a pid namespace of its own and dies with the server, with any isolation:
 * nothing survives a `kill -9` of the server.  This is the purpose of the lifeline, a pair of
 * sockets of which only the server holds one: when it closes, the first process of the namespace,
 * the keeper (keeper/keeper.h), exits, and the kernel kills the rest.  bwrap's --die-with-parent has
 * gaps during startup and is not set: a parent that died earlier goes unnoticed, and killing bwrap
 * between its two processes leaves the second one waiting forever.  What survives all the same is
 * killed by the next server, which wants the lock of its effect (os/lock_holders.h).
 *
 * The sandboxes (sandboxes.def):
 *
 *	native   only the workspace is writable, as /workspace; /usr and some files of /etc are
 *	         readable; no network, no capabilities, an empty environment; with limits
 *	         (sandbox_limits.h) when the spec has some
 *	off      the whole machine with the rights of the server; set by tools.isolation = off
 *
 * command() returns an argument list; nothing is started here.  If bwrap is missing or fails, the
 * tool does not run (ERROR_ISOLATION).  bwrap writes its process id to the status file, and the keeper
 * writes there that all layers (sandbox_layers.h) are in place and the command starts;
 * sandbox_was_built() looks for the latter.
 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include "base/error.h"

struct cgroup;
struct sandbox_layers;
struct sandbox_limits;

struct sandbox_mount {
	const char *host, *inside;
	bool writable;
};

/* Whose the files become when root becomes another user. */
enum sandbox_owning {
	SANDBOX_OWN_AS_USUAL,  /* the workspace becomes theirs; with `user`, the mounts, too */
	SANDBOX_OWN_WORKSPACE, /* only the workspace */
	SANDBOX_OWN_NOTHING,
};

enum { SANDBOX_USER_ROOT = -1 }; /* root stays root, whatever the limits say */

struct sandbox_spec {
	const char *workspace;              /* folder on the host */
	bool read_only;                     /* of the workspace */
	const struct sandbox_mount *mounts; /* additional mounts; the host paths must exist */
	size_t mount_count;
	const struct sandbox_limits *limits; /* of native; NULL = none */
	const struct sandbox_layers *layers; /* of native; NULL = all that the kernel has */
	const struct cgroup *group;          /* that the command joins; NULL = none */
	int64_t user; /* of native: root becomes this user; 0 = as the limits say */
	enum sandbox_owning owning;
	int status_descriptor;   /* number in the child; bwrap writes its status there */
	int lifeline_descriptor; /* number in the child; closes when the server dies */
	int keeper_descriptor;   /* number in the child of sandbox_lifeline.keeper */
	int started_descriptor; /* number in the child of the status file once more, for the keeper:
				   * bwrap closes its own before it starts the command */
	int arguments_descriptor; /* number in the child of sandbox_environment_open(); 0 = none */
	int proxy_descriptor; /* number in the child of the line to the proxy (net/connect_proxy.h);
			       * 0 = the command has no network; of native */
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
	int lifeline; /* the end that the child inherits */
	int ours;     /* the end that only this process has */
	int keeper;   /* the keeper's file, inherited by the child; belongs to the process */
};

MUST_CHECK bool sandbox_lifeline_open(struct sandbox_lifeline *line, struct error *error);
void sandbox_lifeline_cut(struct sandbox_lifeline *line); /* kills the child and its descendants */
void sandbox_lifeline_close(struct sandbox_lifeline *line);
/* The first process of the sandbox as this process sees it; 0 = not started yet. */
int64_t sandbox_first_process(const struct sandbox_lifeline *line);
/* Environment variables for the command.  They are passed in an anonymous file, because everybody on
 * the machine can read a command line. */
struct sandbox_variable {
	struct str name, value;
};

MUST_CHECK bool sandbox_environment_open(const struct sandbox_variable *variables, size_t count,
					 int *out_descriptor, struct error *error);
void sandbox_environment_close(int descriptor);              /* -1 = none */
bool sandbox_was_built(const struct sandbox_lifeline *line); /* valid after the child ended */

/* What the processes of a command that has ended by itself used; false when that is not known. */
struct sandbox_figures {
	int64_t cpu_us, memory_bytes, written_bytes;
};
bool sandbox_figures(const struct sandbox_lifeline *line, struct sandbox_figures *out_figures);

#endif
