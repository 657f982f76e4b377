/* contract/pipeline_v1_types.h -- the types of contracts/pipeline_v1.def, the older pipeline
 * vocabulary.
 *
 * check_pipeline.c has the rules that span several fields.
 */
#ifndef CONTRACT_PIPELINE_V1_H
#define CONTRACT_PIPELINE_V1_H

#include "contract/contract.h"

#define CONTRACT_MODULE pipeline_v1
#define CONTRACT_FILE   "contracts/pipeline_v1.def"
#include "contract/expand.h"

#endif
