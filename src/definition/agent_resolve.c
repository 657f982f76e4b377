/* definition/agent_resolve.c -- merges the sources of an agent's configuration.
 *
 * Sources are merged as JSON objects, so that the rule of precedence is written once and not per field.
 */
#include "definition/agent_resolve.h"

#include "base/buf.h"
#include "contract/pipeline_agent.h"
#include "contract/run_agent_types.h"
#include "contract/run_definition_types.h"
#include "contract/run_graph_types.h"
#include "definition/agent_driver.h"
#include "definition/definition_compile.h"

/* In the order in which they are shown. */
static const struct {
	struct str name;
	bool of_driver; /* belongs to the driver: not taken from below the source that names it */
} fields[] = {
	{ { "driver", 6 }, false },          { { "model", 5 }, true },
	{ { "system", 6 }, false },          { { "temperature", 11 }, false },
	{ { "max_tokens", 10 }, false },     { { "context_tokens", 14 }, false },
	{ { "schema", 6 }, false },          { { "format_assertion", 16 }, false },
	{ { "tools", 5 }, false },           { { "allow_human_input", 17 }, false },
	{ { "required_tools", 14 }, false }, { { "approve", 7 }, false },
	{ { "approve_risk", 12 }, false },   { { "max_risk", 8 }, false },
	{ { "max_turns", 9 }, false },       { { "timeout_seconds", 15 }, false },
	{ { "retry", 5 }, false },           { { "sandbox", 7 }, false },
};

/* ---- what each source says --------------------------------------------------------------- */

static const struct run_agent_settings *definition_settings(const struct run_definition_agent *from,
							    struct arena *arena)
{
	struct run_agent_settings *out = run_agent_settings_new(arena);
	if (has(from, driver))
		SET(out, driver, from->driver);
	if (from->model.size > 0)
		SET(out, model, from->model);
	if (from->options->as.object.count > 0)
		SET(out, options, from->options);
	if (from->system.size > 0)
		SET(out, system, from->system);
	if (has(from, temperature))
		SET(out, temperature, from->temperature);
	if (has(from, max_tokens))
		SET(out, max_tokens, from->max_tokens);
	if (has(from, context_tokens))
		SET(out, context_tokens, from->context_tokens);
	if (has(from, schema))
		SET(out, schema, from->schema);
	if (has(from, format_assertion))
		SET(out, format_assertion, from->format_assertion);
	if (from->tools.count > 0)
		SET(out, tools, from->tools);
	if (from->allow_human_input)
		SET(out, allow_human_input, true);
	if (from->required_tools.count > 0)
		SET(out, required_tools, from->required_tools);
	if (from->approve.count > 0)
		SET(out, approve, from->approve);
	if (has(from, approve_risk))
		SET(out, approve_risk, from->approve_risk);
	if (has(from, max_risk))
		SET(out, max_risk, from->max_risk);
	if (has(from, max_turns))
		SET(out, max_turns, from->max_turns);
	return out;
}

/* The options of the driver.  max_iterations of a profile is not among them: it limits the rounds of a
 * pipeline (`profile` of a definition's input). */
static const struct json *entry_options(const struct json *options, struct arena *arena)
{
	size_t count = 0;
	struct json *left = arena_new(arena, struct json);
	struct json_member *members =
		arena_array(arena, struct json_member, options->as.object.count);
	for (size_t i = 0; i < options->as.object.count; i++)
		if (!str_equal(options->as.object.at[i].key, S("max_iterations")))
			members[count++] = options->as.object.at[i];
	*left = *options;
	left->as.object.at = members;
	left->as.object.count = count;
	return left;
}

static const struct run_agent_settings *entry_settings(const struct pipeline_agent_config *from,
						       struct arena *arena)
{
	struct run_agent_settings *out = run_agent_settings_new(arena);
	const struct json *options = entry_options(from->options, arena);
	SET(out, driver, pipeline_agent_driver_name(from->driver));
	SET(out, model, from->model);
	if (options->as.object.count > 0)
		SET(out, options, options);
	if (pipeline_sandbox_is_set(from->sandbox, arena))
		SET(out, sandbox, from->sandbox);
	return out;
}

/* An agent of the graph vocabulary has no driver: its api_type says which one it is. */
static struct str registered_driver(const struct run_agent *from, struct arena *arena)
{
	const struct run_agent_model *model = from->llm_config;
	if (from->driver != RUN_DRIVER_SCRIPT || !has(model, api_type))
		return run_driver_name(from->driver);
	enum graph_api_type type =
		model->api_type == GRAPH_API_GLM ? GRAPH_API_CUSTOM : model->api_type;
	return str_format(arena, "api:" STR_FMT, STR_ARG(graph_api_type_name(type)));
}

