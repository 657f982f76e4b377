/* api/event_filter.c -- the words of filters, out of the tables that declare events. */
#include "api/event_filter.h"

#include "api/api_internal.h"
#include "base/limits.h"
#include "contract/type.h"
#include "views/view.h"

/* Every event type of every vocabulary. */
static const struct type_word {
	enum view_number view;
	struct str word;
} type_words[] = {
#define PRODUCED(view_, type_, scenario_)  { VIEW_##view_, { type_, sizeof(type_) - 1 } },
#define PLANNED(view_, type_, capability_) { VIEW_##view_, { type_, sizeof(type_) - 1 } },
#define LIVE(view_, type_, text_)          { VIEW_##view_, { type_, sizeof(type_) - 1 } },
#include "contracts/event_types.def"
};

static enum pipeline_event_level level_of(enum event_level level)
{
	switch (level) {
	case EVENT_LEVEL_DEBUG:
		return PIPELINE_LEVEL_DEBUG;
	case EVENT_LEVEL_WARNING:
		return PIPELINE_LEVEL_WARNING;
	case EVENT_LEVEL_ERROR:
		return PIPELINE_LEVEL_ERROR;
	case EVENT_LEVEL_INFO:
		break;
	}
	return PIPELINE_LEVEL_INFO;
}

struct event_class event_class_of(struct str stored)
{
	enum event_type type;
	struct event_class class = { PIPELINE_LEVEL_INFO, PIPELINE_DOMAIN_WORKFLOW, S(""), S("") };
	if (event_from(stored, &type)) {
		class.level = level_of(event_level(type));
		class.stored = event_name(type);
	}
	return class;
}

bool event_filter_allows(const struct event_filter *filter, const struct event_class *class)
{
	if (filter->levels != 0 && (filter->levels >> class->level & 1) == 0)
		return false;
	if (filter->domains != 0 && (filter->domains >> class->domain & 1) == 0)
		return false;
	bool allowed = filter->type_count == 0;
	for (size_t i = 0; i < filter->type_count && !allowed; i++)
		allowed = str_equal(filter->types[i], class->stored) ||
			  (class->word.size > 0 && str_equal(filter->types[i], class->word));
	return allowed;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool unknown(const char *what, struct str word, struct str choices, struct error *error)
{
	return fail(error, ERROR_INVALID, "unknown %s \"" STR_FMT "\"; expected one of " STR_FMT,
		    what, STR_ARG(str_head(word, LIMIT_QUOTE_BYTES)), STR_ARG(choices));
}

static bool read_enum(const struct type *type, const char *what, struct str list, uint32_t *out,
		      struct error *error)
{
	struct str word;
	uint32_t bits = 0;
	while (str_cut(&list, ',', &word)) {
		uint32_t value;
		if (word.size == 0)
			continue;
		if (!contract_word_find(type, word, &value)) {
			AUTO(buf) choices = { 0 };
			for (size_t i = 0; i < type->word_count; i++)
				buf_add_format(&choices, "%s" STR_FMT, i == 0 ? "" : ", ",
					       STR_ARG(contract_word(type, (uint32_t)i)));
			return unknown(what, word, buf_str(&choices), error);
		}
		bits |= 1u << value;
	}
	*out = bits;
	return true;
}

bool event_filter_levels(struct event_filter *filter, struct str list, struct error *error)
{
	return read_enum(pipeline_event_level_type(), "level", list, &filter->levels, error);
}

bool event_filter_domains(struct event_filter *filter, struct str list, struct error *error)
{
	return read_enum(pipeline_event_domain_type(), "domain", list, &filter->domains, error);
}

/* The name in static memory; "" = there is none. */
static struct str find_type(const struct view *view, struct str word)
{
	enum event_type type;
	for (size_t i = 0; view != NULL && i < COUNT(type_words); i++)
		if (view_at(type_words[i].view) == view && str_equal(type_words[i].word, word))
			return type_words[i].word;
	return event_from(word, &type) ? event_name(type) : S("");
}

static bool unknown_type(const struct view *view, struct str word, struct error *error)
{
	AUTO(buf) choices = { 0 };
	for (size_t i = 0; view != NULL && i < COUNT(type_words); i++)
		if (view_at(type_words[i].view) == view)
			buf_add_format(&choices, "%s" STR_FMT, choices.size == 0 ? "" : ", ",
				       STR_ARG(type_words[i].word));
	for (size_t i = 0; view == NULL && i < event_type_count(); i++)
		buf_add_format(&choices, "%s" STR_FMT, i == 0 ? "" : ", ",
			       STR_ARG(event_name((enum event_type)i)));
	/* A vocabulary has more words than an error can list. */
	return fail(error, ERROR_INVALID,
		    "unknown event type \"" STR_FMT "\" (`baton describe %s` lists all of them); "
		    "expected one of " STR_FMT,
		    STR_ARG(str_head(word, LIMIT_QUOTE_BYTES)),
		    view == NULL ? "events" : "vocabularies", STR_ARG(buf_str(&choices)));
}

bool event_filter_types(struct event_filter *filter, const struct view *view, struct str list,
			struct error *error)
{
	struct str word;
	filter->type_count = 0;
	while (str_cut(&list, ',', &word)) {
		struct str known = find_type(view, word);
		if (word.size == 0)
			continue;
		if (known.size == 0)
			return unknown_type(view, word, error);
		if (filter->type_count == EVENT_FILTER_TYPES)
			return fail(error, ERROR_INVALID,
				    "more than %d event types in one filter; filter by level, or "
				    "open another stream",
				    EVENT_FILTER_TYPES);
		filter->types[filter->type_count++] = known;
	}
	return true;
}

bool event_filter_read(struct event_filter *filter, const struct api_call *call,
		       const struct view *view, struct error *error)
{
	return event_filter_levels(filter, api_query(call, S("level")), error) &&
	       event_filter_domains(filter, api_query(call, S("domain")), error) &&
	       event_filter_types(filter, view, api_query(call, S("type")), error);
}
