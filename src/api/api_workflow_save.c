/* api/api_workflow_save.c -- saving and deleting workflows.
 *
 * A save is two documents in one commit: the version, which is never changed, and the definition,
 * which names the current version.  Both are composed on a reader thread while no other document
 * changes, so the text that is compared with If-Match is the text that is replaced.
 *
 * The response has the text that this request saved, not the one that is current when it is sent: an
 * ETag of somebody else's text would let the client overwrite that text unseen.
 */
#include <stdlib.h>

#include "api/api_documents.h"
#include "api/workflow_check.h"
#include "api/workflow_item.h"
#include "base/text_diff.h"
#include "contract/run_server_types.h"
#include "contract/run_workflow_types.h"
#include "document/documents.h"

struct workflow_change {
	struct arena arena;
	struct api *api;
	uint64_t exchange;
	struct str name, yaml, by;
	struct str match; /* If-Match; "" = not sent */
	bool must_be_new; /* If-None-Match: * */
	bool deletes;
	int64_t now;
	/* Of the last attempt; in its arena. */
	struct str text; /* the response */
	struct str etag;
	struct str diff, current; /* of a refused If-Match; current: ETag */
};

static void change_free(struct workflow_change *change)
{
	arena_done(&change->arena);
	free(change);
}

/* ---- composing --------------------------------------------------------------------- */

/* The definition in use; *out_exists is false when no source has the name. */
static bool find_current(const struct workflow_change *change, struct store_reader *reader,
			 struct arena *arena, struct definition_found *out_found, bool *out_exists,
			 struct error *error)
{
	struct error missing; /* `error` stays untouched unless this fails */
	*out_found = (struct definition_found){ .yaml = S("") };
	*out_exists = definition_registry_find(change->api->settings.definitions, reader,
					       change->name, arena, out_found, &missing);
	/* A file that is too large, or a project's that is not trusted, may be replaced. */
	if (*out_exists || (!change->deletes &&
			    (missing.code == ERROR_NOT_FOUND || missing.code == ERROR_FORBIDDEN ||
			     missing.code == ERROR_TOO_LARGE)))
		return true;
	*error = missing;
	return false;
}

static bool check_expected(struct workflow_change *change, const struct definition_found *found,
			   bool exists, struct arena *arena, struct error *error)
{
	if (exists && change->must_be_new)
		return fail(error, ERROR_CONFLICT, "there is already a workflow called " STR_FMT,
			    STR_ARG(change->name));
	if (change->match.size == 0)
		return true;
	if (!exists)
		return fail(error, ERROR_PRECONDITION_FAILED,
			    "there is no workflow called " STR_FMT
			    " any more; save it without If-Match to create it again",
			    STR_ARG(change->name));
	change->current = workflow_etag(&found->hash, arena);
	if (str_equal(change->match, S("*")) || str_equal(change->match, change->current))
		return true;
	change->diff = text_diff(found->yaml, change->yaml, S("current"), S("yours"), arena);
	return fail(error, ERROR_PRECONDITION_FAILED,
		    "workflow " STR_FMT " was changed in the meantime; `diff` has what your text "
		    "would change, `etag` is the current ETag",
		    STR_ARG(change->name));
}

static bool check_text(const struct workflow_change *change, struct workflow_check *check,
		       struct problems *problems, struct error *error)
{
	*problems = check->problems;
	if (!check->is_valid)
		return problems_fail(problems, error);
	if (!str_equal(check->own_name, change->name))
		problems_add(problems, S("/name"), 0, 0,
			     "must be " STR_FMT ", the name that it is saved under, not " STR_FMT,
			     STR_ARG(change->name), STR_ARG(check->own_name));
	return problems_fail(problems, error);
}

/* The number that the next change of the definition gets; deletions count, too. */
static bool next_version(const struct workflow_change *change, struct store_reader *reader,
			 struct arena *arena, int64_t *out_version, int64_t *out_revision,
			 struct error *error)
{
	struct store_document row;
	bool found;
	if (!reader->ops->read_document(reader, document_kind_name(DOCUMENT_DEFINITION),
					change->name, arena, &row, &found, error))
		return false;
	*out_version = row.revision + 1;
	*out_revision = found ? row.revision : DOCUMENTS_NEW;
	return true;
}

