/* contract/run_oracle_types.h -- consultations of the oracle: the types of contracts/run_oracle.def. */
#ifndef CONTRACT_RUN_ORACLE_TYPES_H
#define CONTRACT_RUN_ORACLE_TYPES_H

#include "contract/pipeline_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_oracle.def"
#include "contract/expand.h"

#endif
