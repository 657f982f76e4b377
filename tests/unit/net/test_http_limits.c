/* The HTTP server: timeouts, connection limits, running out of descriptors, listening addresses. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net_rig.h"

static void expect_status(int client, int status)
{
	AUTO(response) response;
	client_read(client, false, &response);
	cr_assert_eq(response.status, status, "%s", response.head.at);
}

Test(http_limits, slow_headers)
{
	struct rig rig;
	struct http_settings settings = http_settings_default();
	settings.header_ms = 1000; /* far more than it takes to send the first bytes */
	rig_open(&rig, &settings);
	int slow = client_open(&rig);
	client_send(slow, "GET / HTTP/1.1\r\nHost:");
	int silent = client_open(&rig);
	expect_status(slow, 408);
	cr_assert(client_at_end(slow));
	/* A client that never sent a byte gets no response. */
	cr_assert(client_at_end(silent));
	close(slow);
	close(silent);
	cr_assert_eq(rig_count(&rig, RIG_REQUEST), 0);
	rig_close(&rig);
}

Test(http_limits, slow_bodies)
{
	struct rig rig;
	struct http_settings settings = http_settings_default();
	settings.body_ms = 50;
	rig_open(&rig, &settings);
	int client = client_open(&rig);
	client_send(client, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n1234");
	expect_status(client, 408);
	cr_assert(client_at_end(client));
	close(client);
	client = client_open(&rig);
	client_send(client, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
			    "Expect: 100-continue\r\n\r\n");
	expect_status(client, 100);
	expect_status(client, 408);
	close(client);
	rig_close(&rig);
}

Test(http_limits, an_idle_connection_is_closed_but_a_thinking_server_has_time)
{
	struct rig rig;
	struct http_settings settings = http_settings_default();
	settings.idle_ms = 1200;
	settings.header_ms = settings.body_ms = settings.send_ms = 1000;
	rig_open(&rig, &settings);
	int waiting = client_open(&rig);
	client_send(waiting, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_wait(&rig, RIG_REQUEST, 1);
	int idle = client_open(&rig);
	client_send(idle, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_status(idle, 200);
	cr_assert(client_at_end(idle));
	/* The idle connection is past every timeout; the other one is still served. */
	rig_reply(&rig);
	expect_status(waiting, 200);
	cr_assert(client_at_end(waiting));
	cr_assert_eq(rig_count(&rig, RIG_GONE), 0);
	close(idle);
	close(waiting);
	rig_close(&rig);
}

Test(http_limits, a_reader_that_takes_nothing_is_put_out)
{
	struct rig rig;
	struct http_settings settings = http_settings_default();
	settings.send_ms = 50;
	rig_open(&rig, &settings);
	int client = client_open(&rig);
	client_send(client, "GET /stream?4000 HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_wait(&rig, RIG_GONE, 1);
	cr_assert_eq(rig_count(&rig, RIG_ENDED), 0);
	close(client);
	/* A complete response that the client does not read: the connection is closed without
	 * `gone`, because the exchange has ended. */
	client = client_open(&rig);
	client_send(client, "GET /large?50000000 HTTP/1.1\r\nHost: x\r\n\r\n");
	rig_wait(&rig, RIG_REQUEST, 2);
	rig_drain(&rig);
	rig_wait(&rig, RIG_DRAINED, 1);
	close(client);
	cr_assert_eq(rig_count(&rig, RIG_GONE), 1);
	rig_close(&rig);
}

Test(http_limits, who_does_not_close_is_closed)
{
	struct rig rig;
	struct http_settings settings = http_settings_default();
	settings.linger_ms = 50;
	rig_open(&rig, &settings);
	int client = client_open(&rig);
	client_send(client, "GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	expect_status(client, 200);
	rig_drain(&rig);
	rig_wait(&rig, RIG_DRAINED, 1);
	close(client);
	rig_close(&rig);
}

Test(http_limits, one_connection_too_many)
{
	struct rig rig;
	struct http_settings settings = http_settings_default();
	settings.connections = 2;
	rig_open(&rig, &settings);
	int first = client_open(&rig), second = client_open(&rig), third = client_open(&rig);
	expect_status(third, 503);
	cr_assert(client_at_end(third));
	/* Local connections have their own limit. */
	int local = client_open_local(rig.path);
	client_send(local, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_status(local, 200);
	client_send(first, "GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	expect_status(first, 200);
	cr_assert(client_at_end(first));
	close(first);
	/* The slot is free when the server has seen the close, which takes a few ticks. */
	int status = 0;
	while (status != 200) {
		int again = client_open(&rig);
		static const char request[] = "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n";
		send(again, request, sizeof(request) - 1, MSG_NOSIGNAL);
		char answer[16] = "";
		if (recv(again, answer, 12, MSG_WAITALL) == 12)
			status = atoi(answer + 9);
		close(again);
	}
	close(second);
	close(third);
	close(local);
	rig_close(&rig);
}

Test(http_limits, who_only_holds_a_connection_gives_way)
{
	struct rig rig;
	struct http_settings settings = http_settings_default();
	settings.new_connections = 2;
	rig_open(&rig, &settings);
	int served = client_open(&rig);
	client_send(served, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_status(served, 200);
	int oldest = client_open(&rig), second = client_open(&rig);
	client_send(oldest, "GET /echo HTTP/1.1\r\n");
	client_send(second, "GET /echo HTTP/1.1\r\nHost: x\r\n");
	/* One more: only the oldest connection without a complete request is closed. */
	int third = client_open(&rig);
	cr_assert(client_at_end(oldest));
	client_send(second, "\r\n");
	expect_status(second, 200);
	client_send(third, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_status(third, 200);
	client_send(served, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	expect_status(served, 200);
	/* The limit does not apply to baton.sock, which only its owner can open. */
	int local[4];
	for (size_t i = 0; i < 4; i++)
		local[i] = client_open_local(rig.path);
	for (size_t i = 0; i < 4; i++) {
		client_send(local[i], "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
		expect_status(local[i], 200);
		close(local[i]);
	}
	close(served);
	close(oldest);
	close(second);
	close(third);
	rig_close(&rig);
}

static void turn(struct rig *rig)
{
	(void)rig;
}

Test(http_limits, out_of_descriptors_it_waits_and_goes_on)
{
	struct rig rig;
	struct http_settings settings = http_settings_default();
	settings.accept_pause_ms = 5;
	rig_open(&rig, &settings);
	int clients[3];
	for (size_t i = 0; i < 3; i++)
		clients[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* No further descriptor can be opened. */
	int probe = dup(0);
	cr_assert_geq(probe, 0);
	struct rlimit before, none;
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = (rlim_t)probe;
	close(probe);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	int held = client_open_on(&rig, clients[0]);
	client_send(held, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	/* The loop keeps serving other work while a client waits to be accepted. */
	for (int i = 0; i < 20; i++)
		rig_call(&rig, turn);
	cr_assert_eq(rig_count(&rig, RIG_REQUEST), 0);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	expect_status(held, 200);
	for (size_t i = 0; i < 3; i++)
		close(clients[i]);
	rig_close(&rig);
}

Test(http_limits, addresses)
{
	struct rig rig;
	rig_open(&rig, NULL);
	struct error error = { 0 };
	struct loop *loop;
	cr_assert(loop_new(&loop, &error));
	struct http_server *server = http_server_new(loop, &(struct http_handler){ 0 });
	int port = -1;
	cr_assert(!http_listen_tcp(server, "127.0.0.1", rig.port, &port, &error));
	cr_assert_eq(error.code, ERROR_UNAVAILABLE);
	cr_assert(!http_listen_tcp(server, "127.0.0.1", 65536, &port, &error));
	cr_assert_eq(error.code, ERROR_USAGE);
	cr_assert(!http_listen_tcp(server, "no.such.host.invalid", 0, &port, &error));
	cr_assert_eq(port, -1);
	cr_assert(http_listen_tcp(server, "localhost", 0, &port, &error), "%s", error.text);
	cr_assert_gt(port, 0);
	http_server_free(server);
	loop_free(loop);
	rig_close(&rig);
}

Test(http_limits, the_local_socket_is_private_and_replaces_only_a_socket)
{
	struct error error = { 0 };
	struct loop *loop;
	cr_assert(loop_new(&loop, &error));
	struct http_server *server = http_server_new(loop, &(struct http_handler){ 0 });
	char folder[] = "/tmp/baton-test-XXXXXX", path[300], deep[256];
	cr_assert_not_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/s", folder);
	umask(0);
	cr_assert(http_listen_local(server, path, &error));
	struct stat there;
	cr_assert_eq(stat(path, &there), 0);
	cr_assert(S_ISSOCK(there.st_mode));
	cr_assert_eq(there.st_mode & 0777, 0600);
	cr_assert_eq(umask(022), 0);
	/* A second server replaces the stale socket. */
	cr_assert(http_listen_local(server, path, &error), "%s", error.text);
	/* A regular file is not replaced. */
	snprintf(path, sizeof(path), "%s/file", folder);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	cr_assert(!http_listen_local(server, path, &error));
	cr_assert_not_null(strstr(error.text, "not a socket"));
	unlink(path);
	snprintf(path, sizeof(path), "%s/no/s", folder);
	cr_assert(!http_listen_local(server, path, &error));
	/* A path longer than a socket address. */
	snprintf(deep, sizeof(deep), "%s/%0150d", folder, 7);
	cr_assert_eq(mkdir(deep, 0700), 0);
	snprintf(path, sizeof(path), "%s/baton.sock", deep);
	cr_assert(http_listen_local(server, path, &error), "%s", error.text);
	cr_assert_eq(stat(path, &there), 0);
	cr_assert_eq(there.st_mode & 0777, 0600);
	http_server_free(server);
	cr_assert_neq(stat(path, &there), 0);
	loop_free(loop);
	rmdir(deep);
	cr_assert_eq(rmdir(folder), 0);
}
