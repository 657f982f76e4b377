/* os/lock_holders.h -- ends the processes that hold a lock file open.
 *
 * A process that a killed server left behind holds the lock of its effect.  Usually it ends by
 * itself (sandbox/sandbox.h).  One that cannot, because it was stopped or because its sandbox was
 * never completed, would keep the lock for ever.
 *
 * Threads: any.  Reads the whole of /proc: some milliseconds.
 */
#ifndef OS_LOCK_HOLDERS_H
#define OS_LOCK_HOLDERS_H

#include <stddef.h>

/* Sends SIGKILL to every other process that has the file open, and returns their number.  Only for
 * a file that belongs to this server: a process that holds it was left by an earlier server. */
size_t lock_holders_kill(const char *path);

#endif
