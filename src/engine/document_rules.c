/* engine/document_rules.c -- the rules between a document, its name and other documents.
 *
 * Each word in the `rules` column of documents.def has one function.  A rule reads the documents as
 * they would be after the whole command.  If a document is not loaded, it becomes a need; the verdict
 * of the rule is then ignored, and the rule runs again with the document loaded.
 */
#include "base/buf.h"
#include "base/limits.h"
#include "contract/graph_types.h"
#include "contract/pipeline_types.h"
#include "contract/run_agent_types.h"
#include "contract/run_custom_tool_types.h"
#include "contract/run_key_types.h"
#include "contract/run_prompt_types.h"
#include "contract/run_schedule_types.h"
#include "contract/run_settings_types.h"
#include "contract/run_trigger_types.h"
#include "contract/run_webhook_types.h"
#include "contract/run_workflow_types.h"
#include "engine/document_rules.h"
#include "template/jinja.h"

/* ---- secrets ------------------------------------------------------------------------- */

/* A member whose name ends in one of these words holds a secret. */
static const struct str secret_words[] = {
	{ "apikey", 6 }, { "api_key", 7 },     { "api-key", 7 },      { "access_key", 10 },
	{ "secret", 6 }, { "secret_key", 10 }, { "token", 5 },        { "password", 8 },
	{ "passwd", 6 }, { "passphrase", 10 }, { "credentials", 11 }, { "authorization", 13 },
};

static bool is_secret_name(struct str name)
{
	for (size_t i = 0; i < COUNT(secret_words); i++) {
		struct str word = secret_words[i];
		if (name.size >= word.size &&
		    str_equal_folded(str_skip(name, name.size - word.size), word))
			return true;
	}
	return false;
}

static bool is_reference(struct str text)
{
	return (str_starts(text, S("env:")) || str_starts(text, S("file:"))) &&
	       !str_ends(text, S(":"));
}

static struct str step_into(struct str pointer, struct str key, struct arena *arena)
{
	AUTO(buf) text = buf_limited(LIMIT_POINTER_BYTES);
	buf_add(&text, pointer);
	buf_add_char(&text, '/');
	for (size_t i = 0; i < key.size; i++) {
		if (key.at[i] == '~')
			buf_add(&text, S("~0"));
		else if (key.at[i] == '/')
			buf_add(&text, S("~1"));
		else
			buf_add_char(&text, key.at[i]);
	}
	return str_copy(arena, buf_str(&text));
}

/* The deepest nesting that the JSON reader accepts. */
void document_check_secrets(const struct json *tree, struct str pointer, struct problems *problems)
{
	struct arena *arena = problems->arena;
	if (tree->kind == JSON_LIST) {
		for (size_t i = 0; i < tree->as.list.count; i++) {
			struct str number = str_format(arena, "%zu", i);
			document_check_secrets(&tree->as.list.at[i],
					       step_into(pointer, number, arena), problems);
		}
		return;
	}
	for (size_t i = 0; tree->kind == JSON_OBJECT && i < tree->as.object.count; i++) {
		const struct json_member *member = &tree->as.object.at[i];
		struct str place = step_into(pointer, member->key, arena);
		if (member->value.kind != JSON_STRING)
			document_check_secrets(&member->value, place, problems);
		else if (is_secret_name(member->key) && !is_reference(member->value.as.string))
			problems_add(problems, place, 0, 0,
				     "must not contain a secret: use a reference, env:NAME or "
				     "file:path");
	}
}

/* "https://user:password@host/…": the password would be stored and shown. */
static bool has_password(struct str url)
{
	size_t at, colon;
	if (!str_find(url, S("://"), &at))
		return false;
	struct str rest = str_skip(url, at + 3), authority;
	str_cut(&rest, '/', &authority);
	return str_find(authority, S("@"), &at) &&
	       str_find(str_head(authority, at), S(":"), &colon);
}

