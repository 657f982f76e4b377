/* api/api.h -- the HTTP interface: routes of contracts/routes.def over the runtime.
 *
 * A request goes through the phases of router.c (match, host and origin, content type, body) and
 * then to its handler; every refusal leaves by one door, problem+json made from the error's row.
 * Handlers answer now or later, by exchange id.
 */
#ifndef API_API_H
#define API_API_H

#include "net/http_server.h"
#include "runtime/runtime.h"

struct api;

struct api_settings {
	struct loop *loop;
	struct runtime *runtime;
	const char *version;
	const char *user; /* who answers through baton.sock */
};

struct api *api_new(const struct api_settings *settings);
struct http_server *api_server(struct api *api);
/* The server is about to drain its connections: streams end, and who waits for a run gets what a
 * client without patience would.  WebSockets are closed by http_server_drain(). */
void api_drain(struct api *api);

#endif
