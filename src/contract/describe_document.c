/* contract/describe_document.c -- OpenAPI and JSON Schema: all types, and the routes.
 *
 * Both are written as one line and then indented, because a golden file is compared line by line.
 * A route's rows (ROUTE, then its QUERY and ALSO rows) become one table in their order; rows of
 * one path are gathered when the path is met first.
 */
#include <string.h>

#include "base/limits.h"
#include "contract/describe.h"
#include "contract/modules.h"
#include "contract/run.h"
#include "contract/runtime.h"

/* ---- the rows -------------------------------------------------------------------------- */

enum role {
#define ROLE(constant, word, text) ROLE_##constant,
#include "contracts/roles.def"
#undef ROLE
};

static const struct role_row {
	const char *word, *text;
} roles[] = {
#define ROLE(constant, word, text) [ROLE_##constant] = { word, text },
#include "contracts/roles.def"
#undef ROLE
};

enum answer { ANSWER_ONE, ANSWER_LIST, ANSWER_EVENTS, ANSWER_BYTES, ANSWER_NOTHING };

enum row_kind { ROW_ROUTE, ROW_QUERY, ROW_ALSO };

struct row {
	enum row_kind kind;
	const char *method, *path, *name, *text;
	enum role role;
	type_function *takes;
	/* ROUTE and ALSO: the answer; QUERY: `of` is the parameter's type */
	enum answer answer;
	type_function *of;
	const char *media;
	int status;
};

static const struct row rows[] = {
#define ONE(type_)    .answer = ANSWER_ONE, .of = type_##_type
#define LIST(type_)   .answer = ANSWER_LIST, .of = type_##_type
#define EVENTS(type_) .answer = ANSWER_EVENTS, .of = type_##_type
#define BYTES(media_) .answer = ANSWER_BYTES, .media = media_
#define NOTHING       .answer = ANSWER_NOTHING
#define ROUTE(method_, path_, name_, role_, gives_, status_, text_) \
	{ .kind = ROW_ROUTE,                                        \
	  .method = #method_,                                       \
	  .path = path_,                                            \
	  .name = #name_,                                           \
	  .role = ROLE_##role_,                                     \
	  .status = status_,                                        \
	  .text = text_,                                            \
	  gives_ },
#define ROUTE_BODY(method_, path_, name_, role_, takes_, gives_, status_, text_) \
	{ .kind = ROW_ROUTE,                                                     \
	  .method = #method_,                                                    \
	  .path = path_,                                                         \
	  .name = #name_,                                                        \
	  .role = ROLE_##role_,                                                  \
	  .takes = takes_##_type,                                                \
	  .status = status_,                                                     \
	  .text = text_,                                                         \
	  gives_ },
#define QUERY(name_, type_, text_) \
	{ .kind = ROW_QUERY, .name = #name_, .of = type_##_type, .text = text_ },
#define ALSO(gives_, status_, text_) { .kind = ROW_ALSO, .status = status_, .text = text_, gives_ },
#include "contracts/routes.def"
#undef ONE
#undef LIST
#undef EVENTS
#undef BYTES
#undef NOTHING
#undef ROUTE
#undef ROUTE_BODY
};

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

/* A whole value: a reference, or the schema itself for a plain type. */
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
	open_key(writer, "content", '{');
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
	json_close(writer, '}');
}

/* ---- operations ------------------------------------------------------------------------ */

