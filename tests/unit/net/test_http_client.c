/* The HTTP client against this project's server, both on one loop. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "net/http_client.h"
#include "net/sse.h"

/* Paths of the server:
 *	/echo        "METHOD path body", with the request's X-Key and Authorization in X-Seen
 *	/hop?N       redirects N times, then "landed"
 *	/away        redirects to the other name of this machine, path /echo
 *	/bad-away    redirects to file:///etc/passwd
 *	/silent      never responds
 *	/half        starts a response and keeps it open
 *	/pieces?N    N pieces of 16 KB
 *	/headers     more headers than the client accepts
 *	/events?N    server-sent events, N bytes per piece
 */
struct world {
	struct loop *loop;
	struct http_server *server;
	struct http_client *client;
	int port;
	long pieces_left;
	uint64_t streaming;
	/* the last call */
	uint64_t call;
	int heads, dones, status;
	struct error error;
	struct buf body, seen;
	size_t refuse_after; /* refuse pieces after this many bytes; 0 = never */
	int refused;
	bool resume_by_itself;
	struct arena arena;
};

static struct world w;

static void send_pieces(void)
{
	static char piece[16384];
	memset(piece, 'p', sizeof(piece));
	while (w.pieces_left > 0 &&
	       http_write(w.server, w.streaming, (struct str){ piece, sizeof(piece) }))
		w.pieces_left--;
	if (w.pieces_left == 0) {
		w.pieces_left = -1;
		http_end(w.server, w.streaming);
	}
}

#define EVENTS                                                                             \
	"\xef\xbb\xbfid: 1\r\nevent: delta\r\ndata: gr\xc3\xbc\xc3\x9f\r\ndata: e\r\n\r\n" \
	": still there\n\ndata: {\"n\": 2}\n\ndata: [DONE]\n\n"

static void send_events(uint64_t exchange, size_t size)
{
	http_begin(w.server, exchange, 200, NULL, 0);
	for (struct str rest = S(EVENTS); rest.size > 0; rest = str_skip(rest, size))
		http_write(w.server, exchange, str_head(rest, size));
	http_end(w.server, exchange);
}

static void redirect(uint64_t exchange, const char *location)
{
	struct http_header header = { S("Location"), str_from_c(location) };
	http_reply(w.server, exchange, 302, &header, 1, S("elsewhere"));
}

static void serve(void *context, const struct http_request *request)
{
	AUTO(arena) arena = { 0 };
	int64_t number = 0;
	uint64_t id = request->exchange;
	(void)context;
	(void)str_to_int(request->query, &number);
	if (str_equal(request->path, S("/hop")) && number > 0) {
		redirect(id, str_format(&arena, "hop?%d", (int)number - 1).at);
	} else if (str_equal(request->path, S("/hop"))) {
		http_reply(w.server, id, 200, NULL, 0, S("landed"));
	} else if (str_equal(request->path, S("/away"))) {
		redirect(id, str_format(&arena, "http://localhost:%d/echo", w.port).at);
	} else if (str_equal(request->path, S("/bad-away"))) {
		redirect(id, "file:///etc/passwd");
	} else if (str_equal(request->path, S("/half"))) {
		http_begin(w.server, id, 200, NULL, 0);
		http_write(w.server, id, S("half"));
	} else if (str_equal(request->path, S("/pieces"))) {
		w.streaming = id;
		w.pieces_left = (long)number;
		http_begin(w.server, id, 200, NULL, 0);
		send_pieces();
	} else if (str_equal(request->path, S("/events"))) {
		send_events(id, (size_t)number);
	} else if (str_equal(request->path, S("/headers"))) {
		char *long_text = arena_take_text(&arena, LIMIT_FETCH_HEADER_BYTES);
		memset(long_text, 'h', LIMIT_FETCH_HEADER_BYTES);
		struct http_header header = { S("X-Long"),
					      { long_text, LIMIT_FETCH_HEADER_BYTES } };
		http_reply(w.server, id, 200, &header, 1, S(""));
	} else if (!str_equal(request->path, S("/silent"))) {
		struct str seen = str_format(&arena, STR_FMT "," STR_FMT,
					     STR_ARG(http_header(request, S("X-Key"))),
					     STR_ARG(http_header(request, S("Authorization"))));
		struct http_header header = { S("X-Seen"), seen };
		http_reply(w.server, id, 200, &header, 1,
			   str_format(&arena, STR_FMT " " STR_FMT " " STR_FMT,
				      STR_ARG(request->method), STR_ARG(request->path),
				      STR_ARG(request->body)));
	}
}

static void writable(void *context, uint64_t exchange)
{
	(void)context;
	(void)exchange;
	send_pieces();
}