static const struct json *registered_options(const struct run_agent *from, struct str driver,
					     struct arena *arena)
{
	const struct run_agent_model *model = from->llm_config;
	const struct json *options = from->options;
	if (!str_equal(driver, S("api")) && !str_starts(driver, S("api:")))
		return options;
	if (has(model, endpoint))
		options = agent_driver_option(options, S("base_url"), model->endpoint, arena);
	if (has(model, api_key))
		options =
			agent_driver_option(options, S("api_key"), model->api_key.reference, arena);
	if (has(model, api_key_env))
		options = agent_driver_option(
			options, S("api_key"),
			str_format(arena, "env:" STR_FMT, STR_ARG(model->api_key_env)), arena);
	return options;
}

static const struct run_agent_settings *registry_settings(const struct run_agent *from,
							  struct arena *arena)
{
	const struct run_agent_model *model = from->llm_config;
	struct run_agent_settings *out = run_agent_settings_new(arena);
	SET(out, driver, registered_driver(from, arena));
	SET(out, model, model->model);
	const struct json *options = registered_options(from, out->driver, arena);
	if (options->as.object.count > 0)
		SET(out, options, options);
	SET(out, system, from->system_prompt);
	SET(out, temperature, has(model, temperature) ? model->temperature : from->temperature);
	if (has(model, max_tokens))
		SET(out, max_tokens, model->max_tokens);
	else if (has(from, max_tokens))
		SET(out, max_tokens, from->max_tokens);
	if (from->tools.count > 0)
		SET(out, tools, from->tools);
	if (from->allow_human_input)
		SET(out, allow_human_input, true);
	SET(out, max_turns, from->max_iterations);
	if (has(from, timeout_seconds))
		SET(out, timeout_seconds, from->timeout_seconds);
	if (pipeline_sandbox_is_set(from->sandbox, arena))
		SET(out, sandbox, from->sandbox);
	return out;
}

static const struct run_agent_settings *tier_settings(const struct run_tier *from,
						      struct arena *arena)
{
	struct run_agent_settings *out = run_agent_settings_new(arena);
	if (has(from, driver))
		SET(out, driver, from->driver);
	if (has(from, model))
		SET(out, model, from->model);
	if (has(from, options) && from->options->as.object.count > 0)
		SET(out, options, from->options);
	if (has(from, max_tokens))
		SET(out, max_tokens, from->max_tokens);
	return out;
}

static const struct run_agent_settings *default_settings(struct arena *arena)
{
	struct run_agent_settings *out = run_agent_settings_new(arena);
	SET(out, system, S(""));
	SET(out, tools, ((struct str_list){ NULL, 0 }));
	SET(out, allow_human_input, false);
	SET(out, max_turns, 10);
	return out;
}

static void source_add(struct agent_sources *sources, enum run_config_origin origin,
		       const struct run_agent_settings *settings, bool always)
{
	require(sources->count < AGENT_SOURCES);
	sources->at[sources->count++] = (struct agent_source){ origin, settings, always };
}

static const struct pipeline_agent_config *find_entry(const struct pipeline_profile *profile,
						      struct str name)
{
	for (size_t i = 0; profile != NULL && i < profile->agents.count; i++)
		if (str_equal(profile->agents.at[i].key, name))
			return &profile->agents.at[i].value;
	return NULL;
}

void agent_sources_gather(const struct agent_description *description, struct arena *arena,
			  struct agent_sources *out_sources)
{
	struct agent_sources sources = { .count = 0 };
	const struct pipeline_profile *profile = description->profile;
	const struct pipeline_agent_config *entry = find_entry(profile, description->name);
	if (profile != NULL && pipeline_sandbox_is_set(profile->sandbox, arena)) {
		struct run_agent_settings *own = run_agent_settings_new(arena);
		SET(own, sandbox, profile->sandbox);
		source_add(&sources, RUN_ORIGIN_PROFILE, own, true);
	}
	if (description->definition != NULL)
		source_add(&sources, RUN_ORIGIN_DEFINITION,
			   definition_settings(description->definition, arena), true);
	if (entry != NULL)
		source_add(&sources, RUN_ORIGIN_PROFILE, entry_settings(entry, arena), false);
	if (description->tier != NULL)
		source_add(&sources, RUN_ORIGIN_TIER, tier_settings(description->tier, arena),
			   false);
	if (description->registered != NULL)
		source_add(&sources, RUN_ORIGIN_REGISTRY,
			   registry_settings(description->registered, arena), false);
	if (profile != NULL) {
		struct run_agent_settings *own = run_agent_settings_new(arena);
		SET(own, retry, profile->retry);
		source_add(&sources, RUN_ORIGIN_PROFILE, own, true);
	}
	source_add(&sources, RUN_ORIGIN_DEFAULT, default_settings(arena), true);
	sources.known =
		description->definition != NULL || entry != NULL || description->registered != NULL;
	*out_sources = sources;
}

