/* bench/w1_client.c -- the load generator of workload W1: c clients in a closed loop over HTTP.
 *
 *	bench_w1_client HOST:PORT CLIENTS RUNS [started]
 *
 * Each client keeps one connection, starts a run of w1-chain with a new document, waits for its end
 * in the same request and starts the next; with `started` it waits only for the acknowledgment.  The
 * first 30 runs are a warm-up.  The generator uses one thread with epoll and parses only what it
 * needs (status and Content-Length), because it shares the machine with the server.
 *
 * Prints one JSON line with everything that went wrong by kind (error_kinds.h); exit status 1 when any
 * of it is not a documented refusal.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "document.h"
#include "error_kinds.h"

enum {
	STEPS = 10,
	WARM_RUNS = 30,
	CLIENTS_MOST = 1024,
	RUNS_MOST = 1000000,
	REQUEST_SIZE = 1024,
	ANSWER_SIZE = 262144,
	WAIT_MS = 90000 /* longer than the request's own wait */
};

struct client {
	int socket;
	bool busy; /* waits for a response */
	int64_t begun_us;
	size_t answer_size;
	char *answer;
};

struct load {
	const char *authority; /* HOST:PORT as given */
	struct sockaddr_storage address;
	socklen_t address_size;
	int poll;
	struct client *clients;
	unsigned client_count;
	struct documents documents;
	unsigned runs, started, finished;
	struct error_kinds kinds;
	unsigned named; /* documents made, including the warm-up */
	int64_t *taken_us;
	bool receipts; /* do not wait for the end of a run */
};

static int64_t now_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static _Noreturn void stop(const char *doing)
{
	fprintf(stderr, "bench_w1_client: %s: %s\n", doing, strerror(errno));
	exit(1);
}

