/* contract/run_budget_types.h -- named budgets: the types of contracts/run_budget.def. */
#ifndef CONTRACT_RUN_BUDGET_TYPES_H
#define CONTRACT_RUN_BUDGET_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_budget.def"
#include "contract/expand.h"

#endif
