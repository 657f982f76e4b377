/* effect/effect.h -- what the kinds of effects share; for this room alone.
 *
 * An effect under way is a heap object that begins with its arena.  It is found by its slot, never
 * by a pointer that somebody keeps, because a stop may end it while a callback is on its way.
 */
#ifndef EFFECT_EFFECT_H
#define EFFECT_EFFECT_H

#include "active/active_run.h"
#include "active/effect_kind.h"
#include "active/executor_services.h"
#include "active/pending_command.h"
#include "base/map.h"
#include "base/slots.h"

struct effect_room {
	struct effects base; /* first: the executor's view */
	struct slots under_way;
	struct map calls; /* effect id -> tool call */
	struct map turns; /* effect id -> an agent's turn */
};

struct effect_room *effect_room(const struct executor *executor);

/* The command that closes an effect with its result. */
struct pending_command *effect_close_command(struct str step, const struct uuid *effect,
					     enum run_outcome outcome, const struct json *output,
					     const struct error *error);
/* The same, sent to the run. */
void effect_finish(struct active_run *active, struct str step, const struct uuid *effect,
		   enum run_outcome outcome, const struct json *output, const struct error *error);
/* Records that an effect which was open after a crash begins once more.  When that is committed the
 * effect begins. */
void effect_restart(struct active_run *active, struct str step, const struct uuid *effect);

/* Whether tools, models and people of the run are simulated: nothing leaves the program (adapter sim). */
bool effect_is_simulated(const struct active_run *active);

/* A question is committed; in a simulated run it is approved. */
void effect_human_asked(struct active_run *active, const struct uuid *question);

/* A sub-run has ended: reads its outcome and closes the parent's effect. */
void effect_subrun_ended(struct executor *executor, const struct uuid *child);
/* The child runs its finally and undo steps, which end at once if their time is over in the parent. */
void effect_subrun_unwinds(struct executor *executor, const struct uuid *child);

#endif
