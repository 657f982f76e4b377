/* api/api_run_plans.c -- the plan of a run: its revisions, edits, imports, and planning again.
 *
 * A plan is changed only while the run asks whether to approve it: an edit and an import answer that
 * question with another plan, planning again rejects it.  So there is one way for a plan into a run, and
 * it is recorded like every other answer.  The question is found on a reader thread; its revision goes
 * with the answer, so that an answer to a question that was replaced meanwhile is refused.
 */
#include <stdlib.h>

#include "active/executor_command.h"
#include "active/executor_jobs.h"
#include "api/api_timeline.h"
#include "api/read_job.h"
#include "base/limits.h"
#include "base/text_diff.h"
#include "base/utf8.h"
#include "contract/run_inbox_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_plan_types.h"
#include "contract/run_start_types.h"
#include "os/confined_path.h"
#include "plan/plan.h"
#include "views/plan_revisions.h"

static bool fail_planning(struct error *error)
{
	return fail(error, ERROR_CONFLICT,
		    "the run is still planning: wait until it asks for the approval of its plan "
		    "(baton inbox)");
}

static bool require_plans(const struct plan_revisions *revisions, struct error *error)
{
	return revisions->checks_plans ||
	       fail(error, ERROR_NOT_FOUND,
		    "workflow " STR_FMT " has no plan: none of its steps checks one (plan_check)",
		    STR_ARG(str_head(revisions->workflow, LIMIT_NAME_BYTES)));
}

/* ---- reading ------------------------------------------------------------------------- */

struct plan_read_job {
	struct api_read_job answer; /* first */
	struct uuid run;
	int64_t revision; /* 0 = the newest */
	bool diff;
};

static const struct run_plan_check_outputs *outputs_of(const struct timeline_step *step,
						       struct arena *arena, struct error *error)
{
	const struct contract_source source = { .json = step->output, .lenient = true };
	struct problems problems = { .arena = arena };
	const struct run_plan_check_outputs *outputs =
		run_plan_check_outputs_parse(&source, arena, &problems);
	if (outputs == NULL)
		problems_fail(&problems, error);
	return outputs;
}

static void set_diff(struct run_plan *plan, const struct plan_revisions *revisions, size_t index,
		     struct arena *arena)
{
	if (index == 0)
		return;
	struct str before =
		json_member(revisions->steps[index - 1]->output, S("markdown"))->as.string;
	SET(plan, diff_from, (int64_t)index);
	SET(plan, diff,
	    text_diff(before, plan->markdown, str_format(arena, "revision %zu", index),
		      str_format(arena, "revision %zu", index + 1), arena));
}

static struct run_plan *describe(const struct timeline *timeline,
				 const struct plan_revisions *revisions, size_t index,
				 const struct run_plan_check_outputs *outputs, struct arena *arena)
{
	const struct timeline_step *step = revisions->steps[index];
	struct str path = plan_revisions_path(timeline, revisions, index);
	struct run_plan *plan = run_plan_new(arena);
	struct pipeline_plan_validation_result *validation =
		pipeline_plan_validation_result_new(arena);
	SET(validation, valid, outputs->valid);
	SET(validation, issues, outputs->issues);
	SET(validation, severity, outputs->severity);
	SET(plan, run_id, timeline->source->run);
	SET(plan, revision, (int64_t)index + 1);
	SET(plan, revisions, (int64_t)revisions->count);
	SET(plan, step, step->path);
	SET(plan, checked_at, step->ended_at);
	SET(plan, goal, outputs->goal);
	SET(plan, key_files, outputs->key_files);
	SET(plan, total_tasks, outputs->total_tasks);
	SET(plan, tasks, outputs->tasks);
	SET(plan, validation, validation);
	SET(plan, markdown, outputs->markdown);
	if (path.size > 0)
		SET(plan, path, path);
	if (revisions->open)
		SET(plan, question, revisions->question);
	if (revisions->approved)
		SET(plan, approved_by, revisions->approved_by);
	return plan;
}

static bool choose(const struct plan_read_job *r, const struct timeline *timeline,
		   const struct plan_revisions *revisions, size_t *out_index, struct error *error)
{
	if (!require_plans(revisions, error))
		return false;
	if (revisions->count == 0)
		return timeline->ended
			       ? fail(error, ERROR_NOT_FOUND, "the run has ended without a plan")
			       : fail_planning(error);
	if (r->revision > (int64_t)revisions->count)
		return fail(error, ERROR_NOT_FOUND,
			    "the plan has no revision %lld; the newest is %zu",
			    (long long)r->revision, revisions->count);
	*out_index = r->revision == 0 ? revisions->count - 1 : (size_t)r->revision - 1;
	return true;
}

