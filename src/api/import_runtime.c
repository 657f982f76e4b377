/* api/import_runtime.c -- agents.yaml and models.yaml of the runtime vocabulary.
 *
 * An agent of the file becomes an agent of the registry, with its models as driver and fallbacks.  The tiers become
 * the document `tiers`: tier2_reviewer is then the agent reviewer with the models of tier 2.  A file without tiers has the
 * tiers 1 to 5, which only limit the length of a reply.
 */
#include "api/import.h"
#include "contract/run_agent_types.h"

enum { TIERS = 5, MOST_TIER = 9, MOST_IDS = 64 };

static const int tier_tokens[TIERS + 1] = { 0, 4096, 8192, 16384, 16384, 32768 };

struct runtime_import {
	struct import *import;
	struct str agents_file, models_file; /* paths; "" = not there */
	const struct json *agents_tree, *models_tree;
	const struct run_agents_file *agents;
	const struct run_models_file *models; /* NULL = none */
};

/* Ids of models, the first that is asked first. */
struct ids {
	struct str at[MOST_IDS];
	size_t count;
};

static void add_ids(struct ids *ids, struct str_list more)
{
	for (size_t i = 0; i < more.count && ids->count < MOST_IDS; i++)
		ids->at[ids->count++] = more.at[i];
}

static void add_id(struct ids *ids, struct str id)
{
	add_ids(ids, (struct str_list){ &id, 1 });
}

static struct str file_text(const struct import *import, struct str path, bool *out_found)
{
	for (size_t i = 0; i < import->files.count; i++)
		if (str_equal(import->files.at[i].key, path)) {
			*out_found = true;
			return import->files.at[i].value;
		}
	*out_found = false;
	return S("");
}

/* ---- chains ------------------------------------------------------------------------ */

/* The models of a rule of `routing`; a problem, with the choices, when there is no such rule. */
static void add_route(struct runtime_import *r, struct ids *ids, struct str name, struct str file,
		      const struct json *place)
{
	AUTO(buf) names = { 0 };
	for (size_t i = 0; r->models != NULL && i < r->models->routing.count; i++) {
		const struct run_models_file_route *route = &r->models->routing.at[i].value;
		buf_add_format(&names, "%s" STR_FMT, i == 0 ? "" : ", ",
			       STR_ARG(r->models->routing.at[i].key));
		if (!str_equal(r->models->routing.at[i].key, name))
			continue;
		add_ids(ids, route->preferred);
		add_ids(ids, route->fallback);
		return;
	}
	import_problem(r->import, file, place,
		       "there is no routing " STR_FMT "; expected one of " STR_FMT, STR_ARG(name),
		       STR_ARG(names.size == 0 ? S("none") : buf_str(&names)));
}

static const struct json *tier_value(const struct runtime_import *r, int64_t number)
{
	for (size_t i = 0; r->models != NULL && has(r->models, tiers) && i < r->models->tiers.count;
	     i++) {
		struct str key = r->models->tiers.at[i].key;
		int64_t value;
		if (str_starts(key, S("tier")))
			key = str_skip(key, str_starts(key, S("tier_")) ? 5 : 4);
		if (str_to_int(key, &value) && value == number)
			return r->models->tiers.at[i].value;
	}
	return NULL;
}

/* The models of a tier, and its own limit of tokens; 0 = none. */
static int64_t add_tier(struct runtime_import *r, struct ids *ids, int64_t number)
{
	struct import *import = r->import;
	struct problems problems = { .arena = import->arena };
	const struct json *value = tier_value(r, number);
	struct str forced = import_variable(
		import, str_format(import->arena, "AGENTIC_MODEL_TIER_%lld", (long long)number));
	const struct contract_source source = { .json = value };
	if (forced.size > 0)
		add_id(ids, forced);
	if (value == NULL)
		return 0;
	if (value->kind == JSON_STRING)
		add_id(ids, value->as.string);
	for (size_t i = 0; value->kind == JSON_LIST && i < value->as.list.count; i++)
		add_id(ids, json_text(&value->as.list.at[i]));
	if (value->kind == JSON_STRING || value->kind == JSON_LIST)
		return 0;
	const struct run_models_file_tier *tier =
		run_models_file_tier_parse(&source, import->arena, &problems);
	import_problems(import, r->models_file, &problems);
	if (tier == NULL)
		return 0;
	add_ids(ids, tier->models);
	if (has(tier, routing))
		add_route(r, ids, tier->routing, r->models_file, value);
	return has(tier, max_tokens) ? tier->max_tokens : 0;
}

static void add_last(const struct runtime_import *r, struct ids *ids)
{
	if (r->models != NULL)
		add_ids(ids, r->models->fallback->chain);
}

/* ---- tiers ------------------------------------------------------------------------- */

