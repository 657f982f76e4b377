/* net/http_client.c -- the life of a call: start, redirects, timeouts, end.
 *
 * Starting, resuming and stopping a call goes through a timer without delay, because the caller may
 * be inside one of libcurl's callbacks, where libcurl must not be called.  A callback that detects
 * an error stores it in `failure` and makes libcurl abort the transfer; done() gets `failure`.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "net/http_client_internal.h"

enum phase {
	PHASE_CONNECTING,
	PHASE_WAITING, /* for the first byte */
	PHASE_READING,
	PHASE_PAUSED,
};

struct fetch {
	struct http_client *client;
	uint64_t id;
	struct http_call call;
	struct arena arena; /* holds the copies of the caller's data */
	CURL *easy;
	struct curl_slist *sent; /* headers of the request, or recipients of a mail */
	struct http_mail mail;   /* of a call with `mail` */
	size_t mail_sent;        /* bytes of its message */
	char *url;               /* of this hop, libcurl's memory */
	bool added;              /* the handle is in the multi handle */
	enum phase phase;
	int64_t began, phase_began; /* us, monotonic */
	uint64_t timeout_timer;
	/* the headers of the response */
	struct buf lines; /* "name: value" lines without line ends, each followed by a NUL */
	size_t line_count;
	int status;
	bool head_delivered, redirects;
	size_t hops;
	size_t skipped;       /* bytes of a redirect's body */
	struct error failure; /* the error for done() */
	struct error refusal; /* an address that the policy forbids */
	char reason[CURL_ERROR_SIZE];
};

/* ---- the end ------------------------------------------------------------------------- */

static void fetch_free(struct fetch *fetch)
{
	const struct curl_library *curl = fetch->client->curl;
	if (fetch->added)
		curl->curl_multi_remove_handle_(fetch->client->multi, fetch->easy);
	if (fetch->easy != NULL)
		curl->curl_easy_cleanup_(fetch->easy);
	curl->curl_slist_free_all_(fetch->sent);
	curl->curl_free_(fetch->url);
	platform_timer_stop(loop_platform(fetch->client->loop), fetch->timeout_timer);
	slots_remove(&fetch->client->calls, fetch->id);
	buf_done(&fetch->lines);
	arena_done(&fetch->arena);
	free(fetch);
}

static void fetch_finish(struct fetch *fetch)
{
	struct http_call call = fetch->call;
	struct error failure = fetch->failure;
	fetch_free(fetch);
	call.done(call.context, call.argument, failure.code == ERROR_NONE ? NULL : &failure);
}

static void stop_timer_fired(void *context, uint64_t id)
{
	struct http_client *client = context;
	struct fetch *fetch = slots_get(&client->calls, id);
	if (fetch != NULL)
		fetch_finish(fetch);
}

/* ---- timeouts ------------------------------------------------------------------------ */

static int64_t now_us(const struct fetch *fetch)
{
	return platform_mono_us(loop_platform(fetch->client->loop));
}

/* The timeout of the current phase, and the text for its error. */
static int64_t phase_timeout_us(const struct fetch *fetch, const char **out_what)
{
	const struct http_call_timeouts *timeouts = &fetch->call.timeouts;
	switch (fetch->phase) {
	case PHASE_CONNECTING:
		*out_what = "no connection";
		return timeouts->connect_ms * 1000;
	case PHASE_WAITING:
		*out_what = "no response";
		return timeouts->first_byte_ms * 1000;
	case PHASE_READING:
		*out_what = "no more data";
		return timeouts->idle_ms * 1000;
	case PHASE_PAUSED:
		break;
	}
	return INT64_MAX / 4;
}

static void timeout_start(struct fetch *fetch);

static void timeout_fired(void *context, uint64_t id)
{
	struct http_client *client = context;
	struct fetch *fetch = slots_get(&client->calls, id);
	if (fetch == NULL)
		return;
	const char *what = "";
	int64_t now = now_us(fetch), phase = phase_timeout_us(fetch, &what);
	int64_t total = fetch->call.timeouts.total_ms * 1000;
	if (total > 0 && now - fetch->began >= total)
		fail(&fetch->failure, ERROR_TIMEOUT, "not finished within %g seconds in total",
		     (double)total / 1e6);
	else if (now - fetch->phase_began >= phase)
		fail(&fetch->failure, ERROR_TIMEOUT, "%s within %g seconds", what,
		     (double)phase / 1e6);
	if (fetch->failure.code != ERROR_NONE)
		fetch_finish(fetch);
	else
		timeout_start(fetch);
}

