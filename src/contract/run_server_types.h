/* contract/run_server_types.h -- health and error answers: the types of contracts/run_server.def.
 */
#ifndef CONTRACT_RUN_SERVER_TYPES_H
#define CONTRACT_RUN_SERVER_TYPES_H

#include "contract/task_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_server.def"
#include "contract/expand.h"

#endif
