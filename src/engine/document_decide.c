/* engine/document_decide.c -- decides a change of documents.
 *
 * First, each change is checked by itself: its expected revision, and its body against its entity.
 * Then the rules check the documents as they would be after all changes, so that one command can
 * replace everything in any order.  If a rule reads a document that is not loaded, the document is
 * noted as a need and the whole decision is made again: it is short, and nothing has to be resumed.
 */
#include "engine/document_rules.h"

#include "base/limits.h"
#include "contract/run_event_types.h"
#include "contract/run_settings_types.h"

struct document_after {
	const struct document_view *view;
	struct document_decision *decision;
};

static document_rule *const rules[] = {
#define DOCUMENT(constant, kind, entity, rules, text) [DOCUMENT_##constant] = document_rule_##rules,
#include "contracts/documents.def"
#undef DOCUMENT
};

static void decision_need_value(struct document_decision *d, enum document_kind kind,
				struct str name)
{
	for (size_t i = 0; i < d->need_count; i++)
		if (d->needs[i].kind == kind && str_equal(d->needs[i].name, name))
			return;
	if (d->need_count < LIMIT_DOCUMENT_CHANGES * 2)
		d->needs[d->need_count++] = (struct document_need){ kind, name };
}

static const struct document_state *see(const struct document_view *view,
					struct document_decision *d, enum document_kind kind,
					struct str name)
{
	const struct document_state *document = view->look(view->context, kind, name);
	if (document == NULL)
		decision_need_value(d, kind, name);
	return document;
}

static struct document_result *result_of(const struct document_decision *d, enum document_kind kind,
					 struct str name)
{
	for (size_t i = 0; i < d->result_count; i++)
		if (d->results[i].kind == kind && str_equal(d->results[i].name, name))
			return &d->results[i];
	return NULL;
}

struct str document_body_after(const struct document_after *after, enum document_kind kind,
			       struct str name)
{
	const struct document_result *result = result_of(after->decision, kind, name);
	if (result != NULL)
		return result->body;
	const struct document_state *document = see(after->view, after->decision, kind, name);
	return document == NULL ? S("") : document->body;
}

/* ---- one change ---------------------------------------------------------------------- */

/* "a" or "an" with the name of the kind, as in "a profile" and "an agent". */
static const char *article(struct str kind)
{
	return str_starts(kind, S("a")) ? "an" : "a";
}

static bool check_name(struct str name, struct str kind, struct error *error)
{
	if (name.size == 0 || name.size > LIMIT_NAME_BYTES)
		return fail(error, ERROR_INVALID,
			    "the name of %s " STR_FMT " must have 1 to %d bytes, not %zu",
			    article(kind), STR_ARG(kind), LIMIT_NAME_BYTES, name.size);
	bool plain = !str_equal(name, S(".")) && !str_equal(name, S(".."));
	for (size_t i = 0; i < name.size && plain; i++)
		plain = (unsigned char)name.at[i] >= 0x20 && name.at[i] != 0x7F &&
			name.at[i] != '/';
	/* The name is one segment of a URL path. */
	return plain || fail(error, ERROR_INVALID,
			     "the name of %s " STR_FMT
			     " must not contain a slash or a control character, nor be . or ..",
			     article(kind), STR_ARG(kind));
}

static bool check_revision(const struct document_change *change,
			   const struct document_state *document, struct error *error)
{
	int64_t revision = document->body.size > 0 ? document->revision : 0;
	if (change->body.size == 0 && revision == 0)
		return fail(error, ERROR_NOT_FOUND, "there is no " STR_FMT " called " STR_FMT,
			    STR_ARG(change->kind), STR_ARG(change->name));
	if (change->revision == DOCUMENT_ANY_REVISION || change->revision == revision ||
	    (change->revision == DOCUMENT_SOME_REVISION && revision > 0))
		return true;
	if (change->revision == 0)
		return fail(error, ERROR_CONFLICT,
			    "there is already %s " STR_FMT " called " STR_FMT,
			    article(change->kind), STR_ARG(change->kind), STR_ARG(change->name));
	if (revision == 0)
		return fail(error, ERROR_PRECONDITION_FAILED,
			    "there is no " STR_FMT " called " STR_FMT, STR_ARG(change->kind),
			    STR_ARG(change->name));
	return fail(error, ERROR_PRECONDITION_FAILED,
		    STR_FMT " " STR_FMT " is at revision %lld, not %lld: read it again",
		    STR_ARG(change->kind), STR_ARG(change->name), (long long)revision,
		    (long long)change->revision);
}

static bool read_body(const struct document_change *change, enum document_kind kind,
		      struct document_decision *d, const void **out_value, struct str *out_body,
		      struct error *error)
{
	*out_value = NULL;
	*out_body = S("");
	if (change->body.size == 0)
		return true;
	const void *value = document_read(kind, change->body, d->arena, &d->problems);
	if (value == NULL)
		return problems_fail(&d->problems, error);
	struct str body = contract_text(document_type(kind), value, d->arena);
	size_t limit = kind == DOCUMENT_DEFINITION_VERSION || kind == DOCUMENT_PROMPT_VERSION
			       ? LIMIT_DEFINITION_BYTES
			       : LIMIT_DOCUMENT_BYTES;
	if (body.size > limit)
		return fail(error, ERROR_TOO_LARGE,
			    STR_FMT " " STR_FMT " has %zu bytes; the limit is %zu",
			    STR_ARG(change->kind), STR_ARG(change->name), body.size, limit);
	*out_value = value;
	*out_body = body;
	return true;
}

