/* api/api_prompts.c -- the named prompts of agents and their versions.
 *
 * A save is two documents in one commit, as a save of a workflow is (api_workflow_save.c): the version,
 * which is never changed, and the prompt, which names the current version.  Both are composed while no
 * other document changes, so the text that is compared with If-Match is the text that is replaced.
 */
#include <stdlib.h>

#include "api/api_documents.h"
#include "api/read_job.h"
#include "api/workflow_check.h"
#include "base/text_diff.h"
#include "contract/run_prompt_types.h"
#include "contract/run_server_types.h"
#include "document/documents.h"
#include "document/prompt_registry.h"

static struct str etag_of(struct str content, struct arena *arena)
{
	struct hash hash = hash_of(content);
	return workflow_etag(&hash, arena);
}

static struct run_prompt describe(struct str id, const struct prompt_found *found, bool whole,
				  struct arena *arena)
{
	struct run_prompt prompt = { 0 };
	SET(&prompt, id, id);
	if (found->description.size > 0)
		SET(&prompt, description, found->description);
	SET(&prompt, version, found->version);
	SET(&prompt, is_default, found->version == 0);
	SET(&prompt, has_default, found->has_default);
	if (found->details != NULL) {
		SET(&prompt, saved_at, found->details->saved_at);
		SET(&prompt, saved_by, found->details->saved_by);
		if (has(found->details, change_note))
			SET(&prompt, change_note, found->details->change_note);
	}
	SET(&prompt, bytes, (int64_t)found->content.size);
	SET(&prompt, etag, etag_of(found->content, arena));
	if (whole)
		SET(&prompt, content, found->content);
	return prompt;
}

static struct run_prompt_version_item describe_version(const struct run_prompt_version *version,
						       int64_t current)
{
	struct run_prompt_version_item item = { 0 };
	SET(&item, prompt, version->prompt);
	SET(&item, version, version->version);
	SET(&item, saved_at, version->saved_at);
	SET(&item, saved_by, version->saved_by);
	if (has(version, change_note))
		SET(&item, change_note, version->change_note);
	SET(&item, reset, version->reset);
	SET(&item, current, version->version == current);
	SET(&item, bytes, (int64_t)version->content.size);
	return item;
}

/* ---- reading ------------------------------------------------------------------------- */

struct prompts_read {
	struct api_read_job answer; /* first */
	struct str id;
	int64_t before, limit; /* of a page */
	int64_t version, diff; /* of one version; diff -1 = none */
	bool wants_default;
};

static struct prompts_read *read_new(struct api_call *call)
{
	struct prompts_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	r->id = str_copy(&r->answer.read.arena, api_name(call, S("name")));
	return r;
}

static const struct packed_file *defaults_of(const struct prompts_read *r)
{
	return r->answer.api->settings.prompts;
}

static void list_work(struct executor_read *read, struct store_reader *reader)
{
	struct prompts_read *r = (struct prompts_read *)read;
	struct arena *arena = &read->arena;
	struct str_list ids;
	if (!prompt_registry_ids(defaults_of(r), reader, arena, &ids, &r->answer.error))
		return;
	struct run_prompt *items = arena_array(arena, struct run_prompt, ids.count);
	for (size_t i = 0; i < ids.count; i++) {
		struct prompt_found found;
		if (!prompt_registry_find(defaults_of(r), reader, ids.at[i], arena, &found,
					  &r->answer.error))
			return;
		items[i] = describe(ids.at[i], &found, false, arena);
	}
	struct run_prompt_page *page = run_prompt_page_new(arena);
	SET(page, items, ((struct run_prompt_list){ items, ids.count }));
	r->answer.text = run_prompt_page_text(page, arena);
}

void api_prompt_list(struct api_call *call)
{
	api_read_job_begin(&read_new(call)->answer, list_work);
}

static void prompt_work(struct executor_read *read, struct store_reader *reader)
{
	struct prompts_read *r = (struct prompts_read *)read;
	struct prompt_found found;
	bool good = r->wants_default ? prompt_registry_default(defaults_of(r), r->id, &read->arena,
							       &found, &r->answer.error)
				     : prompt_registry_find(defaults_of(r), reader, r->id,
							    &read->arena, &found, &r->answer.error);
	if (!good)
		return;
	struct run_prompt prompt = describe(r->id, &found, true, &read->arena);
	r->answer.text = run_prompt_text(&prompt, &read->arena);
}

void api_prompt_read(struct api_call *call)
{
	api_read_job_begin(&read_new(call)->answer, prompt_work);
}

