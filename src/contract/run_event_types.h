/* contract/run_event_types.h -- event bodies: the types of contracts/run_event.def. */
#ifndef CONTRACT_RUN_EVENT_TYPES_H
#define CONTRACT_RUN_EVENT_TYPES_H

#include "contract/run_class_types.h"
#include "contract/run_milestone_types.h"
#include "contract/run_message_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_question_types.h"
#include "contract/run_value_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_event.def"
#include "contract/expand.h"

#endif
