/* api/api_settings.c -- /api/settings: all profiles and the active one as one document (Settings of
 * the pipeline vocabulary).
 *
 * The document is not stored as such: it is composed of the profile documents and the selection.
 * The changes of a PUT or PATCH are computed from the stored documents while all other changes
 * wait, so concurrent requests never mix.  The ETag is a hash of the composed document.
 */
#include <stdlib.h>

#include "active/executor_jobs.h"
#include "active/run_commands.h"
#include "api/api_documents.h"
#include "api/merge_patch.h"
#include "contract/pipeline_types.h"
#include "contract/run_settings_types.h"
#include "document/documents.h"
#include "document/stored_document.h"

/* ---- reading ----------------------------------------------------------------------- */

/* Reads all profiles; TOO_LARGE when they exceed LIMIT_SETTINGS_BYTES. */
static bool read_profiles(struct store_reader *reader, struct arena *arena,
			  struct store_document_page *out_page, struct error *error)
{
	struct str kind = document_kind_name(DOCUMENT_PROFILE);
	struct str after = S("");
	struct store_document *all = arena_array(arena, struct store_document, LIMIT_DOCUMENTS);
	size_t count = 0, bytes = 0;
	for (;;) {
		struct store_document_page page;
		if (!reader->ops->list_documents(reader, kind, after, LIMIT_STREAM_PAGE_EVENTS,
						 arena, &page, error))
			return false;
		for (size_t i = 0; i < page.count && count < LIMIT_DOCUMENTS; i++) {
			bytes += page.at[i].body.size;
			all[count++] = page.at[i];
		}
		if (bytes > LIMIT_SETTINGS_BYTES)
			return fail(error, ERROR_TOO_LARGE,
				    "the profiles together exceed %d bytes; read them in pages "
				    "at /api/profiles",
				    LIMIT_SETTINGS_BYTES);
		if (page.count < LIMIT_STREAM_PAGE_EVENTS || count == LIMIT_DOCUMENTS)
			break;
		after = page.at[page.count - 1].name;
	}
	*out_page = (struct store_document_page){ all, count };
	return true;
}

static bool read_selection(struct store_reader *reader, struct arena *arena,
			   const struct run_selection **out_selection, struct error *error)
{
	const void *value;
	if (!stored_document_read(reader, DOCUMENT_SETTINGS, document_kind_name(DOCUMENT_SETTINGS),
				  arena, &value, NULL, error))
		return false;
	*out_selection = value;
	return true;
}

/* The document as JSON; "" when no profile exists yet. */
static bool read_settings(struct store_reader *reader, struct arena *arena, struct str *out_text,
			  struct error *error)
{
	const struct run_selection *selection;
	struct store_document_page page;
	if (!read_selection(reader, arena, &selection, error) ||
	    !read_profiles(reader, arena, &page, error))
		return false;
	*out_text = S("");
	if (selection == NULL)
		return true;
	struct pipeline_profile_entry *entries =
		arena_array(arena, struct pipeline_profile_entry, page.count);
	for (size_t i = 0; i < page.count; i++) {
		const struct pipeline_profile *profile =
			document_read_stored(DOCUMENT_PROFILE, page.at[i].body, arena, error);
		if (profile == NULL)
			return false;
		entries[i].key = page.at[i].name;
		entries[i].value = *profile;
	}
	struct pipeline_settings *settings = pipeline_settings_new(arena);
	SET(settings, active_profile, selection->active_profile);
	SET(settings, profiles, (struct pipeline_profile_map){ entries, page.count });
	*out_text = pipeline_settings_text(settings, arena);
	return true;
}

static struct str etag_of(struct str text, struct arena *arena)
{
	struct hash hash = hash_of(text);
	char hex[HASH_TEXT_SIZE];
	return str_format(arena, "\"" STR_FMT "\"", STR_ARG(str_head(hash_text(&hash, hex), 32)));
}

struct settings_read {
	struct executor_read read; /* first */
	struct api *api;
	uint64_t exchange;
	struct str text, had;
	struct error error;
};

