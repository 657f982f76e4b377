/* Jira's documents as Markdown, and back. */
#include <criterion/criterion.h>

#include "base/limits.h"
#include "tracker/adf.h"

#define TEXT(words) "{\"type\":\"text\",\"text\":\"" words "\"}"
#define MARKED(words, mark) \
	"{\"type\":\"text\",\"text\":\"" words "\",\"marks\":[{\"type\":\"" mark "\"}]}"
#define NODE(type, content) "{\"type\":\"" type "\",\"content\":[" content "]}"
#define PARAGRAPH(content)  NODE("paragraph", content)
#define WITH(type, attributes, content) \
	"{\"type\":\"" type "\",\"attrs\":{" attributes "},\"content\":[" content "]}"

static struct str markdown(struct arena *arena, const char *content)
{
	const struct json *document = NULL;
	struct error error;
	struct str text =
		str_format(arena, "{\"type\":\"doc\",\"version\":1,\"content\":[%s]}", content);
	cr_assert(json_read(text, arena, &document, &error), "%s", error.text);
	return adf_to_markdown(document, arena);
}

static const struct {
	const char *content, *markdown;
} rows[] = {
	{ PARAGRAPH(TEXT("a")) "," PARAGRAPH(TEXT("b")), "a\n\nb" },
	{ PARAGRAPH(MARKED("a ", "strong") "," MARKED("b", "em") "," MARKED("c", "strike")),
	  "**a** *b*~~c~~" },
	{ PARAGRAPH(MARKED("x", "code") "," MARKED("a`b", "code")), "`x``` a`b ``" },
	{ PARAGRAPH("{\"type\":\"text\",\"text\":\"site\",\"marks\":[{\"type\":\"link\",\"attrs\":{"
		    "\"href\":\"https://x.example\"}}]}"),
	  "[site](https://x.example)" },
	{ PARAGRAPH(TEXT("a") ",{\"type\":\"hardBreak\"}," TEXT("b")), "a\nb" },
	{ WITH("heading", "\"level\":3", TEXT("Title")), "### Title" },
	{ WITH("heading", "\"level\":99", TEXT("Deep")), "###### Deep" },
	{ NODE("bulletList",
	       NODE("listItem",
		    PARAGRAPH(TEXT("a")) "," NODE(
			    "bulletList",
			    NODE("listItem", PARAGRAPH(TEXT("b"))))) "," NODE("listItem",
									      PARAGRAPH(
										      TEXT("c")))),
	  "- a\n  - b\n- c" },
	{ WITH("orderedList", "\"order\":4",
	       NODE("listItem", PARAGRAPH(TEXT("a"))) "," NODE("listItem", PARAGRAPH(TEXT("b")))),
	  "4. a\n5. b" },
	{ NODE("taskList", WITH("taskItem", "\"state\":\"DONE\"",
				TEXT("a")) "," WITH("taskItem", "\"state\":\"TODO\"", TEXT("b"))),
	  "- [x] a\n- [ ] b" },
	{ NODE("blockquote", PARAGRAPH(TEXT("a")) "," PARAGRAPH(TEXT("b"))), "> a\n>\n> b" },
	{ WITH("panel", "\"panelType\":\"info\"", PARAGRAPH(TEXT("a"))), "> a" },
	{ WITH("codeBlock", "\"language\":\"c\"", TEXT("int x;")), "```c\nint x;\n```" },
	{ PARAGRAPH(TEXT("a")) ",{\"type\":\"rule\"}," PARAGRAPH(TEXT("b")), "a\n\n---\n\nb" },
	{ NODE("table",
	       NODE("tableRow",
		    NODE("tableHeader", PARAGRAPH(TEXT("a"))) "," NODE(
			    "tableHeader",
			    PARAGRAPH(TEXT(
				    "b|c")))) "," NODE("tableRow",
						       NODE("tableCell",
							    PARAGRAPH(TEXT("1")) "," PARAGRAPH(TEXT(
								    "2"))) "," NODE("tableCell",
										    ""))),
	  "| a | b\\|c |\n| --- | --- |\n| 1<br>2 |  |" },
	{ PARAGRAPH(
		  "{\"type\":\"mention\",\"attrs\":{\"text\":\"@ada\"}},{\"type\":\"emoji\",\"attrs\":"
		  "{\"shortName\":\":x:\"}},{\"type\":\"date\",\"attrs\":{\"timestamp\":"
		  "\"1700000000000\"}},{\"type\":\"inlineCard\",\"attrs\":{\"url\":\"https://u\"}}"),
	  "@ada:x:2023-11-14https://u" },
	{ WITH("mediaSingle", "\"layout\":\"center\"",
	       "{\"type\":\"media\",\"attrs\":{\"alt\":\"p.png\"}}"),
	  "![p.png]()" },
	{ WITH("expand", "\"title\":\"More\"", PARAGRAPH(TEXT("a"))), "**More**\n\na" },
	{ NODE("layoutSection", NODE("layoutColumn", PARAGRAPH(TEXT("a"))) "," NODE(
					"layoutColumn", PARAGRAPH(TEXT("b")))),
	  "a\n\nb" },
	{ NODE("novelty", PARAGRAPH(TEXT("kept"))), "kept" },
	{ "{\"type\":\"paragraph\"}," PARAGRAPH(TEXT("a")) ",7,null,[],{}", "a" },
};

Test(adf, becomes_markdown)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		AUTO(arena) arena = { 0 };
		struct str got = markdown(&arena, rows[i].content);
		cr_expect(str_equal(got, str_from_c(rows[i].markdown)), "%s\ngot:\n%s",
			  rows[i].content, str_c(&arena, got));
	}
}

Test(adf, that_is_no_document_is_empty)
{
	AUTO(arena) arena = { 0 };
	const struct json text = { .kind = JSON_STRING, .as.string = S("x") };
	cr_expect(adf_to_markdown(NULL, &arena).size == 0);
	cr_expect(adf_to_markdown(&text, &arena).size == 0);
}

Test(adf, is_cut_at_its_depth)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) deep = { 0 };
	for (int i = 0; i < LIMIT_ADF_DEPTH; i++)
		buf_add(&deep, S("{\"type\":\"blockquote\",\"content\":["));
	buf_add(&deep, S(PARAGRAPH(TEXT("never"))));
	for (int i = 0; i < LIMIT_ADF_DEPTH; i++)
		buf_add(&deep, S("]}"));
	struct error error;
	const struct json *document = NULL;
	if (json_read(buf_str(&deep), &arena, &document, &error))
		cr_expect(adf_to_markdown(document, &arena).size == 0);
}

Test(adf, of_a_text_gives_the_text_back)
{
	static const char *const texts[] = { "one", "one\ntwo", "one\n\ntwo",
					     "a\n\n```\ncode\n\nmore\n```\n\nb" };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		AUTO(arena) arena = { 0 };
		const struct json *document = adf_from_text(str_from_c(texts[i]), &arena);
		struct str back = adf_to_markdown(document, &arena);
		cr_expect(str_equal(back, str_from_c(texts[i])), "%s", str_c(&arena, back));
		cr_expect(str_equal(json_text(json_member(document, S("type"))), S("doc")));
	}
}
