/* contract/check_task.c -- rules of contracts/task.def that span several fields: references by name.
 *
 * A team file refers to its own agents, tools, policies and patterns by name.  An unknown name is
 * reported when the file is read, because otherwise it would fail in the middle of a task.  The
 * problem points at the wrong name inside nested lists.  check_fail() cannot do that, so this file
 * includes contract_internal.h.
 */
#include "contract/task_types.h"

#include "base/map.h"
#include "contract/contract_internal.h"

/* A place inside the checked entity: its path and its JSON node.  `up` must outlive it. */
struct spot {
	struct path path;
	const struct json *json;
};

static struct spot spot_of(const struct check *check)
{
	return (struct spot){ *check->path, check->json };
}

/* A value that comes from a default is not in the document: its parent's node gives the place. */
static struct spot spot_key(const struct spot *up, struct str key)
{
	const struct json *json = json_member(up->json, key);
	return (struct spot){ path_key(&up->path, key), json == NULL ? up->json : json };
}

static struct spot spot_index(const struct spot *up, size_t index)
{
	const struct json *json = json_item(up->json, index);
	return (struct spot){ path_index(&up->path, index), json == NULL ? up->json : json };
}

/* ---- names ----------------------------------------------------------------------------- */

static void name_resolves(struct check *check, const struct map *names, const char *what,
			  struct str name, const struct spot *spot)
{
	if (map_get(names, name) != NULL || problem_hide(check->parse))
		return;
	struct str said = quoted(check->parse->arena, name);
	problem_add(check->parse, &spot->path, place_of(spot->json),
		    STR_FMT " is not the name of %s of this team", STR_ARG(said), what);
}

static void names_resolve(struct check *check, const struct map *names, const char *what,
			  const struct str_list *list, const struct spot *spot)
{
	for (size_t i = 0; i < list->count; i++) {
		struct spot item = spot_index(spot, i);
		name_resolves(check, names, what, list->at[i], &item);
	}
}

/* The maps are used as sets of names: the value only has to be non-NULL, and `check` is. */
static void agent_names(struct check *check, const struct task_team_config *team, struct map *names)
{
	for (size_t i = 0; i < team->agents.count; i++)
		map_put(names, team->agents.at[i].name, check);
}

static void name_is_new(struct check *check, struct map *names, struct str name,
			const struct spot *list, size_t index)
{
	if (map_get(names, name) == NULL) {
		map_put(names, name, check);
		return;
	}
	if (problem_hide(check->parse))
		return;
	struct spot item = spot_index(list, index);
	struct spot at = spot_key(&item, S("name"));
	struct str said = quoted(check->parse->arena, name);
	problem_add(check->parse, &at.path, place_of(at.json),
		    STR_FMT " is already used as a name in this list", STR_ARG(said));
}

/* ---- task.ToolConfig ------------------------------------------------------------------- */

void task_tool_config_check(const struct task_tool_config *value, struct check *check)
{
	switch (value->type) {
	case TASK_TOOL_CUSTOM:
		if (!has(value, path))
			check_fail(check, "path", "is required: a custom tool is a file");
		break;
	case TASK_TOOL_MCP:
		if (!has(value, server_url) && value->config->as.object.count == 0)
			check_fail(check, "server_url",
				   "is required: an mcp tool needs a server, here or in config");
		break;
	case TASK_TOOL_BUILTIN:
	case TASK_TOOL_HITL:
		break;
	}
}

/* ---- task.TeamConfig ------------------------------------------------------------------- */

void task_team_config_check_unique(const struct task_team_config *value, struct check *check)
{
	struct spot team = spot_of(check);
	struct spot spot = spot_key(&team, S("agents"));
	AUTO(map) agents = { 0 };
	for (size_t i = 0; i < value->agents.count; i++)
		name_is_new(check, &agents, value->agents.at[i].name, &spot, i);
	spot = spot_key(&team, S("tools"));
	AUTO(map) tools = { 0 };
	for (size_t i = 0; i < value->tools.count; i++)
		name_is_new(check, &tools, value->tools.at[i].name, &spot, i);
	spot = spot_key(&team, S("collaboration_patterns"));
	AUTO(map) patterns = { 0 };
	for (size_t i = 0; i < value->collaboration_patterns.count; i++)
		name_is_new(check, &patterns, value->collaboration_patterns.at[i].name, &spot, i);
	spot = spot_key(&team, S("guardrail_policies"));
	AUTO(map) policies = { 0 };
	for (size_t i = 0; i < value->guardrail_policies.count; i++)
		name_is_new(check, &policies, value->guardrail_policies.at[i].name, &spot, i);
}

void task_team_config_check_agents(const struct task_team_config *value, struct check *check)
{
	AUTO(map) tools = { 0 };
	AUTO(map) policies = { 0 };
	AUTO(map) patterns = { 0 };
	for (size_t i = 0; i < value->tools.count; i++)
		map_put(&tools, value->tools.at[i].name, check);
	for (size_t i = 0; i < value->guardrail_policies.count; i++)
		map_put(&policies, value->guardrail_policies.at[i].name, check);
	for (size_t i = 0; i < value->collaboration_patterns.count; i++)
		map_put(&patterns, value->collaboration_patterns.at[i].name, check);
	struct spot team = spot_of(check), list = spot_key(&team, S("agents"));
	for (size_t i = 0; i < value->agents.count; i++) {
		const struct task_agent_config *agent = &value->agents.at[i];
		struct spot item = spot_index(&list, i);
		struct spot spot = spot_key(&item, S("tools"));
		names_resolve(check, &tools, "a tool", &agent->tools, &spot);
		spot = spot_key(&item, S("guardrail_policies"));
		names_resolve(check, &policies, "a guardrail policy", &agent->guardrail_policies,
			      &spot);
		spot = spot_key(&item, S("collaboration_patterns"));
		names_resolve(check, &patterns, "a collaboration pattern",
			      &agent->collaboration_patterns, &spot);
	}
}

void task_team_config_check_handoffs(const struct task_team_config *value, struct check *check)
{
	AUTO(map) agents = { 0 };
	agent_names(check, value, &agents);
	struct spot team = spot_of(check), list = spot_key(&team, S("handoff_rules"));
	for (size_t i = 0; i < value->handoff_rules.count; i++) {
		const struct task_handoff_rule *rule = &value->handoff_rules.at[i];
		struct spot item = spot_index(&list, i);
		struct spot spot = spot_key(&item, S("from_agent"));
		name_resolves(check, &agents, "an agent", rule->from_agent, &spot);
		spot = spot_key(&item, S("to_agent"));
		name_resolves(check, &agents, "an agent", rule->to_agent, &spot);
	}
}

void task_team_config_check_patterns(const struct task_team_config *value, struct check *check)
{
	AUTO(map) agents = { 0 };
	agent_names(check, value, &agents);
	struct spot team = spot_of(check), list = spot_key(&team, S("collaboration_patterns"));
	for (size_t i = 0; i < value->collaboration_patterns.count; i++) {
		const struct task_collaboration_pattern *pattern =
			&value->collaboration_patterns.at[i];
		struct spot item = spot_index(&list, i);
		struct spot spot = spot_key(&item, S("agents"));
		names_resolve(check, &agents, "an agent", &pattern->agents, &spot);
		if (!has(pattern, coordination_agent))
			continue;
		spot = spot_key(&item, S("coordination_agent"));
		name_resolves(check, &agents, "an agent", pattern->coordination_agent, &spot);
	}
}
