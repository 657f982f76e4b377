/* net/sha1.h -- SHA-1, for the WebSocket handshake only.
 *
 * RFC 6455 answers a key with its SHA-1 to show that the answer comes from a WebSocket server; no
 * secret depends on it.  SHA-1 is broken for everything else, which is why it is here and not in
 * base: names and checks are SHA-256.  Written here because no library that is linked has one.
 */
#ifndef NET_SHA1_H
#define NET_SHA1_H

#include "base/str.h"

enum { SHA1_SIZE = 20 };

void sha1(struct str bytes, uint8_t out[SHA1_SIZE]);

#endif
