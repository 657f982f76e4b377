/* server_sandbox.h -- what the sandboxes of a server have in common, from its settings.
 *
 * The log of `baton serve` says which limits and walls are in use and which are not.  A command that owns
 * the data folder for a moment leaves that to baton doctor.
 */
#ifndef SERVER_SANDBOX_H
#define SERVER_SANDBOX_H

#include "sandbox/sandbox_layers.h"
#include "sandbox/sandbox_limits.h"
#include "sandbox/toolchains.h"

struct connect_proxy;
struct loop;
struct server_settings;

struct server_sandbox {
	struct sandbox_limits limits;
	struct sandbox_layers layers;
	struct toolchains toolchains;
	struct connect_proxy *proxy; /* NULL = sandboxed commands have no network */
};

/* Fails when a setting asks for what must not be. */
MUST_CHECK bool server_sandbox_open(struct server_sandbox *sandbox,
				    const struct server_settings *settings, struct loop *loop,
				    struct arena *arena, struct error *error);

#endif
