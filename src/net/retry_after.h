/* net/retry_after.h -- how long a server wants to be left alone.
 *
 * Retry-After-Ms, or Retry-After in seconds or as a date.  Pure.
 */
#ifndef NET_RETRY_AFTER_H
#define NET_RETRY_AFTER_H

#include "net/http_server.h"

/* In us, between 0 and most_us; 0 when the headers name no time. */
int64_t retry_after_read(const struct http_header *headers, size_t count, int64_t wall_us,
			 int64_t most_us);

#endif
