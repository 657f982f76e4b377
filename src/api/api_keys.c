/* api/api_keys.c -- API keys: list, create, revoke.
 *
 * Only the response to the creation contains the secret; the store keeps its hash.
 */
#include <stdlib.h>

#include "active/executor_jobs.h"
#include "active/run_commands.h"
#include "api/api_documents.h"
#include "api/read_job.h"
#include "document/documents.h"
#include "document/stored_document.h"

static struct run_key_item item_of(const struct run_key *key, struct arena *arena)
{
	struct run_key_item *item = run_key_item_new(arena);
	SET(item, id, key->id);
	SET(item, label, key->label);
	SET(item, role, key->role);
	SET(item, created_at, key->created_at);
	if (has(key, expires_at))
		SET(item, expires_at, key->expires_at);
	SET(item, created_by, key->created_by);
	return *item;
}

/* ---- reading ----------------------------------------------------------------------- */

struct key_read {
	struct api_read_job answer; /* first */
	struct str after;
	int64_t limit;
};

static void list_work(struct executor_read *read, struct store_reader *reader)
{
	struct key_read *r = (struct key_read *)read;
	struct arena *arena = &read->arena;
	struct store_document_page page;
	if (!reader->ops->list_documents(reader, document_kind_name(DOCUMENT_KEY), r->after,
					 (size_t)r->limit, arena, &page, &r->answer.error))
		return;
	struct run_key_item *items = arena_array(arena, struct run_key_item, page.count);
	for (size_t i = 0; i < page.count; i++) {
		const struct run_key *key = document_read_stored(DOCUMENT_KEY, page.at[i].body,
								 arena, &r->answer.error);
		if (key == NULL)
			return;
		items[i] = item_of(key, arena);
	}
	struct run_key_page *answer = run_key_page_new(arena);
	SET(answer, items, ((struct run_key_item_list){ items, page.count }));
	if (page.count == (size_t)r->limit)
		SET(answer, cursor, page.at[page.count - 1].name);
	r->answer.text = run_key_page_text(answer, arena);
}

void api_key_list(struct api_call *call)
{
	struct key_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->after = str_copy(&r->answer.read.arena, api_query(call, S("cursor")));
	if (api_query_int(call, S("limit"), 1, LIMIT_PAGE_ITEMS, 100, &r->limit, &r->answer.error))
		api_read_job_begin(&r->answer, list_work);
	else
		api_read_job_end(&r->answer);
}

/* ---- creating ---------------------------------------------------------------------- */

struct key_creation {
	struct executor_read read; /* first; its arena owns the other members */
	struct api *api;
	uint64_t exchange;
	struct run_key *key;
	struct str text; /* the complete key with its secret */
	struct uuid id;
	struct str answer;
	struct error error;
};

static void creation_free(struct key_creation *creation)
{
	arena_done(&creation->read.arena);
	free(creation);
}

/* A repeated request responds with the existing key, without its secret. */
static void repeat_work(struct executor_read *read, struct store_reader *reader)
{
	struct key_creation *creation = (struct key_creation *)read;
	char id[UUID_TEXT_SIZE];
	const void *key;
	if (!stored_document_read(reader, DOCUMENT_KEY, uuid_text(&creation->id, id), &read->arena,
				  &key, NULL, &creation->error))
		return;
	if (key == NULL) {
		fail(&creation->error, ERROR_CONFLICT,
		     "the API key that this Idempotency-Key created has been revoked");
		return;
	}
	struct run_key_item item = item_of(key, &read->arena);
	creation->answer = run_key_item_text(&item, &read->arena);
}

static void repeat_done(struct executor_read *read)
{
	struct key_creation *creation = (struct key_creation *)read;
	if (creation->error.code != ERROR_NONE)
		api_reply_error(creation->api, creation->exchange, &creation->error, NULL);
	else
		api_reply_json(creation->api, creation->exchange, 200, creation->answer);
	creation_free(creation);
}