static void settings_work(struct executor_read *read, struct store_reader *reader)
{
	struct settings_read *r = (struct settings_read *)read;
	if (read_settings(reader, &read->arena, &r->text, &r->error) && r->text.size == 0)
		fail(&r->error, ERROR_NOT_FOUND,
		     "there is no profile yet; create one with POST /api/profiles");
}

static void settings_done(struct executor_read *read)
{
	struct settings_read *r = (struct settings_read *)read;
	if (r->error.code != ERROR_NONE)
		api_reply_error(r->api, r->exchange, &r->error, NULL);
	else
		api_documents_reply(r->api, r->exchange, 200, etag_of(r->text, &read->arena), S(""),
				    r->had, r->text);
	arena_done(&read->arena);
	free(r);
}

static void settings_send(struct api *api, uint64_t exchange, struct str had)
{
	struct settings_read *r = calloc(1, sizeof(*r));
	require(r != NULL);
	r->api = api;
	r->exchange = exchange;
	r->had = str_copy(&r->read.arena, had);
	r->read.work = settings_work;
	r->read.done = settings_done;
	executor_read(api->settings.executor, &r->read);
}

void api_settings_read(struct api_call *call)
{
	settings_send(call->api, call->exchange, http_header(call->request, S("If-None-Match")));
}

/* ---- changing ---------------------------------------------------------------------- */

/* `text` is the whole document of a PUT, or the merge patch of a PATCH. */
struct settings_change {
	bool whole;
	struct str match; /* If-Match; "" = none */
	struct str text;
};

struct change_list {
	struct documents_change *at;
	size_t count, room;
};

static void add_change(struct change_list *list, enum document_kind kind, struct str name,
		       struct str body)
{
	if (list->count < list->room)
		list->at[list->count++] = (struct documents_change){
			.kind = document_kind_name(kind), .name = name, .revision = -1, .body = body
		};
}

static void add_selection(struct change_list *list, struct str active, struct arena *arena)
{
	struct run_selection *selection = run_selection_new(arena);
	SET(selection, active_profile, active);
	add_change(list, DOCUMENT_SETTINGS, document_kind_name(DOCUMENT_SETTINGS),
		   run_selection_text(selection, arena));
}

static bool check_match(const struct settings_change *change, struct store_reader *reader,
			struct arena *arena, struct error *error)
{
	struct str text;
	if (change->match.size == 0)
		return true;
	if (!read_settings(reader, arena, &text, error))
		return false;
	if (text.size > 0 &&
	    (str_equal(change->match, S("*")) || str_equal(change->match, etag_of(text, arena))))
		return true;
	return fail(error, ERROR_PRECONDITION_FAILED,
		    "the settings have changed since the ETag in If-Match; read them again");
}

static bool is_among(const struct pipeline_settings *settings, struct str name)
{
	for (size_t i = 0; i < settings->profiles.count; i++)
		if (str_equal(settings->profiles.at[i].key, name))
			return true;
	return false;
}

static bool compose_whole(const struct settings_change *change,
			  const struct store_document_page *stored, struct arena *arena,
			  struct change_list *list, struct problems *problems, struct error *error)
{
	const struct json *json;
	if (!json_read(change->text, arena, &json, error))
		return false;
	const struct contract_source source = { .json = json };
	const struct pipeline_settings *settings =
		pipeline_settings_parse(&source, arena, problems);
	if (settings == NULL)
		return problems_fail(problems, error);
	list->room = settings->profiles.count + stored->count + 1;
	list->at = arena_array(arena, struct documents_change, list->room);
	for (size_t i = 0; i < settings->profiles.count; i++)
		add_change(list, DOCUMENT_PROFILE, settings->profiles.at[i].key,
			   pipeline_profile_text(&settings->profiles.at[i].value, arena));
	for (size_t i = 0; i < stored->count; i++)
		if (!is_among(settings, stored->at[i].name))
			add_change(list, DOCUMENT_PROFILE, stored->at[i].name, S(""));
	add_selection(list, settings->active_profile, arena);
	return true;
}

