/* cli/server_request.h -- what a command asks the server, and how it reads the answer; private to this
 * room. */
#ifndef CLI_REQUESTS_H
#define CLI_REQUESTS_H

#include "cli/cli.h"

/* One request; the answer's JSON, or NULL when it has no body.  An error answer of the server
 * becomes an error with its code (*out_lost false); a server that is not there any more sets
 * *out_lost. */
MUST_CHECK bool cli_request(struct cli *cli, const char *method, struct str target, struct str body,
			    const struct json **out_json, bool *out_lost, struct error *error);
/* The same for a command that ends where it gets no answer: 0, or the status to return. */
MUST_CHECK int cli_ask(struct cli *cli, const char *method, struct str target, struct str body,
		       const struct json **out_json);
/* The same for an answer that is bytes. */
MUST_CHECK bool cli_fetch(struct cli *cli, struct str target, struct str *out_bytes, bool *out_lost,
			  struct error *error);
/* The same for a stream of server-sent events, told one by one with its id; false ends it.  With a
 * tick it is told, too, whenever nothing has come for LIMIT_TREE_TICK_MS. */
typedef bool cli_event(void *context, struct str id, struct str data);
typedef bool cli_tick(void *context);
MUST_CHECK bool cli_stream(struct cli *cli, struct str target, cli_event *event, cli_tick *tick,
			   void *context, bool *out_lost, struct error *error);
/* A path with a name in it, escaped: "/api/profiles/" NAME "/activate". */
struct str cli_target(struct cli *cli, const char *before, const char *name, const char *behind);
/* The target with name=value in its query, escaped; without a value (NULL) as it is. */
struct str cli_query(struct cli *cli, struct str target, const char *name, const char *value);
/* "/api/runs/" RUN "/steps" */
struct str cli_run_target(struct cli *cli, const struct uuid *run, const char *behind);
/* From now on whatever is sent is done once, however often it takes to send it. */
void cli_send_once(struct cli *cli);

/* Members of an answer: "", 0 and false for one that is not there, or something else. */
struct str cli_text(const struct json *object, const char *name);
long long cli_number(const struct json *object, const char *name);
bool cli_is_true(const struct json *object, const char *name);

#endif
