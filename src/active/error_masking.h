/* active/error_masking.h -- removes the secrets of a run's definition from an error.
 *
 * Errors of the workspace contain names of files, and a step may have put a secret into a name.
 * Secrets are read on a reader thread, so the masked error comes later, on the loop thread.
 */
#ifndef ACTIVE_ERROR_MASKING_H
#define ACTIVE_ERROR_MASKING_H

#include "base/error.h"

struct active_run;
struct executor;

/* `argument` finds the object again, which may be gone. */
typedef void error_masking_done(struct executor *executor, uint64_t argument,
				const struct error *error);

/* Returns false when there is nothing to mask: no error, or a definition without secrets.  done()
 * is not called then. */
bool error_masking_begin(struct active_run *active, const struct error *error,
			 error_masking_done *done, uint64_t argument);

#endif
