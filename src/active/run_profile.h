/* active/run_profile.h -- the profile that a run belongs to.
 *
 * A run belongs to the profile that its start names, else to the active profile, else to none.  The
 * start reads the profile once; what the run needs of it is recorded (run.created) and compiled into
 * the graph, so that a later change of the profile does not affect the run.
 *
 * On a reader thread; results live in the arena.
 */
#ifndef ACTIVE_RUN_PROFILE_H
#define ACTIVE_RUN_PROFILE_H

#include "base/error.h"

struct executor;
struct pipeline_profile;
struct run_start;
struct store_reader;

/* The profile `name`, or the active one if the name is empty; NULL = there is none.  CONFIGURATION
 * when the named profile does not exist. */
MUST_CHECK bool run_profile_read(const struct executor *executor, struct store_reader *reader,
				 struct str name, struct arena *arena,
				 const struct pipeline_profile **out_profile, struct error *error);

/* Checks that the profile's repository is there.  CONFIGURATION if it is not. */
MUST_CHECK bool run_profile_check_repository(const struct pipeline_profile *profile,
					     struct arena *arena, struct error *error);

/* Replaces the profile by one whose agents have the models that the start names.  CONFIGURATION if there is no
 * such agent. */
MUST_CHECK bool run_profile_choose_models(const struct pipeline_profile **profile,
					  const struct run_start *start, struct arena *arena,
					  struct error *error);

/* Records the profile in the start of a run; NULL = none. */
void run_profile_record(struct run_start *start, const struct pipeline_profile *profile,
			struct arena *arena);

#endif
