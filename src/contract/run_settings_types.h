/* contract/run_settings_types.h -- profiles and the server's settings: the types of
 * contracts/run_settings.def. */
#ifndef CONTRACT_RUN_SETTINGS_TYPES_H
#define CONTRACT_RUN_SETTINGS_TYPES_H

#include "contract/pipeline_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_settings.def"
#include "contract/expand.h"

#endif
