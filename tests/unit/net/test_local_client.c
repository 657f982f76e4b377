/* The blocking client against the real server and against misbehaving servers. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/local_client.h"
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

TestSuite(local_client, .init = open_rig, .fini = close_rig);

Test(local_client, a_request_and_its_answer)
{
	AUTO(arena) arena = { 0 };
	struct error error = { 0 };
	struct local_answer answer = { 0 };
	cr_assert(local_request(rig.path, S("POST"), S("/echo?q"), S("X-A: b\r\n"), S("hello"),
				&arena, NULL, NULL, &answer, &error),
		  "%s", error.text);
	cr_assert_eq(answer.status, 200);
	cr_assert(str_equal(answer.content_type, S("text/plain")));
	cr_assert(str_equal(answer.body, S("POST /echo?q hello")));
	cr_assert(rig.last_local);
	cr_assert(local_request(rig.path, S("GET"), S("/status?404"), S(""), S(""), &arena, NULL,
				NULL, &answer, &error));
	cr_assert_eq(answer.status, 404);
	cr_assert(local_request(rig.path, S("HEAD"), S("/large?10"), S(""), S(""), &arena, NULL,
				NULL, &answer, &error));
	cr_assert_eq(answer.body.size, 0);
	cr_assert(local_request(rig.path, S("GET"), S("/stream?20"), S(""), S(""), &arena, NULL,
				NULL, &answer, &error));
	cr_assert_eq(answer.body.size, 20 * PIECE);
	cr_assert(local_request(rig.path, S("GET"), S("/status?204"), S(""), S(""), &arena, NULL,
				NULL, &answer, &error));
	cr_assert_eq(answer.status, 204);
	/* an error response of the server itself */
	cr_assert(local_request(rig.path, S("GET"), S("/ x"), S(""), S(""), &arena, NULL, NULL,
				&answer, &error));
	cr_assert_eq(answer.status, 400);
	cr_assert(str_equal(answer.content_type, S("application/problem+json")));
}

Test(local_client, a_body_refused_half_way_still_has_its_answer)
{
	AUTO(arena) arena = { 0 };
	struct error error = { 0 };
	struct local_answer answer = { 0 };
	size_t size = LIMIT_HTTP_BODY_BYTES * 3;
	struct str large = { arena_take(&arena, size), size };
	cr_assert(local_request(rig.path, S("POST"), S("/echo"), S(""), large, &arena, NULL, NULL,
				&answer, &error),
		  "%s", error.text);
	cr_assert_eq(answer.status, 413);
}

struct taken {
	size_t bytes, calls, stop_after;
	int status;
};

static bool take(void *context, int status, struct str bytes)
{
	struct taken *taken = context;
	taken->status = status;
	taken->bytes += bytes.size;
	return ++taken->calls != taken->stop_after;
}

Test(local_client, a_stream_goes_to_the_sink)
{
	AUTO(arena) arena = { 0 };
	struct error error = { 0 };
	struct local_answer answer = { 0 };
	struct taken taken = { 0 };
	cr_assert(local_request(rig.path, S("GET"), S("/stream?500"), S(""), S(""), &arena, take,
				&taken, &answer, &error));
	cr_assert_eq(taken.bytes, (size_t)500 * PIECE);
	cr_assert_eq(taken.status, 200);
	cr_assert_eq(answer.body.size, 0);
	/* The sink ends the request: not an error, and the server's `gone` is called. */
	taken = (struct taken){ .stop_after = 1 };
	cr_assert(local_request(rig.path, S("GET"), S("/hold"), S(""), S(""), &arena, take, &taken,
				&answer, &error));
	cr_assert_eq(taken.calls, 1);
	cr_assert_eq(taken.bytes, 4);
	rig_wait(&rig, RIG_GONE, 1);
}

/* /hold sends one piece; every further call of the sink is without bytes. */
Test(local_client, silence_is_told_to_whoever_asked_for_it)
{
	AUTO(arena) arena = { 0 };
	struct error error = { 0 };
	struct local_answer answer = { 0 };
	struct taken taken = { .stop_after = 4 };
	cr_assert(
		local_follow(rig.path, S("/hold"), S(""), 1, &arena, take, &taken, &answer, &error),
		"%s", error.text);
	cr_assert_eq(taken.calls, 4);
	cr_assert_leq(taken.bytes, 4);
	rig_wait(&rig, RIG_GONE, 1);
	/* Arriving bytes are delivered all the same. */
	taken = (struct taken){ 0 };
	cr_assert(local_follow(rig.path, S("/stream?500"), S(""), 1, &arena, take, &taken, &answer,
			       &error));
	cr_assert_eq(taken.bytes, (size_t)500 * PIECE);
	cr_assert_eq(answer.status, 200);
}

