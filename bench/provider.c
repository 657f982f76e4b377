/* bench/provider.c -- the model of workload W6: a provider of chat completions that answers at once.
 *
 *	bench_provider
 *
 * Prints its port and serves until its standard input ends.  A request for the model `w6-N` is answered
 * with a call of `echo` until it has N results of calls, and then with a text; as a stream of events if
 * the request asks for one.  The arguments are 200 bytes and differ from turn to turn.  GET returns the
 * numbers of requests and connections so far.
 *
 * It looks for words in the request and parses no JSON, because it shares the machine with the server.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	EVENTS = 64,
	CONNECTIONS_MOST = 4096,
	READ_SIZE = 65536,
	REQUEST_MOST = 64 << 20,
	ANSWER_SIZE = 4096
};

struct connection {
	bool open;
	char *at; /* what has arrived of the request */
	size_t size, room;
};

static struct connection connections[CONNECTIONS_MOST]; /* by descriptor */
static unsigned long long requests, accepted;
static char filler[161];

static _Noreturn void stop(const char *doing)
{
	fprintf(stderr, "bench_provider: %s: %s\n", doing, strerror(errno));
	exit(1);
}

/* ---- requests and replies ------------------------------------------------------------------ */

static const char *find(const char *at, size_t size, const char *word)
{
	return memmem(at, size, word, strlen(word));
}

static long count(const char *at, size_t size, const char *word)
{
	long found = 0;
	const char *end = at + size;
	while ((at = find(at, (size_t)(end - at), word)) != NULL) {
		at += strlen(word);
		found++;
	}
	return found;
}

static int write_call(char *out, size_t room, long number, bool stream)
{
	char arguments[256];
	snprintf(arguments, sizeof(arguments), "{\\\"n\\\":%ld,\\\"data\\\":\\\"%s\\\"}", number,
		 filler);
	if (!stream)
		return snprintf(
			out, room,
			"{\"id\":\"w6\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"w6\",\"choices\":[{\"index\":0,"
			"\"message\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"call_%ld\",\"type\":\"function\","
			"\"function\":{\"name\":\"echo\",\"arguments\":\"%s\"}}]},\"finish_reason\":\"tool_calls\"}],"
			"\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":7,\"total_tokens\":27}}",
			number, arguments);
	return snprintf(
		out, room,
		"data: {\"id\":\"w6\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"w6\",\"choices\":[{\"index\":0,"
		"\"delta\":{\"role\":\"assistant\",\"tool_calls\":[{\"index\":0,\"id\":\"call_%ld\",\"type\":\"function\","
		"\"function\":{\"name\":\"echo\",\"arguments\":\"%s\"}}]},\"finish_reason\":null}]}\n\n"
		"data: {\"id\":\"w6\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"w6\",\"choices\":[{\"index\":0,"
		"\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
		number, arguments);
}

