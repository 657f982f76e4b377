/* contract/run_custom_tool_types.h -- custom tools and the tool list: the types of
 * contracts/run_custom_tool.def. */
#ifndef CONTRACT_RUN_CUSTOM_TOOL_TYPES_H
#define CONTRACT_RUN_CUSTOM_TOOL_TYPES_H

#include "contract/run_class_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_custom_tool.def"
#include "contract/expand.h"

#endif