/* ---- merging ------------------------------------------------------------------------------ */

struct merging {
	const struct agent_sources *sources;
	const struct json *trees[AGENT_SOURCES];
	size_t driver; /* the source that names the driver; count = none */
	bool complete; /* the definition describes the whole agent */
	struct arena *arena;
	struct run_resolved_value *values;
	size_t count;
	struct json_member *members; /* of the settings without defaults */
	size_t member_count;
};

static bool counts(const struct merging *m, size_t source)
{
	return !m->complete || m->sources->at[source].always;
}

static void value_add(struct merging *m, struct str name, const struct json *value, size_t source)
{
	struct run_resolved_value *out = &m->values[m->count++];
	*out = *run_resolved_value_new(m->arena);
	SET(out, name, name);
	SET(out, value, value);
	SET(out, origin, m->sources->at[source].origin);
}

static void merge_field(struct merging *m, struct str name, bool of_driver)
{
	for (size_t i = 0; i < m->sources->count && !(of_driver && i > m->driver); i++) {
		const struct json *value = json_member(m->trees[i], name);
		if (value == NULL || !counts(m, i))
			continue;
		value_add(m, name, value, i);
		if (m->sources->at[i].origin != RUN_ORIGIN_DEFAULT)
			m->members[m->member_count++] =
				(struct json_member){ .key = name, .value = *value };
		return;
	}
}

/* The options of the sources down to the one that names the driver, the higher ones first. */
static void merge_options(struct merging *m)
{
	size_t total = 0, count = 0;
	for (size_t i = 0; i < m->sources->count && i <= m->driver; i++) {
		const struct json *options = json_member(m->trees[i], S("options"));
		total += options != NULL ? options->as.object.count : 0;
	}
	struct json_member *members = arena_array(m->arena, struct json_member, total);
	struct json object = { .kind = JSON_OBJECT };
	for (size_t i = 0; i < m->sources->count && i <= m->driver; i++) {
		const struct json *options = json_member(m->trees[i], S("options"));
		if (options == NULL || !counts(m, i))
			continue;
		for (size_t j = 0; j < options->as.object.count; j++) {
			const struct json_member *option = &options->as.object.at[j];
			object.as.object.at = members;
			object.as.object.count = count;
			if (json_member(&object, option->key) != NULL)
				continue;
			members[count++] = *option;
			value_add(m, str_format(m->arena, "options." STR_FMT, STR_ARG(option->key)),
				  &option->value, i);
		}
	}
	if (count == 0)
		return;
	object.as.object.at = members;
	object.as.object.count = count;
	m->members[m->member_count++] =
		(struct json_member){ .key = S("options"), .value = object };
}

void agent_resolve(const struct agent_sources *sources, struct arena *arena,
		   struct agent_resolution *out_resolution)
{
	struct merging m = { .sources = sources, .driver = sources->count, .arena = arena };
	size_t options = 0;
	for (size_t i = 0; i < sources->count; i++) {
		const struct agent_source *source = &sources->at[i];
		bool drives = has(source->settings, driver);
		m.trees[i] = run_agent_settings_tree(source->settings, arena);
		m.driver = drives && m.driver == sources->count ? i : m.driver;
		m.complete |= drives && source->origin == RUN_ORIGIN_DEFINITION;
		if (has(source->settings, options))
			options += source->settings->options->as.object.count;
	}
	m.values = arena_array(arena, struct run_resolved_value, COUNT(fields) + options);
	m.members = arena_array(arena, struct json_member, COUNT(fields) + 1);
	for (size_t i = 0; i < COUNT(fields); i++) {
		merge_field(&m, fields[i].name, fields[i].of_driver);
		if (i == 1)
			merge_options(&m);
	}
	struct json tree = { .kind = JSON_OBJECT };
	tree.as.object.at = m.members;
	tree.as.object.count = m.member_count;
	const struct contract_source text = { .json = &tree };
	struct problems problems = { .arena = arena };
	const struct run_agent_settings *settings =
		run_agent_settings_parse(&text, arena, &problems);
	require(settings != NULL); /* every value was one of this entity */
	*out_resolution = (struct agent_resolution){ settings, { m.values, m.count } };
}