static void gone(void *context, uint64_t exchange)
{
	(void)context;
	(void)exchange;
}

static void open_with(const char *allowed, const char *host)
{
	static const struct http_handler handler = { NULL, serve, writable, gone, NULL };
	struct address_range range;
	struct error error;
	memset(&w, 0, sizeof(w));
	cr_assert(loop_new(&w.loop, &error));
	w.server = http_server_new(w.loop, &handler);
	cr_assert(http_listen_tcp(w.server, host, 0, &w.port, &error), "%s", error.text);
	struct http_policy policy = { .ranges = &range, .range_count = allowed != NULL };
	cr_assert(allowed == NULL || address_range_read(str_from_c(allowed), &range, &error));
	w.client = http_client_new(w.loop, &policy);
}

static void setup(void)
{
	open_with("127.0.0.1", "127.0.0.1");
}

static void teardown(void)
{
	http_client_free(w.client);
	http_server_free(w.server);
	loop_free(w.loop);
	buf_done(&w.body);
	buf_done(&w.seen);
	arena_done(&w.arena);
}

TestSuite(http_client, .init = setup, .fini = teardown, .timeout = 6000);

static void head(void *context, uint64_t argument, const struct http_head *told)
{
	(void)context;
	cr_assert_eq(argument, 9);
	cr_assert_eq(w.dones, 0);
	w.heads++;
	w.status = told->status;
	for (size_t i = 0; i < told->header_count; i++)
		if (str_equal_folded(told->headers[i].name, S("x-seen")))
			buf_add(&w.seen, told->headers[i].value);
}

static bool piece(void *context, uint64_t argument, struct str bytes)
{
	(void)context;
	(void)argument;
	cr_assert_eq(w.heads, 1);
	if (w.refuse_after > 0 && w.body.size >= w.refuse_after) {
		w.refused++;
		w.refuse_after = w.resume_by_itself ? w.body.size + 100000 : w.refuse_after;
		if (w.resume_by_itself)
			http_call_resume(w.client, w.call);
		else
			loop_stop(w.loop);
		return false;
	}
	buf_add(&w.body, bytes);
	return true;
}

static void done(void *context, uint64_t argument, const struct error *error)
{
	(void)context;
	cr_assert_eq(argument, 9);
	w.dones++;
	if (error != NULL)
		w.error = *error;
	loop_stop(w.loop);
}

static struct http_call call_to(const char *path)
{
	return (struct http_call){
		.method = "GET",
		.url = str_format(&w.arena, "http://127.0.0.1:%d%s", w.port, path),
		.head = head,
		.piece = piece,
		.done = done,
		.argument = 9,
	};
}

static void begin(const struct http_call *call)
{
	struct error error;
	w.heads = w.dones = w.status = w.refused = 0;
	w.error = (struct error){ 0 };
	buf_clear(&w.body);
	buf_clear(&w.seen);
	cr_assert(http_call_start(w.client, call, &w.call, &error), "%s", error.text);
	cr_assert_eq(w.heads + w.dones, 0);
}

static void fetch(const struct http_call *call)
{
	begin(call);
	loop_run(w.loop);
	cr_assert_eq(w.dones, 1);
	cr_assert_eq(http_client_counts(w.client).under_way, 0);
}

static void fetch_path(const char *path)
{
	struct http_call call = call_to(path);
	fetch(&call);
}

#define expect_body(wanted) \
	cr_assert(str_equal(buf_str(&w.body), S(wanted)), STR_FMT, STR_ARG(buf_str(&w.body)))

Test(http_client, a_request_and_its_answer)
{
	struct http_header header = { S("X-Key"), S("k") };
	struct http_call call = call_to("/echo");
	call.headers = &header;
	call.header_count = 1;
	fetch(&call);
	cr_assert_eq(w.status, 200);
	expect_body("GET /echo ");
	cr_assert(str_equal(buf_str(&w.seen), S("k,")));
	call.method = "PUT";
	call.body = S("text");
	fetch(&call);
	expect_body("PUT /echo text");
	call.method = "POST";
	call.body = S("");
	fetch(&call);
	expect_body("POST /echo ");
	call.method = "HEAD";
	fetch(&call);
	cr_assert_eq(w.status, 200);
	expect_body("");
	cr_assert_eq(w.error.code, ERROR_NONE, "%s", w.error.text);
}

Test(http_client, connections_are_used_again)
{
	for (int i = 0; i < 5; i++)
		fetch_path("/echo");
	cr_assert_eq(http_client_counts(w.client).connections, 1);
}

