/* api/route.c -- the table of routes and the search in it.
 *
 * The modifiers of a route (its QUERY and NO_KEY rows) follow it in the table as in routes.def.
 * Every request scans the whole table: it is short, and most rows fail at their first segment.
 */
#include "api/route.h"

#include <string.h>

#include "api/api_internal.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "contract/closest.h"
#include "contract/migrate_pipeline.h"

/* ---- the table --------------------------------------------------------------------- */

/* Accepts documents of older formats, too. */
static const void *parse_body(const struct type *type, const struct contract_source *source,
			      struct arena *arena, struct problems *problems)
{
	bool old;
	const void *value = pipeline_read_old(type, source, arena, problems, &old);
	return old ? value : contract_parse(type, source, arena, problems);
}

#define ROUTE(method, path, name, role, gives, status, text)
#define ROUTE_BODY(method, path, name, role, takes, gives, status, text)                           \
	type_function takes##_type;                                                                \
	static const void *parse_##name(const struct contract_source *source, struct arena *arena, \
					struct problems *problems)                                 \
	{                                                                                          \
		return parse_body(takes##_type(), source, arena, problems);                        \
	}                                                                                          \
	static void run_##name(struct api_call *call, const void *body)                            \
	{                                                                                          \
		api_##name(call, body);                                                            \
	}
#include "contracts/routes.def"
#undef ROUTE
#undef ROUTE_BODY

static const struct route rows[] = {
#define TEXT_(text)                    \
	{                              \
		text, sizeof(text) - 1 \
	}
#define ROUTE(method_, path_, name_, role_, gives_, status_, text_) \
	{ .kind = ROUTE_HTTP,                                       \
	  .method = TEXT_(#method_),                                \
	  .path = TEXT_(path_),                                     \
	  .name = TEXT_(#name_),                                    \
	  .role = RUN_ROLE_##role_,                                 \
	  .plain = api_##name_ },
#define ROUTE_BODY(method_, path_, name_, role_, takes_, gives_, status_, text_) \
	{ .kind = ROUTE_HTTP,                                                    \
	  .method = TEXT_(#method_),                                             \
	  .path = TEXT_(path_),                                                  \
	  .name = TEXT_(#name_),                                                 \
	  .role = RUN_ROLE_##role_,                                              \
	  .takes = takes_##_type,                                                \
	  .parse = parse_##name_,                                                \
	  .with_body = run_##name_ },
#define SOCKET(path_, name_, role_, text_) \
	{ .kind = ROUTE_SOCKET,            \
	  .method = TEXT_("GET"),          \
	  .path = TEXT_(path_),            \
	  .name = TEXT_(#name_),           \
	  .role = RUN_ROLE_##role_,        \
	  .plain = api_##name_ },
#define QUERY(name_, type_, text_) { .kind = ROUTE_QUERY, .name = TEXT_(#name_) },
#define NO_KEY                     { .kind = ROUTE_NO_KEY },
#define ANY_QUERY                  { .kind = ROUTE_ANY_QUERY },
#define MAY_BE_EMPTY               { .kind = ROUTE_MAY_BE_EMPTY },
#include "contracts/routes.def"
#undef ROUTE
#undef ROUTE_BODY
	{ .kind = ROUTE_END },
};

static void answer_options(struct api_call *call)
{
	const struct http_header headers[] = { { S("Allow"), call->allow } };
	api_reply(call->api, call->exchange, 204, headers, COUNT(headers), S(""));
}

/* Matches every path: OPTIONS lists the methods of the path. */
static const struct route options_row = { .kind = ROUTE_HTTP,
					  .method = TEXT_("OPTIONS"),
					  .path = TEXT_("*"),
					  .name = TEXT_("options"),
					  .role = RUN_ROLE_VIEWER,
					  .plain = answer_options };

static bool is_modifier(const struct route *row)
{
	return row->kind == ROUTE_QUERY || row->kind == ROUTE_ANY_QUERY ||
	       row->kind == ROUTE_NO_KEY || row->kind == ROUTE_MAY_BE_EMPTY;
}

struct str route_text(const struct route *route, struct arena *arena)
{
	return str_format(arena, "%s" STR_FMT " " STR_FMT,
			  route->kind == ROUTE_SOCKET ? "WebSocket " : "", STR_ARG(route->method),
			  STR_ARG(route->path));
}

static bool has_row(const struct route *route, enum route_kind kind)
{
	if (route == &options_row)
		return false;
	for (const struct route *row = route + 1; is_modifier(row); row++)
		if (row->kind == kind)
			return true;
	return false;
}

bool route_may_be_empty(const struct route *route)
{
	return has_row(route, ROUTE_MAY_BE_EMPTY);
}

bool route_needs_key(const struct route *route)
{
	return !has_row(route, ROUTE_NO_KEY);
}

bool route_changes(const struct route *route)
{
	return !str_equal(route->method, S("GET")) && !str_equal(route->method, S("OPTIONS"));
}

/* ---- escapes ----------------------------------------------------------------------- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes %XX.  False for a malformed escape, a NUL, or a result that is not UTF-8. */
static bool unescape(struct arena *arena, struct str text, bool plus_is_blank, struct str *out)
{
	size_t bad;
	if (memchr(text.at, '%', text.size) == NULL &&
	    (!plus_is_blank || memchr(text.at, '+', text.size) == NULL)) {
		*out = text;
		return true;
	}
	char *at = arena_take_text(arena, text.size);
	size_t size = 0;
	for (size_t i = 0; i < text.size; i++) {
		char c = text.at[i];
		if (c == '%') {
			bool whole = text.size - i > 2;
			int high = whole ? hex_digit(text.at[i + 1]) : -1;
			int low = whole ? hex_digit(text.at[i + 2]) : -1;
			if (high < 0 || low < 0)
				return false;
			c = (char)(high * 16 + low);
			i += 2;
		} else if (c == '+' && plus_is_blank) {
			c = ' ';
		}
		if (c == '\0')
			return false;
		at[size++] = c;
	}
	*out = (struct str){ at, size };
	return utf8_valid(*out, &bad);
}

/* ---- paths ------------------------------------------------------------------------- */

struct segments {
	struct str at[LIMIT_PATH_SEGMENTS];
	size_t count;
};

static bool cut_path(struct api_call *call, struct segments *out, struct error *error)
{
	struct str rest = call->request->path, piece;
	out->count = 0;
	str_cut(&rest, '/', &piece); /* the empty piece before the first slash */
	while (str_cut(&rest, '/', &piece)) {
		if (out->count == LIMIT_PATH_SEGMENTS)
			return fail(error, ERROR_NOT_FOUND, "the path has more than %d segments",
				    (int)LIMIT_PATH_SEGMENTS);
		if (!unescape(call->arena, piece, false, &out->at[out->count++]))
			return fail(error, ERROR_USAGE,
				    "the path has an invalid escape; write %%XX with two "
				    "hexadecimal digits, and encode text as UTF-8");
	}
	return true;
}

static bool is_plain_name(struct str segment)
{
	return segment.size > 0 && memchr(segment.at, '/', segment.size) == NULL &&
	       !str_equal(segment, S(".")) && !str_equal(segment, S(".."));
}

/* The values that a path has for a pattern. */
struct path_match {
	struct uuid id;
	struct api_parameter names[LIMIT_PATH_NAMES];
	size_t name_count;
	size_t path_from, path_count;
	size_t fixed; /* number of literal segments */
};

static bool segment_matches(struct str pattern, struct str segment, struct path_match *match)
{
	if (str_equal(pattern, S("{id}")))
		return uuid_parse(segment, &match->id);
	if (!str_starts(pattern, S("{"))) {
		match->fixed++;
		return str_equal(pattern, segment);
	}
	require(match->name_count < LIMIT_PATH_NAMES);
	match->names[match->name_count++] =
		(struct api_parameter){ str_head(str_skip(pattern, 1), pattern.size - 2), segment };
	/* An issue's name may have slashes, and is no path of a file. */
	return str_equal(pattern, S("{issue}")) ? segment.size > 0 : is_plain_name(segment);
}

static bool path_matches(struct str pattern, const struct segments *path, struct path_match *match)
{
	struct str wanted;
	size_t at = 0, left = 0;
	for (size_t i = 0; i < pattern.size; i++)
		left += pattern.at[i] == '/';
	*match = (struct path_match){ 0 };
	str_cut(&pattern, '/', &wanted);
	for (; str_cut(&pattern, '/', &wanted); left--) {
		if (!str_equal(wanted, S("{path}"))) {
			if (at == path->count || !segment_matches(wanted, path->at[at++], match))
				return false;
			continue;
		}
		if (path->count < at + left)
			return false;
		match->path_from = at;
		match->path_count = path->count - at - (left - 1);
		for (size_t i = 0; i < match->path_count; i++)
			if (!is_plain_name(path->at[at++]))
				return false;
	}
	return at == path->count;
}

static struct str join(struct arena *arena, const struct segments *path,
		       const struct path_match *match)
{
	AUTO(buf) text = { 0 };
	for (size_t i = 0; i < match->path_count; i++) {
		buf_add(&text, i == 0 ? S("") : S("/"));
		buf_add(&text, path->at[match->path_from + i]);
	}
	return str_copy(arena, buf_str(&text));
}

static void allow(struct buf *methods, struct str method)
{
	size_t at;
	AUTO(buf) known = { 0 };
	buf_add_format(&known, ", " STR_FMT ",", STR_ARG(buf_str(methods)));
	AUTO(buf) wanted = { 0 };
	buf_add_format(&wanted, " " STR_FMT ",", STR_ARG(method));
	if (str_find(buf_str(&known), buf_str(&wanted), &at))
		return;
	buf_add(methods, methods->size == 0 ? S("") : S(", "));
	buf_add(methods, method);
	if (str_equal(method, S("GET")))
		buf_add(methods, S(", HEAD"));
}

/* The best matching route of the method; `methods` gets all methods of the path. */
static const struct route *best_row(const struct segments *path, struct str method, bool socket,
				    struct path_match *out_match, struct buf *methods)
{
	const struct route *best = NULL;
	for (const struct route *row = rows; row->kind != ROUTE_END; row++) {
		struct path_match match;
		if (is_modifier(row) || !path_matches(row->path, path, &match))
			continue;
		allow(methods, row->method);
		if (!str_equal(row->method, method))
			continue;
		/* Where a GET and a WebSocket share a path, the Upgrade header decides. */
		bool better =
			best == NULL || match.fixed > out_match->fixed ||
			(match.fixed == out_match->fixed && (row->kind == ROUTE_SOCKET) == socket &&
			 (best->kind == ROUTE_SOCKET) != socket);
		if (!better)
			continue;
		best = row;
		*out_match = match;
	}
	return best;
}

bool route_find(struct api_call *call, bool socket, struct error *error)
{
	struct segments path;
	struct path_match match;
	AUTO(buf) methods = { 0 };
	struct str method = call->request->method;
	if (str_equal(method, S("HEAD")))
		method = S("GET");
	if (!cut_path(call, &path, error))
		return false;
	const struct route *row = best_row(&path, method, socket, &match, &methods);
	bool everything = str_equal(call->request->path, S("*"));
	if (methods.size == 0 && !everything)
		return fail(error, ERROR_NOT_FOUND, "there is nothing at " STR_FMT,
			    STR_ARG(str_head(call->request->path, 200)));
	if (everything)
		buf_add(&methods, S("GET, HEAD, POST, PUT, PATCH, DELETE"));
	buf_add(&methods, S(", OPTIONS"));
	call->allow = str_copy(call->arena, buf_str(&methods));
	if (str_equal(method, S("OPTIONS"))) {
		call->route = &options_row;
		return true;
	}
	if (row == NULL)
		return fail(error, ERROR_METHOD_NOT_ALLOWED,
			    STR_FMT " does not support " STR_FMT "; expected one of " STR_FMT,
			    STR_ARG(str_head(call->request->path, 200)), STR_ARG(method),
			    STR_ARG(call->allow));
	call->route = row;
	call->id = match.id;
	call->name_count = match.name_count;
	for (size_t i = 0; i < match.name_count; i++)
		call->names[i] =
			(struct api_parameter){ match.names[i].name,
						str_copy(call->arena, match.names[i].value) };
	call->path = join(call->arena, &path, &match);
	return true;
}

/* ---- query ------------------------------------------------------------------------- */

static bool takes_parameter(const struct route *route, struct str name)
{
	if (route == &options_row)
		return true;
	for (const struct route *row = route + 1; is_modifier(row); row++)
		if (row->kind == ROUTE_QUERY && str_equal(row->name, name))
			return true;
	return false;
}

/* Lists the known parameters and suggests the closest one. */
static bool refuse_parameter(const struct route *route, struct str name, struct error *error)
{
	struct str names[LIMIT_QUERY_PARAMETERS];
	size_t count = 0;
	AUTO(buf) known = { 0 };
	for (const struct route *row = route + 1; is_modifier(row); row++) {
		if (row->kind != ROUTE_QUERY || count == LIMIT_QUERY_PARAMETERS)
			continue;
		buf_add(&known, count == 0 ? S("") : S(", "));
		buf_add(&known, row->name);
		names[count++] = row->name;
	}
	struct str near = closest_word((struct str_list){ names, count }, name);
	struct str list = buf_str(&known);
	if (count == 0)
		return fail(error, ERROR_USAGE,
			    "unknown query parameter \"" STR_FMT "\"; this route has none",
			    STR_ARG(str_head(name, LIMIT_QUOTE_BYTES)));
	return fail(
		error, ERROR_USAGE,
		"unknown query parameter \"" STR_FMT "\"%s" STR_FMT "%s; expected one of " STR_FMT,
		STR_ARG(str_head(name, LIMIT_QUOTE_BYTES)), near.size > 0 ? "; did you mean " : "",
		STR_ARG(near), near.size > 0 ? "?" : "", STR_ARG(list));
}

bool route_query(struct api_call *call, struct error *error)
{
	struct str rest = call->request->query, pair;
	if (has_row(call->route, ROUTE_ANY_QUERY))
		return true;
	while (str_cut(&rest, '&', &pair)) {
		struct str name, value = pair;
		if (pair.size == 0)
			continue;
		str_cut(&value, '=', &name);
		if (value.at == NULL)
			value = S("");
		if (!unescape(call->arena, name, true, &name) ||
		    !unescape(call->arena, value, true, &value))
			return fail(error, ERROR_USAGE,
				    "the query has an invalid escape; write %%XX with two "
				    "hexadecimal digits, and encode text as UTF-8");
		if (!takes_parameter(call->route, name))
			return refuse_parameter(call->route, name, error);
		for (size_t i = 0; i < call->query_count; i++)
			if (str_equal(call->query[i].name, name))
				return fail(error, ERROR_USAGE,
					    "the query parameter \"" STR_FMT "\" occurs twice",
					    STR_ARG(str_head(name, LIMIT_QUOTE_BYTES)));
		if (call->query_count == LIMIT_QUERY_PARAMETERS)
			return fail(error, ERROR_USAGE, "the query has more than %d parameters",
				    (int)LIMIT_QUERY_PARAMETERS);
		call->query[call->query_count++] = (struct api_parameter){ name, value };
	}
	return true;
}

struct str api_name(const struct api_call *call, struct str name)
{
	for (size_t i = 0; i < call->name_count; i++)
		if (str_equal(call->names[i].name, name))
			return call->names[i].value;
	return S("");
}

struct str api_query(const struct api_call *call, struct str name)
{
	for (size_t i = 0; i < call->query_count; i++)
		if (str_equal(call->query[i].name, name))
			return call->query[i].value;
	return S("");
}

bool api_query_int(const struct api_call *call, struct str name, int64_t least, int64_t most,
		   int64_t fallback, int64_t *out, struct error *error)
{
	struct str text = api_query(call, name);
	int64_t number = fallback;
	if (text.size > 0 && (!str_to_int(text, &number) || number < least || number > most))
		return fail(error, ERROR_USAGE,
			    "?" STR_FMT "= must be an integer from %lld to %lld", STR_ARG(name),
			    (long long)least, (long long)most);
	*out = number;
	return true;
}

bool api_query_cursor(const struct api_call *call, struct str name, struct event_cursor fallback,
		      struct event_cursor *out_cursor, struct error *error)
{
	struct str text = api_query(call, name);
	*out_cursor = fallback;
	return text.size == 0 || event_cursor_parse(text, out_cursor) ||
	       fail(error, ERROR_USAGE,
		    "?" STR_FMT
		    "= must be a cursor: a number such as 7, or 7.2 for the third event "
		    "that 7 has become",
		    STR_ARG(name));
}

bool api_query_flag(const struct api_call *call, struct str name, bool fallback, bool *out,
		    struct error *error)
{
	*out = fallback;
	for (size_t i = 0; i < call->query_count; i++) {
		struct str value = call->query[i].value;
		if (!str_equal(call->query[i].name, name))
			continue;
		bool yes =
			value.size == 0 || str_equal(value, S("true")) || str_equal(value, S("1"));
		if (!yes && !str_equal(value, S("false")) && !str_equal(value, S("0")))
			return fail(error, ERROR_USAGE, "?" STR_FMT "= must be true or false",
				    STR_ARG(name));
		*out = yes;
	}
	return true;
}