/* The definition and its version, or its deletion and the version that records it. */
static bool compose_changes(const struct workflow_change *change, struct store_reader *reader,
			    struct arena *arena, struct documents_changes *out_changes,
			    int64_t *out_version, struct error *error)
{
	int64_t number, revision;
	if (!next_version(change, reader, arena, &number, &revision, error))
		return false;
	struct run_stored_definition *definition = run_stored_definition_new(arena);
	SET(definition, name, change->name);
	SET(definition, version, number);
	SET(definition, text, hash_of(change->yaml));
	struct run_definition_version *version = run_definition_version_new(arena);
	SET(version, workflow, change->name);
	SET(version, version, number);
	SET(version, saved_at, change->now);
	SET(version, saved_by, change->by);
	SET(version, deleted, change->deletes);
	SET(version, yaml_content, change->yaml);
	struct documents_change *changes = arena_array(arena, struct documents_change, 2);
	changes[0] = (struct documents_change){
		.kind = document_kind_name(DOCUMENT_DEFINITION),
		.name = change->name,
		.revision = revision,
		.body = change->deletes ? S("") : run_stored_definition_text(definition, arena)
	};
	changes[1] =
		(struct documents_change){ .kind = document_kind_name(DOCUMENT_DEFINITION_VERSION),
					   .name = document_version_name(change->name, number,
									 arena),
					   .revision = DOCUMENTS_NEW,
					   .body = run_definition_version_text(version, arena) };
	*out_changes = (struct documents_changes){ changes, 2 };
	*out_version = number;
	return true;
}

bool workflow_version_changes(const struct workflow_saving *saving, struct store_reader *reader,
			      struct arena *arena, struct documents_changes *out_changes,
			      struct error *error)
{
	const struct workflow_change change = {
		.name = saving->name, .yaml = saving->yaml, .by = saving->by, .now = saving->now
	};
	int64_t version;
	return compose_changes(&change, reader, arena, out_changes, &version, error);
}

static bool compose_save(void *context, struct store_reader *reader, struct arena *arena,
			 struct documents_changes *out_changes, struct problems *problems,
			 struct error *error)
{
	struct workflow_change *change = context;
	struct definition_found found;
	struct workflow_check check;
	bool exists;
	change->text = change->etag = change->diff = change->current = S("");
	if (change->yaml.size > LIMIT_YAML_BYTES)
		return fail(error, ERROR_TOO_LARGE, "the definition has %zu bytes; the limit is %d",
			    change->yaml.size, LIMIT_YAML_BYTES);
	workflow_check(&check, change->api->settings.executor, reader, change->name, change->yaml,
		       S(""), arena);
	if (!check_text(change, &check, problems, error) ||
	    !find_current(change, reader, arena, &found, &exists, error) ||
	    !check_expected(change, &found, exists, arena, error))
		return false;
	if (!exists || !str_equal(found.yaml, change->yaml)) {
		struct definition_found saved = { .yaml = change->yaml,
						  .source = DEFINITION_STORED,
						  .hash = hash_of(change->yaml),
						  .path = S(""),
						  .saved_at = change->now,
						  .saved_by = change->by };
		for (int source = 0; source < DEFINITION_SOURCES; source++)
			saved.shadows[source] = found.shadows[source];
		if (exists && found.source != DEFINITION_STORED)
			saved.shadows[found.source] = true;
		if (!compose_changes(change, reader, arena, out_changes, &saved.version, error))
			return false;
		found = saved;
	} else {
		*out_changes = (struct documents_changes){ 0 };
	}
	change->etag = workflow_etag(&found.hash, arena);
	change->text = workflow_editor_text(change->name, &found, &check, arena);
	return true;
}

static bool compose_delete(void *context, struct store_reader *reader, struct arena *arena,
			   struct documents_changes *out_changes, struct problems *problems,
			   struct error *error)
{
	struct workflow_change *change = context;
	struct definition_found found;
	int64_t version;
	bool exists;
	(void)problems;
	change->text = change->etag = change->diff = change->current = S("");
	if (!find_current(change, reader, arena, &found, &exists, error) ||
	    !check_expected(change, &found, exists, arena, error))
		return false;
	if (found.source == DEFINITION_STORED)
		return compose_changes(change, reader, arena, out_changes, &version, error);
	if (found.source == DEFINITION_PACKED)
		return fail(error, ERROR_CONFLICT,
			    "workflow " STR_FMT " is built in and cannot be deleted; save another "
			    "text under its name to replace it",
			    STR_ARG(change->name));
	return fail(error, ERROR_CONFLICT,
		    "workflow " STR_FMT " is not stored but a file, " STR_FMT "; remove the file%s",
		    STR_ARG(change->name), STR_ARG(found.path),
		    found.source == DEFINITION_PROJECT ? ", or revoke the trust in its project"
						       : "");
}

