/* simstore/simstore.c -- the table of the stores that a test can open. */
#include "simstore/simstore.h"

#define STORE(name) extern const struct store_backend store_##name##_backend;
#include "store/stores.def"
#include "simstore/simstores.def"
#undef STORE

const struct store_backend *const simstore_backends[] = {
#define STORE(name) &store_##name##_backend,
#include "store/stores.def"
#include "simstore/simstores.def"
#undef STORE
};

const size_t simstore_backend_count = COUNT(simstore_backends);

const struct store_backend *simstore_backend(struct str name)
{
	for (size_t i = 0; i < COUNT(simstore_backends); i++)
		if (str_equal(str_from_c(simstore_backends[i]->name), name))
			return simstore_backends[i];
	return NULL;
}
