/* api/api_oracle.c -- consults the oracle, and reads consultations.
 *
 * A consultation is a run of the workflow `oracle`.  The folder that it is about is compared with the
 * repository of the profile before the run starts, on a reader thread.
 */
#include <stdlib.h>

#include "api/api_timeline.h"
#include "api/read_job.h"
#include "base/limits.h"
#include "contract/field_copy.h"
#include "contract/run_oracle_types.h"
#include "contract/run_start_types.h"
#include "document/agent_registry.h"
#include "os/file.h"
#include "views/oracle_consultation.h"

/* ---- reading ---------------------------------------------------------------------------- */

struct consultation_read {
	struct api_read_job answer; /* first */
	struct uuid run;
};

static void consultation_work(struct executor_read *read, struct store_reader *reader)
{
	struct consultation_read *r = (struct consultation_read *)read;
	struct error *error = &r->answer.error;
	struct arena *arena = &read->arena;
	AUTO(api_timeline) from = { 0 };
	if (!api_timeline_require(&from, read->executor, reader, &r->run, arena, error))
		return;
	if (!oracle_consultation_is(&from.timeline)) {
		fail(error, ERROR_NOT_FOUND,
		     "the run is not a consultation; its workflow has no `pipeline: oracle`");
		return;
	}
	if (!from.timeline.ended) {
		fail(error, ERROR_CONFLICT,
		     "the consultation is under way; wait for the end of its run");
		return;
	}
	const struct pipeline_oracle_consultation *consultation =
		oracle_consultation(&from.timeline);
	struct run_oracle_answer *out = run_oracle_answer_new(arena);
	SET(out, consultation, consultation);
	if (has(consultation, advice))
		SET(out, advice, consultation->advice);
	run_oracle_answer_make(out, arena, NULL);
	r->answer.text = run_oracle_answer_text(out, arena);
}

static void send_consultation(struct api *api, uint64_t exchange, const struct uuid *run)
{
	struct consultation_read *r = api_read_job_new(api, exchange, sizeof(*r));
	r->run = *run;
	api_read_job_begin(&r->answer, consultation_work);
}

void api_run_consultation(struct api_call *call)
{
	send_consultation(call->api, call->exchange, &call->id);
}

/* ---- consulting ------------------------------------------------------------------------- */

struct consult {
	struct executor_read read; /* first */
	struct api *api;
	uint64_t exchange;
	int64_t seconds; /* of Prefer: wait */
	const struct json *body;
	struct str working_dir; /* "" = none */
	struct run_start *kept;
	struct str request_id;
	struct idempotency_key key;
	struct str folder; /* working_dir, relative to the repository; "" = all of it */
	struct error error;
};

static bool find_folder(struct consult *consult, struct store_reader *reader)
{
	struct arena *arena = &consult->read.arena;
	struct error *error = &consult->error;
	const struct pipeline_profile *profile;
	struct str given = consult->working_dir, root, folder;
	size_t at;
	if (!agent_registry_profile(reader,
				    has(consult->kept, profile) ? consult->kept->profile : S(""),
				    arena, &profile, error))
		return false;
	if (profile == NULL)
		return fail(
			error, ERROR_CONFIGURATION,
			"no profile is active; name one with profile_id, or create it with baton "
			"init");
	if (str_find(given, S("\0"), &at) || !str_starts(given, S("/")))
		return fail(error, ERROR_INVALID, "working_dir must be an absolute path");
	if (!file_real_path(str_c(arena, profile->repo_root), arena, &root, error) ||
	    !file_real_path(str_c(arena, given), arena, &folder, error))
		return false;
	if (!str_starts(folder, root) ||
	    (folder.size > root.size && folder.at[root.size] != '/' && root.size > 1))
		return fail(error, ERROR_FORBIDDEN,
			    "working_dir " STR_FMT " is outside of the repository " STR_FMT
			    " of profile " STR_FMT,
			    STR_ARG(str_head(given, LIMIT_QUOTE_BYTES)),
			    STR_ARG(str_head(root, LIMIT_QUOTE_BYTES)),
			    STR_ARG(str_head(profile->name, LIMIT_NAME_BYTES)));
	consult->folder = folder.size > root.size ? str_skip(folder, root.size + 1) : S("");
	return true;
}

static void consult_work(struct executor_read *read, struct store_reader *reader)
{
	struct consult *consult = (struct consult *)read;
	(void)(consult->working_dir.size > 0 && find_folder(consult, reader));
}

static const struct json *inputs_of(const struct consult *consult, struct arena *arena)
{
	struct json_member *members = arena_array(arena, struct json_member, 3);
	struct json *inputs = arena_new(arena, struct json);
	const struct json *files = json_member(consult->body, S("files"));
	size_t count = 0;
	members[count++] =
		(struct json_member){ .key = S("problem"),
				      .value = *json_member(consult->body, S("problem")) };
	if (files != NULL && files->kind == JSON_LIST)
		members[count++] = (struct json_member){ .key = S("files"), .value = *files };
	if (consult->folder.size > 0)
		members[count++] =
			(struct json_member){ .key = S("folder"),
					      .value = { .kind = JSON_STRING,
							 .as.string = consult->folder } };
	*inputs = (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
	return inputs;
}

static void consult_done(struct executor_read *read)
{
	struct consult *consult = (struct consult *)read;
	struct api *api = consult->api;
	if (consult->error.code != ERROR_NONE) {
		api_reply_error(api, consult->exchange, &consult->error, NULL);
	} else {
		const struct executor_start start = {
			.workflow = S("oracle"),
			.inputs = { .json = inputs_of(consult, &read->arena) },
			.key = consult->key,
			.request_id = consult->request_id,
			.start = consult->kept,
		};
		api_start_sending(api, consult->exchange, &start, consult->seconds,
				  send_consultation);
	}
	executor_discard(api->settings.executor, &read->arena);
	free(consult);
}

static struct str_map one_entry(struct str key, struct str value, struct arena *arena)
{
	struct str_entry *entry = arena_new(arena, struct str_entry);
	*entry = (struct str_entry){ key, value };
	return (struct str_map){ entry, 1 };
}

void api_oracle_consult(struct api_call *call, const struct run_oracle_request *body)
{
	struct consult *consult = calloc(1, sizeof(*consult));
	require(consult != NULL);
	struct arena *arena = &consult->read.arena;
	char id[UUID_TEXT_SIZE];
	consult->read.work = consult_work;
	consult->read.done = consult_done;
	consult->api = call->api;
	consult->exchange = call->exchange;
	consult->seconds = api_wait_seconds(call->request);
	consult->request_id = str_copy(arena, str_from_c(call->request_id));
	consult->key = call->key;
	consult->key.key = str_copy(arena, call->key.key);
	consult->body = json_copy(arena, run_oracle_request_tree(body, call->arena));
	if (has(body, working_dir))
		consult->working_dir = str_copy(arena, body->working_dir);
	consult->kept = run_start_new(arena);
	COPY_FIELDS(run_start, api_asked_by(call), run_start, consult->kept, arena);
	if (has(body, profile_id))
		SET(consult->kept, profile, str_copy(arena, body->profile_id));
	if (has(body, model))
		SET(consult->kept, models,
		    one_entry(S("oracle"), str_copy(arena, body->model), arena));
	if (has(body, workflow_id))
		SET(consult->kept, labels,
		    one_entry(S("workflow_id"), str_copy(arena, uuid_text(&body->workflow_id, id)),
			      arena));
	executor_read(call->api->settings.executor, &consult->read);
}
