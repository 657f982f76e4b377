/* The words, constants and rules of the task vocabulary: which documents are rejected, where, and with which text. */
#include "task_support.h"

#include "base/yaml.h"

/* ---- enums ----------------------------------------------------------------------------- */

static const struct {
	const char *name, *member, *value, *text;
} words[] = {
	{ "task.ExecutionConfig", "mode", "\"auto\"",
	  "\"auto\" is not one of autonomous, step, hitl" },
	{ "task.TaskCompleteEvent", "final_status", "\"failed\"",
	  "\"failed\" is not one of success, error, cancelled" },
	{ "task.TaskPausedEvent", "reason", "\"break_point\"",
	  "\"break_point\" is not one of step_mode, breakpoint, user_request, hitl_intervention; "
	  "did you mean \"breakpoint\"?" },
	{ "task.HandoffRule", "handoff_type", "\"random\"",
	  "\"random\" is not one of sequential, parallel, hierarchical" },
	{ "task.AgentHandoffEvent", "handoff_type", "\"sequentiel\"",
	  "\"sequentiel\" is not one of sequential, parallel, hierarchical; did you mean "
	  "\"sequential\"?" },
	{ "task.CollaborationPattern", "type", "\"sequential\"",
	  "\"sequential\" is not one of parallel, hierarchical, consensus" },
	{ "task.ToolConfig", "type", "\"python\"",
	  "\"python\" is not one of builtin, custom, mcp, hitl" },
	{ "task.MemoryReference", "memory_type", "\"forever\"",
	  "\"forever\" is not one of short_term, long_term, semantic, episodic" },
	{ "task.MemoryStoreEvent", "memory_type", "4",
	  "must be one of short_term, long_term, semantic, episodic, got integer 4" },
	{ "task.MemoryPart", "operation", "\"forget\"",
	  "\"forget\" is not one of store, retrieve, search, consolidate" },
	{ "task.GuardrailCheck", "check_type", "\"spelling\"",
	  "\"spelling\" is not one of input_validation, content_filter, rate_limit, policy" },
	{ "task.GuardrailCheck", "status", "\"pass\"",
	  "\"pass\" is not one of passed, failed, warning; did you mean \"passed\"?" },
	{ "task.GuardrailCheck", "severity", "\"fatal\"",
	  "\"fatal\" is not one of low, medium, high, critical" },
	{ "task.GuardrailPart", "overall_status", "\"mixed\"",
	  "\"mixed\" is not one of passed, failed, warning" },
	{ "task.GuardrailViolationEvent", "check_type", "\"spelling\"",
	  "\"spelling\" is not one of input_validation, content_filter, rate_limit, policy" },
	{ "task.GuardrailViolationEvent", "severity", "\"fatal\"",
	  "\"fatal\" is not one of low, medium, high, critical" },
	{ "task.GuardrailViolationEvent", "action_taken", "\"ignored\"",
	  "\"ignored\" is not one of blocked, warned, logged" },
	{ "task.GuardrailPolicy", "type", "\"spelling\"",
	  "\"spelling\" is not one of input_validation, content_filter, rate_limit, compliance" },
	{ "task.GuardrailPolicy", "severity", "\"fatal\"",
	  "\"fatal\" is not one of low, medium, high, critical" },
	{ "task.GuardrailPolicy", "action", "\"deny\"", "\"deny\" is not one of block, warn, log" },
	{ "task.GuardrailPolicyUpdateEvent", "update_type", "\"renamed\"",
	  "\"renamed\" is not one of created, modified, deleted" },
	{ "task.HITLRequestEvent", "request_type", "\"opinion\"",
	  "\"opinion\" is not one of approval, feedback, escalation" },
	{ "task.HITLResponseEvent", "response_type", "\"maybe\"",
	  "\"maybe\" is not one of approved, rejected, modified, timeout" },
	{ "task.UserInterventionEvent", "intervention_type", "\"shout\"",
	  "\"shout\" is not one of instruction, plan_update, agent_override, team_modification" },
	{ "task.HealthCheckEvent", "status", "\"ok\"",
	  "\"ok\" is not one of healthy, degraded, unhealthy" },
};

