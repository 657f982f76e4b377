/* contract/run_price_types.h -- what models cost: the types of
 * contracts/run_price.def. */
#ifndef CONTRACT_RUN_PRICE_TYPES_H
#define CONTRACT_RUN_PRICE_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_price.def"
#include "contract/expand.h"

#endif
