/* contract/severity.h -- one severity, said in each seed's words.
 *
 * The seeds have several scales (contracts/severities.def).  A severity keeps the word it came
 * with, so asking for it in its own scale gives that very word back; in another scale it is the
 * word of the same rank, or the next one there is:
 *
 *	SEVERITY_LOWER    the next lower word; the lowest there is when none is lower
 *	SEVERITY_HIGHER   the next higher word: for what was not approved, so that nothing is played
 *	                  down on the way (S1's medium is S0's minor, or major with HIGHER)
 *
 * Store scale and word together and nothing is lost.  Words are constants of the program.
 */
#ifndef CONTRACT_SEVERITY_H
#define CONTRACT_SEVERITY_H

#include "base/error.h"
#include "base/str.h"

enum severity_scale {
#define SEVERITY_SCALE(constant_, name_, text_) SEVERITY_##constant_,
#include "contracts/severities.def"
	SEVERITY_SCALE_COUNT,
};

enum severity_rounding { SEVERITY_LOWER, SEVERITY_HIGHER };

struct severity {
	enum severity_scale scale;
	struct str word;      /* as it was said */
	int rank;             /* 0 none .. 5 critical; compare severities by it */
	struct str canonical; /* the rank's own word */
};

/* ERROR_INVALID, naming the scale's words, when the word is not one of them. */
MUST_CHECK bool severity_from(enum severity_scale scale, struct str word,
			      struct severity *out_severity, struct error *error);
struct str severity_word(const struct severity *severity, enum severity_scale scale,
			 enum severity_rounding rounding);

struct str severity_scale_name(enum severity_scale scale);
bool severity_scale_from(struct str name, enum severity_scale *out_scale);
/* Word number `index` of a scale, lowest first; "" when there are fewer. */
struct str severity_scale_word(enum severity_scale scale, size_t index);

#endif
