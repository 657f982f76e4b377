/* active/error_masking.c -- reads the secrets and masks the error.
 *
 * A secret that cannot be read is not masked: the steps of this run could not have used it either.
 */
#include "active/error_masking.h"

#include <stdlib.h>

#include "active/active_run.h"
#include "active/executor_jobs.h"
#include "active/executor_state.h"
#include "base/secret_mask.h"
#include "contract/run_graph_types.h"
#include "engine/run.h"

struct error_masking {
	struct executor_read read; /* first; its arena has names and values */
	struct str workflow;
	struct str *names;
	size_t count;
	struct error error;
	error_masking_done *done;
	uint64_t argument;
};

static void mask(struct executor_read *read, struct store_reader *reader)
{
	struct error_masking *masking = (struct error_masking *)read;
	const struct executor_settings *settings = &read->executor->settings;
	struct str *values = arena_array(&read->arena, struct str, masking->count);
	size_t found = 0;
	(void)reader;
	for (size_t i = 0; i < masking->count; i++) {
		struct error ignored;
		found += settings->secret(settings->context, masking->names[i], S(""),
					  masking->workflow, false, &read->arena, &values[found],
					  &ignored);
	}
	secret_mask_error(secret_mask_new((struct str_list){ values, found }, &read->arena),
			  &masking->error);
}

static void masked(struct executor_read *read)
{
	struct error_masking *masking = (struct error_masking *)read;
	masking->done(read->executor, masking->argument, &masking->error);
	arena_done(&read->arena);
	free(masking);
}

bool error_masking_begin(struct active_run *active, const struct error *error,
			 error_masking_done *done, uint64_t argument)
{
	const struct run_graph *graph = active->run->graph->rows;
	struct executor *executor = active->executor;
	if (error->code == ERROR_NONE || !has(graph, secrets) || graph->secrets.count == 0 ||
	    executor->settings.secret == NULL)
		return false;
	struct error_masking *masking = calloc(1, sizeof(*masking));
	require(masking != NULL);
	struct arena *arena = &masking->read.arena;
	masking->workflow = str_copy(arena, graph->name);
	masking->count = graph->secrets.count;
	masking->names = arena_array(arena, struct str, masking->count);
	for (size_t i = 0; i < masking->count; i++)
		masking->names[i] = str_copy(arena, graph->secrets.at[i]);
	masking->error = *error;
	masking->done = done;
	masking->argument = argument;
	masking->read.work = mask;
	masking->read.done = masked;
	executor_read(executor, &masking->read);
	return true;
}
