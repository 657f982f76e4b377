/* api/api_inbox.c -- the inbox: open questions to people, and their answers. */
#include "active/executor_command.h"
#include "active/executor_jobs.h"
#include "active/run_commands.h"
#include "api/read_job.h"
#include "base/limits.h"
#include "active/stored_row.h"
#include "contract/field_copy.h"
#include "contract/run_inbox_types.h"
#include "contract/run_open_types.h"
#include "contract/run_value_types.h"

struct inbox_read {
	struct api_read_job answer; /* first */
	bool has_after;
	struct uuid after;
	int64_t limit;
};

static const struct json *shown_inputs(const struct run_value *value, struct store_reader *reader,
				       struct arena *arena, struct error *error)
{
	static const struct json nothing = { .kind = JSON_NULL };
	const struct json *json;
	struct str bytes;
	bool found;
	if (!has(value, sha256))
		return has(value, json) ? value->json : &nothing;
	if (!reader->ops->read_blob(reader, &value->sha256, arena, &bytes, &found, error))
		return NULL;
	if (!found) {
		fail(error, ERROR_STORAGE,
		     "the inputs of a question are missing in the store; run baton db check");
		return NULL;
	}
	return json_read(bytes, arena, &json, error) ? json : NULL;
}

/* Converts a stored question to an inbox item.  Inputs that are stored as a separate value are
 * loaded and inlined. */
static bool read_item(const struct store_effect *row, struct store_reader *reader,
		      struct arena *arena, struct run_inbox_item *out_item, struct error *error)
{
	const struct json *json;
	if (!json_read(row->body, arena, &json, error))
		return stored_effect_fail(row, error);
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = json, .text = row->body, .lenient = true };
	const struct run_open_question *question =
		run_open_question_parse(&source, arena, &problems);
	if (question == NULL) {
		problems_fail(&problems, error);
		return stored_effect_fail(row, error);
	}
	const struct json *inputs = shown_inputs(question->inputs, reader, arena, error);
	if (inputs == NULL)
		return stored_effect_fail(row, error);
	struct run_inbox_item *item = run_inbox_item_new(arena);
	SET(item, id, row->id);
	SET(item, run_id, row->run);
	COPY_FIELDS(run_open_question, question, run_inbox_item, item, NULL);
	SET(item, inputs, inputs);
	*out_item = *item;
	return true;
}

static void inbox_work(struct executor_read *read, struct store_reader *reader)
{
	struct inbox_read *r = (struct inbox_read *)read;
	struct store_effect_page page;
	if (!reader->ops->list_effects(reader, S("human"), r->has_after ? &r->after : NULL,
				       (size_t)r->limit, &read->arena, &page, &r->answer.error))
		return;
	struct run_inbox_item *items = arena_array(&read->arena, struct run_inbox_item, page.count);
	for (size_t i = 0; i < page.count; i++)
		if (!read_item(&page.at[i], reader, &read->arena, &items[i], &r->answer.error))
			return;
	struct run_inbox_page *answer = run_inbox_page_new(&read->arena);
	SET(answer, items, ((struct run_inbox_item_list){ items, page.count }));
	char id[UUID_TEXT_SIZE];
	if (page.count == (size_t)r->limit)
		SET(answer, cursor,
		    str_copy(&read->arena, uuid_text(&page.at[page.count - 1].id, id)));
	r->answer.text = run_inbox_page_text(answer, &read->arena);
}

void api_inbox_list(struct api_call *call)
{
	struct inbox_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	struct str cursor = api_query(call, S("cursor"));
	r->has_after = cursor.size > 0;
	bool good = api_query_int(call, S("limit"), 1, LIMIT_PAGE_ITEMS, 100, &r->limit,
				  &r->answer.error);
	if (good && r->has_after && !uuid_parse(cursor, &r->after))
		good = fail(&r->answer.error, ERROR_USAGE,
			    "?cursor= must be the cursor of a previous page of this list");
	if (good)
		api_read_job_begin(&r->answer, inbox_work);
	else
		api_read_job_end(&r->answer);
}

/* ---- answering --------------------------------------------------------------------- */

void api_inbox_respond(struct api_call *call, const struct run_inbox_answer *body)
{
	struct executor_answer answer = {
		.request = call->id,
		.decision = body->decision,
		.comment = has(body, comment) ? body->comment : S(""),
		.final = has(body, final) && body->final,
		.by = api_acting_user(call, has(body, by), has(body, by) ? body->by : S("")),
		.revision = has(body, revision) ? &body->revision : NULL,
		.value = api_given(call, has(body, value) ? body->value : NULL),
		.key = call->key
	};
	api_answer(call, &answer);
}