/* Starts the timer for the earliest deadline.  Arriving bytes only update phase_began; the timer
 * checks it when it fires. */
static void timeout_start(struct fetch *fetch)
{
	const char *what;
	int64_t until = fetch->phase_began + phase_timeout_us(fetch, &what);
	int64_t total = fetch->call.timeouts.total_ms * 1000;
	struct platform *platform = loop_platform(fetch->client->loop);
	if (total > 0 && fetch->began + total < until)
		until = fetch->began + total;
	platform_timer_stop(platform, fetch->timeout_timer);
	fetch->timeout_timer = platform_timer_start(platform, until - now_us(fetch), timeout_fired,
						    fetch->client, fetch->id);
}

static void phase_enter(struct fetch *fetch, enum phase phase)
{
	fetch->phase = phase;
	fetch->phase_began = now_us(fetch);
	timeout_start(fetch);
}

/* ---- callbacks of libcurl ------------------------------------------------------------ */

static bool policy_allows(struct http_client *client, const struct sockaddr *address)
{
	bool allowed = address_is_public(address);
	for (size_t i = 0; i < client->range_count && !allowed; i++)
		allowed = address_in(&client->ranges[i], address);
	if (allowed && client->own_port != 0 && address_port(address) == client->own_port)
		allowed = !address_is_ours(address);
	return allowed;
}

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct fetch *fetch = context;
	struct http_client *client = fetch->client;
	char text[ADDRESS_TEXT_SIZE];
	if (purpose != CURLSOCKTYPE_IPCXN || !policy_allows(client, &address->addr)) {
		client->counts.refused++;
		fail(&fetch->refusal, ERROR_FORBIDDEN,
		     "the address " STR_FMT
		     " is not public, or is this server itself; to allow a private address, add it "
		     "to %s",
		     STR_ARG(address_text(&address->addr, text)), client->setting);
		return CURL_SOCKET_BAD;
	}
	client->counts.connections++;
	return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* The connection is established and the request is about to be sent. */
static int connected(void *context, char *primary, char *local, int primary_port, int local_port)
{
	struct fetch *fetch = context;
	(void)primary;
	(void)local;
	(void)primary_port;
	(void)local_port;
	phase_enter(fetch, PHASE_WAITING);
	if (fetch->call.before_send != NULL)
		fetch->call.before_send(fetch->call.context, fetch->call.argument);
	return CURL_PREREQFUNC_OK;
}

