/* store/store_rows.h -- the rows that a store writes and reads.
 *
 * Times are microseconds since 1970 in UTC.  Bodies and summaries are JSON that the store does not
 * look into.  A field marked "read only" is filled by readers and ignored by a commit.
 */
#ifndef STORE_STORE_ROWS_H
#define STORE_STORE_ROWS_H

#include "base/error.h"
#include "base/sha256.h"
#include "base/uuid.h"

/* An event as it is appended. */
struct store_event {
	struct str type; /* a name of events.def */
	int64_t at;      /* time of the command that caused it */
	struct str body;
	bool kept; /* a life-cycle event: it survives when the floor rises above it */
	const struct hash
		*names; /* values that the body refers to: stored, or blobs of this append */
	size_t name_count;
};

/* An event as it is read. */
struct store_event_row {
	struct uuid run;
	int64_t seq, position, at;
	struct str type, body;
};

/* A value, addressed by the SHA-256 of its bytes. */
struct store_blob {
	struct hash hash;
	struct str bytes;
};

/* An open effect: requested and not finished.  Recovery reads these rows. */
struct store_effect {
	struct uuid id;
	struct uuid run; /* read only */
	struct str kind; /* a row of effects.def */
	int64_t due_at;  /* when a timer fires; 0 = no due time */
	struct str body;
};

/* What the turns of a run by one agent with one model used on one day.  Money is in picodollars. */
struct store_usage {
	int64_t day; /* since 1970, in UTC */
	struct str agent, provider, model;
	int64_t turns, unpriced; /* turns with reported usage, and how many have an unknown cost */
	int64_t input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens;
	int64_t cost, saved;
};

struct store_usages {
	const struct store_usage *at;
	size_t count;
};

/* What the turns of a run have spent of a named budget and hold of it, in picodollars. */
struct store_budget {
	struct str name;
	int64_t spent, reserved;
};

struct store_budgets {
	const struct store_budget *at;
	size_t count;
};

/* The guards of a named budget: the name of the budget follows.  The first is what is spent and what
 * is reserved together.  A rebuild recomputes both from the rows of all runs. */
#define STORE_BUDGET_USED     "budget.used."
#define STORE_BUDGET_RESERVED "budget.reserved."

/* How usage is summed up. */
enum store_usage_by {
	STORE_USAGE_TOTAL,    /* one row, also when there is no usage */
	STORE_USAGE_DAY,      /* by day, oldest first */
	STORE_USAGE_MODEL,    /* by provider and model, the most expensive first, like the rest: */
	STORE_USAGE_AGENT,    /* by agent */
	STORE_USAGE_WORKFLOW, /* by workflow */
	STORE_USAGE_RUN,      /* by run */
	STORE_USAGE_PARTS,    /* of one run: the rows of its commits, oldest first */
};

/* Usage on the days from `first` to `last`, of all runs or of one (NULL = all).  Of one run only the
 * total and the parts can be read. */
struct store_usage_filter {
	int64_t first, last;
	const struct uuid *run;
};

/* Columns that the rows are not summed up by are empty; a row by run has its workflow. */
struct store_usage_sum {
	struct store_usage usage;
	struct str workflow;
	struct uuid run;
};

struct store_usage_sums {
	struct store_usage_sum *at;
	size_t count;
};

/* The projection of a run that lists show. */
struct store_run {
	struct uuid id;
	struct str name;     /* of the definition */
	struct str state;    /* a state of states.def */
	bool needs_recovery; /* work is under way: after a restart the run must be loaded */
	int64_t created_at, updated_at;
	int64_t ended_at; /* 0 until the run ends */
	int64_t seq;      /* of the newest event; read only */
	int64_t floor;    /* events with a smaller seq are deleted; read only */
	struct str summary;
	/* The run's labels, each as "name=value".  A commit stores those of the run's first append;
	 * only a rebuild replaces them.  Not filled by readers. */
	struct str_list labels;
	/* A commit replaces the rows of the same day, agent, provider and model; a rebuild replaces
	 * all rows of the run.  Not filled by readers. */
	struct store_usages usage;
	/* Likewise, by name. */
	struct store_budgets budgets;
};

/* A run's folded state after the event with this seq. */
struct store_snapshot {
	int64_t seq;              /* read only: a commit stores it at the seq of its last event */
	struct str body;          /* "" = no snapshot */
	const struct hash *names; /* values that the body refers to; not read back */
	size_t name_count;
};

/* A document: a profile, a schedule, an API key, … */
struct store_document {
	struct str kind, name;
	int64_t revision; /* in a commit: the revision to replace, 0 = it must not exist */
	int64_t changed_at;
	struct str body; /* "" = deleted */
};

/* An idempotency key, bound to a request and to its result. */
struct store_request {
	struct str key;      /* "" = none */
	struct hash said;    /* fingerprint of method, path and body */
	struct uuid subject; /* the run, question or document that the request made or changed */
	int64_t at;          /* when; keys expire by age, see store_admin.h */
};

#endif
