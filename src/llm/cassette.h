/* llm/cassette.h -- recorded replies: a folder cassettes/NAME of the data folder, one file HASH.json for
 * each request, and the file `run` with the id of the run that recorded it first.
 *
 * The hash covers what a model is told: its name, the system prompt, the messages, the tools and the
 * schema.  It does not cover the driver and its options, so what the driver api has recorded is
 * found by the driver replay.  No file contains a key.
 *
 * Both jobs run on a reader thread.  The caller allocates a struct cassette_job with calloc(), and
 * frees it in done().
 */
#ifndef LLM_CASSETTE_H
#define LLM_CASSETTE_H

#include "contract/run_model_types.h"
#include "llm/llm.h"

struct cassette_job {
	struct job job; /* first; set job.done */
	struct arena arena;
	const char *folder; /* with all cassettes */
	struct str name;
	struct hash request;
	struct str text;                        /* to write: the file */
	const struct run_cassette_entry *entry; /* read: the reply */
	struct error error;
	struct llm_host *host;
	uint64_t running; /* the turn that waits for it */
};

struct hash cassette_request(struct str model, const struct run_turn *turn);
/* The file of a reply. */
struct str cassette_text(const struct hash *request, struct str model,
			 const struct llm_result *result, struct arena *arena);
/* Submits the job.  Reading fails with INVALID when the cassette has no reply to the request. */
void cassette_write(struct cassette_job *job);
void cassette_read(struct cassette_job *job);

/* Makes the cassette `name` the run's: NAME/run has the run's id.  CONFLICT when the cassette exists
 * and is not the run's. */
MUST_CHECK bool cassette_claim(const char *folder, struct str name, const struct uuid *run,
			       struct error *error);
/* NOT_FOUND when there is no such cassette. */
MUST_CHECK bool cassette_find(const char *folder, struct str name, struct error *error);
void cassette_job_free(struct cassette_job *job);

#endif
