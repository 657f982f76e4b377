/* api/adapters.h -- the execution engines that a start may name; private to src/api. */
#ifndef API_ADAPTERS_H
#define API_ADAPTERS_H

#include "base/str.h"

struct api_call;

/* True when POST /api/run accepts the adapter.  Otherwise responds with ADAPTER_NOT_FOUND and the
 * adapters that it accepts. */
bool api_adapter_accept(struct api_call *call, struct str adapter);

#endif
