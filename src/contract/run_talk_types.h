/* contract/run_talk_types.h -- conversations of agents: the types of contracts/run_talk.def. */
#ifndef CONTRACT_RUN_TALK_TYPES_H
#define CONTRACT_RUN_TALK_TYPES_H

#include "contract/run_turn_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_talk.def"
#include "contract/expand.h"

#endif
