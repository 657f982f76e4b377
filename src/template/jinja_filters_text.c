/* template/jinja_filters_text.c -- filters of text. */
#include "base/utf8.h"
#include "template/jinja_filters.h"

/* Most filters of text take any value as its text. */
static struct buf limited(void)
{
	return buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
}

bool jinja_filter_upper(struct renderer *r, struct value value, struct value *arguments,
			struct value *out)
{
	struct str text;
	AUTO(buf) upper = limited();
	(void)arguments;
	if (!jinja_value_text(r, value, &text))
		return false;
	jinja_text_add_upper(text, &upper);
	return jinja_copy(r, &upper, out);
}

bool jinja_filter_lower(struct renderer *r, struct value value, struct value *arguments,
			struct value *out)
{
	struct str text;
	AUTO(buf) lower = limited();
	(void)arguments;
	if (!jinja_value_text(r, value, &text))
		return false;
	jinja_text_add_lower(text, &lower);
	return jinja_copy(r, &lower, out);
}

bool jinja_filter_capitalize(struct renderer *r, struct value value, struct value *arguments,
			     struct value *out)
{
	struct str text;
	uint32_t c;
	AUTO(buf) capital = limited();
	(void)arguments;
	if (!jinja_value_text(r, value, &text))
		return false;
	size_t size = utf8_decode(text, &c);
	if (size > 0)
		jinja_text_put(&capital, jinja_text_upper(c));
	jinja_text_add_lower(str_skip(text, size), &capital);
	return jinja_copy(r, &capital, out);
}

/* The characters behind which title() begins a word. */
static bool is_boundary(uint32_t c)
{
	return jinja_text_is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
}

bool jinja_filter_title(struct renderer *r, struct value value, struct value *arguments,
			struct value *out)
{
	struct str text;
	uint32_t c;
	bool begins = true;
	AUTO(buf) title = limited();
	(void)arguments;
	if (!jinja_value_text(r, value, &text))
		return false;
	for (size_t size; (size = utf8_decode(text, &c)) > 0; text = str_skip(text, size)) {
		jinja_text_put(&title, begins ? jinja_text_upper(c) : jinja_text_lower(c));
		begins = is_boundary(c);
	}
	return jinja_copy(r, &title, out);
}

bool jinja_filter_string(struct renderer *r, struct value value, struct value *arguments,
			 struct value *out)
{
	struct str text;
	(void)arguments;
	if (value.kind == VALUE_STRING) {
		*out = value;
		return true;
	}
	if (!jinja_value_text(r, value, &text))
		return false;
	*out = jinja_value_string(text);
	return true;
}

bool jinja_filter_trim(struct renderer *r, struct value value, struct value *arguments,
		       struct value *out)
{
	struct str text, characters;
	if (arguments[0].kind == VALUE_NONE)
		arguments[0] = (struct value){ .kind = VALUE_UNDEFINED };
	if (!jinja_value_text(r, value, &text) ||
	    !jinja_text_argument(r, arguments[0], "chars", (struct str){ 0 }, &characters))
		return false;
	*out = jinja_value_string(jinja_text_strip(text, characters, true, true));
	return jinja_work(r, text.size / 64);
}

bool jinja_filter_replace(struct renderer *r, struct value value, struct value *arguments,
			  struct value *out)
{
	struct arguments given = { .at = arguments, .count = jinja_given(arguments[2]) ? 3 : 2 };
	struct str text, old, new;
	if (given.count == 3 && arguments[2].kind == VALUE_NONE)
		given.count = 2;
	if (!jinja_value_text(r, value, &text) || !jinja_value_text(r, arguments[0], &old) ||
	    !jinja_value_text(r, arguments[1], &new))
		return false;
	arguments[0] = jinja_value_string(old);
	arguments[1] = jinja_value_string(new);
	return jinja_method(r, jinja_value_string(text), S("replace"), &given, out);
}

bool jinja_filter_escape(struct renderer *r, struct value value, struct value *arguments,
			 struct value *out)
{
	struct str text;
	AUTO(buf) escaped = limited();
	(void)arguments;
	if (value.kind == VALUE_STRING && value.safe) {
		*out = value;
		return true;
	}
	if (!jinja_value_text(r, value, &text))
		return false;
	jinja_text_add_escaped(text, &escaped);
	if (!jinja_copy(r, &escaped, out))
		return false;
	out->safe = true;
	return true;
}

bool jinja_filter_safe(struct renderer *r, struct value value, struct value *arguments,
		       struct value *out)
{
	if (!jinja_filter_string(r, value, arguments, out))
		return false;
	out->safe = true;
	return true;
}

