/* views/event_facts.h -- what a stored event records beside itself.
 *
 * One stored event becomes a group of events in a vocabulary: itself, then its facts.  The facts of an
 * event are a pure function of the events up to it (decision 0059): files, artifacts and reasoning are
 * recorded in the event, never looked up in the folder.
 */
#ifndef VIEWS_EVENT_FACTS_H
#define VIEWS_EVENT_FACTS_H

#include "views/timeline.h"

struct run_call_opened;
struct run_file_change;
struct run_file_changes;
struct run_turn_call;
struct run_turn_result;
struct run_write_artifact_outputs;

/* In the order in which a group has them; contracts/projections.def explains them. */
enum event_fact_kind {
	FACT_EVENT, /* the stored event itself */
	FACT_FAULT,
	FACT_THINKING,
	FACT_CALL,
	FACT_RESULT,
	FACT_REFUSED,
	FACT_REFUSAL,
	FACT_REPLY,
	FACT_FILE_CREATED,
	FACT_FILE_MODIFIED,
	FACT_FILE_DELETED,
	FACT_ARTIFACT_CREATED,
	FACT_ARTIFACT_VERSIONED,
	FACT_TASK_STARTED,
	FACT_TASK_COMPLETED,
	FACT_TASK_FAILED,
	FACT_REVIEW_REQUESTED,
	FACT_REVIEW_COMPLETED,
	FACT_REVISION_REQUESTED,
	FACT_PLAN_VALIDATED,
	FACT_PLAN_INVALID,
	FACT_COUNT,
	FACT_NONE = FACT_COUNT,
};

struct event_fact {
	enum event_fact_kind kind;
	size_t number; /* of the file in `files`, of the call in the reply */
};

/* The facts of one event, the event itself first. */
struct event_facts {
	const struct timeline *timeline;
	size_t index;
	const struct event_fact *at;
	size_t count;
	int64_t left_out;                     /* changed files that are not recorded */
	const struct run_file_changes *files; /* NULL = none */
	const struct run_turn_result *reply;  /* of a turn; NULL = none */
	const struct run_write_artifact_outputs *artifact;
};

struct event_facts event_facts(const struct timeline *timeline, size_t index);
/* An upper bound of the number of facts, out of the event alone: this many, and on top of them files,
 * calls of replies and milestones. */
enum { EVENT_FACTS_PLAIN = 4, EVENT_FACTS_MILESTONE = 3 };
size_t event_facts_most(const struct event *event);

/* ---- for views -------------------------------------------------------------------------- */

const struct run_file_change *event_facts_file(const struct event_facts *facts, size_t n);
/* The call of the reply that was not made, and why. */
const struct run_turn_call *event_facts_call(const struct event_facts *facts, size_t n);
struct str event_facts_refusal(const struct event_facts *facts, size_t n);
/* The agent whose session the event belongs to, or else the agent of its step. */
struct str event_facts_agent(const struct event_facts *facts);
/* A sentence about the fact, and the fact for a program. */
struct str event_facts_format(const struct event_facts *facts, size_t n);
const struct json *event_facts_details(const struct event_facts *facts, size_t n);
/* URI of the file or the artifact. */
struct str event_facts_uri(const struct event_facts *facts, size_t n);

#endif
