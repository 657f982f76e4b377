/* sandbox/sandbox_layers.h -- the walls behind bubblewrap's: seccomp and Landlock; and what the sandboxes of
 * a server have in common.
 *
 * The keeper applies them to itself before it starts a command (keeper/keeper.h).  Each can be
 *
 *	auto       used if the kernel has it (the default)
 *	required   without it no command runs: ERROR_ISOLATION
 *	off        not used
 *
 * Threads: any; layers do not change after sandbox_layers_choose().
 */
#ifndef SANDBOX_LAYERS_H
#define SANDBOX_LAYERS_H

#include "base/error.h"

struct toolchains;

struct sandbox_layers {
	const char *seccomp, *landlock;      /* auto, required or off */
	const struct toolchains *toolchains; /* NULL = none */
	const char *text;                    /* which layers are in use */
	const char *warning;                 /* which are not, and why; NULL = all are in use */
	const char *refusal;                 /* the required one that is missing; NULL = none */
};

/* `seccomp` and `landlock` have been set; fills the rest.  Changes nothing outside. */
void sandbox_layers_choose(struct sandbox_layers *layers, struct arena *arena);

#endif
