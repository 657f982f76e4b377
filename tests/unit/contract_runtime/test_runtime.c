/* The workflow runtime's vocabulary: every entity by a document, every rule by a mistake. */
#include "runtime_documents.h"

#include "contract/runtime_types.h"

#define STATUSES   "pending, running, success, failed, skipped, retrying"
#define SEVERITIES "critical, high, medium, low, info"
#define CATEGORIES                                                                  \
	"secret, pii, prompt_injection, unicode_anomaly, private_key, credential, " \
	"connection_string, ip_address, email, phone, financial"
#define EVENTS                                                                   \
	"workflow_start, step_start, step_end, workflow_end, evaluation_start, " \
	"evaluation_complete, error, keepalive"

static const struct mistake mistakes[] = {
	/* the server */
	{ runtime_dag_node_model_type, "/layer", "-1", "/layer: must be at least 0, got -1" },
	{ runtime_dag_node_model_type, "/x", "-1", "/x: must be at least 0, got -1" },
	{ runtime_dag_node_model_type, "/y", "-1", "/y: must be at least 0, got -1" },
	{ runtime_dag_node_model_type, "/width", "0", "/width: must be at least 1, got 0" },
	{ runtime_dag_node_model_type, "/height", "0", "/height: must be at least 1, got 0" },
	{ runtime_dag_point_type, "/x", "-1", "/x: must be at least 0, got -1" },
	{ runtime_dag_point_type, "/y", "-1", "/y: must be at least 0, got -1" },
	{ runtime_dag_response_type, "/width", "-1", "/width: must be at least 0, got -1" },
	{ runtime_dag_response_type, "/height", "-1", "/height: must be at least 0, got -1" },
	{ runtime_dag_response_type, "/nodes_left_out", "-1",
	  "/nodes_left_out: must be at least 0, got -1" },
	{ runtime_dag_response_type, "/edges_left_out", "-1",
	  "/edges_left_out: must be at least 0, got -1" },
	{ runtime_plan_type, "/steps_left_out", "-1",
	  "/steps_left_out: must be at least 0, got -1" },
	{ runtime_plan_step_type, "/stage", "0", "/stage: must be at least 1, got 0" },
	{ runtime_workflow_version_type, "/version", "0", "/version: must be at least 1, got 0" },
	{ runtime_workflow_version_type, "/bytes", "-1", "/bytes: must be at least 0, got -1" },
	{ runtime_workflow_editor_request_type, "/prompts_folder", "\"\"",
	  "/prompts_folder: must have at least 1 characters, got 0" },
	{ runtime_workflow_run_request_type, "/prompts_folder", "\"\"",
	  "/prompts_folder: must have at least 1 characters, got 0" },
	{ runtime_workflow_run_request_type, "/record", "\"\"",
	  "/record: must have at least 1 characters, got 0" },
	{ runtime_workflow_run_request_type, "/record", "\"../x\"",
	  "/record: \"../x\" does not match ^[A-Za-z0-9_][A-Za-z0-9_.-]*$" },
	{ runtime_workflow_run_request_type, "/replay", "\"\"",
	  "/replay: must have at least 1 characters, got 0" },
	{ runtime_workflow_run_request_type, "/replay", "\"../x\"",
	  "/replay: \"../x\" does not match ^[A-Za-z0-9_][A-Za-z0-9_.-]*$" },
	{ runtime_health_response_type, "/healthy", "true",
	  "/healthy: is not a field of runtime.HealthResponse" },
	{ runtime_workflow_run_request_type, "/workflow", "\"\"",
	  "/workflow: must have at least 1 characters, got 0" },
	{ runtime_workflow_run_request_type, "/inputs", "[]",
	  "/inputs: must be an object, got list" },
	{ runtime_workflow_run_request_type, "/adapter", "null",
	  "/adapter: must be a string, got null" },
	{ runtime_workflow_run_request_type, "/run_id", "\"../x\"",
	  "/run_id: must be a UUID, got string \"../x\"" },
	{ runtime_workflow_run_request_type, "/priority", "-101",
	  "/priority: must be at least -100, got -101" },
	{ runtime_workflow_run_request_type, "/priority", "101",
	  "/priority: must be at most 100, got 101" },
	{ runtime_workflow_run_request_type, "/alone", "\"\"",
	  "/alone: must have at least 1 characters, got 0" },
	{ runtime_workflow_run_request_type, "/labels", "{\"-a\": \"b\"}",
	  "/labels: \"-a\" is not a label name; use 1 to 63 letters, digits, and . - / _ behind the first" },
	{ runtime_workflow_run_request_type, "/labels", "{\"a\": \"b\\n\"}",
	  "/labels: the value of a must have at most 256 bytes and no control characters" },
	{ runtime_workflow_run_request_type, "/retention_days", "-1",
	  "/retention_days: must be at least 0, got -1" },
	{ runtime_workflow_run_request_type, "/retention_days", "36501",
	  "/retention_days: must be at most 36500, got 36501" },
	{ runtime_workflow_run_request_type, "/profile", "\"\"",
	  "/profile: must have at least 1 characters, got 0" },
	{ runtime_workflow_run_request_type, "/plan_path_pattern", "\"\"",
	  "/plan_path_pattern: must have at least 1 characters, got 0" },
	{ runtime_workflow_run_request_type, "/budget_usd", "-1",
	  "/budget_usd: must be at least 0, got -1" },
	{ runtime_workflow_run_request_type, "/budget_usd", "1000001",
	  "/budget_usd: must be at most 1000000, got 1000001" },
	{ runtime_step_result_model_type, "/duration_ms", "-1",
	  "/duration_ms: must be at least 0, got -1" },
	{ runtime_step_result_model_type, "/output", "\"done\"",
	  "/output: must be an object, got string \"done\"" },
	{ runtime_workflow_result_model_type, "/duration_ms", "-1",
	  "/duration_ms: must be at least 0, got -1" },
	{ runtime_workflow_result_model_type, "/steps/0/agent", "7",
	  "/steps/0/agent: must be a string, got integer 7" },
	{ runtime_agent_info_type, "/model_tier", "\"tier3\"",
	  "/model_tier: \"tier3\" is not one of fast, standard, powerful" },
	{ runtime_dag_response_type, "/nodes/1/id", "\"analyze\"",
	  "/nodes: two nodes have the id \"analyze\"\n/edges: \"join\" is not a node" },
	{ runtime_dag_response_type, "/edges/0/source", "\"lint\"",
	  "/edges: \"lint\" is not a node" },
	{ runtime_dag_response_type, "/edges/0/target", "\"lint\"",
	  "/edges: \"lint\" is not a node" },
	{ runtime_workflow_editor_response_type, "/is_valid", "true",
	  "/validation_errors: must be empty when is_valid is true" },
	{ runtime_workflow_editor_response_type, "/validation_errors", "[]",
	  "/validation_errors: must say what is wrong when is_valid is false" },
	{ runtime_workflow_validation_response_type, "/is_valid", "false",
	  "/errors: must say what is wrong when is_valid is false" },
	{ runtime_workflow_validation_response_type, "/errors", "[\"bad\"]",
	  "/errors: must be empty when is_valid is true" },
	{ runtime_run_summary_model_type, "/duration_ms", "-1",
	  "/duration_ms: must be at least 0, got -1" },
	{ runtime_run_summary_model_type, "/step_count", "-1",
	  "/step_count: must be at least 0, got -1" },
	{ runtime_runs_summary_response_type, "/total_runs", "-1",
	  "/total_runs: must be at least 0, got -1" },
	{ runtime_runs_summary_response_type, "/successful_runs", "-1",
	  "/successful_runs: must be at least 0, got -1" },
	{ runtime_runs_summary_response_type, "/failed_runs", "-1",
	  "/failed_runs: must be at least 0, got -1" },
	{ runtime_runs_summary_response_type, "/successful_runs", "5",
	  "/successful_runs: must not be above total_runs" },
	{ runtime_runs_summary_response_type, "/failed_runs", "2",
	  "/failed_runs: must not be above total_runs without successful_runs" },
	{ runtime_runs_summary_response_type, "/failed_runs", "9223372036854775807",
	  "/failed_runs: must not be above total_runs without successful_runs" },
	{ runtime_runs_summary_response_type, "/success_rate", "-0.1",
	  "/success_rate: must be at least 0, got -0.1" },
	{ runtime_runs_summary_response_type, "/success_rate", "75",
	  "/success_rate: must be at most 1, got 75" },
	{ runtime_runs_summary_response_type, "/avg_duration_ms", "-0.5",
	  "/avg_duration_ms: must be at least 0, got -0.5" },
	{ runtime_runs_summary_response_type, "/workflows/1", "\"code_review\"",
	  "/workflows/1: is listed twice" },
	{ runtime_workflow_evaluation_request_type, "/sample_limit", "0",
	  "/sample_limit: must be at least 1, got 0" },
	{ runtime_evaluation_dataset_option_type, "/sample_count", "-1",
	  "/sample_count: must be at least 0, got -1" },
	{ runtime_workflow_execution_profile_request_type, "/trace_depth", "0",
	  "/trace_depth: must be at least 1, got 0" },
	/* messages and results */
	{ runtime_finding_type, "/severity", "\"urgent\"",
	  "/severity: \"urgent\" is not one of " SEVERITIES },
	{ runtime_finding_type, "/line", "0", "/line: must be at least 1, got 0" },
	{ runtime_review_report_type, "/status", "\"APPROVED\"",
	  "/status: \"APPROVED\" is not one of approved, changes_requested, rejected; "
	  "did you mean \"approved\"?" },
	{ runtime_agent_message_type, "/type", "\"chat\"",
	  "/type: \"chat\" is not one of task, response, error, status, tool_call, tool_result" },
	{ runtime_step_result_type, "/status", "\"completed\"",
	  "/status: \"completed\" is not one of " STATUSES },
	{ runtime_step_result_type, "/retry_count", "-1",
	  "/retry_count: must be at least 0, got -1" },
	{ runtime_step_result_type, "/status", "\"failed\"",
	  "/error: is required when status is failed" },
	{ runtime_step_result_type, "/error", "\"It broke.\"",
	  "/error: must be null when status is success" },
	{ runtime_workflow_result_type, "/status", "\"queued\"",
	  "/status: \"queued\" is not one of " STATUSES },
	{ runtime_workflow_result_type, "/duration_ms", "-1",
	  "/duration_ms: must be at least 0, got -1" },
	{ runtime_workflow_result_type, "/status", "\"failed\"",
	  "/error: is required when status is failed" },
	{ runtime_workflow_result_type, "/error", "\"It broke.\"",
	  "/error: must be null when status is success" },
	{ runtime_workflow_result_type, "/steps/0/messages/0/timestamp", "\"today\"",
	  "/steps/0/messages/0/timestamp: must be a time such as \"2026-01-31T09:30:00Z\", "
	  "got string \"today\"" },
	/* what agents are given and give */
	{ runtime_task_input_type, "/context", "null", "/context: must be an object, got null" },
	{ runtime_task_output_type, "/success", "false",
	  "/error: is required when success is false" },
	{ runtime_task_output_type, "/error", "\"It broke.\"",
	  "/error: must be null when success is true" },
	{ runtime_code_generation_output_type, "/success", "false",
	  "/error: is required when success is false" },
	{ runtime_code_issue_type, "/severity", "\"urgent\"",
	  "/severity: \"urgent\" is not one of " SEVERITIES },
	{ runtime_code_issue_type, "/category", "\"taste\"",
	  "/category: \"taste\" is not one of security, performance, style, correctness, "
	  "maintainability, documentation" },
	{ runtime_code_issue_type, "/line_start", "0", "/line_start: must be at least 1, got 0" },
	{ runtime_code_issue_type, "/line_end", "0", "/line_end: must be at least 1, got 0" },
	{ runtime_code_issue_type, "/line_end", "3",
	  "/line_start: is required when line_end is given" },
	{ runtime_code_review_output_type, "/issues/0/line_start", "2",
	  "/issues/0/line_end: must not be before line_start" },
	{ runtime_code_review_input_type, "/focus_areas/1", "\"taste\"",
	  "/focus_areas/1: \"taste\" is not one of security, performance, style, correctness, "
	  "maintainability, documentation" },
	{ runtime_code_review_input_type, "/severity_threshold", "\"urgent\"",
	  "/severity_threshold: \"urgent\" is not one of " SEVERITIES },
	{ runtime_code_review_input_type, "/context", "{}",
	  "/context: must be a string, got object" },
	{ runtime_code_review_output_type, "/recommendation", "\"merge\"",
	  "/recommendation: \"merge\" is not one of approved, changes_requested, rejected" },
	{ runtime_code_review_output_type, "/quality_score", "-0.5",
	  "/quality_score: must be at least 0, got -0.5" },
	{ runtime_code_review_output_type, "/quality_score", "10.5",
	  "/quality_score: must be at most 10, got 10.5" },
	{ runtime_code_review_output_type, "/error", "\"It broke.\"",
	  "/error: must be null when success is true" },
	{ runtime_test_case_type, "/type", "\"manual\"",
	  "/type: \"manual\" is not one of unit, integration, e2e, performance, security" },
	{ runtime_test_generation_input_type, "/test_types/0", "\"manual\"",
	  "/test_types/0: \"manual\" is not one of unit, integration, e2e, performance, security" },
	{ runtime_test_generation_input_type, "/coverage_target", "-0.1",
	  "/coverage_target: must be at least 0, got -0.1" },
	{ runtime_test_generation_input_type, "/coverage_target", "80",
	  "/coverage_target: must be at most 1, got 80" },
	{ runtime_test_generation_output_type, "/estimated_coverage", "-0.1",
	  "/estimated_coverage: must be at least 0, got -0.1" },
	{ runtime_test_generation_output_type, "/estimated_coverage", "1.5",
	  "/estimated_coverage: must be at most 1, got 1.5" },
	{ runtime_test_generation_output_type, "/success", "false",
	  "/error: is required when success is false" },
	/* sanitisation and verification */
	{ runtime_sanitization_finding_type, "/category", "\"password\"",
	  "/category: \"password\" is not one of " CATEGORIES },
	{ runtime_sanitization_finding_type, "/severity", "\"info\"",
	  "/severity: \"info\" is not one of critical, high, medium, low" },
	{ runtime_sanitization_result_type, "/classification", "\"dirty\"",
	  "/classification: \"dirty\" is not one of clean, redacted, blocked, requires_approval" },
	{ runtime_sanitization_result_type, "/cleaned_content", "\"x\"",
	  "/cleaned_content: must be null when classification is blocked" },
	{ runtime_sanitization_result_type, "/classification", "\"redacted\"",
	  "/cleaned_content: is required when classification is redacted" },
	{ runtime_sanitization_result_type, "/processing_time_ms", "-1",
	  "/processing_time_ms: must be at least 0, got -1" },
	{ runtime_verification_policy_type, "/max_correction_attempts", "-1",
	  "/max_correction_attempts: must be at least 0, got -1" },
	{ runtime_verification_policy_type, "/timeout_seconds", "0",
	  "/timeout_seconds: must be above 0, got 0" },
	{ runtime_correction_attempt_type, "/attempt_number", "0",
	  "/attempt_number: must be at least 1, got 0" },
	{ runtime_correction_attempt_type, "/outcome", "\"done\"",
	  "/outcome: \"done\" is not one of success, partial, failed" },
	{ runtime_correction_attempt_type, "/duration_ms", "-1",
	  "/duration_ms: must be at least 0, got -1" },
	{ runtime_verification_result_type, "/status", "\"done\"",
	  "/status: \"done\" is not one of passed, failed, corrected, uncorrectable" },
	{ runtime_verification_result_type, "/total_duration_ms", "-1",
	  "/total_duration_ms: must be at least 0, got -1" },
	{ runtime_verification_result_type, "/error", "null",
	  "/error: is required when status is uncorrectable" },
	{ runtime_verification_result_type, "/status", "\"passed\"",
	  "/error: must be null when the output was accepted" },
	{ runtime_verification_result_type, "/criteria_results/compiles", "\"yes\"",
	  "/criteria_results/compiles: must be true or false, got string \"yes\"" },
	{ runtime_memory_search_type, "/limit", "0", "/limit: must be at least 1, got 0" },
	/* the stream */
	{ runtime_step_end_event_type, "/status", "\"completed\"",
	  "/status: \"completed\" is not one of " STATUSES },
	{ runtime_step_end_event_type, "/duration_ms", "-1",
	  "/duration_ms: must be at least 0, got -1" },
	{ runtime_workflow_end_event_type, "/status", "\"completed\"",
	  "/status: \"completed\" is not one of " STATUSES },
	{ runtime_workflow_end_event_type, "/duration_ms", "-1",
	  "/duration_ms: must be at least 0, got -1" },
	{ runtime_stream_event_type, "/event", "\"tick\"",
	  "/event: \"tick\" is not one of " EVENTS },
	{ runtime_stream_event_type, "/event", "\"keepalive\"",
	  "/data/step_id: is not a field of runtime.KeepaliveEvent\n"
	  "/data/status: is not a field of runtime.KeepaliveEvent\n"
	  "/data/output: is not a field of runtime.KeepaliveEvent\n"
	  "/data/duration_ms: is not a field of runtime.KeepaliveEvent\n"
	  "/data/error: is not a field of runtime.KeepaliveEvent" },
};