void api_prompt_default(struct api_call *call)
{
	struct prompts_read *r = read_new(call);
	r->wants_default = true;
	api_read_job_begin(&r->answer, prompt_work);
}

/* The number of the current version; 0 = the default, or a prompt that has none. */
static bool read_current(const struct prompts_read *r, struct store_reader *reader,
			 struct arena *arena, int64_t *out_version, struct error *error)
{
	struct prompt_found found;
	if (!prompt_registry_find(defaults_of(r), reader, r->id, arena, &found, error))
		return false;
	*out_version = found.version;
	return true;
}

static void versions_work(struct executor_read *read, struct store_reader *reader)
{
	struct prompts_read *r = (struct prompts_read *)read;
	struct arena *arena = &read->arena;
	struct prompt_versions found;
	int64_t current;
	if (!read_current(r, reader, arena, &current, &r->answer.error) ||
	    !prompt_registry_versions(reader, r->id, r->before, (size_t)r->limit, arena, &found,
				      &r->answer.error))
		return;
	struct run_prompt_version_item *items =
		arena_array(arena, struct run_prompt_version_item, found.count);
	for (size_t i = 0; i < found.count; i++)
		items[i] = describe_version(found.at[i], current);
	struct run_prompt_versions *page = run_prompt_versions_new(arena);
	SET(page, prompt, r->id);
	SET(page, versions, ((struct run_prompt_version_item_list){ items, found.count }));
	if (found.more)
		SET(page, cursor,
		    str_format(arena, "%lld", (long long)items[found.count - 1].version));
	r->answer.text = run_prompt_versions_text(page, arena);
}

void api_prompt_versions(struct api_call *call)
{
	struct error error;
	int64_t limit, before;
	if (!api_query_int(call, S("limit"), 1, LIMIT_VERSION_PAGE, 50, &limit, &error) ||
	    !api_query_int(call, S("cursor"), 1, INT32_MAX, 0, &before, &error)) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	struct prompts_read *r = read_new(call);
	r->limit = limit;
	r->before = before;
	api_read_job_begin(&r->answer, versions_work);
}

/* The text of a version; 0 = the default. */
static bool read_text(const struct prompts_read *r, struct store_reader *reader, int64_t number,
		      struct arena *arena, const struct run_prompt_version **out_version,
		      struct str *out_text, struct error *error)
{
	struct prompt_found found;
	if (number == 0) {
		if (!prompt_registry_default(defaults_of(r), r->id, arena, &found, error))
			return false;
		*out_text = found.content;
		return true;
	}
	if (!prompt_registry_version(reader, r->id, number, arena, out_version, error))
		return false;
	if (*out_version == NULL)
		return fail(error, ERROR_NOT_FOUND, "prompt " STR_FMT " has no version %lld",
			    STR_ARG(str_head(r->id, LIMIT_NAME_BYTES)), (long long)number);
	*out_text = (*out_version)->content;
	return true;
}

static void version_work(struct executor_read *read, struct store_reader *reader)
{
	struct prompts_read *r = (struct prompts_read *)read;
	struct arena *arena = &read->arena;
	struct error *error = &r->answer.error;
	const struct run_prompt_version *version, *other;
	struct str text, other_text;
	int64_t current;
	if (!read_current(r, reader, arena, &current, error) ||
	    !read_text(r, reader, r->version, arena, &version, &text, error))
		return;
	struct run_prompt_version_item item = describe_version(version, current);
	SET(&item, content, text);
	if (r->diff >= 0) {
		if (!read_text(r, reader, r->diff, arena, &other, &other_text, error))
			return;
		SET(&item, diff_from, r->diff);
		SET(&item, diff,
		    text_diff(other_text, text,
			      str_format(arena, "version %lld", (long long)r->diff),
			      str_format(arena, "version %lld", (long long)r->version), arena));
	}
	r->answer.text = run_prompt_version_item_text(&item, arena);
}

void api_prompt_version(struct api_call *call)
{
	struct error error;
	struct str number = api_name(call, S("version"));
	int64_t version, diff;
	bool good = str_to_int(number, &version) && version >= 1 && version <= INT32_MAX;
	if (!good)
		fail(&error, ERROR_NOT_FOUND,
		     "a version is a number from 1 on, not \"" STR_FMT "\"",
		     STR_ARG(str_head(number, LIMIT_QUOTE_BYTES)));
	if (!good || !api_query_int(call, S("diff"), 0, INT32_MAX, -1, &diff, &error)) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	struct prompts_read *r = read_new(call);
	r->version = version;
	r->diff = diff;
	api_read_job_begin(&r->answer, version_work);
}

