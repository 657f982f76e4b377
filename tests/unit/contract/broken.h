/* tests/unit/contract/broken.h -- the types of broken.def. */
#ifndef BROKEN_H
#define BROKEN_H

#include "contract/contract.h"

#define CONTRACT_MODULE broken
#define CONTRACT_FILE   "tests/unit/contract/broken.def"
#include "contract/expand.h"

#endif
