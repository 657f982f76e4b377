/* The request parser: valid and invalid requests, and input split at any byte. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "net/http_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Feeds everything at once; the fuzz target compares every way to split the input. */
static void feed(struct http_parse *parse, struct str bytes)
{
	char *input = malloc(bytes.size + 1);
	memcpy(input + 1, bytes.at, bytes.size);
	for (int seed = 0; seed < 20; seed++) {
		input[0] = (char)seed;
		LLVMFuzzerTestOneInput((const uint8_t *)input, bytes.size + 1);
	}
	free(input);
	http_parse_init(parse);
	http_parse_feed(parse, bytes);
}

static void expect_refused(struct str bytes, enum error_code code)
{
	struct http_parse parse;
	feed(&parse, bytes);
	cr_assert_eq(parse.state, HTTP_PARSE_REFUSED, "state %d: " STR_FMT, (int)parse.state,
		     STR_ARG(bytes));
	cr_assert_eq(parse.code, code, "%s: " STR_FMT, parse.detail, STR_ARG(bytes));
	http_parse_done(&parse);
}

static void expect_body(struct str bytes, struct str body)
{
	struct http_parse parse;
	struct http_request request;
	feed(&parse, bytes);
	cr_assert_eq(parse.state, HTTP_PARSE_WHOLE, "%d %s: " STR_FMT, (int)parse.state,
		     parse.detail == NULL ? "" : parse.detail, STR_ARG(bytes));
	http_parse_request(&parse, &request);
	cr_assert(str_equal(request.body, body));
	http_parse_done(&parse);
}

#define GET  "GET / HTTP/1.1\r\n"
#define POST "POST / HTTP/1.1\r\nHost: a\r\n"

Test(parse, a_request_in_full)
{
	struct http_parse parse;
	struct http_request request = { 0 };
	feed(&parse, S("\r\nPUT /a%20b/c?x=1&y=? HTTP/1.1\r\nHost: here:80\r\nEmpty:\r\n"
		       "X-Blank: \t a b \t\r\nContent-Length: 3\r\n\r\nabc"));
	cr_assert_eq(parse.state, HTTP_PARSE_WHOLE);
	http_parse_request(&parse, &request);
	cr_assert(str_equal(request.method, S("PUT")));
	cr_assert(str_equal(request.path, S("/a%20b/c")));
	cr_assert(str_equal(request.query, S("x=1&y=?")));
	cr_assert(str_equal(request.body, S("abc")));
	cr_assert_eq(request.header_count, 4);
	cr_assert(str_equal(http_header(&request, S("HOST")), S("here:80")));
	cr_assert(str_equal(http_header(&request, S("x-blank")), S("a b")));
	cr_assert(str_equal(http_header(&request, S("empty")), S("")));
	cr_assert(str_equal(http_header(&request, S("absent")), S("")));
	cr_assert(parse.keep_alive && !parse.old && !parse.head_only && !parse.wants_continue);
	http_parse_done(&parse);
}

static void expect_target(struct str bytes, struct str host, struct str path, struct str query)
{
	struct http_parse parse;
	struct http_request request = { 0 };
	feed(&parse, bytes);
	cr_assert_eq(parse.state, HTTP_PARSE_WHOLE, "%s: " STR_FMT,
		     parse.detail == NULL ? "" : parse.detail, STR_ARG(bytes));
	http_parse_request(&parse, &request);
	cr_expect(str_equal(http_header(&request, S("host")), host), STR_FMT, STR_ARG(bytes));
	cr_expect(str_equal(request.path, path), STR_FMT, STR_ARG(bytes));
	cr_expect(str_equal(request.query, query), STR_FMT, STR_ARG(bytes));
	http_parse_done(&parse);
}

