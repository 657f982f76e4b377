/* contract/event.c -- the rows of events.def as one table and two switches. */
#include "contract/event.h"

static const struct str names[] = {
#define EVENT(constant, name, body, text) [EVENT_##constant] = { name, sizeof(name) - 1 },
#include "contracts/events.def"
#undef EVENT
};

struct str event_name(enum event_type type)
{
	return names[type];
}

size_t event_type_count(void)
{
	return COUNT(names);
}

bool event_from(struct str name, enum event_type *out_type)
{
	for (size_t i = 0; i < COUNT(names); i++)
		if (str_equal(names[i], name)) {
			*out_type = (enum event_type)i;
			return true;
		}
	return false;
}

struct str event_body(const struct event *event, struct arena *arena)
{
	switch (event->type) {
#define EVENT(constant, name, body, text) \
	case EVENT_##constant:            \
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
#define EVENT(constant, name, body, text)                                 \
	case EVENT_##constant:                                            \
		event->as.body = body##_parse(source, arena, problems);   \
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