static bool is_redirect_status(int status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static struct str header_of(const struct fetch *fetch, struct str wanted)
{
	const char *line = fetch->lines.at;
	for (size_t i = 0; i < fetch->line_count; i++, line += strlen(line) + 1) {
		struct str rest = str_from_c(line), name;
		if (str_cut(&rest, ':', &name) && str_equal_folded(name, wanted))
			return str_trim(rest);
	}
	return S("");
}

static void head_deliver(struct fetch *fetch)
{
	AUTO(arena) arena = { 0 };
	struct http_header *headers = arena_array(&arena, struct http_header, fetch->line_count);
	const char *line = fetch->lines.at;
	size_t count = 0;
	for (size_t i = 0; i < fetch->line_count; i++, line += strlen(line) + 1) {
		struct str rest = str_from_c(line), name;
		if (str_cut(&rest, ':', &name) && rest.at != NULL)
			headers[count++] = (struct http_header){ name, str_trim(rest) };
	}
	struct http_head head = { .status = fetch->status,
				  .headers = headers,
				  .header_count = count,
				  .url = str_from_c(fetch->url) };
	fetch->head_delivered = true;
	fetch->call.head(fetch->call.context, fetch->call.argument, &head);
}

/* A status line starts the headers; earlier headers belonged to an interim (1xx) response. */
static void head_begin(struct fetch *fetch, struct str line)
{
	struct str status;
	int64_t number = 0;
	buf_clear(&fetch->lines);
	fetch->line_count = 0;
	fetch->status = 0;
	if (str_cut(&line, ' ', &status) && str_to_int(str_head(line, 3), &number))
		fetch->status = (int)number;
}

static bool is_safe_method(const struct fetch *fetch)
{
	return strcmp(fetch->call.method, "GET") == 0 || strcmp(fetch->call.method, "HEAD") == 0;
}

static void head_end(struct fetch *fetch)
{
	if (fetch->status < 200)
		return;
	if (is_redirect_status(fetch->status) && is_safe_method(fetch) &&
	    header_of(fetch, S("Location")).size > 0)
		fetch->redirects = true;
	else
		head_deliver(fetch);
}

/* Receives the header lines, and after the body the trailer lines, which are ignored. */
static size_t header_received(char *bytes, size_t size, size_t count, void *context)
{
	struct fetch *fetch = context;
	struct str line = { bytes, size * count };
	if (fetch->phase == PHASE_WAITING)
		phase_enter(fetch, PHASE_READING);
	fetch->phase_began = now_us(fetch);
	if (fetch->head_delivered || fetch->redirects || fetch->call.mail != NULL)
		return size * count;
	while (line.size > 0 && (line.at[line.size - 1] == '\n' || line.at[line.size - 1] == '\r'))
		line.size--;
	if (str_starts(line, S("HTTP/")))
		head_begin(fetch, line);
	else if (line.size == 0)
		head_end(fetch);
	else if (memchr(line.at, '\0', line.size) == NULL) {
		buf_add(&fetch->lines, line);
		buf_add_char(&fetch->lines, '\0');
		fetch->line_count++;
	}
	if (!fetch->lines.full)
		return size * count;
	fail(&fetch->failure, ERROR_TOO_LARGE,
	     "the headers of the response are larger than %d bytes", LIMIT_FETCH_HEADER_BYTES);
	return 0;
}

static size_t piece_received(char *bytes, size_t size, size_t count, void *context)
{
	struct fetch *fetch = context;
	struct str piece = { bytes, size * count };
	fetch->phase_began = now_us(fetch);
	if (fetch->call.mail != NULL)
		return piece.size;
	if (fetch->redirects) {
		fetch->skipped += piece.size;
		return fetch->skipped <= LIMIT_FETCH_HEADER_BYTES ? piece.size : 0;
	}
	if (fetch->call.piece(fetch->call.context, fetch->call.argument, piece))
		return piece.size;
	phase_enter(fetch, PHASE_PAUSED);
	return CURL_WRITEFUNC_PAUSE;
}

/* ---- hops ---------------------------------------------------------------------------- */

static bool send_header(struct fetch *fetch, struct str name, struct str value)
{
	AUTO(arena) arena = { 0 };
	/* libcurl sends a header with an empty value when its line is "name;". */
	struct str line = value.size == 0 ? str_format(&arena, STR_FMT ";", STR_ARG(name))
					  : str_format(&arena, STR_FMT ": " STR_FMT, STR_ARG(name),
						       STR_ARG(value));
	struct curl_slist *longer =
		fetch->client->curl->curl_slist_append_(fetch->sent, str_c(&arena, line));
	require(longer != NULL);
	fetch->sent = longer;
	return true;
}

/* Other headers may be secrets and are sent only to the origin of the call's URL. */
static bool is_cross_origin_header(struct str name)
{
	return str_equal_folded(name, S("Accept")) ||
	       str_equal_folded(name, S("Accept-Language")) ||
	       str_equal_folded(name, S("User-Agent"));
}

static void make_headers(struct fetch *fetch, bool same_origin)
{
	fetch->client->curl->curl_slist_free_all_(fetch->sent);
	fetch->sent = NULL;
	for (size_t i = 0; i < fetch->call.header_count; i++)
		if (same_origin || is_cross_origin_header(fetch->call.headers[i].name))
			send_header(fetch, fetch->call.headers[i].name,
				    fetch->call.headers[i].value);
	/* Without this, libcurl would send "Expect: 100-continue" and wait for a reply that few
	 * servers send. */
	struct curl_slist *longer = fetch->client->curl->curl_slist_append_(fetch->sent, "Expect:");
	require(longer != NULL);
	fetch->sent = longer;
	fetch->client->curl->curl_easy_setopt_(fetch->easy, CURLOPT_HTTPHEADER, fetch->sent);
}

static void hop_begin(void *context, uint64_t id)
{
	struct http_client *client = context;
	struct fetch *fetch = slots_get(&client->calls, id);
	if (fetch == NULL || fetch->added)
		return;
	fetch->head_delivered = fetch->redirects = false;
	fetch->refusal = (struct error){ 0 };
	fetch->skipped = 0;
	buf_clear(&fetch->lines);
	fetch->line_count = 0;
	phase_enter(fetch, PHASE_CONNECTING);
	client->curl->curl_easy_setopt_(fetch->easy, CURLOPT_URL, fetch->url);
	fetch->added = true;
	require(client->curl->curl_multi_add_handle_(client->multi, fetch->easy) == CURLM_OK);
}

/* Starts the next hop after a redirect. */
static bool redirect_follow(struct fetch *fetch)
{
	struct http_client *client = fetch->client;
	AUTO(arena) arena = { 0 };
	char *next;
	if (++fetch->hops > LIMIT_FETCH_REDIRECTS)
		return fail(&fetch->failure, ERROR_TOO_LARGE, "more than %d redirects",
			    LIMIT_FETCH_REDIRECTS);
	const char *location = str_c(&arena, header_of(fetch, S("Location")));
	if (!http_client_read_url(client, fetch->url, location, &next, &fetch->failure)) {
		error_prefix(&fetch->failure, "redirect: ");
		return false;
	}
	bool same = http_client_same_origin(client, fetch->url, next);
	if (!same && fetch->call.same_origin) {
		fail(&fetch->failure, ERROR_FORBIDDEN, "it redirects to another host: %.200s",
		     next);
		client->curl->curl_free_(next);
		return false;
	}
	client->curl->curl_free_(fetch->url);
	fetch->url = next;
	/* The headers are dropped for good: a redirect back to the first origin does not restore
	 * them. */
	if (!same)
		make_headers(fetch, false);
	hop_begin(client, fetch->id);
	return true;
}

/* ---- the beginning ------------------------------------------------------------------- */

static void failure_set(struct fetch *fetch, CURLcode code)
{
	if (fetch->failure.code != ERROR_NONE)
		return;
	if (fetch->refusal.code != ERROR_NONE && code == CURLE_COULDNT_CONNECT) {
		fetch->failure = fetch->refusal;
		return;
	}
	const char *text = fetch->reason[0] != '\0'
				   ? fetch->reason
				   : fetch->client->curl->curl_easy_strerror_(code);
	/* A mail server refuses for good with a status from 500 on. */
	long status = 0;
	if (fetch->call.mail != NULL)
		fetch->client->curl->curl_easy_getinfo_(fetch->easy, CURLINFO_RESPONSE_CODE,
							&status);
	bool final = status >= 500 || code == CURLE_PEER_FAILED_VERIFICATION ||
		     code == CURLE_USE_SSL_FAILED || code == CURLE_LOGIN_DENIED;
	fail(&fetch->failure, fetch->call.mail != NULL && final ? ERROR_TOOL_FAILED : ERROR_IO,
	     "%s", text);
}

void http_client_check(struct http_client *client)
{
	const struct CURLMsg *message;
	int left;
	while ((message = client->curl->curl_multi_info_read_(client->multi, &left)) != NULL) {
		struct fetch *fetch = NULL;
		CURLcode code = message->data.result;
		client->curl->curl_easy_getinfo_(message->easy_handle, CURLINFO_PRIVATE, &fetch);
		client->curl->curl_multi_remove_handle_(client->multi, fetch->easy);
		fetch->added = false;
		/* The transfer of a redirect's body was aborted on purpose. */
		bool gave_up = code == CURLE_WRITE_ERROR && fetch->redirects;
		if (code != CURLE_OK && !gave_up)
			failure_set(fetch, code);
		else if (fetch->redirects && redirect_follow(fetch))
			continue;
		fetch_finish(fetch);
	}
}

/* libcurl reads the message of a mail. */
static size_t message_read(char *to, size_t size, size_t count, void *context)
{
	struct fetch *fetch = context;
	struct str rest = str_skip(fetch->call.body, fetch->mail_sent);
	size_t taken = rest.size < size * count ? rest.size : size * count;
	if (taken > 0)
		memcpy(to, rest.at, taken);
	fetch->mail_sent += taken;
	return taken;
}

static void options_set(struct fetch *fetch)
{
	const struct curl_library *curl = fetch->client->curl;
	CURL *easy = fetch->easy;
#define SETOPT(option, value) curl->curl_easy_setopt_(easy, option, value)
	SETOPT(CURLOPT_PRIVATE, fetch);
	SETOPT(CURLOPT_ERRORBUFFER, fetch->reason);
	SETOPT(CURLOPT_NOSIGNAL, 1L);
	SETOPT(CURLOPT_QUICK_EXIT, 1L); /* do not wait for a pending name lookup */
	SETOPT(CURLOPT_PROXY, "");      /* ignore the environment */
	SETOPT(CURLOPT_PROTOCOLS_STR, "http,https");
	SETOPT(CURLOPT_FOLLOWLOCATION, 0L);
	SETOPT(CURLOPT_HTTP09_ALLOWED, 0L);
	SETOPT(CURLOPT_SSL_VERIFYPEER, 1L);
	SETOPT(CURLOPT_SSL_VERIFYHOST, 2L);
	SETOPT(CURLOPT_CONNECTTIMEOUT_MS, 0x7fffffffL); /* this client has its own timeout */
	SETOPT(CURLOPT_USERAGENT, "baton/" BATON_VERSION);
	SETOPT(CURLOPT_OPENSOCKETFUNCTION, open_socket);
	SETOPT(CURLOPT_OPENSOCKETDATA, fetch);
	SETOPT(CURLOPT_PREREQFUNCTION, connected);
	SETOPT(CURLOPT_PREREQDATA, fetch);
	if (fetch->call.fresh_connection)
		SETOPT(CURLOPT_FRESH_CONNECT, 1L);
	SETOPT(CURLOPT_HEADERFUNCTION, header_received);
	SETOPT(CURLOPT_HEADERDATA, fetch);
	SETOPT(CURLOPT_WRITEFUNCTION, piece_received);
	SETOPT(CURLOPT_WRITEDATA, fetch);
	if (fetch->call.mail != NULL) {
		SETOPT(CURLOPT_READFUNCTION, message_read);
		SETOPT(CURLOPT_READDATA, fetch);
		fetch->sent = http_client_set_mail(fetch->client, easy, fetch->call.mail,
						   fetch->call.body.size);
		return;
	}
	if (strcmp(fetch->call.method, "HEAD") == 0) {
		SETOPT(CURLOPT_NOBODY, 1L);
		return;
	}
	SETOPT(CURLOPT_CUSTOMREQUEST, fetch->call.method);
	if (fetch->call.body.size > 0 || strcmp(fetch->call.method, "GET") != 0) {
		SETOPT(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)fetch->call.body.size);
		SETOPT(CURLOPT_POSTFIELDS, fetch->call.body.at);
	}
#undef SETOPT
}

