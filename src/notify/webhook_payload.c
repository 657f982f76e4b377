/* notify/webhook_payload.c -- from a stored event to a payload.
 *
 * The first event of a run is never removed by compaction: it has the name of the definition, the
 * labels and the profile.  An event that cannot be read is not reported; it must not stop the others.
 */
#include "notify/webhook_payload.h"

#include "active/stored_row.h"
#include "base/limits.h"
#include "contract/run_event_types.h"
#include "contract/run_start_types.h"
#include "contract/run_value_types.h"

static const struct {
	const char *type;
} wanted[] = { { "human.requested" }, { "human.escalated" }, { "human.finished" },
	       { "run.created" },     { "run.paused" },      { "run.finished" } };

bool webhook_payload_wants(const struct store_event_row *row)
{
	for (size_t i = 0; i < COUNT(wanted); i++)
		if (str_equal(row->type, str_from_c(wanted[i].type)))
			return true;
	return false;
}

bool webhook_payload_source(struct store_reader *reader, const struct uuid *run,
			    struct arena *arena, struct webhook_source *out_source,
			    struct error *error)
{
	struct store_event_page page;
	struct event event;
	struct error unread;
	*out_source = (struct webhook_source){ .id = *run };
	if (!reader->ops->read_events(reader, run, 0, 1, arena, &page, error))
		return false;
	if (page.count == 0 || !stored_event_read(&page.at[0], arena, &event, &unread) ||
	    event.type != EVENT_RUN_CREATED)
		return true;
	out_source->created = event.as.run_created;
	out_source->created_at = event.at;
	for (size_t i = 0;
	     has(out_source->created, labels) && i < out_source->created->labels.count; i++)
		if (str_equal(out_source->created->labels.at[i].key, S("delivery")))
			out_source->is_delivery = true;
	return true;
}

/* ---- parts ------------------------------------------------------------------------------- */

static struct str short_text(struct str text, struct arena *arena)
{
	size_t size = text.size;
	if (size <= LIMIT_WEBHOOK_TEXT_BYTES)
		return text;
	size = LIMIT_WEBHOOK_TEXT_BYTES;
	while (size > 0 && ((uint8_t)text.at[size] & 0xc0) == 0x80)
		size--;
	return str_format(arena, STR_FMT " …", STR_ARG(str_head(text, size)));
}

static struct str run_link(const struct webhook_source *source, struct str base,
			   struct arena *arena)
{
	char id[UUID_TEXT_SIZE];
	struct str run = uuid_text(&source->id, id);
	return str_format(arena, STR_FMT "/ui/runs/" STR_FMT, STR_ARG(base), STR_ARG(run));
}

static struct run_webhook_run *run_of(const struct webhook_source *source, struct str state,
				      struct str base, struct arena *arena)
{
	const struct run_created *created = source->created;
	struct run_webhook_run *run = run_webhook_run_new(arena);
	SET(run, id, source->id);
	SET(run, workflow, created->name);
	SET(run, state, state);
	if (has(created, labels))
		SET(run, labels, created->labels);
	if (has(created, profile))
		SET(run, profile, created->profile);
	if (has(created, by))
		SET(run, by, created->by);
	if (has(created, parent))
		SET(run, parent, created->parent);
	SET(run, created_at, source->created_at);
	SET(run, link, run_link(source, base, arena));
	return run;
}

static struct str_list choices_of(enum run_request_kind kind, struct arena *arena)
{
	static const struct str usual[] = { { "approve", 7 }, { "reject", 6 }, { "modify", 6 } };
	static const struct str unknown[] = { { "happened", 8 },
					      { "not_happened", 12 },
					      { "retry", 5 } };
	const struct str *words = kind == RUN_REQUEST_OUTCOME_UNKNOWN ? unknown : usual;
	return (struct str_list){ arena_copy(arena, words, sizeof(usual)), 3 };
}

static struct run_webhook_question *question_of(const struct uuid *id, struct str step,
						struct str base, struct arena *arena)
{
	struct run_webhook_question *question = run_webhook_question_new(arena);
	char text[UUID_TEXT_SIZE];
	struct str request = uuid_text(id, text);
	SET(question, id, *id);
	SET(question, step, step);
	SET(question, link,
	    str_format(arena, STR_FMT "/ui/inbox?question=" STR_FMT, STR_ARG(base),
		       STR_ARG(request)));
	return question;
}

