/* cli/document_command.h -- what is sent to the server: values, and whole documents; private to this
 * room.
 *
 * Agents, profiles and schedules are documents that have a name, one request a sub-command.
 */
#ifndef CLI_DOCUMENT_H
#define CLI_DOCUMENT_H

#include "cli/server_request.h"

/* A value written as JSON, or @FILE that holds it; what else it may be called is in `what`. */
MUST_CHECK bool cli_json_value(struct cli *cli, const char *text, const char *what,
			       const struct json **out_json, struct error *error);
/* KEY=VALUE behind an option: JSON when the value reads as JSON, else text.  `form` is how the pair
 * is written when it is refused. */
MUST_CHECK bool cli_pair(struct cli *cli, const char *option, const char *form, const char *text,
			 struct json_member *out_member, struct error *error);
/* Every --input of a command, as an object. */
MUST_CHECK bool cli_inputs(struct cli *cli, const char *form, struct json *out_inputs,
			   struct error *error);
/* What --file and --set say a document shall be, as JSON, with its name; `what` is what such a
 * document is called.  A command without --set gives the members of its own options in `with`. */
MUST_CHECK bool cli_document(struct cli *cli, const char *what, const char *name,
			     const struct json *with, struct str *out_body, struct error *error);

/* cli->state of a command about documents. */
struct document_call {
	const char *method;
	struct str target, body;
	int (*show)(const struct json *answer); /* without --json; NULL = as JSON all the same */
};

/* For the words every such command has: list, show and delete whole, of create all but the body;
 * for any other word a request that shows the document.  `path` is where such documents are,
 * "/api/agents", and `whose` name it is that is not empty, "an agent's". */
MUST_CHECK bool document_command_prepare(struct cli *cli, const char *path, const char *whose,
					 struct document_call **out_call, struct error *error);
int document_command_run(struct cli *cli);

/* The options that cli_document() reads. */
#define DOCUMENT_FILE(what)                                                   \
	.name = "--file", .letter = 'f', .value = "FILE", .values = CLI_FILE, \
	.text = "The whole " what ", YAML or JSON; - is standard input"
#define DOCUMENT_SET                                               \
	.name = "--set", .value = "MEMBER=VALUE", .repeats = true, \
	.text = "One member; a.b is b of a, JSON when it reads as JSON"

#endif
