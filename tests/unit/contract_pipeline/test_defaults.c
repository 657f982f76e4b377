/* The smallest valid documents and their printed form: every default of pipeline and pipeline_v1. */
#include "pipeline_support.h"

#define WORKFLOW "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
#define SESSION  "3f2504e0-4f89-41d3-9a0c-0305e82c3302"
#define MADE_ID  "01010101-0101-4101-8101-010101010101"
#define NOON     "2026-03-01T12:00:00Z"

#define RETRY "{\"max_retries\":3,\"base_delay\":1,\"max_delay\":60}"
#define SANDBOX                                                                                 \
	"{\"mode\":\"none\",\"image\":\"amelia-sandbox:latest\",\"network_allowlist_enabled\":" \
	"false,\"network_allowed_hosts\":[\"api.anthropic.com\",\"openrouter.ai\","             \
	"\"api.openai.com\",\"github.com\",\"app.daytona.io\"],\"repo_url\":null,"              \
	"\"daytona_api_url\":\"https://app.daytona.io/api\",\"daytona_target\":\"us\","         \
	"\"daytona_resources\":null,\"daytona_image\":\"python:3.12-slim\","                    \
	"\"daytona_snapshot\":null,\"daytona_timeout\":120}"
#define SERVER                                                                             \
	"{\"host\":\"127.0.0.1\",\"port\":8420,\"database_path\":\"~/.amelia/amelia.db\"," \
	"\"log_retention_days\":30,\"log_retention_max_events\":100000,"                   \
	"\"websocket_idle_timeout_seconds\":300,\"workflow_start_timeout_seconds\":60,"    \
	"\"max_concurrent\":5}"
#define BASE_GIVEN                                                                           \
	"\"workflow_id\":\"" WORKFLOW "\",\"profile_id\":\"p\",\"created_at\":\"" NOON "\"," \
	"\"status\":\"pending\""
#define BASE_REST                                                            \
	"\"history\":[],\"pending_user_input\":false,\"user_message\":null," \
	"\"driver_session_id\":null,\"final_response\":null,\"error\":null," \
	"\"oracle_consultations\":[]"
#define ISSUE_GIVEN  "\"id\":\"GH-456\",\"title\":\"t\",\"description\":\"d\""
#define CALL_GIVEN   "\"id\":\"c\",\"tool_name\":\"t\",\"tool_input\":{}"
#define RESULT_GIVEN "\"call_id\":\"c\",\"tool_name\":\"t\",\"output\":\"o\",\"success\":true"
#define USAGE_HEAD   "\"workflow_id\":\"w\",\"agent\":\"a\""
#define USAGE_MODEL  "\"model\":\"claude-sonnet-4-20250514\""
#define USAGE_PRINTED                                                      \
	"{\"id\":\"" MADE_ID "\"," USAGE_HEAD "," USAGE_MODEL              \
	",\"input_tokens\":1,\"output_tokens\":0,\"cache_read_tokens\":0," \
	"\"cache_creation_tokens\":0,\"cost_usd\":null,\"timestamp\":\"" NOON "\"}"
#define USAGE_GIVEN \
	"{" USAGE_HEAD ",\"input_tokens\":1,\"output_tokens\":0,\"timestamp\":\"" NOON "\"}"
#define STREAM_GIVEN                                       \
	"{\"type\":\"agent_output\",\"timestamp\":\"" NOON \
	"\",\"agent\":\"a\",\"workflow_id\":\"w\"}"
#define STREAM_PRINTED                                                                             \
	"{\"type\":\"agent_output\",\"id\":\"" MADE_ID "\",\"content\":null,\"timestamp\":\"" NOON \
	"\",\"agent\":\"a\",\"workflow_id\":\"w\",\"tool_name\":null,\"tool_input\":null}"

struct least {
	const char *type, *given, *printed;
};

