/* contract/run_model_types.h -- models over HTTP: options of the drivers api and replay, and cassettes:
 * the types of contracts/run_model.def. */
#ifndef CONTRACT_RUN_MODEL_TYPES_H
#define CONTRACT_RUN_MODEL_TYPES_H

#include "contract/contract.h"
#include "contract/run_turn_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_model.def"
#include "contract/expand.h"

#endif
