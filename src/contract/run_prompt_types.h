/* contract/run_prompt_types.h -- the prompts of agents: the types of contracts/run_prompt.def. */
#ifndef CONTRACT_RUN_PROMPT_TYPES_H
#define CONTRACT_RUN_PROMPT_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_prompt.def"
#include "contract/expand.h"

#endif
