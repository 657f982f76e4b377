/* contract/run_open_types.h -- bodies of the rows of open effects: the types of
 * contracts/run_open.def.
 */
#ifndef CONTRACT_RUN_OPEN_TYPES_H
#define CONTRACT_RUN_OPEN_TYPES_H

#include "contract/run_question_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_open.def"
#include "contract/expand.h"

#endif
