/* contract/run_resolved_types.h -- resolved configuration of agents: the types of
 * contracts/run_resolved.def. */
#ifndef CONTRACT_RUN_RESOLVED_TYPES_H
#define CONTRACT_RUN_RESOLVED_TYPES_H

#include "contract/pipeline_types.h"
#include "contract/run_class_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_resolved.def"
#include "contract/expand.h"

#endif
