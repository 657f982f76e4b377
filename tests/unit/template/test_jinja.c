/* Prompt templates: the interface.  tests/template compares the language with Jinja2. */
#include <criterion/criterion.h>
#include <string.h>

#include "template/jinja.h"

static struct arena arena;
static struct error error;

static void begin(void)
{
	arena = (struct arena){ 0 };
	error = (struct error){ 0 };
}

static void end(void)
{
	arena_done(&arena);
}

TestSuite(jinja, .init = begin, .fini = end);

static bool render(const char *source, const char *data, const struct jinja_options *options,
		   struct str *out)
{
	const struct jinja_template *template;
	const struct json *json;
	bool good = json_read(str_from_c(data), &arena, &json, &error);
	cr_assert(good);
	return jinja_parse(S("t.md"), str_from_c(source), options, &arena, &template, &error) &&
	       jinja_render(template, json, options, &arena, out, &error);
}

Test(jinja, renders_text_of_data)
{
	static const struct jinja_options options = { 0 };
	struct str text;
	cr_assert(render("Hi {{ name|upper }}{% for i in l %}, {{ i }}{% endfor %}\n",
			 "{\"name\":\"ada\",\"l\":[1,2]}", &options, &text));
	cr_assert(str_equal(text, S("Hi ADA, 1, 2")));
}

Test(jinja, an_error_has_place_and_code_and_leaves_the_output)
{
	static const struct jinja_options options = { 0 };
	struct str text = S("before");
	cr_assert(!render("a\n {{ x.y }}", "{}", &options, &text));
	cr_assert(error.code == ERROR_INVALID && error.line == 2 && error.column == 6);
	cr_assert_str_eq(error.text, "t.md:2:6: \"x\" is undefined, so it has no \"y\"");
	cr_assert(str_equal(text, S("before")));
}

Test(jinja, strict_refuses_what_is_undefined)
{
	static const struct jinja_options options = { .strict = true };
	struct str text;
	cr_assert(!render("{{ x }}", "{}", &options, &text));
	cr_assert_str_eq(error.text, "t.md:1:1: \"x\" is undefined");
}

Test(jinja, data_is_never_a_template)
{
	static const struct jinja_options options = { 0 };
	struct str text;
	cr_assert(render("{{ a }}", "{\"a\":\"{{ b }}{% x\",\"b\":1}", &options, &text));
	cr_assert(str_equal(text, S("{{ b }}{% x")));
}

Test(jinja, a_template_must_be_utf8_and_not_too_large)
{
	static const struct jinja_options options = { 0 };
	const struct jinja_template *template;
	char *large = arena_take_text(&arena, 2000000);
	memset(large, 'x', 2000000);
	cr_assert(!jinja_parse(S("t"), S("a\xff"), &options, &arena, &template, &error));
	cr_assert(strstr(error.text, "UTF-8") != NULL);
	cr_assert(!jinja_parse(S("t"), (struct str){ large, 2000000 }, &options, &arena, &template,
			       &error));
	cr_assert(strstr(error.text, "the limit is 1048576") != NULL);
}

static bool load(void *context, struct str name, struct arena *into, struct str *out_source,
		 struct error *load_error)
{
	(void)into;
	(*(int *)context)++;
	if (str_equal(name, S("broken")))
		return fail(load_error, ERROR_FORBIDDEN, "forbidden");
	if (!str_equal(name, S("part")))
		return fail(load_error, ERROR_NOT_FOUND, "none");
	*out_source = S("[{{ x }}]");
	return true;
}

Test(jinja, includes_are_loaded_once_and_only_a_missing_one_can_be_ignored)
{
	int loads = 0;
	const struct jinja_options options = { .load = load, .context = &loads };
	struct str text;
	cr_assert(
		render("{% include 'part' %}{% include 'part' %}{% include 'no' ignore missing %}",
		       "{\"x\":1}", &options, &text));
	cr_assert(str_equal(text, S("[1][1]")) && loads == 2);
	cr_assert(!render("{% include 'broken' ignore missing %}", "{}", &options, &text));
	cr_assert_str_eq(error.text, "t.md:1:4: forbidden");
}

Test(jinja, work_is_bounded)
{
	static const struct jinja_options options = { 0 };
	struct str text;
	cr_assert(!render(
		"{% for a in range(9000) %}{{ 1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1 "
		"}}{% endfor %}",
		"{}", &options, &text));
	cr_assert(strstr(error.text, "takes more than 500000 steps") != NULL, "%s", error.text);
}
