/* contract/task_types.c -- the tables of contracts/task.def; everything here comes from its rows.
 */
#include "contract/task_types.h"

#define CONTRACT_MODULE task
#define CONTRACT_FILE   "contracts/task.def"
#include "contract/tables.h"
