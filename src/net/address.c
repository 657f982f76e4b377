/* net/address.c -- IANA's special-purpose address ranges, as prefixes of 128-bit addresses. */
#include "net/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define MAPPED 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff

/* IPv4 ranges that are not public unicast addresses. */
static const struct address_range special_v4[] = {
	{ { MAPPED, 0 }, 96 + 8 },             /* this network */
	{ { MAPPED, 10 }, 96 + 8 },            /* private */
	{ { MAPPED, 100, 64 }, 96 + 10 },      /* carrier-grade NAT */
	{ { MAPPED, 127 }, 96 + 8 },           /* loopback */
	{ { MAPPED, 169, 254 }, 96 + 16 },     /* link-local, cloud metadata */
	{ { MAPPED, 172, 16 }, 96 + 12 },      /* private */
	{ { MAPPED, 192, 0, 0 }, 96 + 24 },    /* protocol assignments */
	{ { MAPPED, 192, 0, 2 }, 96 + 24 },    /* documentation */
	{ { MAPPED, 192, 88, 99 }, 96 + 24 },  /* 6to4 relays, withdrawn */
	{ { MAPPED, 192, 168 }, 96 + 16 },     /* private */
	{ { MAPPED, 198, 18 }, 96 + 15 },      /* benchmarks */
	{ { MAPPED, 198, 51, 100 }, 96 + 24 }, /* documentation */
	{ { MAPPED, 203, 0, 113 }, 96 + 24 },  /* documentation */
	{ { MAPPED, 224 }, 96 + 4 },           /* multicast */
	{ { MAPPED, 240 }, 96 + 4 },           /* reserved, broadcast */
};

/* IPv6: public unicast addresses are in 2000::/3, except special_v6. */
static const struct address_range unicast_v6 = { { 0x20 }, 3 };
static const struct address_range special_v6[] = {
	{ { 0x20, 0x01, 0x00 }, 23 },       /* protocol assignments, including Teredo */
	{ { 0x20, 0x01, 0x0d, 0xb8 }, 32 }, /* documentation */
	{ { 0x20, 0x02 }, 16 },             /* 6to4: embeds an arbitrary IPv4 address */
	{ { 0x3f, 0xff, 0x00 }, 20 },       /* documentation */
};

static const struct address_range mapped = { { MAPPED }, 96 };
static const struct address_range nat64 = { { 0x00, 0x64, 0xff, 0x9b }, 96 };

static bool in_range(const struct address_range *range, const uint8_t bytes[16])
{
	unsigned whole = range->bits / 8, rest = range->bits % 8;
	if (memcmp(range->bytes, bytes, whole) != 0)
		return false;
	return rest == 0 || ((range->bytes[whole] ^ bytes[whole]) >> (8 - rest)) == 0;
}

/* The address as 128 bits; false when it is not an IP address. */
static bool bytes_of(const struct sockaddr *address, uint8_t bytes[16])
{
	if (address->sa_family == AF_INET) {
		struct sockaddr_in v4;
		memcpy(&v4, address, sizeof(v4));
		memcpy(bytes, mapped.bytes, 12);
		memcpy(bytes + 12, &v4.sin_addr, 4);
		return true;
	}
	if (address->sa_family != AF_INET6)
		return false;
	struct sockaddr_in6 v6;
	memcpy(&v6, address, sizeof(v6));
	memcpy(bytes, &v6.sin6_addr, 16);
	if (in_range(&nat64, bytes))
		memcpy(bytes, mapped.bytes, 12);
	return true;
}

bool address_range_read(struct str text, struct address_range *out_range, struct error *error)
{
	char address[INET6_ADDRSTRLEN];
	struct str rest = text, name;
	struct address_range range = { .bits = 128 };
	int64_t bits = -1;
	bool good = str_cut(&rest, '/', &name) && name.size < sizeof(address);
	bool has_bits = name.size < text.size;
	if (good) {
		memcpy(address, name.at, name.size);
		address[name.size] = '\0';
	}
	if (good && inet_pton(AF_INET, address, range.bytes + 12) == 1) {
		memcpy(range.bytes, mapped.bytes, 12);
		good = !has_bits || (str_to_int(rest, &bits) && bits >= 0 && bits <= 32);
		bits += 96;
	} else {
		good = good && inet_pton(AF_INET6, address, range.bytes) == 1 &&
		       (!has_bits || (str_to_int(rest, &bits) && bits >= 0 && bits <= 128));
	}
	if (!good)
		return fail(error, ERROR_INVALID,
			    "\"" STR_FMT "\" is not an IP address or range; expected an address "
			    "such as 127.0.0.1 or ::1, or a range such as 10.0.0.0/8",
			    STR_ARG(str_head(text, 60)));
	if (has_bits)
		range.bits = (unsigned)bits;
	*out_range = range;
	return true;
}

bool address_in(const struct address_range *range, const struct sockaddr *address)
{
	uint8_t bytes[16];
	return bytes_of(address, bytes) && in_range(range, bytes);
}

bool address_is_public(const struct sockaddr *address)
{
	uint8_t bytes[16];
	if (!bytes_of(address, bytes))
		return false;
	bool is_v4 = in_range(&mapped, bytes);
	const struct address_range *special = is_v4 ? special_v4 : special_v6;
	size_t count = is_v4 ? COUNT(special_v4) : COUNT(special_v6);
	if (!is_v4 && !in_range(&unicast_v6, bytes))
		return false;
	for (size_t i = 0; i < count; i++)
		if (in_range(&special[i], bytes))
			return false;
	return true;
}

bool address_is_ours(const struct sockaddr *address)
{
	static const struct address_range local[] = { { { MAPPED, 0 }, 96 + 8 },
						      { { MAPPED, 127 }, 96 + 8 },
						      { { 0 }, 127 } }; /* :: and ::1 */
	struct ifaddrs *list;
	uint8_t bytes[16], other[16];
	bool ours = false;
	if (!bytes_of(address, bytes))
		return false;
	for (size_t i = 0; i < COUNT(local); i++)
		if (in_range(&local[i], bytes))
			return true;
	if (getifaddrs(&list) != 0)
		return true; /* unknown: assume the unsafe case */
	for (const struct ifaddrs *at = list; at != NULL && !ours; at = at->ifa_next)
		ours = at->ifa_addr != NULL && bytes_of(at->ifa_addr, other) &&
		       memcmp(bytes, other, sizeof(bytes)) == 0;
	freeifaddrs(list);
	return ours;
}

int address_port(const struct sockaddr *address)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	if (address->sa_family == AF_INET) {
		memcpy(&v4, address, sizeof(v4));
		return ntohs(v4.sin_port);
	}
	if (address->sa_family != AF_INET6)
		return -1;
	memcpy(&v6, address, sizeof(v6));
	return ntohs(v6.sin6_port);
}

struct str address_text(const struct sockaddr *address, char out[ADDRESS_TEXT_SIZE])
{
	const void *bytes = NULL;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	if (address->sa_family == AF_INET) {
		memcpy(&v4, address, sizeof(v4));
		bytes = &v4.sin_addr;
	} else if (address->sa_family == AF_INET6) {
		memcpy(&v6, address, sizeof(v6));
		bytes = &v6.sin6_addr;
	}
	if (bytes == NULL || inet_ntop(address->sa_family, bytes, out, ADDRESS_TEXT_SIZE) == NULL)
		memcpy(out, "?", 2);
	return str_from_c(out);
}
