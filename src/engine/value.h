/* engine/value.h -- values, failures and warnings in the state of a run. */
#ifndef ENGINE_VALUE_H
#define ENGINE_VALUE_H

#include "base/sha256.h"
#include "base/str.h"
#include "contract/run_value_types.h"

/* A value: absent, inline JSON text when short, otherwise the hash of the stored text (R3). */
struct value {
	enum { VALUE_ABSENT, VALUE_INLINE, VALUE_STORED } kind;
	struct str text;
	struct hash hash;
	int64_t size;
};

struct failure {
	struct str code, text; /* code "" = none */
};

/* A failed activation; path "" = none. */
struct first_failure {
	struct str path;
	struct failure fault;
	int64_t seq;
};

/* A place of the inputs of a call where a secret is inserted when the call starts. */
struct secret_use {
	struct str pointer; /* JSON pointer of a string of the inputs */
	struct str name;
	int64_t offset; /* in the bytes of that string */
};

/* A lenient rule that was used. */
struct warning {
	enum run_warning_code code;
	struct str step; /* path of the activation; "" = the outputs of the run */
	struct str text;
};

struct warnings {
	struct warning *at; /* oldest first */
	size_t count, room;
	int64_t dropped; /* over the limits */
};

void engine_warnings_add(struct warnings *warnings, struct warning warning, struct arena *arena);
bool engine_warnings_have(const struct warnings *warnings, const struct warning *warning);
/* Those of the outputs: a retry renders them anew. */
void engine_warnings_forget_outputs(struct warnings *warnings);
size_t engine_warnings_of_step(const struct warnings *warnings, struct str step);

#endif
