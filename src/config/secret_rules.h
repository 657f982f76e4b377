/* config/secret_rules.h -- secrets that steps use: secrets.yaml in the data folder.
 *
 *	secrets:
 *	  github_token:
 *	    from: env:GITHUB_TOKEN
 *	    tools: [shell]
 *	    workflows: [deploy]
 *
 * The file is read at every use, so a change has effect at once.  An entry allows its own environment
 * variable; secrets.allow is not asked.  Blocks on the disk; any thread.
 */
#ifndef CONFIG_SECRET_RULES_H
#define CONFIG_SECRET_RULES_H

#include "config/secret.h"

struct secret_request {
	struct str name, tool, workflow;
	bool uses; /* the value goes to the tool; false: it is only masked */
};

/* Fails with SECRET_UNAVAILABLE; the error says what to change.  A value has at least
 * LIMIT_SECRET_LEAST_BYTES, because a shorter one would be masked where it is not meant. */
MUST_CHECK bool secret_rules_resolve(const struct secret_places *places,
				     const struct secret_request *request, struct arena *arena,
				     struct str *out_value, struct error *error);

#endif
