/* Documents that break a rule, and exactly what is said about them. */
#include "pipeline_support.h"

#define ID   "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
#define NOON "2026-03-01T12:00:00Z"
#define V1_EVENT                                                                           \
	"\"id\":\"e\",\"workflow_id\":\"w\",\"timestamp\":\"" NOON "\",\"agent\":\"a\",\"" \
	"message\":\"m\""
#define S0_EVENT                                                                            \
	"\"id\":\"" ID "\",\"workflow_id\":\"" ID "\",\"timestamp\":\"" NOON "\",\"agent\"" \
	":\"a\",\"message\":\"m\""
#define USAGE "\"workflow_id\":\"w\",\"agent\":\"a\",\"timestamp\":\"" NOON "\""
#define BASE \
	"\"workflow_id\":\"" ID "\",\"profile_id\":\"p\",\"created_at\":\"" NOON "\",\"status\":"
#define ITEM(disposition)                                                                \
	"{\"number\":1,\"title\":\"t\",\"file_path\":\"f\",\"line\":1,\"reason\":\"r\"," \
	"\"original_issue\":\"o\",\"suggested_fix\":\"s\",\"disposition\":\"" disposition "\"}"

static const struct bad ranges[] = {
	{ "pipeline.RetryConfig", "{\"max_retries\":-1,\"base_delay\":0.09,\"max_delay\":0.9}",
	  "1:16 /max_retries: must be at least 0, got -1\n"
	  "1:32 /base_delay: must be at least 0.1, got 0.09\n"
	  "1:49 /max_delay: must be at least 1, got 0.9\n" },
	{ "pipeline.RetryConfig", "{\"max_retries\":11,\"base_delay\":30.5,\"max_delay\":301}",
	  "1:16 /max_retries: must be at most 10, got 11\n"
	  "1:32 /base_delay: must be at most 30, got 30.5\n"
	  "1:49 /max_delay: must be at most 300, got 301\n" },
	{ "pipeline_v1.RetryConfig", "{\"max_retries\":11,\"base_delay\":31,\"max_delay\":0}",
	  "1:16 /max_retries: must be at most 10, got 11\n"
	  "1:32 /base_delay: must be at most 30, got 31\n"
	  "1:47 /max_delay: must be at least 1, got 0\n" },
	{ "pipeline.RetryConfig", "{\"max_retries\":2.5}",
	  "1:16 /max_retries: must be a whole number, got number 2.5\n" },
	{ "pipeline.DaytonaResources", "{\"cpu\":0,\"memory\":0,\"disk\":-1}",
	  "1:8 /cpu: must be above 0, got 0\n"
	  "1:19 /memory: must be above 0, got 0\n"
	  "1:28 /disk: must be above 0, got -1\n" },
	{ "pipeline.SandboxConfig", "{\"daytona_timeout\":0}",
	  "1:20 /daytona_timeout: must be above 0, got 0\n" },
	{ "pipeline.ServerConfig",
	  "{\"port\":0,\"log_retention_days\":0,\"log_retention_max_events\":999,"
	  "\"max_concurrent\":0}",
	  "1:9 /port: must be at least 1, got 0\n"
	  "1:32 /log_retention_days: must be at least 1, got 0\n"
	  "1:61 /log_retention_max_events: must be at least 1000, got 999\n"
	  "1:82 /max_concurrent: must be at least 1, got 0\n" },
	{ "pipeline_v1.ServerConfig", "{\"port\":65536}",
	  "1:9 /port: must be at most 65535, got 65536\n" },
	{ "pipeline.WorkflowEvent", "{\"sequence\":-1," S0_EVENT ",\"event_type\":\"stream\"}",
	  "1:13 /sequence: must be at least 0, got -1\n" },
	{ "pipeline_v1.WorkflowEvent",
	  "{\"sequence\":0," V1_EVENT ",\"event_type\":\"system_error\"}",
	  "1:13 /sequence: must be at least 1, got 0\n" },
	{ "pipeline.TokenUsage",
	  "{\"input_tokens\":-1,\"output_tokens\":-2,\"cache_read_tokens\":-3,"
	  "\"cache_creation_tokens\":-4," USAGE "}",
	  "1:17 /input_tokens: must be at least 0, got -1\n"
	  "1:36 /output_tokens: must be at least 0, got -2\n"
	  "1:59 /cache_read_tokens: must be at least 0, got -3\n"
	  "1:86 /cache_creation_tokens: must be at least 0, got -4\n" },
	{ "pipeline_v1.TokenUsage", "{\"input_tokens\":-1,\"output_tokens\":0," USAGE "}",
	  "1:17 /input_tokens: must be at least 0, got -1\n" },
};

Test(rules, ranges)
{
	assert_bad(ranges, COUNT(ranges));
}

