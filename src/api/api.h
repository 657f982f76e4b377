/* api/api.h -- the HTTP interface: the routes of contracts/routes.def.
 *
 * A request passes the phases of phases.c (match, host and origin, authenticate, authorize, limit,
 * read, parse) before its handler is called.  A handler responds at once or later, by exchange id.
 * Every response leaves through reply.c, which adds the common headers and writes the audit log; an
 * error response is application/problem+json.
 *
 * Authentication: a client of baton.sock is the owner of the data folder and an admin.  Over TCP
 * every client needs an API key, with one exception: a server that listens only on loopback accepts
 * requests without a key as admin, unless `serve.require_key` is set.
 *
 * All functions run on the loop's thread.
 */
#ifndef API_API_H
#define API_API_H

#include "net/http_server.h"
#include "os/platform.h"

struct api;
struct executor;
struct documents;
struct definition_registry;
struct maintenance;
struct packed_file;
struct price_table;
struct trackers;
struct webhooks;

struct api_settings {
	struct loop *loop;
	struct executor *executor;
	struct documents *documents;
	struct definition_registry *definitions; /* the workflows, by name */
	struct maintenance *maintenance;
	const struct packed_file *prompts; /* defaults of the named prompts */
	const char *version;
	const char *user;                 /* name of the owner, for requests through baton.sock */
	const char *data_folder;          /* /health reports its free disk space */
	const char *host;                 /* NULL = baton.sock only */
	struct str_list hosts;            /* further accepted values of the Host header */
	bool require_key;                 /* on loopback, too */
	bool networked;                   /* shell reaches hosts, so it is once */
	bool contained;                   /* tools run in a sandbox that contains their effects */
	struct artifacts *artifacts;      /* stored files of runs */
	struct custom_tools *customs;     /* custom tools of the data folder */
	struct trackers *trackers;        /* issues of profiles */
	const char *sandbox_program;      /* program that creates sandboxes; NULL when not found */
	const struct price_table *prices; /* what models cost */
	const char *const *environment;   /* which keys of providers are present; NULL-terminated */
	struct webhooks *webhooks;        /* receivers of notifications */
	struct str_list variables;        /* of them, those that imported files may use */
	bool audit;                       /* log every change and every rejected caller */
};

struct api *api_new(const struct api_settings *settings);
struct http_server *api_server(struct api *api);
/* Call before http_server_drain(): ends the event streams and answers requests that wait for a run
 * with their receipt.  http_server_drain() closes the WebSockets. */
void api_drain(struct api *api);
/* True when every stream and WebSocket that accepts data has received all committed events. */
bool api_caught_up(const struct api *api);

/* Loads API keys and server settings from the store, follows their changes, and calls `done` when
 * they are loaded.  The server must not listen before that. */
void api_load(struct api *api, platform_callback *done, void *context);
/* Sets the port that /api/server reports. */
void api_set_port(struct api *api, int port);
/* FORBIDDEN when `host` is not a loopback address and no API key exists: without a key the server
 * could not authenticate anybody. */
MUST_CHECK bool api_may_listen(const struct api *api, const char *host, struct error *error);

/* The state that /health/ready reports.  While the server recovers, requests that change something
 * fail with UNAVAILABLE. */
enum api_state { API_RECOVERING, API_READY, API_DRAINING };
void api_set_state(struct api *api, enum api_state state);

#endif
