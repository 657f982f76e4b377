/* api/adapters.h -- the execution engines that a start may name; private to src/api. */
#ifndef API_ADAPTERS_H
#define API_ADAPTERS_H

#include "base/str.h"

struct api_call;
struct run_start;

/* Sets what the adapter means for the start.  False after responding: ADAPTER_NOT_FOUND with the adapters that
 * there are, or INVALID when the other options do not fit the adapter. */
bool api_adapter_choose(struct api_call *call, struct str adapter, struct run_start *start);

#endif