/* ---- changing ------------------------------------------------------------------------ */

struct prompt_change {
	struct arena arena;
	struct api *api;
	uint64_t exchange;
	struct str id, content, note, by;
	struct str match; /* If-Match; "" = not sent */
	bool has_note, resets;
	int64_t now;
	/* Of the last attempt; in its arena. */
	struct str text, etag;    /* the response */
	struct str diff, current; /* of a refused If-Match; current: ETag */
	bool unchanged;
};

static void change_free(struct prompt_change *change)
{
	arena_done(&change->arena);
	free(change);
}

/* The prompt in use; *out_exists is false for a new id. */
static bool find_current(const struct prompt_change *change, struct store_reader *reader,
			 struct arena *arena, struct prompt_found *out_found, bool *out_exists,
			 struct error *error)
{
	struct error missing; /* `error` stays untouched unless this fails */
	*out_exists = prompt_registry_find(change->api->settings.prompts, reader, change->id, arena,
					   out_found, &missing);
	if (*out_exists || (!change->resets && missing.code == ERROR_NOT_FOUND))
		return true;
	*error = missing;
	return false;
}

static bool check_expected(struct prompt_change *change, const struct prompt_found *found,
			   bool exists, struct arena *arena, struct error *error)
{
	if (change->match.size == 0)
		return true;
	if (!exists)
		return fail(error, ERROR_PRECONDITION_FAILED,
			    "there is no prompt called " STR_FMT "; save it without If-Match",
			    STR_ARG(change->id));
	change->current = etag_of(found->content, arena);
	if (str_equal(change->match, S("*")) || str_equal(change->match, change->current))
		return true;
	change->diff = text_diff(found->content, change->content, S("current"), S("yours"), arena);
	return fail(error, ERROR_PRECONDITION_FAILED,
		    "prompt " STR_FMT
		    " was changed in the meantime; `diff` has what your text would "
		    "change, `etag` is the current ETag",
		    STR_ARG(change->id));
}

/* The prompt and its version, or its removal and the version that records the reset. */
static bool compose_changes(const struct prompt_change *change, struct store_reader *reader,
			    struct arena *arena, struct documents_changes *out_changes,
			    struct run_prompt_version **out_version, struct error *error)
{
	struct store_document row;
	bool found;
	if (!reader->ops->read_document(reader, document_kind_name(DOCUMENT_PROMPT), change->id,
					arena, &row, &found, error))
		return false;
	int64_t number = row.revision + 1; /* resets count, too */
	struct run_stored_prompt *prompt = run_stored_prompt_new(arena);
	SET(prompt, id, change->id);
	SET(prompt, version, number);
	SET(prompt, text, hash_of(change->content));
	struct run_prompt_version *version = run_prompt_version_new(arena);
	SET(version, prompt, change->id);
	SET(version, version, number);
	SET(version, saved_at, change->now);
	SET(version, saved_by, change->by);
	if (change->has_note)
		SET(version, change_note, change->note);
	SET(version, reset, change->resets);
	SET(version, content, change->content);
	struct documents_change *changes = arena_array(arena, struct documents_change, 2);
	changes[0] = (struct documents_change){
		.kind = document_kind_name(DOCUMENT_PROMPT),
		.name = change->id,
		.revision = found ? row.revision : DOCUMENTS_NEW,
		.body = change->resets ? S("") : run_stored_prompt_text(prompt, arena)
	};
	changes[1] =
		(struct documents_change){ .kind = document_kind_name(DOCUMENT_PROMPT_VERSION),
					   .name = document_version_name(change->id, number, arena),
					   .revision = DOCUMENTS_NEW,
					   .body = run_prompt_version_text(version, arena) };
	*out_changes = (struct documents_changes){ changes, 2 };
	*out_version = version;
	return true;
}

static void set_response(struct prompt_change *change, const struct prompt_found *found,
			 struct arena *arena)
{
	struct run_prompt prompt = describe(change->id, found, true, arena);
	change->etag = prompt.etag;
	change->text = run_prompt_text(&prompt, arena);
}

