/* net/websocket_handshake.h -- from an HTTP request to its WebSocket answer (RFC 6455, section 4).
 */
#ifndef NET_WEBSOCKET_HANDSHAKE_H
#define NET_WEBSOCKET_HANDSHAKE_H

#include "net/http_server.h"

enum { WEBSOCKET_ACCEPT_SIZE = 29 };

/* What Sec-WebSocket-Accept says to this key: 28 characters and a NUL. */
void websocket_accept_key(struct str key, char out[WEBSOCKET_ACCEPT_SIZE]);

/* Is this among the subprotocols that the client offers? */
bool websocket_offers(const struct http_request *request, struct str protocol);

#endif
