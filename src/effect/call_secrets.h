/* effect/call_secrets.h -- the secrets of a tool call; for this room alone.
 *
 * Secrets are read when the call starts, on a reader thread.  Those that its inputs name are checked
 * against the current rules and inserted; all that the run's definition names are masked in whatever
 * the tool returns, because an earlier step may have left one in the workspace.
 */
#ifndef EFFECT_CALL_SECRETS_H
#define EFFECT_CALL_SECRETS_H

#include "active/executor_jobs.h"
#include "base/secret_mask.h"
#include "engine/value.h"

struct call_secrets_read {
	struct executor_read read; /* first; its arena has the values */
	uint64_t call;             /* the slot of the call */
	const struct executor_settings *settings;
	struct str tool, workflow;
	struct str_list names; /* all secrets of the definition */
	const struct secret_use *uses;
	size_t use_count;
	struct str *values; /* of each name; "" = it cannot be read, and is not used here */
	struct error error; /* code NONE = every used secret was read */
};

/* The work of the job. */
void call_secrets_work(struct executor_read *read, struct store_reader *reader);
const struct secret_mask *call_secrets_mask(const struct call_secrets_read *r, struct arena *arena);
/* The inputs with the secrets in their places.  Fails with INTERNAL when a place does not exist. */
MUST_CHECK bool call_secrets_fill(const struct call_secrets_read *r, const struct json *inputs,
				  struct arena *arena, const struct json **out_inputs,
				  struct error *error);

#endif
