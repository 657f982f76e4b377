/* contract/run.h -- the types of contracts/run.def: Baton's own vocabulary: definitions, graphs,
 * event bodies, documents, the inbox. */
#ifndef CONTRACT_RUN_H
#define CONTRACT_RUN_H

#include "contract/graph.h"
#include "contract/pipeline.h"
#include "contract/runtime.h"
#include "contract/task.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run.def"
#include "contract/expand.h"

#endif
