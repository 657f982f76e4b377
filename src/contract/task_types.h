/* contract/task_types.h -- the types of contracts/task.def, the task vocabulary: steps and their
 * parts, events, team configuration, import and export. */
#ifndef CONTRACT_TASK_H
#define CONTRACT_TASK_H

#include "contract/contract.h"

#define CONTRACT_MODULE task
#define CONTRACT_FILE   "contracts/task.def"
#include "contract/expand.h"

#endif