enum run_config_origin agent_resolution_origin(const struct agent_resolution *resolution,
					       struct str name)
{
	for (size_t i = 0; i < resolution->values.count; i++)
		if (str_equal(resolution->values.at[i].name, name))
			return resolution->values.at[i].origin;
	return RUN_ORIGIN_DEFAULT;
}

/* ---- what a graph has of it ----------------------------------------------------------------- */

static bool is_named(struct str_list names, struct str name)
{
	for (size_t i = 0; i < names.count; i++)
		if (str_equal(names.at[i], name))
			return true;
	return false;
}

static struct str_list tools_of(const struct run_agent_settings *from, struct arena *arena)
{
	struct str_list tools = has(from, tools) ? from->tools : (struct str_list){ NULL, 0 };
	if (!has(from, allow_human_input) || !from->allow_human_input ||
	    is_named(tools, S("ask_human")))
		return tools;
	struct str *names = arena_array(arena, struct str, tools.count + 1);
	for (size_t i = 0; i < tools.count; i++)
		names[i] = tools.at[i];
	names[tools.count] = S("ask_human");
	return (struct str_list){ names, tools.count + 1 };
}

static void set_limits(struct run_graph_agent *agent, const struct run_agent_settings *from)
{
	if (has(from, temperature) && !str_equal(agent->driver, S("script")))
		SET(agent, temperature, from->temperature);
	if (has(from, max_tokens))
		SET(agent, max_tokens, from->max_tokens);
	if (has(from, context_tokens))
		SET(agent, context_tokens, from->context_tokens);
	if (has(from, timeout_seconds))
		SET(agent, timeout_us, (int64_t)(from->timeout_seconds * 1e6));
	if (has(from, max_turns) && (has(agent, tools) || has(agent, schema)))
		SET(agent, max_turns, from->max_turns);
	if (has(from, approve_risk))
		SET(agent, approve_risk, from->approve_risk);
	if (has(from, max_risk))
		SET(agent, max_risk, from->max_risk);
	if (has(from, approve))
		SET(agent, approve, from->approve);
	if (has(from, required_tools))
		SET(agent, required_tools, from->required_tools);
}

const struct run_graph_agent *agent_resolution_apply(const struct agent_resolution *resolution,
						     struct str name, struct arena *arena,
						     struct problems *problems)
{
	static const struct json nothing = { .kind = JSON_OBJECT };
	const struct run_agent_settings *from = resolution->settings;
	struct run_graph_agent *agent = run_graph_agent_new(arena);
	struct str_list tools = tools_of(from, arena);
	SET(agent, name, name);
	SET(agent, model, has(from, model) ? from->model : S(""));
	SET(agent, system, has(from, system) ? from->system : S(""));
	if (!has(from, driver)) {
		SET(agent, driver, S(""));
		problems_add(problems, S("/driver"), 0, 0,
			     "it has no driver; name one here, in the profile or in the registry");
		return agent;
	}
	if (!agent_driver_set(agent, from->driver, has(from, options) ? from->options : &nothing,
			      arena))
		problems_add(problems, S("/driver"), 0, 0,
			     "the driver is " STR_FMT
			     ", but the options name another provider; remove one of them",
			     STR_ARG(from->driver));
	if (has(from, schema))
		SET(agent, schema, from->schema);
	if (has(from, format_assertion) && from->format_assertion)
		SET(agent, format_assertion, true);
	if (tools.count > 0)
		SET(agent, tools, definition_named_tools(tools, arena));
	set_limits(agent, from);
	return agent;
}

const struct run_graph_sandbox *agent_sandbox(const struct pipeline_sandbox_config *config,
					      bool server_isolates, struct arena *arena,
					      struct problems *problems)
{
	struct run_graph_sandbox *out = run_graph_sandbox_new(arena);
	if (config->mode != PIPELINE_SANDBOX_NONE) {
		struct str mode = pipeline_sandbox_mode_name(config->mode);
		problems_add(
			problems, S("/sandbox/mode"), 0, 0,
			"the mode " STR_FMT
			" is not available: this server runs tools on its own host (mode none)",
			STR_ARG(mode));
		return NULL;
	}
	if (has(config, isolation) && config->isolation == PIPELINE_ISOLATION_OFF &&
	    server_isolates)
		problems_add(problems, S("/sandbox/isolation"), 0, 0,
			     "off is less than the server's tools.isolation; only the server's "
			     "own setting can turn isolation off");
	if (has(config, isolation))
		SET(out, isolation, pipeline_isolation_name(config->isolation));
	if (has(config, mounts))
		SET(out, mounts, config->mounts);
	if (config->network_allowlist_enabled)
		SET(out, network, config->network_allowed_hosts);
	bool own = has(out, isolation) || has(out, mounts) || has(out, network);
	return own ? out : NULL;
}
