/* tests/fuzz/fuzz_json.c -- whatever json_read takes, printing and reading it again changes
 * nothing; whatever it refuses, it refuses with a place inside the text. */
#include <stdlib.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) arena = { 0 };
	struct str text = { (const char *)data, size };
	const struct json *first = NULL, *second = NULL;
	struct error error = { 0 };
	if (!json_read(text, &arena, &first, &error)) {
		require(error.code == ERROR_SYNTAX || error.code == ERROR_TOO_LARGE);
		require(error.line >= 1 && error.column >= 1 && error.column <= size + 1);
		require(error.text[0] != '\0');
		return 0;
	}
	struct str printed = json_print(&arena, first);
	require(json_read(printed, &arena, &second, &error));
	require(str_equal(printed, json_print(&arena, second)));
	return 0;
}
