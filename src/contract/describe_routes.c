/* contract/describe_routes.c -- routes.def and roles.def as tables. */
#include "contract/describe_routes.h"

#include <string.h>

const struct role_row role_rows[] = {
#define ROLE(constant, word, text) { word, text },
#include "contracts/roles.def"
#undef ROLE
	{ NULL, NULL },
};

/* The rows of routes.def refer to a role by its constant. */
enum role {
#define ROLE(constant, word, text) ROLE_##constant,
#include "contracts/roles.def"
#undef ROLE
};

/* The types that rows name, declared: the headers that define them are not needed here. */
#define ONE(type_)    type_function type_##_type;
#define LIST(type_)   type_function type_##_type;
#define EVENTS(type_) type_function type_##_type;
#define BYTES(media_)
#define NOTHING
#define ROUTE(method_, path_, name_, role_, gives_, status_, text_) gives_
#define ROUTE_BODY(method_, path_, name_, role_, takes_, gives_, status_, text_) \
	type_function takes_##_type;                                             \
	gives_
#define QUERY(name_, type_, text_)   type_function type_##_type;
#define ALSO(gives_, status_, text_) gives_
#include "contracts/routes.def"
#undef ONE
#undef LIST
#undef EVENTS
#undef BYTES
#undef NOTHING
#undef ROUTE
#undef ROUTE_BODY
#undef QUERY
#undef ALSO
#undef NO_KEY
#undef ANY_QUERY
#undef MAY_BE_EMPTY
#undef SOCKET

const struct route_row route_rows[] = {
#define ONE(type_)    .answer = ROUTE_ANSWER_ONE, .of = type_##_type
#define LIST(type_)   .answer = ROUTE_ANSWER_LIST, .of = type_##_type
#define EVENTS(type_) .answer = ROUTE_ANSWER_EVENTS, .of = type_##_type
#define BYTES(media_) .answer = ROUTE_ANSWER_BYTES, .media = media_
#define NOTHING       .answer = ROUTE_ANSWER_NOTHING
#define ROUTE(method_, path_, name_, role_, gives_, status_, text_) \
	{ .kind = ROUTE_ROW_DOOR,                                   \
	  .method = #method_,                                       \
	  .path = path_,                                            \
	  .name = #name_,                                           \
	  .role = ROLE_##role_,                                     \
	  .status = status_,                                        \
	  .text = text_,                                            \
	  gives_ },
#define ROUTE_BODY(method_, path_, name_, role_, takes_, gives_, status_, text_) \
	{ .kind = ROUTE_ROW_DOOR,                                                \
	  .method = #method_,                                                    \
	  .path = path_,                                                         \
	  .name = #name_,                                                        \
	  .role = ROLE_##role_,                                                  \
	  .takes = takes_##_type,                                                \
	  .status = status_,                                                     \
	  .text = text_,                                                         \
	  gives_ },
#define SOCKET(path_, name_, role_, text_) \
	{ .kind = ROUTE_ROW_SOCKET,        \
	  .method = "GET",                 \
	  .path = path_,                   \
	  .name = #name_,                  \
	  .role = ROLE_##role_,            \
	  .text = text_ },
#define QUERY(name_, type_, text_) \
	{ .kind = ROUTE_ROW_QUERY, .name = #name_, .of = type_##_type, .text = text_ },
#define ALSO(gives_, status_, text_) \
	{ .kind = ROUTE_ROW_ALSO, .status = status_, .text = text_, gives_ },
#define NO_KEY       { .kind = ROUTE_ROW_NO_KEY },
#define MAY_BE_EMPTY { .kind = ROUTE_ROW_MAY_BE_EMPTY },
#include "contracts/routes.def"
#undef ONE
#undef LIST
#undef EVENTS
#undef BYTES
#undef NOTHING
#undef ROUTE
#undef ROUTE_BODY
	{ .kind = ROUTE_ROW_END },
};

bool route_row_belongs(const struct route_row *row)
{
	return row->kind == ROUTE_ROW_QUERY || row->kind == ROUTE_ROW_ALSO ||
	       row->kind == ROUTE_ROW_NO_KEY || row->kind == ROUTE_ROW_MAY_BE_EMPTY;
}

bool route_row_needs_key(const struct route_row *row)
{
	ROUTES_OF(row, item)
	if (item->kind == ROUTE_ROW_NO_KEY)
		return false;
	return true;
}

bool route_row_parameter(struct str *rest, struct str *out_name)
{
	struct str segment;
	while (str_cut(rest, '/', &segment))
		if (str_starts(segment, S("{")) && str_ends(segment, S("}"))) {
			*out_name = str_head(str_skip(segment, 1), segment.size - 2);
			return true;
		}
	return false;
}

struct str route_row_operation(const struct route_row *row, struct arena *arena)
{
	struct str rest = str_from_c(row->path), name;
	for (const struct route_row *before = route_rows; before < row; before++)
		if (before->kind == ROUTE_ROW_DOOR && strcmp(before->name, row->name) == 0 &&
		    route_row_parameter(&rest, &name))
			return str_format(arena, "%s_" STR_FMT, row->name, STR_ARG(name));
	return str_from_c(row->name);
}
