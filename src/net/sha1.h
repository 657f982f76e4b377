/* net/sha1.h -- SHA-1, for the WebSocket handshake only.
 *
 * In RFC 6455 the server proves that it speaks WebSocket by returning the SHA-1 of the client's
 * key; no secret depends on it.  SHA-1 is broken for other purposes, so it is private to this
 * folder: everything else uses SHA-256.  It is implemented here because none of the linked
 * libraries has it.
 */
#ifndef NET_SHA1_H
#define NET_SHA1_H

#include "base/str.h"

enum { SHA1_SIZE = 20 };

void sha1(struct str bytes, uint8_t out[SHA1_SIZE]);

#endif
