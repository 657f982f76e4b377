/* template/jinja_format.c -- `format % arguments` as Python has it: %s, %r, %d, %x, %o, %e, %f, %g, %%. */
#include "base/utf8.h"
#include "template/jinja_render.h"

enum { WIDEST = 1000 }; /* of a field, and the most decimals */

struct directive {
	bool left, zero, plus, blank, other;
	int width, precision; /* -1 = none */
	char kind;
	struct str name; /* at NULL = none */
};

struct formatter {
	struct renderer *r;
	const struct arguments *arguments;
	size_t next; /* of the arguments without names */
	bool uses_names;
	struct buf out;
};

static bool take_argument(struct formatter *f, struct str name, struct value *out)
{
	const struct arguments *arguments = f->arguments;
	if (name.at != NULL) {
		f->uses_names = true;
		for (size_t i = 0; i < arguments->keywords; i++)
			if (str_equal(arguments->names[i], name)) {
				*out = arguments->at[arguments->count + i];
				return true;
			}
		if (arguments->count == 1 && arguments->at[0].kind == VALUE_MAPPING &&
		    jinja_value_find(f->r, arguments->at[0].as.mapping, jinja_value_string(name),
				     out))
			return true;
		return jinja_fail(f->r, "the format has no argument \"" STR_FMT "\"",
				  STR_ARG(str_head(name, LIMIT_QUOTE_BYTES)));
	}
	if (f->next >= arguments->count)
		return jinja_fail(f->r, "the format needs more than %zu arguments",
				  arguments->count);
	*out = arguments->at[f->next++];
	return true;
}

static bool take_number(struct formatter *f, struct str *rest, int *out)
{
	struct value value;
	int64_t number = 0;
	if (rest->size > 0 && rest->at[0] == '*') {
		*rest = str_skip(*rest, 1);
		if (!take_argument(f, (struct str){ 0 }, &value))
			return false;
		if (value.kind != VALUE_INT)
			return jinja_fail(f->r, "* in a format needs a whole number");
		number = value.as.integer;
	} else {
		for (;
		     rest->size > 0 && rest->at[0] >= '0' && rest->at[0] <= '9' && number <= WIDEST;
		     *rest = str_skip(*rest, 1))
			number = number * 10 + (rest->at[0] - '0');
	}
	if (number > WIDEST || number < -WIDEST)
		return jinja_fail(f->r, "a field of a format is wider than %d", WIDEST);
	*out = (int)number;
	return true;
}

static bool take_directive(struct formatter *f, struct str *rest, struct directive *out)
{
	*out = (struct directive){ .precision = -1 };
	if (rest->size > 0 && rest->at[0] == '(') {
		size_t end;
		if (!str_find(*rest, S(")"), &end))
			return jinja_fail(f->r, "the format has no ) behind %%(");
		out->name = (struct str){ rest->at + 1, end - 1 };
		*rest = str_skip(*rest, end + 1);
	}
	for (; rest->size > 0; *rest = str_skip(*rest, 1)) {
		char c = rest->at[0];
		if (c == '-')
			out->left = true;
		else if (c == '0')
			out->zero = true;
		else if (c == '+')
			out->plus = true;
		else if (c == ' ')
			out->blank = true;
		else if (c == '#')
			out->other = true;
		else
			break;
	}
	if (!take_number(f, rest, &out->width))
		return false;
	if (out->width < 0) {
		out->left = true;
		out->width = -out->width;
	}
	if (rest->size > 0 && rest->at[0] == '.') {
		*rest = str_skip(*rest, 1);
		if (!take_number(f, rest, &out->precision))
			return false;
	}
	while (rest->size > 0 && (rest->at[0] == 'l' || rest->at[0] == 'h' || rest->at[0] == 'L'))
		*rest = str_skip(*rest, 1);
	if (rest->size == 0)
		return jinja_fail(f->r, "the format ends within a directive");
	out->kind = rest->at[0];
	*rest = str_skip(*rest, 1);
	return true;
}

/* Pads the text, whose first `sign` bytes are the sign and the prefix of a number. */
static void pad(struct formatter *f, const struct directive *d, struct str text, size_t sign,
		bool is_number)
{
	size_t size = utf8_count(text);
	size_t fill = (size_t)d->width > size ? (size_t)d->width - size : 0;
	bool zeros = d->zero && !d->left && is_number;
	if (zeros)
		buf_add(&f->out, str_head(text, sign));
	for (size_t i = 0; !d->left && i < fill; i++)
		buf_add_char(&f->out, zeros ? '0' : ' ');
	buf_add(&f->out, zeros ? str_skip(text, sign) : text);
	for (size_t i = 0; d->left && i < fill; i++)
		buf_add_char(&f->out, ' ');
}

static bool add_text(struct formatter *f, const struct directive *d, struct value value)
{
	AUTO(buf) text = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
	bool good = d->kind == 's' ? jinja_value_print(f->r, value, &text)
				   : jinja_value_repr(f->r, value, &text);
	if (!good)
		return false;
	struct str s = buf_str(&text);
	if (d->precision >= 0)
		s = str_head(s, jinja_text_offset(s, (size_t)d->precision));
	pad(f, d, s, 0, false);
	return true;
}

