/* net/curl_library.c -- dlopen, once; what is open stays open. */
#include "net/curl_library.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libcurl.so.4"

static bool take(void *handle, const char *name, void *place, struct error *error)
{
	void *symbol = dlsym(handle, name);
	if (symbol == NULL)
		return fail(error, ERROR_UNAVAILABLE,
			    "the installed " LIBRARY " has no %s: Baton needs 7.87 or newer", name);
	memcpy(place, &symbol, sizeof(symbol)); /* ISO C knows no cast from data to function */
	return true;
}

bool curl_library_open(const struct curl_library **out_library, struct error *error)
{
	static struct curl_library library; /* filled once; see the header for the thread */
	static bool filled;
	if (!filled) {
		void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
		if (handle == NULL)
			return fail(error, ERROR_UNAVAILABLE,
				    "HTTP needs " LIBRARY ": install libcurl4 (%s)", dlerror());
#define FUNCTION(name)                                     \
	if (!take(handle, #name, &library.name##_, error)) \
		return false;
		CURL_FUNCTIONS(FUNCTION)
#undef FUNCTION
		if (library.curl_global_init_(CURL_GLOBAL_DEFAULT) != CURLE_OK)
			return fail(error, ERROR_UNAVAILABLE, LIBRARY " cannot be initialised");
		filled = true;
	}
	*out_library = &library;
	return true;
}