static struct module runtime(void)
{
	return (struct module){ FOLDER, runtime_module_types, runtime_module_type_count, mistakes,
				COUNT(mistakes) };
}

Test(runtime, rows_have_no_mistakes)
{
	struct error error = { .text = "" };
	cr_assert(contract_self_test(runtime_module_types, runtime_module_type_count, &error), "%s",
		  error.text);
}

Test(runtime, every_entity_has_a_document)
{
	struct module module = runtime();
	test_every_entity_has_a_document(&module);
}

Test(runtime, documents_print_as_they_should)
{
	struct module module = runtime();
	test_documents_print_as_they_should(&module);
}

Test(runtime, every_name_of_the_seed_is_there)
{
	struct module module = runtime();
	test_every_name_is_there(&module);
}

Test(runtime, mistakes_are_told)
{
	struct module module = runtime();
	test_mistakes(&module);
}

Test(runtime, every_rule_has_a_mistake)
{
	struct module module = runtime();
	test_every_rule_has_a_mistake(&module);
}

Test(runtime, required_fields_are_missed)
{
	struct module module = runtime();
	test_required_fields_are_missed(&module);
}

/* ---- derived members -------------------------------------------------------------------- */

static const struct runtime_step_result *step(struct arena *arena, const char *pointer,
					      const char *value)
{
	struct module module = runtime();
	struct problems problems = { 0 };
	const struct json *json =
		document(&module, runtime_step_result_type(), arena, pointer, value);
	const void *got = document_read(runtime_step_result_type(), json, arena, &problems);
	cr_assert_not_null(got, STR_FMT, STR_ARG(problems_text(&problems, arena)));
	return got;
}

