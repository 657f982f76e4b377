/* contract/check_pipeline.c -- rules that span several fields, for pipeline and pipeline_v1.
 *
 * The two vocabularies share most rules but no C types.  So each rule is one function on plain
 * values, with a short hook per entity.  Problem texts do not quote the document: the JSON pointer
 * shows the place.
 */
#include "contract/pipeline_types.h"
#include "contract/pipeline_v1_types.h"

/* ---- shared rules ---------------------------------------------------------------------- */

static void delays_check(double base_delay, double max_delay, struct check *check)
{
	if (base_delay > max_delay)
		check_fail(check, "base_delay",
			   "must not be above max_delay: %.15g is more than %.15g", base_delay,
			   max_delay);
}

static void tokens_check(int64_t input, int64_t cache_read, struct check *check)
{
	if (cache_read > input)
		check_fail(check, "cache_read_tokens",
			   "is a part of input_tokens and must not be above it: %lld is more than "
			   "%lld",
			   (long long)cache_read, (long long)input);
}

/* One profile of a settings document: `key` is its key in the map, `name` its own name field. */
static void profile_name_check(struct str key, struct str name, size_t index, struct check *check)
{
	if (!str_equal(key, name))
		check_fail(
			check, "profiles",
			"the key of each profile must be its name; profile number %zu has another key",
			index + 1);
}

static void active_profile_check(bool found, struct check *check)
{
	if (!found)
		check_fail(check, "active_profile", "is not the name of one of the profiles");
}

/* ---- pipeline -------------------------------------------------------------------------- */

void pipeline_retry_config_check(const struct pipeline_retry_config *value, struct check *check)
{
	delays_check(value->base_delay, value->max_delay, check);
}

void pipeline_sandbox_config_check(const struct pipeline_sandbox_config *value, struct check *check)
{
	if (value->mode != PIPELINE_SANDBOX_DAYTONA)
		return;
	if (!has(value, repo_url) || value->repo_url.size == 0)
		check_fail(check, "repo_url",
			   "is required when mode is daytona: the sandbox clones it");
	if (value->network_allowlist_enabled)
		check_fail(check, "network_allowlist_enabled",
			   "must be false when mode is daytona: it cannot be enforced there");
}

void pipeline_settings_check(const struct pipeline_settings *value, struct check *check)
{
	bool found = false;
	for (size_t i = 0; i < value->profiles.count; i++) {
		const struct pipeline_profile_entry *entry = &value->profiles.at[i];
		profile_name_check(entry->key, entry->value.name, i, check);
		found = found || str_equal(entry->key, value->active_profile);
	}
	active_profile_check(found, check);
}

static void disposition_check(const struct pipeline_evaluated_item_list *items,
			      enum pipeline_disposition disposition, const char *field,
			      struct check *check)
{
	struct str expected = pipeline_disposition_name(disposition);
	for (size_t i = 0; i < items->count; i++) {
		enum pipeline_disposition got = items->at[i].disposition;
		struct str said = pipeline_disposition_name(got);
		if (got != disposition)
			check_fail(check, field,
				   "holds items with disposition " STR_FMT
				   "; number %zu has " STR_FMT,
				   STR_ARG(expected), i + 1, STR_ARG(said));
	}
}

void pipeline_evaluation_result_check(const struct pipeline_evaluation_result *value,
				      struct check *check)
{
	disposition_check(&value->items_to_implement, PIPELINE_DISPOSITION_IMPLEMENT,
			  "items_to_implement", check);
	disposition_check(&value->items_rejected, PIPELINE_DISPOSITION_REJECT, "items_rejected",
			  check);
	disposition_check(&value->items_deferred, PIPELINE_DISPOSITION_DEFER, "items_deferred",
			  check);
	disposition_check(&value->items_needing_clarification, PIPELINE_DISPOSITION_CLARIFY,
			  "items_needing_clarification", check);
}

