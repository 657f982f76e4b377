/* Settings: order of the sources, values of every type, all problems of a file. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/limits.h"
#include "config/config.h"

static struct arena arena;
static struct config config;

static void begin(void)
{
	arena_done(&arena);
	config_defaults(&config, &arena, "/h");
}

static void end(void)
{
	arena_done(&arena);
}

TestSuite(config, .init = begin, .fini = end);

static void take_good(const char *text)
{
	struct problems problems = { .arena = &arena };
	bool good = config_take_file(&config, str_from_c(text), &problems);
	cr_assert(good, "%s: " STR_FMT, text, STR_ARG(problems_text(&problems, &arena)));
}

/* The file has exactly one problem, at this position, and its text contains these words. */
static void take_bad(const char *text, uint32_t line, uint32_t column, const char *words)
{
	struct problems problems = { .arena = &arena };
	struct config before = config;
	cr_assert(!config_take_file(&config, str_from_c(text), &problems), "%s", text);
	cr_assert_eq(problems.count, 1, "%s: " STR_FMT, text,
		     STR_ARG(problems_text(&problems, &arena)));
	const struct problem *problem = &problems.at[0];
	cr_assert(problem->line == line && problem->column == column, "%s: at %u:%u", text,
		  problem->line, problem->column);
	size_t at;
	cr_assert(str_find(problem->text, str_from_c(words), &at), "%s: " STR_FMT, text,
		  STR_ARG(problem->text));
	cr_assert_eq(memcmp(&before, &config, sizeof(config)), 0, "%s", text);
}

static void expect_text(enum config_key key, const char *text)
{
	cr_assert_str_eq(config_text(&config, key), text);
}

Test(config, defaults_are_values_of_their_own_rows)
{
	const struct config_row *row;
	for (size_t i = 0; (row = config_at(i)) != NULL; i++) {
		struct config_value value;
		struct error error = { 0 };
		cr_assert(config_value_of_text(row, "/h", row->fallback, &arena, &value, &error),
			  STR_FMT ": %s", STR_ARG(row->name), error.text);
		cr_assert_eq(config.values[i].source, CONFIG_FROM_DEFAULT);
	}
	expect_text(CONFIG_HOME, "/h/.baton");
	cr_assert_eq(config_number(&config, CONFIG_SERVE_PORT), 8420);
	cr_assert(config_list(&config, CONFIG_SECRETS_ALLOW).count >= 7);
}

Test(config, a_later_source_wins)
{
	static const char *const environment[] = { "BATON_SERVE_PORT=2", "PATH=/bin",
						   "BATON_LOG_FORMAT=json", NULL };
	struct str_list unknown;
	struct error error = { 0 };
	take_good("serve:\n  port: 1\n  host: ::1\n");
	cr_assert_eq(config_number(&config, CONFIG_SERVE_PORT), 1);
	cr_assert(config_take_environment(&config, environment, &unknown, &error));
	cr_assert_eq(unknown.count, 0);
	cr_assert_eq(config_number(&config, CONFIG_SERVE_PORT), 2);
	cr_assert(config_take(&config, CONFIG_SERVE_PORT, CONFIG_FROM_FLAG, "3", &error));
	cr_assert_eq(config_number(&config, CONFIG_SERVE_PORT), 3);
	static const struct {
		enum config_key key;
		const char *source;
	} sources[] = { { CONFIG_SERVE_PORT, "flag --port" },
			{ CONFIG_SERVE_HOST, "c.yaml:3" },
			{ CONFIG_LOG_FORMAT, "environment BATON_LOG_FORMAT" },
			{ CONFIG_TOOLS_ISOLATION, "default" } };
	for (size_t i = 0; i < COUNT(sources); i++) {
		struct str text = config_source_text(&config, sources[i].key, "c.yaml", &arena);
		cr_assert(str_equal(text, str_from_c(sources[i].source)), STR_FMT, STR_ARG(text));
	}
}

Test(config, a_section_and_a_dotted_name_are_the_same)
{
	take_good("serve.port: 7\ntools: {isolation: off}\nlog:\n");
	cr_assert_eq(config_number(&config, CONFIG_SERVE_PORT), 7);
	expect_text(CONFIG_TOOLS_ISOLATION, "off");
	expect_text(CONFIG_LOG_FORMAT, "human");
	take_good("");
	take_good("# nothing but words\n");
	take_good("---\n...\n");
}

