/* lsp/language_server.c -- open files, requests and diagnostics of the Language Server Protocol.
 *
 * Files are synchronized as a whole: a workflow file has at most LIMIT_YAML_BYTES, and a whole text cannot drift
 * apart from the client's.
 */
#include "lsp/language_server.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "lsp/language_answers.h"
#include "lsp/lsp_frame.h"

/* Error codes of JSON-RPC and of the protocol. */
enum {
	RPC_PARSE_ERROR = -32700,
	RPC_INVALID_REQUEST = -32600,
	RPC_METHOD_NOT_FOUND = -32601,
	RPC_INVALID_PARAMS = -32602,
	RPC_NOT_INITIALIZED = -32002,
};

struct open_file {
	struct buf uri, text;
	int64_t version;
	bool has_version, changed;
};

struct language_server {
	struct lsp_host host;
	struct lsp_frame frame;
	struct open_file files[LIMIT_LSP_FILES];
	size_t count;
	struct arena arena; /* of the message that is answered */
	bool initialized, shut_down, ended;
	bool utf8;
};

struct language_server *language_server_new(const struct lsp_host *host)
{
	struct language_server *server = calloc(1, sizeof(*server));
	require(server != NULL);
	server->host = *host;
	lsp_frame_init(&server->frame);
	return server;
}

static void file_done(struct open_file *file)
{
	buf_done(&file->uri);
	buf_done(&file->text);
}

void language_server_free(struct language_server *server)
{
	for (size_t i = 0; i < server->count; i++)
		file_done(&server->files[i]);
	lsp_frame_done(&server->frame);
	arena_done(&server->arena);
	free(server);
}

static struct open_file *file_find(struct language_server *server, struct str uri)
{
	for (size_t i = 0; i < server->count; i++)
		if (str_equal(buf_str(&server->files[i].uri), uri))
			return &server->files[i];
	return NULL;
}

/* ---- messages out ------------------------------------------------------------------------------ */

struct message {
	struct buf text;
	struct json_writer writer;
};

static void message_begin(struct message *message)
{
	*message = (struct message){ 0 };
	message->writer.out = &message->text;
	json_open(&message->writer, '{');
	json_key(&message->writer, S("jsonrpc"));
	json_put_str(&message->writer, S("2.0"));
}

static void message_send(struct message *message, struct buf *out)
{
	json_close(&message->writer, '}');
	lsp_frame_put(out, buf_str(&message->text));
	buf_done(&message->text);
}

static void respond_error(const struct json *id, int code, const char *text, struct buf *out)
{
	struct message message;
	message_begin(&message);
	json_key(&message.writer, S("id"));
	if (id == NULL)
		json_put_null(&message.writer);
	else
		json_put_tree(&message.writer, id);
	json_key(&message.writer, S("error"));
	json_open(&message.writer, '{');
	json_key(&message.writer, S("code"));
	json_put_int(&message.writer, code);
	json_key(&message.writer, S("message"));
	json_put_str(&message.writer, str_from_c(text));
	json_close(&message.writer, '}');
	message_send(&message, out);
}

static void put_member(struct json_writer *writer, const char *name, struct str text)
{
	json_key(writer, str_from_c(name));
	json_put_str(writer, text);
}

/* ---- the life of a connection ------------------------------------------------------------------ */

static bool offers_utf8(const struct json *params)
{
	const struct json *general =
		json_member(json_member(params, S("capabilities")), S("general"));
	const struct json *encodings = json_member(general, S("positionEncodings")), *encoding;
	for (size_t i = 0; (encoding = json_item(encodings, i)) != NULL; i++)
		if (str_equal(json_text(encoding), S("utf-8")))
			return true;
	return false;
}

static void put_capabilities(struct json_writer *writer, bool utf8)
{
	json_open(writer, '{');
	json_key(writer, S("capabilities"));
	json_open(writer, '{');
	put_member(writer, "positionEncoding", utf8 ? S("utf-8") : S("utf-16"));
	json_key(writer, S("textDocumentSync"));
	json_open(writer, '{');
	json_key(writer, S("openClose"));
	json_put_bool(writer, true);
	json_key(writer, S("change"));
	json_put_int(writer, 1); /* whole texts */
	json_close(writer, '}');
	json_key(writer, S("completionProvider"));
	json_open(writer, '{');
	json_key(writer, S("triggerCharacters"));
	json_put_raw(writer, S("[\".\",\"{\",\" \",\"[\"]"));
	json_close(writer, '}');
	json_key(writer, S("hoverProvider"));
	json_put_bool(writer, true);
	json_key(writer, S("definitionProvider"));
	json_put_bool(writer, true);
	json_key(writer, S("codeActionProvider"));
	json_put_raw(writer, S("{\"codeActionKinds\":[\"quickfix\"]}"));
	json_close(writer, '}');
	json_key(writer, S("serverInfo"));
	json_open(writer, '{');
	put_member(writer, "name", S("baton"));
	put_member(writer, "version", S(BATON_VERSION));
	json_close(writer, '}');
	json_close(writer, '}');
}

