/* api/api_conversation.c -- what the agents of a run said and did, and wrote to each other; the reply of
 * one turn.
 *
 * The text of a turn under way is only in memory (active/live_reply.h); that of an ended one is only in
 * the store.  The text in memory is copied before the store is read.  If the turn ends in between, the
 * store has it, and the copy is not used.
 */
#include "active/live_reply.h"
#include "api/api_timeline.h"
#include "api/read_job.h"
#include "base/limits.h"
#include "contract/run_talk_types.h"
#include "contract/runtime_types.h"
#include "views/conversation.h"
#include "views/conversation_words.h"
#include "views/messages.h"

/* ---- the conversation of a run ------------------------------------------------------------ */

struct talk_read {
	struct api_read_job answer; /* first */
	struct uuid run;
	const struct view *view; /* NULL: Baton's own vocabulary */
	struct str path;
	struct live_copy *live; /* of all turns that are being written; a list */
};

static void conversation_work(struct executor_read *read, struct store_reader *reader)
{
	struct talk_read *r = (struct talk_read *)read;
	AUTO(api_timeline) timeline = { 0 };
	if (!api_timeline_require(&timeline, read->executor, reader, &r->run, &read->arena,
				  &r->answer.error))
		return;
	if (r->view == NULL) {
		r->answer.text =
			run_conversation_text(conversation(&timeline.timeline), &read->arena);
		return;
	}
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	struct view_document document;
	if (!conversation_in(&timeline.timeline, r->view, &document, &r->answer.error))
		return;
	view_print(&document, &writer);
	r->answer.text = str_copy(&read->arena, buf_str(&text));
}

void api_run_conversation(struct api_call *call)
{
	struct error error;
	struct str name = api_query(call, S("view"));
	const struct view *view = NULL;
	if (name.size > 0 && !view_from(name, &view, &error)) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	struct talk_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->run = call->id;
	r->view = view;
	api_read_job_begin(&r->answer, conversation_work);
}

/* ---- messages between agents ------------------------------------------------------------- */

struct messages_read {
	struct api_read_job answer; /* first */
	struct uuid run, after;
	int64_t limit;
};

static void messages_work(struct executor_read *read, struct store_reader *reader)
{
	struct messages_read *r = (struct messages_read *)read;
	AUTO(api_timeline) timeline = { 0 };
	const struct runtime_agent_message **at;
	size_t count;
	if (!api_timeline_require(&timeline, read->executor, reader, &r->run, &read->arena,
				  &r->answer.error))
		return;
	if (!messages_list(&timeline.timeline, &r->after, (size_t)r->limit, &at, &count)) {
		fail(&r->answer.error, ERROR_NOT_FOUND,
		     "?after= is not the id of a message of this run");
		return;
	}
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	json_open(&writer, '[');
	for (size_t i = 0; i < count; i++)
		runtime_agent_message_print(at[i], &writer);
	json_close(&writer, ']');
	r->answer.text = str_copy(&read->arena, buf_str(&text));
}

void api_run_messages(struct api_call *call)
{
	struct error error;
	struct str after = api_query(call, S("after"));
	struct uuid id = { 0 };
	int64_t limit = 0;
	bool good = api_query_int(call, S("limit"), 1, LIMIT_PAGE_ITEMS, LIMIT_MESSAGES_LISTED,
				  &limit, &error);
	if (good && after.size > 0 && !uuid_parse(after, &id))
		good = fail(&error, ERROR_USAGE, "?after= must be the id of a message");
	if (!good) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	struct messages_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->run = call->id;
	r->after = id;
	r->limit = limit;
	api_read_job_begin(&r->answer, messages_work);
}

/* ---- one reply ---------------------------------------------------------------------------- */

/* A reply as it was when the request arrived. */
struct live_copy {
	struct live_copy *next;
	struct uuid effect;
	int64_t attempt;
	struct str text, thinking, calls;
	bool truncated;
};

static struct run_talk_call_list live_calls(struct str lines, struct arena *arena)
{
	size_t count = 0;
	for (size_t i = 0; i < lines.size; i++)
		count += lines.at[i] == '\n';
	struct run_talk_call *at = arena_array(arena, struct run_talk_call, count);
	struct str name;
	for (size_t i = 0; i < count && str_cut(&lines, '\n', &name); i++) {
		at[i] = *run_talk_call_new(arena);
		SET(&at[i], name, name);
	}
	return (struct run_talk_call_list){ at, count };
}

static void add_live(const struct talk_read *r, struct run_talk_turn *turn, struct arena *arena)
{
	const struct live_copy *copy = r->live;
	while (copy != NULL && !(has(turn, turn) && uuid_equal(&copy->effect, &turn->turn)))
		copy = copy->next;
	if (copy == NULL || !turn->live || copy->attempt != turn->attempt)
		return;
	SET(turn, text, copy->text);
	if (copy->thinking.size > 0)
		SET(turn, thinking, copy->thinking);
	if (copy->calls.size > 0)
		SET(turn, calls, live_calls(copy->calls, arena));
	if (copy->truncated)
		SET(turn, truncated, true);
}

static void reply_work(struct executor_read *read, struct store_reader *reader)
{
	struct talk_read *r = (struct talk_read *)read;
	AUTO(api_timeline) timeline = { 0 };
	if (!api_timeline_require(&timeline, read->executor, reader, &r->run, &read->arena,
				  &r->answer.error))
		return;
	struct str name = str_head(r->path, LIMIT_QUOTE_BYTES);
	const struct timeline_step *step = timeline_find(&timeline.timeline, r->path);
	if (step == NULL) {
		fail(&r->answer.error, ERROR_NOT_FOUND, "the run has no step " STR_FMT,
		     STR_ARG(name));
		return;
	}
	struct run_talk_turn *turn = conversation_turn(&timeline.timeline, step);
	if (turn == NULL) {
		fail(&r->answer.error, ERROR_NOT_FOUND,
		     "step " STR_FMT " has no reply: no agent has taken a turn in it",
		     STR_ARG(name));
		return;
	}
	add_live(r, turn, &read->arena);
	r->answer.text = run_talk_turn_text(turn, &read->arena);
}

/* Only the turn that is asked for, or the turns of that session: their paths begin with its path. */
static void copy_live(struct talk_read *r, struct executor *executor)
{
	struct arena *arena = &r->answer.read.arena;
	for (const struct live_reply *reply = live_reply_first(executor, &r->run); reply != NULL;
	     reply = reply->next) {
		if (!str_starts(reply->step, r->path))
			continue;
		struct live_copy *copy = arena_new(arena, struct live_copy);
		*copy = (struct live_copy){
			.next = r->live,
			.effect = reply->effect,
			.attempt = reply->attempt,
			.text = str_copy(arena, buf_str(&reply->parts[LLM_PART_TEXT])),
			.thinking = str_copy(arena, buf_str(&reply->parts[LLM_PART_THINKING])),
			.calls = str_copy(arena, buf_str(&reply->parts[LLM_PART_CALL])),
			.truncated = reply->truncated
		};
		r->live = copy;
	}
}

void api_step_reply(struct api_call *call)
{
	struct talk_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->run = call->id;
	r->path = str_copy(&r->answer.read.arena, call->path);
	copy_live(r, call->api->settings.executor);
	api_read_job_begin(&r->answer, reply_work);
}
