/* contract/pipeline_types.c -- the tables of contracts/pipeline.def; everything here comes from its
 * rows.
 */
#include "contract/pipeline_types.h"

#define CONTRACT_MODULE pipeline
#define CONTRACT_FILE   "contracts/pipeline.def"
#include "contract/tables.h"
