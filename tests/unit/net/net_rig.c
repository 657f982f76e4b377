/* tests/unit/net/net_rig.c -- see net_rig.h. */
#include "net_rig.h"

#include "net/websocket.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* A timeout only for tests that hang; long, because a busy machine is slow. */
enum { PATIENCE_SECONDS = 120 };

static void count(struct rig *rig, enum rig_event event)
{
	pthread_mutex_lock(&rig->mutex);
	rig->counts[event]++;
	pthread_cond_broadcast(&rig->changed);
	pthread_mutex_unlock(&rig->mutex);
}

unsigned rig_count(struct rig *rig, enum rig_event event)
{
	pthread_mutex_lock(&rig->mutex);
	unsigned counted = rig->counts[event];
	pthread_mutex_unlock(&rig->mutex);
	return counted;
}

unsigned rig_wait_some(struct rig *rig, enum rig_event event, unsigned least)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_SECONDS;
	int code = 0;
	pthread_mutex_lock(&rig->mutex);
	while (rig->counts[event] < least && code == 0)
		code = pthread_cond_timedwait(&rig->changed, &rig->mutex, &until);
	unsigned counted = rig->counts[event];
	pthread_mutex_unlock(&rig->mutex);
	cr_assert_geq(counted, least, "event %d: %u, wanted %u", (int)event, counted, least);
	return counted;
}

void rig_wait(struct rig *rig, enum rig_event event, unsigned wanted)
{
	unsigned counted = rig_wait_some(rig, event, wanted);
	cr_assert_eq(counted, wanted, "event %d: %u, wanted %u", (int)event, counted, wanted);
}

static void stream_on(struct rig *rig)
{
	static char piece[PIECE];
	memset(piece, 'x', sizeof(piece));
	struct str bytes = { piece, sizeof(piece) };
	while (rig->stream_left > 0) {
		if (!(rig->stream_is_socket
			      ? websocket_write(rig->server, rig->stream_exchange, bytes)
			      : http_write(rig->server, rig->stream_exchange, bytes))) {
			count(rig, RIG_REFUSED);
			return;
		}
		rig->stream_left--;
	}
	if (rig->stream_left == 0 && rig->stream_is_socket &&
	    !websocket_write(rig->server, rig->stream_exchange, S("end"))) {
		count(rig, RIG_REFUSED);
	} else if (rig->stream_left == 0) {
		rig->stream_left = -1;
		if (!rig->stream_is_socket)
			http_end(rig->server, rig->stream_exchange);
		count(rig, RIG_ENDED);
	}
}

static int64_t number_of(const struct http_request *request)
{
	int64_t number = 0;
	cr_assert(str_to_int(request->query, &number));
	return number;
}

static void answer_socket(struct rig *rig, const struct http_request *request)
{
	struct error error;
	rig->exchange = request->exchange;
	if (!websocket_check(request, &error))
		http_reply(rig->server, request->exchange, error_row(error.code)->http_status, NULL,
			   0, str_from_c(error.text));
	else if (str_equal(request->path, S("/socket")))
		websocket_accept(rig->server, request->exchange, S(""), S(""));
}

static void answer(struct rig *rig, const struct http_request *request)
{
	struct http_header type = { S("Content-Type"), S("text/plain") };
	AUTO(buf) body = { 0 };
	if (str_equal(request->path, S("/later"))) {
		rig->exchange = request->exchange;
	} else if (str_equal(request->path, S("/stream"))) {
		rig->stream_exchange = request->exchange;
		rig->stream_left = (long)number_of(request);
		http_begin(rig->server, request->exchange, 200, &type, 1);
		stream_on(rig);
	} else if (str_equal(request->path, S("/hold"))) {
		rig->exchange = request->exchange;
		http_begin(rig->server, request->exchange, 200, &type, 1);
		http_write(rig->server, request->exchange, S("open"));
	} else if (str_equal(request->path, S("/large"))) {
		size_t size = (size_t)number_of(request);
		memset(buf_reserve(&body, size + 1), 'y', size);
		body.size = size;
		http_reply(rig->server, request->exchange, 200, &type, 1, buf_str(&body));
	} else if (str_equal(request->path, S("/status"))) {
		http_reply(rig->server, request->exchange, (int)number_of(request), &type, 1,
			   S("text"));
	} else if (str_starts(request->path, S("/socket"))) {
		answer_socket(rig, request);
	} else if (str_equal(request->path, S("/inject"))) {
		struct http_header headers[] = { { S("X-Text"), S("a\r\nX-Evil: b") },
						 { S("Content-Length"), S("99") } };
		http_reply(rig->server, request->exchange, 200, headers, 2, S("ok"));
	} else {
		buf_add_format(&body, STR_FMT " " STR_FMT "?" STR_FMT " ", STR_ARG(request->method),
			       STR_ARG(request->path), STR_ARG(request->query));
		buf_add(&body, request->body);
		http_reply(rig->server, request->exchange, 200, &type, 1, buf_str(&body));
	}
}

