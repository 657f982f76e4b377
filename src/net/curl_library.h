/* net/curl_library.h -- libcurl, loaded with dlopen() when it is first needed.
 *
 * libcurl pulls in some thirty libraries; a process that sends no HTTP request should neither wait
 * for them nor keep them in memory.  The program uses libcurl's headers but calls its functions
 * through this table.
 */
#ifndef NET_CURL_LIBRARY_H
#define NET_CURL_LIBRARY_H

#include <curl/curl.h>

#include "base/error.h"

#define CURL_FUNCTIONS(FUNCTION)           \
	FUNCTION(curl_global_init)         \
	FUNCTION(curl_easy_init)           \
	FUNCTION(curl_easy_cleanup)        \
	FUNCTION(curl_easy_setopt)         \
	FUNCTION(curl_easy_getinfo)        \
	FUNCTION(curl_easy_pause)          \
	FUNCTION(curl_easy_strerror)       \
	FUNCTION(curl_multi_init)          \
	FUNCTION(curl_multi_cleanup)       \
	FUNCTION(curl_multi_setopt)        \
	FUNCTION(curl_multi_assign)        \
	FUNCTION(curl_multi_add_handle)    \
	FUNCTION(curl_multi_remove_handle) \
	FUNCTION(curl_multi_socket_action) \
	FUNCTION(curl_multi_info_read)     \
	FUNCTION(curl_slist_append)        \
	FUNCTION(curl_slist_free_all)      \
	FUNCTION(curl_url)                 \
	FUNCTION(curl_url_cleanup)         \
	FUNCTION(curl_url_set)             \
	FUNCTION(curl_url_get)             \
	FUNCTION(curl_free)

struct curl_library {
#define FUNCTION(name) __typeof__(name) *name##_;
	CURL_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* For the loop thread only.  UNAVAILABLE when libcurl is not installed or too old. */
MUST_CHECK bool curl_library_open(const struct curl_library **out_library, struct error *error);

#endif
