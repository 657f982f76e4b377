/* contract/run_store_types.h -- maintenance of the store: the types of contracts/run_store.def. */
#ifndef CONTRACT_RUN_STORE_TYPES_H
#define CONTRACT_RUN_STORE_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_store.def"
#include "contract/expand.h"

#endif
