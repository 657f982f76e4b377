/* contract/run_agent_types.h -- the agent registry: the types of contracts/run_agent.def. */
#ifndef CONTRACT_RUN_AGENT_TYPES_H
#define CONTRACT_RUN_AGENT_TYPES_H

#include "contract/graph_types.h"
#include "contract/pipeline_types.h"
#include "contract/run_turn_types.h"
#include "contract/runtime_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_agent.def"
#include "contract/expand.h"

#endif
