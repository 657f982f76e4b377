/* contract/migrate_pipeline.h -- converts profiles and settings of pipeline_v1 to pipeline.
 *
 * The conversion is a pure function of the document.  Where a pipeline_v1 profile has one setting
 * for all agents, the result repeats it for each agent:
 *
 *	driver cli, api              agents.*.driver: claude, api
 *	model                        agents.*.model; "default" when a cli profile has none
 *	tracker none                 tracker noop
 *	working_dir                  repo_root; "." when there is none
 *	plan_output_dir              the same, and the folder of plan_path_pattern
 *	retry                        the same
 *	max_review_iterations        agents.reviewer.options.max_iterations
 *	max_task_review_iterations   agents.task_reviewer.options.max_iterations
 *
 * The agents are the seven that the pipelines need.  The argument must be a parsed value; the
 * result lives in the arena and borrows its strings from the argument.
 */
#ifndef CONTRACT_MIGRATE_PIPELINE_H
#define CONTRACT_MIGRATE_PIPELINE_H

#include "contract/pipeline_types.h"
#include "contract/pipeline_v1_types.h"

const struct pipeline_profile *pipeline_profile_from_v1(const struct pipeline_v1_profile *old,
							struct arena *arena);
const struct pipeline_settings *pipeline_settings_from_v1(const struct pipeline_v1_settings *old,
							  struct arena *arena);
/* Whether a tree is a pipeline_v1 profile: only those have a `driver` field of their own. */
bool pipeline_profile_is_v1(const struct json *profile);

/* For readers that know the type only at run time.  *out_old tells whether the document has the old
 * shape of `type` (pipeline.Profile or pipeline.Settings).  If so, the document is read as the old
 * shape and converted to `type`; NULL when it has problems. */
const void *pipeline_read_old(const struct type *type, const struct contract_source *source,
			      struct arena *arena, struct problems *problems, bool *out_old);

#endif
