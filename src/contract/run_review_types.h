/* contract/run_review_types.h -- tools that bring reviews together: the types of
 * contracts/run_review.def. */
#ifndef CONTRACT_RUN_REVIEW_TYPES_H
#define CONTRACT_RUN_REVIEW_TYPES_H

#include "contract/pipeline_types.h"
#include "contract/runtime_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_review.def"
#include "contract/expand.h"

#endif
