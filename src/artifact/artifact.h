/* artifact/artifact.h -- artifacts of runs: contents by hash, and a list of versions per run.
 *
 *	artifacts/content/ab/abcdef…   a content, named by its SHA-256; stored once
 *	artifacts/runs/RUN             one line of JSON (run.Artifact) per version, in order
 *
 * A write first stores the content (synced and renamed into place), then appends the line (synced).
 * The line makes it a version, so every content that a line refers to exists.  The line contains
 * the id of the call's effect: an attempt that is repeated after a crash finds its line and writes
 * nothing, and a probe (tool.h) finds out whether the call happened.  So no committed event refers
 * to a missing artifact, and every line belongs to a call that has succeeded or is still open.
 *
 * Reading compares the content with its hash and fails with STORAGE if they differ.
 *
 * Lines are kept as long as the run, even when its events are compacted.  A content that no line
 * refers to (after a crash between the two steps, or a failed call) is removed by the next sweep.
 *
 * Threads: any number of worker threads of one process; all functions block on the disk.
 */
#ifndef ARTIFACT_ARTIFACT_H
#define ARTIFACT_ARTIFACT_H

#include "base/error.h"
#include "contract/run_artifact_types.h"

struct artifacts;

/* Does not access the disk: the first write creates the folders. */
struct artifacts *artifacts_new(const char *data_folder);
void artifacts_free(struct artifacts *artifacts);

struct artifact_write {
	struct uuid run, effect;
	struct str name, media_type;
	struct str bytes;
	int64_t at; /* us UTC */
};

/* Writes the next version of the name, or returns the version that this effect has already written.
 * Fails with TOO_LARGE when there are too many bytes, or LIMIT_RUN_ARTIFACTS versions in the run.
 */
MUST_CHECK bool artifact_write(struct artifacts *artifacts, const struct artifact_write *write,
			       struct arena *arena, struct run_artifact *out_artifact,
			       struct error *error);

/* All versions of all names, in the order of writing; empty if the run wrote none. */
MUST_CHECK bool artifact_list(const struct artifacts *artifacts, const struct uuid *run,
			      struct arena *arena, struct run_artifact_list *out_list,
			      struct error *error);
/* The version that the effect wrote; NULL = none. */
const struct run_artifact *artifact_of_effect(const struct run_artifact_list *list,
					      const struct uuid *effect);
/* Finds a version; 0 = the newest.  Fails with NOT_FOUND. */
MUST_CHECK bool artifact_find(const struct run_artifact_list *list, struct str name,
			      int64_t version, const struct run_artifact **out_artifact,
			      struct error *error);
MUST_CHECK bool artifact_read(const struct artifacts *artifacts,
			      const struct run_artifact *artifact, struct arena *arena,
			      struct str *out_bytes, struct error *error);

/* A list can exist before its run, because files are added for a run that is about to start. */
struct artifact_runs {
	/* Whether there is such a run. */
	bool (*exists)(void *context, const struct uuid *run, bool *out_exists,
		       struct error *error);
	void *context;
	int64_t before; /* lists of no run whose newest line is older are removed; us UTC */
};

/* Removes lists of runs that were never started, contents that no line refers to, and files that
 * interrupted writes left behind; counts contents.  Safe while other threads write. */
MUST_CHECK bool artifacts_sweep(struct artifacts *artifacts, const struct artifact_runs *runs,
				int64_t *out_removed, struct error *error);

#endif
