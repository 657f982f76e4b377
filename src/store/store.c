/* store/store.c -- the table of backends.
 *
 * The list is an ordinary array made from stores.def, so that grep finds it and a backend is one
 * file and one row.  Callers go through the ops of what they opened.
 */
#include "store/store_inside.h"

#define STORE(name) extern const struct store_ops store_##name##_ops;
#include "store/stores.def"
#undef STORE

const struct store_ops *const store_backends[] = {
#define STORE(name) &store_##name##_ops,
#include "store/stores.def"
#undef STORE
};

const size_t store_backend_count = COUNT(store_backends);

const struct store_ops *store_backend(struct str name)
{
	for (size_t i = 0; i < COUNT(store_backends); i++)
		if (str_equal(str_from_c(store_backends[i]->name), name))
			return store_backends[i];
	return NULL;
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
