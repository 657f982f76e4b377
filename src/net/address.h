/* net/address.h -- classifies IP addresses as public or private.
 *
 * A URL from a definition or from a model may lead only to public addresses: not to this machine,
 * not to its private network, and not to a cloud's metadata service at 169.254.169.254.  The check
 * is made on the address that a socket connects to, never on a host name, so changing DNS answers
 * cannot defeat it.
 *
 * An IPv4 address embedded in IPv6 (mapped addresses, NAT64) is treated as that IPv4 address.
 */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include "base/error.h"

struct sockaddr;

/* All addresses that share the first `bits` bits; IPv4 is stored as ::ffff:a.b.c.d. */
struct address_range {
	uint8_t bytes[16];
	unsigned bits;
};

/* "127.0.0.1", "10.0.0.0/8", "::1", "fd00::/8". */
MUST_CHECK bool address_range_read(struct str text, struct address_range *out_range,
				   struct error *error);
bool address_in(const struct address_range *range, const struct sockaddr *address);
/* True for a public unicast address; false when the family is neither IPv4 nor IPv6. */
bool address_is_public(const struct sockaddr *address);
/* True for loopback and for the address of any interface of this machine. */
bool address_is_ours(const struct sockaddr *address);
int address_port(const struct sockaddr *address); /* -1 when it is not an IP address */
enum { ADDRESS_TEXT_SIZE = 64 };
struct str address_text(const struct sockaddr *address, char out[ADDRESS_TEXT_SIZE]);

#endif
