/* contract/pipeline_types.h -- the types of contracts/pipeline.def: profiles, pipeline states, driver
 * messages and activity log.
 *
 * The rules across fields are in check_pipeline.c, how an agent's settings are taken from a
 * profile in pipeline_agent.h, old profiles in migrate_pipeline.h.
 */
#ifndef CONTRACT_PIPELINE_H
#define CONTRACT_PIPELINE_H

#include "contract/contract.h"

#define CONTRACT_MODULE pipeline
#define CONTRACT_FILE   "contracts/pipeline.def"
#include "contract/expand.h"

#endif