/* ---- requests ---------------------------------------------------------------------- */

static void refuse(const struct workflow_change *change, const struct executor_reply *reply)
{
	struct api_call *call = api_call_of(change->api, change->exchange);
	if (call != NULL && reply->error->code == ERROR_PRECONDITION_FAILED) {
		if (change->diff.size > 0)
			SET(api_problem(call), diff, str_copy(call->arena, change->diff));
		if (change->current.size > 0)
			SET(api_problem(call), etag, str_copy(call->arena, change->current));
	}
	api_reply_error(change->api, change->exchange, reply->error, reply->problems);
}

static void changed(void *context, uint64_t unused, const struct executor_reply *reply)
{
	struct workflow_change *change = context;
	(void)unused;
	if (reply->error != NULL)
		refuse(change, reply);
	else if (change->deletes)
		api_reply(change->api, change->exchange, 204, NULL, 0, S(""));
	else if (reply->repeated)
		workflow_editor_send(change->api, change->exchange, change->name);
	else
		api_documents_reply(
			change->api, change->exchange, reply->created ? 201 : 200, change->etag,
			reply->created ? api_documents_location(S("/api/workflows/"), change->name,
								&change->arena)
				       : S(""),
			S(""), change->text);
	change_free(change);
}

static bool read_expectation(const struct api_call *call, struct workflow_change *change,
			     struct error *error)
{
	struct str match = http_header(call->request, S("If-Match"));
	struct str none = http_header(call->request, S("If-None-Match"));
	if (match.size > 0 && none.size > 0)
		return fail(error, ERROR_USAGE, "send If-Match or If-None-Match, not both");
	if (none.size > 0 && !str_equal(none, S("*")))
		return fail(error, ERROR_USAGE,
			    "If-None-Match must be * in a change: the workflow must not exist yet");
	if (match.size > 0 && !str_equal(match, S("*")) &&
	    (match.size < 3 || !str_starts(match, S("\"")) || !str_ends(match, S("\""))))
		return fail(error, ERROR_USAGE, "If-Match must be one ETag with its quotes, or *");
	change->match = str_copy(&change->arena, match);
	change->must_be_new = none.size > 0;
	return true;
}

static void change_begin(struct api_call *call, struct str yaml, documents_compose *compose)
{
	struct workflow_change *change = calloc(1, sizeof(*change));
	struct error error;
	require(change != NULL);
	change->api = call->api;
	change->exchange = call->exchange;
	change->name = str_copy(&change->arena, api_name(call, S("name")));
	change->yaml = str_copy(&change->arena, yaml);
	change->by = str_copy(&change->arena, api_caller_name(call));
	change->deletes = compose == compose_delete;
	change->now = platform_wall_us(loop_platform(call->api->settings.loop));
	if (!read_expectation(call, change, &error)) {
		api_reply_error(call->api, call->exchange, &error, NULL);
		change_free(change);
		return;
	}
	const struct documents_composition how = {
		.compose = compose, .context = change, .by = change->by, .key = call->key
	};
	documents_change_composed(call->api->settings.documents, &how, changed, change, 0);
}

void api_workflow_save(struct api_call *call, const struct runtime_workflow_editor_request *body)
{
	struct str name = api_name(call, S("name"));
	struct error error;
	if (!str_equal(body->name, name)) {
		fail(&error, ERROR_INVALID,
		     "the name in the body is " STR_FMT ", the one in the path " STR_FMT,
		     STR_ARG(str_head(body->name, LIMIT_NAME_BYTES)),
		     STR_ARG(str_head(name, LIMIT_NAME_BYTES)));
		api_reply_error(call->api, call->exchange, &error, NULL);
		return;
	}
	change_begin(call, body->yaml_content, compose_save);
}

void api_workflow_delete(struct api_call *call)
{
	change_begin(call, S(""), compose_delete);
}
