/* bench/websockets.c -- many idle WebSockets, and concurrent requests.
 *
 *	bench_websockets PORT SOCKETS RATE SECONDS
 *
 * Opens the WebSockets, a few hundred handshakes at a time, from several loopback addresses because
 * one address does not have enough ports.  Prints one line of JSON and waits for a line on stdin,
 * while the caller measures the server's memory.  Then sends RATE requests per second in an open loop:
 * each request has a scheduled time, and its latency counts from that time even if it is sent late.
 * A second line of JSON has the results and the number of WebSockets that were lost meanwhile.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "error_kinds.h"

enum { AT_ONCE = 256, ADDRESSES = 16, WORKERS = 128, EVENTS = 512, HEAD_SIZE = 2048 };

enum kind { SOCKET_OPENING, SOCKET_OPEN, WORKER };

struct client {
	enum kind kind;
	int socket;
	bool sent;
	char head[HEAD_SIZE]; /* data received so far, during a handshake or request */
	size_t size;
	int64_t due_us; /* of the current request; 0 = none */
};

static uint16_t port;
static int poller;
static size_t opened, opening;
static struct error_kinds kinds;
static int64_t *latencies;
static size_t answered;

static int64_t now_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void watch(struct client *client, uint32_t events, int how)
{
	struct epoll_event event = { .events = events, .data.ptr = client };
	if (epoll_ctl(poller, how, client->socket, &event) != 0)
		die("epoll_ctl");
}

static void connect_from(struct client *client, unsigned number)
{
	int one = 1;
	struct sockaddr_in here = { .sin_family = AF_INET };
	struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = htons(port) };
	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + number % ADDRESSES);
	there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	client->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (client->socket < 0)
		die("socket");
	setsockopt(client->socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
	setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (bind(client->socket, (struct sockaddr *)&here, sizeof(here)) != 0)
		die("bind");
	if (connect(client->socket, (struct sockaddr *)&there, sizeof(there)) != 0 &&
	    errno != EINPROGRESS)
		die("connect");
	watch(client, EPOLLOUT, EPOLL_CTL_ADD);
}

static void send_all(struct client *client, const char *text)
{
	ssize_t size = (ssize_t)strlen(text);
	if (send(client->socket, text, (size_t)size, MSG_NOSIGNAL) != size)
		error_kinds_add(&kinds, "a request could not be sent");
}

static void send_handshake(struct client *client)
{
	char text[400];
	snprintf(text, sizeof(text),
		 "GET /ws/events HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\n"
		 "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
		 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
		 port);
	send_all(client, text);
	client->sent = true;
	watch(client, EPOLLIN, EPOLL_CTL_MOD);
}

static bool head_is_whole(struct client *client)
{
	client->head[client->size] = '\0';
	return strstr(client->head, "\r\n\r\n") != NULL;
}

/* Reads the available data; false when the server has closed the connection. */
static bool take(struct client *client)
{
	if (client->kind == SOCKET_OPEN) {
		char rest[4096]; /* pings and such */
		ssize_t got = recv(client->socket, rest, sizeof(rest), 0);
		return got > 0 || (got < 0 && errno == EAGAIN);
	}
	ssize_t got =
		recv(client->socket, client->head + client->size, HEAD_SIZE - 1 - client->size, 0);
	if (got > 0)
		client->size += (size_t)got;
	return got > 0 || (got < 0 && errno == EAGAIN);
}

static void handshake_came(struct client *client)
{
	if (!head_is_whole(client))
		return;
	opening--;
	client->kind = SOCKET_OPEN;
	if (strncmp(client->head, "HTTP/1.1 101 ", 13) == 0)
		opened++;
	else
		error_kinds_add_answer(&kinds, client->head);
}

/* The response has a header and a short body of known length. */
static void answer_came(struct client *client)
{
	if (!head_is_whole(client))
		return;
	const char *length = strstr(client->head, "Content-Length: ");
	const char *body = strstr(client->head, "\r\n\r\n") + 4;
	size_t size = length == NULL ? 0 : (size_t)atol(length + 16);
	if (client->size < (size_t)(body - client->head) + size)
		return;
	if (strncmp(client->head, "HTTP/1.1 200 ", 13) != 0)
		error_kinds_add_answer(&kinds, client->head);
	latencies[answered++] = now_us() - client->due_us;
	client->due_us = 0;
	client->size = 0;
}

