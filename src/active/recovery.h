/* active/recovery.h -- executor_recover() counts the runs it waits for. */
#ifndef ACTIVE_RECOVERY_H
#define ACTIVE_RECOVERY_H

struct executor;

/* A run that recovery waits for is loaded, or cannot be loaded. */
void recovery_loaded(struct executor *executor);

#endif
