/* net/websocket.h -- WebSockets (RFC 6455): an exchange of the HTTP server that changes protocol.
 *
 * A handler that receives a request for a WebSocket (websocket_is_requested) checks it and accepts
 * it, immediately or later.  From then on the id of the exchange addresses the WebSocket.
 *
 *	if (!websocket_check(request, &error))
 *		... refuse with http_reply: 426 or 400 ...
 *	websocket_accept(server, request->exchange, S("baton"), id);
 *
 * websocket_write() sends a text message under the same rule as http_write(): false means that
 * nothing was sent; `writable` is called when there is room.  The handler's `message` receives
 * each complete text message.  `gone` is called when the client closes the WebSocket, violates the
 * protocol, or stays silent for too long; it is not called after websocket_close().  Binary
 * messages are refused (1003).  No extensions are negotiated.  The subprotocol that the handler
 * passes is selected if the client offers it: a browser gives up when it offers subprotocols and
 * none is selected.
 *
 * The server pings the client every LIMIT_WS_PING_MS.  A client that has sent nothing, not even a
 * pong, for LIMIT_WS_IDLE_MS is closed with code 1001; so are all clients when the server drains.
 * To close, the server sends a close frame and shuts its side down; the client then has
 * LIMIT_HTTP_LINGER_MS to close.
 */
#ifndef NET_WEBSOCKET_H
#define NET_WEBSOCKET_H

#include "net/http_server.h"
#include "net/websocket_frames.h"

/* True when the request asks for an upgrade to WebSocket, correctly or not. */
bool websocket_is_requested(const struct http_request *request);
/* UPGRADE_REQUIRED or USAGE when the request is not a correct WebSocket handshake. */
MUST_CHECK bool websocket_check(const struct http_request *request, struct error *error);

/* `protocol` is selected if the client offers it; "" = none.  `request_id` becomes the header
 * X-Request-Id of the response; "" = none. */
void websocket_accept(struct http_server *server, uint64_t exchange, struct str protocol,
		      struct str request_id);
bool websocket_write(struct http_server *server, uint64_t exchange, struct str text);
/* A part of a message, as a frame of its own: `first` of its message, `last` of its message.  Until
 * the last part is sent no other message may be sent; pings and a close may.  A part may end within a
 * character. */
bool websocket_write_part(struct http_server *server, uint64_t exchange, struct str text,
			  bool first, bool last);
void websocket_close(struct http_server *server, uint64_t exchange, enum websocket_code code,
		     struct str reason);
/* Replaces LIMIT_WS_IDLE_MS, also for open WebSockets, and pings often enough for it.  At least 3;
 * 0 = LIMIT_WS_IDLE_MS. */
void websocket_set_idle_timeout(struct http_server *server, uint64_t idle_ms);

#endif
