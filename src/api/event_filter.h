/* api/event_filter.h -- ?level=, ?domain= and ?type= of lists, streams and sockets of events.
 *
 * Each is a list of words with commas; an event is shown if it has one of the words of each list that is
 * given.  A type is a word of the vocabulary that the client reads, or Baton's own name of the stored
 * event.  Level and domain are those of the event in the pipeline vocabulary; in the other ones, the level
 * is that of the stored event, and the domain is workflow.  A filter belongs to a connection, not to the
 * pages that connections share; what it leaves out moves the cursor all the same.
 */
#ifndef API_EVENT_FILTER_H
#define API_EVENT_FILTER_H

#include "contract/event.h"
#include "contract/pipeline_types.h"

struct api_call;
struct view;

/* What a filter looks at. */
struct event_class {
	enum pipeline_event_level level;
	enum pipeline_event_domain domain;
	struct str stored, word; /* names in static memory; word: in the vocabulary */
};

enum { EVENT_FILTER_TYPES = 32 };

struct event_filter {
	uint32_t levels, domains; /* bits; 0 = all */
	struct str types[EVENT_FILTER_TYPES];
	size_t type_count; /* 0 = all */
};

/* The class of a stored event in Baton's own vocabulary; another one has further details. */
struct event_class event_class_of(struct str stored);
bool event_filter_allows(const struct event_filter *filter, const struct event_class *class);
static inline bool event_filter_is_empty(const struct event_filter *filter)
{
	return filter->levels == 0 && filter->domains == 0 && filter->type_count == 0;
}
/* Reads one list; "" = all.  INVALID (422) with the choices when a word is unknown. */
MUST_CHECK bool event_filter_levels(struct event_filter *filter, struct str list,
				    struct error *error);
MUST_CHECK bool event_filter_domains(struct event_filter *filter, struct str list,
				     struct error *error);
MUST_CHECK bool event_filter_types(struct event_filter *filter, const struct view *view,
				   struct str list, struct error *error);
/* The three of a request; view NULL = Baton's own vocabulary. */
MUST_CHECK bool event_filter_read(struct event_filter *filter, const struct api_call *call,
				  const struct view *view, struct error *error);

#endif
