/* contract/run_artifact_types.h -- artifacts: the types of contracts/run_artifact.def. */
#ifndef CONTRACT_RUN_ARTIFACT_TYPES_H
#define CONTRACT_RUN_ARTIFACT_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_artifact.def"
#include "contract/expand.h"

#endif
