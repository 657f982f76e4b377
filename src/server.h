/* server.h -- the owner of a data folder: lock, store, runtime, doors, in one process.
 *
 * Whoever holds the folder's lock is the owner and listens on baton.sock in it; a plain `baton run`
 * too.  Part of the wiring: together with main.c the only place that knows every room.
 */
#ifndef SERVER_H
#define SERVER_H

#include "base/error.h"
#include "os/system.h"

struct config;
struct server;

struct server_settings {
	const char *data_folder, *socket_path;
	const char *host; /* NULL = baton.sock only */
	int port;
	const struct config *config; /* what is in force; lives as long as the server */
	bool only_looks;             /* open runs are left alone: this server is gone in a moment */
	system_callback *ready;      /* every open run is on its way and the doors are open */
	void *context;
};

/* ERROR_LOCKED, naming the owner, when the folder has one. */
MUST_CHECK bool server_open(const struct server_settings *settings, struct server **out_server,
			    struct error *error);
/* Runs until server_stop() or a signal; then the process is to end: nothing is torn down, because
 * a stop is a crash we chose, and that path is tested hardest. */
void server_run(struct server *server);
/* From any thread: end once nobody else is being served through baton.sock. */
void server_stop_when_idle(struct server *server);
int server_port(const struct server *server);

#endif
