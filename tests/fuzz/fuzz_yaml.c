/* tests/fuzz/fuzz_yaml.c -- whatever yaml_read takes prints as JSON that reads and prints back to
 * the same text: no tree of it is one JSON could not hold. */
#include <stdlib.h>

#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) arena = { 0 };
	struct str text = { (const char *)data, size };
	const struct json *first = NULL, *second = NULL;
	struct error error = { 0 };
	if (!yaml_read(text, &arena, &first, &error)) {
		require(error.code == ERROR_SYNTAX || error.code == ERROR_TOO_LARGE);
		require(error.text[0] != '\0');
		return 0;
	}
	struct str printed = json_print(&arena, first);
	if (!json_read(printed, &arena, &second, &error)) {
		require(error.code == ERROR_TOO_LARGE); /* escapes may take it over the limit */
		return 0;
	}
	require(str_equal(printed, json_print(&arena, second)));
	return 0;
}
