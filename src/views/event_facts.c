/* views/event_facts.c -- finds the facts of a stored event and describes them.
 *
 * A call of an agent is an activation in the body of a session; other tool steps have no CALL and no
 * RESULT, because the event itself says all.
 */
#include "views/event_facts.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "contract/event_result.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_log_types.h"
#include "contract/run_milestone_types.h"
#include "contract/run_tool_types.h"
#include "contract/run_turn_types.h"
#include "contract/run_value_types.h"
#include "views/task_parts.h"
#include "views/view_tree.h"

/* ---- reading ---------------------------------------------------------------------------- */

static bool is_call_of_agent(const struct timeline_step *step)
{
	return step != NULL && step->parent != NULL &&
	       step->parent->node->kind == RUN_NODE_SESSION && step->node->kind != RUN_NODE_AGENT;
}

static const struct run_file_changes *files_of(const struct timeline *timeline,
					       const struct event *event)
{
	if (event->type != EVENT_TOOL_FINISHED || !has(event->as.run_tool_finished, files))
		return NULL;
	const struct run_value *value = event->as.run_tool_finished->files;
	const struct json *json =
		has(value, sha256)
			? timeline->source->read_value(timeline->source->context, &value->sha256)
		: has(value, json) ? value->json
				   : NULL;
	struct problems problems = { .arena = timeline->arena };
	struct contract_source source = { .json = json, .lenient = true };
	return json == NULL ? NULL : run_file_changes_parse(&source, timeline->arena, &problems);
}

static const struct run_turn_result *reply_of(const struct timeline *timeline, size_t index)
{
	const struct event *event = &timeline->source->events[index];
	const struct timeline_call *call = timeline_call(timeline, index);
	struct problems problems = { .arena = timeline->arena };
	struct contract_source source = { .json = call->output, .lenient = true };
	return event->type != EVENT_TURN_FINISHED || call->output == NULL
		       ? NULL
		       : run_turn_result_parse(&source, timeline->arena, &problems);
}

static struct run_call_opened_list calls_of(const struct event *event)
{
	return event->type == EVENT_TURN_FINISHED && has(event->as.run_turn_finished, calls)
		       ? event->as.run_turn_finished->calls
		       : (struct run_call_opened_list){ NULL, 0 };
}

size_t event_facts_most(const struct event *event)
{
	size_t files = event->type == EVENT_TOOL_FINISHED &&
				       has(event->as.run_tool_finished, file_count) &&
				       event->as.run_tool_finished->file_count > 0
			       ? (size_t)event->as.run_tool_finished->file_count
			       : 0;
	size_t milestone = event_milestone(event) != NULL ? EVENT_FACTS_MILESTONE : 0;
	return EVENT_FACTS_PLAIN + files + 2 * calls_of(event).count + milestone;
}

/* ---- collecting ------------------------------------------------------------------------- */

struct collection {
	struct event_fact *at;
	size_t count, room;
};

static void add(struct collection *c, enum event_fact_kind kind, size_t number)
{
	require(c->count < c->room);
	c->at[c->count++] = (struct event_fact){ kind, number };
}

static bool has_thinking(const struct run_turn_result *reply)
{
	for (size_t i = 0; has(reply, thinking) && i < reply->thinking.count; i++)
		if (reply->thinking.at[i].text.size > 0)
			return true;
	return false;
}

static void add_turn(struct collection *c, const struct event *event,
		     const struct run_turn_result *reply)
{
	struct run_call_opened_list calls = calls_of(event);
	if (has_thinking(reply))
		add(c, FACT_THINKING, 0);
	for (size_t i = 0; i < calls.count; i++) {
		if (!has(&calls.at[i], fault))
			continue;
		add(c, FACT_REFUSED, i);
		add(c, FACT_REFUSAL, i);
	}
	if (calls.count == 0 && reply->text.size > 0)
		add(c, FACT_REPLY, 0);
}

static enum event_fact_kind kind_of_file(enum run_file_change_kind change)
{
	switch (change) {
	case RUN_FILE_MODIFIED:
		return FACT_FILE_MODIFIED;
	case RUN_FILE_DELETED:
		return FACT_FILE_DELETED;
	case RUN_FILE_CREATED:
		break;
	}
	return FACT_FILE_CREATED;
}