/* Failures have level error, progress that a person follows has info, the rest has debug. */
static enum pipeline_event_level level_of(enum pipeline_event_type type)
{
	switch (type) {
	case PIPELINE_EVENT_WORKFLOW_FAILED:
	case PIPELINE_EVENT_TASK_FAILED:
	case PIPELINE_EVENT_SYSTEM_ERROR:
	case PIPELINE_EVENT_BRAINSTORM_MESSAGE_FAILED:
	case PIPELINE_EVENT_ORACLE_CONSULTATION_FAILED:
	case PIPELINE_EVENT_DOCUMENT_INGESTION_FAILED:
	case PIPELINE_EVENT_PLAN_VALIDATION_FAILED:
		return PIPELINE_LEVEL_ERROR;
	case PIPELINE_EVENT_SYSTEM_WARNING:
		return PIPELINE_LEVEL_WARNING;
	case PIPELINE_EVENT_WORKFLOW_CREATED:
	case PIPELINE_EVENT_WORKFLOW_STARTED:
	case PIPELINE_EVENT_WORKFLOW_COMPLETED:
	case PIPELINE_EVENT_WORKFLOW_CANCELLED:
	case PIPELINE_EVENT_STAGE_STARTED:
	case PIPELINE_EVENT_STAGE_COMPLETED:
	case PIPELINE_EVENT_APPROVAL_REQUIRED:
	case PIPELINE_EVENT_APPROVAL_GRANTED:
	case PIPELINE_EVENT_APPROVAL_REJECTED:
	case PIPELINE_EVENT_REVIEW_COMPLETED:
	case PIPELINE_EVENT_ORACLE_CONSULTATION_STARTED:
	case PIPELINE_EVENT_ORACLE_CONSULTATION_COMPLETED:
	case PIPELINE_EVENT_DOCUMENT_INGESTION_STARTED:
	case PIPELINE_EVENT_DOCUMENT_INGESTION_COMPLETED:
		return PIPELINE_LEVEL_INFO;
	case PIPELINE_EVENT_FILE_CREATED:
	case PIPELINE_EVENT_FILE_MODIFIED:
	case PIPELINE_EVENT_FILE_DELETED:
	case PIPELINE_EVENT_REVIEW_REQUESTED:
	case PIPELINE_EVENT_REVISION_REQUESTED:
	case PIPELINE_EVENT_AGENT_MESSAGE:
	case PIPELINE_EVENT_TASK_STARTED:
	case PIPELINE_EVENT_TASK_COMPLETED:
	case PIPELINE_EVENT_STREAM:
	case PIPELINE_EVENT_CLAUDE_THINKING:
	case PIPELINE_EVENT_CLAUDE_TOOL_CALL:
	case PIPELINE_EVENT_CLAUDE_TOOL_RESULT:
	case PIPELINE_EVENT_AGENT_OUTPUT:
	case PIPELINE_EVENT_BRAINSTORM_SESSION_CREATED:
	case PIPELINE_EVENT_BRAINSTORM_REASONING:
	case PIPELINE_EVENT_BRAINSTORM_TOOL_CALL:
	case PIPELINE_EVENT_BRAINSTORM_TOOL_RESULT:
	case PIPELINE_EVENT_BRAINSTORM_TEXT:
	case PIPELINE_EVENT_BRAINSTORM_ASK_USER:
	case PIPELINE_EVENT_BRAINSTORM_MESSAGE_COMPLETE:
	case PIPELINE_EVENT_BRAINSTORM_ARTIFACT_CREATED:
	case PIPELINE_EVENT_BRAINSTORM_SESSION_COMPLETED:
	case PIPELINE_EVENT_ORACLE_CONSULTATION_THINKING:
	case PIPELINE_EVENT_ORACLE_TOOL_CALL:
	case PIPELINE_EVENT_ORACLE_TOOL_RESULT:
	case PIPELINE_EVENT_DOCUMENT_INGESTION_PROGRESS:
	case PIPELINE_EVENT_PLAN_VALIDATED:
		break;
	}
	return PIPELINE_LEVEL_DEBUG;
}

void pipeline_workflow_event_compute(struct pipeline_workflow_event *value)
{
	if (!has(value, level))
		SET(value, level, level_of(value->event_type));
}

void pipeline_token_usage_check(const struct pipeline_token_usage *value, struct check *check)
{
	tokens_check(value->input_tokens, value->cache_read_tokens, check);
}

/* ---- pipeline_v1 ----------------------------------------------------------------------- */

void pipeline_v1_retry_config_check(const struct pipeline_v1_retry_config *value,
				    struct check *check)
{
	delays_check(value->base_delay, value->max_delay, check);
}

void pipeline_v1_profile_check(const struct pipeline_v1_profile *value, struct check *check)
{
	if (value->driver == PIPELINE_V1_DRIVER_API &&
	    (!has(value, model) || value->model.size == 0))
		check_fail(check, "model", "is required when driver is api");
}

void pipeline_v1_settings_check(const struct pipeline_v1_settings *value, struct check *check)
{
	bool found = false;
	for (size_t i = 0; i < value->profiles.count; i++) {
		const struct pipeline_v1_profile_entry *entry = &value->profiles.at[i];
		profile_name_check(entry->key, entry->value.name, i, check);
		found = found || str_equal(entry->key, value->active_profile);
	}
	active_profile_check(found, check);
}

/* pipeline_v1 defines is_queued by a status that its own execution state does not contain.  Code
 * that knows the status sets is_queued; for a document without it, a state in which nothing has
 * been done yet counts as queued. */
void pipeline_v1_execution_state_compute(struct pipeline_v1_execution_state *value)
{
	bool begun = has(value, base_commit) || has(value, goal) || has(value, plan_markdown) ||
		     has(value, plan_path) || has(value, human_approved) ||
		     has(value, last_review) || has(value, driver_session_id) ||
		     value->agent_history.count > 0 || value->tool_calls.count > 0 ||
		     value->tool_results.count > 0 || has(value, final_response) ||
		     has(value, error) || value->agentic_status != PIPELINE_V1_AGENTIC_RUNNING;
	if (!has(value, is_queued))
		SET(value, is_queued, !begun);
}

void pipeline_v1_token_usage_check(const struct pipeline_v1_token_usage *value, struct check *check)
{
	tokens_check(value->input_tokens, value->cache_read_tokens, check);
}
