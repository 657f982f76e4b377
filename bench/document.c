/* bench/document.c -- see document.h. */
#include "document.h"

#include <stdint.h>
#include <stdio.h>

enum { DATA_SIZE = 160, DATA_STRIDE = 157 };

void documents_init(struct documents *documents)
{
	uint32_t x = 12345;
	for (size_t i = 0; i < sizeof(documents->text); i++) {
		x = x * 1103515245 + 12345;
		documents->text[i] = (char)('a' + (x >> 16) % 26);
	}
	documents->counter = 0;
}

void document_id(unsigned number, char out[DOCUMENT_ID_SIZE])
{
	snprintf(out, DOCUMENT_ID_SIZE, "wf-%010u", number);
}

size_t document_write(struct documents *documents, const char *id, int step,
		      char out[DOCUMENT_SIZE])
{
	size_t from =
		DATA_STRIDE * (size_t)documents->counter++ % (sizeof(documents->text) - DATA_SIZE);
	int size = snprintf(out, DOCUMENT_SIZE, "{\"wf\":\"%s\",\"step\":%d,\"data\":\"%.*s\"}", id,
			    step, DATA_SIZE, documents->text + from);
	return (size_t)size;
}
