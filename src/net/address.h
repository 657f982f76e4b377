/* net/address.h -- which addresses of the network are the world, and which are ours.
 *
 * What a definition or a model names is fetched from the world only: not from this machine, not
 * from the network it is in, not from what a cloud tells its machines at 169.254.169.254.  Judged
 * is the address that is really connected to, never a name, so it does not matter what the name
 * resolved to before or will resolve to next.
 *
 * IPv4 within IPv6 (mapped addresses, NAT64) is judged as the IPv4 address it is.
 */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include "base/error.h"

struct sockaddr;

/* The first `bits` of the address; an IPv4 one as ::ffff:a.b.c.d. */
struct address_range {
	uint8_t bytes[16];
	unsigned bits;
};

/* "127.0.0.1", "10.0.0.0/8", "::1", "fd00::/8". */
MUST_CHECK bool address_range_read(struct str text, struct address_range *out_range,
				   struct error *error);
bool address_in(const struct address_range *range, const struct sockaddr *address);
/* One that anybody on the Internet can be reached at; false for what is no IP address at all. */
bool address_is_public(const struct sockaddr *address);
/* One of this machine's own, on whatever interface. */
bool address_is_ours(const struct sockaddr *address);
int address_port(const struct sockaddr *address);
enum { ADDRESS_TEXT_SIZE = 64 };
struct str address_text(const struct sockaddr *address, char out[ADDRESS_TEXT_SIZE]);

#endif
