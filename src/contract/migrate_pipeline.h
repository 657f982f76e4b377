/* contract/migrate_pipeline.h -- S1's profiles and settings as S0's.
 *
 * Pure: the same document gives the same result, whoever runs it where.  What a profile said once
 * for all agents is said for each of them:
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
 * The agents are the seven that the pipelines need.  The value given must be a parsed one; the
 * result lives in the arena and borrows the text of its strings from the value given.
 */
#ifndef CONTRACT_MIGRATE_PIPELINE_H
#define CONTRACT_MIGRATE_PIPELINE_H

#include "contract/pipeline_types.h"
#include "contract/pipeline_v1_types.h"

const struct pipeline_profile *pipeline_profile_from_v1(const struct pipeline_v1_profile *old,
							struct arena *arena);
const struct pipeline_settings *pipeline_settings_from_v1(const struct pipeline_v1_settings *old,
							  struct arena *arena);
/* Whether a tree is a profile of the old shape: only that one says `driver` itself. */
bool pipeline_profile_is_v1(const struct json *profile);

/* For readers that know the type only at run time.  *out_old says whether the document is of the
 * old shape of `type` (pipeline.Profile or pipeline.Settings); it is then read as that, and the
 * value given is one of `type`, or NULL with problems. */
const void *pipeline_read_old(const struct type *type, const struct contract_source *source,
			      struct arena *arena, struct problems *problems, bool *out_old);

#endif
