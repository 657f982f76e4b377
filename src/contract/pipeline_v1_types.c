/* contract/pipeline_v1_types.c -- the tables of contracts/pipeline_v1.def; everything here comes
 * from its rows. */
#include "contract/pipeline_v1_types.h"

#define CONTRACT_MODULE pipeline_v1
#define CONTRACT_FILE   "contracts/pipeline_v1.def"
#include "contract/tables.h"
