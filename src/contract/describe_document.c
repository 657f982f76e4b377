/* contract/describe_document.c -- OpenAPI and JSON Schema: all types, and the routes.
 *
 * Both are written as one line and then indented, so that people and diff can read them.  The first
 * row of a path (contract/describe_routes.h) writes all operations of that path.
 */
#include <string.h>

#include "base/limits.h"
#include "contract/describe.h"
#include "contract/describe_routes.h"
#include "contract/modules.h"
#include "contract/run_server_types.h"

/* ---- pieces ---------------------------------------------------------------------------- */

static const struct str components = { "#/components/schemas/", 21 };

static void put(struct json_writer *writer, const char *key, const char *value)
{
	json_key(writer, str_from_c(key));
	json_put_str(writer, str_from_c(value));
}

static void open_key(struct json_writer *writer, const char *key, char bracket)
{
	json_key(writer, str_from_c(key));
	json_open(writer, bracket);
}

static void put_types(struct json_writer *writer, struct str prefix)
{
	const struct contract_module *module;
	const struct type *type;
	AUTO(arena) arena = { 0 };
	for (size_t i = 0; (module = contract_module_at(i)) != NULL; i++)
		for (size_t j = 0; (type = contract_type_at(module, j)) != NULL; j++) {
			json_key(writer, type->name);
			describe_schema(type, prefix, writer);
			if (!describe_schema_differs(type))
				continue;
			json_key(writer, str_format(&arena, STR_FMT ".Input", STR_ARG(type->name)));
			describe_schema_input(type, prefix, writer);
		}
}

/* The schema of a value: a reference to a named type, or the schema itself for a scalar. */
static void put_value(struct json_writer *writer, const struct type *type, bool input)
{
	AUTO(arena) arena = { 0 };
	if (type->kind != KIND_ENTITY && type->kind != KIND_UNION && type->kind != KIND_ENUM) {
		describe_schema(type, components, writer);
		return;
	}
	input = input && describe_schema_differs(type);
	json_open(writer, '{');
	json_key(writer, S("$ref"));
	json_put_str(writer, str_format(&arena, STR_FMT STR_FMT "%s", STR_ARG(components),
					STR_ARG(type->name), input ? ".Input" : ""));
	json_close(writer, '}');
}

static void put_media(struct json_writer *writer, const char *media, const struct type *type,
		      bool list, bool input)
{
	open_key(writer, media, '{');
	if (type != NULL) {
		json_key(writer, S("schema"));
		if (list) {
			json_open(writer, '{');
			put(writer, "type", "array");
			json_key(writer, S("items"));
		}
		put_value(writer, type, input);
		if (list)
			json_close(writer, '}');
	}
	json_close(writer, '}');
}

/* ---- operations ------------------------------------------------------------------------ */

static void put_answer(struct json_writer *writer, const struct route_row *row)
{
	switch (row->answer) {
	case ROUTE_ANSWER_ONE:
	case ROUTE_ANSWER_LIST:
		put_media(writer, "application/json", row->of(), row->answer == ROUTE_ANSWER_LIST,
			  false);
		break;
	case ROUTE_ANSWER_EVENTS:
		put_media(writer, "text/event-stream", row->of(), false, false);
		break;
	case ROUTE_ANSWER_BYTES:
		put_media(writer, row->media, NULL, false, false);
		break;
	case ROUTE_ANSWER_NOTHING:
		break;
	}
}

/* The answers of a route with the status of `first`: OpenAPI has one response for each status, with
 * a media type for each answer. */
static void put_response(struct json_writer *writer, const struct route_row *row,
			 const struct route_row *first)
{
	AUTO(arena) arena = { 0 };
	json_key(writer, str_format(&arena, "%d", first->status));
	json_open(writer, '{');
	put(writer, "description", first->text);
	if (first->answer != ROUTE_ANSWER_NOTHING) {
		open_key(writer, "content", '{');
		put_answer(writer, first);
		ROUTES_OF(row, also)
		if (also->kind == ROUTE_ROW_ALSO && also != first && also->status == first->status)
			put_answer(writer, also);
		json_close(writer, '}');
	}
	json_close(writer, '}');
}

static void put_parameter(struct json_writer *writer, struct str name, bool in_path,
			  const struct type *type, const char *text)
{
	json_open(writer, '{');
	json_key(writer, S("name"));
	json_put_str(writer, name);
	put(writer, "in", in_path ? "path" : "query");
	if (text != NULL)
		put(writer, "description", text);
	json_key(writer, S("required"));
	json_put_bool(writer, in_path);
	json_key(writer, S("schema"));
	describe_schema(type, components, writer);
	json_close(writer, '}');
}

/* `row` is a ROUTE; its QUERY rows follow it immediately. */
static void put_parameters(struct json_writer *writer, const struct route_row *row)
{
	struct str rest = str_from_c(row->path), name;
	size_t at;
	bool any = str_find(rest, S("{"), &at);
	ROUTES_OF(row, item)
	any = any || item->kind == ROUTE_ROW_QUERY;
	if (!any)
		return;
	open_key(writer, "parameters", '[');
	while (route_row_parameter(&rest, &name))
		put_parameter(writer, name, true,
			      str_equal(name, S("id")) ? uuid_type() : str_type(), NULL);
	ROUTES_OF(row, item)
	if (item->kind == ROUTE_ROW_QUERY)
		put_parameter(writer, str_from_c(item->name), false, item->of(), item->text);
	json_close(writer, ']');
}

