/* server.h -- the owner of a data folder: lock, store, executor and HTTP interface in one process.
 *
 * The process that holds the folder's lock is the owner and listens on baton.sock inside the
 * folder; a plain `baton run` may be the owner, too.  server.c and main.c are the only files that
 * know every other folder of src.
 *
 * All functions run on the thread that called server_run(), except server_stop_when_idle().
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
	const struct config *config;    /* outlives the server */
	const char *const *environment; /* for secrets, NULL-terminated NAME=value */
	int64_t drain_seconds;          /* time that a stop gives to running work; 0 = none */
	bool read_only;                 /* do not recover open runs: a short-lived read command */
	bool accept_loss;               /* go on without what the data folder has lost */
	platform_callback *ready; /* called when open runs are recovered and clients are accepted */
	void *context;
};

/* ERROR_LOCKED, with the owner's pid and address, when another process owns the folder. */
MUST_CHECK bool server_open(const struct server_settings *settings, struct server **out_server,
			    struct error *error);
/* Runs until server_stop_when_idle() or a signal.  Afterwards the process must exit: nothing is
 * torn down.  The store survives a crash at any moment, and this path is tested most.
 *
 * With drain_seconds > 0 a signal drains first: reads are answered, commands are rejected, no new
 * work starts, and running work has that long to finish and be committed; then streams and
 * WebSockets are closed.  A second signal ends the server at once and returns false. */
bool server_run(struct server *server);
/* From any thread: stops the server once no request through baton.sock is open. */
void server_stop_when_idle(struct server *server);
int server_port(const struct server *server);

#endif
