/* contract/run_inbox_types.h -- the inbox: the types of contracts/run_inbox.def. */
#ifndef CONTRACT_RUN_INBOX_TYPES_H
#define CONTRACT_RUN_INBOX_TYPES_H

#include "contract/run_outcome_types.h"
#include "contract/run_question_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_inbox.def"
#include "contract/expand.h"

#endif