static int write_text(char *out, size_t room, bool stream)
{
	if (!stream)
		return snprintf(
			out, room,
			"{\"id\":\"w6\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"w6\",\"choices\":[{\"index\":0,"
			"\"message\":{\"role\":\"assistant\",\"content\":\"All is done.\"},\"finish_reason\":\"stop\"}],"
			"\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":7,\"total_tokens\":27}}");
	return snprintf(
		out, room,
		"data: {\"id\":\"w6\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"w6\",\"choices\":[{\"index\":0,"
		"\"delta\":{\"role\":\"assistant\",\"content\":\"All is done.\"},\"finish_reason\":null}]}\n\n"
		"data: {\"id\":\"w6\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"w6\",\"choices\":[{\"index\":0,"
		"\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
}

static void answer(int socket, const char *head, const char *body, size_t body_size)
{
	char content[ANSWER_SIZE], out[ANSWER_SIZE + 256];
	const char *type = "application/json";
	int size;
	if (strncmp(head, "GET ", 4) == 0) {
		size = snprintf(content, sizeof(content),
				"{\"requests\":%llu,\"connections\":%llu}", requests, accepted);
	} else {
		const char *model = find(body, body_size, "\"model\":\"w6-");
		long wanted =
			model == NULL ? 0 : strtol(model + strlen("\"model\":\"w6-"), NULL, 10);
		long have = count(body, body_size, "\"role\":\"tool\"");
		bool stream = find(body, body_size, "\"stream\":true") != NULL;
		type = stream ? "text/event-stream" : type;
		size = have < wanted ? write_call(content, sizeof(content), have + 1, stream)
				     : write_text(content, sizeof(content), stream);
		requests++;
	}
	int all = snprintf(out, sizeof(out),
			   "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
			   type, size, content);
	/* An answer is far smaller than the buffer of an idle socket. */
	if (write(socket, out, (size_t)all) != all)
		stop("write");
}

/* ---- connections ----------------------------------------------------------------------------- */

static void hang_up(int socket)
{
	free(connections[socket].at);
	connections[socket] = (struct connection){ 0 };
	close(socket);
}

/* Answers every complete request; false when the client breaks the rules. */
static bool serve(int socket, struct connection *c)
{
	while (c->size > 0) {
		const char *end = find(c->at, c->size, "\r\n\r\n");
		if (end == NULL)
			return c->size < READ_SIZE;
		size_t head = (size_t)(end - c->at) + 4, body = 0;
		for (const char *line = c->at; line < end; line = strchr(line, '\n') + 1)
			if (strncasecmp(line, "content-length:", 15) == 0)
				body = strtoul(line + 15, NULL, 10);
		if (body > REQUEST_MOST)
			return false;
		if (c->size < head + body)
			return true;
		answer(socket, c->at, c->at + head, body);
		c->size -= head + body;
		memmove(c->at, c->at + head + body, c->size);
		c->at[c->size] = '\0';
	}
	return true;
}

static void receive(int socket)
{
	struct connection *c = &connections[socket];
	if (c->room < c->size + READ_SIZE + 1) {
		c->room = c->room * 2 + READ_SIZE + 1;
		c->at = realloc(c->at, c->room);
		if (c->at == NULL)
			stop("memory");
	}
	ssize_t got = read(socket, c->at + c->size, READ_SIZE);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0) {
		c->size += (size_t)got;
		c->at[c->size] = '\0'; /* for strchr and strtoul */
	}
	if (got <= 0 || !serve(socket, c))
		hang_up(socket);
}

static void greet(int listener, int poll)
{
	int one = 1, socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (socket < 0)
		return;
	if (socket >= CONNECTIONS_MOST) {
		close(socket);
		return;
	}
	setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	connections[socket] = (struct connection){ .open = true };
	accepted++;
	if (epoll_ctl(poll, EPOLL_CTL_ADD, socket,
		      &(struct epoll_event){ EPOLLIN, { .fd = socket } }) != 0)
		stop("epoll_ctl");
}

int main(void)
{
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    poll = epoll_create1(EPOLL_CLOEXEC);
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	memset(filler, 'x', sizeof(filler) - 1);
	if (bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 1024) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &size) != 0)
		stop("listen");
	epoll_ctl(poll, EPOLL_CTL_ADD, listener,
		  &(struct epoll_event){ EPOLLIN, { .fd = listener } });
	epoll_ctl(poll, EPOLL_CTL_ADD, STDIN_FILENO,
		  &(struct epoll_event){ EPOLLIN, { .fd = STDIN_FILENO } });
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	for (;;) {
		struct epoll_event events[EVENTS];
		int ready = epoll_wait(poll, events, EVENTS, -1);
		for (int i = 0; i < ready; i++) {
			if (events[i].data.fd == STDIN_FILENO)
				return 0;
			if (events[i].data.fd == listener)
				greet(listener, poll);
			else
				receive(events[i].data.fd);
		}
	}
}
