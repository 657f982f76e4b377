/* contract/closest.h -- "did you mean": the known word closest to a misspelled one. */
#ifndef CONTRACT_CLOSEST_H
#define CONTRACT_CLOSEST_H

#include "base/str.h"

/* Returns "" when none of the words is close enough. */
struct str closest_word(struct str_list words, struct str word);

#endif