static bool compose_save(void *context, struct store_reader *reader, struct arena *arena,
			 struct documents_changes *out_changes, struct problems *problems,
			 struct error *error)
{
	struct prompt_change *change = context;
	struct prompt_found found = { .content = S(""), .description = S("") };
	struct run_prompt_version *version;
	bool exists;
	(void)problems;
	change->text = change->etag = change->diff = change->current = S("");
	if (!find_current(change, reader, arena, &found, &exists, error) ||
	    !check_expected(change, &found, exists, arena, error))
		return false;
	change->unchanged = exists && str_equal(found.content, change->content);
	if (change->unchanged) {
		*out_changes = (struct documents_changes){ 0 };
	} else {
		if (!compose_changes(change, reader, arena, out_changes, &version, error))
			return false;
		found.content = change->content;
		found.version = version->version;
		found.details = version;
	}
	set_response(change, &found, arena);
	return true;
}

static bool compose_reset(void *context, struct store_reader *reader, struct arena *arena,
			  struct documents_changes *out_changes, struct problems *problems,
			  struct error *error)
{
	struct prompt_change *change = context;
	struct prompt_found found, packed;
	struct run_prompt_version *version;
	bool exists;
	(void)problems;
	change->text = change->etag = change->diff = change->current = S("");
	if (!find_current(change, reader, arena, &found, &exists, error) ||
	    !check_expected(change, &found, exists, arena, error))
		return false;
	if (!found.has_default)
		return fail(error, ERROR_CONFLICT,
			    "prompt " STR_FMT " has no default to return to; save another version",
			    STR_ARG(change->id));
	if (!prompt_registry_default(change->api->settings.prompts, change->id, arena, &packed,
				     error))
		return false;
	change->unchanged = found.version == 0;
	*out_changes = (struct documents_changes){ 0 };
	if (!change->unchanged &&
	    !compose_changes(change, reader, arena, out_changes, &version, error))
		return false;
	set_response(change, &packed, arena);
	return true;
}

static void changed(void *context, uint64_t unused, const struct executor_reply *reply)
{
	struct prompt_change *change = context;
	(void)unused;
	if (reply->error != NULL) {
		struct api_call *call = api_call_of(change->api, change->exchange);
		if (call != NULL && reply->error->code == ERROR_PRECONDITION_FAILED) {
			if (change->diff.size > 0)
				SET(api_problem(call), diff, str_copy(call->arena, change->diff));
			if (change->current.size > 0)
				SET(api_problem(call), etag,
				    str_copy(call->arena, change->current));
		}
		api_reply_error(change->api, change->exchange, reply->error, reply->problems);
	} else if (reply->repeated) {
		struct prompts_read *r =
			api_read_job_new(change->api, change->exchange, sizeof(*r));
		r->id = str_copy(&r->answer.read.arena, change->id);
		api_read_job_begin(&r->answer, prompt_work);
	} else {
		bool created = !change->resets && !change->unchanged;
		api_documents_reply(change->api, change->exchange, created ? 201 : 200,
				    change->etag, S(""), S(""), change->text);
	}
	change_free(change);
}

static void change_begin(struct api_call *call, const struct run_prompt_save *body,
			 documents_compose *compose)
{
	struct prompt_change *change = calloc(1, sizeof(*change));
	struct error error;
	require(change != NULL);
	change->api = call->api;
	change->exchange = call->exchange;
	change->id = str_copy(&change->arena, api_name(call, S("name")));
	change->content = body == NULL ? S("") : str_copy(&change->arena, body->content);
	change->has_note = body != NULL && has(body, change_note);
	if (change->has_note)
		change->note = str_copy(&change->arena, body->change_note);
	change->by = str_copy(&change->arena, api_caller_name(call));
	change->resets = body == NULL;
	change->now = platform_wall_us(loop_platform(call->api->settings.loop));
	struct str match = http_header(call->request, S("If-Match"));
	change->match = str_copy(&change->arena, match);
	if (match.size > 0 && !str_equal(match, S("*")) &&
	    (match.size < 3 || !str_starts(match, S("\"")) || !str_ends(match, S("\"")))) {
		fail(&error, ERROR_USAGE, "If-Match must be one ETag with its quotes, or *");
		api_reply_error(call->api, call->exchange, &error, NULL);
		change_free(change);
		return;
	}
	const struct documents_composition how = {
		.compose = compose, .context = change, .by = change->by, .key = call->key
	};
	documents_change_composed(call->api->settings.documents, &how, changed, change, 0);
}

void api_prompt_save(struct api_call *call, const struct run_prompt_save *body)
{
	change_begin(call, body, compose_save);
}

void api_prompt_reset(struct api_call *call)
{
	change_begin(call, NULL, compose_reset);
}