Test(http_client, redirects_are_followed_to_their_end)
{
	fetch_path("/hop?3");
	cr_assert_eq(w.heads, 1); /* only that of the last hop */
	expect_body("landed");
	fetch_path("/hop?10");
	expect_body("landed");
	fetch_path("/hop?11");
	cr_assert_eq(w.error.code, ERROR_TOO_LARGE, "%s", w.error.text);
	cr_assert_eq(w.heads, 0);
	struct http_call call = call_to("/hop?1");
	call.method = "POST";
	fetch(&call);
	cr_assert_eq(w.status, 302);
	expect_body("elsewhere");
}

Test(http_client, what_is_secret_stays_with_its_origin)
{
	struct http_header headers[] = { { S("Authorization"), S("secret") },
					 { S("X-Key"), S("secret") } };
	struct http_call call = call_to("/away");
	call.headers = headers;
	call.header_count = 2;
	fetch(&call);
	cr_assert_eq(w.error.code, ERROR_NONE, "%s", w.error.text);
	expect_body("GET /echo ");
	cr_assert(str_equal(buf_str(&w.seen), S(",")), STR_FMT, STR_ARG(buf_str(&w.seen)));
}

Test(http_client, a_redirect_leads_only_to_http)
{
	fetch_path("/bad-away");
	cr_assert_eq(w.error.code, ERROR_INVALID);
	cr_assert_not_null(strstr(w.error.text, "redirect: "), "%s", w.error.text);
}

Test(http_client, what_the_taker_refuses_comes_again)
{
	struct http_call call = call_to("/pieces?100");
	w.refuse_after = 50000;
	w.resume_by_itself = true;
	begin(&call);
	w.refuse_after = 50000;
	loop_run(w.loop);
	cr_assert_eq(w.dones, 1);
	cr_assert_gt(w.refused, 5);
	cr_assert_eq(w.body.size, 100 * 16384);
	for (size_t i = 0; i < w.body.size; i++)
		cr_assert_eq(w.body.at[i], 'p');
}

Test(http_client, a_refusing_taker_makes_the_server_wait)
{
	struct http_call call = call_to("/pieces?2000");
	w.resume_by_itself = false;
	call.timeouts.idle_ms = 1; /* does not apply while reading is paused */
	begin(&call);
	w.refuse_after = 1;
	loop_run(w.loop);
	cr_assert_eq(w.dones, 0);
	cr_assert_eq(w.refused, 1);
	cr_assert_gt(w.pieces_left, 500); /* 32 MB do not fit into sockets and queues */
	w.refuse_after = 0;
	struct error why;
	fail(&why, ERROR_CANCELLED, "enough");
	http_call_stop(w.client, w.call, &why);
	loop_run(w.loop);
	cr_assert_eq(w.error.code, ERROR_CANCELLED);
}

static bool note_event(void *context, struct str id, struct str type, struct str data)
{
	buf_add_format(context, "[" STR_FMT "|" STR_FMT "|" STR_FMT "]", STR_ARG(id), STR_ARG(type),
		       STR_ARG(data));
	return true;
}

static struct sse_reader events;

static bool feed_events(void *context, uint64_t argument, struct str bytes)
{
	(void)context;
	(void)argument;
	sse_feed(&events, bytes);
	return true;
}

/* How the server splits a stream of events does not change the events. */
Test(http_client, events_are_the_same_for_every_way_of_cutting_them)
{
	for (size_t size = 1; size <= sizeof(EVENTS); size++) {
		AUTO(buf) notes = { 0 };
		struct http_call call = call_to(str_format(&w.arena, "/events?%zu", size).at);
		call.piece = feed_events;
		sse_reader_init(&events, 256, note_event, &notes);
		fetch(&call);
		cr_assert_eq(w.error.code, ERROR_NONE, "%s", w.error.text);
		cr_assert(str_equal(buf_str(&notes), S("[1|delta|gr\xc3\xbc\xc3\x9f\ne]"
						       "[1||{\"n\": 2}][1||[DONE]]")),
			  "%zu: " STR_FMT, size, STR_ARG(buf_str(&notes)));
		sse_reader_done(&events);
	}
	cr_assert_eq(http_client_counts(w.client).connections, 1);
}

Test(http_client, each_wait_has_its_end)
{
	struct http_call call = call_to("/silent");
	call.timeouts.first_byte_ms = 20;
	fetch(&call);
	cr_assert_eq(w.error.code, ERROR_TIMEOUT);
	cr_assert_not_null(strstr(w.error.text, "no response"), "%s", w.error.text);
	call = call_to("/half");
	call.timeouts.idle_ms = 20;
	fetch(&call);
	cr_assert_eq(w.error.code, ERROR_TIMEOUT);
	cr_assert_not_null(strstr(w.error.text, "no more data"), "%s", w.error.text);
	cr_assert_eq(w.heads, 1);
	call = call_to("/half");
	call.timeouts.total_ms = 20;
	fetch(&call);
	cr_assert_eq(w.error.code, ERROR_TIMEOUT);
	cr_assert_not_null(strstr(w.error.text, "in total"), "%s", w.error.text);
}

