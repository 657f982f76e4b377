/* The HTTP server with raw clients: framing, keep-alive, streams, disconnecting clients, drain. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net_rig.h"

static struct rig rig;

static void open_rig(void)
{
	rig_open(&rig, NULL);
}

static void close_rig(void)
{
	rig_close(&rig);
}

TestSuite(http, .init = open_rig, .fini = close_rig);

static void expect(int client, int status, const char *body)
{
	AUTO(response) response;
	client_read(client, false, &response);
	cr_assert_eq(response.status, status, "%s", response.head.at);
	cr_assert(str_equal(buf_str(&response.body), str_from_c(body)), "got " STR_FMT,
		  STR_ARG(buf_str(&response.body)));
}

static void expect_problem(int client, int status, const char *code)
{
	AUTO(response) response;
	client_read(client, false, &response);
	cr_assert_eq(response.status, status, "%s", response.head.at);
	cr_assert(response_has(&response, "Content-Type: application/problem+json"));
	cr_assert(response_has(&response, "Connection: close"));
	buf_add_char(&response.body, '\0');
	cr_assert_not_null(strstr(response.body.at, "\"type\":\"about:blank\""));
	cr_assert_not_null(strstr(response.body.at, code), "%s", response.body.at);
	cr_assert(client_at_end(client));
}

Test(http, a_connection_serves_many_requests)
{
	int client = client_open(&rig);
	for (int i = 0; i < 5; i++) {
		client_send(client, "GET /echo?a=b HTTP/1.1\r\nHost: x\r\n\r\n");
		expect(client, 200, "GET /echo?a=b ");
	}
	client_send(client, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel");
	client_send(client, "lo");
	expect(client, 200, "POST /echo? hello");
	client_send(client, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
			    "3\r\nabc\r\n");
	client_send(client, "2\r\nde\r\n0\r\n\r\n");
	expect(client, 200, "POST /echo? abcde");
	client_send(client, "GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	AUTO(response) last;
	client_read(client, false, &last);
	cr_assert(response_has(&last, "Connection: close\r\n"));
	cr_assert(response_has(&last, "\r\nDate: "));
	cr_assert(response_has(&last, " GMT\r\n"));
	cr_assert(client_at_end(client));
	close(client);
}

Test(http, pipelined_requests_are_answered_in_order_one_at_a_time)
{
	int client = client_open(&rig);
	client_send(client, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n"
			    "GET /echo?2 HTTP/1.1\r\nHost: x\r\n\r\n"
			    "POST /echo?3 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nz"
			    "GET /later HTTP/1.1\r\nHost: x\r\n\r\n"
			    "GET /echo?5 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
			    "GET /echo?6 HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_wait(&rig, RIG_REQUEST, 1);
	rig_reply(&rig);
	expect(client, 200, "late");
	expect(client, 200, "GET /echo?2 ");
	expect(client, 200, "POST /echo?3 z");
	rig_wait(&rig, RIG_REQUEST, 4);
	rig_reply(&rig);
	expect(client, 200, "late");
	expect(client, 200, "GET /echo?5 ");
	cr_assert(client_at_end(client));
	cr_assert_eq(rig_count(&rig, RIG_REQUEST), 5);
	close(client);
}

Test(http, a_flood_of_pipelined_requests_waits_its_turn)
{
	enum { REQUESTS = 3000 };
	int client = client_open(&rig);
	AUTO(buf) text = { 0 };
	for (int i = 0; i < REQUESTS; i++)
		buf_add(&text, S("GET /echo HTTP/1.1\r\nHost: x\r\n\r\n"));
	client_send(client, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
	client_send_bytes(client, text.at, text.size);
	rig_wait(&rig, RIG_REQUEST, 1);
	rig_reply(&rig);
	expect(client, 200, "late");
	for (int i = 0; i < REQUESTS; i++)
		expect(client, 200, "GET /echo? ");
	close(client);
}

Test(http, head_is_get_without_the_body)
{
	int client = client_open(&rig);
	AUTO(response) response;
	client_send(client, "HEAD /large?1234 HTTP/1.1\r\nHost: x\r\n\r\n");
	client_read(client, true, &response);
	cr_assert_eq(response.status, 200);
	cr_assert(response_has(&response, "Content-Length: 1234\r\n"));
	response_done(&response);
	client_send(client, "HEAD /stream?3 HTTP/1.1\r\nHost: x\r\n\r\n");
	client_read(client, true, &response);
	cr_assert(response_has(&response, "Transfer-Encoding: chunked\r\n"));
	client_send(client, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	expect(client, 200, "GET /echo? ");
	close(client);
}

Test(http, statuses_without_a_body_have_none)
{
	int client = client_open(&rig);
	static const int statuses[] = { 204, 304 };
	for (size_t i = 0; i < 2; i++) {
		char text[64];
		AUTO(response) response;
		snprintf(text, sizeof(text), "GET /status?%d HTTP/1.1\r\nHost: x\r\n\r\n",
			 statuses[i]);
		client_send(client, text);
		client_read(client, false, &response);
		cr_assert_eq(response.status, statuses[i]);
		cr_assert(!response_has(&response, "Content-Length"));
	}
	client_send(client, "GET /status?404 HTTP/1.1\r\nHost: x\r\n\r\n");
	expect(client, 404, "text");
	close(client);
}

Test(http, a_header_value_cannot_become_a_header)
{
	int client = client_open(&rig);
	AUTO(response) response;
	client_send(client, "GET /inject HTTP/1.1\r\nHost: x\r\n\r\n");
	client_read(client, false, &response);
	cr_assert(!response_has(&response, "\r\nX-Evil"));
	cr_assert(response_has(&response, "Content-Length: 2\r\n"));
	cr_assert(!response_has(&response, "99"));
	close(client);
}

Test(http, old_clients)
{
	int client = client_open(&rig);
	AUTO(response) response;
	client_send(client, "GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
	client_read(client, false, &response);
	cr_assert(response_has(&response, "Connection: keep-alive\r\n"));
	response_done(&response);
	client_send(client, "GET /stream?2 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
	client_read(client, false, &response);
	cr_assert(!response.chunked);
	cr_assert(response_has(&response, "Connection: close\r\n"));
	cr_assert_eq(response.body.size, 2 * PIECE);
	close(client);
	client = client_open(&rig);
	client_send(client, "GET /echo HTTP/1.0\r\n\r\n");
	expect(client, 200, "GET /echo? ");
	cr_assert(client_at_end(client));
	close(client);
}

Test(http, a_client_that_asks_may_go_on)
{
	int client = client_open(&rig);
	client_send(client, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
			    "Expect: 100-Continue\r\n\r\n");
	expect(client, 100, "");
	client_send(client, "ok");
	expect(client, 200, "POST /echo? ok");
	/* The body has already arrived: no interim response. */
	client_send(client, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
			    "Expect: 100-continue\r\n\r\nok");
	expect(client, 200, "POST /echo? ok");
	/* 413 is sent instead of 100. */
	client_send(client, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n"
			    "Expect: 100-continue\r\n\r\n");
	expect_problem(client, 413, "\"code\":\"too_large\"");
	close(client);
}

