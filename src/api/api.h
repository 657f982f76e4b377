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
	const char *data_folder;
	const char *host; /* NULL = baton.sock only */
	const char *user; /* who answers through baton.sock */
};

struct api *api_new(const struct api_settings *settings);
struct http_server *api_server(struct api *api);

#endif
