/* contract/run_workflow_types.h -- stored workflow definitions and their versions: the types of
 * contracts/run_workflow.def. */
#ifndef CONTRACT_RUN_WORKFLOW_TYPES_H
#define CONTRACT_RUN_WORKFLOW_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_workflow.def"
#include "contract/expand.h"

#endif
