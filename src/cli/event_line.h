/* cli/event_line.h -- formats one event as a line of text; private to cli. */
#ifndef CLI_TELL_H
#define CLI_TELL_H

#include "contract/run_stream_types.h"

/* Appends time, type, step and outcome; with `advice`, also the command that answers a request. */
void event_line_add(const struct run_event *event, bool advice, struct buf *out);

#endif