static void check_sandbox(const struct pipeline_sandbox_config *sandbox, struct str pointer,
			  struct problems *problems)
{
	if (has(sandbox, repo_url) && has_password(sandbox->repo_url))
		problems_add(problems, step_into(pointer, S("repo_url"), problems->arena), 0, 0,
			     "must not contain a password; use a remote without one, or a key");
}

static void check_profile_secrets(const struct pipeline_profile *profile, struct problems *problems)
{
	struct arena *arena = problems->arena;
	check_sandbox(profile->sandbox, S("/sandbox"), problems);
	for (size_t i = 0; i < profile->agents.count; i++) {
		const struct pipeline_agent_config_entry *agent = &profile->agents.at[i];
		struct str place = step_into(S("/agents"), agent->key, arena);
		document_check_secrets(agent->value.options, step_into(place, S("options"), arena),
				       problems);
		check_sandbox(agent->value.sandbox, step_into(place, S("sandbox"), arena),
			      problems);
	}
}

/* ---- the rules ----------------------------------------------------------------------- */

static bool named_so(const struct document_subject *subject, struct str said, struct error *error)
{
	struct str kind = document_kind_name(subject->kind);
	return str_equal(subject->name, said) ||
	       fail(error, ERROR_INVALID, STR_FMT " " STR_FMT " calls itself " STR_FMT,
		    STR_ARG(kind), STR_ARG(subject->name),
		    STR_ARG(str_head(said, LIMIT_NAME_BYTES)));
}

bool document_rule_profile(const struct document_after *after,
			   const struct document_subject *subject, struct document_decision *d,
			   struct error *error)
{
	const struct pipeline_profile *profile = subject->value;
	if (profile == NULL) {
		if (!str_equal(document_active_profile(after, d->arena), subject->name))
			return true;
		return fail(error, ERROR_CONFLICT,
			    "profile " STR_FMT
			    " is the active profile: activate another one before deleting it",
			    STR_ARG(subject->name));
	}
	if (!named_so(subject, profile->name, error))
		return false;
	check_profile_secrets(profile, &d->problems);
	return problems_fail(&d->problems, error);
}

bool document_rule_agent(const struct document_after *after, const struct document_subject *subject,
			 struct document_decision *d, struct error *error)
{
	(void)after;
	const struct run_agent *agent = subject->value;
	if (agent == NULL)
		return true;
	if (!named_so(subject, agent->name, error))
		return false;
	document_check_secrets(agent->options, S("/options"), &d->problems);
	check_sandbox(agent->sandbox, S("/sandbox"), &d->problems);
	if (has(agent->llm_config, endpoint) && has_password(agent->llm_config->endpoint))
		problems_add(&d->problems, S("/llm_config/endpoint"), 0, 0,
			     "must not contain a password; refer to the key in api_key");
	return problems_fail(&d->problems, error);
}

/* A schedule without progress would never be due, and progress without a schedule has nothing to
 * start: both are created and deleted together. */
static bool come_and_go_together(const struct document_after *after,
				 const struct document_subject *subject, enum document_kind other,
				 struct error *error)
{
	bool there = document_body_after(after, other, subject->name).size > 0;
	struct str kind = document_kind_name(subject->kind), of = document_kind_name(other);
	return there == (subject->value != NULL) ||
	       fail(error, ERROR_INVALID,
		    STR_FMT " " STR_FMT " and its " STR_FMT " must be created and deleted together",
		    STR_ARG(kind), STR_ARG(subject->name), STR_ARG(of));
}

bool document_rule_schedule(const struct document_after *after,
			    const struct document_subject *subject, struct document_decision *d,
			    struct error *error)
{
	const struct run_schedule *schedule = subject->value;
	if (!come_and_go_together(after, subject, DOCUMENT_SCHEDULE_PROGRESS, error))
		return false;
	if (schedule == NULL)
		return true;
	if (!named_so(subject, schedule->name, error))
		return false;
	document_check_secrets(schedule->inputs, S("/inputs"), &d->problems);
	return problems_fail(&d->problems, error);
}

