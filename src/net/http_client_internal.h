/* net/http_client_internal.h -- shared by http_client.c (calls), http_client_loop.c (sockets and
 * timers of libcurl on the loop) and http_client_words.c (addresses and headers). */
#ifndef NET_HTTP_CLIENT_INSIDE_H
#define NET_HTTP_CLIENT_INSIDE_H

#include "base/buf.h"
#include "base/slots.h"
#include "net/curl_library.h"
#include "net/http_client.h"

struct http_client {
	struct loop *loop;
	const struct curl_library *curl; /* NULL until the first call */
	CURLM *multi;
	struct address_range *ranges;
	size_t range_count;
	int own_port;
	struct slots calls;
	uint64_t timer; /* libcurl's */
	struct http_client_counts counts;
};

/* Opens libcurl and its multi handle. */
MUST_CHECK bool http_client_need_curl(struct http_client *client, struct error *error);
void http_client_drop_curl(struct http_client *client);
/* Reads the text against the address before (NULL = none) into libcurl's memory.  Only http and
 * https, nobody's password. */
MUST_CHECK bool http_client_read_url(struct http_client *client, const char *base, const char *text,
				     char **out_url, struct error *error);
bool http_client_same_origin(struct http_client *client, const char *one, const char *other);
MUST_CHECK bool http_client_check_headers(const struct http_call *call, struct error *error);
/* libcurl has come on: calls that are over are told. */
void http_client_check(struct http_client *client);

#endif
