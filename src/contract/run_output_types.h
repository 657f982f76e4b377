/* contract/run_output_types.h -- outputs of steps that call no tool: the types of
 * contracts/run_output.def. */
#ifndef CONTRACT_RUN_OUTPUT_TYPES_H
#define CONTRACT_RUN_OUTPUT_TYPES_H

#include "contract/runtime_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_output.def"
#include "contract/expand.h"

#endif
