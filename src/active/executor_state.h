/* active/executor_state.h -- struct executor, for this room alone. */
#ifndef ACTIVE_EXECUTOR_STATE_H
#define ACTIVE_EXECUTOR_STATE_H

#include "active/admission.h"
#include "active/executor_services.h"
#include "active/graph_cache.h"
#include "active/ledger.h"
#include "active/live_log.h"
#include "active/live_reply.h"
#include "active/quarantine.h"
#include "base/slots.h"
#include "engine/budget.h"

struct definition_tool;

struct executor {
	struct executor_settings settings;
	struct executor_limits limits;
	struct writer *writer;
	struct store_reader **readers;
	struct slots active_runs, watches, fetches, tree_takings;
	struct map watch_groups;   /* run -> its watches; notice_bus.c */
	uint64_t watches_visited;  /* by all notices so far */
	struct slots computations; /* pure steps that wait for values; each begins with its arena */
	struct map by_run;         /* run id -> active run */
	struct graph_cache graphs;
	struct definition_tool *catalogue; /* the built-in tools, as definitions name them */
	struct arena catalogue_arena;      /* their parameters */
	struct map alarms;                 /* effect -> its alarm */
	struct slots alarm_slots;
	uint64_t alarm_scan_timer; /* of the next alarm_scan(); 0 = none */
	int64_t alarm_scan_at;     /* us, monotonic */
	bool failed;               /* the store failed: nothing is acknowledged any more */
	bool draining;
	bool profiled; /* a profile is active: every start reads it */
	bool full;     /* the newest commit found no room on the disk */
	bool recovered;
	bool closing; /* executor_free() is at work */
	struct recovery *recovery;
	struct admission admission;
	struct live_logs live_logs;
	struct live_replies live_replies;
	struct quarantine quarantine;
	struct map claims;       /* idempotency key -> the command that has it */
	int64_t keys_expired_at; /* when old idempotency keys were last removed, us UTC */
	struct append_watch *append_watch;
	uint64_t snapshots, loaded_events;
	struct engine_prices prices; /* for budgets */
	struct ledger ledger;
};

#endif
