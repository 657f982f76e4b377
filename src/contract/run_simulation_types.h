/* contract/run_simulation_types.h -- the script of baton sim: the types of contracts/run_simulation.def. */
#ifndef CONTRACT_RUN_SIMULATION_TYPES_H
#define CONTRACT_RUN_SIMULATION_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_simulation.def"
#include "contract/expand.h"

#endif