/* ---- open files -------------------------------------------------------------------------------- */

static void file_set(struct open_file *file, const struct json *document, struct str text)
{
	const struct json *version = json_member(document, S("version"));
	file->has_version = version != NULL && version->kind == JSON_INT;
	file->version = file->has_version ? version->as.integer : 0;
	buf_clear(&file->text);
	buf_add(&file->text, text);
	file->changed = true;
}

static void file_open(struct language_server *server, const struct json *params)
{
	const struct json *document = json_member(params, S("textDocument"));
	struct str uri = json_text(json_member(document, S("uri")));
	struct open_file *file = file_find(server, uri);
	if (uri.size == 0 || (file == NULL && server->count == LIMIT_LSP_FILES))
		return;
	if (file == NULL) {
		file = &server->files[server->count++];
		*file = (struct open_file){ 0 };
		buf_add(&file->uri, uri);
	}
	file_set(file, document, json_text(json_member(document, S("text"))));
}

static void file_change(struct language_server *server, const struct json *params)
{
	const struct json *document = json_member(params, S("textDocument"));
	const struct json *changes = json_member(params, S("contentChanges")), *change,
			  *last = NULL;
	struct open_file *file = file_find(server, json_text(json_member(document, S("uri"))));
	for (size_t i = 0; (change = json_item(changes, i)) != NULL; i++)
		last = change;
	/* a change with a range was not offered, so it is none of ours */
	if (file != NULL && last != NULL && json_member(last, S("range")) == NULL)
		file_set(file, document, json_text(json_member(last, S("text"))));
}

static void put_diagnostics(struct json_writer *writer, struct str uri)
{
	put_member(writer, "method", S("textDocument/publishDiagnostics"));
	json_key(writer, S("params"));
	json_open(writer, '{');
	put_member(writer, "uri", uri);
}

static void file_close(struct language_server *server, const struct json *params, struct buf *out)
{
	struct str uri = json_text(json_member(json_member(params, S("textDocument")), S("uri")));
	struct open_file *file = file_find(server, uri);
	struct message message;
	if (file == NULL)
		return;
	message_begin(&message);
	put_diagnostics(&message.writer, uri);
	json_key(&message.writer, S("diagnostics"));
	json_put_raw(&message.writer, S("[]"));
	json_close(&message.writer, '}');
	message_send(&message, out);
	file_done(file);
	*file = server->files[--server->count];
}

/* ---- diagnostics ------------------------------------------------------------------------------- */

/* A member of a problem that counts from 1; 0 = it has none. */
static uint32_t count_of(const struct json *json, const char *name)
{
	const struct json *member = json_member(json, str_from_c(name));
	return member != NULL && member->kind == JSON_INT && member->as.integer > 0
		       ? (uint32_t)member->as.integer
		       : 0;
}

static struct text_position position_of(struct str text, uint32_t line, uint32_t column)
{
	struct text_position at = { .line = line == 0 ? 0 : line - 1 };
	if (line > 0 && column > 0)
		at.byte = text_column_bytes(text_line(text, at.line), column - 1);
	return at;
}

/* The range of a problem or a fix. */
static void put_range(const struct language_server *server, struct json_writer *writer,
		      struct str text, const struct json *of)
{
	uint32_t line = count_of(of, "line"), column = count_of(of, "column");
	uint32_t end_line = count_of(of, "end_line"), end_column = count_of(of, "end_column");
	struct text_position from = position_of(text, line, column), end = from;
	if (end_line > 0)
		end = position_of(text, end_line, end_column);
	text_span_put(writer, text, from, end, server->utf8);
}

static void put_problem(struct language_server *server, struct json_writer *writer, struct str text,
			const struct json *problem, int severity)
{
	const struct json *fix = json_member(problem, S("fix"));
	json_open(writer, '{');
	put_range(server, writer, text, problem);
	json_key(writer, S("severity"));
	json_put_int(writer, severity);
	put_member(writer, "source", S("baton"));
	put_member(writer, "message", json_text(json_member(problem, S("message"))));
	if (fix != NULL) { /* the client sends it back when it asks for actions */
		json_key(writer, S("data"));
		json_open(writer, '{');
		json_key(writer, S("fix"));
		json_put_tree(writer, fix);
		json_close(writer, '}');
	}
	json_close(writer, '}');
}

