/* contract/severity.h -- converts severities between the scales of the vocabularies.
 *
 * The vocabularies have several scales (contracts/severities.def).  A severity remembers its scale
 * and its word there, so converting it to its own scale returns the same word.  In another scale it
 * becomes the word of the same rank.  If that scale has no word of the rank, the rounding decides:
 *
 *	SEVERITY_LOWER    the next lower word; the lowest word when there is none
 *	SEVERITY_HIGHER   the next higher word: for findings of a rejected review, so that the
 *	                  conversion never understates one (medium of pipeline_v1 is minor in pipeline,
 *	                  or major with HIGHER)
 *
 * Store the scale together with the word to lose nothing.  Words are constants of the program.
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
	struct str word;      /* in that scale */
	int rank;             /* 0 none .. 5 critical; compare severities by it */
	struct str canonical; /* the rank's own word */
};

/* ERROR_INVALID, with a list of the scale's words, when the scale has no such word. */
MUST_CHECK bool severity_from(enum severity_scale scale, struct str word,
			      struct severity *out_severity, struct error *error);
struct str severity_word(const struct severity *severity, enum severity_scale scale,
			 enum severity_rounding rounding);

struct str severity_scale_name(enum severity_scale scale);
bool severity_scale_from(struct str name, enum severity_scale *out_scale);
/* Word number `index` of a scale, lowest first; "" when there are fewer. */
struct str severity_scale_word(enum severity_scale scale, size_t index);

#endif