static void put_operation(struct json_writer *writer, const struct route_row *row)
{
	AUTO(arena) arena = { 0 };
	char method[16] = "";
	for (size_t i = 0; row->method[i] != '\0' && i + 1 < sizeof(method); i++)
		method[i] = (char)(row->method[i] | 0x20);
	open_key(writer, method, '{');
	json_key(writer, S("operationId"));
	json_put_str(writer, route_row_operation(row, &arena));
	put(writer, "summary", row->text);
	put(writer, "x-role", role_rows[row->role].word);
	if (!route_row_needs_key(row)) {
		open_key(writer, "security", '[');
		json_close(writer, ']');
	}
	put_parameters(writer, row);
	if (row->takes != NULL) {
		open_key(writer, "requestBody", '{');
		json_key(writer, S("required"));
		json_put_bool(writer, true);
		open_key(writer, "content", '{');
		put_media(writer, "application/json", row->takes(), false, true);
		json_close(writer, '}');
		json_close(writer, '}');
	}
	open_key(writer, "responses", '{');
	put_response(writer, row, row);
	ROUTES_OF(row, also)
	if (also->kind == ROUTE_ROW_ALSO && also->status != row->status)
		put_response(writer, row, also);
	open_key(writer, "default", '{');
	put(writer, "$ref", "#/components/responses/Problem");
	json_close(writer, '}');
	json_close(writer, '}');
	json_close(writer, '}');
}

static bool is_first_of_path(const struct route_row *row)
{
	if (row->kind != ROUTE_ROW_DOOR)
		return false;
	for (const struct route_row *before = route_rows; before < row; before++)
		if (before->kind == ROUTE_ROW_DOOR && strcmp(before->path, row->path) == 0)
			return false;
	return true;
}

static void put_paths(struct json_writer *writer)
{
	open_key(writer, "paths", '{');
	for (const struct route_row *row = route_rows; row->kind != ROUTE_ROW_END; row++) {
		if (!is_first_of_path(row))
			continue;
		open_key(writer, row->path, '{');
		for (const struct route_row *one = row; one->kind != ROUTE_ROW_END; one++)
			if (one->kind == ROUTE_ROW_DOOR && strcmp(one->path, row->path) == 0)
				put_operation(writer, one);
		json_close(writer, '}');
	}
	json_close(writer, '}');
}

/* ---- whole documents ------------------------------------------------------------------- */

static void put_info(struct json_writer *writer)
{
	open_key(writer, "info", '{');
	put(writer, "title", "Baton");
	put(writer, "version", BATON_VERSION);
	put(writer, "description",
	    "Durable runs of teams of agents and tools. Schema X describes what Baton prints; X.Input "
	    "describes what Baton accepts, where the two differ.");
	open_key(writer, "license", '{');
	put(writer, "name", "MIT");
	put(writer, "identifier", "MIT");
	json_close(writer, '}');
	open_key(writer, "x-roles", '{');
	for (size_t i = 0; role_rows[i].word != NULL; i++)
		put(writer, role_rows[i].word, role_rows[i].text);
	json_close(writer, '}');
	json_close(writer, '}');
}

static void put_components(struct json_writer *writer)
{
	open_key(writer, "components", '{');
	open_key(writer, "responses", '{');
	open_key(writer, "Problem", '{');
	put(writer, "description",
	    "An error response (RFC 9457): the error code in code, and every "
	    "problem of the request with its place in details.");
	open_key(writer, "content", '{');
	put_media(writer, "application/problem+json", run_problem_type(), false, false);
	json_close(writer, '}');
	json_close(writer, '}');
	json_close(writer, '}');
	open_key(writer, "securitySchemes", '{');
	open_key(writer, "key", '{');
	put(writer, "type", "http");
	put(writer, "scheme", "bearer");
	put(writer, "description",
	    "An API key, baton_<id>_<secret>, with the role that x-role names or a higher one. A "
	    "server that listens on loopback only treats a request without a key as an admin's, "
	    "unless serve.require_key is set.");
	json_close(writer, '}');
	json_close(writer, '}');
	open_key(writer, "schemas", '{');
	put_types(writer, components);
	json_close(writer, '}');
	json_close(writer, '}');
}

void describe_openapi(struct buf *out)
{
	AUTO(buf) line = buf_limited(LIMIT_DESCRIPTION_BYTES);
	struct json_writer writer = { .out = &line };
	json_open(&writer, '{');
	put(&writer, "openapi", "3.1.0");
	put_info(&writer);
	open_key(&writer, "servers", '[');
	json_open(&writer, '{');
	put(&writer, "url", "/");
	json_close(&writer, '}');
	json_close(&writer, ']');
	open_key(&writer, "security", '[');
	json_open(&writer, '{');
	open_key(&writer, "key", '[');
	json_close(&writer, ']');
	json_close(&writer, '}');
	json_close(&writer, ']');
	put_paths(&writer);
	put_components(&writer);
	json_close(&writer, '}');
	describe_indented(buf_str(&line), out);
}

void describe_schema_all(struct buf *out)
{
	AUTO(buf) line = buf_limited(LIMIT_DESCRIPTION_BYTES);
	struct json_writer writer = { .out = &line };
	json_open(&writer, '{');
	put(&writer, "$schema", "https://json-schema.org/draft/2020-12/schema");
	put(&writer, "title", "Baton");
	put(&writer, "description",
	    "Every type of Baton. X is what Baton prints, X.Input what it takes where the two "
	    "differ.");
	open_key(&writer, "$defs", '{');
	put_types(&writer, S("#/$defs/"));
	json_close(&writer, '}');
	json_close(&writer, '}');
	describe_indented(buf_str(&line), out);
}
