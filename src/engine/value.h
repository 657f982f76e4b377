/* engine/value.h -- values and failures as a run's state holds them. */
#ifndef ENGINE_VALUE_H
#define ENGINE_VALUE_H

#include "base/sha256.h"
#include "base/str.h"

/* A value: absent, its JSON text when short, else the hash of the text (R3). */
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
