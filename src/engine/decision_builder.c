/* engine/decision_builder.c -- the growing lists of a decision, and the parts of events.
 */
#include "base/limits.h"
#include "engine/budget.h"
#include "engine/engine_internal.h"

static void *grown(struct arena *arena, const void *items, size_t count, size_t *room, size_t size)
{
	*room = *room == 0 ? 8 : *room * 2;
	char *more = arena_take_array(arena, *room, size);
	if (count > 0)
		__builtin_memcpy(more, items, count * size);
	return more;
}

/* Nearly always there is one commit, of one event, the previous one: then its seq can be omitted. */
static struct run_commit_list shortened(struct run_commit_list commits, int64_t newest,
					struct arena *arena)
{
	struct run_commit *told = arena_array(arena, struct run_commit, commits.count);
	for (size_t i = 0; i < commits.count; i++) {
		const struct run_commit *commit = &commits.at[i];
		if (commit->first != commit->last)
			SET(&told[i], first, commit->first);
		if (commit->last != newest)
			SET(&told[i], last, commit->last);
		SET(&told[i], made_us, commit->made_us);
		SET(&told[i], us, commit->us);
	}
	return (struct run_commit_list){ told, commits.count };
}

void decision_warn(struct decision *d, enum run_warning_code code, struct str step, struct str text)
{
	struct warning warning = { code, step, text };
	if (engine_warnings_have(&d->warnings, &warning))
		return;
	if (d->warnings.count < LIMIT_RUN_WARNINGS)
		engine_warnings_add(&d->warnings, warning, d->arena);
	else
		d->warnings.dropped++;
}

/* Moves the warnings so far into the event, within the limits of their steps and of the run. */
static void attach_warnings(const struct run *run, struct decision *d, struct event *event)
{
	if (d->warnings.count == 0 && d->warnings.dropped == 0)
		return;
	struct warnings kept = { .dropped = d->warnings.dropped };
	for (size_t i = 0; i < d->warnings.count; i++) {
		const struct warning *warning = &d->warnings.at[i];
		if (engine_warnings_have(&run->warnings, warning))
			continue;
		size_t of_step = engine_warnings_of_step(&run->warnings, warning->step) +
				 engine_warnings_of_step(&kept, warning->step);
		if (of_step < LIMIT_STEP_WARNINGS &&
		    run->warnings.count + kept.count < LIMIT_RUN_WARNINGS)
			engine_warnings_add(&kept, *warning, d->arena);
		else
			kept.dropped++;
	}
	event_set_warnings(event, run_warnings_print(&kept, d->arena), kept.dropped, d->arena);
	d->warnings = (struct warnings){ 0 };
}

void decision_emit(struct run *run, struct decision *d, struct event event)
{
	attach_warnings(run, d, &event);
	milestone_attach(run, d, &event);
	if (d->event_count == 0)
		event_set_origin(&event, shortened(d->commits, run->seq, d->arena), d->request_id,
				 d->arena);
	if (d->event_count == d->event_room)
		d->events = grown(d->arena, d->events, d->event_count, &d->event_room,
				  sizeof(*d->events));
	d->events[d->event_count++] = event;
	if (event.type == EVENT_TURN_REQUESTED || event.type == EVENT_TURN_FINISHED)
		budget_note_totals(run, d);
	struct error error;
	bool good = evolve(run, &event, &error);
	require(good);
}

void decision_need_value(struct decision *d, const struct hash *hash)
{
	for (size_t i = 0; i < d->need_count; i++)
		if (hash_equal(&d->needs[i], hash))
			return;
	if (d->need_count == d->need_room)
		d->needs =
			grown(d->arena, d->needs, d->need_count, &d->need_room, sizeof(*d->needs));
	d->needs[d->need_count++] = *hash;
}

void decision_stop_effect(struct decision *d, const struct activation *activation, bool again)
{
	if (d->stop_count == d->stop_room)
		d->stops =
			grown(d->arena, d->stops, d->stop_count, &d->stop_room, sizeof(*d->stops));
	d->stops[d->stop_count++] =
		(struct decision_stop){ activation->path, activation->effect, again };
}

void decision_want_tree(struct decision *d, struct decision_tree tree)
{
	if (d->tree_count == d->tree_room)
		d->trees =
			grown(d->arena, d->trees, d->tree_count, &d->tree_room, sizeof(*d->trees));
	d->trees[d->tree_count++] = tree;
}

void decision_close_silently(struct decision *d, const struct uuid *id)
{
	if (d->close_count == d->close_room)
		d->closes = grown(d->arena, d->closes, d->close_count, &d->close_room,
				  sizeof(*d->closes));
	d->closes[d->close_count++] = *id;
}

void decision_add_blob(struct decision *d, struct str bytes, const struct hash *hash)
{
	if (d->blob_count == d->blob_room)
		d->blobs =
			grown(d->arena, d->blobs, d->blob_count, &d->blob_room, sizeof(*d->blobs));
	struct decision_blob *blob = &d->blobs[d->blob_count++];
	blob->bytes = bytes;
	blob->hash = *hash;
}

