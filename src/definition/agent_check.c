/* definition/agent_check.c -- the agents of steps, with the values of all sources (agent_resolve.h).
 *
 * The graph contains the whole agent, so that a run continues with the agent it began with
 * (architecture R14).  Drivers are not known here: the caller of the compiler supplies the check of
 * an agent.
 */
#include "base/buf.h"
#include "contract/closest.h"
#include "contract/pipeline_agent.h"
#include "definition/agent_driver.h"
#include "definition/agent_resolve.h"
#include "definition/compile_internal.h"

struct run_graph_tool_list definition_named_tools(struct str_list names, struct arena *arena)
{
	struct run_graph_tool *at = arena_array(arena, struct run_graph_tool, names.count);
	for (size_t i = 0; i < names.count; i++) {
		at[i] = *run_graph_tool_new(arena);
		SET(&at[i], name, names.at[i]);
		SET(&at[i], text, S(""));
	}
	return (struct run_graph_tool_list){ at, names.count };
}

/* The member that a problem is about, or the agent if it lacks that member. */
static const struct json *place_of(const struct json *agent, struct str pointer)
{
	const struct json *member = json_member(agent, str_skip(pointer, 1));
	return member == NULL ? agent : member;
}

/* Of a value that comes from elsewhere than the file: the agent, the origin and the field. */
static void add_configured(const struct compiler *c, struct str agent, const char *origin,
			   struct str pointer, struct str text)
{
	struct str field = str_copy(c->arena, str_skip(pointer, pointer.size > 0));
	char *at = (char *)(uintptr_t)field.at;
	for (size_t i = 0; i < field.size; i++)
		at[i] = at[i] == '/' ? '.' : at[i];
	problems_add_configuration(c->problems, "agent " STR_FMT " (%s): " STR_FMT "%s" STR_FMT,
				   STR_ARG(agent), origin, STR_ARG(field),
				   field.size > 0 ? ": " : "", STR_ARG(text));
}

/* Where the value that a problem is about comes from.  Sub-values of options have origins of their
 * own; a value that is missing should have come with the driver. */
static enum run_config_origin origin_of(const struct agent_resolution *resolution,
					struct str pointer, struct arena *arena)
{
	struct str rest = str_skip(pointer, pointer.size > 0), first, second;
	enum run_config_origin origin = RUN_ORIGIN_DEFAULT;
	if (str_cut(&rest, '/', &first) && str_equal(first, S("options")) &&
	    str_cut(&rest, '/', &second))
		origin = agent_resolution_origin(
			resolution, str_format(arena, "options." STR_FMT, STR_ARG(second)));
	else
		origin = agent_resolution_origin(resolution, first);
	return origin != RUN_ORIGIN_DEFAULT ? origin
					    : agent_resolution_origin(resolution, S("driver"));
}

static const char *origin_text(const struct compiler *c, enum run_config_origin origin)
{
	const struct pipeline_profile *profile = c->tools->profile;
	if (origin == RUN_ORIGIN_PROFILE && profile != NULL)
		return str_format(c->arena, "profile " STR_FMT, STR_ARG(profile->name)).at;
	return str_c(c->arena, run_config_origin_name(origin));
}

struct found_agent {
	struct agent_resolution resolution;
	const struct run_graph_agent *agent;
	bool known;
	struct problems problems; /* with pointers relative to the agent */
};

/* The registry is asked only for agents that the file does not describe completely. */
static bool find_registered(const struct compiler *c, struct str name,
			    const struct run_agent **out_agent, struct error *error)
{
	struct error missing = { 0 };
	*out_agent = NULL;
	if (c->tools->agent == NULL ||
	    c->tools->agent(c->tools->context, name, c->arena, out_agent, &missing) ||
	    missing.code == ERROR_NOT_FOUND)
		return true;
	*error = missing;
	return false;
}

