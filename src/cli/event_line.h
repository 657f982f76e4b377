/* cli/event_line.h -- prints one event as a line of text; private to cli. */
#ifndef CLI_TELL_H
#define CLI_TELL_H

#include <stdio.h>

#include "contract/run_stream_types.h"

/* Prints time, type, step and outcome; with `advice`, also the command that answers a request. */
void event_line_print(FILE *to, const struct run_event *event, bool advice);

#endif
