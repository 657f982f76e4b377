/* contract/run_command_types.h -- commands of people and their receipts: the types of
 * contracts/run_command.def. */
#ifndef CONTRACT_RUN_COMMAND_TYPES_H
#define CONTRACT_RUN_COMMAND_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_command.def"
#include "contract/expand.h"

#endif