static int64_t or_default(int64_t given, int64_t limit)
{
	return given > 0 ? given : limit;
}

/* Copies the call: the caller's memory is valid only during http_call_start(). */
static void copy_call(struct fetch *fetch, const struct http_call *call)
{
	struct arena *arena = &fetch->arena;
	struct http_header *headers = arena_array(arena, struct http_header, call->header_count);
	fetch->call = *call;
	if (call->mail != NULL) {
		fetch->mail = *call->mail;
		fetch->call.mail = &fetch->mail;
	}
	fetch->call.method = str_c(arena, str_from_c(call->method));
	fetch->call.body = str_from_c(str_c(arena, call->body));
	fetch->call.body.size = call->body.size;
	for (size_t i = 0; i < call->header_count; i++)
		headers[i] = (struct http_header){ str_copy(arena, call->headers[i].name),
						   str_copy(arena, call->headers[i].value) };
	fetch->call.headers = headers;
	struct http_call_timeouts *timeouts = &fetch->call.timeouts;
	timeouts->connect_ms = or_default(timeouts->connect_ms, LIMIT_FETCH_CONNECT_MS);
	timeouts->first_byte_ms = or_default(timeouts->first_byte_ms, LIMIT_FETCH_FIRST_BYTE_MS);
	timeouts->idle_ms = or_default(timeouts->idle_ms, LIMIT_FETCH_IDLE_MS);
}

