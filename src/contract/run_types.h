/* contract/run_types.h -- the types of contracts/run.def: Baton's own vocabulary: definitions,
 * graphs, event bodies, documents, the inbox. */
#ifndef CONTRACT_RUN_H
#define CONTRACT_RUN_H

#include "contract/graph_types.h"
#include "contract/pipeline_types.h"
#include "contract/runtime_types.h"
#include "contract/task_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run.def"
#include "contract/expand.h"

#endif
