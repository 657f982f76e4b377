/* net/http_client_url.c -- checks the URL and the headers of a call. */
#include <string.h>

#include "base/limits.h"
#include "net/http_client_internal.h"

bool http_client_read_url(struct http_client *client, const char *base, const char *text,
			  char **out_url, struct error *error)
{
	const struct curl_library *curl = client->curl;
	CURLU *url = curl->curl_url_();
	char *scheme = NULL, *host = NULL, *whole = NULL;
	require(url != NULL);
	bool good =
		(base == NULL || curl->curl_url_set_(url, CURLUPART_URL, base, 0) == CURLUE_OK) &&
		curl->curl_url_set_(url, CURLUPART_URL, text, CURLU_DISALLOW_USER) == CURLUE_OK &&
		curl->curl_url_get_(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
		(strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) &&
		curl->curl_url_get_(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
		host[0] != '\0' && curl->curl_url_get_(url, CURLUPART_URL, &whole, 0) == CURLUE_OK;
	curl->curl_free_(scheme);
	curl->curl_free_(host);
	curl->curl_url_cleanup_(url);
	if (good)
		*out_url = whole;
	else
		fail(error, ERROR_INVALID,
		     "%.200s is not a valid URL; expected http://HOST/… or https://HOST/… without "
		     "user and password",
		     text);
	return good;
}

bool http_client_same_origin(struct http_client *client, const char *one, const char *other)
{
	static const CURLUPart parts[] = { CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT };
	const struct curl_library *curl = client->curl;
	CURLU *a = curl->curl_url_(), *b = curl->curl_url_();
	require(a != NULL && b != NULL);
	bool same = curl->curl_url_set_(a, CURLUPART_URL, one, 0) == CURLUE_OK &&
		    curl->curl_url_set_(b, CURLUPART_URL, other, 0) == CURLUE_OK;
	for (size_t i = 0; i < COUNT(parts) && same; i++) {
		char *left = NULL, *right = NULL;
		same = curl->curl_url_get_(a, parts[i], &left, CURLU_DEFAULT_PORT) == CURLUE_OK &&
		       curl->curl_url_get_(b, parts[i], &right, CURLU_DEFAULT_PORT) == CURLUE_OK &&
		       str_equal_folded(str_from_c(left), str_from_c(right));
		curl->curl_free_(left);
		curl->curl_free_(right);
	}
	curl->curl_url_cleanup_(a);
	curl->curl_url_cleanup_(b);
	return same;
}

static bool is_token(struct str text)
{
	static const char symbols[] = "!#$%&'*+-.^_`|~";
	for (size_t i = 0; i < text.size; i++) {
		char c = text.at[i];
		bool alnum = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
		if (!alnum && (c == '\0' || strchr(symbols, c) == NULL))
			return false;
	}
	return text.size > 0;
}

/* Headers that the client sets: they frame the message or route it. */
static bool is_reserved_header(struct str name)
{
	static const char *const names[] = { "Host",       "Content-Length", "Transfer-Encoding",
					     "Connection", "Upgrade",        "Proxy-Connection",
					     "TE",         "Trailer",        "Expect",
					     "Keep-Alive" };
	for (size_t i = 0; i < COUNT(names); i++)
		if (str_equal_folded(name, str_from_c(names[i])))
			return true;
	return false;
}

bool http_client_check_headers(const struct http_call *call, struct error *error)
{
	size_t total = 0;
	for (size_t i = 0; i < call->header_count; i++) {
		struct str name = call->headers[i].name, value = call->headers[i].value;
		bool good = is_token(name);
		for (size_t k = 0; k < value.size && good; k++)
			good = (unsigned char)value.at[k] >= 32 ? value.at[k] != 127
								: value.at[k] == '\t';
		if (!good)
			return fail(error, ERROR_INVALID,
				    "header \"" STR_FMT "\" has an invalid name or value",
				    STR_ARG(str_head(name, LIMIT_QUOTE_BYTES)));
		if (is_reserved_header(name))
			return fail(error, ERROR_INVALID,
				    "header " STR_FMT " is set by Baton; remove it", STR_ARG(name));
		total += name.size + value.size;
	}
	return total <= LIMIT_HTTP_HEADER_BYTES ||
	       fail(error, ERROR_TOO_LARGE, "the headers are larger than %d bytes",
		    LIMIT_HTTP_HEADER_BYTES);
}
