/* active/alarm.h -- when something of a run is due: waits, deadlines, retries, questions.
 *
 * An alarm sends COMMAND_DUE to its run.  Only alarms that are due soon (LIMIT_ALARM_MS) are in
 * memory; the others are rows, found by the next scan.
 */
#ifndef ACTIVE_ALARM_H
#define ACTIVE_ALARM_H

#include "base/str.h"
#include "base/uuid.h"

struct executor;

/* Sets the alarm of an open effect, or moves it. */
void alarm_set(struct executor *executor, const struct uuid *run, const struct uuid *effect,
	       struct str step, int64_t due_at);
void alarm_clear(struct executor *executor, const struct uuid *effect);
/* Reads from the store what is due soon, sets its alarms, and schedules the next scan. */
void alarm_scan(struct executor *executor);
void alarm_discard_all(struct executor *executor);

#endif