/* A listener with a full queue accepts no connection. */
Test(http_client, a_connection_that_never_stands)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	cr_assert_eq(listen(listener, 0), 0);
	cr_assert_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	int fillers[4];
	for (size_t i = 0; i < COUNT(fillers); i++) {
		fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)!connect(fillers[i], (struct sockaddr *)&address, sizeof(address));
	}
	struct http_call call = call_to("/");
	call.url = str_format(&w.arena, "http://127.0.0.1:%d/", ntohs(address.sin_port));
	call.timeouts.connect_ms = 50;
	fetch(&call);
	cr_assert_eq(w.error.code, ERROR_TIMEOUT);
	cr_assert_not_null(strstr(w.error.text, "no connection"), "%s", w.error.text);
	for (size_t i = 0; i < COUNT(fillers); i++)
		close(fillers[i]);
	close(listener);
}

Test(http_client, a_call_is_stopped_at_any_moment)
{
	static const char *const paths[] = { "/silent", "/half", "/pieces?1000", "/hop?5" };
	struct error why;
	fail(&why, ERROR_CANCELLED, "called off");
	for (size_t i = 0; i < COUNT(paths); i++) {
		struct http_call call = call_to(paths[i]);
		begin(&call);
		http_call_stop(w.client, w.call, &why);
		cr_assert_eq(w.dones, 0);
		loop_run(w.loop);
		cr_assert_eq(w.dones, 1);
		cr_assert_eq(w.error.code, ERROR_CANCELLED);
		http_call_stop(w.client, w.call, &why);
		http_call_resume(w.client, w.call);
	}
	fetch_path("/echo");
	cr_assert_eq(w.dones, 1);
}

Test(http_client, an_answer_with_too_many_headers)
{
	fetch_path("/headers");
	cr_assert_eq(w.error.code, ERROR_TOO_LARGE, "%s", w.error.text);
}

Test(http_client, addresses_and_headers_that_are_none)
{
	static const char *const urls[] = { "",
					    "file:///etc/passwd",
					    "ftp://127.0.0.1/",
					    "gopher://127.0.0.1/",
					    "http://user:word@127.0.0.1/",
					    "http://127.0.0.1:99999/",
					    "/relative" };
	static const struct http_header wrong[] = { { { "Host", 4 }, { "other", 5 } },
						    { { "X-A", 3 }, { "a\r\nB: c", 7 } },
						    { { "X A", 3 }, { "a", 1 } },
						    { { "", 0 }, { "a", 1 } },
						    { { "transfer-encoding", 17 }, { "x", 1 } },
						    { { "X-A", 3 }, { "a\0b", 3 } } };
	struct http_call call = call_to("/echo");
	struct error error;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		call.headers = &wrong[i];
		call.header_count = 1;
		cr_assert(!http_call_start(w.client, &call, &w.call, &error), "%zu", i);
		cr_assert_eq(error.code, ERROR_INVALID);
	}
	call.header_count = 0;
	for (size_t i = 0; i < COUNT(urls); i++) {
		call.url = str_from_c(urls[i]);
		cr_assert(!http_call_start(w.client, &call, &w.call, &error), "%s", urls[i]);
		cr_assert_eq(error.code, ERROR_INVALID);
	}
}

Test(http_client, only_so_many_at_once)
{
	struct http_call call = call_to("/silent");
	struct error error;
	uint64_t id;
	for (int i = 0; i < LIMIT_FETCHES; i++)
		cr_assert(http_call_start(w.client, &call, &id, &error));
	cr_assert(!http_call_start(w.client, &call, &id, &error));
	cr_assert_eq(error.code, ERROR_UNAVAILABLE);
}

TestSuite(http_policy, .fini = teardown, .timeout = 60);

/* ---- the policy ---------------------------------------------------------------------- */

Test(http_client, our_own_listener_is_refused_whatever_is_allowed)
{
	http_client_set_own_port(w.client, w.port);
	fetch_path("/echo");
	cr_assert_eq(w.error.code, ERROR_FORBIDDEN, "%s", w.error.text);
	cr_assert_eq(w.heads, 0);
}

