/* contract/run_turn_types.h -- agents' turns: requests, replies, usage, faults, and the script
 * driver's options: the types of contracts/run_turn.def. */
#ifndef CONTRACT_RUN_TURN_TYPES_H
#define CONTRACT_RUN_TURN_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_turn.def"
#include "contract/expand.h"

#endif
