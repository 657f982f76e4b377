/* contract/event.c -- the rows of events.def as one table and two switches. */
#include "contract/event.h"

static const struct event_row {
	struct str name;
	enum event_level level;
	enum event_persistence persistence;
} rows[] = {
#define EVENT(constant, name, body, level, persistence, text) \
	[EVENT_##constant] = { { name, sizeof(name) - 1 },    \
			       EVENT_LEVEL_##level,           \
			       EVENT_PERSISTENCE_##persistence },
#include "contracts/events.def"
#undef EVENT
};

struct str event_name(enum event_type type)
{
	return rows[type].name;
}

size_t event_type_count(void)
{
	return COUNT(rows);
}

enum event_level event_level(enum event_type type)
{
	return rows[type].level;
}

enum event_persistence event_persistence(enum event_type type)
{
	return rows[type].persistence;
}

struct str event_level_name(enum event_level level)
{
	static const struct str names[] = {
		[EVENT_LEVEL_DEBUG] = { "debug", 5 },
		[EVENT_LEVEL_INFO] = { "info", 4 },
		[EVENT_LEVEL_WARNING] = { "warning", 7 },
		[EVENT_LEVEL_ERROR] = { "error", 5 },
	};
	return names[level];
}

bool event_from(struct str name, enum event_type *out_type)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (str_equal(rows[i].name, name)) {
			*out_type = (enum event_type)i;
			return true;
		}
	return false;
}

struct str event_body(const struct event *event, struct arena *arena)
{
	switch (event->type) {
#define EVENT(constant, name, body, level, persistence, text) \
	case EVENT_##constant:                                \
		return body##_text(event->as.body, arena);
#include "contracts/events.def"
#undef EVENT
	}
	return S("");
}

static bool parse_body(const struct contract_source *source, struct arena *arena,
		       struct problems *problems, struct event *event)
{
	switch (event->type) {
#define EVENT(constant, name, body, level, persistence, text)           \
	case EVENT_##constant:                                          \
		event->as.body = body##_parse(source, arena, problems); \
		return event->as.body != NULL;
#include "contracts/events.def"
#undef EVENT
	}
	return false;
}

bool event_read(struct str name, int64_t at, struct str body, struct arena *arena,
		struct event *out_event, struct error *error)
{
	struct event event = { .at = at };
	if (!event_from(name, &event.type))
		return fail(error, ERROR_INVALID, "unknown event " STR_FMT, STR_ARG(name));
	const struct json *json;
	if (!json_read(body, arena, &json, error))
		return false;
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = json, .text = body, .lenient = true };
	if (!parse_body(&source, arena, &problems, &event)) {
		problems_fail(&problems, error);
		error_prefix(error, "event " STR_FMT ": ", STR_ARG(name));
		return false;
	}
	*out_event = event;
	return true;
}