/* The ends of a range are in it. */
Test(rules, ends_of_ranges_are_good)
{
	AUTO(arena) arena = { 0 };
	read_good(pipeline_retry_config_type(),
		  S("{\"max_retries\":0,\"base_delay\":0.1,\"max_delay\":1}"), &arena);
	read_good(pipeline_retry_config_type(),
		  S("{\"max_retries\":10,\"base_delay\":30.0,\"max_delay\":300}"), &arena);
	read_good(pipeline_server_config_type(), S("{\"port\":1}"), &arena);
	read_good(pipeline_server_config_type(), S("{\"port\":65535}"), &arena);
}

static const struct bad checks[] = {
	{ "pipeline.RetryConfig", "{\"max_delay\":2,\n\"base_delay\":2.5}",
	  "2:14 /base_delay: must not be above max_delay: 2.5 is more than 2\n" },
	{ "pipeline_v1.RetryConfig", "{\"base_delay\":30,\"max_delay\":1}",
	  "1:15 /base_delay: must not be above max_delay: 30 is more than 1\n" },
	{ "pipeline.SandboxConfig", "{\"mode\":\"daytona\"}",
	  "1:1 /repo_url: is required when mode is daytona: the sandbox clones it\n" },
	{ "pipeline.SandboxConfig", "{\"mode\":\"daytona\",\"repo_url\":\"\"}",
	  "1:30 /repo_url: is required when mode is daytona: the sandbox clones it\n" },
	{ "pipeline.SandboxConfig",
	  "{\"mode\":\"daytona\",\"repo_url\":\"r\",\"network_allowlist_enabled\":true}",
	  "1:62 /network_allowlist_enabled: must be false when mode is daytona: it cannot be "
	  "enforced there\n" },
	{ "pipeline.SandboxConfig",
	  "{\"mode\":\"daytona\",\"repo_url\":null,\"network_allowlist_enabled\":true}",
	  "1:30 /repo_url: is required when mode is daytona: the sandbox clones it\n"
	  "1:63 /network_allowlist_enabled: must be false when mode is daytona: it cannot be "
	  "enforced there\n" },
	{ "pipeline.Settings",
	  "{\"active_profile\":\"work\",\"profiles\":{\"home\":{\"name\":\"home\",\"repo_root\":"
	  "\"/r\"}}}",
	  "1:19 /active_profile: is not the name of one of the profiles\n" },
	{ "pipeline.Settings", "{\"active_profile\":\"\",\"profiles\":{}}",
	  "1:19 /active_profile: is not the name of one of the profiles\n" },
	{ "pipeline.Settings",
	  "{\"active_profile\":\"a\",\"profiles\":{\"a\":{\"name\":\"a\",\"repo_root\":\"/r\"},"
	  "\"b\":{\"name\":\"c\",\"repo_root\":\"/r\"}}}",
	  "1:34 /profiles: the key of each profile must be its name; profile number 2 has another key\n" },
	{ "pipeline.Settings",
	  "{\"active_profile\":\"a\",\"profiles\":{\"a\":{\"name\":\"a\",\"repo_root\":\"/r\","
	  "\"agents\":{\"x/y\":{\"driver\":\"api\",\"model\":\"m\",\"sandbox\":"
	  "{\"mode\":\"daytona\"}}}}}}",
	  "1:122 /profiles/a/agents/x~1y/sandbox/repo_url: is required when mode is daytona: the "
	  "sandbox clones it\n" },
	{ "pipeline_v1.Settings",
	  "{\"active_profile\":\"b\",\"profiles\":{\"a\":{\"name\":\"b\",\"driver\":\"cli\"}}}",
	  "1:34 /profiles: the key of each profile must be its name; profile number 1 has another key\n"
	  "1:19 /active_profile: is not the name of one of the profiles\n" },
	{ "pipeline_v1.Profile", "{\"name\":\"n\",\"driver\":\"api\"}",
	  "1:1 /model: is required when driver is api\n" },
	{ "pipeline_v1.Profile", "{\"name\":\"n\",\"driver\":\"api:openai\",\"model\":\"\"}",
	  "1:43 /model: is required when driver is api\n" },
	{ "pipeline.EvaluationResult",
	  "{\"summary\":\"s\",\"items_to_implement\":[" ITEM("implement") "," ITEM("reject") "]}",
	  "1:37 /items_to_implement: holds items with disposition implement; number 2 has "
	  "reject\n" },
	{ "pipeline.EvaluationResult", "{\"summary\":\"s\",\"items_rejected\":[" ITEM("defer") "]}",
	  "1:33 /items_rejected: holds items with disposition reject; number 1 has defer\n" },
	{ "pipeline.EvaluationResult",
	  "{\"summary\":\"s\",\"items_deferred\":[" ITEM("clarify") "]}",
	  "1:33 /items_deferred: holds items with disposition defer; number 1 has clarify\n" },
	{ "pipeline.EvaluationResult",
	  "{\"summary\":\"s\",\"items_needing_clarification\":[" ITEM("implement") "]}",
	  "1:46 /items_needing_clarification: holds items with disposition clarify; number 1 has "
	  "implement\n" },
	{ "pipeline.TokenUsage",
	  "{\"input_tokens\":5,\"output_tokens\":0,\"cache_read_tokens\":6," USAGE "}",
	  "1:57 /cache_read_tokens: is a part of input_tokens and must not be above it: 6 is more "
	  "than 5\n" },
	{ "pipeline_v1.TokenUsage",
	  "{\"input_tokens\":0,\"output_tokens\":0,\"cache_read_tokens\":1," USAGE "}",
	  "1:57 /cache_read_tokens: is a part of input_tokens and must not be above it: 1 is more "
	  "than 0\n" },
};

