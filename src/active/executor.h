/* active/executor.h -- the executor: runs workflows by commands, decisions, commits and effects.
 *
 * The executor is the shell around the pure engine.  It holds the runs that are active in this
 * process, gives commands to the engine, commits the events that the engine decides, and only then
 * lets anything leave the process: a reply, a notice, an effect (architecture R2).  It decides
 * nothing itself.
 *
 * Everything here is asynchronous and belongs to the loop thread.  A callback gets what it needs by
 * value; pointers in its arguments are borrowed for the duration of the call.
 *
 * A program with an executor looks like this:
 *
 *	struct executor *executor;
 *	struct effects *effects = effects_new();                        (effect/effects.h)
 *	struct executor_settings settings = { .effects = effects, ... };
 *	if (!executor_new(&settings, &executor, &error))
 *		...
 *	struct documents *documents = documents_new(executor);          (document/documents.h)
 *	struct maintenance *maintenance = maintenance_new(...);         (maintenance/maintenance.h)
 *	executor_recover(executor, accept_requests, context);
 *	... the loop runs: executor_start(), executor_command()         (active/run_commands.h)
 *	executor_drain(executor); ... until executor_is_drained(executor)
 *	... the loop has ended
 *	maintenance_free(maintenance);
 *	documents_free(documents);
 *	executor_free(executor);
 *	effects_free(effects);
 *
 * The other headers of the room for callers: active/run_commands.h (commands to runs and their
 * replies), active/notices.h (what is committed), active/executor_jobs.h (jobs on reader threads
 * and on the writer thread), active/run_reads.h (stored runs on a reader thread).  The rooms above
 * (effect, document, maintenance) also use active/executor_services.h and active/active_run.h.
 */
#ifndef ACTIVE_EXECUTOR_H
#define ACTIVE_EXECUTOR_H

#include "base/histogram.h"
#include "os/confined_path.h"
#include "os/platform.h"
#include "store/store.h"
#include "tool/tool_host.h"
#include "workspace/workspace.h"

struct custom_tools;
struct effects;
struct executor;
struct graph_retention_policy;
struct run_tier;
struct llm_host;
struct llm_table;
struct pipeline_profile;
struct run_agent;
struct run_graph;
struct run_graph_sandbox;
struct run_start;
struct tool_table;

/* What the executor is built from.  Everything it points to outlives the executor. */
struct executor_settings {
	struct platform *platform;
	struct store *store;
	struct workspace *workspace;
	struct effects *effects;         /* what steps do outside of the engine */
	const struct tool_table *tools;  /* the built-in tools */
	struct tool_host host;           /* what tools run with */
	const struct llm_table *drivers; /* the drivers of agents; NULL = none */
	struct llm_host *models;         /* what drivers run with */
	struct custom_tools *customs;    /* the owner's own tools; NULL = none */
	bool contained; /* the sandbox isolates tools of class contained; false: they are once */
	bool networked; /* built-in tools that start processes reach hosts: then they are once, too */
	/* Reads the text of the definition `name`; called on a reader thread. */
	bool (*definition)(void *context, struct store_reader *reader, struct str name,
			   struct arena *arena, struct str *out_yaml, struct error *error);
	/* Reads a prompt file: below `folder` ("" = none), else below the data folder; called on a
	 * reader thread.  NULL = there are none. */
	bool (*prompt)(void *context, struct str folder, struct str name, struct arena *arena,
		       struct str *out_text, struct error *error);
	/* Reads the current version of a named prompt; version 0 = the default of the program.  Called
	 * on a reader thread.  NULL = there are none. */
	bool (*named_prompt)(void *context, struct store_reader *reader, struct str id,
			     struct arena *arena, struct str *out_text, int64_t *out_version,
			     struct error *error);
	/* The signature of that definition, without reading it; called on any thread.  While
	 * it stays the same a start uses the graph that was compiled before.  False, or NULL:
	 * unknown. */
	bool (*definition_signature)(void *context, struct str name,
				     struct file_signature *out_signature);
	/* The names of the definitions that can be found, sorted, at most `limit`; called on a reader
	 * thread.  NULL = unknown. */
	struct str_list (*definitions)(void *context, struct store_reader *reader, size_t limit,
				       struct arena *arena);
	/* Reads the agent `name` of the registry; called on a reader thread.  NULL = there is no
	 * registry. */
	bool (*agent)(struct store_reader *reader, struct str name, struct arena *arena,
		      const struct run_agent **out_agent, struct error *error);
	/* Reads the tier of an agent called tierN_ROLE; *out_tier is NULL when it has none.  Called on a reader
	 * thread.  NULL = there are no tiers. */
	bool (*tier)(struct store_reader *reader, struct str name, struct arena *arena,
		     const struct run_tier **out_tier, struct error *error);
	/* Reads the profile `name`, or the active profile if the name is empty; *out_profile is NULL
	 * when no profile is active.  CONFIGURATION when the named one does not exist.  Called on a
	 * reader thread.  NULL = there are no profiles. */
	bool (*profile)(struct store_reader *reader, struct str name, struct arena *arena,
			const struct pipeline_profile **out_profile, struct error *error);
	/* Changes the host of a call to what the sandbox of its profile or agent says; CONFIGURATION
	 * when this server does not have it.  Called on a reader thread at the start of a run, and on
	 * the loop before a call.  NULL = no start with such a sandbox. */
	bool (*choose_sandbox)(void *context, const struct run_graph_sandbox *sandbox,
			       struct arena *arena, struct tool_host *host, struct error *error);
	/* Reads a secret for a call of `tool` in a run of `workflow`; called on a reader thread.
	 * Fails with SECRET_UNAVAILABLE when it cannot be read or, if `uses`, may not be used.
	 * NULL = there are no secrets. */
	bool (*secret)(void *context, struct str name, struct str tool, struct str workflow,
		       bool uses, struct arena *arena, struct str *out_value, struct error *error);
	/* The store failed.  Nothing is acknowledged any more, and the process should end. */
	void (*fatal)(void *context, const struct error *error);
	void *context;
	size_t snapshot_bytes; /* write a snapshot after this many bytes of events; 0 = the limit */
	size_t value_on_loop_bytes; /* longer values are handled off the loop; 0 = the limit */
};