Test(parse, the_host_of_an_absolute_target_counts)
{
	expect_target(S("GET http://here:80/a/b?c=d HTTP/1.1\r\nHost: here:80\r\n\r\n"),
		      S("here:80"), S("/a/b"), S("c=d"));
	expect_target(S("GET http://evil/ HTTP/1.1\r\nX: y\r\nHost: here\r\n\r\n"), S("evil"),
		      S("/"), S(""));
	expect_target(S("GET http://here/ HTTP/1.1\r\nHost: evil\r\n\r\n"), S("here"), S("/"),
		      S(""));
	expect_target(S("GET HTTP://[::1]:8 HTTP/1.1\r\nHost: a\r\n\r\n"), S("[::1]:8"), S("/"),
		      S(""));
	expect_target(S("GET http://a?x=/y HTTP/1.1\r\nHost: a\r\n\r\n"), S("a"), S("/"),
		      S("x=/y"));
	expect_target(S("OPTIONS http://a HTTP/1.1\r\nHost: b\r\n\r\n"), S("a"), S("*"), S(""));
	expect_target(S("GET http://a/b HTTP/1.0\r\n\r\n"), S("a"), S("/b"), S(""));
}

Test(parse, an_absolute_target_without_room_for_its_host)
{
	AUTO(buf) text = { 0 };
	buf_add(&text, S("GET http://a/ HTTP/1.0\r\n"));
	for (int i = 0; i < LIMIT_HTTP_HEADERS; i++)
		buf_add(&text, S("X: y\r\n"));
	buf_add(&text, S("\r\n"));
	expect_refused(buf_str(&text), ERROR_HEADERS_TOO_LARGE);
}

Test(parse, tabs_around_values)
{
	expect_body(S("POST / HTTP/1.1\r\nHost:\ta\t\r\nContent-Length:\t3\t \t\r\n\r\nabc"),
		    S("abc"));
	expect_body(S(POST "Transfer-Encoding:\tchunked\t\r\n\r\n3\r\nabc\r\n0\r\n\r\n"), S("abc"));
	struct http_parse parse;
	struct http_request request = { 0 };
	feed(&parse, S(GET "Host: a\r\nConnection:\tclose\t\r\nX:\ta\tb\t\r\nY:\t\r\n\r\n"));
	cr_assert_eq(parse.state, HTTP_PARSE_WHOLE);
	http_parse_request(&parse, &request);
	cr_assert_not(parse.keep_alive);
	cr_assert(str_equal(http_header(&request, S("X")), S("a\tb")));
	cr_assert(str_equal(http_header(&request, S("Y")), S("")));
	http_parse_done(&parse);
	expect_refused(S("GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n"), ERROR_SYNTAX);
	expect_refused(S(GET "Host: a\r\nX\t: b\r\n\r\n"), ERROR_SYNTAX);
	expect_refused(S(POST "Content-Length: 3\t3\r\n\r\nabc"), ERROR_SYNTAX);
}

Test(parse, bodies)
{
	expect_body(S(POST "Content-Length: 0\r\n\r\n"), S(""));
	expect_body(S(POST "\r\n"), S(""));
	expect_body(S(POST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), S(""));
	expect_body(S(POST "Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n"
			   "0\r\n\r\n"),
		    S("abc0123456789"));
	expect_body(S(POST "Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nhi"),
		    S("hi"));
	expect_body(S(GET "Host: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"), S(""));
	expect_body(S("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"), S(""));
	expect_body(S("GET / HTTP/1.0\r\n\r\n"), S(""));
}

