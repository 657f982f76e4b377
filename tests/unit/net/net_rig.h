/* tests/unit/net/net_rig.h -- an HTTP server on a loop thread, and raw blocking clients.
 *
 * The server's handler has these paths:
 *	/echo         responds immediately with "METHOD path?query body"
 *	/later        waits for rig_reply()
 *	/stream?N     starts a stream of N pieces of PIECE bytes, as fast as the client reads
 *	/hold         starts a stream, sends "open" and keeps it open
 *	/large?N      responds with N bytes at once
 *	/status?N     responds with that status and the body "text"
 *	/inject       responds with a header whose value contains a line end
 *	/socket       becomes a WebSocket, unless websocket_check() refuses the request
 *	/socket-later waits for rig_accept() to become a WebSocket
 * A WebSocket echoes its messages, except for these:
 *	close         closes with 4000 "bye"
 *	flood N       sends N pieces of PIECE bytes, as fast as the client reads, and then "end"
 * The rig counts every call of the handler; rig_wait() waits for a count.
 */
#ifndef TESTS_NET_RIG_H
#define TESTS_NET_RIG_H

#include <pthread.h>

#include "base/buf.h"
#include "net/http_internal.h"

enum { PIECE = 16384 };

enum rig_event {
	RIG_REQUEST,
	RIG_GONE,
	RIG_WRITABLE,
	RIG_REFUSED, /* http_write() returned false */
	RIG_ENDED,   /* a stream was sent completely */
	RIG_DRAINED,
	RIG_MESSAGE, /* from a WebSocket */
	RIG_EVENTS,
};

struct rig {
	struct loop *loop;
	struct http_server *server;
	pthread_t thread;
	int port;
	char folder[64], path[96];
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	unsigned counts[RIG_EVENTS];
	bool last_local;
	uint64_t exchange; /* the last one kept open */
	uint64_t stream_exchange;
	long stream_left;
	bool stream_is_socket;
};

/* `settings`: shorter timeouts and smaller limits for a test; NULL = the defaults. */
void rig_open(struct rig *rig, const struct http_settings *settings);
void rig_close(struct rig *rig);
/* Calls the function on the loop thread and waits until it returns. */
void rig_call(struct rig *rig, void (*call)(struct rig *rig));
void rig_wait(struct rig *rig, enum rig_event event, unsigned count);
/* Waits for at least `least` events: a writer may be refused once more each time the kernel has
 * taken bytes from its queue. */
unsigned rig_wait_some(struct rig *rig, enum rig_event event, unsigned least);
unsigned rig_count(struct rig *rig, enum rig_event event);
void rig_reply(struct rig *rig); /* to /later: 200 "late" */
void rig_drain(struct rig *rig);
void rig_accept(struct rig *rig); /* /socket-later */

int client_open(struct rig *rig);                /* over TCP */
int client_open_on(struct rig *rig, int socket); /* over TCP, on this socket */
int client_open_local(const char *path);
void client_send(int client, const char *text);
void client_send_bytes(int client, const char *bytes, size_t size);

struct response {
	int status;
	struct buf head, body;
	bool chunked;
};

void response_done(struct response *response);
/* Reads exactly one response (interim responses too); head_only: no body follows. */
void client_read(int client, bool head_only, struct response *out_response);
bool response_has(const struct response *response, const char *text);
/* True when the server has closed and nothing is left to read. */
bool client_at_end(int client);

#endif
