/* server.h -- the owner of a data folder: lock, store, runtime, doors, in one process.
 *
 * Whoever holds the folder's lock is the owner and listens on baton.sock in it; a plain `baton run`
 * too.  Part of the wiring: together with main.c the only place that knows every room.
 */
#ifndef SERVER_H
#define SERVER_H

#include "net/http_server.h"

struct config;
struct server;

struct server_settings {
	const char *data_folder, *socket_path;
	const char *host; /* NULL = baton.sock only */
	int port;
	const struct config *config; /* what is in force; lives as long as the server */
	int64_t drain_seconds;    /* how long a stop waits for what is under way; 0 = not at all */
	bool only_looks;          /* open runs are left alone: this server is gone in a moment */
	platform_callback *ready; /* every open run is on its way and the doors are open */
	void *context;
};

/* ERROR_LOCKED, naming the owner, when the folder has one. */
MUST_CHECK bool server_open(const struct server_settings *settings, struct server **out_server,
			    struct error *error);
/* Runs until server_stop_when_idle() or a signal; then the process is to end: nothing is torn down,
 * because the store is always ready for that, and no path is tested harder.
 *
 * A signal drains first when drain_seconds says so: reads are answered, new commands refused,
 * nothing new begins, and what is under way has that long to finish and be recorded; then streams
 * and WebSockets are ended properly.  A second signal ends it at once: false. */
bool server_run(struct server *server);
/* From any thread: end once nobody else is being served through baton.sock. */
void server_stop_when_idle(struct server *server);
int server_port(const struct server *server);

#endif
