/* contract/closest.h -- "did you mean": the word that was probably meant, if any is near. */
#ifndef CONTRACT_CLOSEST_H
#define CONTRACT_CLOSEST_H

#include "base/str.h"

/* "" when none of the words is near. */
struct str closest_word(struct str_list words, struct str word);

#endif