Test(runtime, duration_needs_both_times)
{
	AUTO(arena) arena = { 0 };
	cr_assert(!has(step(&arena, "/started_at", "null"), duration_ms));
	cr_assert(!has(step(&arena, "/completed_at", NULL), duration_ms));
	cr_assert_eq(step(&arena, "/completed_at", "\"2026-01-12T09:00:00.0019Z\"")->duration_ms,
		     1);
}

Test(runtime, duration_is_never_negative)
{
	AUTO(arena) arena = { 0 };
	cr_assert_eq(step(&arena, "/completed_at", "\"2026-01-12T08:00:00Z\"")->duration_ms, 0);
}

Test(runtime, success_rate_counts_the_attempts)
{
	AUTO(arena) arena = { 0 };
	cr_assert_eq(step(&arena, "/retry_count", "0")->success_rate, 1.0);
	cr_assert_eq(step(&arena, "/retry_count", "3")->success_rate, 0.25);
	const char *open[] = { "\"pending\"", "\"running\"", "\"skipped\"", "\"retrying\"" };
	for (size_t i = 0; i < COUNT(open); i++)
		cr_assert(!has(step(&arena, "/status", open[i]), success_rate), "%s", open[i]);
}

Test(runtime, a_failed_step_has_succeeded_at_nothing)
{
	AUTO(arena) arena = { 0 };
	struct runtime_step_result *value =
		arena_copy(&arena, step(&arena, NULL, NULL), sizeof(struct runtime_step_result));
	value->status = RUNTIME_STEP_FAILED;
	runtime_step_result_make(value, &arena, NULL);
	cr_assert(has(value, success_rate));
	cr_assert_eq(value->success_rate, 0.0);
}