static const struct milestone_row {
	enum event_fact_kind begins, passed, open, behind;
} milestone_rows[] = {
#define MILESTONE(kind_, begins_, passed_, open_, behind_) \
	[RUN_MILESTONE_##kind_] = { FACT_##begins_, FACT_##passed_, FACT_##open_, FACT_##behind_ },
#include "contracts/milestones.def"
#undef MILESTONE
};

static void add_milestone(struct collection *c, const struct event *event)
{
	const struct run_milestone *milestone = event_milestone(event);
	if (milestone == NULL || (size_t)milestone->kind >= COUNT(milestone_rows))
		return;
	const struct milestone_row *row = &milestone_rows[milestone->kind];
	bool ends = has(milestone, passed);
	bool open = ends && !milestone->passed;
	if (has(milestone, starts) && milestone->starts && row->begins != FACT_NONE)
		add(c, row->begins, 0);
	if (ends && !open && row->passed != FACT_NONE)
		add(c, row->passed, 0);
	if (open && row->open != FACT_NONE)
		add(c, row->open, 0);
	if (open && row->behind != FACT_NONE && !timeline_event_failed(event))
		add(c, row->behind, 0);
}

struct event_facts event_facts(const struct timeline *timeline, size_t index)
{
	const struct event *event = &timeline->source->events[index];
	const struct timeline_step *step = timeline_step(timeline, event);
	struct event_facts facts = { .timeline = timeline,
				     .index = index,
				     .files = step == NULL ? NULL : files_of(timeline, event),
				     .reply = step == NULL ? NULL : reply_of(timeline, index) };
	struct collection c = { .room = event_facts_most(event) +
					(facts.files == NULL ? 0 : facts.files->files.count) };
	c.at = arena_array(timeline->arena, struct event_fact, c.room);
	add(&c, FACT_EVENT, 0);
	if (step != NULL && timeline_event_failed(event) && event->type != EVENT_HUMAN_FINISHED)
		add(&c, FACT_FAULT, 0);
	if (facts.reply != NULL)
		add_turn(&c, event, facts.reply);
	if (is_call_of_agent(step) && event->type == EVENT_TOOL_REQUESTED)
		add(&c, FACT_CALL, 0);
	if (is_call_of_agent(step) && event->type == EVENT_TOOL_FINISHED)
		add(&c, FACT_RESULT, 0);
	for (size_t i = 0; facts.files != NULL && i < facts.files->files.count; i++)
		add(&c, kind_of_file(facts.files->files.at[i].change), i);
	if (event->type == EVENT_TOOL_FINISHED)
		facts.artifact =
			task_parts_artifact(timeline, step, timeline_call(timeline, index));
	if (facts.artifact != NULL)
		add(&c,
		    facts.artifact->version > 1 ? FACT_ARTIFACT_VERSIONED : FACT_ARTIFACT_CREATED,
		    0);
	if (step != NULL)
		add_milestone(&c, event);
	if (facts.files != NULL && has(facts.files, left_out))
		facts.left_out = facts.files->left_out;
	facts.at = c.at;
	facts.count = c.count;
	return facts;
}

/* ---- for views -------------------------------------------------------------------------- */

const struct run_file_change *event_facts_file(const struct event_facts *facts, size_t n)
{
	const struct event_fact *fact = &facts->at[n];
	bool file = fact->kind == FACT_FILE_CREATED || fact->kind == FACT_FILE_MODIFIED ||
		    fact->kind == FACT_FILE_DELETED;
	return file ? &facts->files->files.at[fact->number] : NULL;
}

const struct run_turn_call *event_facts_call(const struct event_facts *facts, size_t n)
{
	size_t number = facts->at[n].number;
	return facts->reply != NULL && has(facts->reply, calls) &&
			       number < facts->reply->calls.count
		       ? &facts->reply->calls.at[number]
		       : NULL;
}

struct str event_facts_refusal(const struct event_facts *facts, size_t n)
{
	const struct event *event = &facts->timeline->source->events[facts->index];
	const struct run_call_opened *call = &calls_of(event).at[facts->at[n].number];
	return str_format(facts->timeline->arena, STR_FMT ": " STR_FMT, STR_ARG(call->fault->code),
			  STR_ARG(call->fault->text));
}

struct str event_facts_agent(const struct event_facts *facts)
{
	const struct timeline_step *step =
		timeline_step(facts->timeline, &facts->timeline->source->events[facts->index]);
	if (step == NULL)
		return S("system");
	return timeline_agent(is_call_of_agent(step) ? step->parent : step);
}

static struct str thinking_text(const struct event_facts *facts)
{
	AUTO(buf) text = { 0 };
	const struct run_turn_thinking_list pieces = facts->reply->thinking;
	for (size_t i = 0; i < pieces.count; i++) {
		buf_add(&text, text.size > 0 && pieces.at[i].text.size > 0 ? S("\n") : S(""));
		buf_add(&text, pieces.at[i].text);
	}
	return str_copy(facts->timeline->arena, buf_str(&text));
}

static struct str fault_code(const struct event *event)
{
	struct event_result result = { 0 };
	return event_result(event, &result) && result.fault != NULL
		       ? result.fault->code
		       : run_outcome_name(RUN_OUTCOME_FAILED);
}

/* Long texts are in the details. */
static struct str cut(struct str text)
{
	return utf8_head(text, LIMIT_EVENT_MESSAGE_BYTES);
}

static struct str call_name(const struct event_facts *facts, size_t n)
{
	const struct event *event = &facts->timeline->source->events[facts->index];
	return calls_of(event).at[facts->at[n].number].name;
}

struct str event_facts_uri(const struct event_facts *facts, size_t n)
{
	const struct run_file_change *file = event_facts_file(facts, n);
	struct arena *arena = facts->timeline->arena;
	if (file != NULL)
		return str_format(arena, "file://workspace/" STR_FMT, STR_ARG(file->path));
	return str_format(arena, "/api/runs/" STR_FMT "/artifacts/" STR_FMT "?version=%lld",
			  STR_ARG(timeline_id_text(facts->timeline, facts->timeline->source->run)),
			  STR_ARG(facts->artifact->name), (long long)facts->artifact->version);
}

/* What the milestone is called: the title in its data, or else its step. */
static struct str milestone_title(const struct event_facts *facts)
{
	const struct event *event = &facts->timeline->source->events[facts->index];
	const struct json *data = event_milestone(event)->data;
	const struct str keys[] = { S("task_title"), S("title") };
	struct str path = S("");
	for (size_t i = 0; i < COUNT(keys); i++) {
		struct str title = json_text(json_member(data, keys[i]));
		if (title.size > 0)
			return cut(title);
	}
	(void)event_step(event, &path);
	return path;
}

static struct str format_milestone(const struct event_facts *facts, size_t n)
{
	struct arena *arena = facts->timeline->arena;
	struct str title = milestone_title(facts);
	const char *text = facts->at[n].kind == FACT_TASK_STARTED         ? "task started"
			   : facts->at[n].kind == FACT_TASK_COMPLETED     ? "task completed"
			   : facts->at[n].kind == FACT_TASK_FAILED        ? "task failed"
			   : facts->at[n].kind == FACT_REVIEW_REQUESTED   ? "review requested"
			   : facts->at[n].kind == FACT_REVIEW_COMPLETED   ? "review completed"
			   : facts->at[n].kind == FACT_REVISION_REQUESTED ? "revision requested"
			   : facts->at[n].kind == FACT_PLAN_VALIDATED     ? "plan validated"
									  : "plan not valid";
	return str_format(arena, "%s: " STR_FMT, text, STR_ARG(title));
}

struct str event_facts_format(const struct event_facts *facts, size_t n)
{
	const struct timeline *timeline = facts->timeline;
	const struct timeline_step *step =
		timeline_step(timeline, &timeline->source->events[facts->index]);
	struct arena *arena = timeline->arena;
	const struct run_file_change *file = event_facts_file(facts, n);
	if (facts->at[n].kind == FACT_EVENT || step == NULL)
		return timeline_format_event(timeline, facts->index);
	struct str path = step->path;
	switch (facts->at[n].kind) {
	case FACT_THINKING:
		return str_format(arena, STR_FMT " thinks: " STR_FMT, STR_ARG(path),
				  STR_ARG(cut(thinking_text(facts))));
	case FACT_REFUSED:
		return str_format(arena, STR_FMT " asks for " STR_FMT, STR_ARG(path),
				  STR_ARG(call_name(facts, n)));
	case FACT_REFUSAL:
		return str_format(arena, STR_FMT " was not called: " STR_FMT,
				  STR_ARG(call_name(facts, n)),
				  STR_ARG(event_facts_refusal(facts, n)));
	case FACT_REPLY:
		return str_format(arena, STR_FMT " replies: " STR_FMT, STR_ARG(path),
				  STR_ARG(cut(facts->reply->text)));
	case FACT_FILE_CREATED:
	case FACT_FILE_MODIFIED:
	case FACT_FILE_DELETED:
		return str_format(arena, STR_FMT " %s " STR_FMT, STR_ARG(path),
				  str_c(arena, run_file_change_kind_name(file->change)),
				  STR_ARG(file->path));
	case FACT_ARTIFACT_CREATED:
	case FACT_ARTIFACT_VERSIONED:
		return str_format(arena, STR_FMT " wrote version %lld of the artifact " STR_FMT,
				  STR_ARG(path), (long long)facts->artifact->version,
				  STR_ARG(facts->artifact->name));
	case FACT_TASK_STARTED:
	case FACT_TASK_COMPLETED:
	case FACT_TASK_FAILED:
	case FACT_REVIEW_REQUESTED:
	case FACT_REVIEW_COMPLETED:
	case FACT_REVISION_REQUESTED:
	case FACT_PLAN_VALIDATED:
	case FACT_PLAN_INVALID:
		return format_milestone(facts, n);
	case FACT_EVENT:
	case FACT_FAULT:
	case FACT_CALL:
	case FACT_RESULT:
	case FACT_COUNT:
		break;
	}
	return timeline_format_event(timeline, facts->index);
}

/* The data of the milestone, and at its end whether it is passed, and the verdict that its step gave. */
static const struct json *milestone_details(const struct event_facts *facts)
{
	struct arena *arena = facts->timeline->arena;
	const struct event *event = &facts->timeline->source->events[facts->index];
	const struct run_milestone *milestone = event_milestone(event);
	const struct timeline_call *call = timeline_call(facts->timeline, facts->index);
	bool ends = has(milestone, passed);
	bool judges = ends && milestone->kind != RUN_MILESTONE_TASK && call->output != NULL;
	return view_tree_merge(
		arena, milestone->data,
		TREE(arena,
		     { S("passed"), ends ? view_tree_bool(milestone->passed) : view_tree_none() },
		     { S("result"), judges ? view_tree_copy(call->output) : view_tree_none() },
		     { S("error"), ends ? view_tree_text_if(call->fault) : view_tree_none() }));
}

/* What the kinds of facts have of their own. */
static const struct json *own_details(const struct event_facts *facts, size_t n)
{
	struct arena *arena = facts->timeline->arena;
	const struct run_file_change *file = event_facts_file(facts, n);
	const struct run_turn_call *call = event_facts_call(facts, n);
	char hex[HASH_TEXT_SIZE];
	switch (facts->at[n].kind) {
	case FACT_FILE_CREATED:
	case FACT_FILE_MODIFIED:
	case FACT_FILE_DELETED:
		return TREE(arena, { S("path"), view_tree_text(file->path) },
			    { S("size"),
			      has(file, size) ? view_tree_int(file->size) : view_tree_none() },
			    { S("object"), has(file, object) ? view_tree_text(file->object)
							     : view_tree_none() });
	case FACT_ARTIFACT_CREATED:
	case FACT_ARTIFACT_VERSIONED:
		return TREE(arena, { S("artifact"), view_tree_text(facts->artifact->name) },
			    { S("version"), view_tree_int(facts->artifact->version) },
			    { S("size"), view_tree_int(facts->artifact->size) },
			    { S("sha256"),
			      view_tree_text(
				      str_copy(arena, hash_text(&facts->artifact->sha256, hex))) });
	case FACT_THINKING:
		return TREE(arena, { S("text"), view_tree_text(thinking_text(facts)) });
	case FACT_REPLY:
		return TREE(arena, { S("text"), view_tree_text(facts->reply->text) });
	case FACT_REFUSED:
		return TREE(arena, { S("tool"), view_tree_text(call_name(facts, n)) },
			    { S("arguments"), call != NULL && has(call, arguments)
						      ? view_tree_copy(call->arguments)
						      : view_tree_none() });
	case FACT_REFUSAL:
		return TREE(arena, { S("tool"), view_tree_text(call_name(facts, n)) },
			    { S("error"), view_tree_text(event_facts_refusal(facts, n)) });
	case FACT_FAULT:
		return TREE(arena, { S("code"),
				     view_tree_text(fault_code(
					     &facts->timeline->source->events[facts->index])) });
	case FACT_TASK_STARTED:
	case FACT_TASK_COMPLETED:
	case FACT_TASK_FAILED:
	case FACT_REVIEW_REQUESTED:
	case FACT_REVIEW_COMPLETED:
	case FACT_REVISION_REQUESTED:
	case FACT_PLAN_VALIDATED:
	case FACT_PLAN_INVALID:
		return milestone_details(facts);
	case FACT_EVENT:
	case FACT_CALL:
	case FACT_RESULT:
	case FACT_COUNT:
		break;
	}
	return TREE(arena, { S(""), view_tree_none() });
}

const struct json *event_facts_details(const struct event_facts *facts, size_t n)
{
	const struct timeline *timeline = facts->timeline;
	const struct event *event = &timeline->source->events[facts->index];
	const struct timeline_step *step = timeline_step(timeline, event);
	enum event_fact_kind kind = facts->at[n].kind;
	const struct json *own = own_details(facts, n);
	if (kind == FACT_EVENT || kind == FACT_CALL || kind == FACT_RESULT || step == NULL)
		return timeline_details(timeline, facts->index);
	return view_tree_merge(timeline->arena,
			       TREE(timeline->arena,
				    { S("event"), view_tree_text(event_name(event->type)) },
				    { S("step"), view_tree_text(step->path) }),
			       own);
}