bool jinja_filter_center(struct renderer *r, struct value value, struct value *arguments,
			 struct value *out)
{
	int64_t width;
	struct str text;
	AUTO(buf) centered = limited();
	if (!jinja_value_text(r, value, &text) ||
	    !jinja_int_argument(r, arguments[0], "width", 80, &width))
		return false;
	int64_t size = (int64_t)utf8_count(text), pad = width > size ? width - size : 0;
	int64_t left = pad / 2 + (pad & width & 1);
	for (int64_t i = 0; i < left && !centered.full; i++)
		buf_add_char(&centered, ' ');
	buf_add(&centered, text);
	for (int64_t i = left; i < pad && !centered.full; i++)
		buf_add_char(&centered, ' ');
	return jinja_copy(r, &centered, out);
}

bool jinja_filter_truncate(struct renderer *r, struct value value, struct value *arguments,
			   struct value *out)
{
	int64_t length, leeway;
	bool kill_words;
	struct str text, end;
	AUTO(buf) cut = limited();
	if (arguments[3].kind == VALUE_NONE)
		arguments[3] = (struct value){ .kind = VALUE_UNDEFINED };
	if (!jinja_value_has_items(value))
		return jinja_fail(r, "truncate needs a string, not %s",
				  jinja_value_kind_name(value));
	if (!jinja_value_text(r, value, &text) ||
	    !jinja_int_argument(r, arguments[0], "length", 255, &length) ||
	    !jinja_bool_argument(r, arguments[1], false, &kill_words) ||
	    !jinja_text_argument(r, arguments[2], "end", S("..."), &end) ||
	    !jinja_int_argument(r, arguments[3], "leeway", 5, &leeway))
		return false;
	int64_t kept = length - (int64_t)utf8_count(end);
	if (kept < 0 || leeway < 0)
		return jinja_fail(r, kept < 0 ? "length must be at least the length of end"
					      : "leeway must not be negative");
	if ((int64_t)utf8_count(text) - length <= leeway) {
		*out = jinja_value_string(text);
		return jinja_work(r, text.size / 64);
	}
	text = str_head(text, jinja_text_offset(text, (size_t)kept));
	for (size_t i = text.size; !kill_words && i > 0; i--)
		if (text.at[i - 1] == ' ') {
			text.size = i - 1;
			break;
		}
	buf_add(&cut, text);
	buf_add(&cut, end);
	return jinja_copy(r, &cut, out);
}

bool jinja_filter_indent(struct renderer *r, struct value value, struct value *arguments,
			 struct value *out)
{
	bool first, blank;
	int64_t width = 4;
	struct value lines;
	struct arguments none = { 0 };
	AUTO(buf) indent = limited();
	AUTO(buf) text = limited();
	if (value.kind != VALUE_STRING)
		return jinja_fail(r, "indent needs a string, not %s", jinja_value_kind_name(value));
	if (!jinja_bool_argument(r, arguments[1], false, &first) ||
	    !jinja_bool_argument(r, arguments[2], false, &blank))
		return false;
	if (arguments[0].kind == VALUE_STRING)
		buf_add(&indent, arguments[0].as.string);
	else if (!jinja_int_argument(r, arguments[0], "width", 4, &width))
		return false;
	for (int64_t i = 0; arguments[0].kind != VALUE_STRING && i < width && !indent.full; i++)
		buf_add_char(&indent, ' ');
	/* A line end more, so that a text that ends with one keeps it. */
	if (!jinja_binary(r, OP_ADD, value, jinja_value_string(S("\n")), &value) ||
	    !jinja_method(r, value, S("splitlines"), &none, &lines))
		return false;
	for (size_t i = 0; i < lines.as.sequence->count && !text.full; i++) {
		struct str line = lines.as.sequence->at[i].as.string;
		buf_add(&text, i == 0 ? S("") : S("\n"));
		if (i == 0 ? first : blank || line.size > 0)
			buf_add(&text, buf_str(&indent));
		buf_add(&text, line);
	}
	return jinja_copy(r, &text, out);
}

bool jinja_filter_wordcount(struct renderer *r, struct value value, struct value *arguments,
			    struct value *out)
{
	struct str text;
	uint32_t c;
	int64_t words = 0;
	bool inside = false;
	(void)arguments;
	if (!jinja_value_text(r, value, &text) || !jinja_work(r, text.size / 64))
		return false;
	for (size_t size; (size = utf8_decode(text, &c)) > 0; text = str_skip(text, size)) {
		bool word = jinja_text_is_letter(c) || (c >= '0' && c <= '9') || c == '_';
		words += word && !inside;
		inside = word;
	}
	*out = jinja_value_int(words);
	return true;
}

