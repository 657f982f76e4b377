/* net/websocket_handshake.h -- opening handshake of a WebSocket (RFC 6455, section 4). */
#ifndef NET_WEBSOCKET_HANDSHAKE_H
#define NET_WEBSOCKET_HANDSHAKE_H

#include "net/http_server.h"

enum { WEBSOCKET_ACCEPT_SIZE = 29 };

/* The value of Sec-WebSocket-Accept for this key: 28 characters and a NUL. */
void websocket_accept_key(struct str key, char out[WEBSOCKET_ACCEPT_SIZE]);

/* True when the client offers this subprotocol. */
bool websocket_offers(const struct http_request *request, struct str protocol);

#endif