static const struct store_document *find(const struct store_document_page *stored, struct str name)
{
	for (size_t i = 0; i < stored->count; i++)
		if (str_equal(stored->at[i].name, name))
			return &stored->at[i];
	return NULL;
}

static bool compose_profile(const struct json_member *member, const struct store_document *stored,
			    struct arena *arena, struct change_list *list,
			    struct problems *problems, struct error *error)
{
	const struct json *before = NULL;
	if (member->value.kind == JSON_NULL) {
		add_change(list, DOCUMENT_PROFILE, member->key, S(""));
		return true;
	}
	if (stored != NULL && !json_read(stored->body, arena, &before, error))
		return false;
	struct str body = json_print(arena, merge_patch(before, &member->value, arena));
	struct problems found = { .arena = arena };
	if (document_read(DOCUMENT_PROFILE, body, arena, &found) == NULL)
		api_documents_add_problems(
			problems, str_format(arena, "/profiles/" STR_FMT, STR_ARG(member->key)),
			&found);
	add_change(list, DOCUMENT_PROFILE, member->key, body);
	return true;
}

static bool compose_parts(const struct settings_change *change,
			  const struct store_document_page *stored, struct arena *arena,
			  struct change_list *list, struct problems *problems, struct error *error)
{
	const struct json *json;
	if (!json_read(change->text, arena, &json, error))
		return false;
	const struct contract_source source = { .json = json };
	const struct run_settings_patch *patch = run_settings_patch_parse(&source, arena, problems);
	if (patch == NULL)
		return problems_fail(problems, error);
	size_t count = has(patch, profiles) ? patch->profiles->as.object.count : 0;
	list->room = count + 1;
	list->at = arena_array(arena, struct documents_change, list->room);
	for (size_t i = 0; i < count; i++) {
		const struct json_member *member = &patch->profiles->as.object.at[i];
		if (!compose_profile(member, find(stored, member->key), arena, list, problems,
				     error))
			return false;
	}
	if (has(patch, active_profile))
		add_selection(list, patch->active_profile, arena);
	return problems_fail(problems, error);
}

static bool settings_compose(void *context, struct store_reader *reader, struct arena *arena,
			     struct documents_changes *out_changes, struct problems *problems,
			     struct error *error)
{
	const struct settings_change *change = context;
	struct store_document_page stored;
	struct change_list list = { 0 };
	if (!check_match(change, reader, arena, error) ||
	    !read_profiles(reader, arena, &stored, error) ||
	    !(change->whole ? compose_whole(change, &stored, arena, &list, problems, error)
			    : compose_parts(change, &stored, arena, &list, problems, error)))
		return false;
	*out_changes = (struct documents_changes){ list.at, list.count };
	return true;
}

struct settings_request {
	struct api *api;
	uint64_t exchange;
};

static void settings_changed(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct settings_request *request = context;
	(void)argument;
	if (reply->error != NULL)
		api_reply_error(request->api, request->exchange, reply->error, reply->problems);
	else
		settings_send(request->api, request->exchange, S(""));
	free(request);
}

static void settings_change(struct api_call *call, bool whole, struct str text)
{
	struct settings_change *change = arena_new(call->arena, struct settings_change);
	struct settings_request *request = calloc(1, sizeof(*request));
	require(request != NULL);
	*request = (struct settings_request){ call->api, call->exchange };
	*change = (struct settings_change){
		whole, str_copy(call->arena, http_header(call->request, S("If-Match"))), text
	};
	const struct documents_composition how = { .compose = settings_compose,
						   .context = change,
						   .by = api_caller_name(call),
						   .key = call->key };
	documents_change_composed(call->api->settings.documents, &how, settings_changed, request,
				  0);
}

void api_settings_replace(struct api_call *call, const struct pipeline_settings *body)
{
	settings_change(call, true, pipeline_settings_text(body, call->arena));
}

void api_settings_patch(struct api_call *call, const struct run_settings_patch *body)
{
	settings_change(call, false, run_settings_patch_text(body, call->arena));
}
