/* server_sandbox.h -- what the sandboxes of a server have in common, from its settings.
 *
 * The log of `baton serve` says which limits and walls are in use and which are not.  A command that owns
 * the data folder for a moment leaves that to baton doctor.
 */
#ifndef SERVER_SANDBOX_H
#define SERVER_SANDBOX_H

#include "sandbox/sandbox.h"
#include "sandbox/sandbox_layers.h"
#include "sandbox/sandbox_limits.h"
#include "sandbox/toolchains.h"

struct connect_proxy;
struct loop;
struct run_graph_sandbox;
struct server_settings;
struct tool_host;

struct server_sandbox {
	const struct sandbox *isolation; /* tools.isolation */
	struct sandbox_limits limits;
	struct sandbox_layers layers;
	struct toolchains toolchains;
	struct connect_proxy *proxy;
	bool networked; /* sandbox.network has hosts: sandboxed commands reach them by default */
	const char *home, *data_folder;
};

/* Fails when a setting asks for what must not be. */
MUST_CHECK bool server_sandbox_open(struct server_sandbox *sandbox,
				    const struct server_settings *settings, struct loop *loop,
				    struct arena *arena, struct error *error);
/* What calls have that belong to no profile or agent with a sandbox of its own. */
void server_sandbox_host(const struct server_sandbox *sandbox, struct tool_host *host);
/* Changes the host of a call to what the profile or the agent says; what it does not say stays as it is.
 * Mounts and hosts are checked like those of the settings, at the start of a run and before each call, so
 * that a folder that has become a link to credentials is not mounted.  Fails with CONFIGURATION; nothing
 * is left out silently.  Any thread; the host points into the arena. */
MUST_CHECK bool server_sandbox_choose(const struct server_sandbox *sandbox,
				      const struct run_graph_sandbox *wanted, struct arena *arena,
				      struct tool_host *host, struct error *error);

/* Searches PATH; NULL when the program is not found. */
const char *server_sandbox_find_program(struct arena *arena, const char *name);

#endif
