/* document/prompt_registry.h -- the named prompts of agents: saved versions over the program's defaults.
 *
 * A prompt is used in its newest saved version; without one, or after a reset, the default of the program
 * is used.  An id without a default is a prompt of the owner's own.  Versions are documents as those of
 * workflows are (decision 0072).
 *
 * On a reader thread; results live in the arena.
 */
#ifndef DOCUMENT_PROMPT_REGISTRY_H
#define DOCUMENT_PROMPT_REGISTRY_H

#include "store/store.h"

struct packed_file;
struct run_prompt_version;

struct prompt_found {
	struct str content;
	int64_t version;                          /* 0 = the default */
	const struct run_prompt_version *details; /* NULL for the default */
	bool has_default;
	struct str description; /* of the default; "" = none */
};

/* NOT_FOUND, with the closest id, when there is no such prompt. */
MUST_CHECK bool prompt_registry_find(const struct packed_file *defaults,
				     struct store_reader *reader, struct str id,
				     struct arena *arena, struct prompt_found *out_found,
				     struct error *error);
/* The default of the program; NOT_FOUND when there is none. */
MUST_CHECK bool prompt_registry_default(const struct packed_file *defaults, struct str id,
					struct arena *arena, struct prompt_found *out_found,
					struct error *error);
/* The ids of all prompts, sorted. */
MUST_CHECK bool prompt_registry_ids(const struct packed_file *defaults, struct store_reader *reader,
				    struct arena *arena, struct str_list *out_ids,
				    struct error *error);

/* One saved version.  *out_version is NULL when it does not exist. */
MUST_CHECK bool prompt_registry_version(struct store_reader *reader, struct str id, int64_t version,
					struct arena *arena,
					const struct run_prompt_version **out_version,
					struct error *error);

struct prompt_versions {
	const struct run_prompt_version **at; /* newest first */
	size_t count;
	bool more;
};
/* The versions before `before`, of which 0 is the end; at most `limit`. */
MUST_CHECK bool prompt_registry_versions(struct store_reader *reader, struct str id, int64_t before,
					 size_t limit, struct arena *arena,
					 struct prompt_versions *out_versions, struct error *error);

#endif
