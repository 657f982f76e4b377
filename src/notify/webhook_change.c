/* notify/webhook_change.c -- people create, change and delete webhooks.
 *
 * A webhook reports what happens after its creation, and after it was enabled again: `since` is the
 * newest position at that time.
 */
#include <stdlib.h>

#include "contract/document_kind.h"
#include "contract/field_copy.h"
#include "contract/run_webhook_types.h"
#include "document/stored_document.h"
#include "notify/webhooks_state.h"

struct webhook_job {
	struct arena arena;
	struct str name;
	int64_t revision;
	const struct run_webhook *webhook; /* NULL = delete it */
	executor_replied *replied;
	void *context;
	uint64_t argument;
};

static bool compose(void *context, struct store_reader *reader, struct arena *arena,
		    struct documents_changes *out_changes, struct problems *problems,
		    struct error *error)
{
	const struct webhook_job *job = context;
	const void *stored;
	struct documents_change *change = arena_new(arena, struct documents_change);
	*change = (struct documents_change){ .kind = document_kind_name(DOCUMENT_WEBHOOK),
					     .name = job->name,
					     .revision = job->revision,
					     .body = S("") };
	*out_changes = (struct documents_changes){ change, 1 };
	(void)problems;
	if (job->webhook == NULL)
		return true;
	if (!stored_document_read(reader, DOCUMENT_WEBHOOK, job->name, arena, &stored, NULL, error))
		return false;
	const struct run_stored_webhook *old = stored;
	struct run_stored_webhook *made = run_stored_webhook_new(arena);
	COPY_FIELDS(run_webhook, job->webhook, run_stored_webhook, made, NULL);
	int64_t since =
		old != NULL && old->enabled ? old->since : reader->ops->newest_position(reader);
	if (since < 0)
		return fail(error, ERROR_STORAGE, "the newest event cannot be read");
	SET(made, since, since);
	change->body = run_stored_webhook_text(made, arena);
	return true;
}

static void changed(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct webhook_job *job = context;
	(void)argument;
	job->replied(job->context, job->argument, reply);
	arena_done(&job->arena);
	free(job);
}

void webhooks_change(struct webhooks *webhooks, const struct run_webhook *webhook,
		     const struct documents_change *change, executor_replied *replied,
		     void *context, uint64_t argument)
{
	struct webhook_job *job = calloc(1, sizeof(*job));
	require(job != NULL);
	job->name = str_copy(&job->arena, change->name);
	job->revision = change->revision;
	job->replied = replied;
	job->context = context;
	job->argument = argument;
	if (webhook != NULL) {
		struct problems problems = { .arena = &job->arena };
		struct contract_source source = {
			.json = json_copy(&job->arena, run_webhook_tree(webhook, &job->arena))
		};
		job->webhook = run_webhook_parse(&source, &job->arena, &problems);
		require(job->webhook != NULL);
	}
	const struct documents_composition how = {
		.compose = compose, .context = job, .by = change->by, .key = change->key
	};
	documents_change_composed(webhooks->settings.documents, &how, changed, job, 0);
}