static void find_agent_sandbox(const struct compiler *c, struct found_agent *found)
{
	const struct run_agent_settings *settings = found->resolution.settings;
	struct run_graph_agent *agent = (struct run_graph_agent *)(uintptr_t)found->agent;
	const struct pipeline_profile *profile = c->tools->profile;
	struct error error;
	if (!has(settings, sandbox) ||
	    (profile != NULL && pipeline_sandbox_is_set(profile->sandbox, c->arena)))
		return; /* that of the run */
	const struct run_graph_sandbox *sandbox =
		agent_sandbox(settings->sandbox, c->tools->isolates, c->arena, &found->problems);
	if (sandbox == NULL)
		return;
	SET(agent, sandbox, sandbox);
	if (c->tools->check_sandbox != NULL &&
	    !c->tools->check_sandbox(c->tools->context, sandbox, c->arena, &error))
		problems_add(&found->problems, S("/sandbox"), 0, 0, "%s", error.text);
}

static bool find_agent(const struct compiler *c, const struct run_definition_agent *definition,
		       struct str name, struct found_agent *out_found, struct error *error)
{
	const struct definition_tools *tools = c->tools;
	struct agent_description description = { .name = name,
						 .definition = definition,
						 .profile = tools->profile };
	struct agent_sources sources;
	if ((definition == NULL || !has(definition, driver)) &&
	    !find_registered(c, name, &description.registered, error))
		return false;
	if (description.registered != NULL && tools->tier != NULL &&
	    !tools->tier(tools->context, name, c->arena, &description.tier, error))
		return false;
	agent_sources_gather(&description, c->arena, &sources);
	*out_found =
		(struct found_agent){ .known = sources.known, .problems = { .arena = c->arena } };
	if (!sources.known)
		return true;
	agent_resolve(&sources, c->arena, &out_found->resolution);
	out_found->agent = agent_resolution_apply(&out_found->resolution, name, c->arena,
						  &out_found->problems);
	if (out_found->problems.count == 0 && tools->check_agent != NULL)
		tools->check_agent(tools->context, out_found->agent, c->arena,
				   &out_found->problems);
	agent_driver_set_cassette((struct run_graph_agent *)(uintptr_t)out_found->agent,
				  tools->record, tools->replay, c->arena);
	find_agent_sandbox(c, out_found);
	return true;
}

/* ---- the agents of the file ---------------------------------------------------------------- */

static void add_problem(const struct compiler *c, const struct found_agent *found,
			const struct run_definition_agent_entry *entry, const struct json *place,
			const struct problem *problem)
{
	enum run_config_origin origin = origin_of(&found->resolution, problem->pointer, c->arena);
	if (origin != RUN_ORIGIN_DEFINITION && origin != RUN_ORIGIN_DEFAULT) {
		add_configured(c, entry->key, origin_text(c, origin), problem->pointer,
			       problem->text);
		return;
	}
	const struct json *at = place_of(place, problem->pointer);
	bool known = problem->line > 0 || at == NULL;
	problem_suggest(problems_add(c->problems,
				     str_format(c->arena, "/agents/" STR_FMT STR_FMT,
						STR_ARG(entry->key), STR_ARG(problem->pointer)),
				     known ? problem->line : at->line,
				     known ? problem->column : at->column, STR_FMT,
				     STR_ARG(problem->text)),
			problem->hint.word, problem->hint.replacement);
}

void definition_check_agents(const struct compiler *c, const struct json *tree)
{
	const struct json *agents = json_member(tree, S("agents"));
	for (size_t i = 0; c->tools->check_agent != NULL && i < c->file->agents.count; i++) {
		const struct run_definition_agent_entry *entry = &c->file->agents.at[i];
		const struct json *place = json_member(agents, entry->key);
		struct found_agent found;
		struct error error;
		if (!find_agent(c, &entry->value, entry->key, &found, &error)) {
			problems_add(c->problems, S("/agents"), 0, 0, "%s", error.text);
			continue;
		}
		for (size_t p = 0; p < found.problems.count; p++)
			add_problem(c, &found, entry, place, &found.problems.at[p]);
	}
}

/* ---- the agent of a step ------------------------------------------------------------------- */

static struct str agent_names(const struct compiler *c)
{
	AUTO(buf) names = { 0 };
	for (size_t i = 0; i < c->file->agents.count; i++)
		buf_add_format(&names, "%s" STR_FMT, i == 0 ? "" : ", ",
			       STR_ARG(c->file->agents.at[i].key));
	return names.size == 0 ? S("none") : str_copy(c->arena, buf_str(&names));
}

