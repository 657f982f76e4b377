/* bench/error_kinds.h -- counts what went wrong, by kind.
 *
 * The kind of an answer is its status and the code in its body ("503 overloaded"); a kind of the
 * connection is a sentence ("the connection was closed").  A refusal is an answer with a status of
 * 429, 503 or 507 and a Retry-After: the server has documented it and the client may come back.
 * Everything else is an error.
 */
#ifndef BENCH_ERROR_KINDS_H
#define BENCH_ERROR_KINDS_H

#include <stdbool.h>
#include <stddef.h>

enum { ERROR_KINDS = 32, ERROR_KIND_SIZE = 96 };

struct error_kinds {
	struct {
		char name[ERROR_KIND_SIZE];
		size_t count;
	} at[ERROR_KINDS];
	size_t count;
	size_t errors, refused;
};

void error_kinds_add(struct error_kinds *kinds, const char *name);
/* `answer` is the whole response, NUL-terminated. */
void error_kinds_add_answer(struct error_kinds *kinds, const char *answer);
/* Prints "errors":3,"refused":7,"kinds":{"503 overloaded":7,...} without a newline. */
void error_kinds_print(const struct error_kinds *kinds);

#endif
