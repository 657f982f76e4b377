/* contract/describe_listing.c -- every name that a client may rely on, one per line.
 *
 * The listing is the only reference document under version control (tests/golden/contract.txt).
 * A line has a kind, a name, and words; a word is `flag` or `key=value`, where a value that is not a
 * plain word is JSON.  Texts for people are left out, because they may change.  tests/describe reads
 * the listing and compares OpenAPI, JSON Schema and TypeScript with it, so this file shares no code
 * with those three.
 *
 * The cli room appends the lines of the commands.
 */
#include <string.h>

#include "base/error.h"
#include "contract/config_rows.h"
#include "contract/describe.h"
#include "contract/describe_routes.h"
#include "contract/event.h"
#include "contract/modules.h"

/* Only the names of the documents' types are needed, not their structs. */
#define DOCUMENT(constant_, kind_, entity_, rules_, text_) type_function entity_##_type;
#include "contracts/documents.def"
#undef DOCUMENT

/* ---- words ----------------------------------------------------------------------------- */

static void put_json(struct buf *out, const char *key, struct str text)
{
	struct json_writer writer = { .out = out };
	buf_add_format(out, " %s=", key);
	json_put_str(&writer, text);
}

static void put_real(struct buf *out, const char *key, double number)
{
	struct json_writer writer = { .out = out };
	buf_add_format(out, " %s=", key);
	json_put_real(&writer, number);
}

static void put_lower(struct buf *out, const char *word)
{
	for (; *word != '\0'; word++)
		buf_add_char(out, (char)(*word >= 'A' && *word <= 'Z' ? *word - 'A' + 'a' : *word));
}

/* ---- types ----------------------------------------------------------------------------- */

static void put_field_type(struct buf *out, const struct field *field)
{
	switch (field->shape) {
	case SHAPE_CONST:
		put_json(out, "const", field->constant);
		return;
	case SHAPE_ONE:
		buf_add_format(out, " " STR_FMT, STR_ARG(field->of()->name));
		return;
	case SHAPE_LIST:
		buf_add_format(out, " list(" STR_FMT ")", STR_ARG(field->of()->name));
		return;
	case SHAPE_MAP:
		buf_add_format(out, " map(" STR_FMT ")", STR_ARG(field->of()->name));
		return;
	case SHAPE_END:
	case SHAPE_CHECK:
	case SHAPE_COMPUTE:
		return;
	}
}

static const char *making_word(enum making making)
{
	switch (making) {
	case CONTRACT_MAKE_uuid4:
		return "uuid4";
	case CONTRACT_MAKE_uuid_hex:
		return "uuid_hex";
	case CONTRACT_MAKE_now:
		return "now";
	case CONTRACT_MAKE_none:
		break;
	}
	return "none";
}

static void put_presence(struct buf *out, const struct field *field)
{
	switch (field->presence) {
	case PRESENCE_NULLABLE:
		break;
	case PRESENCE_REQUIRED:
		buf_add(out, S(" required"));
		break;
	case PRESENCE_OPTIONAL:
		buf_add(out, S(" optional"));
		break;
	case PRESENCE_DEFAULT:
		buf_add_format(out, " default=" STR_FMT, STR_ARG(field->fallback));
		break;
	case PRESENCE_MADE:
		buf_add_format(out, " generated=%s", making_word(field->making));
		if (field->prefix.size > 0)
			put_json(out, "prefix", field->prefix);
		break;
	case PRESENCE_COMPUTED:
		buf_add(out, S(" computed"));
		break;
	}
	if (field->nullable)
		buf_add(out, S(" nullable"));
}

static void put_rules(struct buf *out, const struct field *field)
{
	if (field->has_low)
		put_real(out, field->above ? "above" : "min", field->low);
	if (field->has_high)
		put_real(out, "max", field->high);
	if (field->has_length)
		buf_add_format(out, " shortest=%llu", (unsigned long long)field->least);
	if (field->has_length && field->most <= INT64_MAX)
		buf_add_format(out, " longest=%llu", (unsigned long long)field->most);
	if (field->pattern != NULL)
		put_json(out, "pattern", str_from_c(field->pattern));
	if (field->unique)
		buf_add(out, S(" unique"));
	if (field->tag_in.size > 0)
		put_json(out, "tag_in", field->tag_in);
	if (field->alias.size > 0)
		put_json(out, "alias", field->alias);
	if (field->deprecated)
		buf_add(out, S(" deprecated"));
}

static void put_entity(struct buf *out, const struct type *type)
{
	static const char *const openness[] = {
		[CONTRACT_CLOSED] = "closed", [CONTRACT_WIRE] = "open", [CONTRACT_KEPT] = "kept"
	};
	buf_add_format(out, "entity " STR_FMT " %s\n", STR_ARG(type->name),
		       openness[type->openness]);
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++) {
		if (field_is_hook(field))
			continue;
		buf_add_format(out, "field " STR_FMT "." STR_FMT, STR_ARG(type->name),
			       STR_ARG(field->name));
		put_field_type(out, field);
		put_presence(out, field);
		put_rules(out, field);
		buf_add_char(out, '\n');
	}
}

