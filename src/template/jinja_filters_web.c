/* template/jinja_filters_web.c -- filters that make or read JSON, URLs and HTML. */
#include "base/utf8.h"
#include "template/jinja_filters.h"

/* ---- tojson ------------------------------------------------------------------------------------------ */

struct printer {
	struct renderer *r;
	struct buf out;
	int64_t indent; /* -1 = one line */
};

/* ASCII only, and nothing that ends a script or attribute, as Jinja2 prints it. */
static void print_string(struct printer *p, struct str text)
{
	uint32_t c;
	buf_add_char(&p->out, '"');
	for (size_t size; (size = utf8_decode(text, &c)) > 0; text = str_skip(text, size)) {
		if (c == '"' || c == '\\')
			buf_add_format(&p->out, "\\%c", (int)c);
		else if (c == '\n' || c == '\r' || c == '\t')
			buf_add(&p->out, c == '\n' ? S("\\n") : c == '\r' ? S("\\r") : S("\\t"));
		else if (c == '\b' || c == '\f')
			buf_add(&p->out, c == '\b' ? S("\\b") : S("\\f"));
		else if (c >= 0x10000)
			buf_add_format(&p->out, "\\u%04x\\u%04x", 0xD800 + ((c - 0x10000) >> 10),
				       0xDC00 + ((c - 0x10000) & 0x3FF));
		else if (c < 0x20 || c > 0x7E || c == '<' || c == '>' || c == '&' || c == '\'')
			buf_add_format(&p->out, "\\u%04x", c);
		else
			buf_add_char(&p->out, (char)c);
	}
	buf_add_char(&p->out, '"');
}

static void print_break(struct printer *p, int64_t depth)
{
	if (p->indent < 0)
		return;
	buf_add_char(&p->out, '\n');
	for (int64_t i = 0; i < depth * p->indent && !p->out.full; i++)
		buf_add_char(&p->out, ' ');
}

static void print_comma(struct printer *p)
{
	buf_add(&p->out, p->indent < 0 ? S(", ") : S(","));
}

static bool print_value(struct printer *p, struct value value, int64_t depth);

static bool print_sequence(struct printer *p, const struct sequence *items, int64_t depth)
{
	if (items->count == 0) {
		buf_add(&p->out, S("[]"));
		return true;
	}
	buf_add_char(&p->out, '[');
	for (size_t i = 0; i < items->count; i++) {
		if (i > 0)
			print_comma(p);
		print_break(p, depth + 1);
		if (!print_value(p, jinja_value_item(p->r, items, i), depth + 1))
			return false;
	}
	print_break(p, depth);
	buf_add_char(&p->out, ']');
	return true;
}

/* Keys of JSON are strings; numbers become strings as in Python. */
static bool print_key(struct printer *p, struct value key)
{
	AUTO(buf) text = { 0 };
	if (key.kind == VALUE_BOOL || key.kind == VALUE_NONE)
		buf_add(&text, key.kind == VALUE_NONE ? S("null")
			       : key.as.boolean       ? S("true")
						      : S("false"));
	else if (!jinja_value_print(p->r, key, &text))
		return false;
	print_string(p, buf_str(&text));
	return true;
}

static bool print_mapping(struct printer *p, struct value value, int64_t depth)
{
	struct value pairs, sorted;
	struct arguments none = { 0 };
	if (value.as.mapping->count == 0) {
		buf_add(&p->out, S("{}"));
		return true;
	}
	if (!jinja_method(p->r, value, S("items"), &none, &pairs) ||
	    !jinja_filter_sorted(p->r, pairs, jinja_value_int(0), true, false, &sorted))
		return false;
	buf_add_char(&p->out, '{');
	for (size_t i = 0; i < sorted.as.sequence->count; i++) {
		const struct sequence *pair = sorted.as.sequence->at[i].as.sequence;
		if (i > 0)
			print_comma(p);
		print_break(p, depth + 1);
		if (!print_key(p, pair->at[0]))
			return false;
		buf_add(&p->out, S(": "));
		if (!print_value(p, pair->at[1], depth + 1))
			return false;
	}
	print_break(p, depth);
	buf_add_char(&p->out, '}');
	return true;
}

static bool print_value(struct printer *p, struct value value, int64_t depth)
{
	if (!jinja_work(p->r, 1))
		return false;
	if (depth > LIMIT_TEMPLATE_NESTING)
		return jinja_fail(p->r, "the value is nested too deep to be printed");
	if (p->out.full)
		return jinja_fail(p->r, "the text is larger than %d bytes",
				  LIMIT_TEMPLATE_OUTPUT_BYTES);
	if (value.kind == VALUE_STRING) {
		print_string(p, value.as.string);
		return jinja_work(p->r, value.as.string.size / 64);
	}
	if (value.kind == VALUE_SEQUENCE && value.as.sequence->flavor <= SEQUENCE_TUPLE)
		return print_sequence(p, value.as.sequence, depth);
	if (value.kind == VALUE_MAPPING)
		return print_mapping(p, value, depth);
	if (value.kind == VALUE_NONE || value.kind == VALUE_BOOL) {
		buf_add(&p->out, value.kind == VALUE_NONE ? S("null")
				 : value.as.boolean       ? S("true")
							  : S("false"));
		return true;
	}
	if (!jinja_value_is_number(value))
		return jinja_fail(p->r, "%s cannot be printed as JSON",
				  jinja_value_kind_name(value));
	return jinja_value_repr(p->r, value, &p->out);
}

