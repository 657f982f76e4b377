/* net/local_address.h -- the address of a Unix socket, however long its path is.
 *
 * A socket's address holds 107 bytes.  A longer path is reached through its folder, opened and
 * named by /proc/self/fd: the caller closes *out_folder (-1 when there is none) after bind or
 * connect.
 */
#ifndef NET_LOCAL_ADDRESS_H
#define NET_LOCAL_ADDRESS_H

#include <sys/un.h>

#include "base/error.h"

MUST_CHECK bool local_address(const char *path, struct sockaddr_un *out_address, int *out_folder,
			      struct error *error);

#endif