Test(rules, across_fields)
{
	assert_bad(checks, COUNT(checks));
}

/* What stands in a daytona sandbox's way is fine in any other. */
Test(rules, other_sandboxes_need_no_repository)
{
	AUTO(arena) arena = { 0 };
	read_good(pipeline_sandbox_config_type(),
		  S("{\"mode\":\"container\",\"network_allowlist_enabled\":true}"), &arena);
	read_good(pipeline_sandbox_config_type(), S("{\"network_allowlist_enabled\":true}"),
		  &arena);
	read_good(pipeline_sandbox_config_type(), S("{\"mode\":\"daytona\",\"repo_url\":\"r\"}"),
		  &arena);
	read_good(pipeline_v1_profile_type(), S("{\"name\":\"n\",\"driver\":\"cli\"}"), &arena);
}

static const struct bad words[] = {
	{ "pipeline.AgentConfig", "{\"driver\":\"cli:other\",\"model\":\"m\"}",
	  "1:11 /driver: \"cli:other\" is not one of claude, codex, api, api:openrouter, "
	  "api:openai, api:anthropic, api:deepseek, api:groq, api:together, api:fireworks, "
	  "api:ollama, api:custom, script, replay\n" },
	{ "pipeline.Profile", "{\"name\":\"n\",\"repo_root\":\"r\",\"tracker\":\"svn\"}",
	  "1:39 /tracker: \"svn\" is not one of jira, github, gitlab, file, noop\n" },
	{ "pipeline.SandboxConfig", "{\"mode\":\"docker\"}",
	  "1:9 /mode: \"docker\" is not one of none, container, daytona\n" },
	{ "pipeline.AgenticState",
	  "{\"workflow_id\":\"" ID "\",\"issue_key\":\"k\",\"goal\":\"g\",\"status\":\"done\"}",
	  "1:91 /status: \"done\" is not one of running, awaiting_approval, completed, failed, "
	  "cancelled\n" },
	{ "pipeline.PlanValidationResult", "{\"valid\":true,\"issues\":[],\"severity\":\"medium\"}",
	  "1:38 /severity: \"medium\" is not one of critical, major, minor, none\n" },
	{ "pipeline.OracleConsultation",
	  "{\"timestamp\":\"" NOON "\",\"problem\":\"p\",\"model\":\"m\",\"session_id\":\"" ID
	  "\",\"outcome\":\"partly\"}",
	  "1:125 /outcome: \"partly\" is not one of success, error\n" },
	{ "pipeline.BasePipelineState", "{\"pipeline_type\":\"t\"," BASE "\"queued\"}",
	  "1:137 /status: \"queued\" is not one of pending, running, paused, completed, failed\n" },
	{ "pipeline.ImplementationState", "{\"pipeline_type\":\"review\"," BASE "\"pending\"}",
	  "1:18 /pipeline_type: must be \"implementation\", got string \"review\"\n" },
	{ "pipeline.AgenticMessage", "{\"type\":\"speaking\"}",
	  "1:9 /type: \"speaking\" is not one of thinking, tool_call, tool_result, result, "
	  "usage\n" },
	{ "pipeline.EvaluatedItem", ITEM("implemented"),
	  "1:118 /disposition: \"implemented\" is not one of implement, reject, defer, clarify; "
	  "did you mean \"implement\"?\n" },
	{ "pipeline.StreamEvent",
	  "{\"type\":\"output\",\"timestamp\":\"" NOON "\",\"agent\":\"a\",\"workflow_id\":\"w\"}",
	  "1:9 /type: \"output\" is not one of claude_thinking, claude_tool_call, "
	  "claude_tool_result, agent_output\n" },
	{ "pipeline.WorkflowEvent",
	  "{\"domain\":\"mail\",\"level\":\"fatal\",\"sequence\":1," S0_EVENT
	  ",\"event_type\":\"stream\"}",
	  "1:11 /domain: \"mail\" is not one of workflow, brainstorm, oracle, knowledge\n"
	  "1:26 /level: \"fatal\" is not one of info, warning, debug, error\n" },
	{ "pipeline.WorkflowEvent",
	  "{\"event_type\":\"WORKFLOW_CREATED\",\"sequence\":1," S0_EVENT "}",
	  "1:15 /event_type: \"WORKFLOW_CREATED\" is not one of workflow_created, "
	  "workflow_started, workflow_completed, workflow_failed, workflow_cancelled, "
	  "stage_started, stage_completed, approval_required, approval_granted, "
	  "approval_rejected, file_created, file_modified, file_deleted, review_requested, "
	  "review_completed, revision_requested (and 33 more); did you mean \"workflow_created\"?\n" },
	{ "pipeline_v1.Profile", "{\"name\":\"n\",\"driver\":\"cli:codex\",\"tracker\":\"no\"}",
	  "1:22 /driver: \"cli:codex\" is not one of cli, api\n"
	  "1:44 /tracker: \"no\" is not one of jira, github, none\n" },
	{ "pipeline_v1.AgenticState",
	  "{\"workflow_id\":\"w\",\"issue_key\":\"k\",\"goal\":\"g\",\"status\":\"done\"}",
	  "1:56 /status: \"done\" is not one of running, awaiting_approval, completed, failed, "
	  "cancelled\n" },
	{ "pipeline_v1.ReviewResult",
	  "{\"reviewer_persona\":\"p\",\"approved\":true,\"comments\":[],\"severity\":\"major\"}",
	  "1:66 /severity: \"major\" is not one of low, medium, high, critical\n" },
	{ "pipeline_v1.StreamEvent",
	  "{\"type\":\"output\",\"timestamp\":\"" NOON "\",\"agent\":\"a\",\"workflow_id\":\"w\"}",
	  "1:9 /type: \"output\" is not one of claude_thinking, claude_tool_call, "
	  "claude_tool_result, agent_output\n" },
	{ "pipeline_v1.WorkflowEvent",
	  "{\"event_type\":\"task_failed\",\"sequence\":1," V1_EVENT "}",
	  "1:15 /event_type: \"task_failed\" is not one of workflow_started, "
	  "workflow_completed, workflow_failed, workflow_cancelled, stage_started, "
	  "stage_completed, approval_required, approval_granted, approval_rejected, "
	  "file_created, file_modified, file_deleted, review_requested, review_completed, "
	  "revision_requested, system_error (and 1 more)\n" },
};