/* ---- events ------------------------------------------------------------------------------ */

struct making {
	const struct webhook_source *source;
	struct str base, name;
	struct arena *arena;
	struct run_webhook_payload *payload;
};

static void set_question(struct making *m, const struct run_webhook_question *question)
{
	SET(m->payload, question, question);
	SET(m->payload, link, question->link);
}

static void asked(struct making *m, const struct run_human_requested *body)
{
	struct run_webhook_question *question =
		question_of(&body->effect, body->step, m->base, m->arena);
	struct str text = short_text(body->question, m->arena);
	SET(question, kind, body->kind);
	SET(question, question, body->question);
	SET(question, choices, choices_of(body->kind, m->arena));
	SET(question, revision, body->revision);
	if (has(body, to))
		SET(question, to, body->to);
	if (has(body, due_at))
		SET(question, due_at, body->due_at);
	SET(m->payload, event, RUN_WEBHOOK_EVENT_APPROVAL_NEEDED);
	SET(m->payload, run, run_of(m->source, S("waiting_human"), m->base, m->arena));
	SET(m->payload, text,
	    str_format(m->arena, STR_FMT " asks: " STR_FMT, STR_ARG(m->name), STR_ARG(text)));
	set_question(m, question);
}

static void escalated(struct making *m, const struct run_human_escalated *body)
{
	struct run_webhook_question *question =
		question_of(&body->effect, body->step, m->base, m->arena);
	SET(question, to, body->to);
	if (has(body, due_at))
		SET(question, due_at, body->due_at);
	SET(m->payload, event, RUN_WEBHOOK_EVENT_ESCALATED);
	SET(m->payload, run, run_of(m->source, S("waiting_human"), m->base, m->arena));
	SET(m->payload, text,
	    str_format(m->arena, "A question of " STR_FMT " was escalated to " STR_FMT ".",
		       STR_ARG(m->name), STR_ARG(body->to)));
	set_question(m, question);
}

static void answered(struct making *m, const struct run_human_finished *body)
{
	struct run_webhook_question *question =
		question_of(&body->effect, body->step, m->base, m->arena);
	struct str decision = run_decision_name(body->decision);
	SET(question, decision, decision);
	SET(question, by, body->by);
	if (has(body, comment))
		SET(question, comment, short_text(body->comment, m->arena));
	SET(m->payload, event, RUN_WEBHOOK_EVENT_ANSWERED);
	SET(m->payload, run, run_of(m->source, S("running"), m->base, m->arena));
	SET(m->payload, text,
	    str_format(m->arena, STR_FMT " answered a question of " STR_FMT ": " STR_FMT ".",
		       STR_ARG(body->by), STR_ARG(m->name), STR_ARG(decision)));
	set_question(m, question);
}

static void paused(struct making *m, const struct run_paused *body)
{
	SET(m->payload, event, RUN_WEBHOOK_EVENT_PAUSED);
	SET(m->payload, run, run_of(m->source, S("paused"), m->base, m->arena));
	struct str reason = has(body, reason) ? short_text(body->reason, m->arena) : S("");
	SET(m->payload, text,
	    str_format(m->arena, STR_FMT " was paused by " STR_FMT "%s" STR_FMT ".",
		       STR_ARG(m->name), STR_ARG(body->by), reason.size > 0 ? ": " : "",
		       STR_ARG(reason)));
}

static void created(struct making *m, bool queued)
{
	SET(m->payload, event, RUN_WEBHOOK_EVENT_STARTED);
	SET(m->payload, run,
	    run_of(m->source, queued ? S("queued") : S("running"), m->base, m->arena));
	SET(m->payload, text, str_format(m->arena, STR_FMT " has started.", STR_ARG(m->name)));
}