static struct str closest_agent(const struct compiler *c, struct str name)
{
	struct str *words = arena_array(c->arena, struct str, c->file->agents.count);
	for (size_t i = 0; i < c->file->agents.count; i++)
		words[i] = c->file->agents.at[i].key;
	return closest_word((struct str_list){ words, c->file->agents.count }, name);
}

static void report_unknown(const struct body *body, size_t number, struct str name)
{
	const struct compiler *c = body->compiler;
	struct str close = closest_agent(c, name);
	problem_suggest(definition_step_problem(
				body, number, S("agent"),
				"agent " STR_FMT
				" does not exist: add it to `agents` of the file (now: " STR_FMT
				"), to the profile or to the registry%s" STR_FMT "%s",
				STR_ARG(name), STR_ARG(agent_names(c)),
				close.size > 0 ? "; did you mean \"" : "", STR_ARG(close),
				close.size > 0 ? "\"?" : ""),
			name, close);
}

const struct run_definition_agent *definition_own_agent(const struct compiler *c, struct str name)
{
	for (size_t i = 0; i < c->file->agents.count; i++)
		if (str_equal(c->file->agents.at[i].key, name))
			return &c->file->agents.at[i].value;
	return NULL;
}

static const struct run_graph_retry *retry_of(const struct run_agent_settings *settings,
					      struct arena *arena)
{
	if (!has(settings, retry))
		return NULL;
	struct run_graph_retry *retry = run_graph_retry_new(arena);
	SET(retry, max_retries, settings->retry->max_retries);
	SET(retry, base_delay_us, (int64_t)(settings->retry->base_delay * 1e6));
	SET(retry, max_delay_us, (int64_t)(settings->retry->max_delay * 1e6));
	return retry;
}

static const struct run_graph_agent *find(const struct body *body, size_t number,
					  const struct run_graph_retry **out_retry)
{
	const struct compiler *c = body->compiler;
	struct str name = body->steps.at[number].agent;
	const struct run_definition_agent *definition = definition_own_agent(c, name);
	struct found_agent found;
	struct error error;
	*out_retry = NULL;
	if (!find_agent(c, definition, name, &found, &error)) {
		definition_step_problem(body, number, S("agent"), "%s", error.text);
		return NULL;
	}
	if (!found.known && c->names_unknown)
		return NULL;
	if (!found.known) {
		report_unknown(body, number, name);
		return NULL;
	}
	/* Problems of the file's own agents have been reported. */
	for (size_t i = 0; definition == NULL && i < found.problems.count; i++) {
		const struct problem *problem = &found.problems.at[i];
		add_configured(
			c, name,
			origin_text(c, origin_of(&found.resolution, problem->pointer, c->arena)),
			problem->pointer, problem->text);
	}
	*out_retry = retry_of(found.resolution.settings, c->arena);
	return found.problems.count > 0 ? NULL : found.agent;
}

/* ---- sandboxes -------------------------------------------------------------------------------- */

void definition_find_sandbox(struct compiler *c)
{
	const struct pipeline_profile *profile = c->tools->profile;
	struct problems found = { .arena = c->arena };
	struct error error;
	if (profile == NULL || !pipeline_sandbox_is_set(profile->sandbox, c->arena))
		return;
	c->sandbox = agent_sandbox(profile->sandbox, c->tools->isolates, c->arena, &found);
	for (size_t i = 0; i < found.count; i++)
		problems_add_configuration(
			c->problems, "profile " STR_FMT ": " STR_FMT ": " STR_FMT,
			STR_ARG(profile->name), STR_ARG(str_skip(found.at[i].pointer, 1)),
			STR_ARG(found.at[i].text));
	if (c->sandbox != NULL && found.count == 0 && c->tools->check_sandbox != NULL &&
	    !c->tools->check_sandbox(c->tools->context, c->sandbox, c->arena, &error))
		problems_add_configuration(c->problems, "profile " STR_FMT ": sandbox: %s",
					   STR_ARG(profile->name), error.text);
}