Test(parse, keeping_alive)
{
	static const struct {
		const char *text;
		bool keep, old;
	} cases[] = {
		{ GET "Host: a\r\n\r\n", true, false },
		{ GET "Host: a\r\nConnection: close\r\n\r\n", false, false },
		{ GET "Host: a\r\nConnection: x, Close\r\n\r\n", false, false },
		{ "GET / HTTP/1.0\r\n\r\n", false, true },
		{ "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true, true },
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct http_parse parse;
		feed(&parse, str_from_c(cases[i].text));
		cr_assert_eq(parse.state, HTTP_PARSE_WHOLE);
		cr_assert_eq(parse.keep_alive, cases[i].keep, "%s", cases[i].text);
		cr_assert_eq(parse.old, cases[i].old);
		http_parse_done(&parse);
	}
}

Test(parse, what_is_ambiguous_is_refused)
{
	static const char *const wrong[] = {
		/* hosts */
		GET "\r\n",
		GET "Host: a\r\nHost: a\r\n\r\n",
		GET "Host: a\r\nhost: b\r\n\r\n",
		GET "Host: a b\r\n\r\n",
		GET "Host: a,b\r\n\r\n",
		GET "Host: x@a\r\n\r\n",
		"GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
		/* lengths */
		POST "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
		POST "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
		POST "Content-Length: 3, 3\r\n\r\nabc",
		POST "Content-Length: +3\r\n\r\nabc",
		POST "Content-Length: -1\r\n\r\n",
		POST "Content-Length: 0x3\r\n\r\nabc",
		POST "Content-Length: 3 3\r\n\r\nabc",
		POST "Content-Length:\r\n\r\n",
		POST "Content-Length: 99999999999999999999999\r\n\r\n",
		POST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		POST "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
		POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		POST "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
		POST "Transfer-Encoding: identity\r\n\r\n",
		POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		POST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
		POST "Transfer-Encoding:\r\n\r\n",
		"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		/* lines */
		"GET / HTTP/1.1\nHost: a\n\n",
		GET "Host: a\n\r\n",
		GET "Host: a\r\n\n",
		GET "Host: a\rX: b\r\n\r\n",
		GET "Host: a\r\n X: b\r\n\r\n",
		GET "Host: a\r\nX: b\r\n\tc\r\n\r\n",
		GET " Host: a\r\n\r\n",
		GET "Host : a\r\n\r\n",
		GET "Host: a\r\n: b\r\n\r\n",
		GET "Host: a\r\nno colon\r\n\r\n",
		GET "Host: a\r\nX\x01Y: b\r\n\r\n",
		GET "Host: a\r\nX: \x7f\r\n\r\n",
		GET "Host: a\r\nX(: b\r\n\r\n",
		/* request lines */
		"GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET http://a/#x HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET http://a/ HTTP/1.1\r\n\r\n",
		"GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
		"GET http://a/ HTTP/1.1\r\nHost: a/b\r\n\r\n",
		"GET ?x HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET a HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET * HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /#x HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
		" GET / HTTP/1.1\r\nHost: a\r\n\r\n",
		"get / HTTP/1.1\r\nHost: a\r\n\r\n",
		"BREW / HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
		"GET / HTTP/1.2\r\nHost: a\r\n\r\n",
		"GET / HTTP/0.9\r\nHost: a\r\n\r\n",
		"GET / HTTP/11\r\nHost: a\r\n\r\n",
		"GET /\r\n\r\n",
		"GET / ICE/1.0\r\nHost: a\r\n\r\n",
		"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"\x16\x03\x01\x02",
		/* chunks */
		POST "Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n",
		POST "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
		POST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\n0\r\n\r\n",
		POST "Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n",
		POST "Transfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n",
		POST "Transfer-Encoding: chunked\r\n\r\n 3\r\nabc\r\n0\r\n\r\n",
		POST "Transfer-Encoding: chunked\r\n\r\n3 \r\nabc\r\n0\r\n\r\n",
		POST "Transfer-Encoding: chunked\r\n\r\n3;x\nabc\r\n0\r\n\r\n",
		POST "Transfer-Encoding: chunked\r\n\r\n0\r\n\n",
		POST "Transfer-Encoding: chunked\r\n\r\n0\r\nTrailer: x\r\n\r\n",
		POST "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
	};
	for (size_t i = 0; i < COUNT(wrong); i++)
		expect_refused(str_from_c(wrong[i]), ERROR_SYNTAX);
	expect_refused(S(GET "Host: a\r\nX: a\0b\r\n\r\n"), ERROR_SYNTAX);
}

Test(parse, limits_of_the_head)
{
	AUTO(buf) text = { 0 };
	buf_add(&text, S(GET "Host: a\r\nX: "));
	while (text.size < LIMIT_HTTP_HEADER_BYTES - 4)
		buf_add_char(&text, 'x');
	buf_add(&text, S("\r\n\r\n"));
	expect_body(buf_str(&text), S(""));
	buf_clear(&text);
	buf_add(&text, S(GET "Host: a\r\nX: "));
	while (text.size < LIMIT_HTTP_HEADER_BYTES - 3)
		buf_add_char(&text, 'x');
	buf_add(&text, S("\r\n\r\n"));
	expect_refused(buf_str(&text), ERROR_HEADERS_TOO_LARGE);

	buf_clear(&text);
	buf_add(&text, S(GET "Host: a\r\n"));
	for (int i = 1; i < LIMIT_HTTP_HEADERS; i++)
		buf_add(&text, S("a: b\r\n"));
	size_t before = text.size;
	buf_add(&text, S("\r\n"));
	expect_body(buf_str(&text), S(""));
	text.size = before;
	buf_add(&text, S("a: b\r\n\r\n"));
	expect_refused(buf_str(&text), ERROR_HEADERS_TOO_LARGE);
}

Test(parse, limits_of_the_body)
{
	expect_refused(S(POST "Content-Length: 2097153\r\n\r\n"), ERROR_TOO_LARGE);
	expect_refused(S(POST "Transfer-Encoding: chunked\r\n\r\n200001\r\n"), ERROR_TOO_LARGE);
	expect_refused(S(POST "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n200000\r\n"),
		       ERROR_TOO_LARGE);
	struct http_parse parse;
	feed(&parse, S(POST "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n1fffff\r\n"));
	cr_assert_eq(parse.state, HTTP_PARSE_BODY);
	http_parse_done(&parse);
}

Test(parse, chunk_framing_is_bounded_too)
{
	struct http_parse parse;
	http_parse_init(&parse);
	http_parse_feed(&parse, S(POST "Transfer-Encoding: chunked\r\n\r\n1;"));
	char name[65536];
	memset(name, 'n', sizeof(name));
	size_t rounds = 0;
	while (parse.state == HTTP_PARSE_BODY && rounds < 100000) {
		http_parse_feed(&parse, (struct str){ name, sizeof(name) });
		rounds++;
	}
	cr_assert_eq(parse.state, HTTP_PARSE_REFUSED);
	cr_assert_eq(parse.code, ERROR_TOO_LARGE);
	cr_assert_eq(rounds, LIMIT_HTTP_FRAMING_BYTES / sizeof(name));
	http_parse_done(&parse);
}

Test(parse, one_after_the_other)
{
	struct http_parse parse;
	struct str rest = S(POST "Content-Length: 2\r\nExpect: 100-continue\r\n\r\nab" GET
				 "Host: b\r\n\r\nHEAD /x HTTP/1.1\r\nHost: c\r\n\r\nGET");
	feed(&parse, rest);
	http_parse_done(&parse);
	http_parse_init(&parse);
	struct http_request request;
	size_t used = http_parse_feed(&parse, rest);
	cr_assert_eq(parse.state, HTTP_PARSE_WHOLE);
	http_parse_request(&parse, &request);
	cr_assert(str_equal(request.body, S("ab")));
	rest = str_skip(rest, used);
	http_parse_next(&parse);
	cr_assert(!http_parse_begun(&parse));
	rest = str_skip(rest, http_parse_feed(&parse, rest));
	http_parse_request(&parse, &request);
	cr_assert_eq(request.body.size, 0);
	cr_assert(str_equal(http_header(&request, S("host")), S("b")));
	http_parse_next(&parse);
	rest = str_skip(rest, http_parse_feed(&parse, rest));
	cr_assert(parse.head_only);
	http_parse_next(&parse);
	rest = str_skip(rest, http_parse_feed(&parse, rest));
	cr_assert_eq(rest.size, 0);
	cr_assert_eq(parse.state, HTTP_PARSE_HEAD);
	cr_assert(http_parse_begun(&parse));
	http_parse_done(&parse);
}