static void on_request(void *context, const struct http_request *request)
{
	struct rig *rig = context;
	rig->last_local = request->local;
	answer(rig, request);
	count(rig, RIG_REQUEST);
}

static void on_writable(void *context, uint64_t exchange)
{
	struct rig *rig = context;
	cr_assert_eq(exchange, rig->stream_exchange);
	count(rig, RIG_WRITABLE);
	stream_on(rig);
}

static void on_gone(void *context, uint64_t exchange)
{
	struct rig *rig = context;
	/* The client has disconnected: none of these calls may have an effect. */
	http_reply(rig->server, exchange, 200, NULL, 0, S("x"));
	cr_assert(!http_write(rig->server, exchange, S("x")));
	http_end(rig->server, exchange);
	cr_assert(!websocket_write(rig->server, exchange, S("x")));
	websocket_close(rig->server, exchange, WEBSOCKET_DONE, S(""));
	count(rig, RIG_GONE);
}

static void on_message(void *context, uint64_t exchange, struct str text)
{
	struct rig *rig = context;
	int64_t pieces;
	if (str_equal(text, S("close"))) {
		websocket_close(rig->server, exchange, (enum websocket_code)4000, S("bye"));
		cr_assert(!websocket_write(rig->server, exchange, S("x")));
	} else if (str_starts(text, S("flood ")) && str_to_int(str_skip(text, 6), &pieces)) {
		rig->stream_is_socket = true;
		rig->stream_exchange = exchange;
		rig->stream_left = (long)pieces;
		stream_on(rig);
	} else {
		cr_assert(websocket_write(rig->server, exchange, text));
	}
	count(rig, RIG_MESSAGE);
}

static void *run(void *context)
{
	loop_run(((struct rig *)context)->loop);
	return NULL;
}

struct call {
	struct job job;
	struct rig *rig;
	void (*call)(struct rig *rig);
	bool done;
};

static void call_run(struct job *job, unsigned thread)
{
	(void)job;
	(void)thread;
}

static void call_done(struct job *job)
{
	struct call *call = (struct call *)(void *)job;
	struct rig *rig = call->rig;
	call->call(rig);
	pthread_mutex_lock(&rig->mutex);
	call->done = true;
	pthread_cond_broadcast(&rig->changed);
	pthread_mutex_unlock(&rig->mutex);
}

void rig_call(struct rig *rig, void (*function)(struct rig *rig))
{
	struct call call = { .job = { .run = call_run, .done = call_done },
			     .rig = rig,
			     .call = function };
	platform_submit(loop_platform(rig->loop), LANE_READER, &call.job);
	pthread_mutex_lock(&rig->mutex);
	while (!call.done)
		pthread_cond_wait(&rig->changed, &rig->mutex);
	pthread_mutex_unlock(&rig->mutex);
}

void rig_open(struct rig *rig, const struct http_settings *settings)
{
	struct error error = { 0 };
	*rig = (struct rig){ .stream_left = -1 };
	pthread_mutex_init(&rig->mutex, NULL);
	pthread_cond_init(&rig->changed, NULL);
	cr_assert(loop_new(&rig->loop, &error));
	struct http_handler handler = { rig, on_request, on_writable, on_gone, on_message };
	rig->server = http_server_new(rig->loop, &handler);
	if (settings != NULL)
		http_settings_change(rig->server, settings);
	cr_assert(http_listen_tcp(rig->server, "127.0.0.1", 0, &rig->port, &error), "%s",
		  error.text);
	strcpy(rig->folder, "/tmp/baton-test-XXXXXX");
	cr_assert_not_null(mkdtemp(rig->folder));
	snprintf(rig->path, sizeof(rig->path), "%s/baton.sock", rig->folder);
	cr_assert(http_listen_local(rig->server, rig->path, &error), "%s", error.text);
	cr_assert_eq(pthread_create(&rig->thread, NULL, run, rig), 0);
}

static void stop(struct rig *rig)
{
	http_server_free(rig->server);
	rig->server = NULL;
	loop_stop(rig->loop);
}