/* The name that a start would use: the file name without folder and extension. */
static struct str name_of(struct str uri)
{
	size_t begin = uri.size;
	while (begin > 0 && uri.at[begin - 1] != '/')
		begin--;
	struct str name = str_skip(uri, begin), rest = name, first;
	return str_cut(&rest, '.', &first) && first.size > 0 ? first : name;
}

static bool file_check(struct language_server *server, struct open_file *file, struct buf *out)
{
	struct str text = buf_str(&file->text), uri = buf_str(&file->uri);
	struct message message;
	const struct json *result = server->host.check(server->host.context, name_of(uri), text,
						       &server->arena),
			  *item;
	if (result == NULL)
		return false;
	message_begin(&message);
	put_diagnostics(&message.writer, uri);
	if (file->has_version) {
		json_key(&message.writer, S("version"));
		json_put_int(&message.writer, file->version);
	}
	json_key(&message.writer, S("diagnostics"));
	json_open(&message.writer, '[');
	const struct json *problems = json_member(result, S("problems"));
	for (size_t i = 0; (item = json_item(problems, i)) != NULL; i++)
		put_problem(server, &message.writer, text, item, 1);
	const struct json *warnings = json_member(result, S("warning_problems"));
	for (size_t i = 0; (item = json_item(warnings, i)) != NULL; i++)
		put_problem(server, &message.writer, text, item, 2);
	json_close(&message.writer, ']');
	json_close(&message.writer, '}');
	message_send(&message, out);
	file->changed = false;
	return true;
}

bool language_server_settle(struct language_server *server, struct buf *out)
{
	bool all = true;
	for (size_t i = 0; i < server->count; i++) {
		if (server->files[i].changed)
			all &= file_check(server, &server->files[i], out);
		arena_reset(&server->arena);
	}
	return all;
}

/* ---- quick fixes ------------------------------------------------------------------------------- */

static void put_action(struct language_server *server, struct json_writer *writer, struct str uri,
		       struct str text, const struct json *diagnostic, const struct json *fix)
{
	json_open(writer, '{');
	put_member(writer, "title", json_text(json_member(fix, S("title"))));
	put_member(writer, "kind", S("quickfix"));
	json_key(writer, S("isPreferred"));
	json_put_bool(writer, true);
	json_key(writer, S("diagnostics"));
	json_open(writer, '[');
	json_put_tree(writer, diagnostic);
	json_close(writer, ']');
	json_key(writer, S("edit"));
	json_open(writer, '{');
	json_key(writer, S("changes"));
	json_open(writer, '{');
	json_key(writer, uri);
	json_open(writer, '[');
	json_open(writer, '{');
	put_range(server, writer, text, fix);
	put_member(writer, "newText", json_text(json_member(fix, S("text"))));
	json_close(writer, '}');
	json_close(writer, ']');
	json_close(writer, '}');
	json_close(writer, '}');
	json_close(writer, '}');
}

/* The fixes of the diagnostics that the client names. */
static void answer_actions(struct language_server *server, const struct json *id,
			   const struct json *params, struct buf *out)
{
	struct str uri = json_text(json_member(json_member(params, S("textDocument")), S("uri")));
	struct open_file *file = file_find(server, uri);
	const struct json *diagnostics =
		json_member(json_member(params, S("context")), S("diagnostics"));
	const struct json *diagnostic;
	struct message message;
	if (file == NULL) {
		respond_error(id, RPC_INVALID_PARAMS, "the file is not open", out);
		return;
	}
	message_begin(&message);
	json_key(&message.writer, S("id"));
	json_put_tree(&message.writer, id);
	json_key(&message.writer, S("result"));
	json_open(&message.writer, '[');
	for (size_t i = 0; (diagnostic = json_item(diagnostics, i)) != NULL; i++) {
		const struct json *fix = json_member(json_member(diagnostic, S("data")), S("fix"));
		if (fix != NULL && fix->kind == JSON_OBJECT)
			put_action(server, &message.writer, uri, buf_str(&file->text), diagnostic,
				   fix);
	}
	json_close(&message.writer, ']');
	message_send(&message, out);
}

/* ---- requests ---------------------------------------------------------------------------------- */

typedef void answer_writer(const struct language_question *question, struct json_writer *writer);

