/* template/jinja_lex.c -- a template's text to tokens.
 *
 * Outside of tags everything is text; the rules for white space around tags are applied here, so that
 * the parser never sees them.  Brackets are counted: `}}` inside of `{{ {'a': {}} }}` ends no tag.
 */
#include <string.h>

#include "template/jinja_tree.h"

struct lexer {
	struct parser *parser;
	struct str source; /* with line ends as \n */
	size_t at;
	size_t room;
	uint32_t line;
	size_t line_start;
	size_t counted;     /* line is that of this offset */
	bool line_starting; /* the text before ended with a line end */
	char brackets[256];
	size_t open;
};

static void place_of(struct lexer *lexer, size_t at, uint32_t *out_line, uint32_t *out_column)
{
	if (at < lexer->counted) {
		lexer->counted = lexer->line_start = 0;
		lexer->line = 1;
	}
	for (; lexer->counted < at; lexer->counted++)
		if (lexer->source.at[lexer->counted] == '\n') {
			lexer->line++;
			lexer->line_start = lexer->counted + 1;
		}
	*out_line = lexer->line;
	*out_column = (uint32_t)(at - lexer->line_start) + 1;
}

static struct token *add_token(struct lexer *lexer, enum token_kind kind, size_t at,
			       struct str text)
{
	struct parser *parser = lexer->parser;
	if (parser->count == lexer->room) {
		size_t room = lexer->room == 0 ? 64 : lexer->room * 2;
		struct token *tokens = arena_array(parser->arena, struct token, room);
		if (parser->count > 0)
			memcpy(tokens, parser->tokens, parser->count * sizeof(*tokens));
		parser->tokens = tokens;
		lexer->room = room;
	}
	struct token *token = &parser->tokens[parser->count++];
	*token = (struct token){ .kind = kind, .text = text };
	place_of(lexer, at, &token->line, &token->column);
	return token;
}

