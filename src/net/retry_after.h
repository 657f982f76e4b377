/* net/retry_after.h -- how long a server wants to be left alone.
 *
 * Pure. */
#ifndef NET_RETRY_AFTER_H
#define NET_RETRY_AFTER_H

#include "net/http_server.h"

/* The value of the first header with this name; "" when there is none. */
struct str net_header_value(const struct http_header *headers, size_t count, struct str name);
/* Retry-After-Ms, or Retry-After in seconds or as a date, in us, between 0 and `most_us`; 0 = it says
 * nothing. */
int64_t net_retry_after(const struct http_header *headers, size_t count, int64_t wall_us,
			int64_t most_us);

#endif