static void put_response(struct json_writer *writer, const struct row *row, const char *text)
{
	AUTO(arena) arena = { 0 };
	json_key(writer, str_format(&arena, "%d", row->status));
	json_open(writer, '{');
	put(writer, "description", text);
	switch (row->answer) {
	case ANSWER_ONE:
	case ANSWER_LIST:
		put_media(writer, "application/json", row->of(), row->answer == ANSWER_LIST, false);
		break;
	case ANSWER_EVENTS:
		put_media(writer, "text/event-stream", row->of(), false, false);
		break;
	case ANSWER_BYTES:
		put_media(writer, row->media, NULL, false, false);
		break;
	case ANSWER_NOTHING:
		break;
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

static bool path_parameter(struct str *rest, struct str *out_name)
{
	struct str segment;
	while (str_cut(rest, '/', &segment))
		if (str_starts(segment, S("{")) && str_ends(segment, S("}"))) {
			*out_name = str_head(str_skip(segment, 1), segment.size - 2);
			return true;
		}
	return false;
}

static const struct row *next_row(const struct row *row)
{
	return row + 1 < rows + COUNT(rows) ? row + 1 : NULL;
}

/* `row` is a ROUTE; its QUERY rows come right behind it. */
static void put_parameters(struct json_writer *writer, const struct row *row)
{
	struct str rest = str_from_c(row->path), name;
	const struct row *behind = next_row(row);
	size_t at;
	if (!str_find(rest, S("{"), &at) && (behind == NULL || behind->kind != ROW_QUERY))
		return;
	open_key(writer, "parameters", '[');
	while (path_parameter(&rest, &name))
		put_parameter(writer, name, true,
			      str_equal(name, S("id")) ? uuid_type() : str_type(), NULL);
	for (; behind != NULL && behind->kind != ROW_ROUTE; behind = next_row(behind))
		if (behind->kind == ROW_QUERY)
			put_parameter(writer, str_from_c(behind->name), false, behind->of(),
				      behind->text);
	json_close(writer, ']');
}

/* The handler's name; a handler of several routes is told apart by the last path segment. */
static void put_operation_id(struct json_writer *writer, const struct row *row)
{
	AUTO(arena) arena = { 0 };
	struct str id = str_from_c(row->name), rest = str_from_c(row->path), name;
	for (const struct row *before = rows; before < row; before++)
		if (before->kind == ROW_ROUTE && strcmp(before->name, row->name) == 0 &&
		    path_parameter(&rest, &name)) {
			id = str_format(&arena, "%s_" STR_FMT, row->name, STR_ARG(name));
			break;
		}
	json_key(writer, S("operationId"));
	json_put_str(writer, id);
}

static void put_operation(struct json_writer *writer, const struct row *row)
{
	char method[16] = "";
	for (size_t i = 0; row->method[i] != '\0' && i + 1 < sizeof(method); i++)
		method[i] = (char)(row->method[i] | 0x20);
	open_key(writer, method, '{');
	put_operation_id(writer, row);
	put(writer, "summary", row->text);
	put(writer, "x-role", roles[row->role].word);
	put_parameters(writer, row);
	if (row->takes != NULL) {
		open_key(writer, "requestBody", '{');
		json_key(writer, S("required"));
		json_put_bool(writer, true);
		put_media(writer, "application/json", row->takes(), false, true);
		json_close(writer, '}');
	}
	open_key(writer, "responses", '{');
	put_response(writer, row, row->text);
	for (const struct row *also = next_row(row); also != NULL && also->kind != ROW_ROUTE;
	     also = next_row(also))
		if (also->kind == ROW_ALSO)
			put_response(writer, also, also->text);
	open_key(writer, "default", '{');
	put(writer, "$ref", "#/components/responses/Problem");
	json_close(writer, '}');
	json_close(writer, '}');
	json_close(writer, '}');
}

static bool is_first_of_path(const struct row *row)
{
	if (row->kind != ROW_ROUTE)
		return false;
	for (const struct row *before = rows; before < row; before++)
		if (before->kind == ROW_ROUTE && strcmp(before->path, row->path) == 0)
			return false;
	return true;
}

static void put_paths(struct json_writer *writer)
{
	open_key(writer, "paths", '{');
	for (const struct row *row = rows; row != NULL; row = next_row(row)) {
		if (!is_first_of_path(row))
			continue;
		open_key(writer, row->path, '{');
		for (const struct row *one = row; one != NULL; one = next_row(one))
			if (one->kind == ROW_ROUTE && strcmp(one->path, row->path) == 0)
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
	    "Durable runs of teams of agents and tools. A schema X is what Baton prints, X.Input "
	    "what it takes where the two differ.");
	open_key(writer, "license", '{');
	put(writer, "name", "MIT");
	put(writer, "identifier", "MIT");
	json_close(writer, '}');
	open_key(writer, "x-roles", '{');
	for (size_t i = 0; i < COUNT(roles); i++)
		put(writer, roles[i].word, roles[i].text);
	json_close(writer, '}');
	json_close(writer, '}');
}

static void put_components(struct json_writer *writer)
{
	open_key(writer, "components", '{');
	open_key(writer, "responses", '{');
	open_key(writer, "Problem", '{');
	put(writer, "description",
	    "Why not: RFC 9457, with the error's name in code and every "
	    "place that is wrong in details.");
	put_media(writer, "application/problem+json", run_problem_type(), false, false);
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
