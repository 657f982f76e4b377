/* contract/run_message_types.h -- messages between the agents of a run: the types of
 * contracts/run_message.def. */
#ifndef CONTRACT_RUN_MESSAGE_TYPES_H
#define CONTRACT_RUN_MESSAGE_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_message.def"
#include "contract/expand.h"

#endif
