/* Keys, values and cursors of YAML that is being edited. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "base/buf.h"
#include "lsp/yaml_places.h"

static void add_path(const struct yaml_path *path, struct buf *out)
{
	for (size_t i = 0; i < path->depth; i++)
		if (path->at[i].key.size > 0)
			buf_add_format(out, "%s" STR_FMT, i == 0 ? "" : ".",
				       STR_ARG(path->at[i].key));
		else
			buf_add_format(out, "[%zu]", path->at[i].index);
}

static bool note(void *context, const struct yaml_place *place)
{
	struct buf *out = context;
	if (place->is_key)
		return true;
	add_path(&place->path, out);
	buf_add_format(out, "=" STR_FMT "@%u:%zu ", STR_ARG(place->text), place->line,
		       place->column);
	return true;
}

static void expect_values(const char *text, const char *wanted)
{
	AUTO(buf) got = { 0 };
	yaml_places_scan(str_from_c(text), note, &got);
	cr_expect(str_equal(buf_str(&got), str_from_c(wanted)), "%s\ngot    %.*s\nwanted %s", text,
		  (int)got.size, got.at, wanted);
}

Test(yaml_places, values_have_their_path_and_place)
{
	expect_values("a: 1\nb:\n  c: two # no\n", "a=1@0:3 b.c=two@2:5 ");
	expect_values("s:\n  - name: x\n    t: y\n  - z\n",
		      "s[0].name=x@1:10 s[0].t=y@2:7 s[1]=z@3:4 ");
	expect_values("s:\n- a\n- b: c\n  d: e\nf: g\n",
		      "s[0]=a@1:2 s[1].b=c@2:5 s[1].d=e@3:5 f=g@4:3 ");
	expect_values("s:\n  - - a\n    - b\n", "s[0][0]=a@1:6 s[0][1]=b@2:6 ");
	expect_values("k: \"q: # x\"\n'l m': 'n'\n", "k=q: # x@0:4 l m=n@1:8 ");
	expect_values("a: &x b\nc: !t d\n", "a=b@0:6 c=d@1:6 ");
}

Test(yaml_places, flow_style_is_read_within_a_line)
{
	expect_values("s: [a, \"b\", {c: d}]\n", "s[0]=a@0:4 s[1]=b@0:8 s[2].c=d@0:16 ");
	expect_values("- {n: x, i: {p: \"${a.b}\", q: ${c}}}\n",
		      "[0].n=x@0:6 [0].i.p=${a.b}@0:17 [0].i.q=${c}@0:29 ");
	expect_values("a: {b: [\nc: d\n", "c=d@1:3 ");
	expect_values("a: ]}]\nb: {]}\n", "a=]}]@0:3 ");
}

Test(yaml_places, text_blocks_and_comments_are_passed_over)
{
	expect_values("a: |\n  b: c\n\n  d: e\nf: g\n", "f=g@4:3 ");
	expect_values("s:\n  - t: >-\n      x: y\n    u: v\n", "s[0].u=v@3:7 ");
	expect_values("# a: b\n  # c: d\ne: f#g\n", "e=f#g@2:3 ");
}

static void expect_cursor(const char *text, uint32_t line, size_t offset, const char *wanted)
{
	AUTO(buf) got = { 0 };
	struct yaml_cursor cursor;
	yaml_cursor_find(str_from_c(text), line, offset, &cursor);
	add_path(&cursor.path, &got);
	buf_add_format(&got, "|" STR_FMT "|%zu%s%s", STR_ARG(cursor.word), cursor.column,
		       cursor.expects_key ? " key" : "", cursor.in_text ? " text" : "");
	cr_expect(str_equal(buf_str(&got), str_from_c(wanted)), "%s\ngot    %.*s\nwanted %s", text,
		  (int)got.size, got.at, wanted);
}

Test(yaml_places, a_cursor_knows_what_it_completes)
{
	const char *file =
		"steps:\n  - name: a\n    to\n    inputs:\n      \n    depends_on: [x, y]\n  - \n\n";
	expect_cursor(file, 2, 6, "steps[0]|to|4 key");
	expect_cursor(file, 4, 6, "steps[0].inputs||6 key");
	expect_cursor(file, 4, 4, "steps[0]||4 key");
	expect_cursor(file, 5, 18, "steps[0].depends_on[0]|x|17 key");
	expect_cursor(file, 5, 21, "steps[0].depends_on[1]|y|20 key");
	expect_cursor(file, 6, 4, "steps[1]||4 key");
	expect_cursor(file, 7, 0, "||0 key");
	expect_cursor(file, 1, 11, "steps[0].name|a|10");
	expect_cursor("a: {b: c, d\n", 0, 11, "a|d|10 key");
	expect_cursor("a: {b: c, d: e\n", 0, 14, "a.d|e|13");
	expect_cursor("a: |\n  te\n", 1, 4, "a|  te|0 text");
	expect_cursor("a: b # co\n", 0, 9, "|a: b # co|0 text");
	expect_cursor("", 5, 5, "||0 key");
}

Test(yaml_places, what_is_too_deep_is_passed_over)
{
	AUTO(buf) text = { 0 };
	AUTO(buf) got = { 0 };
	for (int i = 0; i < 200; i++)
		buf_add_format(&text, "%*sk:\n", i, "");
	for (int i = 0; i < 300; i++)
		buf_add(&text, S("["));
	yaml_places_scan(buf_str(&text), note, &got);
	cr_expect_eq(got.size, 0);
}
