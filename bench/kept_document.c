/* bench/kept_document.c -- the document maker as an external tool that is kept alive: a line of
 * JSON in, a line of JSON out.  It knows the lines that Baton writes and nothing else about JSON,
 * because what is measured is the way there and back. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"

/* The text behind `key`, up to `end`. */
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
