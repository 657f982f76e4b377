/* cli/server_request.h -- requests to the server and access to its responses; private to cli. */
#ifndef CLI_REQUESTS_H
#define CLI_REQUESTS_H

#include "cli/cli.h"

/* Sends one request and parses the response as JSON; *out_json is NULL when it has no body.  An
 * error response becomes *error with the code from the response, and *out_lost is false.  When the
 * connection failed, *out_lost is true. */
MUST_CHECK bool cli_request(struct cli *cli, const char *method, struct str target, struct str body,
			    const struct json **out_json, bool *out_lost, struct error *error);
/* Like cli_request(), but prints the error.  Returns 0 on success, else the status that the command
 * returns: an exit status or CLI_SERVER_LOST. */
MUST_CHECK int cli_call(struct cli *cli, const char *method, struct str target, struct str body,
			const struct json **out_json);
/* Like cli_request() with GET, for a response body of arbitrary bytes. */
MUST_CHECK bool cli_fetch(struct cli *cli, struct str target, struct str *out_bytes, bool *out_lost,
			  struct error *error);
/* Reads a stream of server-sent events and calls `event` for each; the stream ends when `event`
 * returns false.  If `tick` is not NULL, it is called whenever no bytes have arrived for
 * LIMIT_TREE_TICK_MS; false ends the stream too. */
typedef bool cli_event(void *context, struct str id, struct str data);
typedef bool cli_tick(void *context);
MUST_CHECK bool cli_stream(struct cli *cli, struct str target, cli_event *event, cli_tick *tick,
			   void *context, bool *out_lost, struct error *error);
/* A request target with a percent-encoded name: "/api/profiles/" NAME "/activate". */
struct str cli_target(struct cli *cli, const char *prefix, const char *name, const char *suffix);
/* The target with name=value added to its query, percent-encoded; unchanged if value is NULL. */
struct str cli_query(struct cli *cli, struct str target, const char *name, const char *value);
/* "/api/runs/" RUN "/steps" */
struct str cli_run_target(struct cli *cli, const struct uuid *run, const char *suffix);
/* "/api/runs/" RUN "/steps/" STEP "/log": the slashes of the path stay, each segment is encoded. */
struct str cli_step_target(struct cli *cli, const struct uuid *run, struct str step,
			   const char *suffix);
/* Gives all further requests an Idempotency-Key, so that a request that is sent again after a lost
 * connection takes effect once. */
void cli_idempotency_key_set(struct cli *cli);

/* A member of an object; "", 0 or false when it is missing or has another type. */
struct str cli_text(const struct json *object, const char *name);
long long cli_number(const struct json *object, const char *name);
bool cli_is_true(const struct json *object, const char *name);

#endif