bool document_rule_schedule_progress(const struct document_after *after,
				     const struct document_subject *subject,
				     struct document_decision *d, struct error *error)
{
	(void)d;
	return come_and_go_together(after, subject, DOCUMENT_SCHEDULE, error);
}

bool document_rule_webhook(const struct document_after *after,
			   const struct document_subject *subject, struct document_decision *d,
			   struct error *error)
{
	(void)after;
	const struct run_stored_webhook *webhook = subject->value;
	if (webhook == NULL)
		return true;
	if (!named_so(subject, webhook->name, error))
		return false;
	if (has(webhook, url) && has_password(webhook->url))
		problems_add(&d->problems, S("/url"), 0, 0,
			     "must not contain a password; use url_secret, or user and secret");
	return problems_fail(&d->problems, error);
}

bool document_rule_trigger(const struct document_after *after,
			   const struct document_subject *subject, struct document_decision *d,
			   struct error *error)
{
	(void)after;
	const struct run_trigger *trigger = subject->value;
	if (trigger == NULL)
		return true;
	if (!named_so(subject, trigger->name, error))
		return false;
	document_check_secrets(trigger->inputs, S("/inputs"), &d->problems);
	return problems_fail(&d->problems, error);
}

bool document_rule_mcp_server(const struct document_after *after,
			      const struct document_subject *subject, struct document_decision *d,
			      struct error *error)
{
	(void)after;
	const struct graph_mcp_server *server = subject->value;
	if (server == NULL)
		return true;
	if (!named_so(subject, server->name, error))
		return false;
	const struct graph_server_config *config = server->config;
	const struct str_map none = { NULL, 0 };
	bool stdio = config->kind == GRAPH_SERVER_STDIO;
	struct str_map values = stdio                          ? config->as.stdio->env
				: has(config->as.sse, headers) ? config->as.sse->headers
							       : none;
	for (size_t i = 0; i < values.count; i++) {
		struct str name = values.at[i].key, value = values.at[i].value;
		if (is_secret_name(name) && !is_reference(value) && !str_starts(value, S("${")))
			problems_add(
				&d->problems,
				step_into(stdio ? S("/config/env") : S("/config/headers"), name,
					  d->problems.arena),
				0, 0,
				"must be a reference to a secret: env:NAME, file:NAME or ${NAME}");
	}
	return problems_fail(&d->problems, error);
}

bool document_rule_single(const struct document_after *after,
			  const struct document_subject *subject, struct document_decision *d,
			  struct error *error)
{
	(void)after;
	(void)d;
	struct str kind = document_kind_name(subject->kind);
	return str_equal(subject->name, kind) ||
	       fail(error, ERROR_INVALID,
		    "the only document of kind " STR_FMT " is named like its kind", STR_ARG(kind));
}

bool document_rule_selected(const struct document_after *after,
			    const struct document_subject *subject, struct document_decision *d,
			    struct error *error)
{
	const struct run_selection *selection = subject->value;
	if (!document_rule_single(after, subject, d, error))
		return false;
	if (selection == NULL)
		return fail(error, ERROR_CONFLICT,
			    "the active profile cannot be unset: activate another profile");
	if (document_body_after(after, DOCUMENT_PROFILE, selection->active_profile).size > 0)
		return true;
	return fail(error, ERROR_NOT_FOUND, "there is no profile called " STR_FMT,
		    STR_ARG(selection->active_profile));
}

bool document_rule_key(const struct document_after *after, const struct document_subject *subject,
		       struct document_decision *d, struct error *error)
{
	(void)after;
	(void)d;
	const struct run_key *key = subject->value;
	char id[UUID_TEXT_SIZE];
	return key == NULL || named_so(subject, uuid_text(&key->id, id), error);
}

