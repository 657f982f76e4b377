/* workspace/file_changes.h -- the list of files that a call changed, out of the text of changes.sh.
 *
 *	changed 2                                          number of files
 *	17                                                 size of each, "-" = deleted
 *	-
 *	:000000 100644 000000... 8ab686e... A\0a.txt\0    git's raw difference
 *	:100644 000000 3b18e51... 000000... D\0b.txt\0
 *
 * The list has at most LIMIT_RECORDED_FILES files and LIMIT_RECORDED_FILES_BYTES of paths; the others
 * are counted.  A text that was cut has fewer files than it says: these are counted, too.
 */
#ifndef WORKSPACE_FILE_CHANGES_H
#define WORKSPACE_FILE_CHANGES_H

#include "base/json.h"

struct run_file_changes;

/* NULL when nothing changed or the text is none of changes.sh; lives in the arena. */
const struct run_file_changes *file_changes_read(struct str text, struct arena *arena);

#endif
