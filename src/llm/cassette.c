/* llm/cassette.c -- recorded replies.
 *
 * A file for each request: recording again replaces the old reply, two recorders do not disturb each
 * other, and replaying reads no more than one reply.
 */
#include "llm/cassette.h"

#include <stdlib.h>

#include "base/limits.h"
#include "os/file.h"

struct hash cassette_request(struct str model, const struct run_turn *turn)
{
	AUTO(arena) arena = { 0 };
	struct run_turn told = *turn;
	static const struct json nothing = { .kind = JSON_OBJECT };
	SET(&told, options, &nothing);
	told.is.temperature = told.is.max_tokens = ABSENT;
	struct str text = run_turn_text(&told, &arena);
	struct sha256 sha;
	sha256_init(&sha);
	sha256_add(&sha, model.at, model.size);
	sha256_add(&sha, "\n", 1);
	sha256_add(&sha, text.at, text.size);
	return sha256_finish(&sha);
}

struct str cassette_text(const struct hash *request, struct str model,
			 const struct llm_result *result, struct arena *arena)
{
	struct run_cassette_entry *entry = run_cassette_entry_new(arena);
	struct run_turn_result *reply = run_turn_result_new(arena);
	SET(reply, text, result->text);
	if (result->thinking.count > 0)
		SET(reply, thinking, result->thinking);
	if (result->calls.count > 0)
		SET(reply, calls, result->calls);
	SET(reply, stop, result->stop);
	SET(entry, request, *request);
	SET(entry, model, model);
	SET(entry, reply, reply);
	if (result->usage != NULL)
		SET(entry, usage, result->usage);
	return run_cassette_entry_text(entry, arena);
}

static const char *path_of(struct cassette_job *job, bool with_folder)
{
	char hash[HASH_TEXT_SIZE];
	return str_format(&job->arena, "%s%s" STR_FMT "/" STR_FMT ".json",
			  with_folder ? job->folder : "", with_folder ? "/" : "",
			  STR_ARG(job->name), STR_ARG(hash_text(&job->request, hash)))
		.at;
}

static void write_work(struct job *at, unsigned thread)
{
	struct cassette_job *job = (struct cassette_job *)at;
	const char *folder =
		str_format(&job->arena, "%s/" STR_FMT, job->folder, STR_ARG(job->name)).at;
	(void)thread;
	if (folder_make(job->folder, &job->error) && folder_make(folder, &job->error) &&
	    file_replace(path_of(job, true), job->text, &job->error))
		return;
	/* Another turn with the same request has recorded its reply at the same time. */
	if (file_exists(path_of(job, true))) {
		job->error = (struct error){ 0 };
		return;
	}
	error_prefix(&job->error, "cassette " STR_FMT ": ", STR_ARG(job->name));
	job->error.code = ERROR_INTERNAL;
}

static bool parse(struct cassette_job *job, struct str text)
{
	struct contract_source source = { .text = text, .lenient = true };
	struct problems problems = { .arena = &job->arena };
	if (!json_read(text, &job->arena, &source.json, &job->error))
		return false;
	job->entry = run_cassette_entry_parse(&source, &job->arena, &problems);
	return job->entry != NULL || problems_fail(&problems, &job->error);
}

static void read_work(struct job *at, unsigned thread)
{
	struct cassette_job *job = (struct cassette_job *)at;
	struct str text;
	(void)thread;
	const char *path = path_of(job, false);
	if (file_read_confined(job->folder, path, LIMIT_CASSETTE_BYTES, &job->arena, &text,
			       &job->error) &&
	    parse(job, text))
		return;
	if (job->error.code == ERROR_NOT_FOUND)
		fail(&job->error, ERROR_INVALID,
		     "cassette " STR_FMT
		     " has no reply to this request (it would be cassettes/%s in the data "
		     "folder); record it with: baton record WORKFLOW --cassette " STR_FMT
		     " --append",
		     STR_ARG(job->name), path, STR_ARG(job->name));
	else
		error_prefix(&job->error, "cassettes/%s: ", path);
	job->error.code = ERROR_INVALID;
}

void cassette_write(struct cassette_job *job)
{
	job->job.run = write_work;
	job->job.name = "cassette";
	platform_submit(job->host->platform, LANE_READER, &job->job);
}

void cassette_read(struct cassette_job *job)
{
	job->job.run = read_work;
	job->job.name = "cassette";
	platform_submit(job->host->platform, LANE_READER, &job->job);
}

void cassette_job_free(struct cassette_job *job)
{
	arena_done(&job->arena);
	free(job);
}

static bool is_of(const char *path, const struct uuid *run)
{
	AUTO(arena) arena = { 0 };
	char id[UUID_TEXT_SIZE];
	struct str text;
	struct error error;
	return file_read(path, LIMIT_NAME_BYTES, &arena, &text, &error) &&
	       str_equal(text, uuid_text(run, id));
}

bool cassette_claim(const char *folder, struct str name, const struct uuid *run,
		    struct error *error)
{
	AUTO(arena) arena = { 0 };
	char id[UUID_TEXT_SIZE];
	struct str_list files;
	const char *own = str_format(&arena, "%s/" STR_FMT, folder, STR_ARG(name)).at;
	const char *claim = str_format(&arena, "%s/run", own).at;
	if (is_of(claim, run))
		return true;
	if (!folder_make(own, error) || !folder_list(own, &arena, &files, error))
		return false;
	/* A cassette of options.record, or copied from elsewhere, has no claim. */
	if (files.count == 0 && file_create(claim, uuid_text(run, id), error))
		return true;
	if (files.count == 0 && error->code != ERROR_CONFLICT)
		return false;
	return fail(error, ERROR_CONFLICT,
		    "cassette " STR_FMT
		    " exists already: choose another name, append to it (baton record --append, "
		    "record_append), or remove the folder cassettes/" STR_FMT " of the data folder",
		    STR_ARG(name), STR_ARG(name));
}

bool cassette_find(const char *folder, struct str name, struct error *error)
{
	AUTO(arena) arena = { 0 };
	if (folder_exists(str_format(&arena, "%s/" STR_FMT, folder, STR_ARG(name)).at))
		return true;
	return fail(
		error, ERROR_NOT_FOUND,
		"there is no cassette " STR_FMT " (cassettes/" STR_FMT
		" in the data folder); record it with: baton record WORKFLOW --cassette " STR_FMT,
		STR_ARG(name), STR_ARG(name), STR_ARG(name));
}
