/* Routing: the route of a request, and the values of its path and query. */
#include <criterion/criterion.h>

#include "api/api_internal.h"
#include "base/packed.h"

/* The handlers refer to the embedded files of the dashboard; this test has none. */
const struct packed_file packed_web[] = { { 0 } };

static struct arena arena;
static struct http_request request;
static struct error error;

static void end(void)
{
	arena_done(&arena);
}

TestSuite(route, .fini = end);

static struct api_call *ask(const char *method, const char *path, const char *query)
{
	struct api_call *call = arena_new(&arena, struct api_call);
	request = (struct http_request){ .method = str_from_c(method),
					 .path = str_from_c(path),
					 .query = str_from_c(query) };
	call->arena = &arena;
	call->request = &request;
	return call;
}

static const struct route *find(const char *method, const char *path, bool socket)
{
	struct api_call *call = ask(method, path, "");
	return route_find(call, socket, &error) ? call->route : NULL;
}

static bool is(const struct route *route, const char *name)
{
	return route != NULL && str_equal(route->name, str_from_c(name));
}

Test(route, words_and_ids)
{
	cr_assert(is(find("GET", "/api/runs", false), "run_list"));
	cr_assert(is(find("HEAD", "/api/runs", false), "run_list"));
	struct api_call *call =
		ask("GET", "/api/runs/01234567-89ab-4cde-8f01-23456789abcd/events", "");
	cr_assert(route_find(call, false, &error));
	cr_assert(is(call->route, "run_events"));
	cr_assert_eq(call->id.bytes[1], 0x23);
	cr_assert(find("GET", "/api/runs/7/events", false) == NULL);
	cr_assert_eq(error.code, ERROR_NOT_FOUND);
}

Test(route, names_are_unescaped_segment_by_segment)
{
	struct api_call *call = ask("GET", "/api/profiles/a%20b%C3%A4", "");
	cr_assert(route_find(call, false, &error));
	cr_assert(str_equal(api_name(call, S("name")), S("a b\xc3\xa4")));
	cr_assert(str_equal(api_name(call, S("agent")), S("")));
	call = ask("GET", "/api/profiles/p/agents/dev", "");
	cr_assert(route_find(call, false, &error));
	cr_assert(str_equal(api_name(call, S("name")), S("p")));
	cr_assert(str_equal(api_name(call, S("agent")), S("dev")));
	static const char *const nothing[] = { "/api/profiles/a%2Fb", "/api/profiles/%2E%2E",
					       "/api/profiles/.", "/api/profiles/" };
	for (size_t i = 0; i < COUNT(nothing); i++) {
		cr_assert(find("GET", nothing[i], false) == NULL, "%s", nothing[i]);
		cr_assert_eq(error.code, ERROR_NOT_FOUND);
	}
}

Test(route, escapes_that_are_none)
{
	static const char *const wrong[] = { "/%", "/%4", "/a%zz", "/%00", "/%ff", "/a/%c3%28/b" };
	for (size_t i = 0; i < COUNT(wrong); i++) {
		cr_assert(find("GET", wrong[i], false) == NULL, "%s", wrong[i]);
		cr_assert_eq(error.code, ERROR_USAGE);
	}
}

Test(route, other_methods)
{
	struct api_call *call = ask("PATCH", "/api/keys", "");
	cr_assert(!route_find(call, false, &error));
	cr_assert_eq(error.code, ERROR_METHOD_NOT_ALLOWED);
	cr_assert(str_equal(call->allow, S("GET, HEAD, POST, OPTIONS")), STR_FMT,
		  STR_ARG(call->allow));
	call = ask("OPTIONS", "/api/keys", "");
	cr_assert(route_find(call, false, &error));
	cr_assert(is(call->route, "options") && !route_changes(call->route));
	cr_assert(find("OPTIONS", "/nowhere", false) == NULL);
}

Test(route, who_needs_a_key_and_what_changes_something)
{
	cr_assert(!route_needs_key(find("GET", "/health/live", false)));
	cr_assert(!route_needs_key(find("GET", "/health/ready", false)));
	cr_assert(!route_needs_key(find("GET", "/api/health", false)));
	cr_assert(route_needs_key(find("GET", "/health", false)));
	cr_assert(route_needs_key(find("OPTIONS", "/health/live", false)));
	cr_assert(route_changes(find("POST", "/api/run", false)));
	cr_assert(!route_changes(find("GET", "/api/runs", false)));
	cr_assert(find("GET", "/ws/events", true)->kind == ROUTE_SOCKET);
}

static bool query(struct api_call *call)
{
	return route_find(call, false, &error) && route_query(call, &error);
}

Test(route, parameters)
{
	struct api_call *call = ask("GET", "/api/events", "limit=3&&run=a%2Bb+c&view");
	cr_assert(query(call), "%s", error.text);
	cr_assert(str_equal(api_query(call, S("limit")), S("3")));
	cr_assert(str_equal(api_query(call, S("run")), S("a+b c")));
	cr_assert(str_equal(api_query(call, S("view")), S("")));
	int64_t number;
	cr_assert(api_query_int(call, S("limit"), 1, 3, 7, &number, &error) && number == 3);
	cr_assert(!api_query_int(call, S("limit"), 4, 9, 7, &number, &error));
	cr_assert(api_query_int(call, S("after"), 4, 9, 7, &number, &error) && number == 7);
	static const char *const wrong[] = { "limit=1&limit=1", "limit=%zz", "other=1",
					     "%6Cimit=1&limit=2", "=1" };
	for (size_t i = 0; i < COUNT(wrong); i++) {
		cr_assert(!query(ask("GET", "/api/events", wrong[i])), "%s", wrong[i]);
		cr_assert_eq(error.code, ERROR_USAGE);
	}
}