Test(http_policy, private_addresses_are_refused_by_whatever_name)
{
	static const char *const names[] = {
		"127.0.0.1", "localhost", "2130706433",         "0x7f.1",
		"[::1]",     "0",         "[::ffff:127.0.0.1]", "127.1"
	};
	open_with(NULL, "127.0.0.1");
	for (size_t i = 0; i < COUNT(names); i++) {
		struct http_call call = call_to("/echo");
		call.url = str_format(&w.arena, "http://%s:%d/echo", names[i], w.port);
		fetch(&call);
		cr_assert_eq(w.error.code, ERROR_FORBIDDEN, "%s: %s", names[i], w.error.text);
		cr_assert_not_null(strstr(w.error.text, "tools.private_addresses"));
	}
	cr_assert_eq(http_client_counts(w.client).connections, 0);
	cr_assert_geq(http_client_counts(w.client).refused, COUNT(names));
}

Test(http_policy, a_redirect_is_judged_like_the_first_address)
{
	struct http_call call;
	open_with("127.0.0.2", "0.0.0.0");
	call = call_to("/away"); /* to localhost, which is not allowed here */
	call.url = str_format(&w.arena, "http://127.0.0.2:%d/away", w.port);
	fetch(&call);
	cr_assert_eq(w.error.code, ERROR_FORBIDDEN, "%s", w.error.text);
	cr_assert_eq(http_client_counts(w.client).connections, 1);
}

Test(address, what_is_public)
{
	static const struct {
		const char *text;
		bool is_public;
	} rows[] = {
		{ "1.1.1.1", true },
		{ "93.184.216.34", true },
		{ "127.0.0.1", false },
		{ "0.0.0.0", false },
		{ "10.1.2.3", false },
		{ "172.15.0.1", true },
		{ "172.16.0.1", false },
		{ "172.31.255.255", false },
		{ "172.32.0.1", true },
		{ "192.168.1.1", false },
		{ "169.254.169.254", false },
		{ "100.64.0.1", false },
		{ "100.128.0.1", true },
		{ "198.19.0.1", false },
		{ "224.0.0.1", false },
		{ "255.255.255.255", false },
		{ "192.0.2.1", false },
		{ "::", false },
		{ "::1", false },
		{ "fe80::1", false },
		{ "fd00::1", false },
		{ "ff02::1", false },
		{ "2606:4700::1111", true },
		{ "2001:db8::1", false },
		{ "2001::1", false },
		{ "2002:7f00:1::", false },
		{ "::ffff:10.0.0.1", false },
		{ "::ffff:1.1.1.1", true },
		{ "64:ff9b::7f00:1", false },
		{ "64:ff9b::101:101", true },
		{ "3fff::1", false },
		{ "2400:cb00::1", true },
		{ "::127.0.0.1", false },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sockaddr_in v4 = { .sin_family = AF_INET };
		struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
		bool is_v4 = inet_pton(AF_INET, rows[i].text, &v4.sin_addr) == 1;
		cr_assert(is_v4 || inet_pton(AF_INET6, rows[i].text, &v6.sin6_addr) == 1);
		const struct sockaddr *address =
			is_v4 ? (const struct sockaddr *)&v4 : (const struct sockaddr *)&v6;
		cr_assert_eq(address_is_public(address), rows[i].is_public, "%s", rows[i].text);
	}
	struct sockaddr other = { .sa_family = AF_UNIX };
	cr_assert(!address_is_public(&other));
}

Test(address, ranges)
{
	static const char *const wrong[] = { "",          "1.2.3",  "1.2.3.4/33",
					     "1.2.3.4/",  "::/129", "a.b",
					     "1.2.3.4/x", "::1/",   "1.2.3.4/8/8" };
	struct address_range range;
	struct error error;
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	inet_pton(AF_INET, "10.20.30.40", &v4.sin_addr);
	const struct sockaddr *address = (const struct sockaddr *)&v4;
	for (size_t i = 0; i < COUNT(wrong); i++)
		cr_assert(!address_range_read(str_from_c(wrong[i]), &range, &error), "%s",
			  wrong[i]);
	cr_assert(address_range_read(S("10.20.16.0/20"), &range, &error));
	cr_assert(address_in(&range, address));
	cr_assert(address_range_read(S("10.20.0.0/20"), &range, &error));
	cr_assert(!address_in(&range, address));
	cr_assert(address_range_read(S("::ffff:10.20.30.40"), &range, &error));
	cr_assert(address_in(&range, address));
	cr_assert(address_range_read(S("0.0.0.0/0"), &range, &error));
	cr_assert(address_in(&range, address));
	cr_assert(address_range_read(S("::/0"), &range, &error));
	cr_assert(address_in(&range, address));
}
