/* net/http_client_internal.h -- shared by http_client.c (calls), http_client_loop.c (sockets and
 * timers of libcurl on the loop) and http_client_url.c (URLs and headers). */
#ifndef NET_HTTP_CLIENT_INTERNAL_H
#define NET_HTTP_CLIENT_INTERNAL_H

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
	const char *setting; /* names the setting with the ranges */
	size_t most_calls, kept_connections;
	struct slots calls;
	uint64_t timer; /* the timeout that libcurl asked for */
	struct http_client_counts counts;
};

/* Loads libcurl and creates the multi handle, unless that has been done. */
MUST_CHECK bool http_client_open_curl(struct http_client *client, struct error *error);
void http_client_close_curl(struct http_client *client);
/* Parses a URL, relative to `base` unless that is NULL; *out_url is in libcurl's memory.  Only http
 * and https, without user and password. */
MUST_CHECK bool http_client_read_url(struct http_client *client, const char *base, const char *text,
				     char **out_url, struct error *error);
/* The same for smtp and smtps. */
MUST_CHECK bool http_client_read_mail_url(struct http_client *client, const char *text,
					  char **out_url, struct error *error);
/* Sets the options of a mail; returns the recipients, which the caller frees with the handle. */
struct curl_slist *http_client_set_mail(struct http_client *client, CURL *easy,
					const struct http_mail *mail, size_t size);
bool http_client_same_origin(struct http_client *client, const char *one, const char *other);
MUST_CHECK bool http_client_check_headers(const struct http_call *call, struct error *error);
/* Completes the calls that libcurl has finished. */
void http_client_check(struct http_client *client);

#endif