static const struct least configuration[] = {
	{ "pipeline.RetryConfig", "{}", RETRY },
	{ "pipeline_v1.RetryConfig", "{}", RETRY },
	{ "pipeline.DaytonaResources", "{}", "{\"cpu\":2,\"memory\":4,\"disk\":10}" },
	{ "pipeline.SandboxConfig", "{}", SANDBOX },
	{ "pipeline.AgentConfig", "{\"driver\":\"api\",\"model\":\"m\"}",
	  "{\"driver\":\"api\",\"model\":\"m\",\"options\":{},\"sandbox\":" SANDBOX
	  ",\"profile_name\":\"default\"}" },
	{ "pipeline.Profile", "{\"name\":\"n\",\"repo_root\":\"/r\"}",
	  "{\"name\":\"n\",\"tracker\":\"noop\",\"repo_root\":\"/r\",\"plan_output_dir\":"
	  "\"docs/plans\",\"plan_path_pattern\":\"docs/plans/{date}-{issue_key}.md\","
	  "\"retry\":" RETRY ",\"agents\":{},\"sandbox\":" SANDBOX "}" },
	{ "pipeline_v1.Profile", "{\"name\":\"n\",\"driver\":\"cli\"}",
	  "{\"name\":\"n\",\"driver\":\"cli\",\"model\":null,\"tracker\":\"none\","
	  "\"working_dir\":null,\"plan_output_dir\":\"docs/plans\",\"retry\":" RETRY
	  ",\"max_review_iterations\":3,\"max_task_review_iterations\":5}" },
	{ "pipeline.ServerConfig", "{}", SERVER },
	{ "pipeline_v1.ServerConfig", "{}", SERVER },
};

static const struct least work[] = {
	{ "pipeline.Issue", "{" ISSUE_GIVEN "}", "{" ISSUE_GIVEN ",\"status\":\"open\"}" },
	{ "pipeline_v1.Issue", "{" ISSUE_GIVEN "}", "{" ISSUE_GIVEN ",\"status\":\"open\"}" },
	{ "pipeline.Design", "{\"content\":\"c\"}", "{\"content\":\"c\",\"source\":\"import\"}" },
	{ "pipeline_v1.Design",
	  "{\"title\":\"t\",\"goal\":\"g\",\"architecture\":\"a\",\"tech_stack\":[],"
	  "\"components\":[],\"raw_content\":\"r\"}",
	  "{\"title\":\"t\",\"goal\":\"g\",\"architecture\":\"a\",\"tech_stack\":[],"
	  "\"components\":[],\"data_flow\":null,\"error_handling\":null,\"testing_strategy\":null,"
	  "\"relevant_files\":[],\"conventions\":null,\"raw_content\":\"r\"}" },
	{ "pipeline.OracleConsultation",
	  "{\"timestamp\":\"" NOON "\",\"problem\":\"p\",\"model\":\"m\",\"session_id\":\"" SESSION
	  "\"}",
	  "{\"timestamp\":\"" NOON "\",\"problem\":\"p\",\"advice\":null,\"model\":\"m\","
	  "\"session_id\":\"" SESSION "\",\"workflow_id\":null,\"tokens\":{},\"cost_usd\":null,"
	  "\"files_consulted\":[],\"outcome\":\"success\",\"error_message\":null}" },
	{ "pipeline.ToolCall", "{" CALL_GIVEN "}", "{" CALL_GIVEN ",\"timestamp\":null}" },
	{ "pipeline_v1.ToolCall", "{" CALL_GIVEN "}", "{" CALL_GIVEN ",\"timestamp\":null}" },
	{ "pipeline.ToolResult", "{" RESULT_GIVEN "}",
	  "{" RESULT_GIVEN ",\"error\":null,\"duration_ms\":null}" },
	{ "pipeline_v1.ToolResult", "{" RESULT_GIVEN "}",
	  "{" RESULT_GIVEN ",\"error\":null,\"duration_ms\":null}" },
	{ "pipeline.AgenticState",
	  "{\"workflow_id\":\"" WORKFLOW "\",\"issue_key\":\"k\",\"goal\":\"g\"}",
	  "{\"workflow_id\":\"" WORKFLOW "\",\"issue_key\":\"k\",\"goal\":\"g\","
	  "\"system_prompt\":null,\"tool_calls\":[],\"tool_results\":[],\"final_response\":null,"
	  "\"status\":\"running\",\"error\":null,\"session_id\":null}" },
	{ "pipeline_v1.AgenticState", "{\"workflow_id\":\"w\",\"issue_key\":\"k\",\"goal\":\"g\"}",
	  "{\"workflow_id\":\"w\",\"issue_key\":\"k\",\"goal\":\"g\",\"system_prompt\":null,"
	  "\"tool_calls\":[],\"tool_results\":[],\"final_response\":null,\"status\":\"running\","
	  "\"error\":null,\"session_id\":null}" },
	{ "pipeline_v1.AgentMessage", "{\"role\":\"user\",\"content\":\"c\"}",
	  "{\"role\":\"user\",\"content\":\"c\",\"tool_calls\":null}" },
	{ "pipeline.DriverUsage", "{}",
	  "{\"input_tokens\":null,\"output_tokens\":null,\"cache_read_tokens\":null,"
	  "\"cache_creation_tokens\":null,\"cost_usd\":null,\"duration_ms\":null,"
	  "\"num_turns\":null,\"model\":null}" },
	{ "pipeline.AgenticMessage", "{\"type\":\"thinking\"}",
	  "{\"type\":\"thinking\",\"content\":null,\"tool_name\":null,\"tool_input\":null,"
	  "\"tool_output\":null,\"tool_call_id\":null,\"session_id\":null,\"is_error\":false,"
	  "\"model\":null,\"usage\":null}" },
	{ "pipeline.EvaluationResult", "{\"summary\":\"s\"}",
	  "{\"items_to_implement\":[],\"items_rejected\":[],\"items_deferred\":[],"
	  "\"items_needing_clarification\":[],\"summary\":\"s\"}" },
};