static void answer_question(struct language_server *server, const struct json *id,
			    const struct json *params, answer_writer *write, struct buf *out)
{
	struct str uri = json_text(json_member(json_member(params, S("textDocument")), S("uri")));
	struct open_file *file = file_find(server, uri);
	struct language_question question = {
		.host = &server->host, .uri = uri, .utf8 = server->utf8, .arena = &server->arena
	};
	struct message message;
	if (file == NULL) {
		respond_error(id, RPC_INVALID_PARAMS, "the file is not open", out);
		return;
	}
	question.text = buf_str(&file->text);
	if (!text_position_read(question.text, json_member(params, S("position")), server->utf8,
				&question.at)) {
		respond_error(id, RPC_INVALID_PARAMS, "position needs line and character", out);
		return;
	}
	message_begin(&message);
	json_key(&message.writer, S("id"));
	json_put_tree(&message.writer, id);
	json_key(&message.writer, S("result"));
	write(&question, &message.writer);
	message_send(&message, out);
}

static void initialize(struct language_server *server, const struct json *id,
		       const struct json *params, struct buf *out)
{
	struct message message;
	if (server->initialized) {
		respond_error(id, RPC_INVALID_REQUEST, "initialize is sent once", out);
		return;
	}
	server->initialized = true;
	server->utf8 = offers_utf8(params);
	message_begin(&message);
	json_key(&message.writer, S("id"));
	json_put_tree(&message.writer, id);
	json_key(&message.writer, S("result"));
	put_capabilities(&message.writer, server->utf8);
	message_send(&message, out);
}

static void shut_down(struct language_server *server, const struct json *id, struct buf *out)
{
	struct message message;
	server->shut_down = true;
	message_begin(&message);
	json_key(&message.writer, S("id"));
	json_put_tree(&message.writer, id);
	json_key(&message.writer, S("result"));
	json_put_null(&message.writer);
	message_send(&message, out);
}

static void request(struct language_server *server, struct str method, const struct json *id,
		    const struct json *params, struct buf *out)
{
	if (str_equal(method, S("initialize")))
		initialize(server, id, params, out);
	else if (!server->initialized)
		respond_error(id, RPC_NOT_INITIALIZED, "initialize comes first", out);
	else if (server->shut_down)
		respond_error(id, RPC_INVALID_REQUEST, "nothing but exit follows shutdown", out);
	else if (str_equal(method, S("shutdown")))
		shut_down(server, id, out);
	else if (str_equal(method, S("textDocument/completion")))
		answer_question(server, id, params, language_complete, out);
	else if (str_equal(method, S("textDocument/hover")))
		answer_question(server, id, params, language_hover, out);
	else if (str_equal(method, S("textDocument/definition")))
		answer_question(server, id, params, language_define, out);
	else if (str_equal(method, S("textDocument/codeAction")))
		answer_actions(server, id, params, out);
	else
		respond_error(id, RPC_METHOD_NOT_FOUND, "this method is not supported", out);
}

static void notification(struct language_server *server, struct str method,
			 const struct json *params, struct buf *out)
{
	if (str_equal(method, S("exit")))
		server->ended = true;
	else if (!server->initialized || server->shut_down)
		return;
	else if (str_equal(method, S("textDocument/didOpen")))
		file_open(server, params);
	else if (str_equal(method, S("textDocument/didChange")))
		file_change(server, params);
	else if (str_equal(method, S("textDocument/didClose")))
		file_close(server, params, out);
}

static void handle(struct language_server *server, struct str body, struct buf *out)
{
	const struct json *message;
	struct error error;
	if (!json_read(body, &server->arena, &message, &error)) {
		respond_error(NULL, RPC_PARSE_ERROR, error.text, out);
		return;
	}
	const struct json *id = json_member(message, S("id"));
	struct str method = json_text(json_member(message, S("method")));
	const struct json *params = json_member(message, S("params"));
	bool good_id = id == NULL || id->kind == JSON_INT || id->kind == JSON_STRING;
	if (message->kind != JSON_OBJECT || !good_id)
		respond_error(NULL, RPC_INVALID_REQUEST, "the message is no request", out);
	else if (method.size == 0 && id != NULL)
		return; /* a response; this server asks nothing */
	else if (id != NULL)
		request(server, method, id, params, out);
	else
		notification(server, method, params, out);
}

bool language_server_feed(struct language_server *server, struct str bytes, struct buf *out,
			  struct error *error)
{
	struct str body;
	bool found;
	lsp_frame_feed(&server->frame, bytes);
	while (!server->ended) {
		if (!lsp_frame_take(&server->frame, &body, &found, error))
			return false;
		if (!found)
			break;
		handle(server, body, out);
		arena_reset(&server->arena);
	}
	return true;
}

bool language_server_has_ended(const struct language_server *server, int *out_status)
{
	*out_status = server->shut_down ? 0 : 1;
	return server->ended;
}