static void created(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct key_creation *creation = context;
	struct arena *arena = &creation->read.arena;
	(void)argument;
	if (reply->error != NULL) {
		api_reply_error(creation->api, creation->exchange, reply->error, reply->problems);
	} else if (reply->repeated) {
		creation->id = reply->run;
		creation->read.work = repeat_work;
		creation->read.done = repeat_done;
		executor_read(creation->api->settings.executor, &creation->read);
		return;
	} else {
		char id[UUID_TEXT_SIZE];
		struct run_key_item item = item_of(creation->key, arena);
		SET(&item, key, creation->text);
		const struct http_header headers[] = {
			{ S("Content-Type"), S("application/json") },
			{ S("Cache-Control"), S("no-store") },
			{ S("Location"), str_format(arena, "/api/keys/" STR_FMT,
						    STR_ARG(uuid_text(&creation->id, id))) },
		};
		api_reply(creation->api, creation->exchange, 201, headers, COUNT(headers),
			  run_key_item_text(&item, arena));
	}
	creation_free(creation);
}

static bool compose(void *context, struct store_reader *reader, struct arena *arena,
		    struct documents_changes *out_changes, struct problems *problems,
		    struct error *error)
{
	const struct key_creation *creation = context;
	char id[UUID_TEXT_SIZE];
	(void)reader;
	(void)problems;
	(void)error;
	struct documents_change *change = arena_new(arena, struct documents_change);
	*change = (struct documents_change){ .kind = document_kind_name(DOCUMENT_KEY),
					     .name = str_copy(arena, uuid_text(&creation->id, id)),
					     .body = run_key_text(creation->key, arena) };
	*out_changes = (struct documents_changes){ change, 1 };
	return true;
}

void api_key_create(struct api_call *call, const struct run_key_request *body)
{
	struct platform *platform = loop_platform(call->api->settings.loop);
	int64_t now = platform_wall_us(platform);
	struct problems problems = { .arena = call->arena };
	struct error error;
	if (has(body, expires_at) && body->expires_at <= now)
		problems_add(&problems, S("/expires_at"), 0, 0, "must be in the future");
	if (!problems_fail(&problems, &error)) {
		api_reply_error(call->api, call->exchange, &error, &problems);
		return;
	}
	struct key_creation *creation = calloc(1, sizeof(*creation));
	require(creation != NULL);
	struct arena *arena = &creation->read.arena;
	uint8_t dice[16], secret[32];
	platform_random(platform, dice, sizeof(dice));
	platform_random(platform, secret, sizeof(secret));
	creation->api = call->api;
	creation->exchange = call->exchange;
	creation->id = uuid_from_random(dice);
	creation->text = key_ring_text(&creation->id, secret, arena);
	creation->key = run_key_new(arena);
	SET(creation->key, id, creation->id);
	SET(creation->key, label, str_copy(arena, body->label));
	SET(creation->key, role, body->role);
	SET(creation->key, sha256, key_ring_hash(secret));
	SET(creation->key, created_at, now);
	if (has(body, expires_at))
		SET(creation->key, expires_at, body->expires_at);
	SET(creation->key, created_by, str_copy(arena, api_caller_name(call)));
	const struct documents_composition how = { .compose = compose,
						   .context = creation,
						   .by = creation->key->created_by,
						   .key = call->key,
						   .subject = creation->id };
	documents_change_composed(call->api->settings.documents, &how, created, creation, 0);
}

void api_key_revoke(struct api_call *call)
{
	static const struct api_documents_answer answer = { DOCUMENT_KEY, { "", 0 } };
	char id[UUID_TEXT_SIZE];
	api_documents_change(call, &answer, uuid_text(&call->id, id), -1, S(""));
}

/* ---- applying ---------------------------------------------------------------------- */

static void key_changed(void *context, const struct watched_document *document)
{
	struct api *api = context;
	AUTO(arena) arena = { 0 };
	struct error error;
	struct uuid id;
	if (!uuid_parse(document->name, &id))
		return;
	const struct run_key *key =
		document->body.size == 0
			? NULL
			: document_read_stored(DOCUMENT_KEY, document->body, &arena, &error);
	if (key == NULL) /* revoked, or unreadable: reject it */
		key_ring_remove(api->keys, &id);
	else
		key_ring_put(api->keys, key);
}

void api_watch_keys(struct api *api, platform_callback *loaded)
{
	documents_watch(api->settings.documents, document_kind_name(DOCUMENT_KEY), key_changed,
			loaded, api);
}