static const struct least states[] = {
	{ "pipeline.HistoryEntry", "{\"timestamp\":\"" NOON "\",\"agent\":\"a\",\"action\":\"b\"}",
	  "{\"timestamp\":\"" NOON "\",\"agent\":\"a\",\"action\":\"b\",\"detail\":null}" },
	{ "pipeline.BasePipelineState", "{\"pipeline_type\":\"review\"," BASE_GIVEN "}",
	  "{\"pipeline_type\":\"review\"," BASE_GIVEN "," BASE_REST "}" },
	{ "pipeline.ImplementationState", "{" BASE_GIVEN "}",
	  "{\"pipeline_type\":\"implementation\"," BASE_GIVEN "," BASE_REST
	  ",\"tool_calls\":[],\"tool_results\":[],\"agentic_status\":\"running\",\"issue\":null,"
	  "\"design\":null,\"goal\":null,\"base_commit\":null,\"plan_markdown\":null,"
	  "\"raw_architect_output\":null,\"architect_error\":null,\"plan_path\":null,"
	  "\"key_files\":[],\"human_approved\":null,\"human_feedback\":null,\"last_review\":null,"
	  "\"code_changes_for_review\":null,\"review_iteration\":0,"
	  "\"plan_validation_result\":null,\"plan_revision_count\":0,\"total_tasks\":1,"
	  "\"current_task_index\":0,\"task_review_iteration\":0,\"evaluation_result\":null,"
	  "\"approved_items\":[],\"review_pass\":0,\"max_review_passes\":3,"
	  "\"external_plan\":false}" },
	{ "pipeline_v1.ExecutionState", "{\"profile_id\":\"p\",\"created_at\":\"" NOON "\"}",
	  "{\"profile_id\":\"p\",\"issue\":null,\"design\":null,\"goal\":null,"
	  "\"base_commit\":null,\"plan_markdown\":null,\"plan_path\":null,\"human_approved\":null,"
	  "\"human_feedback\":null,\"last_review\":null,\"code_changes_for_review\":null,"
	  "\"driver_session_id\":null,\"agent_history\":[],\"tool_calls\":[],\"tool_results\":[],"
	  "\"agentic_status\":\"running\",\"created_at\":\"" NOON "\",\"final_response\":null,"
	  "\"error\":null,\"review_iteration\":0,\"total_tasks\":null,\"current_task_index\":0,"
	  "\"task_review_iteration\":0,\"structured_review\":null,\"evaluation_result\":null,"
	  "\"approved_items\":[],\"auto_approve\":false,\"review_pass\":0,"
	  "\"max_review_passes\":3,\"is_queued\":true}" },
	{ "pipeline.StreamEvent", STREAM_GIVEN, STREAM_PRINTED },
	{ "pipeline_v1.StreamEvent", STREAM_GIVEN, STREAM_PRINTED },
	{ "pipeline.WorkflowEvent",
	  "{\"id\":\"" SESSION "\",\"workflow_id\":\"" WORKFLOW "\",\"sequence\":0,"
	  "\"timestamp\":\"" NOON "\",\"agent\":\"a\",\"event_type\":\"stream\",\"message\":\"m\"}",
	  "{\"id\":\"" SESSION "\",\"domain\":\"workflow\",\"workflow_id\":\"" WORKFLOW "\","
	  "\"sequence\":0,\"timestamp\":\"" NOON "\",\"agent\":\"a\",\"event_type\":\"stream\","
	  "\"level\":\"debug\",\"message\":\"m\",\"data\":null,\"session_id\":null,"
	  "\"correlation_id\":null,\"tool_name\":null,\"tool_input\":null,\"is_error\":false,"
	  "\"model\":null,\"trace_id\":null,\"parent_id\":null}" },
	{ "pipeline_v1.WorkflowEvent",
	  "{\"id\":\"e\",\"workflow_id\":\"w\",\"sequence\":1,\"timestamp\":\"" NOON "\","
	  "\"agent\":\"a\",\"event_type\":\"system_error\",\"message\":\"m\"}",
	  "{\"id\":\"e\",\"workflow_id\":\"w\",\"sequence\":1,\"timestamp\":\"" NOON "\","
	  "\"agent\":\"a\",\"event_type\":\"system_error\",\"message\":\"m\",\"data\":null,"
	  "\"correlation_id\":null}" },
	{ "pipeline.TokenUsage", USAGE_GIVEN, USAGE_PRINTED },
	{ "pipeline_v1.TokenUsage", USAGE_GIVEN, USAGE_PRINTED },
};

