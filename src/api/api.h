/* api/api.h -- the HTTP interface: routes of contracts/routes.def over the runtime.
 *
 * A request goes through the phases of phases.c (match, host and origin, authenticate, authorise,
 * limit, read, parse) to its handler; every answer leaves by one door (print, audit), every refusal
 * as problem+json made from the error's row.  Handlers answer now or later, by exchange id.
 *
 * Who may come in: through baton.sock the owner of the data folder, who is an admin.  Over TCP
 * everybody needs a key, with one exception: a server that listens on loopback only, and was not
 * told `serve.require_key`, takes a caller without a key for an admin.
 */
#ifndef API_API_H
#define API_API_H

#include "net/http_server.h"
#include "os/platform.h"

struct api;
struct executor;
struct documents;
struct maintenance;

struct api_settings {
	struct loop *loop;
	struct executor *executor;
	struct documents *documents;
	struct maintenance *maintenance;
	const char *version;
	const char *user;             /* who answers through baton.sock */
	const char *data_folder;      /* where /health looks for room */
	const char *host;             /* NULL = baton.sock only */
	struct str_list hosts;        /* further names that Host may have */
	bool require_key;             /* also on loopback */
	bool contained;               /* tools run in a sandbox */
	struct artifacts *artifacts;  /* what runs keep */
	struct custom_tools *customs; /* tools of the owner's own */
	const char *sandbox_program;  /* what builds it; NULL when it was not found */
	bool audit;                   /* a line for every change and every refused caller */
};

struct api *api_new(const struct api_settings *settings);
struct http_server *api_server(struct api *api);
/* The server is about to drain its connections: streams end, and who waits for a run gets what a
 * client without patience would.  WebSockets are closed by http_server_drain(). */
void api_drain(struct api *api);
/* Everybody who can take it has been told what is committed. */
bool api_caught_up(const struct api *api);

/* Reads the keys and the server's settings from the store and follows their changes; calls back
 * when they are there, before any door is opened. */
void api_load(struct api *api, platform_callback *done, void *context);
/* The port it listens on, for /api/server. */
void api_listens(struct api *api, int port);
/* FORBIDDEN when nobody could be told from anybody else there: beyond loopback at least one key
 * must exist. */
MUST_CHECK bool api_may_listen(const struct api *api, const char *host, struct error *error);

/* What /health/ready says.  While it recovers nothing may be changed. */
enum api_state { API_RECOVERING, API_READY, API_DRAINING };
void api_set_state(struct api *api, enum api_state state);

#endif
