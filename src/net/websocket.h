/* net/websocket.h -- an exchange that becomes a WebSocket (RFC 6455) and stays one.
 *
 * A handler that is asked for one (websocket_wanted) checks the offer and then, now or later,
 * accepts: the exchange's id then names the WebSocket.
 *
 *	if (!websocket_check(request, &error))
 *		... refuse with http_reply: 426 or 400 ...
 *	websocket_accept(server, request->exchange, S("baton"), id);
 *
 * Text goes out with websocket_write() under the same rule as http_write(): false is "not taken",
 * `writable` follows when there is room.  Text comes in whole through the handler's `message`.
 * `gone` says that the client closed it, broke the protocol, or fell silent; after
 * websocket_close() it does not come.  Binary messages are refused (1003), extensions never
 * chosen, and of the subprotocols that are offered only the one that the handler accepts with: a
 * browser gives up when it has offered some and none is chosen.
 *
 * The client is pinged every LIMIT_WS_PING_MS; one that was not heard for LIMIT_WS_IDLE_MS (a pong
 * is heard) is closed with 1001, as is everybody when the server drains.  Closing is our close
 * frame and the end of our side; then the client has LIMIT_HTTP_LINGER_MS for its own.
 * websocket_be_patient() sets another time than LIMIT_WS_IDLE_MS, and pings often enough for it.
 */
#ifndef NET_WEBSOCKET_H
#define NET_WEBSOCKET_H

#include "net/http_server.h"
#include "net/websocket_frames.h"

/* Does the request offer to become a WebSocket at all? */
bool websocket_wanted(const struct http_request *request);
MUST_CHECK bool websocket_check(const struct http_request *request, struct error *error);

/* `protocol` is chosen when the client offered it; "" = none.  `request_id` is the answer's
 * X-Request-Id; "" = none. */
void websocket_accept(struct http_server *server, uint64_t exchange, struct str protocol,
		      struct str request_id);
bool websocket_write(struct http_server *server, uint64_t exchange, struct str text);
void websocket_close(struct http_server *server, uint64_t exchange, enum websocket_code code,
		     struct str reason);
/* For those that are open too; 0 = LIMIT_WS_IDLE_MS.  At least 3. */
void websocket_be_patient(struct http_server *server, uint64_t idle_ms);

#endif
