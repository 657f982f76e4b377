/* artifact/artifact.h -- what runs made and keep: bytes by their hash, and each run's list of them.
 *
 *	artifacts/content/ab/abcdef…   bytes, named by their SHA-256: stored once, whoever
 *	                               wrote them
 *	artifacts/runs/RUN             a line of JSON (run.Artifact) for each version, in
 *	                               their order
 *
 * A write stores the bytes, synced and renamed into place, then the line, synced: the line is what
 * makes it a version, and whatever a line names is there.  The line carries the id of the call's
 * effect, so an attempt that is made again after a crash finds its own line and writes nothing, and
 * a probe (tool.h) can say whether the call has happened.  So no event is committed that names an
 * artifact which is not there, and every line is a call that has succeeded or is still open.
 *
 * Reading compares the bytes with their hash: STORAGE when they are not what was written.
 *
 * Lines stay as long as the run, also when its events are compacted.  Bytes that no line names (a
 * crash between the two steps, a call that failed there) go with the next sweep.
 *
 * For worker threads: everything blocks on the disk.  Any number of threads at a time; one process.
 */
#ifndef ARTIFACT_ARTIFACT_H
#define ARTIFACT_ARTIFACT_H

#include "base/error.h"
#include "contract/run_types.h"

struct artifacts;

/* Touches nothing yet: the folders are made by the first write. */
struct artifacts *artifacts_new(const char *data_folder);
void artifacts_free(struct artifacts *artifacts);

struct artifact_write {
	struct uuid run, effect;
	struct str name, media_type;
	struct str bytes;
	int64_t at; /* us UTC */
};

/* The next version of the name, or what this effect has written already.  TOO_LARGE: the bytes, or
 * the run has LIMIT_RUN_ARTIFACTS already. */
MUST_CHECK bool artifact_write(struct artifacts *artifacts, const struct artifact_write *write,
			       struct arena *arena, struct run_artifact *out_artifact,
			       struct error *error);

/* Every version of every name, in the order of writing; none of a run that wrote none. */
MUST_CHECK bool artifact_list(const struct artifacts *artifacts, const struct uuid *run,
			      struct arena *arena, struct run_artifact_list *out_list,
			      struct error *error);
/* What the effect has written; NULL when nothing. */
const struct run_artifact *artifact_of_effect(const struct run_artifact_list *list,
					      const struct uuid *effect);
/* NOT_FOUND with what there is; version 0 = the newest. */
MUST_CHECK bool artifact_find(const struct run_artifact_list *list, struct str name,
			      int64_t version, const struct run_artifact **out_artifact,
			      struct error *error);
MUST_CHECK bool artifact_read(const struct artifacts *artifacts,
			      const struct run_artifact *artifact, struct arena *arena,
			      struct str *out_bytes, struct error *error);

/* Takes bytes off the disk that no line names, and what writes that died left behind; how many.
 * Writes go on meanwhile. */
MUST_CHECK bool artifacts_sweep(struct artifacts *artifacts, int64_t *out_removed,
				struct error *error);

#endif
