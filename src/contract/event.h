/* contract/event.h -- events of a run's stream, typed.
 *
 * Made from contracts/events.def: an enum constant, a name, a body entity, a level and whether it
 * is kept.  Encoding prints the body; decoding reads leniently what any released version wrote
 * (architecture R9).
 */
#ifndef CONTRACT_EVENT_H
#define CONTRACT_EVENT_H

#include "contract/contract.h"

struct run_value;
struct run_commit_list;
#define EVENT(constant, name, body, level, persistence, text) struct body;
#include "contracts/events.def"
#undef EVENT

enum event_type {
#define EVENT(constant, name, body, level, persistence, text) EVENT_##constant,
#include "contracts/events.def"
#undef EVENT
};

enum event_level {
	EVENT_LEVEL_DEBUG,
	EVENT_LEVEL_INFO,
	EVENT_LEVEL_WARNING,
	EVENT_LEVEL_ERROR,
};

enum event_persistence {
	EVENT_PERSISTENCE_STORED,
	EVENT_PERSISTENCE_KEPT, /* of the run's life cycle: it outlives a compaction */
};

/* No event names more values than this. */
enum { EVENT_NAMES = 2 };

struct event {
	enum event_type type;
	int64_t at; /* us UTC, as the command said */
	union {
#define EVENT(constant, name, body, level, persistence, text) const struct body *body;
#include "contracts/events.def"
#undef EVENT
	} as;
};

struct str event_name(enum event_type type);
bool event_from(struct str name, enum event_type *out_type);
size_t event_type_count(void);
enum event_level event_level(enum event_type type); /* as the row says, whatever the body says */
enum event_persistence event_persistence(enum event_type type);
struct str event_level_name(enum event_level level); /* "debug", "info", "warning", "error" */

struct str event_body(const struct event *event, struct arena *arena); /* JSON */
/* What it tells of earlier appends; none: an empty list. */
struct run_commit_list event_commits(const struct event *event);
/* The event tells these too: its body is another one then, in the arena. */
void event_tell_commits(struct event *event, struct run_commit_list commits, struct arena *arena);
/* The stored values and the graph that its body names; how many. */
size_t event_names(const struct event *event, struct hash out_names[EVENT_NAMES]);
/* The hash of a value that is stored; false for one that is absent or stands in the body. */
bool value_name(const struct run_value *value, struct hash *out_name);
MUST_CHECK bool event_read(struct str name, int64_t at, struct str body, struct arena *arena,
			   struct event *out_event, struct error *error);

#endif