/* Adds the result of one change; a document that is not loaded is left for the next call. */
static bool take_change(const struct document_change *change, const struct document_view *view,
			struct document_decision *d, struct document_subject *out_subject,
			struct error *error)
{
	enum document_kind kind;
	if (!document_kind_from(change->kind, &kind))
		return fail(error, ERROR_INVALID, "there is no document kind " STR_FMT,
			    STR_ARG(change->kind));
	if (!check_name(change->name, change->kind, error))
		return false;
	if (result_of(d, kind, change->name) != NULL)
		return fail(error, ERROR_INVALID,
			    STR_FMT " " STR_FMT " is changed twice in one command",
			    STR_ARG(change->kind), STR_ARG(change->name));
	const struct document_state *document = see(view, d, kind, change->name);
	*out_subject = (struct document_subject){ kind, change->name, NULL };
	struct str body;
	if (document != NULL && !check_revision(change, document, error))
		return false;
	if (!read_body(change, kind, d, &out_subject->value, &body, error))
		return false;
	struct document_result *result = &d->results[d->result_count++];
	*result = (struct document_result){ .kind = kind, .name = change->name, .body = body };
	if (document != NULL) {
		result->before = document->body.size > 0 ? document->revision : 0;
		result->changed = !str_equal(body, document->body);
		result->revision = document->revision + (result->changed ? 1 : 0);
	}
	return true;
}

/* ---- what follows -------------------------------------------------------------------- */

struct str document_active_profile(const struct document_after *after, struct arena *arena)
{
	struct error error;
	struct str body = document_body_after(after, DOCUMENT_SETTINGS,
					      document_kind_name(DOCUMENT_SETTINGS));
	if (body.size == 0)
		return S("");
	const struct run_selection *selection =
		document_read_stored(DOCUMENT_SETTINGS, body, arena, &error);
	return selection == NULL ? S("") : selection->active_profile;
}

/* When there is a profile, one profile is active. */
static void select_first(const struct document_view *view, struct document_decision *d)
{
	struct str name = document_kind_name(DOCUMENT_SETTINGS);
	const struct document_result *first = NULL;
	for (size_t i = 0; i < d->result_count && first == NULL; i++)
		if (d->results[i].kind == DOCUMENT_PROFILE && d->results[i].body.size > 0)
			first = &d->results[i];
	if (first == NULL || result_of(d, DOCUMENT_SETTINGS, name) != NULL)
		return;
	const struct document_state *settings = see(view, d, DOCUMENT_SETTINGS, name);
	if (settings == NULL || settings->body.size > 0)
		return;
	struct run_selection *selection = run_selection_new(d->arena);
	SET(selection, active_profile, first->name);
	d->results[d->result_count++] =
		(struct document_result){ .kind = DOCUMENT_SETTINGS,
					  .name = name,
					  .revision = settings->revision + 1,
					  .body = run_selection_text(selection, d->arena),
					  .changed = true };
}

static void make_events(const struct document_command *command, struct document_decision *d)
{
	for (size_t i = 0; i < d->result_count; i++) {
		const struct document_result *result = &d->results[i];
		if (!result->changed)
			continue;
		struct run_document_changed *body = run_document_changed_new(d->arena);
		SET(body, kind, document_kind_name(result->kind));
		SET(body, name, result->name);
		SET(body, revision, result->revision);
		if (result->body.size > 0) {
			struct error error;
			const struct json *json;
			bool good = json_read(result->body, d->arena, &json, &error);
			require(good);
			SET(body, body, json);
		}
		SET(body, by, command->by);
		d->events[d->event_count++] = (struct event){ EVENT_DOCUMENT_CHANGED,
							      command->now,
							      { .run_document_changed = body } };
	}
}

bool document_decide(const struct document_command *command, const struct document_view *view,
		     struct document_decision *d, enum engine_answer *out_answer,
		     struct error *error)
{
	if (command->count == 0 || command->count > LIMIT_DOCUMENT_CHANGES)
		return fail(error, ERROR_TOO_LARGE, "a command must change 1 to %d documents",
			    LIMIT_DOCUMENT_CHANGES);
	struct arena *arena = d->arena;
	*d = (struct document_decision){ .arena = arena, .problems = { .arena = arena } };
	d->results = arena_array(arena, struct document_result, command->count + 1);
	d->events = arena_array(arena, struct event, command->count + 1);
	d->needs = arena_array(arena, struct document_need, LIMIT_DOCUMENT_CHANGES * 2);
	struct document_subject *subjects =
		arena_array(arena, struct document_subject, command->count);
	for (size_t i = 0; i < command->count; i++)
		if (!take_change(&command->changes[i], view, d, &subjects[i], error))
			return false;
	select_first(view, d);
	const struct document_after after = { view, d };
	struct error broken;
	for (size_t i = 0; i < command->count; i++)
		if (!rules[subjects[i].kind](&after, &subjects[i], d, &broken) &&
		    d->need_count == 0) {
			*error = broken;
			return false;
		}
	*out_answer = d->need_count > 0 ? ENGINE_NEED : ENGINE_DONE;
	if (*out_answer == ENGINE_DONE)
		make_events(command, d);
	return true;
}
