/* contract/run_question_types.h -- questions to a person: the types of
 * contracts/run_question.def. */
#ifndef CONTRACT_RUN_QUESTION_TYPES_H
#define CONTRACT_RUN_QUESTION_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_question.def"
#include "contract/expand.h"

#endif
