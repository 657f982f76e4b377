/* api/merge_patch.h -- JSON Merge Patch (RFC 7396).
 *
 * Members of the patch replace those of the target, null deletes a member, objects are merged
 * recursively, and everything else (lists, too) is replaced as a whole.  The result shares nodes
 * with both arguments, so they must outlive it.
 */
#ifndef API_MERGE_PATCH_H
#define API_MERGE_PATCH_H

#include "base/json.h"

/* A NULL target counts as an empty object. */
const struct json *merge_patch(const struct json *target, const struct json *patch,
			       struct arena *arena);

#endif
