/* config/secret.h -- resolves references to secrets.
 *
 * Settings and documents never contain a secret, only a reference to it (contract.h):
 *
 *	env:NAME    an environment variable of the server.  It must be listed in secrets.allow, so
 *	            that writing a document does not give access to the whole environment.
 *	file:NAME   a file in the folder secrets/ of the data folder.  It must be a regular
 *	            file that only its owner can read; `..` and symbolic links are refused.
 *
 * The value is one line of text; a newline at the end of the file is ignored.  Errors never contain
 * the value.
 */
#ifndef CONFIG_SECRET_H
#define CONFIG_SECRET_H

#include "contract/contract.h"

struct secret_places {
	const char *data_folder;
	const char *const *environment; /* NULL-terminated NAME=value */
	struct str_list allowed;        /* names of variables */
};

/* Reads the secret.  Fails with INVALID if it is not a reference, with FORBIDDEN if the reference
 * is not allowed, with NOT_FOUND if the variable or file does not exist. */
MUST_CHECK bool secret_resolve(const struct secret_places *places, struct secret secret,
			       struct arena *arena, struct str *out_value, struct error *error);

#endif