bool document_rule_trust(const struct document_after *after, const struct document_subject *subject,
			 struct document_decision *d, struct error *error)
{
	(void)after;
	(void)d;
	const struct run_trust *trust = subject->value;
	return trust == NULL || named_so(subject, trust->name, error);
}

bool document_rule_definition(const struct document_after *after,
			      const struct document_subject *subject, struct document_decision *d,
			      struct error *error)
{
	const struct run_stored_definition *definition = subject->value;
	if (definition == NULL)
		return true;
	if (!named_so(subject, definition->name, error))
		return false;
	/* POST /api/workflows/validate has the same path. */
	if (str_equal(definition->name, S("validate")))
		return fail(error, ERROR_INVALID,
			    "a workflow cannot be called validate: the name is reserved; choose "
			    "another one");
	struct str version = document_version_name(definition->name, definition->version, d->arena);
	return document_body_after(after, DOCUMENT_DEFINITION_VERSION, version).size > 0 ||
	       fail(error, ERROR_INVALID, "workflow " STR_FMT " has no version %lld",
		    STR_ARG(definition->name), (long long)definition->version);
}

bool document_rule_definition_version(const struct document_after *after,
				      const struct document_subject *subject,
				      struct document_decision *d, struct error *error)
{
	(void)after;
	const struct run_definition_version *version = subject->value;
	if (version == NULL)
		return fail(error, ERROR_CONFLICT, "versions of a workflow are never deleted");
	return named_so(subject,
			document_version_name(version->workflow, version->version, d->arena),
			error);
}

bool document_rule_prompt(const struct document_after *after,
			  const struct document_subject *subject, struct document_decision *d,
			  struct error *error)
{
	const struct run_stored_prompt *prompt = subject->value;
	if (prompt == NULL)
		return true;
	if (!named_so(subject, prompt->id, error))
		return false;
	struct str version = document_version_name(prompt->id, prompt->version, d->arena);
	return document_body_after(after, DOCUMENT_PROMPT_VERSION, version).size > 0 ||
	       fail(error, ERROR_INVALID, "prompt " STR_FMT " has no version %lld",
		    STR_ARG(prompt->id), (long long)prompt->version);
}

/* Which names a template may read depends on the step that uses it; its syntax does not. */
bool document_rule_prompt_version(const struct document_after *after,
				  const struct document_subject *subject,
				  struct document_decision *d, struct error *error)
{
	(void)after;
	const struct run_prompt_version *version = subject->value;
	const struct jinja_template *template;
	if (version == NULL)
		return fail(error, ERROR_CONFLICT, "versions of a prompt are never deleted");
	if (!named_so(subject, document_version_name(version->prompt, version->version, d->arena),
		      error))
		return false;
	return jinja_parse(version->prompt, version->content, &(struct jinja_options){ 0 },
			   d->arena, &template, error);
}

bool document_rule_project(const struct document_after *after,
			   const struct document_subject *subject, struct document_decision *d,
			   struct error *error)
{
	(void)after;
	(void)d;
	const struct run_project *project = subject->value;
	char id[UUID_TEXT_SIZE];
	return project == NULL || named_so(subject, uuid_text(&project->id, id), error);
}

/* The names of contracts/documents.def: a kind, and a name behind a colon for agents and profiles. */
bool document_rule_budget(const struct document_after *after,
			  const struct document_subject *subject, struct document_decision *d,
			  struct error *error)
{
	(void)after;
	(void)d;
	static const char *const prefixes[] = { "agent:", "profile:" };
	if (subject->value == NULL || str_equal(subject->name, S("day")) ||
	    str_equal(subject->name, S("server")))
		return true;
	for (size_t i = 0; i < COUNT(prefixes); i++)
		if (str_starts(subject->name, str_from_c(prefixes[i])) &&
		    subject->name.size > str_from_c(prefixes[i]).size)
			return true;
	return fail(error, ERROR_INVALID,
		    "a budget is named agent:NAME, profile:NAME, day or server, not " STR_FMT,
		    STR_ARG(subject->name));
}
