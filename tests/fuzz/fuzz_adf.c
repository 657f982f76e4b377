/* Jira's documents under libFuzzer: any JSON becomes Markdown within its limit, and any text becomes a document that
 * is read again. */
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "tracker/adf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) arena = { 0 };
	struct str text = { (const char *)data, size };
	const struct json *document;
	struct error error;
	if (json_read(text, &arena, &document, &error))
		require(adf_to_markdown(document, &arena).size <= LIMIT_ADF_BYTES);
	const struct json *made = adf_from_text(text, &arena);
	require(adf_to_markdown(made, &arena).size <= LIMIT_ADF_BYTES);
	return 0;
}
