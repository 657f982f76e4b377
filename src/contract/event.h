/* contract/event.h -- typed events of event streams.
 *
 * A row of contracts/events.def gives an event type its enum constant, its stored name, the entity
 * of its body, its log level and whether compaction keeps it.  Encoding prints the body; decoding
 * reads leniently what any released version wrote (architecture R9).
 */
#ifndef CONTRACT_EVENT_H
#define CONTRACT_EVENT_H

#include "contract/contract.h"

struct run_value;
struct run_commit_list;
struct run_milestone;
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
	EVENT_PERSISTENCE_KEPT, /* a life cycle event, which compaction does not remove */
};

/* The most stored values that one event refers to by hash. */
enum { EVENT_NAMES = 4 };

struct event {
	enum event_type type;
	int64_t at; /* microseconds since 1970 UTC: the time of the command */
	union {
#define EVENT(constant, name, body, level, persistence, text) const struct body *body;
#include "contracts/events.def"
#undef EVENT
	} as;
};

struct str event_name(enum event_type type);
bool event_from(struct str name, enum event_type *out_type);
size_t event_type_count(void);
enum event_level event_level(enum event_type type); /* of the row; the body has no influence */
enum event_persistence event_persistence(enum event_type type);
struct str event_level_name(enum event_level level); /* "debug", "info", "warning", "error" */

struct str event_body(const struct event *event, struct arena *arena); /* JSON */
/* The commit times of earlier appends that the event reports; may be empty. */
struct run_commit_list event_commits(const struct event *event);
/* The warnings that the event records; may be empty. */
struct run_warning_list event_warnings(const struct event *event, int64_t *out_dropped);
/* Makes the event record warnings: it gets a new body in the arena. */
void event_set_warnings(struct event *event, struct run_warning_list warnings, int64_t dropped,
			struct arena *arena);
/* The milestone that begins or ends with the event; NULL = none. */
const struct run_milestone *event_milestone(const struct event *event);
void event_set_milestone(struct event *event, const struct run_milestone *milestone,
			 struct arena *arena);
/* The path of the event's step; false when the event belongs to the run itself. */
bool event_step(const struct event *event, struct str *out_path);
/* Makes the event report these commits (may be empty) and the request that caused it ("" = none): it
 * gets a new body in the arena. */
void event_set_origin(struct event *event, struct run_commit_list commits, struct str request_id,
		      struct arena *arena);
/* The hashes of the stored values and of the graph that the body refers to; returns their number. */
size_t event_names(const struct event *event, struct hash out_names[EVENT_NAMES]);
/* The hash of a stored value; false when the value is absent or inline in the body. */
bool value_name(const struct run_value *value, struct hash *out_name);
MUST_CHECK bool event_read(struct str name, int64_t at, struct str body, struct arena *arena,
			   struct event *out_event, struct error *error);

#endif
