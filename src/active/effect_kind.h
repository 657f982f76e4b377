/* active/effect_kind.h -- effects as active runs see them: what a step does outside of the engine.
 *
 * An effect is requested by an event.  When that event is committed the effect begins; what it
 * comes to is a command to its run (effect/effect.h), and that command's events close it.  The room
 * effect has one kind for each kind of node that has effects, and hands them to the executor in
 * `struct executor_settings`.
 */
#ifndef ACTIVE_EFFECT_KIND_H
#define ACTIVE_EFFECT_KIND_H

#include "contract/run_node_types.h"
#include "active/active_run.h"
#include "engine/decide.h"

struct effect_kind {
	const char *name; /* the kind of its row among the open effects */
	enum run_node_kind node;
	/* Its request is committed: begin. */
	void (*begin)(struct active_run *active, struct activation *activation);
	/* The effect was open when an earlier process ended: resume it by its class. */
	void (*resume)(struct active_run *active, struct activation *activation);
	/* The effect should end.  Its result closes it, as always; an effect that has ended already
	 * is left alone. */
	void (*stop)(struct active_run *active, const struct uuid *effect);
	/* Ends the cleanup of an effect, too, which has been told to stop before; NULL = it has none. */
	void (*stop_again)(struct active_run *active, const struct uuid *effect);
};

/* The room effect, as the executor is given it.  effects_new() makes one. */
struct effects {
	const struct effect_kind *const *kinds; /* by enum run_node_kind */
	/* A run that is a step of another run has ended: its parent gets the result. */
	void (*subrun_ended)(struct executor *executor, const struct uuid *child);
	/* Its finally and undo steps have started: the time for them may be over in its parent. */
	void (*subrun_unwinds)(struct executor *executor, const struct uuid *child);
	/* A question to a person is committed; NULL = nothing follows from it. */
	void (*human_asked)(struct active_run *active, const struct uuid *question);
	size_t open_tools, open_turns; /* under way now */
};

const struct effect_kind *effect_kind_of(const struct executor *executor, enum run_node_kind node);
/* The request or the restart of the step's effect is committed. */
void effect_kind_begin(struct active_run *active, struct str step);
/* The step was loaded with an open effect. */
void effect_kind_resume(struct active_run *active, struct activation *activation);
void effect_kind_stop(struct active_run *active, const struct decision_stop *stop);

#endif