Test(config, every_type_from_a_file)
{
	take_good("secrets:\n  allow: [A_KEY, B_KEY]\napi_key: env:A_KEY\n");
	cr_assert_eq(config_list(&config, CONFIG_SECRETS_ALLOW).count, 2);
	expect_text(CONFIG_SECRETS_ALLOW, "A_KEY, B_KEY");
	expect_text(CONFIG_API_KEY, "env:A_KEY");
	begin();
	take_good("secrets.allow: A, B ,,C\n");
	cr_assert_eq(config_list(&config, CONFIG_SECRETS_ALLOW).count, 3);
	begin();
	take_good("secrets: {allow: []}\n");
	cr_assert_eq(config_list(&config, CONFIG_SECRETS_ALLOW).count, 0);
}

static bool value_of(struct config_row row, const char *text, struct config_value *out_value)
{
	struct error error;
	row.name = S("x");
	return config_value_of_text(&row, "/h", text, &arena, out_value, &error);
}

Test(config, every_type_from_text)
{
	struct config_row seconds = {
		.type = CONFIG_SECONDS, .least = 1, .most = 864000, .fallback = "1"
	};
	struct config_row number = { .type = CONFIG_INT, .least = -5, .most = 5, .fallback = "1" };
	struct config_row boolean = { .type = CONFIG_BOOL, .fallback = "true" };
	struct config_row path = { .type = CONFIG_PATH, .fallback = "/" };
	struct config_value value;
	static const struct {
		const char *text;
		int64_t seconds;
	} good[] = {
		{ "90", 90 }, { "90s", 90 }, { "5m", 300 }, { "2h", 7200 }, { "10d", 864000 }
	};
	for (size_t i = 0; i < COUNT(good); i++) {
		cr_assert(value_of(seconds, good[i].text, &value), "%s", good[i].text);
		cr_assert_eq(value.number, good[i].seconds);
	}
	static const char *const bad_seconds[] = { "",    "s",    "0",
						   "11d", "1.5m", "5 m",
						   "5M",  "-1",   "9223372036854775807d" };
	for (size_t i = 0; i < COUNT(bad_seconds); i++)
		cr_assert(!value_of(seconds, bad_seconds[i], &value), "%s", bad_seconds[i]);
	cr_assert(value_of(number, "-5", &value) && value.number == -5);
	cr_assert(!value_of(number, "6", &value) && !value_of(number, "1e0", &value));
	cr_assert(value_of(boolean, "on", &value) && value.number == 1);
	cr_assert(value_of(boolean, "0", &value) && value.number == 0);
	cr_assert(!value_of(boolean, "True", &value) && !value_of(boolean, "", &value));
	cr_assert(value_of(path, "~/a", &value));
	cr_assert_str_eq(value.text, "/h/a");
	cr_assert(value_of(path, "~a", &value));
	cr_assert_str_eq(value.text, "~a");
	cr_assert(!value_of(path, "a\nb", &value) && !value_of(path, "\xff", &value));
}

Test(config, wrong_values_have_their_place_and_what_is_allowed)
{
	take_bad("serve:\n  port: 70000\n", 2, 9, "a whole number from 0 to 65535, not 70000");
	take_bad("serve:\n  port: '80'\n", 2, 9, "serve.port must be a whole number");
	take_bad("serve:\n  port: 80.5\n", 2, 9, "not 80.5");
	take_bad("serve:\n  port: -1\n", 2, 9, "not -1");
	take_bad("serve:\n  port: [1]\n", 2, 9, "not a list");
	take_bad("serve:\n  port:\n", 2, 8, "not nothing");
	take_bad("serve:\n  host: 127\n", 2, 9, "serve.host must be a text, not 127");
	take_bad("tools:\n  isolation: of\n", 2, 14, "native or off, not of");
	take_bad("log: human\n", 1, 1, "log is a section");
	take_bad("log: [1]\n", 1, 1, "log is a section");
	take_bad("home: /x\n", 1, 1, "home cannot be set in config.yaml");
	take_bad("secrets:\n  allow:\n    - A\n    - 7\n", 4, 7, "strings without commas, not 7");
	take_bad("- 1\n", 1, 1, "must be a mapping");
	take_bad("12\n", 1, 1, "must be a mapping");
}

Test(config, a_secret_itself_is_refused_and_not_repeated)
{
	struct problems problems = { .arena = &arena };
	cr_assert(!config_take_file(&config, S("api_key: sk-very-secret\n"), &problems));
	size_t at;
	cr_assert(str_find(problems.at[0].text, S("env:NAME or file:NAME"), &at));
	cr_assert(!str_find(problems_text(&problems, &arena), S("sk-very"), &at));
}