void rig_close(struct rig *rig)
{
	rig_call(rig, stop);
	pthread_join(rig->thread, NULL);
	loop_free(rig->loop);
	unlink(rig->path);
	rmdir(rig->folder);
	pthread_mutex_destroy(&rig->mutex);
	pthread_cond_destroy(&rig->changed);
}

static void reply_late(struct rig *rig)
{
	http_reply(rig->server, rig->exchange, 200, NULL, 0, S("late"));
	http_reply(rig->server, rig->exchange, 500, NULL, 0, S("twice"));
}

void rig_reply(struct rig *rig)
{
	rig_call(rig, reply_late);
}

static void accept_late(struct rig *rig)
{
	websocket_accept(rig->server, rig->exchange, S(""), S(""));
}

void rig_accept(struct rig *rig)
{
	rig_call(rig, accept_late);
}

static void drained(void *context, uint64_t argument)
{
	(void)argument;
	count(context, RIG_DRAINED);
}

static void drain(struct rig *rig)
{
	http_server_drain(rig->server, drained, rig);
}

void rig_drain(struct rig *rig)
{
	rig_call(rig, drain);
}

/* ---- clients ------------------------------------------------------------------------------- */

static void timeout_set(int client)
{
	struct timeval patience = { .tv_sec = PATIENCE_SECONDS };
	setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

int client_open_on(struct rig *rig, int client)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)rig->port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	cr_assert_eq(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
	timeout_set(client);
	return client;
}

int client_open(struct rig *rig)
{
	return client_open_on(rig, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

int client_open_local(const char *path)
{
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	cr_assert_eq(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
	timeout_set(client);
	return client;
}

void client_send_bytes(int client, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t sent = send(client, bytes, size, MSG_NOSIGNAL);
		cr_assert_gt(sent, 0, "send: %s", strerror(errno));
		bytes += sent;
		size -= (size_t)sent;
	}
}

void client_send(int client, const char *text)
{
	client_send_bytes(client, text, strlen(text));
}

static bool take_byte(int client, struct buf *into)
{
	char byte;
	ssize_t got = recv(client, &byte, 1, 0);
	cr_assert_geq(got, 0, "recv: %s", strerror(errno));
	if (got == 1)
		buf_add_char(into, byte);
	return got == 1;
}

static void take_line(int client, struct buf *line)
{
	buf_clear(line);
	while (!str_ends(buf_str(line), S("\r\n")))
		cr_assert(take_byte(client, line), "cut in a line: " STR_FMT,
			  STR_ARG(buf_str(line)));
}

static void take_exactly(int client, struct buf *into, size_t size)
{
	char *at = buf_reserve(into, size + 1);
	for (size_t taken = 0; taken < size;) {
		ssize_t got = recv(client, at + taken, size - taken, 0);
		cr_assert_gt(got, 0, "cut in a body");
		taken += (size_t)got;
	}
	into->size += size;
}

static void take_chunks(int client, struct buf *body)
{
	AUTO(buf) line = { 0 };
	for (;;) {
		take_line(client, &line);
		buf_add_char(&line, '\0');
		size_t size = strtoul(line.at, NULL, 16);
		if (size > 0)
			take_exactly(client, body, size);
		take_line(client, &line);
		cr_assert(str_equal(buf_str(&line), S("\r\n")));
		if (size == 0)
			return;
	}
}

void client_read(int client, bool head_only, struct response *out_response)
{
	AUTO(buf) line = { 0 };
	*out_response = (struct response){ 0 };
	do {
		take_line(client, &line);
		buf_add(&out_response->head, buf_str(&line));
	} while (line.size > 2);
	buf_add_char(&out_response->head, '\0');
	cr_assert_eq(sscanf(out_response->head.at, "HTTP/1.1 %d", &out_response->status), 1);
	out_response->chunked = response_has(out_response, "Transfer-Encoding: chunked");
	const char *length = strstr(out_response->head.at, "Content-Length: ");
	if (head_only || out_response->status < 200 || out_response->status == 204 ||
	    out_response->status == 304)
		return;
	if (out_response->chunked)
		take_chunks(client, &out_response->body);
	else if (length != NULL)
		take_exactly(client, &out_response->body, strtoul(length + 16, NULL, 10));
	else
		while (take_byte(client, &out_response->body))
			;
}

bool response_has(const struct response *response, const char *text)
{
	return strstr(response->head.at, text) != NULL;
}

void response_done(struct response *response)
{
	buf_done(&response->head);
	buf_done(&response->body);
}

bool client_at_end(int client)
{
	char byte;
	ssize_t got = recv(client, &byte, 1, 0);
	return got == 0 || (got < 0 && errno == ECONNRESET);
}
