/* net/curl_library.c -- loads libcurl once and never unloads it. */
#include "net/curl_library.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libcurl.so.4"

static bool symbol_load(void *handle, const char *name, void *out_pointer, struct error *error)
{
	void *symbol = dlsym(handle, name);
	if (symbol == NULL)
		return fail(error, ERROR_UNAVAILABLE,
			    "the installed " LIBRARY
			    " has no function %s; install version 7.87 or newer",
			    name);
	/* ISO C has no cast from a data pointer to a function pointer. */
	memcpy(out_pointer, &symbol, sizeof(symbol));
	return true;
}

bool curl_library_open(const struct curl_library **out_library, struct error *error)
{
	static struct curl_library library; /* filled once, on the loop thread */
	static bool filled;
	if (!filled) {
		void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
		if (handle == NULL)
			return fail(error, ERROR_UNAVAILABLE,
				    "HTTP requests need " LIBRARY "; install libcurl4 (%s)",
				    dlerror());
#define FUNCTION(name)                                            \
	if (!symbol_load(handle, #name, &library.name##_, error)) \
		return false;
		CURL_FUNCTIONS(FUNCTION)
#undef FUNCTION
		if (library.curl_global_init_(CURL_GLOBAL_DEFAULT) != CURLE_OK)
			return fail(error, ERROR_UNAVAILABLE, LIBRARY " cannot be initialized");
		filled = true;
	}
	*out_library = &library;
	return true;
}