Test(rules, wrong_words)
{
	AUTO(arena) arena = { 0 };
	for (size_t i = 0; i < COUNT(words); i++) {
		struct str name = str_from_c(words[i].name), member = str_from_c(words[i].member);
		struct str text = object_with(least_of(name, &arena), member,
					      str_from_c(words[i].value), &arena);
		struct outcome outcome = read_text(type_named(name), text, &arena);
		cr_assert_eq(outcome.problems.count, 1, "%s.%s", words[i].name, words[i].member);
		assert_str(outcome.problems.at[0].pointer,
			   str_format(&arena, "/" STR_FMT, STR_ARG(member)));
		assert_str(outcome.problems.at[0].text, str_from_c(words[i].text));
	}
}

/* The table above has a row for every member that picks a word. */
Test(rules, no_enum_member_is_forgotten)
{
	for (size_t i = 0; i < task_module_type_count; i++) {
		const struct type *type = task_module_types[i];
		const struct field *field = type_fields(type);
		for (; field->shape != SHAPE_END; field++) {
			const struct type *of = field_type(field);
			if (of == NULL || of->kind != KIND_ENUM)
				continue;
			bool found = false;
			for (size_t j = 0; j < COUNT(words) && !found; j++)
				found = str_equal(str_from_c(words[j].name), type->name) &&
					str_equal(str_from_c(words[j].member), field->name);
			cr_assert(found, STR_FMT "." STR_FMT, STR_ARG(type->name),
				  STR_ARG(field->name));
		}
	}
}

Test(rules, every_word_of_an_enum_is_taken)
{
	AUTO(arena) arena = { 0 };
	for (size_t i = 0; i < COUNT(words); i++) {
		struct str name = str_from_c(words[i].name), member = str_from_c(words[i].member);
		const struct field *field = type_fields(type_named(name));
		while (!str_equal(field->name, member))
			field++;
		const struct type *of = field_type(field);
		cr_assert(of->word_count >= 3);
		for (size_t j = 0; j < of->word_count; j++) {
			struct str word =
				str_format(&arena, "\"" STR_FMT "\"", STR_ARG(of->words[j].name));
			struct str text = object_with(least_of(name, &arena), member, word, &arena);
			/* The type of a tool asks for more, which is tested below. */
			if (str_equal(name, S("task.ToolConfig"))) {
				const struct json *tool = tree_of(text, &arena);
				text = object_with(tool, S("path"), S("\"t.py\""), &arena);
				tool = tree_of(text, &arena);
				text = object_with(tool, S("server_url"), S("\"u\""), &arena);
			}
			size_t at;
			struct str pair = str_format(&arena, "\"" STR_FMT "\":" STR_FMT,
						     STR_ARG(member), STR_ARG(word));
			cr_assert(str_find(printed(type_named(name), text, &arena), pair, &at));
		}
	}
}

/* A policy of the type "compliance" is recorded by checks of the type "policy": each object takes
 * the other's word too and prints its own. */
Test(rules, compliance_and_policy_are_the_same)
{
	AUTO(arena) arena = { 0 };
	static const struct {
		const char *name, *member, *given, *printed;
	} rows[] = {
		{ "task.GuardrailPolicy", "type", "\"compliance\"", "\"type\":\"compliance\"" },
		{ "task.GuardrailPolicy", "type", "\"policy\"", "\"type\":\"compliance\"" },
		{ "task.GuardrailCheck", "check_type", "\"policy\"", "\"check_type\":\"policy\"" },
		{ "task.GuardrailCheck", "check_type", "\"compliance\"",
		  "\"check_type\":\"policy\"" },
		{ "task.GuardrailViolationEvent", "check_type", "\"compliance\"",
		  "\"check_type\":\"policy\"" },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str name = str_from_c(rows[i].name);
		struct str text = object_with(least_of(name, &arena), str_from_c(rows[i].member),
					      str_from_c(rows[i].given), &arena);
		struct str once = printed(type_named(name), text, &arena);
		size_t at;
		cr_assert(str_find(once, str_from_c(rows[i].printed), &at), STR_FMT, STR_ARG(once));
	}
}

