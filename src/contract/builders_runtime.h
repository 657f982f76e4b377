/* contract/builders_runtime.h -- the seed's fluent builders as pure functions.
 *
 * Each gives a new value and leaves the one it was given as it was.  The copy is shallow: it
 * borrows texts and trees of the original, and `key`, `value`, `task_id` and `error`; all of them
 * must live as long as the copy.
 *
 *	input = runtime_task_input_with_context(input, arena, S("plan"), plan);
 */
#ifndef CONTRACT_BUILDERS_RUNTIME_H
#define CONTRACT_BUILDERS_RUNTIME_H

#include "contract/runtime_types.h"

/* With context[key] = value: in the old one's place, or at the end. */
const struct runtime_task_input *
runtime_task_input_with_context(const struct runtime_task_input *input, struct arena *arena,
				struct str key, const struct json *value);
const struct runtime_task_input *
runtime_task_input_with_metadata(const struct runtime_task_input *input, struct arena *arena,
				 struct str key, const struct json *value);
/* success is false, metadata empty. */
const struct runtime_task_output *runtime_task_output_failure(struct arena *arena,
							      struct str task_id, struct str error);

#endif