static bool resolve(struct load *load)
{
	char host[256];
	const char *colon = strrchr(load->authority, ':');
	if (colon == NULL || colon == load->authority ||
	    (size_t)(colon - load->authority) >= sizeof(host))
		return false;
	snprintf(host, sizeof(host), "%.*s", (int)(colon - load->authority), load->authority);
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *found;
	if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
		return false;
	memcpy(&load->address, found->ai_addr, found->ai_addrlen);
	load->address_size = found->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

static void client_connect(struct load *load, struct client *client)
{
	int one = 1;
	client->socket = socket(load->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (client->socket < 0 ||
	    connect(client->socket, (struct sockaddr *)&load->address, load->address_size) != 0)
		stop(load->authority);
	setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	struct epoll_event event = { .events = EPOLLIN, .data = { .ptr = client } };
	if (epoll_ctl(load->poll, EPOLL_CTL_ADD, client->socket, &event) != 0)
		stop("epoll_ctl");
}

/* A request is far smaller than a socket's buffer, so a plain blocking send never waits. */
static void client_start(struct load *load, struct client *client)
{
	char id[DOCUMENT_ID_SIZE], document[DOCUMENT_SIZE], body[DOCUMENT_SIZE + 128];
	char request[REQUEST_SIZE];
	document_id(load->named++, id);
	document_write(&load->documents, id, 0, document);
	int body_size =
		snprintf(body, sizeof(body),
			 "{\"workflow\":\"w1-chain\",\"inputs\":{\"document\":%s}}", document);
	int size = snprintf(request, sizeof(request),
			    "POST /api/run HTTP/1.1\r\n"
			    "Host: %s\r\n"
			    "Content-Type: application/json\r\n"
			    "%s"
			    "Content-Length: %d\r\n"
			    "\r\n"
			    "%s",
			    load->authority, load->receipts ? "" : "Prefer: wait=60\r\n", body_size,
			    body);
	if (size < 0 || (size_t)size >= sizeof(request)) {
		fprintf(stderr, "bench_w1_client: the host's name is too long\n");
		exit(2);
	}
	client->answer_size = 0;
	client->busy = true;
	client->begun_us = now_us();
	load->started++;
	if (send(client->socket, request, (size_t)size, MSG_NOSIGNAL) != size)
		stop("send");
}

/* The size of the whole response: 0 while its headers are incomplete, -1 when this parser does not
 * understand them. */
static long answer_whole(const struct client *client)
{
	const char *end = strstr(client->answer, "\r\n\r\n");
	if (end == NULL)
		return 0;
	for (const char *line = strstr(client->answer, "\r\n"); line < end;
	     line = strstr(line + 2, "\r\n")) {
		static const char name[] = "Content-Length:";
		if (strncasecmp(line + 2, name, sizeof(name) - 1) != 0)
			continue;
		long size = strtol(line + 2 + sizeof(name) - 1, NULL, 10);
		return size < 0 || size > ANSWER_SIZE ? -1 : end + 4 - client->answer + size;
	}
	return -1;
}

/* The steps have a status, too, so checking for one "success" is not enough. */
static bool answer_good(const struct load *load, const struct client *client)
{
	if (load->receipts)
		return strncmp(client->answer, "HTTP/1.1 202 ", 13) == 0;
	return strncmp(client->answer, "HTTP/1.1 200 ", 13) == 0 &&
	       strstr(client->answer, "\"status\":\"success\"") != NULL &&
	       strstr(client->answer, "\"status\":\"failed\"") == NULL;
}

static void client_finish(struct load *load, struct client *client)
{
	load->taken_us[load->finished++] = now_us() - client->begun_us;
	client->busy = false;
	if (load->started < load->runs)
		client_start(load, client);
}

static void client_close(struct client *client)
{
	close(client->socket);
	client->socket = -1;
}

static void client_read(struct load *load, struct client *client)
{
	ssize_t got = recv(client->socket, client->answer + client->answer_size,
			   ANSWER_SIZE - client->answer_size, 0);
	if (got > 0) {
		client->answer_size += (size_t)got;
		client->answer[client->answer_size] = '\0';
		long whole = answer_whole(client);
		if (whole >= 0 && client->answer_size < ANSWER_SIZE &&
		    (whole == 0 || client->answer_size < (size_t)whole))
			return;
		if (whole > 0 && client->answer_size == (size_t)whole && client->busy) {
			if (!answer_good(load, client))
				error_kinds_add_answer(&load->kinds, client->answer);
			client_finish(load, client);
			return;
		}
	}
	/* The connection is closed, broken or out of sync: give it up. */
	bool busy = client->busy;
	char kind[ERROR_KIND_SIZE];
	snprintf(kind, sizeof(kind), "%s %s a request (%s)",
		 got > 0 ? "the answer was not understood" : "the connection was closed",
		 busy ? "during" : "without", got < 0 ? strerror(errno) : "no error");
	/* A server may close an idle connection. */
	if (busy || got != 0)
		error_kinds_add(&load->kinds, kind);
	client_close(client);
	client_connect(load, client);
	if (busy)
		client_finish(load, client);
}

static void run_load(struct load *load, unsigned runs)
{
	struct epoll_event events[64];
	load->runs = runs;
	load->started = load->finished = 0;
	for (unsigned i = 0; i < load->client_count && load->started < runs; i++)
		client_start(load, &load->clients[i]);
	while (load->finished < runs) {
		int count = epoll_wait(load->poll, events, 64, WAIT_MS);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0) {
			fprintf(stderr, "bench_w1_client: no answer for %d seconds\n",
				WAIT_MS / 1000);
			exit(1);
		}
		for (int i = 0; i < count; i++)
			client_read(load, events[i].data.ptr);
	}
}

static int by_time(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

/* The smallest time that `percent` of the runs did not exceed, in ms. */
static double percentile(const struct load *load, unsigned percent)
{
	size_t rank = ((size_t)load->runs * percent + 99) / 100;
	return (double)load->taken_us[rank > 0 ? rank - 1 : 0] / 1000;
}

static void load_open(struct load *load, unsigned clients, unsigned runs)
{
	load->poll = epoll_create1(EPOLL_CLOEXEC);
	load->client_count = clients;
	load->clients = calloc(clients, sizeof(*load->clients));
	load->taken_us = calloc(runs > WARM_RUNS ? runs : WARM_RUNS, sizeof(*load->taken_us));
	if (load->poll < 0 || load->clients == NULL || load->taken_us == NULL)
		stop("start");
	documents_init(&load->documents);
	for (unsigned i = 0; i < clients; i++) {
		load->clients[i].answer = malloc(ANSWER_SIZE + 1);
		if (load->clients[i].answer == NULL)
			stop("start");
		load->clients[i].answer[0] = '\0';
		client_connect(load, &load->clients[i]);
	}
}

static void load_close(struct load *load)
{
	for (unsigned i = 0; i < load->client_count; i++) {
		client_close(&load->clients[i]);
		free(load->clients[i].answer);
	}
	close(load->poll);
	free(load->clients);
	free(load->taken_us);
}

int main(int argc, char **argv)
{
	static struct load load;
	load.receipts = argc == 5 && strcmp(argv[4], "started") == 0;
	bool good = argc == 4 || load.receipts;
	long clients = good ? strtol(argv[2], NULL, 10) : 0;
	long runs = good ? strtol(argv[3], NULL, 10) : 0;
	if (clients < 1 || clients > CLIENTS_MOST || runs < 1 || runs > RUNS_MOST) {
		fprintf(stderr, "usage: bench_w1_client HOST:PORT CLIENTS RUNS [started]\n");
		return 2;
	}
	load.authority = argv[1];
	if (!resolve(&load)) {
		fprintf(stderr, "bench_w1_client: %s is not HOST:PORT\n", argv[1]);
		return 2;
	}
	load_open(&load, (unsigned)clients, (unsigned)runs);
	run_load(&load, WARM_RUNS);
	int64_t begun = now_us();
	run_load(&load, (unsigned)runs);
	double seconds = (double)(now_us() - begun) / 1e6;
	qsort(load.taken_us, (size_t)runs, sizeof(*load.taken_us), by_time);
	printf("{\"bench\":\"w1\",\"clients\":%ld,\"runs\":%ld,\"steps_per_second\":%.0f,"
	       "\"p50_ms\":%.2f,\"p99_ms\":%.2f,",
	       clients, runs, STEPS * (double)runs / seconds, percentile(&load, 50),
	       percentile(&load, 99));
	error_kinds_print(&load.kinds);
	printf("}\n");
	load_close(&load);
	return load.kinds.errors > 0;
}
