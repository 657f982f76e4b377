/* Old spellings are read, new ones printed. */
#include "pipeline_support.h"

struct spelling {
	const char *type, *written, *printed;
};

static void assert_spelling(const struct spelling *row)
{
	const struct type *type = type_named(str_from_c(row->type));
	cr_assert_not_null(type);
	uint32_t value;
	cr_assert(contract_word_find(type, str_from_c(row->written), &value), "%s: %s", row->type,
		  row->written);
	assert_str(contract_word(type, value), str_from_c(row->printed));
}

static const struct spelling spellings[] = {
	{ "pipeline.TrackerType", "none", "noop" },
	{ "pipeline.ProfileTracker", "none", "noop" },
	{ "pipeline.DriverType", "cli", "claude" },
	{ "pipeline.DriverType", "cli:claude", "claude" },
	{ "pipeline.DriverType", "cli:codex", "codex" },
	{ "pipeline.DriverType", "api:openrouter", "api" },
	{ "pipeline.DriverType", "api:openai", "api" },
	{ "pipeline.DriverType", "api:anthropic", "api" },
	{ "pipeline.DriverType", "api:deepseek", "api" },
	{ "pipeline.DriverType", "api:groq", "api" },
	{ "pipeline.DriverType", "api:together", "api" },
	{ "pipeline.DriverType", "api:fireworks", "api" },
	{ "pipeline.DriverType", "api:ollama", "api" },
	{ "pipeline.DriverType", "api:custom", "api" },
	{ "pipeline.AgentDriver", "cli", "claude" },
	{ "pipeline.AgentDriver", "cli:claude", "claude" },
	{ "pipeline.AgentDriver", "cli:codex", "codex" },
	{ "pipeline_v1.TrackerType", "noop", "none" },
	{ "pipeline_v1.DriverType", "cli:claude", "cli" },
	{ "pipeline_v1.DriverType", "api:openrouter", "api" },
	{ "pipeline_v1.DriverType", "api:openai", "api" },
};

Test(spellings, every_old_word_has_a_new_one)
{
	size_t olds = 0;
	for (size_t i = 0; i < COUNT(spellings); i++)
		assert_spelling(&spellings[i]);
	for (size_t i = 0; type_at(i) != NULL; i++)
		for (const struct enum_old *old = type_at(i)->olds;
		     type_at(i)->kind == KIND_ENUM && old->name.size > 0; old++)
			olds++;
	cr_assert_eq(olds, COUNT(spellings), "an old spelling has no row here");
}

Test(spellings, a_document_in_old_words_is_printed_in_new_ones)
{
	AUTO(arena) arena = { 0 };
	struct str text = S("{\"name\":\"work\",\"tracker\":\"none\",\"working_dir\":\"/srv/shop\","
			    "\"agents\":{\"developer\":{\"driver\":\"cli:claude\",\"model\":"
			    "\"opus\"}}}");
	const struct pipeline_profile *profile = read_good(pipeline_profile_type(), text, &arena);
	cr_assert_eq(profile->tracker, PIPELINE_PROFILE_TRACKER_NOOP);
	assert_str(profile->repo_root, S("/srv/shop"));
	struct str printed = pipeline_profile_text(profile, &arena);
	size_t at;
	cr_assert(str_find(printed, S("\"tracker\":\"noop\",\"repo_root\":\"/srv/shop\""), &at));
	cr_assert(str_find(printed, S("\"driver\":\"claude\""), &at));
	cr_assert(!str_find(printed, S("working_dir"), &at));
	cr_assert(!str_find(printed, S("cli"), &at));
}

Test(spellings, the_sandbox_keeps_its_none)
{
	AUTO(arena) arena = { 0 };
	struct str printed =
		reprint(pipeline_sandbox_config_type(), S("{\"mode\":\"none\"}"), &arena);
	cr_assert(str_starts(printed, S("{\"mode\":\"none\",")));
}
