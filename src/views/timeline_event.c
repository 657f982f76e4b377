/* views/timeline_event.c -- properties of a single event, without its stream; projections.def uses
 * them to select wire names. */
#include "views/timeline.h"

#include "contract/event_result.h"
#include "contract/run_event_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_start_types.h"

bool timeline_event_of_step(const struct event *event, struct str *out_path)
{
	return event_step(event, out_path);
}

/* ---- how a call ended -------------------------------------------------------------- */

enum end {
	END_GOOD,
	END_BAD,
	END_GOES_ON,
};

static enum end result_end(const struct event_result *result)
{
	if (result->outcome == RUN_OUTCOME_OK)
		return END_GOOD;
	bool again = result->next != NULL && has(result->next, retry_at);
	bool asks = result->outcome == RUN_OUTCOME_UNKNOWN && !result->settled;
	return again || asks ? END_GOES_ON : END_BAD;
}

static enum end answer_end(const struct run_human_finished *answer)
{
	if (has(answer, fault))
		return END_BAD;
	switch (answer->decision) {
	case RUN_DECISION_APPROVE:
	case RUN_DECISION_MODIFY:
	case RUN_DECISION_HAPPENED:
		return END_GOOD;
	case RUN_DECISION_RETRY:
		return END_GOES_ON;
	case RUN_DECISION_REJECT:
		return has(answer, continues) && answer->continues ? END_GOOD : END_BAD;
	case RUN_DECISION_NOT_HAPPENED:
	case RUN_DECISION_TIMEOUT:
		break;
	}
	return END_BAD;
}

static enum end end_of(const struct event *event)
{
	struct event_result result;
	if (event_result(event, &result))
		return result_end(&result);
	if (event->type == EVENT_HUMAN_FINISHED)
		return answer_end(event->as.run_human_finished);
	if (event->type == EVENT_RUN_CANCELLING)
		return has(event->as.run_cancelling, fault) ? END_BAD : END_GOOD;
	if (event->type == EVENT_RUN_FINISHED)
		return event->as.run_finished->outcome == RUN_OUTCOME_OK ? END_GOOD : END_BAD;
	return END_GOOD;
}

bool timeline_event_failed(const struct event *event)
{
	return end_of(event) == END_BAD;
}

bool timeline_event_continues(const struct event *event)
{
	return end_of(event) == END_GOES_ON;
}

bool timeline_event_queues(const struct event *event)
{
	if (event->type == EVENT_RUN_CREATED)
		return has(event->as.run_created, queued) && event->as.run_created->queued;
	if (event->type == EVENT_RUN_RETRIED)
		return has(event->as.run_retried, queued) && event->as.run_retried->queued;
	return false;
}