static void put_enum(struct buf *out, const struct type *type)
{
	buf_add_format(out, "enum " STR_FMT "\n", STR_ARG(type->name));
	for (size_t i = 0; i < type->word_count; i++)
		buf_add_format(out, "value " STR_FMT "." STR_FMT "\n", STR_ARG(type->name),
			       STR_ARG(type->words[i].name));
	for (const struct enum_old *old = type->olds; old != NULL && old->name.size > 0; old++)
		buf_add_format(out, "value_alias " STR_FMT "." STR_FMT " value=" STR_FMT "\n",
			       STR_ARG(type->name), STR_ARG(old->name),
			       STR_ARG(type->words[old->value].name));
}

static void put_union(struct buf *out, const struct type *type)
{
	buf_add_format(out, "union " STR_FMT, STR_ARG(type->name));
	if (type->tag.size > 0)
		put_json(out, "tag", type->tag);
	buf_add_char(out, '\n');
	for (size_t i = 0; i < type->case_count; i++) {
		const struct union_case *one = &type->cases[i];
		if (one->of == NULL)
			buf_add_format(out, "case " STR_FMT ".* object\n", STR_ARG(type->name));
		else
			buf_add_format(out, "case " STR_FMT "." STR_FMT " " STR_FMT "\n",
				       STR_ARG(type->name), STR_ARG(one->tag),
				       STR_ARG(one->of()->name));
	}
}

static void put_types(struct buf *out)
{
	const struct contract_module *module;
	const struct type *type;
	for (size_t i = 0; (module = contract_module_at(i)) != NULL; i++)
		for (size_t j = 0; (type = contract_type_at(module, j)) != NULL; j++)
			if (type->kind == KIND_ENTITY)
				put_entity(out, type);
			else if (type->kind == KIND_UNION)
				put_union(out, type);
			else
				put_enum(out, type);
}

/* ---- routes ---------------------------------------------------------------------------- */

static void put_answer(struct buf *out, const struct route_row *row)
{
	buf_add_format(out, " status=%d", row->status);
	switch (row->answer) {
	case ROUTE_ANSWER_ONE:
		buf_add_format(out, " gives=" STR_FMT, STR_ARG(row->of()->name));
		break;
	case ROUTE_ANSWER_LIST:
		buf_add_format(out, " gives=list(" STR_FMT ")", STR_ARG(row->of()->name));
		break;
	case ROUTE_ANSWER_EVENTS:
		buf_add_format(out, " gives=events(" STR_FMT ")", STR_ARG(row->of()->name));
		break;
	case ROUTE_ANSWER_BYTES:
		put_json(out, "media", str_from_c(row->media));
		break;
	case ROUTE_ANSWER_NOTHING:
		break;
	}
	buf_add_char(out, '\n');
}

static void put_route(struct buf *out, const struct route_row *row)
{
	AUTO(arena) arena = { 0 };
	buf_add_format(out, "route %s:%s id=" STR_FMT " role=%s", row->method, row->path,
		       STR_ARG(route_row_operation(row, &arena)), role_rows[row->role].word);
	if (!route_row_needs_key(row))
		buf_add(out, S(" no_key"));
	if (row->takes != NULL)
		buf_add_format(out, " takes=" STR_FMT, STR_ARG(row->takes()->name));
	ROUTES_OF(row, item)
	if (item->kind == ROUTE_ROW_MAY_BE_EMPTY)
		buf_add(out, S(" may_be_empty"));
	put_answer(out, row);
	ROUTES_OF(row, item)
	if (item->kind == ROUTE_ROW_QUERY) {
		buf_add_format(out, "query %s:%s?%s " STR_FMT "\n", row->method, row->path,
			       item->name, STR_ARG(item->of()->name));
	} else if (item->kind == ROUTE_ROW_ALSO) {
		buf_add_format(out, "answer %s:%s=%d", row->method, row->path, item->status);
		put_answer(out, item);
	}
}

static void put_routes(struct buf *out)
{
	for (size_t i = 0; role_rows[i].word != NULL; i++)
		buf_add_format(out, "role %s rank=%zu\n", role_rows[i].word, i);
	for (const struct route_row *row = route_rows; row->kind != ROUTE_ROW_END; row++)
		if (row->kind == ROUTE_ROW_DOOR)
			put_route(out, row);
		else if (row->kind == ROUTE_ROW_SOCKET)
			buf_add_format(out, "socket %s role=%s\n", row->path,
				       role_rows[row->role].word);
}

/* ---- the other row files --------------------------------------------------------------- */

#define EVENT(constant_, name_, body_, level_, persistence_, text_) type_function body_##_type;
#include "contracts/events.def"
#undef EVENT

