/* net/connect_request.h -- requests to the proxy of sandboxed commands, and the list of allowed hosts.
 *
 * A request is CONNECT HOST:PORT, or METHOD http://HOST[:PORT]/PATH; nothing else.  The rules:
 *
 *	example.com          this host, ports 80 and 443
 *	*.example.com        every host below it, on label boundaries; not example.com itself
 *	example.com:8443     this port only; [2001:db8::1]:8443 for an IPv6 address
 *
 * Names are compared without regard to case; a dot at the end is ignored.  Whether the address that a
 * name resolves to may be reached is another question (net/address.h).
 *
 * Pure functions, any thread.
 */
#ifndef NET_CONNECT_REQUEST_H
#define NET_CONNECT_REQUEST_H

#include "base/buf.h"
#include "base/error.h"

struct connect_rule {
	struct str host; /* in lower case, without "*." */
	bool below;      /* hosts below it */
	int port;        /* 0 = 80 and 443 */
};

struct connect_rules {
	const struct connect_rule *at;
	size_t count;
};

/* Fails with INVALID and the text of the wrong rule; the caller says which list it is in. */
MUST_CHECK bool connect_rules_read(struct str_list texts, struct arena *arena,
				   struct connect_rules *out_rules, struct error *error);
struct connect_rules connect_rules_copy(const struct connect_rules *rules, struct arena *arena);
bool connect_rules_allow(const struct connect_rules *rules, struct str host, int port);

struct connect_request {
	bool tunnel;     /* CONNECT */
	struct str host; /* in lower case, without brackets and without a dot at the end */
	int port;
};

/* Where the head ends, behind the empty line; 0 = it is not complete yet. */
size_t connect_head_end(struct str bytes);
/* Reads a complete head.  Of a request that is not CONNECT, *out_forward becomes the head for the host
 * itself: the path alone, a Host header that agrees with the URL, Connection: close, and nothing that is
 * meant for a proxy. */
MUST_CHECK bool connect_request_read(struct str head, struct arena *arena,
				     struct connect_request *out_request, struct buf *out_forward,
				     struct error *error);

#endif