/* Lists that the vocabulary leaves open ("etc.", or no list at all) accept any text. */
Test(rules, open_words_are_text)
{
	AUTO(arena) arena = { 0 };
	static const struct {
		const char *name, *member;
	} rows[] = {
		{ "task.TaskStep", "execution_mode" },
		{ "task.TaskStartEvent", "execution_mode" },
		{ "task.TaskResumedEvent", "reason" },
		{ "task.ConsensusVoteEvent", "vote" },
		{ "task.BreakpointHitEvent", "breakpoint_type" },
		{ "task.ImagePart", "format" },
		{ "task.AudioPart", "format" },
		{ "task.LLMConfig", "provider" },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str name = str_from_c(rows[i].name), member = str_from_c(rows[i].member);
		struct str text =
			object_with(least_of(name, &arena), member, S("\"something new\""), &arena);
		struct str pair =
			str_format(&arena, "\"" STR_FMT "\":\"something new\"", STR_ARG(member));
		size_t at;
		cr_assert(str_find(printed(type_named(name), text, &arena), pair, &at));
	}
}

/* ---- times, ids, secrets, lengths -------------------------------------------------------- */

Test(rules, a_time_without_a_zone_is_utc)
{
	AUTO(arena) arena = { 0 };
	const struct json *least = least_of(S("task.AgentStartEvent"), &arena);
	static const struct {
		const char *given, *printed;
	} rows[] = {
		{ "\"2025-01-15T10:30:00\"", "\"timestamp\":\"2025-01-15T10:30:00Z\"" },
		{ "\"2025-01-15T10:30:00.123456\"",
		  "\"timestamp\":\"2025-01-15T10:30:00.123456Z\"" },
		{ "\"2025-01-15T12:30:00+02:00\"", "\"timestamp\":\"2025-01-15T10:30:00Z\"" },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str text =
			object_with(least, S("timestamp"), str_from_c(rows[i].given), &arena);
		size_t at;
		cr_assert(str_find(printed(task_agent_start_event_type(), text, &arena),
				   str_from_c(rows[i].printed), &at));
	}
	struct str text = object_with(least, S("timestamp"), S("\"yesterday\""), &arena);
	struct outcome outcome = read_text(task_agent_start_event_type(), text, &arena);
	cr_assert_eq(outcome.problems.count, 1);
	assert_str(outcome.problems.at[0].pointer, S("/timestamp"));
	assert_str(outcome.problems.at[0].text,
		   S("must be a time such as \"2026-01-31T09:30:00Z\", got string \"yesterday\""));
}

Test(rules, given_ids_stay_whatever_their_form)
{
	AUTO(arena) arena = { 0 };
	struct str text =
		S("{\"step_id\":\"mine\",\"agent_name\":\"a\",\"parts\":[{\"type\":"
		  "\"tool_call\",\"tool_call\":{\"tool_name\":\"t\",\"args\":{}}},{\"type\":"
		  "\"tool_call\",\"tool_call\":{\"tool_name\":\"t\",\"args\":{}}}]}");
	struct outcome outcome = read_text(task_step_type(), text, &arena);
	const struct task_step *step = outcome.value;
	cr_assert_not_null(step);
	assert_str(step->step_id, S("mine"));
	assert_str(step->parts.at[0].as.tool_call->tool_call->id,
		   S("tc_01010101010141018101010101010101"));
	assert_str(step->parts.at[1].as.tool_call->tool_call->id,
		   S("tc_02020202020242028202020202020202"));
	cr_assert_eq(step->timestamp, 1000000);
}