static struct run_tier tier_of(struct runtime_import *r, int64_t number)
{
	struct run_tier *tier = run_tier_new(r->import->arena);
	struct ids ids = { .count = 0 };
	int64_t tokens = add_tier(r, &ids, number);
	if (ids.count > 0) {
		add_last(r, &ids);
		struct import_chain chain =
			import_chain(r->import, r->models, (struct str_list){ ids.at, ids.count },
				     r->models_file, tier_value(r, number));
		if (chain.driver.size == 0)
			import_problem(r->import, r->models_file, tier_value(r, number),
				       "tier %lld: none of its models can be reached",
				       (long long)number);
		SET(tier, driver, chain.driver);
		SET(tier, model, chain.model);
		if (chain.options != NULL)
			SET(tier, options, chain.options);
	}
	if (tokens > 0 || number <= TIERS)
		SET(tier, max_tokens, tokens > 0 ? tokens : tier_tokens[number]);
	return *tier;
}

static void check_tiers(struct runtime_import *r)
{
	for (size_t i = 0; i < r->models->tiers.count; i++) {
		struct str key = r->models->tiers.at[i].key, number = key;
		int64_t value;
		if (str_starts(key, S("tier")))
			number = str_skip(key, str_starts(key, S("tier_")) ? 5 : 4);
		if (!str_to_int(number, &value) || value < 1 || value > MOST_TIER)
			import_problem(r->import, r->models_file, r->models->tiers.at[i].value,
				       "unknown tier " STR_FMT
				       "; expected a number from 1 to %d (tier0 has no model)",
				       STR_ARG(key), MOST_TIER);
	}
}

static void write_tiers(struct runtime_import *r)
{
	struct import *import = r->import;
	struct run_tiers *tiers = run_tiers_new(import->arena);
	struct run_tier_entry *entries =
		arena_array(import->arena, struct run_tier_entry, MOST_TIER + 1);
	bool own = r->models != NULL && has(r->models, tiers);
	size_t count = 0;
	if (r->models == NULL)
		return;
	if (own)
		check_tiers(r);
	for (int64_t number = 1; number <= MOST_TIER; number++) {
		if (own ? tier_value(r, number) == NULL : number > TIERS)
			continue;
		entries[count].key = str_format(import->arena, "%lld", (long long)number);
		entries[count++].value = tier_of(r, number);
	}
	SET(tiers, tiers, ((struct run_tier_map){ entries, count }));
	import_document(import, DOCUMENT_TIERS, document_kind_name(DOCUMENT_TIERS),
			run_tiers_text(tiers, import->arena), r->models_file);
}

/* ---- agents ------------------------------------------------------------------------ */

static bool is_name(struct str name)
{
	bool good = name.size > 0 && name.size <= 128 && name.at[0] >= 'a' && name.at[0] <= 'z';
	for (size_t i = 0; i < name.size && good; i++)
		good = (name.at[i] >= 'a' && name.at[i] <= 'z') ||
		       (name.at[i] >= '0' && name.at[i] <= '9') || name.at[i] == '_';
	return good;
}

static struct import_chain chain_of(struct runtime_import *r, struct str name,
				    const struct run_agents_file_agent *from,
				    const struct json *place)
{
	struct ids ids = { .count = 0 };
	if (has(from, default_model))
		add_id(&ids, from->default_model);
	add_ids(&ids, from->fallback_models);
	if (has(from, routing))
		add_route(r, &ids, from->routing, r->agents_file, json_member(place, S("routing")));
	if (has(from, tier))
		(void)add_tier(r, &ids, from->tier);
	add_last(r, &ids);
	struct import_chain chain =
		import_chain(r->import, r->models, (struct str_list){ ids.at, ids.count },
			     r->agents_file, place);
	if (chain.driver.size == 0)
		import_problem(
			r->import, r->agents_file, place,
			"agent " STR_FMT
			" has no model that can be reached; give it default_model, routing or "
			"tier, and its provider an endpoint in models.yaml",
			STR_ARG(name));
	return chain;
}

static struct str prompt_of(struct runtime_import *r, struct str name,
			    const struct run_agents_file_agent *from, const struct json *place)
{
	bool found;
	if (has(from, system_prompt))
		return from->system_prompt;
	if (!has(from, prompt_file))
		return has(from, description) ? from->description
		       : has(from, role)      ? from->role
					      : name;
	struct str text = file_text(r->import, from->prompt_file, &found);
	if (!found)
		import_problem(r->import, r->agents_file, json_member(place, S("prompt_file")),
			       "there is no file " STR_FMT " in the folder",
			       STR_ARG(from->prompt_file));
	else if (text.size == 0 || text.size > 131072)
		import_problem(r->import, from->prompt_file, NULL,
			       "a system prompt has from 1 to 131072 bytes, not %zu", text.size);
	return text.size > 0 ? text : S("none");
}

