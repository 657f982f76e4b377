/* net/local_address.h -- socket address of a Unix socket with a path of any length.
 *
 * A socket address holds at most 107 bytes.  For a longer path the folder is opened and the address
 * uses /proc/self/fd/N: the caller closes *out_folder (-1 when not needed) after bind or connect.
 */
#ifndef NET_LOCAL_ADDRESS_H
#define NET_LOCAL_ADDRESS_H

#include <sys/un.h>

#include "base/error.h"

MUST_CHECK bool local_address(const char *path, struct sockaddr_un *out_address, int *out_folder,
			      struct error *error);

#endif
