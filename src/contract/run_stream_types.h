/* contract/run_stream_types.h -- event pages and the messages of /ws/events: the types of
 * contracts/run_stream.def. */
#ifndef CONTRACT_RUN_STREAM_TYPES_H
#define CONTRACT_RUN_STREAM_TYPES_H

#include "contract/pipeline_types.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_stream.def"
#include "contract/expand.h"

#endif