Test(rules, words)
{
	assert_bad(words, COUNT(words));
}

static const struct bad shapes[] = {
	{ "pipeline.Profile", "{\"name\":\"n\",\"working_dir\":\"a\",\"repo_root\":\"b\"}",
	  "1:13 /working_dir: is the old name of \"repo_root\", which is given too\n" },
	{ "pipeline.Profile", "{\"name\":\"n\",\"repo_rot\":\"b\"}",
	  "1:13 /repo_rot: is not a field of pipeline.Profile; did you mean \"repo_root\"?\n"
	  "1:1 /repo_root: is required\n" },
	{ "pipeline_v1.Profile", "{\"name\":\"n\",\"driver\":\"cli\",\"repo_root\":\"b\"}",
	  "1:28 /repo_root: is not a field of pipeline_v1.Profile\n" },
	{ "pipeline.AgentConfig", "{\"driver\":\"api\",\"model\":null,\"options\":[]}",
	  "1:25 /model: must be a string, got null\n"
	  "1:40 /options: must be an object, got list\n" },
	{ "pipeline.ImplementationState", "{" BASE "\"pending\",\"goals\":\"g\"}",
	  "1:127 /goals: is not a field of pipeline.ImplementationState; did you mean "
	  "\"goal\"?\n" },
	{ "pipeline.WorkflowEvent",
	  "{\"id\":\"1\",\"workflow_id\":\"w\",\"sequence\":1,\"timestamp\":\"now\",\"agent\":"
	  "\"a\",\"message\":\"m\",\"event_type\":\"stream\"}",
	  "1:7 /id: must be a UUID, got string \"1\"\n"
	  "1:25 /workflow_id: must be a UUID, got string \"w\"\n"
	  "1:54 /timestamp: must be a time such as \"2026-01-31T09:30:00Z\", got string "
	  "\"now\"\n" },
	{ "pipeline.OracleConsultation",
	  "{\"timestamp\":\"" NOON "\",\"problem\":\"p\",\"model\":\"m\",\"session_id\":\"" ID
	  "\",\"tokens\":{\"input\":\"many\"}}",
	  "1:133 /tokens/input: must be a whole number, got string \"many\"\n" },
};

Test(rules, shapes)
{
	assert_bad(shapes, COUNT(shapes));
}