Test(http, what_is_not_understood_is_refused_and_closed)
{
	static const struct {
		const char *text;
		int status;
		const char *code;
	} cases[] = {
		{ "GET / HTTP/1.1\r\n\r\n", 400, "\"code\":\"syntax\"" },
		{ "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "\"code\":\"syntax\"" },
		{ "GET / HTTP/1.1\nHost: a\n\n", 400, "\"code\":\"syntax\"" },
		{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
		  "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		  400, "\"code\":\"syntax\"" },
		{ "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400,
		  "\"code\":\"syntax\"" },
		{ "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n", 413,
		  "\"code\":\"too_large\"" },
	};
	static const char behind[] = "GET /echo HTTP/1.1\r\nHost: a\r\n\r\n";
	for (size_t i = 0; i < COUNT(cases); i++) {
		int client = client_open(&rig);
		client_send(client, cases[i].text);
		/* The bytes after it are never treated as a request. */
		send(client, behind, sizeof(behind) - 1, MSG_NOSIGNAL);
		expect_problem(client, cases[i].status, cases[i].code);
		close(client);
	}
	int client = client_open(&rig);
	client_send(client, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
	char filler[LIMIT_HTTP_HEADER_BYTES];
	memset(filler, 'f', sizeof(filler));
	client_send_bytes(client, filler, sizeof(filler));
	expect_problem(client, 431, "\"code\":\"headers_too_large\"");
	close(client);
	cr_assert_eq(rig_count(&rig, RIG_REQUEST), 0);
}

Test(http, the_refusal_reaches_a_client_that_still_sends)
{
	int client = client_open(&rig);
	client_send(client, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n");
	char *body = calloc(1, 3000000);
	for (size_t sent = 0; sent < 3000000;) {
		ssize_t now = send(client, body + sent, 3000000 - sent, MSG_NOSIGNAL);
		if (now <= 0)
			break;
		sent += (size_t)now;
	}
	free(body);
	expect_problem(client, 413, "\"code\":\"too_large\"");
	close(client);
}

Test(http, the_largest_body_arrives)
{
	int client = client_open(&rig);
	AUTO(buf) text = { 0 };
	buf_add_format(&text, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n",
		       LIMIT_HTTP_BODY_BYTES);
	client_send_bytes(client, text.at, text.size);
	memset(buf_reserve(&text, LIMIT_HTTP_BODY_BYTES), 'b', LIMIT_HTTP_BODY_BYTES);
	client_send_bytes(client, text.at + text.size, LIMIT_HTTP_BODY_BYTES);
	AUTO(response) response;
	client_read(client, false, &response);
	cr_assert_eq(response.body.size, strlen("POST /echo? ") + LIMIT_HTTP_BODY_BYTES);
	close(client);
}

Test(http, a_slow_reader_holds_the_stream_back)
{
	enum { PIECES = 2000 };
	int client = client_open(&rig);
	client_send(client, "GET /stream?2000 HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_wait_some(&rig, RIG_REFUSED, 1);
	cr_assert_eq(rig_count(&rig, RIG_ENDED), 0);
	AUTO(response) response;
	client_read(client, false, &response);
	cr_assert(response.chunked);
	cr_assert_eq(response.body.size, (size_t)PIECES * PIECE);
	rig_wait(&rig, RIG_ENDED, 1);
	unsigned refused = rig_count(&rig, RIG_REFUSED);
	cr_assert_geq(refused, 1);
	cr_assert_eq(rig_count(&rig, RIG_WRITABLE), refused);
	client_send(client, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	expect(client, 200, "GET /echo? ");
	cr_assert_eq(rig_count(&rig, RIG_GONE), 0);
	close(client);
}

static void check_none_open(struct rig *tested)
{
	cr_assert_eq(http_open_exchanges(tested->server), 0);
	cr_assert_eq(http_open_exchanges_local(tested->server), 0);
}

static void check_one_open(struct rig *tested)
{
	cr_assert_eq(http_open_exchanges(tested->server), 1);
	cr_assert_eq(http_open_exchanges_local(tested->server), 0);
}

static void check_one_local(struct rig *tested)
{
	cr_assert_eq(http_open_exchanges(tested->server), 1);
	cr_assert_eq(http_open_exchanges_local(tested->server), 1);
}

Test(http, a_client_that_goes_is_gone_once)
{
	/* before anything was sent */
	int client = client_open(&rig);
	client_send(client, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_wait(&rig, RIG_REQUEST, 1);
	rig_call(&rig, check_one_open);
	close(client);
	rig_wait(&rig, RIG_GONE, 1);
	rig_reply(&rig);
	/* in an open stream */
	client = client_open(&rig);
	client_send(client, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_wait(&rig, RIG_REQUEST, 2);
	close(client);
	rig_wait(&rig, RIG_GONE, 2);
	/* with a reset, in a stream that waits for the client */
	client = client_open(&rig);
	client_send(client, "GET /stream?2000 HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_wait_some(&rig, RIG_REFUSED, 1);
	struct linger reset = { .l_onoff = 1, .l_linger = 0 };
	setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(client);
	rig_wait(&rig, RIG_GONE, 3);
	/* between requests, in the middle of a request, and after the response: `gone` is not
	 * called */
	client = client_open(&rig);
	client_send(client, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	expect(client, 200, "GET /echo? ");
	close(client);
	client = client_open(&rig);
	client_send(client, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf");
	close(client);
	client = client_open(&rig);
	client_send(client, "GET /large?2000000 HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_wait(&rig, RIG_REQUEST, 5);
	close(client);
	client = client_open(&rig);
	client_send(client, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	expect(client, 200, "GET /echo? ");
	close(client);
	rig_call(&rig, check_none_open);
	cr_assert_eq(rig_count(&rig, RIG_GONE), 3);
}

static void write_held(struct rig *tested)
{
	cr_assert(http_write(tested->server, tested->exchange, S("")));
	cr_assert(http_write(tested->server, tested->exchange, S(", more")));
	http_end(tested->server, tested->exchange);
	http_end(tested->server, tested->exchange);
	cr_assert(!http_write(tested->server, tested->exchange, S("late")));
}

Test(http, a_stream_is_written_piece_by_piece)
{
	int client = client_open(&rig);
	client_send(client, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_wait(&rig, RIG_REQUEST, 1);
	rig_call(&rig, write_held);
	expect(client, 200, "open, more");
	close(client);
}

Test(http, draining_closes_the_idle_and_waits_for_the_busy)
{
	int idle = client_open(&rig), fresh = client_open(&rig), busy = client_open(&rig);
	client_send(idle, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	expect(idle, 200, "GET /echo? ");
	client_send(busy, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_wait(&rig, RIG_REQUEST, 2);
	rig_drain(&rig);
	cr_assert(client_at_end(idle));
	cr_assert(client_at_end(fresh));
	cr_assert_eq(rig_count(&rig, RIG_DRAINED), 0);
	cr_assert_neq(access(rig.path, F_OK), 0);
	rig_reply(&rig);
	AUTO(response) response;
	client_read(busy, false, &response);
	cr_assert(response_has(&response, "Connection: close\r\n"));
	cr_assert(str_equal(buf_str(&response.body), S("late")));
	cr_assert(client_at_end(busy));
	close(busy);
	rig_wait(&rig, RIG_DRAINED, 1);
	close(idle);
	close(fresh);
	cr_assert_eq(rig_count(&rig, RIG_GONE), 0);
}

Test(http, draining_an_empty_server_ends_too)
{
	rig_drain(&rig);
	rig_wait(&rig, RIG_DRAINED, 1);
}

Test(http, freeing_with_open_clients_tells_nobody)
{
	int client = client_open(&rig), local = client_open_local(rig.path);
	client_send(client, "GET /stream?2000 HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_wait_some(&rig, RIG_REFUSED, 1);
	client_send(local, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_wait(&rig, RIG_REQUEST, 2);
	rig_close(&rig);
	cr_assert_eq(rig.counts[RIG_GONE], 0);
	close(client);
	close(local);
	rig_open(&rig, NULL);
}

Test(http, local_clients_are_known_as_such)
{
	int client = client_open_local(rig.path);
	client_send(client, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_wait(&rig, RIG_REQUEST, 1);
	cr_assert(rig.last_local);
	rig_call(&rig, check_one_local);
	rig_reply(&rig);
	expect(client, 200, "late");
	rig_call(&rig, check_none_open);
	close(client);
	client = client_open(&rig);
	client_send(client, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	expect(client, 200, "GET /echo? ");
	cr_assert(!rig.last_local);
	close(client);
}
