/* lsp/language_server.h -- a language server for workflow files: the protocol, without I/O.
 *
 * Language Server Protocol 3.17 over JSON-RPC 2.0: diagnostics, completion, hover, go to definition, quick fixes.  The
 * caller moves bytes: what the client sends goes in with language_server_feed(), what is to be sent comes out in a
 * buffer.  Diagnostics are those of `baton check`: the host checks a file as the program would before a start.
 *
 * A file is checked when the input is idle, not after each message: language_server_settle() checks what changed since
 * it was called last.  If the host cannot check now, the file stays marked and is checked at the next call.
 *
 * Threads: none; one server belongs to one thread.
 */
#ifndef LSP_LANGUAGE_SERVER_H
#define LSP_LANGUAGE_SERVER_H

#include "base/buf.h"
#include "base/error.h"

struct json;

enum lsp_catalog { LSP_TOOLS, LSP_AGENTS, LSP_WORKFLOWS };

struct lsp_host {
	/* runtime.WorkflowValidationResponse; NULL = it cannot be had now. */
	const struct json *(*check)(void *context, struct str name, struct str text,
				    struct arena *arena);
	/* A list of objects with `name`, and of tools with `text`, `parameters`, `outputs`; NULL = none. */
	const struct json *(*catalog)(void *context, enum lsp_catalog which, struct arena *arena);
	/* Does this file exist?  For going to the definition of another workflow. */
	bool (*exists)(void *context, struct str path);
	void *context;
};

struct language_server;

struct language_server *language_server_new(const struct lsp_host *host);
void language_server_free(struct language_server *server);

/* Takes bytes of the client and appends the answers to `out`.  False: the bytes are no messages, and
 * the connection cannot continue. */
MUST_CHECK bool language_server_feed(struct language_server *server, struct str bytes,
				     struct buf *out, struct error *error);
/* Checks the files that changed and appends their diagnostics.  False: the host could not check one. */
bool language_server_settle(struct language_server *server, struct buf *out);
/* True after `exit`; the status is 0 if `shutdown` came first. */
bool language_server_has_ended(const struct language_server *server, int *out_status);

#endif