Test(rules, a_key_is_named_never_written)
{
	AUTO(arena) arena = { 0 };
	assert_lines(
		task_llm_config_type(), "{\"api_key\":\"sk-very-secret\"}",
		"1:12 /api_key: must be a reference to the secret, \"env:NAME\" or \"file:path\", "
		"not the secret itself\n");
	struct outcome outcome =
		read_text(task_llm_config_type(), S("{\"api_key\":\"file:/run/key\"}"), &arena);
	const struct task_llm_config *config = outcome.value;
	assert_str(config->api_key.reference, S("file:/run/key"));
	cr_assert_eq(config->is.provider, DEFAULTED);
}

Test(rules, a_step_has_at_least_one_part)
{
	assert_lines(task_step_type(), "{\"agent_name\":\"a\",\"parts\":[]}",
		     "1:27 /parts: must have at least 1 items, got 0\n");
}

/* ---- constants --------------------------------------------------------------------------- */

Test(rules, constants)
{
	size_t count = 0;
	for (size_t i = 0; i < task_module_type_count; i++) {
		AUTO(arena) arena = { 0 };
		const struct type *type = task_module_types[i];
		const struct field *field = type_fields(type);
		if (field->shape != SHAPE_CONST)
			continue;
		count++;
		assert_str(field->name, S("type"));
		struct str text = object_with(least_of(type->name, &arena), S("type"),
					      S("\"other\""), &arena);
		struct outcome outcome = read_text(type, text, &arena);
		cr_assert_eq(outcome.problems.count, 1);
		assert_str(outcome.problems.at[0].pointer, S("/type"));
		assert_str(outcome.problems.at[0].text,
			   str_format(&arena, "must be \"" STR_FMT "\", got string \"other\"",
				      STR_ARG(field->constant)));
	}
	cr_assert_eq(count, 8 + 1 + 30);
}

/* ---- unions ------------------------------------------------------------------------------ */

static const char *const parts[] = { "Text",  "ToolCall", "ToolResult", "Artifact",
				     "Image", "Audio",    "Memory",     "Guardrail" };

Test(rules, eight_parts_are_told_by_type)
{
	AUTO(arena) arena = { 0 };
	const struct type *type = task_part_type();
	cr_assert_eq(type->case_count, COUNT(parts) + 1);
	for (size_t i = 0; i < COUNT(parts); i++) {
		struct str name = str_format(&arena, "documents/task.%sPart.json", parts[i]);
		struct str text = file_text(str_c(&arena, name), &arena);
		struct outcome outcome = read_text(type, text, &arena);
		const struct task_part *part = outcome.value;
		cr_assert_not_null(part, STR_FMT, STR_ARG(outcome.lines));
		cr_assert_eq((size_t)part->kind, i);
		assert_str(contract_text(type, part, &arena),
			   json_print(&arena, tree_of(text, &arena)));
	}
}

Test(rules, a_part_of_an_unknown_type_survives)
{
	AUTO(arena) arena = { 0 };
	struct str text = S("{\"type\":\"video\",\"seconds\":1.5,\"frames\":[{\"a\":null}]}");
	struct outcome outcome = read_text(task_part_type(), text, &arena);
	const struct task_part *part = outcome.value;
	cr_assert_eq(part->kind, TASK_PART_OTHER);
	assert_str(contract_text(task_part_type(), part, &arena), text);
	assert_lines(task_step_type(),
		     "{\"agent_name\":\"a\",\"parts\":[{\"text\":\"x\"},{\"type\":\"text\"}]}",
		     "1:28 /parts/0/type: is required: it tells which task.Part this is\n"
		     "1:41 /parts/1/text: is required\n");
}

