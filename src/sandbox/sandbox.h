/* sandbox/sandbox.h -- how a child is kept in: a command line for bubblewrap.
 *
 * Every child of ours runs in a pid namespace of its own and dies with us, whatever the isolation:
 * after a `kill -9` of Baton nothing survives.  What ties them is the lifeline, a pipe whose other
 * end only Baton holds: the first process of the namespace ends when it does, and the kernel ends
 * the rest.  (bwrap's own --die-with-parent leaves gaps while it starts: a parent that died before
 * it asked is not missed, and its first half killed at the wrong moment leaves the second waiting
 * for ever.)
 *
 * Kinds (rows of sandboxes.def):
 *
 *	native   only the workspace is writable (at /workspace); /usr and a few files of /etc are
 *	         readable; no network; no capabilities; an empty environment
 *	off      the whole machine, as Baton itself sees it; chosen by tools.isolation = off
 *
 * Policy is data: sandbox_command() makes an argument list, nothing is started here.  If bwrap is
 * missing or refuses, the tool does not run (ERROR_ISOLATION): sandbox_was_built() reads from the
 * status file, which bwrap writes before the command starts, whether it ever came that far.
 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include "base/error.h"

struct sandbox_mount {
	const char *host, *inside;
	bool writable;
};

struct sandbox_spec {
	const char *workspace;              /* folder on the host, writable */
	bool read_only;                     /* not even that */
	bool network;                       /* the host's, which the child has none of otherwise */
	const struct sandbox_mount *mounts; /* further ones; host paths that must exist */
	size_t mount_count;
	int status_descriptor;      /* as the child sees it; bwrap reports there */
	int lifeline_descriptor;    /* as the child sees it; at its end when Baton is */
	const char *const *command; /* NULL-terminated */
};

struct sandbox {
	const char *name, *text;
	bool contained; /* nothing but the workspace can change, and mounts count */
	/* NULL-terminated, in the arena. */
	const char *const *(*command)(const struct sandbox_spec *spec, struct arena *arena);
};

const struct sandbox *sandbox_find(struct str name); /* NULL when unknown */

/* What ties a child to us; open from before its start until after its end. */
struct sandbox_lifeline {
	int status;   /* an anonymous file, for the child to keep */
	int lifeline; /* for the child to keep */
	int ours;     /* the lifeline's other end */
};

MUST_CHECK bool sandbox_lifeline_open(struct sandbox_lifeline *tie, struct error *error);
void sandbox_lifeline_cut(
	struct sandbox_lifeline *tie); /* ends the child and all its descendants */
void sandbox_lifeline_close(struct sandbox_lifeline *tie);
bool sandbox_was_built(const struct sandbox_lifeline *tie); /* once the child has ended */

#endif
