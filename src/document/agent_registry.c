/* document/agent_registry.c -- agents of the registry by name, read when they are needed. */
#include "document/agent_registry.h"

#include "base/buf.h"
#include "base/limits.h"
#include "contract/closest.h"
#include "contract/pipeline_agent.h"
#include "contract/pipeline_types.h"
#include "contract/run_agent_types.h"
#include "contract/run_settings_types.h"
#include "document/stored_document.h"

/* "2" and "reviewer" of tier2_reviewer. */
static bool cut_tier(struct str name, struct str *out_tier, struct str *out_role)
{
	struct str rest = str_skip(name, 4);
	size_t digits = 0;
	while (digits < rest.size && rest.at[digits] >= '0' && rest.at[digits] <= '9')
		digits++;
	if (!str_starts(name, S("tier")) || digits == 0 || digits > 2 || digits + 1 >= rest.size ||
	    rest.at[digits] != '_')
		return false;
	*out_tier = str_head(rest, digits);
	*out_role = str_skip(rest, digits + 1);
	return true;
}

static void list_tiers(const struct run_tiers *tiers, struct buf *out)
{
	for (size_t i = 0; i < tiers->tiers.count; i++)
		buf_add_format(out, "%s" STR_FMT, i == 0 ? "" : ", ",
			       STR_ARG(tiers->tiers.at[i].key));
}

static bool find_tier(struct store_reader *reader, struct str agent, struct str number,
		      struct arena *arena, const struct run_tier **out_tier, struct error *error)
{
	const void *value;
	AUTO(buf) names = { 0 };
	if (!stored_document_read(reader, DOCUMENT_TIERS, document_kind_name(DOCUMENT_TIERS), arena,
				  &value, NULL, error))
		return false;
	const struct run_tiers *tiers = value;
	for (size_t i = 0; tiers != NULL && i < tiers->tiers.count; i++)
		if (str_equal(tiers->tiers.at[i].key, number)) {
			*out_tier = &tiers->tiers.at[i].value;
			return true;
		}
	if (tiers == NULL || tiers->tiers.count == 0)
		return fail(error, ERROR_INVALID,
			    "agent " STR_FMT ": there are no tiers; import models.yaml with baton "
			    "import runtime, or set them with PUT /api/tiers",
			    STR_ARG(agent));
	list_tiers(tiers, &names);
	return fail(error, ERROR_INVALID,
		    "agent " STR_FMT ": there is no tier " STR_FMT "; expected one of " STR_FMT,
		    STR_ARG(agent), STR_ARG(number), STR_ARG(buf_str(&names)));
}

/* The agents that could have been meant. */
static bool refuse_role(struct store_reader *reader, struct str agent, struct str role,
			struct arena *arena, struct error *error)
{
	struct store_document_page page;
	AUTO(buf) names = { 0 };
	if (!reader->ops->list_documents(reader, document_kind_name(DOCUMENT_AGENT), S(""),
					 LIMIT_NAMED_AGENTS, arena, &page, error))
		return false;
	struct str *words = arena_array(arena, struct str, page.count);
	for (size_t i = 0; i < page.count; i++) {
		words[i] = page.at[i].name;
		buf_add_format(&names, "%s" STR_FMT, i == 0 ? "" : ", ", STR_ARG(words[i]));
	}
	struct str close = closest_word((struct str_list){ words, page.count }, role);
	return fail(
		error, ERROR_INVALID,
		"agent " STR_FMT ": there is no role " STR_FMT
		": no agent of the registry has this name; there are: " STR_FMT "%s" STR_FMT "%s",
		STR_ARG(agent), STR_ARG(role),
		STR_ARG(page.count == 0 ? S("none") : buf_str(&names)),
		close.size > 0 ? "; did you mean " : "", STR_ARG(close), close.size > 0 ? "?" : "");
}

bool agent_registry_tier(struct store_reader *reader, struct str name, struct arena *arena,
			 const struct run_tier **out_tier, struct error *error)
{
	struct str number, role;
	const void *own;
	*out_tier = NULL;
	if (!cut_tier(name, &number, &role))
		return true;
	if (!stored_document_read(reader, DOCUMENT_AGENT, name, arena, &own, NULL, error))
		return false;
	return own != NULL || find_tier(reader, name, number, arena, out_tier, error);
}

bool agent_registry_find(struct store_reader *reader, struct str name, struct arena *arena,
			 const struct run_agent **out_agent, struct error *error)
{
	const void *agent;
	if (!stored_document_read(reader, DOCUMENT_AGENT, name, arena, &agent, NULL, error))
		return false;
	struct str number, role;
	const struct run_tier *tier;
	if (agent == NULL && cut_tier(name, &number, &role)) {
		if (!find_tier(reader, name, number, arena, &tier, error) ||
		    !stored_document_read(reader, DOCUMENT_AGENT, role, arena, &agent, NULL, error))
			return false;
		if (agent == NULL)
			return refuse_role(reader, name, role, arena, error);
	}
	if (agent == NULL)
		return fail(error, ERROR_NOT_FOUND, "there is no agent called " STR_FMT,
			    STR_ARG(str_head(name, LIMIT_NAME_BYTES)));
	*out_agent = agent;
	return true;
}

bool agent_registry_profile(struct store_reader *reader, struct str name, struct arena *arena,
			    const struct pipeline_profile **out_profile, struct error *error)
{
	const void *value;
	if (name.size == 0) {
		if (!stored_document_read(reader, DOCUMENT_SETTINGS,
					  document_kind_name(DOCUMENT_SETTINGS), arena, &value,
					  NULL, error))
			return false;
		const struct run_selection *selection = value;
		if (selection == NULL) {
			*out_profile = NULL;
			return true;
		}
		name = selection->active_profile;
	}
	if (!stored_document_read(reader, DOCUMENT_PROFILE, name, arena, &value, NULL, error))
		return false;
	if (value == NULL)
		return fail(error, ERROR_CONFIGURATION,
			    "there is no profile called " STR_FMT "; baton profile list shows them",
			    STR_ARG(str_head(name, LIMIT_NAME_BYTES)));
	*out_profile = value;
	return true;
}

bool agent_registry_profile_agent(struct store_reader *reader,
				  const struct pipeline_profile *profile, struct str name,
				  struct arena *arena,
				  const struct pipeline_agent_config **out_config,
				  struct error *error)
{
	const void *value;
	struct error missing;
	if (pipeline_profile_agent(profile, name, arena, out_config, &missing))
		return true;
	if (!stored_document_read(reader, DOCUMENT_AGENT, name, arena, &value, NULL, error))
		return false;
	if (value == NULL) {
		*error = missing;
		return false;
	}
	const struct run_agent *agent = value;
	enum pipeline_agent_driver driver;
	bool named = pipeline_agent_driver_from(run_driver_name(agent->driver), &driver);
	require(named); /* both vocabularies have the same words */
	struct pipeline_agent_config *config = pipeline_agent_config_new(arena);
	SET(config, driver, driver);
	SET(config, model, agent->llm_config->model);
	SET(config, options, agent->options);
	SET(config, sandbox,
	    pipeline_sandbox_is_set(profile->sandbox, arena) ? profile->sandbox : agent->sandbox);
	SET(config, profile_name, profile->name);
	*out_config = config;
	return true;
}