static void plan_work(struct executor_read *read, struct store_reader *reader)
{
	struct plan_read_job *r = (struct plan_read_job *)read;
	struct arena *arena = &read->arena;
	struct error *error = &r->answer.error;
	AUTO(api_timeline) timeline = { 0 };
	struct plan_revisions revisions;
	size_t index;
	if (!api_timeline_require(&timeline, read->executor, reader, &r->run, arena, error))
		return;
	plan_revisions_read(&timeline.timeline, &revisions);
	if (!choose(r, &timeline.timeline, &revisions, &index, error))
		return;
	const struct run_plan_check_outputs *outputs =
		outputs_of(revisions.steps[index], arena, error);
	if (outputs == NULL)
		return;
	struct run_plan *plan = describe(&timeline.timeline, &revisions, index, outputs, arena);
	if (r->diff)
		set_diff(plan, &revisions, index, arena);
	r->answer.text = run_plan_text(plan, arena);
}

void api_plan_read(struct api_call *call)
{
	struct plan_read_job *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->run = call->id;
	if (api_query_int(call, S("revision"), 1, INT32_MAX, 0, &r->revision, &r->answer.error) &&
	    api_query_flag(call, S("diff"), false, &r->diff, &r->answer.error))
		api_read_job_begin(&r->answer, plan_work);
	else
		api_read_job_end(&r->answer);
}

/* ---- changing ------------------------------------------------------------------------ */

struct plan_change {
	struct executor_read read; /* first */
	struct api *api;
	uint64_t exchange;
	struct uuid run;
	enum run_decision decision; /* modify or reject */
	bool imports, force;
	struct str markdown, file; /* markdown "" = read the file, or reject */
	struct str comment, by, request_id;
	int64_t revision; /* that was edited; 0 = any */
	struct idempotency_key key;
	/* Set by the reader: */
	struct uuid question;
	struct hash asked;
	bool is_repeat;  /* there is no such question; the key may be known */
	bool invalid;    /* an imported plan is not valid: the question stays open */
	struct str text; /* of the response to an import */
	struct error error;
};

static void change_free(struct plan_change *change)
{
	executor_discard(change->api->settings.executor, &change->read.arena);
	free(change);
}

/* The open question, or why there is none. */
static bool find_question(struct plan_change *change, const struct timeline *timeline,
			  const struct plan_revisions *revisions, struct error *error)
{
	if (!require_plans(revisions, error))
		return false;
	if (timeline->ended)
		return fail(error, ERROR_CONFLICT, "the run has ended; its plan cannot be changed");
	if (revisions->approved && !revisions->open)
		return fail(error, ERROR_CONFLICT,
			    "the plan was approved by " STR_FMT "; it cannot be changed any more",
			    STR_ARG(revisions->approved_by));
	if (!revisions->open)
		return fail_planning(error);
	if (change->revision > 0 && change->revision != (int64_t)revisions->count)
		return fail(
			error, ERROR_CONFLICT,
			"revision %lld was edited, but revision %zu is the newest; read it again",
			(long long)change->revision, revisions->count);
	if (change->imports && !change->force && revisions->count > 0)
		return fail(error, ERROR_CONFLICT,
			    "the run has a plan already (revision %zu); use force to replace it",
			    revisions->count);
	change->question = revisions->question;
	change->asked = revisions->question_revision;
	return true;
}

static bool read_plan_file(struct plan_change *change, const struct timeline *timeline,
			   struct error *error)
{
	struct arena *arena = &change->read.arena;
	const struct run_start *start = timeline->start;
	uint64_t size;
	size_t bad;
	if (!has(start, repository))
		return fail(error, ERROR_USAGE,
			    "the run has no repository to read plan_file from; send plan_content");
	if (str_find(change->file, S("\0"), &bad))
		return fail(error, ERROR_INVALID, "plan_file contains a NUL character");
	if (!confined_read(str_c(arena, start->repository), str_c(arena, change->file), 0,
			   LIMIT_PLAN_BYTES + 1, arena, &change->markdown, &size, error))
		return false;
	if (size > LIMIT_PLAN_BYTES)
		return fail(error, ERROR_TOO_LARGE,
			    STR_FMT " has %llu bytes; a plan has at most %d", STR_ARG(change->file),
			    (unsigned long long)size, LIMIT_PLAN_BYTES);
	if (!utf8_valid(change->markdown, &bad))
		return fail(error, ERROR_INVALID, STR_FMT " is not UTF-8 at byte %zu",
			    STR_ARG(change->file), bad);
	return str_trim(change->markdown).size > 0 ||
	       fail(error, ERROR_INVALID, STR_FMT " is empty", STR_ARG(change->file));
}

static void judge_import(struct plan_change *change)
{
	struct arena *arena = &change->read.arena;
	struct plan plan;
	plan_read(change->markdown, arena, &plan);
	struct run_plan_imported *result = run_plan_imported_new(arena);
	change->invalid = plan.issues.count > 0;
	SET(result, status, change->invalid ? RUN_PLAN_IMPORT_INVALID : RUN_PLAN_IMPORT_READY);
	SET(result, goal, plan.goal);
	SET(result, key_files, plan.key_files);
	SET(result, total_tasks, (int64_t)plan.task_count);
	if (change->invalid)
		SET(result, validation_issues, plan.issues);
	change->text = run_plan_imported_text(result, arena);
}