static void turn(int64_t wait_us)
{
	struct epoll_event events[EVENTS];
	int count = epoll_wait(poller, events, EVENTS, (int)(wait_us / 1000));
	for (int i = 0; i < count; i++) {
		struct client *client = events[i].data.ptr;
		if (client->kind == SOCKET_OPENING && !client->sent) {
			send_handshake(client);
			continue;
		}
		if (client->kind == WORKER && (events[i].events & EPOLLOUT) != 0)
			watch(client, EPOLLIN, EPOLL_CTL_MOD);
		if ((events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0)
			continue;
		if (!take(client)) {
			opening -= client->kind == SOCKET_OPENING;
			error_kinds_add(&kinds,
					client->kind == SOCKET_OPEN ? "an open WebSocket was closed"
					: client->kind == WORKER
						? "the connection of requests was closed"
						: "the connection was closed during the handshake");
			close(client->socket);
		} else if (client->kind == SOCKET_OPENING) {
			handshake_came(client);
		} else if (client->kind == WORKER && client->due_us != 0) {
			answer_came(client);
		}
	}
}

static void open_sockets(struct client *clients, size_t count)
{
	size_t begun = 0;
	int64_t began = now_us();
	while (begun < count || opening > 0) {
		for (; begun < count && opening < AT_ONCE; begun++, opening++)
			connect_from(&clients[begun], (unsigned)begun);
		turn(1000000);
	}
	printf("{\"sockets\":%zu,\"seconds\":%.2f,", opened, (double)(now_us() - began) / 1e6);
	error_kinds_print(&kinds);
	printf("}\n");
	fflush(stdout);
}

/* Round robin, so that no connection is idle long enough to be closed. */
static struct client *free_worker(struct client *workers)
{
	static size_t next;
	for (size_t i = 0; i < WORKERS; i++) {
		struct client *worker = &workers[next++ % WORKERS];
		if (worker->due_us == 0)
			return worker;
	}
	return NULL;
}

static void send_requests(struct client *workers, size_t rate, size_t seconds)
{
	char text[120];
	snprintf(text, sizeof(text), "GET /api/health HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
		 port);
	for (size_t i = 0; i < WORKERS; i++) {
		workers[i].kind = WORKER;
		connect_from(&workers[i], (unsigned)i);
	}
	turn(100000);
	size_t total = rate * seconds, sent = 0, unanswered = 0;
	int64_t began = now_us();
	while (answered < total) {
		int64_t due = began + (int64_t)(sent * 1000000 / rate), now = now_us();
		struct client *worker = sent < total && due <= now ? free_worker(workers) : NULL;
		if (worker == NULL) {
			turn(sent < total && due > now ? due - now : 1000);
			if (now - began > (int64_t)(seconds + 30) * 1000000)
				break; /* the rest counts as errors */
			continue;
		}
		worker->due_us = due;
		send_all(worker, text);
		sent++;
	}
	for (; answered + unanswered < total; unanswered++)
		error_kinds_add(&kinds, "no answer within 30 seconds");
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

int main(int count, char **words)
{
	if (count != 5) {
		fprintf(stderr, "usage: bench_websockets PORT SOCKETS RATE SECONDS\n");
		return 2;
	}
	port = (uint16_t)atoi(words[1]);
	size_t sockets = (size_t)atol(words[2]), rate = (size_t)atol(words[3]);
	size_t seconds = (size_t)atol(words[4]);
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	poller = epoll_create1(EPOLL_CLOEXEC);
	struct client *clients = calloc(sockets, sizeof(*clients));
	struct client *workers = calloc(WORKERS, sizeof(*workers));
	latencies = calloc(rate * seconds + 1, sizeof(*latencies));
	if (poller < 0 || clients == NULL || workers == NULL || latencies == NULL)
		die("memory");
	open_sockets(clients, sockets);
	if (getchar() == EOF)
		return 1;
	kinds = (struct error_kinds){ 0 };
	send_requests(workers, rate, seconds);
	qsort(latencies, answered, sizeof(*latencies), compare);
	size_t last = answered == 0 ? 0 : answered - 1;
	printf("{\"requests\":%zu,\"p50_ms\":%.2f,\"p99_ms\":%.2f,\"max_ms\":%.2f,", answered,
	       (double)latencies[last / 2] / 1e3, (double)latencies[last * 99 / 100] / 1e3,
	       (double)latencies[last] / 1e3);
	error_kinds_print(&kinds);
	printf("}\n");
	return 0;
}