Test(local_client, nobody_there)
{
	AUTO(arena) arena = { 0 };
	struct error error = { 0 };
	struct local_answer answer = { .status = 7 };
	char path[128];
	snprintf(path, sizeof(path), "%s/none", rig.folder);
	cr_assert(!local_request(path, S("GET"), S("/"), S(""), S(""), &arena, NULL, NULL, &answer,
				 &error));
	cr_assert_eq(error.code, ERROR_UNAVAILABLE);
	/* a socket left behind by a server that died */
	int stale = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	memcpy(address.sun_path, path, strlen(path) + 1);
	cr_assert_eq(bind(stale, (struct sockaddr *)&address, sizeof(address)), 0);
	close(stale);
	cr_assert(!local_request(path, S("GET"), S("/"), S(""), S(""), &arena, NULL, NULL, &answer,
				 &error));
	cr_assert_eq(error.code, ERROR_UNAVAILABLE);
	cr_assert_eq(answer.status, 7);
	unlink(path);
}

/* A server that accepts one connection, sends `text` and closes. */
struct speaker {
	int listener;
	const char *text;
};

static void *speak(void *context)
{
	struct speaker *speaker = context;
	int client = accept(speaker->listener, NULL, NULL);
	char request[4096];
	cr_assert_gt(recv(client, request, sizeof(request), 0), 0);
	client_send(client, speaker->text);
	close(client);
	return NULL;
}

static bool ask_speaker(const char *text, struct arena *arena, struct local_answer *answer,
			struct error *error)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/speaker", rig.folder);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	memcpy(address.sun_path, path, strlen(path) + 1);
	struct speaker speaker = { socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), text };
	cr_assert_eq(bind(speaker.listener, (struct sockaddr *)&address, sizeof(address)), 0);
	cr_assert_eq(listen(speaker.listener, 1), 0);
	pthread_t thread;
	cr_assert_eq(pthread_create(&thread, NULL, speak, &speaker), 0);
	bool answered = local_request(path, S("GET"), S("/"), S(""), S(""), arena, NULL, NULL,
				      answer, error);
	pthread_join(thread, NULL);
	close(speaker.listener);
	unlink(path);
	return answered;
}

Test(local_client, a_cut_connection_is_an_error)
{
	static const char *const cut[] = {
		"",
		"HTTP/1.1 200 OK\r\nContent-",
		"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
		"HTTP/1.1 100 Continue\r\n\r\n",
		"nonsense\r\n\r\n",
	};
	for (size_t i = 0; i < COUNT(cut); i++) {
		AUTO(arena) arena = { 0 };
		struct error error = { 0 };
		struct local_answer answer = { .status = 7 };
		cr_assert(!ask_speaker(cut[i], &arena, &answer, &error), "%s", cut[i]);
		cr_assert_eq(error.code, ERROR_IO);
		cr_assert_eq(answer.status, 7);
	}
}

Test(local_client, interim_answers_and_answers_until_the_close)
{
	AUTO(arena) arena = { 0 };
	struct error error = { 0 };
	struct local_answer answer;
	cr_assert(ask_speaker("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\n"
			      "Content-Length: 2\r\n\r\nhi",
			      &arena, &answer, &error));
	cr_assert_eq(answer.status, 201);
	cr_assert(str_equal(answer.body, S("hi")));
	cr_assert(ask_speaker("HTTP/1.0 200 OK\r\nContent-Type: a/b\r\n\r\nto the end", &arena,
			      &answer, &error));
	cr_assert(str_equal(answer.body, S("to the end")));
	cr_assert(str_equal(answer.content_type, S("a/b")));
}

Test(local_client, a_server_by_its_address)
{
	AUTO(arena) arena = { 0 };
	struct error error = { 0 };
	struct local_answer answer = { 0 };
	const char *address = str_format(&arena, "http://127.0.0.1:%d", rig.port).at;
	cr_assert(local_request(address, S("POST"), S("/echo?q"), S(""), S("hello"), &arena, NULL,
				NULL, &answer, &error),
		  "%s", error.text);
	cr_assert_eq(answer.status, 200);
	cr_assert(str_equal(answer.body, S("POST /echo?q hello")));
	cr_assert(!rig.last_local);
	cr_assert(local_request(str_format(&arena, "http://localhost:%d/", rig.port).at, S("GET"),
				S("/status?404"), S(""), S(""), &arena, NULL, NULL, &answer,
				&error),
		  "%s", error.text);
	cr_assert_eq(answer.status, 404);
	static const char *const wrong[] = { "http://",
					     "http://:1",
					     "http://127.0.0.1:0",
					     "http://127.0.0.1:65536",
					     "http://127.0.0.1:x",
					     "http://[::1",
					     "http://[::1]x" };
	for (size_t i = 0; i < COUNT(wrong); i++) {
		cr_assert(!local_request(wrong[i], S("GET"), S("/"), S(""), S(""), &arena, NULL,
					 NULL, &answer, &error));
		cr_assert_eq(error.code, ERROR_USAGE, "%s: %s", wrong[i], error.text);
	}
	cr_assert(!local_request("http://127.0.0.1:1", S("GET"), S("/"), S(""), S(""), &arena, NULL,
				 NULL, &answer, &error));
	cr_assert_eq(error.code, ERROR_UNAVAILABLE, "%s", error.text);
}