static void finished(struct making *m, const struct run_finished *body, int64_t at)
{
	static const struct {
		enum run_webhook_event event;
		const char *state, *words;
	} rows[] = {
		[RUN_OUTCOME_OK] = { RUN_WEBHOOK_EVENT_SUCCEEDED, "succeeded", "succeeded" },
		[RUN_OUTCOME_WITH_ISSUES] = { RUN_WEBHOOK_EVENT_WITH_ISSUES, "with_issues",
					      "succeeded, but something is open" },
		[RUN_OUTCOME_FAILED] = { RUN_WEBHOOK_EVENT_FAILED, "failed", "failed" },
		[RUN_OUTCOME_CANCELLED] = { RUN_WEBHOOK_EVENT_CANCELLED, "cancelled",
					    "was cancelled" },
		[RUN_OUTCOME_UNKNOWN] = { RUN_WEBHOOK_EVENT_FAILED, "failed", "failed" },
	};
	struct run_webhook_run *run =
		run_of(m->source, str_from_c(rows[body->outcome].state), m->base, m->arena);
	struct str why = has(body, fault) ? short_text(body->fault->text, m->arena)
			 : has(body, issues) && body->issues.count > 0
				 ? short_text(body->issues.at[0], m->arena)
				 : S("");
	SET(run, ended_at, at);
	SET(m->payload, event, rows[body->outcome].event);
	SET(m->payload, run, run);
	if (why.size > 0)
		SET(m->payload, error, why);
	SET(m->payload, text,
	    str_format(m->arena, STR_FMT " %s%s" STR_FMT "%s", STR_ARG(m->name),
		       rows[body->outcome].words, why.size > 0 ? ": " : "", STR_ARG(why),
		       why.size > 0 ? "" : "."));
}

/* Start and end of a sub-run belong to its parent; its questions are reported like any other. */
static bool make(struct making *m, const struct event *event)
{
	bool sub_run = has(m->source->created, parent);
	if (event->type == EVENT_HUMAN_REQUESTED)
		asked(m, event->as.run_human_requested);
	else if (event->type == EVENT_HUMAN_ESCALATED)
		escalated(m, event->as.run_human_escalated);
	else if (event->type == EVENT_HUMAN_FINISHED)
		answered(m, event->as.run_human_finished);
	else if (event->type == EVENT_RUN_PAUSED)
		paused(m, event->as.run_paused);
	else if (event->type == EVENT_RUN_CREATED && !sub_run)
		created(m, has(event->as.run_created, queued) && event->as.run_created->queued);
	else if (event->type == EVENT_RUN_FINISHED && !sub_run)
		finished(m, event->as.run_finished, event->at);
	else
		return false;
	return true;
}

const struct run_webhook_payload *webhook_payload_make(const struct store_event_row *row,
						       const struct webhook_source *source,
						       struct str link_base, struct arena *arena)
{
	struct event event;
	struct error unread;
	if (source->created == NULL || source->is_delivery ||
	    !stored_event_read(row, arena, &event, &unread))
		return NULL;
	struct making m = { .source = source,
			    .base = link_base,
			    .name = source->created->name,
			    .arena = arena,
			    .payload = run_webhook_payload_new(arena) };
	SET(m.payload, at, row->at);
	if (!make(&m, &event))
		return NULL;
	if (!has(m.payload, link))
		SET(m.payload, link, m.payload->run->link);
	return m.payload;
}

/* ---- filters ----------------------------------------------------------------------------- */

static bool contains(struct str_list list, struct str wanted_text)
{
	for (size_t i = 0; i < list.count; i++)
		if (str_equal(list.at[i], wanted_text))
			return true;
	return false;
}

static bool has_label(const struct run_webhook_run *run, const struct str_entry *label)
{
	for (size_t i = 0; i < run->labels.count; i++)
		if (str_equal(run->labels.at[i].key, label->key) &&
		    str_equal(run->labels.at[i].value, label->value))
			return true;
	return false;
}

bool webhook_payload_matches(const struct run_stored_webhook *webhook,
			     const struct run_webhook_payload *payload)
{
	const struct run_webhook_run *run = payload->run;
	bool reports = false;
	for (size_t i = 0; i < webhook->events.count; i++)
		reports |= webhook->events.at[i] == payload->event;
	for (size_t i = 0; i < webhook->labels.count && reports; i++)
		reports = has_label(run, &webhook->labels.at[i]);
	return reports &&
	       (webhook->workflows.count == 0 || contains(webhook->workflows, run->workflow)) &&
	       (webhook->profiles.count == 0 ||
		(has(run, profile) && contains(webhook->profiles, run->profile)));
}