bool http_call_start(struct http_client *client, const struct http_call *call, uint64_t *out_id,
		     struct error *error)
{
	AUTO(arena) arena = { 0 };
	char *url;
	if (client->calls.live >= client->most_calls) {
		limit_hit(REJECTION_FETCHES);
		return fail(error, ERROR_UNAVAILABLE,
			    "%zu HTTP requests are in progress, which is the limit; retry later",
			    client->most_calls);
	}
	if (call->url.size > LIMIT_FETCH_URL_BYTES)
		return fail(error, ERROR_TOO_LARGE, "the URL is longer than %d bytes",
			    LIMIT_FETCH_URL_BYTES);
	if (!http_client_check_headers(call, error) || !http_client_open_curl(client, error) ||
	    !(call->mail != NULL
		      ? http_client_read_mail_url(client, str_c(&arena, call->url), &url, error)
		      : http_client_read_url(client, NULL, str_c(&arena, call->url), &url, error)))
		return false;
	struct fetch *fetch = calloc(1, sizeof(*fetch));
	require(fetch != NULL);
	fetch->client = client;
	fetch->url = url;
	fetch->lines = buf_limited(LIMIT_FETCH_HEADER_BYTES);
	copy_call(fetch, call);
	fetch->easy = client->curl->curl_easy_init_();
	require(fetch->easy != NULL);
	fetch->id = slots_add(&client->calls, fetch);
	fetch->began = now_us(fetch);
	options_set(fetch);
	if (call->mail == NULL)
		make_headers(fetch, true);
	platform_timer_start(loop_platform(client->loop), 0, hop_begin, client, fetch->id);
	*out_id = fetch->id;
	return true;
}