bool jinja_filter_tojson(struct renderer *r, struct value value, struct value *arguments,
			 struct value *out)
{
	struct printer p = { .r = r, .out = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES) };
	if (arguments[0].kind == VALUE_NONE)
		arguments[0] = (struct value){ .kind = VALUE_UNDEFINED };
	bool good = jinja_int_argument(r, arguments[0], "indent", -1, &p.indent);
	if (good && jinja_given(arguments[0]) && p.indent < 0)
		p.indent = 0;
	good = good && print_value(&p, value, 0) && jinja_copy(r, &p.out, out);
	buf_done(&p.out);
	out->safe = good;
	return good;
}

/* ---- URLs ---------------------------------------------------------------------------------------------- */

static void add_quoted(struct str text, bool is_query, struct buf *out)
{
	for (size_t i = 0; i < text.size; i++) {
		char c = text.at[i];
		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    c == '_' || c == '.' || c == '-' || c == '~' || (c == '/' && !is_query))
			buf_add_char(out, c);
		else if (c == ' ' && is_query)
			buf_add_char(out, '+');
		else
			buf_add_format(out, "%%%02X", (unsigned)(unsigned char)c);
	}
}

bool jinja_filter_urlencode(struct renderer *r, struct value value, struct value *arguments,
			    struct value *out)
{
	AUTO(buf) url = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
	struct sequence *items;
	struct arguments none = { 0 };
	struct value pairs = value;
	struct str text;
	(void)arguments;
	if (value.kind != VALUE_MAPPING && value.kind != VALUE_SEQUENCE) {
		if (!jinja_value_text(r, value, &text))
			return false;
		add_quoted(text, false, &url);
		return jinja_copy(r, &url, out);
	}
	if (value.kind == VALUE_MAPPING && !jinja_method(r, value, S("items"), &none, &pairs))
		return false;
	if (!jinja_value_iterate(r, pairs, &items))
		return false;
	for (size_t i = 0; i < items->count; i++) {
		struct sequence *pair;
		if (!jinja_work(r, 1) ||
		    !jinja_value_iterate(r, jinja_value_item(r, items, i), &pair))
			return false;
		if (pair->count != 2)
			return jinja_fail(r, "urlencode needs a mapping or a list of pairs");
		buf_add(&url, i == 0 ? S("") : S("&"));
		if (!jinja_value_text(r, jinja_value_item(r, pair, 0), &text))
			return false;
		add_quoted(text, true, &url);
		buf_add_char(&url, '=');
		if (!jinja_value_text(r, jinja_value_item(r, pair, 1), &text))
			return false;
		add_quoted(text, true, &url);
	}
	return jinja_copy(r, &url, out);
}

/* ---- HTML ---------------------------------------------------------------------------------------------- */

static void add_unescaped(struct str text, struct buf *out)
{
	static const struct {
		struct str from;
		char into;
	} entities[] = { { { "&amp;", 5 }, '&' },  { { "&lt;", 4 }, '<' },
			 { { "&gt;", 4 }, '>' },   { { "&quot;", 6 }, '"' },
			 { { "&#34;", 5 }, '"' },  { { "&#39;", 5 }, '\'' },
			 { { "&apos;", 6 }, '\'' } };
	while (text.size > 0) {
		size_t size = 1;
		char c = text.at[0];
		for (size_t i = 0; c == '&' && i < COUNT(entities); i++)
			if (str_starts(text, entities[i].from)) {
				size = entities[i].from.size;
				c = entities[i].into;
				break;
			}
		buf_add_char(out, c);
		text = str_skip(text, size);
	}
}

/* Removes what is between `begin` and `end`; a begin without an end stays. */
static void remove_parts(struct str text, struct str begin, struct str end, struct buf *out)
{
	size_t from, to;
	while (str_find(text, begin, &from) &&
	       str_find(str_skip(text, from + begin.size), end, &to)) {
		buf_add(out, str_head(text, from));
		text = str_skip(text, from + begin.size + to + end.size);
	}
	buf_add(out, text);
}

bool jinja_filter_striptags(struct renderer *r, struct value value, struct value *arguments,
			    struct value *out)
{
	struct str text;
	uint32_t c;
	AUTO(buf) without_comments = { 0 };
	AUTO(buf) without_tags = { 0 };
	AUTO(buf) words = { 0 };
	AUTO(buf) plain = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
	bool gap = false;
	(void)arguments;
	if (!jinja_value_text(r, value, &text) || !jinja_work(r, text.size / 16))
		return false;
	remove_parts(text, S("<!--"), S("-->"), &without_comments);
	remove_parts(buf_str(&without_comments), S("<"), S(">"), &without_tags);
	text = buf_str(&without_tags);
	for (size_t size; (size = utf8_decode(text, &c)) > 0; text = str_skip(text, size)) {
		if (jinja_text_is_space(c)) {
			gap = words.size > 0;
			continue;
		}
		buf_add(&words, gap ? S(" ") : S(""));
		buf_add(&words, str_head(text, size));
		gap = false;
	}
	add_unescaped(buf_str(&words), &plain);
	return jinja_copy(r, &plain, out);
}
