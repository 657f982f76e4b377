/* contract/run_secret_types.h -- secrets.yaml: the types of contracts/run_secret.def. */
#ifndef CONTRACT_RUN_SECRET_TYPES_H
#define CONTRACT_RUN_SECRET_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_secret.def"
#include "contract/expand.h"

#endif
