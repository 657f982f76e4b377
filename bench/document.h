/* bench/document.h -- the document that every workload passes from step to step, about 200 bytes.
 *
 *	{"wf":"<id>","step":<k>,"data":"<160 chars>"}
 *
 * `data` is a slice of a fixed text of 65536 letters; the slice advances by 157 with every document,
 * so that consecutive documents differ and every run of the benchmark writes the same data.
 */
#ifndef BENCH_DOCUMENT_H
#define BENCH_DOCUMENT_H

#include <stddef.h>

enum { DOCUMENT_ID_SIZE = 14, DOCUMENT_SIZE = 256 };

struct documents {
	char text[65536];
	unsigned counter;
};

void documents_init(struct documents *documents);
/* The name of the number-th workflow: 13 characters. */
void document_id(unsigned number, char out[DOCUMENT_ID_SIZE]);
/* Writes the next document and returns its size. */
size_t document_write(struct documents *documents, const char *id, int step,
		      char out[DOCUMENT_SIZE]);

#endif
