/* tool/file_search.h -- a call that looks through the files of a workspace, for tools.
 *
 * There are two reader threads for everybody, and a workspace may have a million files.  So a search
 * is a sequence of short jobs (LIMIT_SEARCH_SLICE_MS) with those of others in between.  It ends when
 * `step` says so, when it is stopped, or after LIMIT_SEARCH_MS with what it has found until then.
 *
 *	struct listing { struct file_search search; ... };   (allocated by file_search_new())
 */
#ifndef TOOL_FILE_SEARCH_H
#define TOOL_FILE_SEARCH_H

#include <stdatomic.h>

#include "tool/file_walk.h"
#include "tool/tool_context.h"

struct file_search {
	struct tool_running running; /* first */
	struct job job;
	struct arena arena;
	struct platform *platform;
	const char *root;
	const void *inputs;
	struct file_walk *walk; /* made by the first step; freed with the search */
	/* A bounded piece of the work, on a reader thread; true = no more.  A failure is in `error`. */
	bool (*step)(struct file_search *search);
	/* The output, in the arena, on a reader thread; `truncated` is known. */
	const struct json *(*output)(struct file_search *search);
	void (*done)(
		struct file_search *search); /* frees what is not in the arena; NULL = nothing */
	size_t output_bytes;                 /* of the texts found so far */
	bool truncated;
	/* private */
	struct tool_result result;
	int64_t began_us;
	bool ended;
	atomic_bool stopped;
};

/* Allocates `size` bytes that begin with a search, and reads the inputs; NULL on failure. */
void *file_search_new(size_t size, const struct type *inputs, const struct tool_call *call,
		      struct error *error);
/* Discards a search that was not started. */
void file_search_free(struct file_search *search);
void file_search_start(struct file_search *search, const struct tool_host *host,
		       const struct tool_call *call, uint64_t *out_running);
/* Counts text of the output; false, and the search is truncated, when there is no room for it. */
MUST_CHECK bool file_search_room(struct file_search *search, size_t bytes);

#endif