static void set_limits(const struct runtime_import *r, const struct run_agents_file_agent *from,
		       struct run_agent *agent)
{
	const struct run_agents_file_settings *settings = r->agents->settings;
	const struct run_models_file_defaults *defaults =
		r->models == NULL ? NULL : r->models->defaults;
	if (has(from, temperature))
		SET(agent, temperature, from->temperature);
	else if (defaults != NULL && has(defaults, temperature))
		SET(agent, temperature, defaults->temperature);
	if (has(from, max_tokens))
		SET(agent, max_tokens, from->max_tokens);
	else if (defaults != NULL && has(defaults, max_tokens))
		SET(agent, max_tokens, defaults->max_tokens);
	if (has(from, max_iterations))
		SET(agent, max_iterations, from->max_iterations);
	else if (has(settings, max_iterations))
		SET(agent, max_iterations, settings->max_iterations);
	if (has(settings, iteration_timeout_seconds))
		SET(agent, timeout_seconds, settings->iteration_timeout_seconds);
	if (has(from, tier))
		SET(agent, model_tier,
		    from->tier == 1   ? RUNTIME_TIER_FAST
		    : from->tier <= 3 ? RUNTIME_TIER_STANDARD
				      : RUNTIME_TIER_POWERFUL);
}

static void write_agent(struct runtime_import *r, struct str name,
			const struct run_agents_file_agent *from, const struct json *place)
{
	struct arena *arena = r->import->arena;
	if (!is_name(name)) {
		import_problem(r->import, r->agents_file, place,
			       "agent " STR_FMT
			       ": a name has small letters, digits and _, and begins with a letter",
			       STR_ARG(name));
		return;
	}
	struct import_chain chain = chain_of(r, name, from, place);
	struct run_agent *agent = run_agent_new(arena);
	struct run_agent_model *model = run_agent_model_new(arena);
	enum run_driver driver = RUN_DRIVER_API;
	(void)run_driver_from(chain.driver, &driver);
	SET(model, model, chain.model.size > 0 ? chain.model : S("none"));
	SET(agent, name, name);
	SET(agent, role, has(from, role) ? from->role : name);
	if (has(from, description))
		SET(agent, description, from->description);
	SET(agent, system_prompt, prompt_of(r, name, from, place));
	SET(agent, capabilities, from->capabilities);
	SET(agent, driver, driver);
	SET(agent, llm_config, (const struct run_agent_model *)model);
	if (chain.options != NULL)
		SET(agent, options, chain.options);
	SET(agent, tools, from->tools);
	set_limits(r, from, agent);
	import_agent(r->import, agent, json_member(place, S("tools")), r->agents_file);
}

/* ---- the folder -------------------------------------------------------------------- */

static const struct json *read_tree(struct import *import, const char *stem, struct str *out_path)
{
	static const char *const ends[] = { "yaml", "yml", "json" };
	for (size_t i = 0; i < COUNT(ends); i++) {
		struct str path = str_format(import->arena, "%s.%s", stem, ends[i]);
		bool found;
		struct str text = file_text(import, path, &found);
		if (!found)
			continue;
		*out_path = path;
		const struct json *tree = import_tree(import, path, text);
		return tree == NULL ? NULL : import_expand(import, path, tree);
	}
	return NULL;
}

static void check_paths(struct import *import)
{
	for (size_t i = 0; i < import->files.count; i++) {
		struct str path = import->files.at[i].key;
		bool main = str_starts(path, S("agents.")) || str_starts(path, S("models."));
		if (!main && !str_ends(path, S(".md")) && !str_ends(path, S(".txt")))
			import_problem(import, path, NULL,
				       "this file does not belong to the layout: expected "
				       "agents.yaml, models.yaml and the prompts that agents.yaml "
				       "names (.md, .txt)");
	}
}

void import_runtime(struct import *import)
{
	struct runtime_import r = { .import = import, .agents_file = S(""), .models_file = S("") };
	struct problems problems = { .arena = import->arena };
	check_paths(import);
	r.models_tree = read_tree(import, "models", &r.models_file);
	r.agents_tree = read_tree(import, "agents", &r.agents_file);
	if (r.agents_file.size == 0 && r.models_file.size == 0)
		import_problem(import, S("agents.yaml"), NULL,
			       "the folder has neither agents.yaml nor models.yaml");
	if (r.models_tree != NULL) {
		const struct contract_source source = { .json = r.models_tree };
		r.models = run_models_file_parse(&source, import->arena, &problems);
		import_problems(import, r.models_file, &problems);
	}
	problems = (struct problems){ .arena = import->arena };
	if (r.agents_tree != NULL) {
		const struct contract_source source = { .json = r.agents_tree };
		r.agents = run_agents_file_parse(&source, import->arena, &problems);
		import_problems(import, r.agents_file, &problems);
	}
	if (import->problem_count > 0)
		return;
	write_tiers(&r);
	for (size_t i = 0; r.agents != NULL && i < r.agents->agents.count; i++) {
		const struct json *list = json_member(r.agents_tree, S("agents"));
		write_agent(&r, r.agents->agents.at[i].key, &r.agents->agents.at[i].value,
			    json_member(list, r.agents->agents.at[i].key));
	}
}