static bool fail_at(struct lexer *lexer, size_t at, const char *text, struct str quoted)
{
	struct token token = { 0 };
	place_of(lexer, at, &token.line, &token.column);
	return quoted.size == 0
		       ? jinja_parse_fail(lexer->parser, &token, "%s", text)
		       : jinja_parse_fail(lexer->parser, &token, "%s \"" STR_FMT "\"", text,
					  STR_ARG(str_head(quoted, LIMIT_QUOTE_BYTES)));
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Letters beyond ASCII are part of names. */
static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

static size_t skip_space(struct str s, size_t at)
{
	while (at < s.size && is_space(s.at[at]))
		at++;
	return at;
}

static bool has_at(struct str s, size_t at, const char *what)
{
	return str_starts(str_skip(s, at), str_from_c(what));
}

/* ---- text and the tags that begin behind it -------------------------------------------------- */

/* Removes the white space that the sign of a tag, or lstrip_blocks, takes from the text before it. */
static struct str trim_before(const struct lexer *lexer, struct str text, char sign, bool is_block)
{
	if (sign == '-') {
		while (text.size > 0 && is_space(text.at[text.size - 1]))
			text.size--;
		return text;
	}
	if (sign == '+' || !is_block || !lexer->parser->options->lstrip_blocks)
		return text;
	size_t start = text.size;
	while (start > 0 && text.at[start - 1] != '\n')
		start--;
	if (start == 0 && !lexer->line_starting)
		return text;
	for (size_t i = start; i < text.size; i++)
		if (!is_space(text.at[i]))
			return text;
	return str_head(text, start);
}

static void add_text(struct lexer *lexer, size_t at, struct str text)
{
	if (text.size > 0)
		add_token(lexer, TOKEN_TEXT, at, text);
}

/* The offset behind the end of a tag at `at`, which may have a sign; 0 = no end is there. */
static size_t end_of_tag(const struct lexer *lexer, size_t at, const char *end, bool takes_plus,
			 bool trims)
{
	struct str s = lexer->source;
	char sign = at < s.size ? s.at[at] : '\0';
	if (sign == '-' && has_at(s, at + 1, end))
		return skip_space(s, at + 3);
	if (sign == '+' && takes_plus && has_at(s, at + 1, end))
		return at + 3;
	if (!has_at(s, at, end))
		return 0;
	at += 2;
	return trims && lexer->parser->options->trim_blocks && at < s.size && s.at[at] == '\n'
		       ? at + 1
		       : at;
}

static char sign_at(struct str s, size_t at)
{
	return at < s.size && (s.at[at] == '-' || s.at[at] == '+') ? s.at[at] : '\0';
}

static bool skip_comment(struct lexer *lexer, size_t begin)
{
	for (size_t at = begin; at < lexer->source.size; at++) {
		size_t end = end_of_tag(lexer, at, "#}", true, true);
		if (end > 0) {
			lexer->at = end;
			return true;
		}
	}
	return fail_at(lexer, begin - 2, "the comment has no end: #} is missing", S(""));
}

/* `{% raw %}` up to its end; 0 = another tag. */
static size_t raw_begin(const struct lexer *lexer, size_t at)
{
	struct str s = lexer->source;
	at = skip_space(s, at + (sign_at(s, at) != '\0'));
	if (!has_at(s, at, "raw"))
		return 0;
	at = skip_space(s, at + 3);
	if (has_at(s, at, "-%}"))
		return skip_space(s, at + 3);
	return has_at(s, at, "%}") ? at + 2 : 0;
}

static bool take_raw(struct lexer *lexer, size_t begin)
{
	struct str s = lexer->source;
	if (begin >= s.size) {
		/* Jinja2 takes a template that ends here as well. */
		lexer->at = s.size;
		return true;
	}
	for (size_t at = begin; at < s.size; at++) {
		if (!has_at(s, at, "{%"))
			continue;
		char sign = sign_at(s, at + 2);
		size_t word = skip_space(s, at + 2 + (sign != '\0'));
		if (!has_at(s, word, "endraw"))
			continue;
		size_t end = end_of_tag(lexer, skip_space(s, word + 6), "%}", true, true);
		if (end == 0)
			continue;
		struct str text = { s.at + begin, at - begin };
		lexer->line_starting = begin > 0 && s.at[begin - 1] == '\n';
		add_text(lexer, begin, trim_before(lexer, text, sign, true));
		lexer->at = end;
		return true;
	}
	return fail_at(lexer, begin, "raw has no end: {% endraw %} is missing", S(""));
}

/* ---- inside of tags -------------------------------------------------------------------------- */

static bool hex_value(char c, uint32_t *out)
{
	if (is_digit(c))
		*out = (uint32_t)(c - '0');
	else if (c >= 'a' && c <= 'f')
		*out = (uint32_t)(c - 'a' + 10);
	else if (c >= 'A' && c <= 'F')
		*out = (uint32_t)(c - 'A' + 10);
	else
		return false;
	return true;
}

/* \xHH, \uHHHH, \UHHHHHHHH and up to three octal digits. */
static size_t numeric_escape(struct str s, uint32_t *out)
{
	char kind = s.at[0];
	size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0, i = 0;
	*out = 0;
	if (digits == 0) {
		while (i < 3 && i < s.size && s.at[i] >= '0' && s.at[i] <= '7')
			*out = *out * 8 + (uint32_t)(s.at[i++] - '0');
		return i;
	}
	for (i = 1; i <= digits; i++) {
		uint32_t digit;
		if (i >= s.size || !hex_value(s.at[i], &digit) || *out > 0x10FFFF)
			return 0;
		*out = *out * 16 + digit;
	}
	return *out > 0x10FFFF || (*out >= 0xD800 && *out < 0xE000) ? 0 : digits + 1;
}

static bool add_escape(struct lexer *lexer, struct str *rest, struct buf *out)
{
	static const char from[] = "abfnrtv\\'\"", into[] = "\a\b\f\n\r\t\v\\'\"";
	char c = rest->at[0];
	const char *found = c == '\0' ? NULL : strchr(from, c);
	if (found != NULL) {
		buf_add_char(out, into[found - from]);
		*rest = str_skip(*rest, 1);
		return true;
	}
	if (c == '\n') {
		*rest = str_skip(*rest, 1);
		return true;
	}
	if (strchr("xuU01234567", c) == NULL || c == '\0') {
		buf_add_char(out, '\\');
		return true;
	}
	uint32_t character;
	size_t size = numeric_escape(*rest, &character);
	if (size == 0)
		return fail_at(lexer, (size_t)(rest->at - lexer->source.at) - 1,
			       "the string has an incomplete escape", str_head(*rest, 1));
	jinja_text_put(out, character);
	*rest = str_skip(*rest, size);
	return true;
}

static bool take_string(struct lexer *lexer)
{
	struct str s = lexer->source;
	size_t begin = lexer->at, end = begin + 1;
	char quote = s.at[begin];
	bool escaped = false;
	for (; end < s.size && s.at[end] != quote; end++)
		if (s.at[end] == '\\') {
			escaped = true;
			end++;
		}
	if (end >= s.size)
		return fail_at(lexer, begin, "the string has no closing quote", S(""));
	struct str text = { s.at + begin + 1, end - begin - 1 };
	if (escaped) {
		AUTO(buf) plain = { 0 };
		struct str rest = text;
		while (rest.size > 0) {
			char c = rest.at[0];
			rest = str_skip(rest, 1);
			if (c != '\\')
				buf_add_char(&plain, c);
			else if (!add_escape(lexer, &rest, &plain))
				return false;
		}
		text = str_copy(lexer->parser->arena, buf_str(&plain));
	}
	add_token(lexer, TOKEN_STRING, begin, text)->value = jinja_value_string(text);
	lexer->at = end + 1;
	return true;
}

/* Digits with single underscores between them, which are left out of the copy. */
static size_t take_digits(struct str s, size_t at, struct buf *out)
{
	while (at < s.size && (is_digit(s.at[at]) ||
			       (s.at[at] == '_' && at + 1 < s.size && is_digit(s.at[at + 1])))) {
		if (s.at[at] != '_')
			buf_add_char(out, s.at[at]);
		at++;
	}
	return at;
}

static bool take_based(struct lexer *lexer, uint32_t base)
{
	struct str s = lexer->source;
	size_t at = lexer->at + 2;
	uint64_t number = 0;
	uint32_t digit;
	for (; at < s.size && (s.at[at] == '_' || hex_value(s.at[at], &digit)); at++) {
		if (s.at[at] == '_')
			continue;
		if (digit >= base)
			break;
		if (number > ((uint64_t)INT64_MAX - digit) / base)
			return fail_at(lexer, lexer->at, "the number has more than 64 bits", S(""));
		number = number * base + digit;
	}
	add_token(lexer, TOKEN_INT, lexer->at, S(""))->value = jinja_value_int((int64_t)number);
	lexer->at = at;
	return true;
}

static bool take_number(struct lexer *lexer)
{
	struct str s = lexer->source;
	size_t begin = lexer->at;
	AUTO(buf) digits = { 0 };
	if (s.at[begin] == '0' && begin + 2 < s.size) {
		char kind = (char)(s.at[begin + 1] | 0x20);
		uint32_t base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 0, digit;
		if (base > 0 && hex_value(s.at[begin + 2], &digit) && digit < base)
			return take_based(lexer, base);
	}
	size_t at = take_digits(s, begin, &digits);
	bool is_real = false, after_dot = begin > 0 && s.at[begin - 1] == '.';
	if (!after_dot && at + 1 < s.size && s.at[at] == '.' && is_digit(s.at[at + 1])) {
		is_real = true;
		buf_add_char(&digits, '.');
		at = take_digits(s, at + 1, &digits);
	}
	if (!after_dot && at + 1 < s.size && (s.at[at] | 0x20) == 'e') {
		size_t exponent = at + 1 + (s.at[at + 1] == '+' || s.at[at + 1] == '-');
		if (exponent < s.size && is_digit(s.at[exponent])) {
			is_real = true;
			buf_add_char(&digits, 'e');
			if (exponent > at + 1)
				buf_add_char(&digits, s.at[at + 1]);
			at = take_digits(s, exponent, &digits);
		}
	}
	struct str text = buf_str(&digits);
	if (!is_real)
		while (text.size > 1 && text.at[0] == '0')
			text = str_skip(text, 1);
	const struct json *number;
	struct error ignored;
	/* 007.5 is a number of Python, not of JSON. */
	while (is_real && text.size > 1 && text.at[0] == '0' && is_digit(text.at[1]))
		text = str_skip(text, 1);
	if (!json_read(str_copy(lexer->parser->arena, text), lexer->parser->arena, &number,
		       &ignored) ||
	    (!is_real && number->kind != JSON_INT))
		return fail_at(lexer, begin, "the number is too large", S(""));
	add_token(lexer, is_real ? TOKEN_REAL : TOKEN_INT, begin, S(""))->value =
		is_real ? jinja_value_real(json_real(number)) : jinja_value_int(number->as.integer);
	lexer->at = at;
	return true;
}

static bool count_bracket(struct lexer *lexer, char c)
{
	static const char opens[] = "([{", closes[] = ")]}";
	const char *opened = strchr(opens, c), *closed = strchr(closes, c);
	if (opened != NULL) {
		if (lexer->open == sizeof(lexer->brackets))
			return fail_at(lexer, lexer->at, "too many nested brackets", S(""));
		lexer->brackets[lexer->open++] = closes[opened - opens];
	} else if (closed != NULL) {
		if (lexer->open == 0)
			return fail_at(lexer, lexer->at, "nothing opens this bracket:",
				       (struct str){ &lexer->source.at[lexer->at], 1 });
		if (lexer->brackets[--lexer->open] != c)
			return fail_at(lexer, lexer->at, "this bracket should be",
				       (struct str){ &lexer->brackets[lexer->open], 1 });
	}
	return true;
}

static bool take_operator(struct lexer *lexer)
{
	static const char *const pairs[] = { "//", "**", "==", "!=", ">=", "<=" };
	struct str s = lexer->source;
	size_t size = 1;
	for (size_t i = 0; i < COUNT(pairs); i++)
		if (has_at(s, lexer->at, pairs[i]))
			size = 2;
	char c = s.at[lexer->at];
	if (size == 1 && (c == '\0' || strchr("+-/*%~[](){}><=.:|,;", c) == NULL))
		return fail_at(lexer, lexer->at, "unexpected character",
			       (struct str){ s.at + lexer->at, 1 });
	if (size == 1 && !count_bracket(lexer, c))
		return false;
	add_token(lexer, TOKEN_OPERATOR, lexer->at, (struct str){ s.at + lexer->at, size });
	lexer->at += size;
	return true;
}

static bool take_token(struct lexer *lexer)
{
	struct str s = lexer->source;
	char c = s.at[lexer->at];
	if (is_letter(c)) {
		size_t end = lexer->at;
		while (end < s.size && (is_letter(s.at[end]) || is_digit(s.at[end])))
			end++;
		add_token(lexer, TOKEN_NAME, lexer->at,
			  (struct str){ s.at + lexer->at, end - lexer->at });
		lexer->at = end;
		return true;
	}
	if (is_digit(c))
		return take_number(lexer);
	return c == '"' || c == '\'' ? take_string(lexer) : take_operator(lexer);
}

static bool take_tag(struct lexer *lexer, bool is_block)
{
	const char *end = is_block ? "%}" : "}}";
	lexer->open = 0;
	for (;;) {
		lexer->at = skip_space(lexer->source, lexer->at);
		if (lexer->at >= lexer->source.size)
			return true; /* the parser reports what is missing */
		size_t behind =
			lexer->open > 0 ? 0 : end_of_tag(lexer, lexer->at, end, is_block, is_block);
		if (behind > 0) {
			add_token(lexer, is_block ? TOKEN_BLOCK_END : TOKEN_VARIABLE_END, lexer->at,
				  S(""));
			lexer->at = behind;
			return true;
		}
		if (!take_token(lexer))
			return false;
	}
}

static size_t next_tag(struct str s, size_t at)
{
	for (; at + 1 < s.size; at++)
		if (s.at[at] == '{' &&
		    (s.at[at + 1] == '{' || s.at[at + 1] == '%' || s.at[at + 1] == '#'))
			return at;
	return s.size;
}

static bool lex(struct lexer *lexer)
{
	struct str s = lexer->source;
	while (lexer->at < s.size) {
		size_t begin = lexer->at, at = next_tag(s, begin);
		struct str text = { s.at + begin, at - begin };
		if (at == s.size) {
			add_text(lexer, begin, text);
			return true;
		}
		char kind = s.at[at + 1], sign = sign_at(s, at + 2);
		lexer->line_starting = begin == 0 || s.at[begin - 1] == '\n';
		add_text(lexer, begin, trim_before(lexer, text, sign, kind != '{'));
		lexer->at = at + 2 + (sign != '\0');
		size_t raw = kind == '%' ? raw_begin(lexer, at + 2) : 0;
		if (kind == '#') {
			if (!skip_comment(lexer, lexer->at))
				return false;
		} else if (raw > 0) {
			if (!take_raw(lexer, raw))
				return false;
		} else {
			add_token(lexer, kind == '%' ? TOKEN_BLOCK_BEGIN : TOKEN_VARIABLE_BEGIN, at,
				  S(""));
			if (!take_tag(lexer, kind == '%'))
				return false;
		}
	}
	return true;
}

/* Line ends become \n, and the one at the end of the source is dropped, as Jinja2 does. */
static struct str normalize(struct str source, struct arena *arena)
{
	if (source.size > 0 && memchr(source.at, '\r', source.size) != NULL) {
		char *copy = arena_take_text(arena, source.size);
		size_t size = 0;
		for (size_t i = 0; i < source.size; i++) {
			bool pair = source.at[i] == '\r' && i + 1 < source.size &&
				    source.at[i + 1] == '\n';
			if (!pair)
				copy[size++] = source.at[i] == '\r' ? '\n' : source.at[i];
		}
		source = (struct str){ copy, size };
	}
	if (source.size > 0 && source.at[source.size - 1] == '\n')
		source.size--;
	return source;
}

bool jinja_lex(struct parser *parser, struct str source)
{
	struct lexer lexer = { .parser = parser,
			       .source = normalize(source, parser->arena),
			       .line = 1 };
	if (!lex(&lexer))
		return false;
	add_token(&lexer, TOKEN_END, lexer.source.size, S(""));
	return true;
}