static bool add_whole(struct formatter *f, const struct directive *d, struct value value)
{
	int64_t number = jinja_value_is_whole(value) ? jinja_value_whole(value) : 0;
	AUTO(buf) digits = { 0 };
	AUTO(buf) text = { 0 };
	bool decimal = d->kind == 'd' || d->kind == 'i' || d->kind == 'u';
	if (value.kind == VALUE_REAL && decimal) {
		if (!(value.as.real > -9e18 && value.as.real < 9e18))
			return jinja_fail(f->r, "the number is too large for %%%c", d->kind);
		number = (int64_t)value.as.real;
	} else if (!jinja_value_is_whole(value)) {
		return jinja_fail(f->r, "%%%c needs a number, not %s", d->kind,
				  jinja_value_kind_name(value));
	}
	unsigned long long positive =
		number < 0 ? 0 - (unsigned long long)number : (unsigned long long)number;
	if (decimal)
		buf_add_format(&digits, "%.*llu", d->precision < 0 ? 1 : d->precision, positive);
	else if (d->kind == 'o')
		buf_add_format(&digits, "%.*llo", d->precision < 0 ? 1 : d->precision, positive);
	else if (d->kind == 'x')
		buf_add_format(&digits, "%.*llx", d->precision < 0 ? 1 : d->precision, positive);
	else
		buf_add_format(&digits, "%.*llX", d->precision < 0 ? 1 : d->precision, positive);
	buf_add(&text, number < 0 ? S("-") : d->plus ? S("+") : d->blank ? S(" ") : S(""));
	if (d->other && !decimal)
		buf_add(&text, d->kind == 'o' ? S("0o") : d->kind == 'x' ? S("0x") : S("0X"));
	size_t sign = text.size;
	buf_add(&text, buf_str(&digits));
	pad(f, d, buf_str(&text), sign, true);
	return true;
}

static bool add_real(struct formatter *f, const struct directive *d, struct value value)
{
	AUTO(buf) text = { 0 };
	int precision = d->precision < 0 ? 6 : d->precision;
	if (!jinja_value_is_number(value))
		return jinja_fail(f->r, "%%%c needs a number, not %s", d->kind,
				  jinja_value_kind_name(value));
	double number = jinja_value_as_real(value);
	if (!(number < 0))
		buf_add(&text, d->plus ? S("+") : d->blank ? S(" ") : S(""));
	if (d->kind == 'e' || d->kind == 'E')
		buf_add_format(&text, "%.*e", precision, number);
	else if (d->kind == 'g' || d->kind == 'G')
		buf_add_format(&text, "%.*g", precision, number);
	else
		buf_add_format(&text, "%.*f", precision, number);
	for (size_t i = 0; (d->kind == 'E' || d->kind == 'G') && i < text.size; i++)
		if (text.at[i] == 'e')
			text.at[i] = 'E';
	struct str s = buf_str(&text);
	pad(f, d, s, s.size > 0 && (s.at[0] == '-' || s.at[0] == '+' || s.at[0] == ' '), true);
	return true;
}

static bool add_character(struct formatter *f, const struct directive *d, struct value value)
{
	char bytes[4];
	struct str text;
	if (value.kind == VALUE_STRING && utf8_count(value.as.string) == 1) {
		text = value.as.string;
	} else if (value.kind == VALUE_INT && value.as.integer >= 0 &&
		   value.as.integer <= 0x10FFFF &&
		   !(value.as.integer >= 0xD800 && value.as.integer < 0xE000)) {
		text = (struct str){ bytes, utf8_encode((uint32_t)value.as.integer, bytes) };
	} else {
		return jinja_fail(f->r, "%%c needs a character, not %s",
				  jinja_value_kind_name(value));
	}
	pad(f, d, text, 0, false);
	return true;
}

static bool add_directive(struct formatter *f, const struct directive *d)
{
	struct value value;
	if (d->kind == '%') {
		buf_add_char(&f->out, '%');
		return true;
	}
	if (!take_argument(f, d->name, &value))
		return false;
	switch (d->kind) {
	case 's':
	case 'r':
	case 'a':
		return add_text(f, d, value);
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		return add_whole(f, d, value);
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
		return add_real(f, d, value);
	case 'c':
		return add_character(f, d, value);
	default:
		return jinja_fail(f->r, "the format has the unknown directive %%%c",
				  d->kind < ' ' || (d->kind & 0x80) != 0 ? '?' : d->kind);
	}
}

static bool format_all(struct formatter *f, struct str format)
{
	while (format.size > 0) {
		size_t at = 0;
		struct directive directive;
		bool found = str_find(format, S("%"), &at);
		buf_add(&f->out, found ? str_head(format, at) : format);
		if (!found)
			break;
		format = str_skip(format, at + 1);
		if (!take_directive(f, &format, &directive) || !add_directive(f, &directive) ||
		    !jinja_work(f->r, 1))
			return false;
	}
	bool is_mapping = f->arguments->count == 1 && f->arguments->at[0].kind == VALUE_MAPPING;
	if (!f->uses_names && !is_mapping && f->next < f->arguments->count)
		return jinja_fail(f->r, "the format uses %zu of %zu arguments", f->next,
				  f->arguments->count);
	return true;
}

bool jinja_format(struct renderer *r, struct str format, const struct arguments *arguments,
		  struct value *out)
{
	struct formatter f = { .r = r,
			       .arguments = arguments,
			       .out = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES) };
	bool good = format_all(&f, format) && jinja_copy(r, &f.out, out);
	buf_done(&f.out);
	return good;
}