static struct printed_value *find_printed(const struct decision *d, const struct json *json)
{
	struct printed_value *printed = d->printed;
	while (printed != NULL && printed->json != json)
		printed = printed->next;
	return printed;
}

static struct print_key next_key(const struct decision *d)
{
	bool same = d->print_key.events == d->event_count;
	return (struct print_key){ d->event_count, same ? d->print_key.ordinal + 1 : 1 };
}

/* A value of the command keeps its tree when the decision is made again.  It then counts as in the
 * pass that needed it, so that the values behind it have the same keys. */
static struct printed_value *find_known(struct decision *d, const struct json *json)
{
	struct printed_value *printed = find_printed(d, json);
	struct print_key next = next_key(d);
	if (printed != NULL && printed->key.events == next.events &&
	    printed->key.ordinal == next.ordinal)
		d->print_key = next;
	return printed;
}

/* The printed value that the engine needed at this point of the decision; from now on it is found by
 * its new tree.  The trees are not compared, because they may be large. */
static struct printed_value *find_asked(struct decision *d, const struct json *json)
{
	struct print_key *key = &d->print_key;
	*key = next_key(d);
	for (struct printed_value *printed = d->printed; printed != NULL; printed = printed->next)
		if (printed->key.events == key->events && printed->key.ordinal == key->ordinal) {
			require(printed->json->kind == json->kind);
			printed->json = json;
			return printed;
		}
	return NULL;
}

bool decision_print(struct decision *d, const struct json *json, struct str *out_text)
{
	const struct printed_value *printed = find_known(d, json);
	if (printed == NULL)
		printed = find_asked(d, json);
	if (printed != NULL) {
		*out_text = printed->text;
		return true;
	}
	bool limited = d->print_most > 0 && d->print_most < LIMIT_VALUE_BYTES;
	char memory[BUF_SHORT];
	AUTO(buf)
	text = buf_borrowing(memory, sizeof(memory), limited ? d->print_most : LIMIT_VALUE_BYTES);
	struct json_writer writer = { .out = &text };
	json_put_tree(&writer, json);
	if (text.full && limited) {
		d->to_print = json;
		return false;
	}
	*out_text = text.full ? (struct str){ NULL, 0 } : str_copy(d->arena, buf_str(&text));
	return true;
}

bool decision_hash(struct decision *d, struct str prefix, const struct json *json,
		   struct hash *out_hash)
{
	struct str text;
	d->print_prefix = prefix;
	if (!decision_print(d, json, &text))
		return false;
	d->print_prefix = S("");
	const struct printed_value *printed = find_printed(d, json);
	bool hashed = printed != NULL && printed->is_prefixed;
	*out_hash = hashed ? printed->prefixed : hash_prefixed(prefix, text);
	return true;
}

bool decision_value(struct decision *d, const struct json *json, struct run_value **out)
{
	struct str text;
	*out = NULL;
	if (!decision_print(d, json, &text))
		return false;
	if (text.at == NULL)
		return true;
	struct run_value *value = run_value_new(d->arena);
	if (text.size <= LIMIT_VALUE_INLINE) {
		SET(value, json, json);
	} else {
		const struct printed_value *printed = find_printed(d, json);
		struct hash hash = printed == NULL ? hash_of(text) : printed->hash;
		decision_add_blob(d, text, &hash);
		SET(value, sha256, hash);
		SET(value, size, (int64_t)text.size);
	}
	*out = value;
	return true;
}

const struct json *json_parse_own(struct str text, struct arena *arena)
{
	const struct json *json;
	struct error error;
	bool good = json_read(text, arena, &json, &error);
	require(good);
	return json;
}

struct run_value *decision_value_again(struct decision *d, const struct value *from)
{
	struct run_value *value = run_value_new(d->arena);
	switch (from->kind) {
	case VALUE_ABSENT:
		return NULL;
	case VALUE_STORED:
		SET(value, sha256, from->hash);
		SET(value, size, from->size);
		return value;
	case VALUE_INLINE:
		break;
	}
	SET(value, json, json_parse_own(from->text, d->arena));
	return value;
}

struct run_fault *decision_failure(struct decision *d, struct failure from)
{
	struct run_fault *fault = run_fault_new(d->arena);
	SET(fault, code, from.code);
	SET(fault, text, from.text);
	return fault;
}

struct failure failure_make(enum error_code code, struct str text)
{
	return (struct failure){ error_row(code)->name, text };
}

struct uuid engine_effect_id(const struct run *run, struct str path, struct str kind,
			     int64_t ordinal)
{
	char number[24];
	int size = __builtin_snprintf(number, sizeof(number), "%lld", (long long)ordinal);
	struct str parts[] = { uuid_str(&run->id), path, kind, { number, (size_t)size } };
	return uuid_derive(parts, COUNT(parts));
}