Test(config, unknown_names_come_with_the_near_one_and_the_list)
{
	take_bad("serve:\n  prot: 1\n", 2, 3,
		 "did you mean serve.port? Expected one of serve.host, ");
	take_bad("sreve:\n  port: 1\n", 1, 1,
		 "unknown setting sreve; did you mean server? Expected one of serve.host");
	take_bad("zzz: 1\n", 1, 1, "unknown setting zzz; expected one of ");
	take_bad("tools:\n  isolation:\n    x: 1\n", 3, 5, "not a mapping");
}

Test(config, what_is_set_twice)
{
	struct problems problems = { .arena = &arena };
	cr_assert(!config_take_file(&config, S("serve.port: 1\nserve:\n  port: 2\n"), &problems));
	size_t at;
	cr_assert(str_find(problems.at[0].text, S("set twice; the first time on line 1"), &at));
	cr_assert_eq(problems.at[0].line, 3);
	cr_assert_eq(config_number(&config, CONFIG_SERVE_PORT), 1);
}

Test(config, all_problems_at_once)
{
	struct problems problems = { .arena = &arena };
	cr_assert(!config_take_file(&config,
				    S("serve:\n  port: x\n  host: 1\nlog:\n  fromat: json\n"
				      "tools:\n  isolation: off\n"),
				    &problems));
	cr_assert_eq(problems.count, 3);
	expect_text(CONFIG_TOOLS_ISOLATION, "off"); /* valid settings are still applied */
}

Test(config, hostile_files)
{
	struct problems problems = { .arena = &arena };
	static const char *const texts[] = {
		"a: b: c",
		"{",
		"serve: &a\n  port: *a\n",
		"\xff\xfe",
		"serve: {port: 1}\n---\nserve: {port: 2}\n",
		"serve: {port: 1, port: 2}\n",
		"? [1]\n: 2\n",
		"!!python/object:os.system x",
		"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n"
		"c: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\n"
		"e: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e]\n",
	};
	for (size_t i = 0; i < COUNT(texts); i++) {
		size_t before = problems.count;
		cr_assert(!config_take_file(&config, str_from_c(texts[i]), &problems), "%zu", i);
		cr_assert(problems.count > before, "%zu", i);
	}
	AUTO(buf) deep = { 0 };
	for (int i = 0; i < 100000; i++)
		buf_add(&deep, S("{a: "));
	cr_assert(!config_take_file(&config, buf_str(&deep), &problems));
	buf_clear(&deep);
	for (int i = 0; i < 5000; i++)
		buf_add_format(&deep, "unknown_%d: 1\n", i);
	struct problems many = { .arena = &arena };
	cr_assert(!config_take_file(&config, buf_str(&deep), &many));
	cr_assert_eq(many.count, LIMIT_PROBLEMS);
	cr_assert_eq(many.hidden, 5000 - LIMIT_PROBLEMS);
	cr_assert(!config_take_file(&config, S("serve: {host: \"a\\0b\"}\n"), &problems));
	cr_assert(!config_take_file(&config, S("serve: {host: \"a\\nb\"}\n"), &problems));
}

Test(config, the_environment)
{
	struct str_list unknown;
	struct error error = { 0 };
	static const char *const odd[] = {
		"BATON_SERVE_PROT=1", "BATON_POINTS=x=kill", "BATON_", "BATON_X", "XBATON_Y=1", NULL
	};
	cr_assert(config_take_environment(&config, odd, &unknown, &error));
	cr_assert_eq(unknown.count, 1);
	cr_assert(str_equal(unknown.at[0], S("BATON_SERVE_PROT")));
	static const char *const wrong[] = { "BATON_SERVE_PORT=many", NULL };
	cr_assert(!config_take_environment(&config, wrong, &unknown, &error));
	cr_assert_not_null(strstr(error.text, "BATON_SERVE_PORT: serve.port must be a whole number "
					      "from 0 to 65535, not many"));
	static const char *const empty[] = { "BATON_SERVE_PORT=", NULL };
	cr_assert(!config_take_environment(&config, empty, &unknown, &error));
	static const char *const plain[] = { "BATON_API_KEY=sk-itself", NULL };
	cr_assert(config_take_environment(&config, plain, &unknown, &error));
}
