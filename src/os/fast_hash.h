/* os/fast_hash.h -- libcrypto's SHA-256 for long texts, which uses what the processor has for it.
 *
 * The library is opened at run time and only when something long is hashed for the first time: the
 * program starts and idles without it, and works without it where it is not installed
 * (base/sha256.c hashes then).  Opening takes milliseconds, so it is not for the loop thread.
 */
#ifndef OS_FAST_HASH_H
#define OS_FAST_HASH_H

#include <stdbool.h>

/* Opens it at the first call; from then on hash_of() uses it for long texts.  False: it is not
 * there. Any thread but the loop's. */
bool fast_hash_load(void);

#endif
