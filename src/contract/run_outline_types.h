/* contract/run_outline_types.h -- a run and its steps in brief, its place in the admission queue:
 * the types of contracts/run_outline.def. */
#ifndef CONTRACT_RUN_OUTLINE_TYPES_H
#define CONTRACT_RUN_OUTLINE_TYPES_H

#include "contract/run_node_types.h"
#include "contract/run_question_types.h"
#include "contract/run_value_types.h"
#include "contract/run_usage_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_outline.def"
#include "contract/expand.h"

#endif