MUST_CHECK bool executor_new(const struct executor_settings *settings,
			     struct executor **out_executor, struct error *error);
/* Only after the loop has ended and no job is in flight.  Nobody is answered any more. */
void executor_free(struct executor *executor);

/* Loads every run that has work under way and resumes it; then calls `done` with their number.
 * Nothing else may change a run before that. */
void executor_recover(struct executor *executor, platform_callback *done, void *context);

/* ---- limits that change while the server runs ---------------------------------------- */

struct executor_limits {
	int64_t max_concurrent; /* pipelines under way at once; 0 = LIMIT_MAX_CONCURRENT */
	int64_t start_us;       /* longest time that starting a run may take; 0 = no limit */
};

/* Runs that wait for admission may start under the new limits. */
void executor_set_limits(struct executor *executor, const struct executor_limits *limits);

/* Whether a profile is active.  While none is, a start that names none reads no profile. */
void executor_set_profiled(struct executor *executor, bool profiled);

/* ---- an orderly stop ----------------------------------------------------------------- */

/* From now on new commands are refused (UNAVAILABLE) and no step begins; effects under way may
 * finish, and their results are committed.  A step that could start is started by the next
 * recovery.  There is no way back. */
void executor_drain(struct executor *executor);
bool executor_is_draining(const struct executor *executor);
/* No effect is under way and no command is undecided: ending the process loses no work. */
bool executor_is_drained(const struct executor *executor);

/* ---- figures ------------------------------------------------------------------------- */

struct executor_counts {
	size_t active_runs, open_tools, open_turns, waiting_appends, watches;
	size_t alarms; /* timers in memory; those due later are only on the disk */
	size_t queued; /* runs that wait for admission */
	bool full;     /* the newest commit found no room on the disk */
	int64_t oldest_append_us, append_work_us;
	const struct histogram *commit_sizes, *commit_times; /* seconds */
	uint64_t snapshots, loaded_events;                   /* since the start */
	struct store_stats store;                            /* since the start */
	size_t model_requests,
		model_requests_waiting;            /* of turns: under way; waiting for a place */
	size_t models_open;                        /* models that are not asked for a while */
	uint64_t models_opened, model_connections; /* since the start */
};

struct executor_counts executor_counts(const struct executor *executor);

/* Effects that are requested and not finished: tools by effect class, then timers, then questions
 * to people.  Walks over every step of every active run. */
struct executor_effects {
	struct {
		struct str class;
		size_t open;
		int64_t oldest_us; /* age of the oldest */
	} at[8];
};

struct executor_effects executor_effects(struct executor *executor);

#endif