Test(runtime, counts_are_made_for_code_too)
{
	AUTO(arena) arena = { 0 };
	struct runtime_finding findings[3];
	for (size_t i = 0; i < COUNT(findings); i++) {
		findings[i] = *runtime_finding_new(&arena);
		SET(&findings[i], severity,
		    i == 0 ? RUNTIME_FINDING_CRITICAL : RUNTIME_FINDING_HIGH);
	}
	struct runtime_review_report *report = runtime_review_report_new(&arena);
	SET(report, findings, (struct runtime_finding_list){ findings, COUNT(findings) });
	runtime_review_report_make(report, &arena, NULL);
	cr_assert_eq(report->critical_count, 1);
	cr_assert_eq(report->high_count, 2);
}

/* ---- the stream ------------------------------------------------------------------------- */

/* Each payload's own document, in an envelope that names it. */
Test(runtime, every_event_has_its_data)
{
	AUTO(arena) arena = { 0 };
	struct module module = runtime();
	const struct type *data = runtime_stream_data_type();
	cr_assert_eq(data->case_count, runtime_stream_event_type_count());
	for (size_t i = 0; i < data->case_count; i++) {
		const struct json *body =
			document(&module, data->cases[i].of(), &arena, NULL, NULL);
		struct str text = json_print(&arena, body);
		struct str whole =
			str_format(&arena, "{\"event\":\"" STR_FMT "\",\"data\":" STR_FMT "}",
				   STR_ARG(data->cases[i].tag), STR_ARG(text));
		const struct json *json;
		struct error error;
		struct problems problems = { 0 };
		cr_assert(json_read(whole, &arena, &json, &error), "%s", error.text);
		const struct runtime_stream_event *event =
			document_read(runtime_stream_event_type(), json, &arena, &problems);
		cr_assert_not_null(event, STR_FMT, STR_ARG(problems_text(&problems, &arena)));
		cr_assert_eq((size_t)event->data->kind, i);
		cr_assert_eq((size_t)event->event, i);
	}
}

Test(runtime, a_corrected_output_was_corrected)
{
	AUTO(arena) arena = { 0 };
	const char *text = "{\"status\":\"corrected\",\"criteria_results\":{},\"corrections\":[],"
			   "\"total_duration_ms\":1,\"error\":\"x\"}";
	const struct json *json;
	struct error error;
	struct problems problems = { 0 };
	cr_assert(json_read(str_from_c(text), &arena, &json, &error), "%s", error.text);
	cr_assert_null(document_read(runtime_verification_result_type(), json, &arena, &problems));
	cr_assert_eq(problems.count, 2);
	cr_assert(str_equal(problems.at[0].pointer, S("/error")));
	cr_assert(str_equal(problems.at[1].pointer, S("/corrections")));
	cr_assert(str_equal(problems.at[1].text, S("must have an item when status is corrected")));
}
