/* contract/run_key_types.h -- API keys and roles: the types of contracts/run_key.def. */
#ifndef CONTRACT_RUN_KEY_TYPES_H
#define CONTRACT_RUN_KEY_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_key.def"
#include "contract/expand.h"

#endif
