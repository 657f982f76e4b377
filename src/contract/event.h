/* contract/event.h -- events of a run's stream, typed.
 *
 * Made from contracts/events.def: an enum constant, a name and a body entity each.  Encoding
 * prints the body; decoding reads leniently what any released version wrote (architecture R9).
 */
#ifndef CONTRACT_EVENT_H
#define CONTRACT_EVENT_H

#include "contract/run.h"

enum event_type {
#define EVENT(constant, name, body, text) EVENT_##constant,
#include "contracts/events.def"
#undef EVENT
};

struct event {
	enum event_type type;
	int64_t at;                     /* us UTC, as the command said */
	union {
#define EVENT(constant, name, body, text) const struct body *body;
#include "contracts/events.def"
#undef EVENT
	} as;
};

struct str event_name(enum event_type type);
bool event_from(struct str name, enum event_type *out_type);
size_t event_type_count(void);

struct str event_body(const struct event *event, struct arena *arena);     /* JSON */
MUST_CHECK bool event_read(struct str name, int64_t at, struct str body, struct arena *arena,
			   struct event *out_event, struct error *error);

#endif
