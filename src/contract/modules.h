/* contract/modules.h -- the list of all modules, for code that walks every type.
 *
 * A module is one file of rows, contracts/<module>.def; contract/modules.def names them all:
 *
 *	const struct contract_module *module;
 *	for (size_t i = 0; (module = contract_module_at(i)) != NULL; i++)
 *		for (size_t j = 0; contract_type_at(module, j) != NULL; j++)
 *			...
 */
#ifndef CONTRACT_MODULES_H
#define CONTRACT_MODULES_H

#include "contract/type.h"

struct contract_module {
	struct str name, text;
	const struct type *const *types; /* in the order of the rows */
	const size_t *count;
};

/* NULL after the last. */
const struct contract_module *contract_module_at(size_t index);
const struct type *contract_type_at(const struct contract_module *module, size_t index);

/* A type by its wire name ("run.Definition"); NULL when there is none. */
const struct type *contract_find(struct str name);
/* The wire name closest to a misspelled one, with or without its module; "" when none is close. */
struct str contract_closest(struct str name);
/* A wire name without its module. */
struct str contract_short_name(const struct type *type);
const char *contract_kind_name(enum type_kind kind); /* "entity", "enum", "union", "string" ... */

#endif
