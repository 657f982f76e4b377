/* api/api_artifacts.c -- the artifacts of a run: the list, the content, and files that a client adds.
 *
 * A client adds pictures and other files before it starts the run, whose id it chooses, or while the run
 * waits for a message.
 *
 * A tool or a model wrote the content, so a browser must not execute or render it with the rights
 * of the dashboard, whatever its media type.  It is sent as a download with a sandbox policy.
 */
#include <stdlib.h>

#include "active/executor_jobs.h"
#include "api/api_internal.h"
#include "artifact/artifact.h"
#include "base/base64.h"
#include "base/media_type.h"

struct artifact_read {
	struct executor_read read;
	struct api *api;
	uint64_t exchange;
	struct uuid run;
	struct str name; /* "" = the list */
	int64_t version;
	struct str known; /* If-None-Match */
	const struct run_artifact *artifact;
	struct str body;
	struct error error;
};

static bool same_tag(struct str known, struct str tag)
{
	struct str word;
	while (str_cut(&known, ',', &word))
		if (str_equal(str_trim(word), tag) || str_equal(str_trim(word), S("*")))
			return true;
	return false;
}

static struct str tag_of(const struct run_artifact *artifact, struct arena *arena)
{
	char hex[HASH_TEXT_SIZE];
	return str_format(arena, "\"" STR_FMT "\"", STR_ARG(hash_text(&artifact->sha256, hex)));
}

static bool find_run(struct artifact_read *r, struct store_reader *reader)
{
	struct store_run row;
	bool found;
	if (!reader->ops->read_run(reader, &r->run, &r->read.arena, &row, &found, &r->error))
		return false;
	return found || fail(&r->error, ERROR_NOT_FOUND, "there is no run with this id");
}

static void artifact_work(struct executor_read *read, struct store_reader *reader)
{
	struct artifact_read *r = (struct artifact_read *)read;
	const struct artifacts *artifacts = r->api->settings.artifacts;
	struct arena *arena = &read->arena;
	struct run_artifact_list list;
	if (!find_run(r, reader) || !artifact_list(artifacts, &r->run, arena, &list, &r->error))
		return;
	if (r->name.size == 0) {
		struct run_artifact_page *page = run_artifact_page_new(arena);
		SET(page, items, list);
		r->body = run_artifact_page_text(page, arena);
		return;
	}
	if (!artifact_find(&list, r->name, r->version, &r->artifact, &r->error))
		return;
	bool good = same_tag(r->known, tag_of(r->artifact, arena)) ||
		    artifact_read(artifacts, r->artifact, arena, &r->body, &r->error);
	(void)good; /* artifact_done() checks r->error */
}

static void send_bytes(struct artifact_read *r)
{
	struct arena *arena = &r->read.arena;
	struct str tag = tag_of(r->artifact, arena), rest = r->name, last = r->name;
	while (str_cut(&rest, '/', &last))
		;
	const struct http_header headers[] = {
		{ S("Content-Type"), r->artifact->media_type },
		{ S("Content-Disposition"),
		  str_format(arena, "attachment; filename=\"" STR_FMT "\"", STR_ARG(last)) },
		{ S("ETag"), tag },
		{ S("Cache-Control"), S("private, no-cache") },
		{ S("Content-Security-Policy"),
		  S("sandbox; default-src 'none'; frame-ancestors 'none'") },
		{ S("X-Artifact-Version"),
		  str_format(arena, "%lld", (long long)r->artifact->version) },
	};
	bool same = same_tag(r->known, tag);
	api_reply(r->api, r->exchange, same ? 304 : 200, headers, COUNT(headers), r->body);
}

static void artifact_done(struct executor_read *read)
{
	struct artifact_read *r = (struct artifact_read *)read;
	if (r->error.code != ERROR_NONE)
		api_reply_error(r->api, r->exchange, &r->error, NULL);
	else if (r->artifact == NULL)
		api_reply_json(r->api, r->exchange, 200, r->body);
	else
		send_bytes(r);
	arena_done(&read->arena);
	free(r);
}

static struct artifact_read *read_new(struct api_call *call)
{
	struct artifact_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->api = call->api;
	r->exchange = call->exchange;
	r->run = call->id;
	r->read.work = artifact_work;
	r->read.done = artifact_done;
	return r;
}

void api_run_artifacts(struct api_call *call)
{
	executor_read(call->api->settings.executor, &read_new(call)->read);
}

void api_run_artifact(struct api_call *call)
{
	struct artifact_read *r = read_new(call);
	r->name = str_copy(&r->read.arena, call->path);
	r->known = str_copy(&r->read.arena, http_header(call->request, S("If-None-Match")));
	if (api_query_int(call, S("version"), 1, INT64_MAX, 0, &r->version, &r->error))
		executor_read(call->api->settings.executor, &r->read);
	else
		artifact_done(&r->read);
}

/* ---- adding ------------------------------------------------------------------------------ */

struct artifact_add {
	struct executor_read read;
	struct api *api;
	uint64_t exchange;
	struct artifact_write write;
	struct str content; /* base64 */
	struct str body;
	struct error error;
};

/* The same bytes under the same name are the same version, so that a request can be repeated. */
static struct uuid effect_of(const struct artifact_write *write)
{
	struct hash hash = hash_of(write->bytes);
	struct str parts[] = { uuid_str(&write->run),
			       S("upload"),
			       write->name,
			       write->media_type,
			       { (const char *)&hash, sizeof(hash) } };
	return uuid_derive(parts, COUNT(parts));
}

static void add_work(struct executor_read *read, struct store_reader *reader)
{
	struct artifact_add *add = (struct artifact_add *)read;
	struct artifact_write *write = &add->write;
	struct run_artifact artifact;
	(void)reader;
	if (!base64_read(&read->arena, add->content, &write->bytes)) {
		fail(&add->error, ERROR_INVALID, "content is not base64");
		return;
	}
	if (write->media_type.size == 0)
		write->media_type = media_type_of(write->bytes);
	if (write->media_type.size == 0)
		write->media_type = S("application/octet-stream");
	write->effect = effect_of(write);
	if (artifact_write(add->api->settings.artifacts, write, &read->arena, &artifact,
			   &add->error))
		add->body = run_artifact_text(&artifact, &read->arena);
}

static void add_done(struct executor_read *read)
{
	struct artifact_add *add = (struct artifact_add *)read;
	if (add->error.code != ERROR_NONE)
		api_reply_error(add->api, add->exchange, &add->error, NULL);
	else
		api_reply_json(add->api, add->exchange, 201, add->body);
	arena_done(&read->arena);
	free(add);
}

void api_run_artifact_add(struct api_call *call, const struct run_artifact_upload *body)
{
	struct artifact_add *add = calloc(1, sizeof(*add));
	require(add != NULL);
	struct arena *arena = &add->read.arena;
	add->api = call->api;
	add->exchange = call->exchange;
	add->content = str_copy(arena, body->content);
	add->write = (struct artifact_write){ .run = call->id,
					      .name = str_copy(arena, body->name),
					      .at = platform_wall_us(
						      loop_platform(call->api->settings.loop)) };
	if (has(body, media_type))
		add->write.media_type = str_copy(arena, body->media_type);
	add->read.work = add_work;
	add->read.done = add_done;
	executor_read(call->api->settings.executor, &add->read);
}
