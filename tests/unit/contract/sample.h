/* tests/unit/contract/sample.h -- the types of sample.def. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "contract/contract.h"

#define CONTRACT_MODULE sample
#define CONTRACT_FILE   "tests/unit/contract/sample.def"
#include "contract/expand.h"

#endif
