/* engine/value.h -- values and failures in the state of a run. */
#ifndef ENGINE_VALUE_H
#define ENGINE_VALUE_H

#include "base/sha256.h"
#include "base/str.h"

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

#endif