Test(rules, thirty_events_are_told_by_type)
{
	AUTO(arena) arena = { 0 };
	const struct type *type = task_execution_event_type();
	cr_assert_eq(type->case_count, 30);
	for (size_t i = 0; i < type->case_count; i++) {
		const struct type *of = type->cases[i].of();
		struct str name =
			str_format(&arena, "documents/" STR_FMT ".json", STR_ARG(of->name));
		struct str text = file_text(str_c(&arena, name), &arena);
		struct outcome outcome = read_text(type, text, &arena);
		const struct task_execution_event *event = outcome.value;
		cr_assert_not_null(event, STR_FMT, STR_ARG(outcome.lines));
		cr_assert_eq((size_t)event->kind, i);
		assert_str(contract_text(type, event, &arena),
			   json_print(&arena, tree_of(text, &arena)));
	}
	struct outcome outcome = read_text(type, S("{\"type\":\"content_chunk\"}"), &arena);
	cr_assert_eq(outcome.problems.count, 1);
	assert_str(outcome.problems.at[0].pointer, S("/type"));
}

/* ---- checks ------------------------------------------------------------------------------ */

Test(rules, a_tool_says_where_it_is)
{
	AUTO(arena) arena = { 0 };
	assert_lines(task_tool_config_type(), "{\"name\":\"t\",\"type\":\"custom\"}",
		     "1:1 /path: is required: a custom tool is a file\n");
	assert_lines(task_tool_config_type(),
		     "{\"name\":\"t\",\"type\":\"custom\",\n\"path\":null}",
		     "2:8 /path: is required: a custom tool is a file\n");
	assert_lines(
		task_tool_config_type(), "{\"name\":\"t\",\"type\":\"mcp\",\"config\":{}}",
		"1:1 /server_url: is required: an mcp tool needs a server, here or in config\n");
	static const char *const good[] = {
		"{\"name\":\"t\",\"type\":\"mcp\",\"config\":{\"command\":\"server\"}}",
		"{\"name\":\"t\",\"type\":\"mcp\",\"server_url\":\"http://127.0.0.1:9000\"}",
		"{\"name\":\"t\",\"type\":\"custom\",\"path\":\"t.py\"}",
		"{\"name\":\"t\",\"type\":\"hitl\",\"timeout\":3600}",
		"{\"name\":\"t\",\"type\":\"builtin\"}",
	};
	for (size_t i = 0; i < COUNT(good); i++)
		cr_assert_not_null(
			read_text(task_tool_config_type(), str_from_c(good[i]), &arena).value);
}

#define TEAM(rest)                                                    \
	"{\"name\":\"t\",\"description\":\"d\",\"default_llm\":{},\n" \
	"\"tools\":[{\"name\":\"search\",\"type\":\"builtin\"}],\n" rest "}"
#define AGENT(name, rest) "{\"name\":\"" name "\",\"role\":\"r\",\"prompt_template\":\"p\"" rest "}"

Test(rules, an_agent_names_what_the_team_has)
{
	assert_lines(
		task_team_config_type(),
		TEAM("\"agents\":[" AGENT("a", ",\"tools\":[\"search\",\"serach\"]") ",\n" AGENT(
			"b",
			",\"guardrail_policies\":[\"p\"],\"collaboration_patterns\":[\"c\"]") "]"),
		"3:74 /agents/0/tools/1: \"serach\" is not the name of a tool of this team\n"
		"4:68 /agents/1/guardrail_policies/0: \"p\" is not the name of a guardrail policy of "
		"this team\n"
		"4:99 /agents/1/collaboration_patterns/0: \"c\" is not the name of a collaboration "
		"pattern of this team\n");
}

Test(rules, handoffs_are_between_agents_of_the_team)
{
	assert_lines(
		task_team_config_type(),
		TEAM("\"agents\":[" AGENT("a", "") "],\n\"handoff_rules\":["
						   "{\"from_agent\":\"a\",\"to_agent\":\"a\"},\n"
						   "{\"from_agent\":\"x\",\"to_agent\":\"y\"}]"),
		"5:15 /handoff_rules/1/from_agent: \"x\" is not the name of an agent of this "
		"team\n"
		"5:30 /handoff_rules/1/to_agent: \"y\" is not the name of an agent of this team\n");
}