static void resume(void *context, uint64_t id)
{
	struct http_client *client = context;
	struct fetch *fetch = slots_get(&client->calls, id);
	if (fetch == NULL || fetch->phase != PHASE_PAUSED)
		return;
	phase_enter(fetch, PHASE_READING);
	client->curl->curl_easy_pause_(fetch->easy, CURLPAUSE_CONT);
	http_client_check(client);
}

void http_call_resume(struct http_client *client, uint64_t id)
{
	platform_timer_start(loop_platform(client->loop), 0, resume, client, id);
}

void http_call_stop(struct http_client *client, uint64_t id, const struct error *why)
{
	struct fetch *fetch = slots_get(&client->calls, id);
	if (fetch == NULL)
		return;
	fetch->failure = *why;
	platform_timer_start(loop_platform(client->loop), 0, stop_timer_fired, client, id);
}

/* ---- the client ---------------------------------------------------------------------- */

struct http_client *http_client_new(struct loop *loop, const struct http_policy *policy)
{
	struct http_client *client = calloc(1, sizeof(*client));
	require(client != NULL);
	client->loop = loop;
	client->range_count = policy->range_count;
	client->setting = policy->setting != NULL ? policy->setting : "tools.private_addresses";
	client->most_calls = policy->most_calls != 0 ? policy->most_calls : LIMIT_FETCHES;
	client->kept_connections =
		policy->kept_connections != 0 ? policy->kept_connections : LIMIT_FETCH_CONNECTIONS;
	client->ranges = calloc(policy->range_count + 1, sizeof(*client->ranges));
	require(client->ranges != NULL);
	for (size_t i = 0; i < policy->range_count; i++)
		client->ranges[i] = policy->ranges[i];
	return client;
}

void http_client_free(struct http_client *client)
{
	uint32_t index = 0;
	uint64_t id;
	for (struct fetch *fetch; (fetch = slots_next(&client->calls, &index, &id)) != NULL;)
		fetch_free(fetch);
	http_client_close_curl(client);
	slots_done(&client->calls);
	free(client->ranges);
	free(client);
}

void http_client_set_own_port(struct http_client *client, int port)
{
	client->own_port = port;
}

struct http_client_counts http_client_counts(const struct http_client *client)
{
	struct http_client_counts counts = client->counts;
	counts.under_way = client->calls.live;
	return counts;
}
