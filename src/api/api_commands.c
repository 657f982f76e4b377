/* api/api_commands.c -- commands to a run: answer its question, pause, resume, cancel, retry, signal. */
#include <stdlib.h>

#include "active/run_commands.h"
#include "api/api_internal.h"

#include "contract/graph_types.h"
#include "contract/run_command_types.h"
#include "contract/run_inbox_types.h"
#include "contract/run_outcome_types.h"
#include "active/executor_command.h"

struct str api_acting_user(const struct api_call *call, bool given, struct str by)
{
	/* A key's holder cannot act under another name: the four-eyes rule needs two keys. */
	return given && call->caller.kind != CALLER_KEY ? by : api_caller_name(call);
}

/* ---- verdicts ---------------------------------------------------------------------- */

struct verdict {
	struct api *api;
	uint64_t exchange;
	enum run_decision decision;
};

static void verdict_done(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct verdict *verdict = context;
	(void)argument;
	if (reply->error != NULL) {
		api_reply_error(verdict->api, verdict->exchange, reply->error, NULL);
	} else {
		AUTO(arena) arena = { 0 };
		struct run_inbox_receipt *receipt = run_inbox_receipt_new(&arena);
		SET(receipt, id, reply->request);
		SET(receipt, run_id, reply->run);
		SET(receipt, decision, verdict->decision);
		api_reply_json(verdict->api, verdict->exchange, 200,
			       run_inbox_receipt_text(receipt, &arena));
	}
	free(verdict);
}

void api_answer(struct api_call *call, const struct executor_answer *answer)
{
	struct verdict *verdict = calloc(1, sizeof(*verdict));
	require(verdict != NULL);
	*verdict = (struct verdict){ call->api, call->exchange, answer->decision };
	struct executor_answer sent = *answer;
	sent.request_id = str_from_c(call->request_id);
	executor_answer(call->api->settings.executor, &sent, verdict_done, verdict, 0);
}

static void give_verdict(struct api_call *call, const struct run_verdict *body,
			 enum run_decision decision)
{
	struct executor_answer answer = { .run = call->id,
					  .decision = decision,
					  .comment = has(body, comment) ? body->comment : S(""),
					  .final = has(body, final) && body->final,
					  .by = api_acting_user(call, has(body, by),
								has(body, by) ? body->by : S("")),
					  .revision = has(body, revision) ? &body->revision : NULL,
					  .key = call->key };
	if (has(body, request))
		answer.request = body->request;
	api_answer(call, &answer);
}

void api_run_approve(struct api_call *call, const struct run_verdict *body)
{
	give_verdict(call, body, RUN_DECISION_APPROVE);
}

void api_run_reject(struct api_call *call, const struct run_verdict *body)
{
	give_verdict(call, body, RUN_DECISION_REJECT);
}

static enum run_decision decision_of(enum graph_feedback_action action)
{
	switch (action) {
	case GRAPH_FEEDBACK_APPROVE:
		return RUN_DECISION_APPROVE;
	case GRAPH_FEEDBACK_REJECT:
		return RUN_DECISION_REJECT;
	case GRAPH_FEEDBACK_MODIFY:
		break;
	}
	return RUN_DECISION_MODIFY;
}

void api_run_feedback(struct api_call *call, const struct graph_human_feedback *body)
{
	struct executor_answer answer = { .run = call->id,
					  .decision = decision_of(body->action),
					  .comment = has(body, message) ? body->message : S(""),
					  .by = api_caller_name(call),
					  .key = call->key };
	if (answer.decision == RUN_DECISION_MODIFY)
		answer.value = api_given(call, body->state_updates);
	api_answer(call, &answer);
}

/* ---- commands ---------------------------------------------------------------------- */

struct command_request {
	struct api *api;
	uint64_t exchange;
	struct uuid run;
	const char *command;
};

static void command_done(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct command_request *request = context;
	(void)argument;
	if (reply->error != NULL) {
		api_reply_error(request->api, request->exchange, reply->error, NULL);
	} else {
		AUTO(arena) arena = { 0 };
		struct run_command_receipt *receipt = run_command_receipt_new(&arena);
		SET(receipt, run_id, request->run);
		SET(receipt, command, str_from_c(request->command));
		api_reply_json(request->api, request->exchange, 200,
			       run_command_receipt_text(receipt, &arena));
	}
	free(request);
}

static void command_send(struct api_call *call, const char *name, struct executor_command command)
{
	struct command_request *request = calloc(1, sizeof(*request));
	require(request != NULL);
	*request = (struct command_request){ call->api, call->exchange, call->id, name };
	command.run = call->id;
	command.key = call->key;
	command.request_id = str_from_c(call->request_id);
	executor_command(call->api->settings.executor, &command, command_done, request, 0);
}

static void note_send(struct api_call *call, const char *name, enum command_kind kind,
		      const struct run_note *body)
{
	const struct json budget = { .kind = JSON_REAL,
				     .as.real = has(body, budget_usd) ? body->budget_usd : 0 };
	struct error error;
	if (has(body, budget_usd) && kind != COMMAND_RESUME) {
		fail(&error, ERROR_USAGE, "budget_usd can be set by resume only, not by %s", name);
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	command_send(call, name,
		     (struct executor_command){
			     .kind = kind,
			     .reason = has(body, reason) ? body->reason : S(""),
			     .data = { .json = has(body, budget_usd) ? &budget : NULL },
			     .by = api_acting_user(call, has(body, by),
						   has(body, by) ? body->by : S("")) });
}

void api_run_pause(struct api_call *call, const struct run_note *body)
{
	note_send(call, "pause", COMMAND_PAUSE, body);
}

void api_run_resume(struct api_call *call, const struct run_note *body)
{
	note_send(call, "resume", COMMAND_RESUME, body);
}

void api_run_cancel(struct api_call *call, const struct run_note *body)
{
	note_send(call, "cancel", COMMAND_CANCEL, body);
}

void api_run_retry(struct api_call *call, const struct run_note *body)
{
	note_send(call, "retry", COMMAND_RETRY, body);
}

void api_run_signal(struct api_call *call, const struct run_signal_request *body)
{
	command_send(call, "signal",
		     (struct executor_command){
			     .kind = COMMAND_SIGNAL,
			     .name = body->name,
			     .data = api_given(call, has(body, data) ? body->data : NULL),
			     .by = api_acting_user(call, has(body, by),
						   has(body, by) ? body->by : S("")) });
}
