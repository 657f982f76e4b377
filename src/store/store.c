/* store/store.c -- the table of backends.
 *
 * The list is an ordinary array made from stores.def, so that grep finds it and a backend is one
 * file and one row.  Callers use the interfaces of the store that they opened.
 */
#include "store/store_guard.h"

#include <string.h>

#include "base/buf.h"

#define STORE(name) extern const struct store_backend store_##name##_backend;
#include "store/stores.def"
#undef STORE

const struct store_backend *const store_backends[] = {
#define STORE(name) &store_##name##_backend,
#include "store/stores.def"
#undef STORE
};

const size_t store_backend_count = COUNT(store_backends);

const struct store_backend *store_backend_find(struct str name, struct error *error)
{
	AUTO(buf) choices = { 0 };
	for (size_t i = 0; i < COUNT(store_backends); i++) {
		if (str_equal(str_from_c(store_backends[i]->name), name))
			return store_backends[i];
		buf_add_format(&choices, "%s%s", i > 0 ? ", " : "", store_backends[i]->name);
	}
	fail(error, ERROR_USAGE, "unknown store \"" STR_FMT "\"; expected one of " STR_FMT,
	     STR_ARG(name), STR_ARG(buf_str(&choices)));
	return NULL;
}

int64_t store_detail(const struct store_details *details, const char *name)
{
	for (size_t i = 0; i < details->count; i++)
		if (strcmp(details->at[i].name, name) == 0)
			return details->at[i].value;
	return 0;
}

bool store_guard_admits(const struct store_guard *guards, size_t index, int64_t value)
{
	/* Earlier guards of the same append with this name have moved it already. */
	for (size_t i = 0; i <= index; i++)
		if (str_equal(guards[i].name, guards[index].name) &&
		    __builtin_add_overflow(value, guards[i].change, &value))
			return false;
	return value >= 0 && (guards[index].limit < 0 || value <= guards[index].limit);
}
