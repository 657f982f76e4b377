/* tests/unit/net/net_rig.h -- a server on a loop thread, and raw clients that block.
 *
 * The server's handler knows a few paths:
 *	/echo         answers at once with "METHOD path?query body"
 *	/later        is answered by rig_reply()
 *	/stream?N     begins at once and sends N pieces of PIECE bytes as they are taken, then ends
 *	/hold         begins a stream, sends "open" and holds it
 *	/large?N      answers with N bytes at once
 *	/status?N     answers with that status and the body "text"
 *	/inject       answers with a header whose value has a line end
 *	/socket       becomes a WebSocket, or is refused as websocket_check() says
 *	/socket-later becomes one by rig_accept()
 * A WebSocket is sent back what it sends, but for these messages:
 *	close         is answered with 4000 "bye"
 *	flood N       N pieces of PIECE bytes, as they are taken, and then "end"
 * Everything the handler hears is counted; rig_wait() waits for a count.
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
	RIG_REFUSED, /* http_write() said no */
	RIG_ENDED,   /* a stream was sent to its end */
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
	uint64_t exchange; /* the last one held */
	uint64_t stream_exchange;
	long stream_left;
	bool stream_is_socket;
};

/* Small time limits where a test wants them; NULL = the defaults. */
void rig_open(struct rig *rig, const struct http_settings *settings);
void rig_close(struct rig *rig);
/* Calls it on the loop thread and waits until it has run. */
void rig_call(struct rig *rig, void (*call)(struct rig *rig));
void rig_wait(struct rig *rig, enum rig_event event, unsigned count);
/* At least so many.  A writer is refused again whenever the kernel has moved what was queued. */
unsigned rig_wait_some(struct rig *rig, enum rig_event event, unsigned least);
unsigned rig_count(struct rig *rig, enum rig_event event);
void rig_reply(struct rig *rig); /* to /later: 200 "late" */
void rig_drain(struct rig *rig);
void rig_accept(struct rig *rig); /* /socket-later */

int client_open(struct rig *rig);                /* over TCP */
int client_open_on(struct rig *rig, int socket); /* the same, on a socket made before */
int client_open_local(const char *path);
void client_send(int client, const char *text);
void client_send_bytes(int client, const char *bytes, size_t size);

struct response {
	int status;
	struct buf head, body;
	bool chunked;
};

void response_done(struct response *response);
/* Reads exactly one answer (interim ones too); head_only: no body follows. */
void client_read(int client, bool head_only, struct response *out_response);
bool response_has(const struct response *response, const char *text);
/* True when the server has closed and nothing is left to read. */
bool client_at_end(int client);

#endif
