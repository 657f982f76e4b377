/* contract/run_picture_types.h -- a run's graph as a picture: the types of
 * contracts/run_picture.def. */
#ifndef CONTRACT_RUN_PICTURE_TYPES_H
#define CONTRACT_RUN_PICTURE_TYPES_H

#include "contract/run_node_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_picture.def"
#include "contract/expand.h"

#endif
