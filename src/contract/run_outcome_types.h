/* contract/run_outcome_types.h -- the words of results: how an effect was closed, what a person
 * decided: the types of contracts/run_outcome.def. */
#ifndef CONTRACT_RUN_OUTCOME_TYPES_H
#define CONTRACT_RUN_OUTCOME_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_outcome.def"
#include "contract/expand.h"

#endif
