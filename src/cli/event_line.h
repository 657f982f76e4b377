/* cli/event_line.h -- one stored event as a line for a person. */
#ifndef CLI_TELL_H
#define CLI_TELL_H

#include <stdio.h>

#include "contract/run_types.h"

/* Time, type, step, and how it came out; with `advice` also what to do about a question. */
void event_line_print(FILE *to, const struct run_event *event, bool advice);

#endif
