/* bench/kept_document.c -- the `document` tool as an external process that is kept alive: one line of
 * JSON in, one line out.  It parses only the exact lines that Baton writes, because the benchmark
 * measures the round trip. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"

/* The text after `key`, up to `end`. */
static bool piece(const char *line, const char *key, char end, char *out, size_t size)
{
	const char *from = strstr(line, key);
	if (from == NULL)
		return false;
	from += strlen(key);
	const char *to = strchr(from, end);
	if (to == NULL || (size_t)(to - from) >= size)
		return false;
	memcpy(out, from, (size_t)(to - from));
	out[to - from] = '\0';
	return true;
}

int main(void)
{
	static struct documents documents;
	char line[65536], id[64], workflow[64], step[32], out[DOCUMENT_SIZE];
	documents_init(&documents);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (!piece(line, "\"id\":\"", '"', id, sizeof(id)) ||
		    !piece(line, "\"wf\":\"", '"', workflow, sizeof(workflow)) ||
		    !piece(line, "\"step\":", ',', step, sizeof(step)))
			return 1;
		document_write(&documents, workflow, atoi(step) + 1, out);
		printf("{\"id\":\"%s\",\"output\":{\"document\":%s}}\n", id, out);
		fflush(stdout);
	}
	return 0;
}
