/* api/merge_patch.h -- JSON Merge Patch (RFC 7396): what a PATCH makes of a document.
 *
 * Members of the patch replace those of the target, null takes one away, objects are merged in
 * turn, everything else (lists too) is replaced whole.  The result shares what it can with both,
 * so they must live as long as it.
 */
#ifndef API_MERGE_H
#define API_MERGE_H

#include "base/json.h"

/* `target` may be NULL: there is nothing yet. */
const struct json *merge_patch(const struct json *target, const struct json *patch,
			       struct arena *arena);

#endif