Test(rules, a_pattern_is_among_agents_of_the_team)
{
	assert_lines(
		task_team_config_type(),
		TEAM("\"agents\":[" AGENT(
			"a", "") "],\n\"collaboration_patterns\":["
				 "{\"name\":\"c\",\"type\":\"parallel\",\"agents\":[\"a\",\"z\"],\n"
				 "\"coordination_agent\":\"search\"}]"),
		"4:71 /collaboration_patterns/0/agents/1: \"z\" is not the name of an agent of "
		"this team\n"
		"5:22 /collaboration_patterns/0/coordination_agent: \"search\" is not the name "
		"of an agent of this team\n");
}

Test(rules, names_are_said_once)
{
	assert_lines(
		task_team_config_type(),
		"{\"name\":\"t\",\"description\":\"d\",\"default_llm\":{},\n"
		"\"agents\":[" AGENT("a", "") "," AGENT("b", "") "," AGENT(
			"a",
			"") "],\n"
			    "\"tools\":[{\"name\":\"s\",\"type\":\"builtin\"},{\"name\":\"s\",\"type\":\"hitl\"}],\n"
			    "\"collaboration_patterns\":[{\"name\":\"c\",\"type\":\"parallel\",\"agents\":[]},"
			    "{\"name\":\"c\",\"type\":\"consensus\",\"agents\":[]}],\n"
			    "\"guardrail_policies\":[{\"name\":\"g\",\"type\":\"rate_limit\",\"rules\":[]},"
			    "{\"name\":\"g\",\"type\":\"rate_limit\",\"rules\":[]}]}",
		"2:111 /agents/2/name: \"a\" is already used as a name in this list\n"
		"3:48 /tools/1/name: \"s\" is already used as a name in this list\n"
		"4:78 /collaboration_patterns/1/name: \"c\" is already used as a name in this list\n"
		"5:75 /guardrail_policies/1/name: \"g\" is already used as a name in this list\n");
}

/* The checks find their places inside other entities and in YAML as well. */
Test(rules, places_below_a_team)
{
	AUTO(arena) arena = { 0 };
	struct str text =
		S("name: t\ndescription: d\ndefault_llm: {}\nagents:\n  - name: a\n    role: r\n"
		  "    prompt_template: p\n    tools: [search]\ntools: []\n");
	const struct json *json = NULL;
	struct error error;
	cr_assert(yaml_read(text, &arena, &json, &error));
	struct outcome outcome = read_tree(task_team_config_type(), json, text, &arena);
	assert_str(
		outcome.lines,
		S("8:13 /agents/0/tools/0: \"search\" is not the name of a tool of this team\n"));
	assert_lines(
		task_langchain_export_type(),
		"{\"langchain_equivalent\":{},\"migration_notes\":[],\n\"agentx_team\":" TEAM(
			"\"agents\":[],\"handoff_rules\":[{\"from_agent\":\"a\",\"to_agent\":\"b\"}]") "}",
		"4:44 /agentx_team/handoff_rules/0/from_agent: \"a\" is not the name of an agent "
		"of this team\n"
		"4:59 /agentx_team/handoff_rules/0/to_agent: \"b\" is not the name of an agent of "
		"this team\n");
}

/* Many names cost a pass over them, and problems beyond the limit are counted. */
Test(rules, large_teams)
{
	enum { AGENTS = 20000 };
	AUTO(arena) arena = { 0 };
	AUTO(buf) buf = { 0 };
	buf_add(&buf, S("{\"name\":\"t\",\"description\":\"d\",\"default_llm\":{},\"tools\":[],"
			"\"agents\":["));
	for (int i = 0; i < AGENTS; i++)
		buf_add_format(&buf,
			       "%s{\"name\":\"a%d\",\"role\":\"r\",\"prompt_template\":\"p\","
			       "\"tools\":[\"none\"]}",
			       i == 0 ? "" : ",", i);
	buf_add(&buf, S("]}"));
	struct outcome outcome = read_text(task_team_config_type(), buf_str(&buf), &arena);
	cr_assert_eq(outcome.problems.count + outcome.problems.hidden, AGENTS);
	assert_str(outcome.problems.at[1].pointer, S("/agents/1/tools/0"));
}
