/* contract/builders_runtime.h -- the fluent builders of the runtime vocabulary as pure functions.
 *
 * Each function returns a new value and leaves its argument unchanged.  The copy is shallow: it
 * borrows the texts and trees of the original as well as `key`, `value`, `task_id` and `error`,
 * all of which must live as long as the copy.
 *
 *	input = runtime_task_input_with_context(input, arena, S("plan"), plan);
 */
#ifndef CONTRACT_BUILDERS_RUNTIME_H
#define CONTRACT_BUILDERS_RUNTIME_H

#include "contract/runtime_types.h"

/* A copy with context[key] = value.  An existing key keeps its position; a new one goes last. */
const struct runtime_task_input *
runtime_task_input_with_context(const struct runtime_task_input *input, struct arena *arena,
				struct str key, const struct json *value);
const struct runtime_task_input *
runtime_task_input_with_metadata(const struct runtime_task_input *input, struct arena *arena,
				 struct str key, const struct json *value);
/* An output with success false and empty metadata. */
const struct runtime_task_output *runtime_task_output_failure(struct arena *arena,
							      struct str task_id, struct str error);

#endif
