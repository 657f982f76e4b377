/* config/secret.h -- references to secrets, and what is behind them.
 *
 * A secret is never written into a setting or a document, only where it is (contract.h):
 *
 *	env:NAME    a variable of Baton's own environment, and only one that secrets.allow lists:
 *	            whoever may write a document must not thereby read all of the environment
 *	file:NAME   a file beneath `secrets/` in the data folder, reached without `..` and without
 *	            symbolic links, a regular one that only its owner can read
 *
 * The value is one line of text; the file's last line end is not part of it.  No error repeats a
 * value.
 */
#ifndef CONFIG_SECRET_H
#define CONFIG_SECRET_H

#include "contract/contract.h"

struct secret_places {
	const char *data_folder;
	const char *const *environment; /* NULL-terminated NAME=value */
	struct str_list allowed;        /* names of variables */
};

/* ERROR_INVALID for what is no reference, ERROR_FORBIDDEN for one that may not be followed,
 * ERROR_NOT_FOUND where nothing is. */
MUST_CHECK bool secret_resolve(const struct secret_places *places, struct secret secret,
			       struct arena *arena, struct str *out_value, struct error *error);

#endif
