/* contract/check_runtime.c -- rules of contracts/runtime.def that span several fields, and its
 * computed fields. */
#include "contract/runtime_types.h"

#include "base/limits.h"
#include "base/map.h"

/* ---- starts --------------------------------------------------------------------------- */

static bool is_label_name(struct str name)
{
	for (size_t i = 0; i < name.size; i++) {
		char c = name.at[i];
		bool plain =
			(c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		if (!plain && (i == 0 || (c != '.' && c != '-' && c != '/' && c != '_')))
			return false;
	}
	return name.size > 0 && name.size <= LIMIT_LABEL_NAME_BYTES;
}

static bool is_label_value(struct str value)
{
	for (size_t i = 0; i < value.size; i++)
		if ((unsigned char)value.at[i] < 0x20 || value.at[i] == 0x7f)
			return false;
	return value.size <= LIMIT_LABEL_BYTES;
}

void runtime_workflow_run_request_check(const struct runtime_workflow_run_request *value,
					struct check *check)
{
	if (value->labels.count > LIMIT_LABELS)
		check_fail(check, "labels", "must have at most %d labels", LIMIT_LABELS);
	for (size_t i = 0; i < value->labels.count && i < LIMIT_LABELS; i++) {
		const struct str_entry *label = &value->labels.at[i];
		if (!is_label_name(label->key))
			check_fail(check, "labels",
				   "\"" STR_FMT "\" is not a label name; use 1 to %d letters, "
				   "digits, and . - / _ behind the first",
				   STR_ARG(str_head(label->key, LIMIT_QUOTE_BYTES)),
				   LIMIT_LABEL_NAME_BYTES);
		else if (!is_label_value(label->value))
			check_fail(check, "labels",
				   "the value of " STR_FMT " must have at most %d bytes and no "
				   "control characters",
				   STR_ARG(label->key), LIMIT_LABEL_BYTES);
	}
	if (value->metadata != NULL && !json_text_within(value->metadata, LIMIT_METADATA_BYTES))
		check_fail(check, "metadata", "must not be longer than %d bytes as JSON",
			   LIMIT_METADATA_BYTES);
}

/* ---- the server ------------------------------------------------------------------------ */

void runtime_dag_response_check(const struct runtime_dag_response *value, struct check *check)
{
	AUTO(map) ids = { 0 };
	static char there;
	for (size_t i = 0; i < value->nodes.count; i++) {
		struct str id = value->nodes.at[i].id;
		if (map_get(&ids, id) != NULL)
			check_fail(check, "nodes", "two nodes have the id \"" STR_FMT "\"",
				   STR_ARG(id));
		map_put(&ids, id, &there);
	}
	for (size_t i = 0; i < value->edges.count; i++) {
		const struct runtime_dag_edge_model *edge = &value->edges.at[i];
		struct str ends[] = { edge->source, edge->target };
		for (size_t end = 0; end < COUNT(ends); end++)
			if (map_get(&ids, ends[end]) == NULL)
				check_fail(check, "edges", "\"" STR_FMT "\" is not a node",
					   STR_ARG(ends[end]));
	}
}

static void check_verdict(struct check *check, bool good, size_t errors, const char *field)
{
	if (good && errors > 0)
		check_fail(check, field, "must be empty when is_valid is true");
	else if (!good && errors == 0)
		check_fail(check, field, "must say what is wrong when is_valid is false");
}

void runtime_workflow_editor_response_check(const struct runtime_workflow_editor_response *value,
					    struct check *check)
{
	check_verdict(check, value->is_valid, value->validation_errors.count, "validation_errors");
}

void runtime_workflow_validation_response_check(
	const struct runtime_workflow_validation_response *value, struct check *check)
{
	check_verdict(check, value->is_valid, value->errors.count, "errors");
}

/* A subtraction, because the sum could overflow. */
void runtime_runs_summary_response_check(const struct runtime_runs_summary_response *value,
					 struct check *check)
{
	if (value->successful_runs > value->total_runs)
		check_fail(check, "successful_runs", "must not be above total_runs");
	else if (value->failed_runs > value->total_runs - value->successful_runs)
		check_fail(check, "failed_runs",
			   "must not be above total_runs without successful_runs");
}

/* ---- messages and results -------------------------------------------------------------- */

void runtime_review_report_compute(struct runtime_review_report *value)
{
	int64_t critical = 0, high = 0;
	for (size_t i = 0; i < value->findings.count; i++) {
		critical += value->findings.at[i].severity == RUNTIME_FINDING_CRITICAL;
		high += value->findings.at[i].severity == RUNTIME_FINDING_HIGH;
	}
	SET(value, critical_count, critical);
	SET(value, high_count, high);
}

/* The clock may be set back between start and end: a negative duration becomes 0. */
void runtime_step_result_compute(struct runtime_step_result *value)
{
	SET_NULL(value, duration_ms);
	SET_NULL(value, success_rate);
	if (has(value, started_at) && has(value, completed_at)) {
		bool forward = value->completed_at > value->started_at;
		SET(value, duration_ms,
		    forward ? (value->completed_at - value->started_at) / 1000 : 0);
	}
	if (value->status == RUNTIME_STEP_SUCCESS)
		SET(value, success_rate, 1.0 / ((double)value->retry_count + 1.0));
	else if (value->status == RUNTIME_STEP_FAILED)
		SET(value, success_rate, 0.0);
}

static void check_outcome(struct check *check, enum runtime_step_status status, bool has_error)
{
	if (status == RUNTIME_STEP_FAILED && !has_error)
		check_fail(check, "error", "is required when status is failed");
	else if (status == RUNTIME_STEP_SUCCESS && has_error)
		check_fail(check, "error", "must be null when status is success");
}

void runtime_step_result_check(const struct runtime_step_result *value, struct check *check)
{
	check_outcome(check, value->status, has(value, error));
}

void runtime_workflow_result_check(const struct runtime_workflow_result *value, struct check *check)
{
	check_outcome(check, value->status, has(value, error));
}

/* ---- inputs and outputs of agents ------------------------------------------------------ */

static void check_task(struct check *check, bool success, bool has_error)
{
	if (!success && !has_error)
		check_fail(check, "error", "is required when success is false");
	else if (success && has_error)
		check_fail(check, "error", "must be null when success is true");
}

void runtime_task_output_check(const struct runtime_task_output *value, struct check *check)
{
	check_task(check, value->success, has(value, error));
}

void runtime_code_generation_output_check(const struct runtime_code_generation_output *value,
					  struct check *check)
{
	check_task(check, value->success, has(value, error));
}

void runtime_code_issue_check(const struct runtime_code_issue *value, struct check *check)
{
	if (!has(value, line_end))
		return;
	if (!has(value, line_start))
		check_fail(check, "line_start", "is required when line_end is given");
	else if (value->line_end < value->line_start)
		check_fail(check, "line_end", "must not be before line_start");
}

void runtime_code_review_output_compute(struct runtime_code_review_output *value)
{
	int64_t critical = 0, high = 0;
	for (size_t i = 0; i < value->issues.count; i++) {
		critical += value->issues.at[i].severity == RUNTIME_SEVERITY_CRITICAL;
		high += value->issues.at[i].severity == RUNTIME_SEVERITY_HIGH;
	}
	SET(value, critical_count, critical);
	SET(value, high_count, high);
}

void runtime_code_review_output_check(const struct runtime_code_review_output *value,
				      struct check *check)
{
	check_task(check, value->success, has(value, error));
}

void runtime_test_generation_output_check(const struct runtime_test_generation_output *value,
					  struct check *check)
{
	check_task(check, value->success, has(value, error));
}

/* ---- sanitization and verification ----------------------------------------------------- */

void runtime_sanitization_result_check(const struct runtime_sanitization_result *value,
				       struct check *check)
{
	bool given = has(value, cleaned_content);
	if (value->classification == RUNTIME_CONTENT_BLOCKED && given)
		check_fail(check, "cleaned_content", "must be null when classification is blocked");
	else if (value->classification == RUNTIME_CONTENT_REDACTED && !given)
		check_fail(check, "cleaned_content", "is required when classification is redacted");
}

void runtime_verification_result_check(const struct runtime_verification_result *value,
				       struct check *check)
{
	bool corrected = value->status == RUNTIME_VERIFICATION_CORRECTED;
	bool good = corrected || value->status == RUNTIME_VERIFICATION_PASSED;
	if (value->status == RUNTIME_VERIFICATION_UNCORRECTABLE && !has(value, error))
		check_fail(check, "error", "is required when status is uncorrectable");
	else if (good && has(value, error))
		check_fail(check, "error", "must be null when the output was accepted");
	if (corrected && value->corrections.count == 0)
		check_fail(check, "corrections", "must have an item when status is corrected");
}
