/* contract/run_definition_types.h -- workflow files: the types of contracts/run_definition.def. */
#ifndef CONTRACT_RUN_DEFINITION_TYPES_H
#define CONTRACT_RUN_DEFINITION_TYPES_H

#include "contract/run_graph_enum_types.h"
#include "contract/run_class_types.h"
#include "contract/run_milestone_types.h"
#include "contract/run_question_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_definition.def"
#include "contract/expand.h"

#endif