enum run_effect_class definition_call_class(const struct compiler *c,
					    const struct definition_tool *tool,
					    const struct run_graph_sandbox *sandbox)
{
	const struct run_graph_sandbox *used = sandbox != NULL ? sandbox : c->sandbox;
	bool reaches = used != NULL && has(used, network) && used->network.count > 0 && tool->child;
	/* What a command did on the network cannot be undone with its workspace. */
	return tool->class == RUN_CLASS_CONTAINED && reaches ? RUN_CLASS_ONCE : tool->class;
}

/* The input `attachments` has a meaning in graphs that say so: an older one may have such an input, too. */
const struct run_graph_agent *definition_find_agent(const struct body *body, size_t number,
						    const struct run_graph_retry **out_retry)
{
	const struct run_graph_agent *agent = find(body, number, out_retry);
	const struct json *inputs = body->steps.at[number].inputs;
	const struct run_definition_agent *own =
		definition_own_agent(body->compiler, body->steps.at[number].agent);
	if (agent == NULL)
		return NULL;
	struct run_graph_agent *shown = arena_copy(body->compiler->arena, agent, sizeof(*agent));
	if (json_member(inputs, S("attachments")) != NULL)
		SET(shown, attachments, true);
	if (own != NULL && own->required_files.count > 0)
		SET(shown, required_files, own->required_files);
	if (own != NULL && own->on_full != RUN_FULL_DROPS)
		SET(shown, on_full, own->on_full);
	return shown;
}

/* ---- the agent of a step ------------------------------------------------------------------ */

static bool is_among(struct str_list names, struct str name)
{
	for (size_t i = 0; i < names.count; i++)
		if (str_equal(names.at[i], name))
			return true;
	return false;
}

/* Of its own tools, those of the list; an agent without tools gets exactly the list. */
static void allow_tools(struct run_graph_agent *agent, struct str_list allowed, struct arena *arena)
{
	struct run_graph_tool *kept = arena_array(arena, struct run_graph_tool, agent->tools.count);
	size_t count = 0;
	if (!has(agent, tools)) {
		if (allowed.count > 0)
			SET(agent, tools, definition_named_tools(allowed, arena));
		return;
	}
	for (size_t i = 0; i < agent->tools.count; i++)
		if (is_among(allowed, agent->tools.at[i].name))
			kept[count++] = agent->tools.at[i];
	SET(agent, tools, ((struct run_graph_tool_list){ kept, count }));
	if (count == 0)
		agent->is.tools = ABSENT;
}

/* What the step publishes, beside what every reply has. */
static struct str_list expected_outputs(const struct run_definition_step *step, struct arena *arena)
{
	struct str *names = arena_array(arena, struct str, step->outputs.count);
	size_t count = 0;
	for (size_t i = 0; i < step->outputs.count; i++)
		if (!str_equal(step->outputs.at[i].key, S("text")) &&
		    !str_equal(step->outputs.at[i].key, S("json")))
			names[count++] = step->outputs.at[i].key;
	return (struct str_list){ names, count };
}

const struct run_graph_agent *definition_adapt_agent(const struct body *body, size_t number,
						     const struct run_graph_agent *agent)
{
	const struct compiler *c = body->compiler;
	const struct run_definition_step *step = &body->steps.at[number];
	struct run_graph_agent *adapted = arena_copy(c->arena, agent, sizeof(*agent));
	struct str_list expected = expected_outputs(step, c->arena);
	if (has(step, model_override))
		SET(adapted, model, step->model_override);
	if (has(step, schema)) {
		SET(adapted, schema, step->schema);
		adapted->is.format_assertion = ABSENT; /* that of the agent's own schema */
	}
	if (has(step, tools))
		allow_tools(adapted, step->tools, c->arena);
	else if (has(c->file, tools))
		allow_tools(adapted, c->file->tools, c->arena);
	if (expected.count > 0)
		SET(adapted, expects, expected);
	return adapted;
}

void definition_check_agent_members(const struct body *body, size_t number)
{
	const struct run_definition_step *step = &body->steps.at[number];
	if (has(step, agent))
		return;
	if (has(step, model_override))
		definition_step_problem(body, number, S("model_override"),
					"only an agent's step has a model_override");
	if (has(step, schema))
		definition_step_problem(body, number, S("schema"),
					"only an agent's step has a schema of its reply");
	if (has(step, tools))
		definition_step_problem(
			body, number, S("tools"),
			"only an agent's step has tools; a step that calls one has tool");
}
