/* contract/pipeline_types.h -- the types of contracts/pipeline.def: profiles, pipeline states, driver
 * messages and activity log.
 *
 * check_pipeline.c has the rules that span several fields, pipeline_agent.h the effective settings
 * of an agent, and migrate_pipeline.h the conversion of pipeline_v1 profiles.
 */
#ifndef CONTRACT_PIPELINE_H
#define CONTRACT_PIPELINE_H

#include "contract/contract.h"

#define CONTRACT_MODULE pipeline
#define CONTRACT_FILE   "contracts/pipeline.def"
#include "contract/expand.h"

#endif