static void assert_least(const struct least *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		AUTO(arena) arena = { 0 };
		const struct type *type = type_named(str_from_c(rows[i].type));
		cr_assert(type != NULL, "%s", rows[i].type);
		assert_str(reprint(type, str_from_c(rows[i].given), &arena),
			   str_from_c(rows[i].printed));
	}
}

Test(defaults, configuration)
{
	assert_least(configuration, COUNT(configuration));
}

Test(defaults, work)
{
	assert_least(work, COUNT(work));
}

Test(defaults, states_and_events)
{
	assert_least(states, COUNT(states));
}

static bool has_row(const struct least *rows, size_t count, struct str type)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(str_from_c(rows[i].type), type))
			return true;
	return false;
}

/* An entity without a row above must have nothing that could be left out. */
Test(defaults, every_entity_that_has_some_is_above)
{
	for (size_t i = 0; type_at(i) != NULL; i++) {
		const struct type *type = type_at(i);
		if (type->kind != KIND_ENTITY ||
		    has_row(configuration, COUNT(configuration), type->name) ||
		    has_row(work, COUNT(work), type->name) ||
		    has_row(states, COUNT(states), type->name))
			continue;
		for (const struct field *f = type_fields(type); f->shape != SHAPE_END; f++)
			cr_assert(field_is_hook(f) || f->presence == PRESENCE_REQUIRED,
				  STR_FMT "." STR_FMT, STR_ARG(type->name), STR_ARG(f->name));
	}
}

/* Everything REQUIRED is asked for, and nothing else. */
Test(defaults, an_empty_document_names_what_is_missing)
{
	for (size_t i = 0; type_at(i) != NULL; i++) {
		const struct type *type = type_at(i);
		if (type->kind != KIND_ENTITY)
			continue;
		AUTO(arena) arena = { 0 };
		AUTO(buf) expected = { 0 };
		for (const struct field *f = type_fields(type); f->shape != SHAPE_END; f++)
			if (!field_is_hook(f) && f->shape != SHAPE_CONST &&
			    f->presence == PRESENCE_REQUIRED)
				buf_add_format(&expected, "1:1 /" STR_FMT ": is required\n",
					       STR_ARG(f->name));
		struct str lines;
		read_as(type, S("{}"), &arena, &lines);
		assert_str(lines, buf_str(&expected));
	}
}
