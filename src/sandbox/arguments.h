/* sandbox/arguments.h -- a growing argument list, shared by this room's files. */
#ifndef SANDBOX_ARGUMENTS_H
#define SANDBOX_ARGUMENTS_H

#include <stddef.h>

#include "base/arena.h"
#include "sandbox/sandbox.h"

enum { ARGUMENTS_ROOM = 256 };

struct arguments {
	const char **at;
	size_t count;
};

struct arguments arguments_new(struct arena *arena);
void arguments_add(struct arguments *arguments, const char *word);
/* The status descriptor and, behind the watcher of the lifeline, the spec's command. */
void arguments_add_command(struct arguments *arguments, struct arena *arena,
			   const struct sandbox_spec *spec);
#define ARGUMENTS_ADD(arguments, ...)                                                       \
	do {                                                                                \
		const char *const words_[] = { __VA_ARGS__ };                               \
		for (size_t word_ = 0; word_ < sizeof(words_) / sizeof(words_[0]); word_++) \
			arguments_add((arguments), words_[word_]);                          \
	} while (0)

#endif
