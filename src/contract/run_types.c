/* contract/run_types.c -- the tables of contracts/run.def; everything here comes from its rows. */
#include "contract/run_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run.def"
#include "contract/tables.h"
