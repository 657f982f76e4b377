/* net/http_client_mail.c -- the options of a call that sends an e-mail.
 *
 * libcurl speaks SMTP.  With `starttls` nothing is sent before TLS is established: a server, or an
 * attacker on the way, that does not offer it gets neither the password nor the message.
 */
#include <string.h>

#include "net/http_client_internal.h"

bool http_client_read_mail_url(struct http_client *client, const char *text, char **out_url,
			       struct error *error)
{
	const struct curl_library *curl = client->curl;
	CURLU *url = curl->curl_url_();
	char *scheme = NULL, *host = NULL, *whole = NULL;
	require(url != NULL);
	bool good =
		curl->curl_url_set_(url, CURLUPART_URL, text, CURLU_DISALLOW_USER) == CURLUE_OK &&
		curl->curl_url_get_(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
		(strcmp(scheme, "smtp") == 0 || strcmp(scheme, "smtps") == 0) &&
		curl->curl_url_get_(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
		host[0] != '\0' && curl->curl_url_get_(url, CURLUPART_URL, &whole, 0) == CURLUE_OK;
	curl->curl_free_(scheme);
	curl->curl_free_(host);
	curl->curl_url_cleanup_(url);
	if (good)
		*out_url = whole;
	else
		fail(error, ERROR_INVALID,
		     "the address of the mail server is not valid; expected smtp://HOST:PORT or "
		     "smtps://HOST:PORT without user and password");
	return good;
}

static struct curl_slist *recipients(const struct curl_library *curl, struct str_list to)
{
	AUTO(arena) arena = { 0 };
	struct curl_slist *list = NULL;
	for (size_t i = 0; i < to.count; i++) {
		list = curl->curl_slist_append_(
			list, str_format(&arena, "<" STR_FMT ">", STR_ARG(to.at[i])).at);
		require(list != NULL);
	}
	return list;
}

struct curl_slist *http_client_set_mail(struct http_client *client, CURL *easy,
					const struct http_mail *mail, size_t size)
{
	AUTO(arena) arena = { 0 };
	const struct curl_library *curl = client->curl;
	struct curl_slist *list = recipients(curl, mail->to);
#define SETOPT(option, value) curl->curl_easy_setopt_(easy, option, value)
	SETOPT(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
	SETOPT(CURLOPT_MAIL_FROM, str_format(&arena, "<" STR_FMT ">", STR_ARG(mail->from)).at);
	SETOPT(CURLOPT_MAIL_RCPT, list);
	SETOPT(CURLOPT_UPLOAD, 1L);
	SETOPT(CURLOPT_INFILESIZE_LARGE, (curl_off_t)size);
	SETOPT(CURLOPT_USE_SSL, mail->starttls ? (long)CURLUSESSL_ALL : (long)CURLUSESSL_NONE);
	/* The state of the last message must not reach the next one. */
	SETOPT(CURLOPT_FRESH_CONNECT, 1L);
	SETOPT(CURLOPT_FORBID_REUSE, 1L);
	if (mail->user.size > 0) {
		SETOPT(CURLOPT_USERNAME, str_c(&arena, mail->user));
		SETOPT(CURLOPT_PASSWORD, str_c(&arena, mail->password));
	}
	if (mail->ca_file != NULL)
		SETOPT(CURLOPT_CAINFO, mail->ca_file);
#undef SETOPT
	return list;
}
