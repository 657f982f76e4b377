/* Lists of changed files under libFuzzer: what is read is within its limits, valid and counts what is
 * missing. */
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "contract/run_log_types.h"
#include "workspace/file_changes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) arena = { 0 };
	const struct run_file_changes *changes =
		file_changes_read((struct str){ (const char *)data, size }, &arena);
	size_t bad;
	if (changes == NULL)
		return 0;
	require(changes->files.count <= LIMIT_RECORDED_FILES);
	require(changes->files.count > 0 || has(changes, left_out));
	for (size_t i = 0; i < changes->files.count; i++)
		require(utf8_valid(changes->files.at[i].path, &bad));
	return 0;
}