/* ---- wordwrap -------------------------------------------------------------------------------------------- */

struct wrapper {
	struct buf *out;
	struct str between;
	size_t width, column; /* characters in the line so far */
	bool breaks, breaks_hyphens;
	bool begun; /* the line has a word */
	size_t lines;
};

static void new_line(struct wrapper *w)
{
	if (w->lines++ > 0)
		buf_add(w->out, w->between);
	w->column = 0;
}

/* One word with the blanks before it; blanks at the begin of a new line are dropped. */
static void add_word(struct wrapper *w, struct str blanks, struct str word)
{
	size_t gap = utf8_count(blanks), size = utf8_count(word);
	if (!w->begun || w->column + gap + size <= w->width) {
		if (!w->begun) {
			new_line(w);
			if (w->lines > 1) {
				blanks = S("");
				gap = 0;
			}
		}
		if (gap + size <= w->width || !w->breaks) {
			buf_add(w->out, blanks);
			buf_add(w->out, word);
			w->column += gap + size;
			w->begun = true;
			return;
		}
	}
	while (w->breaks && size > w->width) {
		/* The rest of the line takes what fits of a word that is too long for any line. */
		size_t left = w->begun ? w->width - w->column : w->width;
		if (w->begun && left > gap) {
			buf_add(w->out, blanks);
			left -= gap;
		} else if (w->begun) {
			new_line(w);
			left = w->width;
		}
		size_t bytes = jinja_text_offset(word, left);
		buf_add(w->out, str_head(word, bytes));
		word = str_skip(word, bytes);
		size -= left;
		blanks = S("");
		gap = 0;
		w->begun = true;
		w->column = w->width;
	}
	if (w->begun)
		new_line(w);
	buf_add(w->out, word);
	w->column = size;
	w->begun = true;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || (c & 0x80) != 0;
}

static bool is_word_letter(char c)
{
	return is_word(c) && !(c >= '0' && c <= '9');
}

/* Behind the hyphen of a compound, whose parts have two letters at least. */
static bool breaks_at(struct str line, size_t from, size_t at)
{
	return at >= from + 2 && line.at[at] == '-' && is_word_letter(line.at[at - 1]) &&
	       is_word(line.at[at - 2]) && at + 2 < line.size && is_word(line.at[at + 1]) &&
	       is_word_letter(line.at[at + 2]);
}

static void wrap_line(struct wrapper *w, struct str line)
{
	w->begun = false;
	w->lines = 0;
	w->column = 0;
	while (line.size > 0) {
		size_t blanks = 0, word;
		while (blanks < line.size && (line.at[blanks] == ' ' || line.at[blanks] == '\t'))
			blanks++;
		for (word = blanks;
		     word < line.size && line.at[word] != ' ' && line.at[word] != '\t';)
			if (breaks_at(line, blanks, word++) && w->breaks_hyphens)
				break;
		if (word > blanks)
			add_word(w, str_head(line, blanks),
				 (struct str){ line.at + blanks, word - blanks });
		line = str_skip(line, word);
	}
}

bool jinja_filter_wordwrap(struct renderer *r, struct value value, struct value *arguments,
			   struct value *out)
{
	int64_t width;
	struct value lines;
	struct str text;
	struct arguments none = { 0 };
	AUTO(buf) wrapped = limited();
	struct wrapper w = { .out = &wrapped };
	if (arguments[2].kind == VALUE_NONE)
		arguments[2] = (struct value){ .kind = VALUE_UNDEFINED };
	if (!jinja_value_text(r, value, &text) ||
	    !jinja_int_argument(r, arguments[0], "width", 79, &width) ||
	    !jinja_bool_argument(r, arguments[1], true, &w.breaks) ||
	    !jinja_text_argument(r, arguments[2], "wrapstring", S("\n"), &w.between) ||
	    !jinja_bool_argument(r, arguments[3], true, &w.breaks_hyphens))
		return false;
	if (width < 1)
		return jinja_fail(r, "width must be at least 1");
	w.width = (size_t)width;
	if (!jinja_method(r, jinja_value_string(text), S("splitlines"), &none, &lines) ||
	    !jinja_work(r, text.size / 8))
		return false;
	for (size_t i = 0; i < lines.as.sequence->count && !wrapped.full; i++) {
		if (i > 0)
			buf_add(&wrapped, w.between);
		wrap_line(&w, lines.as.sequence->at[i].as.string);
	}
	return jinja_copy(r, &wrapped, out);
}
