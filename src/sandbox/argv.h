/* sandbox/argv.h -- builds an argument list; private to sandbox. */
#ifndef SANDBOX_ARGUMENTS_H
#define SANDBOX_ARGUMENTS_H

#include <stddef.h>

#include "base/arena.h"
#include "sandbox/sandbox.h"

enum { ARGUMENTS_ROOM = 1024 };

struct argv {
	const char **at;
	size_t count;
};

struct argv argv_new(struct arena *arena);
void argv_add(struct argv *arguments, const char *word);
/* Appends the end of bwrap's arguments and the keeper with the options that every sandbox has. */
void argv_add_keeper(struct argv *arguments, struct arena *arena, const struct sandbox_spec *spec);
/* Appends an option of the keeper, NAME=VALUE. */
void argv_add_option(struct argv *arguments, struct arena *arena, const char *name, int64_t value);
/* Appends the end of the keeper's options, and the command. */
void argv_add_command(struct argv *arguments, const struct sandbox_spec *spec);
#define ARGUMENTS_ADD(arguments, ...)                                                       \
	do {                                                                                \
		const char *const words_[] = { __VA_ARGS__ };                               \
		for (size_t word_ = 0; word_ < sizeof(words_) / sizeof(words_[0]); word_++) \
			argv_add((arguments), words_[word_]);                               \
	} while (0)

#endif
