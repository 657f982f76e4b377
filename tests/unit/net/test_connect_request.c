/* Rules of hosts on label boundaries, and requests to the proxy read strictly. */
#include <criterion/criterion.h>

#include "net/connect_request.h"

static struct arena arena;

static void clear(void)
{
	arena_done(&arena);
}

TestSuite(connect_request, .fini = clear);

static bool read_rules(const char *text, struct connect_rules *out_rules)
{
	struct str words[8], rest = str_from_c(text), word;
	struct str_list list = { words, 0 };
	struct error error;
	while (rest.size > 0 && str_cut(&rest, ',', &word))
		words[list.count++] = word;
	return connect_rules_read(list, &arena, out_rules, &error);
}

static bool allows(const char *text, const char *host, int port)
{
	struct connect_rules rules;
	cr_assert(read_rules(text, &rules), "%s", text);
	return connect_rules_allow(&rules, str_from_c(host), port);
}

Test(connect_request, a_host_is_matched_as_a_whole)
{
	cr_assert(allows("Example.com", "example.com", 443));
	cr_assert(allows("example.com.", "example.com", 80));
	cr_assert_not(allows("example.com", "www.example.com", 443));
	cr_assert_not(allows("example.com", "example.com.evil.org", 443));
	cr_assert_not(allows("example.com", "notexample.com", 443));
	cr_assert_not(allows("", "example.com", 443));
}

Test(connect_request, a_star_stands_for_whole_labels)
{
	cr_assert(allows("*.example.com", "a.example.com", 443));
	cr_assert(allows("*.example.com", "b.a.example.com", 443));
	cr_assert_not(allows("*.example.com", "example.com", 443));
	cr_assert_not(allows("*.example.com", "notexample.com", 443));
	cr_assert_not(allows("*.example.com", ".example.com", 443));
	cr_assert_not(allows("*.example.com", "example.com.evil.org", 443));
}

Test(connect_request, ports)
{
	cr_assert_not(allows("example.com", "example.com", 22));
	cr_assert(allows("example.com:22", "example.com", 22));
	cr_assert_not(allows("example.com:22", "example.com", 443));
	cr_assert(allows("example.com,example.com:22", "example.com", 443));
	cr_assert(allows("[2001:db8::1]:8443", "2001:db8::1", 8443));
}

Test(connect_request, rules_that_are_no_hosts)
{
	static const char *const wrong[] = { "*",    "*.*.com", "http://a", "a b",
					     "a:0",  "a:65536", "a:x",      "a:",
					     "a..b", ".a",      "a/b",      "[::1",
					     "a@b",  "*.",      "a:+1",     "a:080000" };
	struct connect_rules rules;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_assert_not(read_rules(wrong[i], &rules), "%s", wrong[i]);
}

static bool reads(const char *head, struct connect_request *out_request, struct buf *forward)
{
	struct error error;
	return connect_request_read(str_from_c(head), &arena, out_request, forward, &error);
}

Test(connect_request, a_tunnel)
{
	struct connect_request request;
	AUTO(buf) forward = { 0 };
	cr_assert(reads("CONNECT A.example.COM.:443 HTTP/1.1\r\nHost: x\r\n\r\n", &request,
			&forward));
	cr_assert(request.tunnel);
	cr_assert(str_equal(request.host, S("a.example.com")));
	cr_assert_eq(request.port, 443);
	cr_assert_eq(forward.size, 0);
	cr_assert(reads("CONNECT [::1]:80 HTTP/1.0\r\n\r\n", &request, &forward));
	cr_assert(str_equal(request.host, S("::1")));
}

Test(connect_request, a_request_in_absolute_form_becomes_one_for_the_host)
{
	struct connect_request request;
	AUTO(buf) forward = { 0 };
	cr_assert(reads("POST HTTP://a.b:81?q HTTP/1.1\r\nHost: c\r\nProxy-Connection: x\r\n"
			"connection: keep-alive\r\nA: 1\r\nContent-Length: 2\r\n\r\n",
			&request, &forward));
	cr_assert_not(request.tunnel);
	cr_assert(str_equal(request.host, S("a.b")));
	cr_assert_eq(request.port, 81);
	cr_assert(str_equal(buf_str(&forward),
			    S("POST /?q HTTP/1.1\r\nHost: a.b:81\r\nA: 1\r\nContent-Length: 2\r\n"
			      "Connection: close\r\n\r\n")),
		  "%.*s", (int)forward.size, forward.at);
}

Test(connect_request, malformed_requests)
{
	static const char *const wrong[] = {
		"GET / HTTP/1.1\r\n\r\n",
		"GET http://a/ HTTP/1.1\r\nbad header: x\r\n\r\n",
		"GET http://a/ HTTP/1.1\r\nnocolon\r\n\r\n",
		"GET http://a/ HTTP/1.1\r\n: x\r\n\r\n",
		"GET http://a/\r\n\r\n",
		"GET  http://a/ HTTP/1.1\r\n\r\n",
		"GET http://a/ HTTP/1.1\nA: 1\r\n\r\n",
		"G(T http://a/ HTTP/1.1\r\n\r\n",
		"CONNECT a HTTP/1.1\r\n\r\n",
		"CONNECT :80 HTTP/1.1\r\n\r\n",
		"CONNECT a:80:90 HTTP/1.1\r\n\r\n",
		"connect a:80 HTTP/1.1\r\n\r\n",
		"GET https://a/ HTTP/1.1\r\n\r\n",
		"\r\n\r\n",
	};
	struct connect_request request;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		AUTO(buf) forward = { 0 };
		cr_assert_not(reads(wrong[i], &request, &forward), "%s", wrong[i]);
	}
}

Test(connect_request, every_prefix_of_a_request_is_incomplete)
{
	static const char head[] = "GET http://a/ HTTP/1.1\r\nA: 1\r\n\r\n";
	for (size_t i = 0; i + 1 < sizeof(head) - 1; i++)
		cr_assert_eq(connect_head_end((struct str){ head, i }), 0);
	cr_assert_eq(connect_head_end(str_from_c(head)), sizeof(head) - 1);
}