static void change_work(struct executor_read *read, struct store_reader *reader)
{
	struct plan_change *change = (struct plan_change *)read;
	AUTO(api_timeline) timeline = { 0 };
	struct plan_revisions revisions;
	struct error *error = &change->error;
	if (!api_timeline_require(&timeline, read->executor, reader, &change->run, &read->arena,
				  error))
		return;
	plan_revisions_read(&timeline.timeline, &revisions);
	if (!find_question(change, &timeline.timeline, &revisions, error)) {
		/* A request that was answered before and is sent again gets its answer again. */
		change->is_repeat = error->code == ERROR_CONFLICT && change->key.key.size > 0;
		change->question = change->run; /* no question has the id of a run */
		if (!change->is_repeat)
			return;
	}
	struct error ignored;
	if (change->is_repeat)
		error = &ignored;
	if (change->file.size > 0 && !read_plan_file(change, &timeline.timeline, error))
		return;
	if (change->imports)
		judge_import(change);
}

static void answered(void *context, uint64_t unused, const struct executor_reply *reply)
{
	struct plan_change *change = context;
	(void)unused;
	struct error late;
	if (reply->error != NULL && change->is_repeat) {
		api_reply_error(change->api, change->exchange, &change->error, NULL);
	} else if (reply->error != NULL && reply->error->code == ERROR_NOT_FOUND) {
		fail(&late, ERROR_CONFLICT, "the question was answered in the meantime");
		api_reply_error(change->api, change->exchange, &late, NULL);
	} else if (reply->error != NULL) {
		api_reply_error(change->api, change->exchange, reply->error, NULL);
	} else if (change->imports) {
		api_reply_json(change->api, change->exchange, 200, change->text);
	} else {
		struct arena *arena = &change->read.arena;
		struct run_inbox_receipt *receipt = run_inbox_receipt_new(arena);
		SET(receipt, id, reply->request);
		SET(receipt, run_id, reply->run);
		SET(receipt, decision, change->decision);
		api_reply_json(change->api, change->exchange, 200,
			       run_inbox_receipt_text(receipt, arena));
	}
	change_free(change);
}

static void change_done(struct executor_read *read)
{
	struct plan_change *change = (struct plan_change *)read;
	if ((change->error.code != ERROR_NONE && !change->is_repeat) || change->invalid) {
		if (change->invalid && !change->is_repeat)
			api_reply_json(change->api, change->exchange, 200, change->text);
		else
			api_reply_error(change->api, change->exchange, &change->error, NULL);
		change_free(change);
		return;
	}
	const struct json_member member = { .key = S("plan_markdown"),
					    .value = { .kind = JSON_STRING,
						       .as.string = change->markdown } };
	const struct json value = { .kind = JSON_OBJECT, .as.object = { &member, 1 } };
	const struct executor_answer answer = {
		.request = change->question,
		.run = change->run,
		.decision = change->decision,
		.comment = change->comment,
		.by = change->by,
		.revision = change->is_repeat ? NULL : &change->asked,
		.value = { .json = change->decision == RUN_DECISION_MODIFY ? &value : NULL },
		.key = change->key,
		.request_id = change->request_id,
	};
	executor_answer(change->api->settings.executor, &answer, answered, change, 0);
}

static struct plan_change *change_new(struct api_call *call, enum run_decision decision,
				      bool has_by, struct str by)
{
	struct plan_change *change = calloc(1, sizeof(*change));
	require(change != NULL);
	struct arena *arena = &change->read.arena;
	change->api = call->api;
	change->exchange = call->exchange;
	change->run = call->id;
	change->decision = decision;
	change->by = str_copy(arena, api_acting_user(call, has_by, by));
	change->request_id = str_copy(arena, str_from_c(call->request_id));
	change->key = call->key;
	change->key.key = str_copy(arena, call->key.key);
	return change;
}

static void change_begin(struct plan_change *change)
{
	change->read.work = change_work;
	change->read.done = change_done;
	executor_read(change->api->settings.executor, &change->read);
}

void api_plan_edit(struct api_call *call, const struct run_plan_edit *body)
{
	struct plan_change *change = change_new(call, RUN_DECISION_MODIFY, has(body, by), body->by);
	struct arena *arena = &change->read.arena;
	change->markdown = str_copy(arena, body->plan_markdown);
	change->comment = has(body, comment) ? str_copy(arena, body->comment) : S("");
	change->revision = has(body, revision) ? body->revision : 0;
	change_begin(change);
}

void api_plan_import(struct api_call *call, const struct run_plan_import *body)
{
	struct plan_change *change = change_new(call, RUN_DECISION_MODIFY, has(body, by), body->by);
	struct arena *arena = &change->read.arena;
	change->imports = true;
	change->force = body->force;
	if (has(body, plan_content))
		change->markdown = str_copy(arena, body->plan_content);
	else
		change->file = str_copy(arena, body->plan_file);
	change_begin(change);
}

void api_run_replan(struct api_call *call, const struct run_replan *body)
{
	struct plan_change *change = change_new(call, RUN_DECISION_REJECT, has(body, by), body->by);
	change->comment = has(body, comment) ? str_copy(&change->read.arena, body->comment) : S("");
	change_begin(change);
}
