/* cli/document_command.h -- request bodies from files and options; private to cli.
 *
 * Agents, profiles and schedules are named documents of the server.  Their commands share the
 * subcommands and the options that are declared here; each subcommand makes one request.
 */
#ifndef CLI_DOCUMENT_H
#define CLI_DOCUMENT_H

#include "cli/server_request.h"

/* Reads a value that is written as JSON, or as @FILE that holds JSON.  `what` names the option in
 * errors. */
MUST_CHECK bool cli_json_value(struct cli *cli, const char *text, const char *what,
			       const struct json **out_json, struct error *error);
/* Parses KEY=VALUE, an option's value: VALUE is JSON if it parses as JSON, else a string.  Errors
 * name the option and the expected `form`: "NAME=VALUE". */
MUST_CHECK bool cli_pair(struct cli *cli, const char *option, const char *form, const char *text,
			 struct json_member *out_member, struct error *error);
/* Collects every --input of the command into one object. */
MUST_CHECK bool cli_inputs(struct cli *cli, const char *form, struct json *out_inputs,
			   struct error *error);
/* Builds a document as JSON from --file and --set, and sets its name.  `what` names the kind of
 * document in errors: "agent".  A command without --set passes the members from its own options in
 * `with`. */
MUST_CHECK bool cli_document(struct cli *cli, const char *what, const char *name,
			     const struct json *with, struct str *out_body, struct error *error);

/* cli->state of a document command. */
struct document_call {
	const char *method;
	struct str target, body;
	int (*show)(const struct json *answer); /* without --json; NULL = print JSON anyway */
};

/* Prepares the request of a subcommand. list, show and delete need nothing more; create needs a
 * body.  Any other subcommand gets a GET of the document, which the caller then adapts.  `path` is
 * the collection: "/api/agents".  `whose` begins the error about an empty name: "an agent's". */
MUST_CHECK bool document_command_prepare(struct cli *cli, const char *path, const char *whose,
					 struct document_call **out_call, struct error *error);
int document_command_run(struct cli *cli);

/* The options that cli_document() reads. */
#define DOCUMENT_FILE(what)                                                       \
	.name = "--file", .letter = 'f', .value = "FILE", .value_kind = CLI_FILE, \
	.text = "Read the whole " what " from a YAML or JSON file; - is standard input"
#define DOCUMENT_SET                                               \
	.name = "--set", .value = "MEMBER=VALUE", .repeats = true, \
	.text = "Set one member (a.b sets b inside a); VALUE is JSON if it parses, else text"

#endif
