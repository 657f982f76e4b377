/* net/http_client_loop.c -- runs libcurl on the loop.
 *
 * uv_poll watches libcurl's sockets, and libcurl's timeout is a timer of the loop.  Finished
 * transfers are collected after each call into libcurl, never inside one.
 */
#include <stdlib.h>
#include <uv.h>

#include "net/http_client_internal.h"

/* A socket that libcurl wants watched. */
struct socket_watch {
	uv_poll_t poll;
	struct http_client *client;
	curl_socket_t socket;
};

static void watch_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void socket_ready(uv_poll_t *poll, int status, int events)
{
	struct socket_watch *socket_watch = poll->data;
	struct http_client *client = socket_watch->client;
	int running, flags = status < 0 ? CURL_CSELECT_ERR : 0;
	if ((events & UV_READABLE) != 0)
		flags |= CURL_CSELECT_IN;
	if ((events & UV_WRITABLE) != 0)
		flags |= CURL_CSELECT_OUT;
	client->curl->curl_multi_socket_action_(client->multi, socket_watch->socket, flags,
						&running);
	http_client_check(client);
}

static struct socket_watch *watch_new(struct http_client *client, curl_socket_t socket)
{
	struct socket_watch *socket_watch = calloc(1, sizeof(*socket_watch));
	require(socket_watch != NULL);
	socket_watch->client = client;
	socket_watch->socket = socket;
	socket_watch->poll.data = socket_watch;
	require(uv_poll_init_socket(loop_uv(client->loop), &socket_watch->poll, socket) == 0);
	client->curl->curl_multi_assign_(client->multi, socket, socket_watch);
	return socket_watch;
}

/* CURLMOPT_SOCKETFUNCTION. */
static int socket_wanted(CURL *easy, curl_socket_t socket, int what, void *context, void *user)
{
	struct http_client *client = context;
	struct socket_watch *socket_watch = user;
	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (socket_watch != NULL) {
			uv_poll_stop(&socket_watch->poll);
			uv_close((uv_handle_t *)&socket_watch->poll, watch_closed);
			client->curl->curl_multi_assign_(client->multi, socket, NULL);
		}
		return 0;
	}
	if (socket_watch == NULL)
		socket_watch = watch_new(client, socket);
	int events = ((what & CURL_POLL_IN) != 0 ? UV_READABLE : 0) |
		     ((what & CURL_POLL_OUT) != 0 ? UV_WRITABLE : 0);
	require(uv_poll_start(&socket_watch->poll, events, socket_ready) == 0);
	return 0;
}

static void timer_fired(void *context, uint64_t argument)
{
	struct http_client *client = context;
	int running;
	(void)argument;
	client->timer = 0;
	client->curl->curl_multi_socket_action_(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	http_client_check(client);
}

/* CURLMOPT_TIMERFUNCTION. */
static int timer_wanted(CURLM *multi, long delay_ms, void *context)
{
	struct http_client *client = context;
	struct platform *platform = loop_platform(client->loop);
	(void)multi;
	if (client->timer != 0)
		platform_timer_stop(platform, client->timer);
	client->timer = 0;
	if (delay_ms >= 0)
		client->timer = platform_timer_start(platform, (int64_t)delay_ms * 1000,
						     timer_fired, client, 0);
	return 0;
}

bool http_client_open_curl(struct http_client *client, struct error *error)
{
	const struct curl_library *curl;
	if (client->curl != NULL)
		return true;
	if (!curl_library_open(&curl, error))
		return false;
	client->multi = curl->curl_multi_init_();
	require(client->multi != NULL);
	client->curl = curl;
	curl->curl_multi_setopt_(client->multi, CURLMOPT_SOCKETFUNCTION, socket_wanted);
	curl->curl_multi_setopt_(client->multi, CURLMOPT_SOCKETDATA, client);
	curl->curl_multi_setopt_(client->multi, CURLMOPT_TIMERFUNCTION, timer_wanted);
	curl->curl_multi_setopt_(client->multi, CURLMOPT_TIMERDATA, client);
	curl->curl_multi_setopt_(client->multi, CURLMOPT_MAXCONNECTS,
				 (long)client->kept_connections);
	return true;
}

void http_client_close_curl(struct http_client *client)
{
	if (client->multi == NULL)
		return;
	client->curl->curl_multi_cleanup_(client->multi);
	if (client->timer != 0)
		platform_timer_stop(loop_platform(client->loop), client->timer);
}
