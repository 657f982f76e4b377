/* contract/run_snapshot_types.h -- snapshots: a run's folded state, printed like any other entity:
 * the types of contracts/run_snapshot.def. */
#ifndef CONTRACT_RUN_SNAPSHOT_TYPES_H
#define CONTRACT_RUN_SNAPSHOT_TYPES_H

#include "contract/run_message_types.h"
#include "contract/run_milestone_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_question_types.h"
#include "contract/run_value_types.h"
#include "contract/run_graph_enum_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_snapshot.def"
#include "contract/expand.h"

#endif
