/* Where requests go, and with which key. */
#include <criterion/criterion.h>

#include "base/yaml.h"
#include "llm/provider.h"

static struct arena arena;

static void forget(void)
{
	arena_done(&arena);
}

TestSuite(provider, .fini = forget);

static bool read_endpoint(const char *yaml, size_t number, struct endpoint *out,
			  struct str *problem)
{
	struct contract_source source = { 0 };
	struct problems problems = { .arena = &arena };
	struct error error;
	cr_assert(yaml_read(str_from_c(yaml), &arena, &source.json, &error), "%s", error.text);
	const struct run_api_options *options = run_api_options_parse(&source, &arena, &problems);
	bool good = options != NULL &&
		    provider_endpoint(options, number, S("m"), &arena, out, &problems);
	*problem = problems_text(&problems, &arena);
	return good;
}

static void expect(const char *yaml, size_t number, const char *url, const char *key,
		   const char *model)
{
	struct endpoint endpoint;
	struct str problem;
	cr_assert(read_endpoint(yaml, number, &endpoint, &problem), "%s: " STR_FMT, yaml,
		  STR_ARG(problem));
	cr_expect(str_equal(endpoint.url, str_from_c(url)), STR_FMT, STR_ARG(endpoint.url));
	cr_expect(str_equal(endpoint.key.reference, str_from_c(key)), STR_FMT,
		  STR_ARG(endpoint.key.reference));
	cr_expect(str_equal(endpoint.model, str_from_c(model)), STR_FMT, STR_ARG(endpoint.model));
}

static void expect_problem(const char *yaml, size_t number, const char *part)
{
	struct endpoint endpoint;
	struct str problem;
	size_t at;
	cr_expect_not(read_endpoint(yaml, number, &endpoint, &problem), "%s", yaml);
	cr_expect(str_find(problem, str_from_c(part), &at), "no \"%s\" in: " STR_FMT, part,
		  STR_ARG(problem));
}

Test(provider, every_row_is_whole)
{
	for (size_t i = 0; i < provider_list.count; i++) {
		const struct provider *one = &provider_list.at[i];
		cr_expect_eq(provider_find(one->name), one);
		cr_expect_gt(one->max_tokens, 0);
		cr_expect(one->custom ||
			  (str_starts(one->base_url, S("https://")) && one->variable.size > 0));
	}
}

Test(provider, presets)
{
	expect("{}", 0, "https://api.deepseek.com/chat/completions", "env:DEEPSEEK_API_KEY", "m");
	expect("provider: openai", 0, "https://api.openai.com/v1/responses", "env:OPENAI_API_KEY",
	       "m");
	expect("{provider: openai, format: chat}", 0, "https://api.openai.com/v1/chat/completions",
	       "env:OPENAI_API_KEY", "m");
	expect("provider: anthropic", 0, "https://api.anthropic.com/v1/messages",
	       "env:ANTHROPIC_API_KEY", "m");
	expect("{provider: anthropic, api_key: 'file:claude'}", 0,
	       "https://api.anthropic.com/v1/messages", "file:claude", "m");
	expect("provider: ollama", 0, "http://127.0.0.1:11434/v1/chat/completions", "", "m");
	expect("{provider: custom, base_url: 'http://10.0.0.1:8000/v1/', api_key: 'env:MINE'}", 0,
	       "http://10.0.0.1:8000/v1/chat/completions", "env:MINE", "m");
}

Test(provider, fallbacks_have_their_own)
{
	const char *yaml =
		"{provider: custom, base_url: 'http://h/v1', api_key: 'env:MINE', fallback: [{model: b}, "
		"{provider: openai, model: c}, {provider: custom, model: d, base_url: 'http://i'}]}";
	expect(yaml, 1, "http://h/v1/chat/completions", "env:MINE", "b");
	expect(yaml, 2, "https://api.openai.com/v1/responses", "env:OPENAI_API_KEY", "c");
	expect(yaml, 3, "http://i/chat/completions", "env:MINE", "d");
}

Test(provider, a_key_stays_with_its_provider)
{
	expect_problem("{provider: openai, base_url: 'https://evil.example/v1'}", 0,
		       "/base_url: the provider openai has an address of its own");
	expect_problem(
		"{provider: custom, base_url: 'https://evil.example', api_key: 'env:OPENAI_API_KEY'}",
		0, "/api_key: this key is sent to the provider openai only");
	expect_problem("{provider: anthropic, api_key: 'env:OPENAI_API_KEY'}", 0, "/api_key");
	expect_problem("{fallback: [{provider: custom, model: x, base_url: 'http://e', api_key: "
		       "'env:DEEPSEEK_API_KEY'}]}",
		       1, "/fallback/0/api_key");
	expect_problem("{provider: openai, api_key: sk-literal}", 0, "/api_key");
}

Test(provider, mistakes_have_a_place)
{
	expect_problem("provider: opnai", 0,
		       "/provider: there is no provider opnai; expected one of deepseek");
	expect_problem("provider: custom", 0, "/base_url: the provider custom needs a base_url");
	expect_problem("{provider: custom, base_url: 'ftp://h'}", 0, "no base URL");
	expect_problem("{provider: custom, base_url: 'http://u:p@h'}", 0, "no base URL");
	expect_problem("{timeout_seconds: 0}", 0, "/timeout_seconds");
	expect_problem("{record: ../x}", 0, "/record");
}