static const struct event_line {
	const char *name, *level, *persistence;
	type_function *body;
} events[] = {
#define EVENT(constant_, name_, body_, level_, persistence_, text_) \
	[EVENT_##constant_] = { name_, #level_, #persistence_, body_##_type },
#include "contracts/events.def"
#undef EVENT
};

static void put_events(struct buf *out)
{
	for (size_t i = 0; i < COUNT(events); i++) {
		buf_add_format(out, "event %s body=" STR_FMT " ", events[i].name,
			       STR_ARG(events[i].body()->name));
		put_lower(out, events[i].level);
		buf_add_char(out, ' ');
		put_lower(out, events[i].persistence);
		buf_add_char(out, '\n');
	}
#define WORD(word_) " word=\"" word_ "\""
#define BY(function_)
#define PROJECT(event_, view_, how_) \
	buf_add_format(out, "shown %s:%s%s\n", events[EVENT_##event_].name, #view_, "" how_);
#define STORED(name_, source_, text_) buf_add(out, S("stored " #name_ "\n"));
#include "contracts/projections.def"
#undef PROJECT
#undef WORD
#undef BY
#define DOCUMENT(constant_, kind_, entity_, rules_, text_)           \
	buf_add_format(out, "document %s body=" STR_FMT "\n", kind_, \
		       STR_ARG(entity_##_type()->name));
#include "contracts/documents.def"
#undef DOCUMENT
}

/* The stored word of a state's constant, for rows that name two states. */
enum {
#define STATE(machine_, constant_, word_, ending_, text_) WORD_OF_##constant_,
#define MOVE(machine_, from_, to_, cause_)
#include "contracts/states.def"
#undef STATE
#undef MOVE
};

static const char *const state_words[] = {
#define STATE(machine_, constant_, word_, ending_, text_) [WORD_OF_##constant_] = word_,
#define MOVE(machine_, from_, to_, cause_)
#include "contracts/states.def"
#undef STATE
#undef MOVE
};

static void put_states(struct buf *out)
{
#define STATE(machine_, constant_, word_, ending_, text_)  \
	buf_add(out, S("state " #machine_ "." word_ " ")); \
	put_lower(out, #ending_);                          \
	buf_add_char(out, '\n');
#define MOVE(machine_, from_, to_, cause_)                                              \
	buf_add_format(out, "move %s.%s:%s\n", #machine_, state_words[WORD_OF_##from_], \
		       state_words[WORD_OF_##to_]);
#include "contracts/states.def"
#undef STATE
#undef MOVE
}

static const char *retry_word(enum error_retry retry)
{
	switch (retry) {
	case ERROR_RETRY_FINAL:
		return "no";
	case ERROR_RETRY_AGAIN:
		return "yes";
	case ERROR_RETRY_ASK:
		return "ask";
	}
	return "";
}

static void put_errors(struct buf *out)
{
	for (size_t i = 0; i < error_count(); i++) {
		const struct error_row *row = error_row((enum error_code)i);
		buf_add_format(out,
			       "error " STR_FMT " status=%d exit=%d retry=%s class=" STR_FMT "\n",
			       STR_ARG(row->name), row->http_status, row->exit_status,
			       retry_word(row->retry), STR_ARG(row->class));
	}
}

static void put_settings(struct buf *out)
{
	const struct config_row *row;
	char environment[CONFIG_ENVIRONMENT_SIZE];
	for (size_t i = 0; (row = config_at(i)) != NULL; i++) {
		buf_add_format(out, "setting " STR_FMT " %s", STR_ARG(row->name),
			       config_type_name(row->type));
		if (row->type == CONFIG_PORT || row->type == CONFIG_INT ||
		    row->type == CONFIG_SECONDS)
			buf_add_format(out, " min=%lld max=%lld", (long long)row->least,
				       (long long)row->most);
		if (row->choices.size > 0)
			put_json(out, "choices", row->choices);
		put_json(out, "default", str_from_c(row->fallback));
		buf_add_format(out, " environment=%s", config_environment(row, environment));
		if (row->flag[0] != '\0')
			buf_add_format(out, " flag=%s", row->flag);
		if (row->letter != 0)
			buf_add_format(out, " letter=%c", row->letter);
		buf_add_char(out, '\n');
	}
#define METRIC(name_, kind_, from_, text_)  buf_add(out, S("metric " #name_ " " #kind_ "\n"));
#define HISTOGRAM(name_, from_, text_)      buf_add(out, S("metric " #name_ " histogram\n"));
#define FAMILY(name_, kind_, maker_, text_) buf_add(out, S("metric " #name_ " " #kind_ "\n"));
#include "contracts/metrics.def"
#undef METRIC
#undef HISTOGRAM
#undef FAMILY
}

void describe_listing(struct buf *out)
{
	put_types(out);
	put_routes(out);
	put_events(out);
	put_states(out);
	put_errors(out);
	put_settings(out);
}
