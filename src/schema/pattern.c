/* schema/pattern.c -- translates the regular expressions of ECMA-262 for PCRE2.
 *
 * PCRE2 without PCRE2_UCP has ECMA-262's \d, \w and \b: ASCII.  What differs is rewritten here:
 * \s and \S (which are not ASCII in ECMA-262), the dot, \uXXXX, and the long names of general
 * categories, such as \p{Letter} and \p{gc=Lu}.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/limits.h"
#include "schema/schema_internal.h"

#define SPACES                                                                      \
	"\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}" \
	"\\x{202f}\\x{205f}\\x{3000}\\x{feff}"
#define OTHERS                                                                           \
	"\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}" \
	"\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"   \
	"\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"

static const struct {
	const char *name, *code;
} categories[] = {
	{ "Letter", "L" },
	{ "Cased_Letter", "L&" },
	{ "LC", "L&" },
	{ "Uppercase_Letter", "Lu" },
	{ "Lowercase_Letter", "Ll" },
	{ "Titlecase_Letter", "Lt" },
	{ "Modifier_Letter", "Lm" },
	{ "Other_Letter", "Lo" },
	{ "Mark", "M" },
	{ "Combining_Mark", "M" },
	{ "Nonspacing_Mark", "Mn" },
	{ "Spacing_Mark", "Mc" },
	{ "Enclosing_Mark", "Me" },
	{ "Number", "N" },
	{ "Decimal_Number", "Nd" },
	{ "digit", "Nd" },
	{ "Letter_Number", "Nl" },
	{ "Other_Number", "No" },
	{ "Punctuation", "P" },
	{ "punct", "P" },
	{ "Connector_Punctuation", "Pc" },
	{ "Dash_Punctuation", "Pd" },
	{ "Open_Punctuation", "Ps" },
	{ "Close_Punctuation", "Pe" },
	{ "Initial_Punctuation", "Pi" },
	{ "Final_Punctuation", "Pf" },
	{ "Other_Punctuation", "Po" },
	{ "Symbol", "S" },
	{ "Math_Symbol", "Sm" },
	{ "Currency_Symbol", "Sc" },
	{ "Modifier_Symbol", "Sk" },
	{ "Other_Symbol", "So" },
	{ "Separator", "Z" },
	{ "Space_Separator", "Zs" },
	{ "Line_Separator", "Zl" },
	{ "Paragraph_Separator", "Zp" },
	{ "Other", "C" },
	{ "Control", "Cc" },
	{ "cntrl", "Cc" },
	{ "Format", "Cf" },
	{ "Surrogate", "Cs" },
	{ "Private_Use", "Co" },
	{ "Unassigned", "Cn" },
};

/* Writes \p{...} or \P{...} and returns how much of the text it is; 0 = it is something else. */
static size_t add_property(struct buf *out, struct str text)
{
	size_t end;
	if (!str_starts(str_skip(text, 2), S("{")) || !str_find(text, S("}"), &end))
		return 0;
	struct str name = str_skip(str_head(text, end), 3), prefix = { 0 }, rest = name;
	if (str_cut(&rest, '=', &prefix) && rest.at != NULL &&
	    (str_equal(prefix, S("General_Category")) || str_equal(prefix, S("gc"))))
		name = rest;
	for (size_t i = 0; i < COUNT(categories); i++)
		if (str_equal(name, str_from_c(categories[i].name)))
			name = str_from_c(categories[i].code);
	buf_add(out, str_head(text, 2));
	buf_add_format(out, "{" STR_FMT "}", STR_ARG(name));
	return end + 1;
}

/* Four hexadecimal digits behind `\u`; -1 = there are none. */
static int64_t read_unit(struct str text)
{
	int64_t unit = 0;
	if (!str_starts(text, S("\\u")) || text.size < 6)
		return -1;
	for (size_t i = 2; i < 6; i++) {
		char c = text.at[i], small = (char)(c | 0x20);
		if (c >= '0' && c <= '9')
			unit = unit * 16 + (c - '0');
		else if (small >= 'a' && small <= 'f')
			unit = unit * 16 + (small - 'a' + 10);
		else
			return -1;
	}
	return unit;
}

/* Writes \uXXXX, a pair of surrogates or \u{X...}; returns how much of the text it is. */
static size_t add_character(struct buf *out, struct str text)
{
	int64_t unit = read_unit(text), low;
	if (unit < 0 && str_starts(text, S("\\u{"))) {
		buf_add(out, S("\\x"));
		return 2;
	}
	if (unit < 0)
		return 0;
	low = unit >= 0xD800 && unit < 0xDC00 ? read_unit(str_skip(text, 6)) : -1;
	bool pair = low >= 0xDC00 && low < 0xE000;
	if (pair)
		unit = 0x10000 + (unit - 0xD800) * 0x400 + (low - 0xDC00);
	buf_add_format(out, "\\x{%llx}", (unsigned long long)unit);
	return pair ? 12 : 6;
}

/* Writes what follows a backslash, inside or outside of a class. */
static size_t add_escape(struct buf *out, struct str text, bool in_class)
{
	char c = text.size > 1 ? text.at[1] : '\0';
	size_t size = 0;
	if (c == 's' || c == 'S') {
		struct str list = c == 's' ? S(SPACES) : S(OTHERS);
		buf_add(out, in_class ? S("") : S("["));
		buf_add(out, list);
		buf_add(out, in_class ? S("") : S("]"));
		return 2;
	}
	if (c == 'p' || c == 'P')
		size = add_property(out, text);
	else if (c == 'u')
		size = add_character(out, text);
	if (size == 0) {
		size = text.size < 2 ? text.size : 2;
		buf_add(out, str_head(text, size));
	}
	return size;
}

static void translate(struct str text, struct buf *out)
{
	bool in_class = false;
	for (size_t at = 0; at < text.size;) {
		struct str rest = str_skip(text, at);
		if (rest.at[0] == '\\') {
			at += add_escape(out, rest, in_class);
			continue;
		}
		if (rest.at[0] == '.' && !in_class)
			buf_add(out, S("[^\\n\\r\\x{2028}\\x{2029}]"));
		else if (rest.at[0] == '[' && in_class)
			buf_add(out, S("\\["));
		else
			buf_add_char(out, rest.at[0]);
		in_class = in_class ? rest.at[0] != ']' : rest.at[0] == '[';
		at++;
	}
}

void *pattern_compile(struct str text)
{
	const uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS;
	int code = 0;
	PCRE2_SIZE offset = 0;
	if (text.size > LIMIT_PATTERN_SOURCE_BYTES)
		return NULL;
	AUTO(buf) translated = { 0 };
	translate(text, &translated);
	return pcre2_compile((PCRE2_SPTR)(text.size == 0 ? "" : translated.at), translated.size,
			     options, &code, &offset, NULL);
}
