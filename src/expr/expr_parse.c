/* expr/expr_parse.c -- parses an expression by precedence.
 *
 * `${…}` is parsed as parentheses.  A `-` that is followed by a letter or digit belongs to the name
 * before it, because step names may contain it; a minus after a path needs spaces around it.
 */
#include <string.h>

#include "base/limits.h"
#include "expr/expr_tree.h"

struct parser {
	struct str text;
	size_t at;
	struct arena *arena;
	struct error *error;
	size_t nodes, depth;
	bool negative;
};

static const struct expr_node *read_or(struct parser *r);

/* ---- scanning ------------------------------------------------------------------------ */

static const struct expr_node *fail_at(struct parser *r, const char *what)
{
	fail(r->error, ERROR_INVALID, "%s, at character %zu of: " STR_FMT, what, r->at + 1,
	     STR_ARG(str_head(r->text, LIMIT_QUOTE_BYTES)));
	r->error->column = (uint32_t)r->at + 1;
	return NULL;
}

static char peek(const struct parser *r)
{
	return r->at < r->text.size ? r->text.at[r->at] : '\0';
}

static void skip_blanks(struct parser *r)
{
	while (r->at < r->text.size && memchr(" \t\r\n", r->text.at[r->at], 4) != NULL)
		r->at++;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Consumes the characters of an operator, if they are next. */
static bool take(struct parser *r, struct str what)
{
	skip_blanks(r);
	if (!str_starts(str_skip(r->text, r->at), what))
		return false;
	r->at += what.size;
	return true;
}

/* Consumes a word, if it is next and not the beginning of a longer name. */
static bool take_word(struct parser *r, struct str word)
{
	skip_blanks(r);
	struct str rest = str_skip(r->text, r->at);
	if (!str_starts(rest, word) || (rest.size > word.size && (is_letter(rest.at[word.size]) ||
								  is_digit(rest.at[word.size]))))
		return false;
	r->at += word.size;
	return true;
}

static struct str take_name(struct parser *r)
{
	size_t begin = r->at, at = begin;
	while (at < r->text.size) {
		char c = r->text.at[at];
		bool inside = c == '-' && at > begin && at + 1 < r->text.size &&
			      (is_letter(r->text.at[at + 1]) || is_digit(r->text.at[at + 1]));
		if (!is_letter(c) && !(is_digit(c) && at > begin) && !inside)
			break;
		at++;
	}
	r->at = at;
	return str_head(str_skip(r->text, begin), at - begin);
}

static struct expr_node *node_new(struct parser *r, enum expr_kind kind)
{
	if (++r->nodes > LIMIT_EXPR_NODES) {
		fail_at(r, "the expression is too large");
		return NULL;
	}
	struct expr_node *node = arena_new(r->arena, struct expr_node);
	node->kind = kind;
	return node;
}

static const struct expr_node *pair(struct parser *r, enum expr_kind kind,
				    const struct expr_node *left, const struct expr_node *right)
{
	if (left == NULL || right == NULL)
		return NULL;
	struct expr_node *node = node_new(r, kind);
	if (node == NULL)
		return NULL;
	node->left = left;
	node->right = right;
	r->negative |= kind == EXPR_UNEQUAL || kind == EXPR_NOT_IN;
	return node;
}

/* ---- operands ------------------------------------------------------------------------ */

static const struct expr_node *literal(struct parser *r, struct json value)
{
	struct expr_node *node = node_new(r, EXPR_LITERAL);
	if (node != NULL)
		node->value = value;
	return node;
}

static const struct expr_node *read_text(struct parser *r)
{
	char quote = r->text.at[r->at++];
	char *text = arena_take_text(r->arena, r->text.size - r->at + 1);
	size_t size = 0;
	while (r->at < r->text.size && r->text.at[r->at] != quote) {
		char c = r->text.at[r->at++];
		if (c == '\\' && r->at < r->text.size) {
			c = r->text.at[r->at++];
			c = (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c);
		}
		text[size++] = c;
	}
	if (r->at == r->text.size)
		return fail_at(r, "a string has no closing quote");
	r->at++;
	return literal(r, (struct json){ .kind = JSON_STRING, .as.string = { text, size } });
}

/* Numbers have the syntax of JSON. */
static const struct expr_node *read_number(struct parser *r)
{
	size_t begin = r->at;
	while (r->at < r->text.size && (is_digit(peek(r)) || memchr(".eE", peek(r), 3) != NULL ||
					((peek(r) == '+' || peek(r) == '-') && r->at > begin &&
					 memchr("eE", r->text.at[r->at - 1], 2) != NULL)))
		r->at++;
	const struct json *number;
	struct error error;
	struct str digits = str_head(str_skip(r->text, begin), r->at - begin);
	if (!json_read(digits, r->arena, &number, &error))
		return fail_at(r, "this is not a number");
	return literal(r, *number);
}

/* Parses `a, b, c` up to the closing character. */
static bool read_items(struct parser *r, struct str close, struct expr_node *into)
{
	const struct expr_node **items = NULL;
	size_t room = 0;
	if (take(r, close))
		return true;
	do {
		if (into->count == room) {
			room = room == 0 ? 4 : room * 2;
			const struct expr_node **more =
				arena_array(r->arena, const struct expr_node *, room);
			if (into->count > 0)
				memcpy(more, items, into->count * sizeof(*more));
			into->items = items = more;
		}
		items[into->count] = read_or(r);
		if (items[into->count++] == NULL)
			return false;
	} while (take(r, S(",")));
	if (take(r, close))
		return true;
	fail_at(r, "expected a comma or the end of the list");
	return false;
}

static const struct {
	struct str name;
	enum expr_function function;
	size_t least, most;
} functions[] = {
	{ { "coalesce", 8 }, EXPR_COALESCE, 1, LIMIT_EXPR_NODES },
	{ { "len", 3 }, EXPR_LEN, 1, 1 },
	{ { "lower", 5 }, EXPR_LOWER, 1, 1 },
	{ { "upper", 5 }, EXPR_UPPER, 1, 1 },
	{ { "int", 3 }, EXPR_INT, 1, 1 },
	{ { "str", 3 }, EXPR_STR, 1, 1 },
};

static const struct expr_node *read_call(struct parser *r, struct str name)
{
	for (size_t i = 0; i < COUNT(functions); i++) {
		if (!str_equal(functions[i].name, name))
			continue;
		struct expr_node *call = node_new(r, EXPR_CALL);
		if (call == NULL || !read_items(r, S(")"), call))
			return NULL;
		call->function = functions[i].function;
		if (call->count < functions[i].least || call->count > functions[i].most)
			return fail_at(r, "wrong number of arguments");
		return call;
	}
	return fail_at(r,
		       "unknown function; expected one of coalesce, len, lower, upper, int, str");
}

static bool word_value(struct str word, struct json *out)
{
	static const struct {
		struct str word;
		enum json_kind kind;
		bool boolean;
	} words[] = {
		{ { "true", 4 }, JSON_BOOL, true },   { { "True", 4 }, JSON_BOOL, true },
		{ { "false", 5 }, JSON_BOOL, false }, { { "False", 5 }, JSON_BOOL, false },
		{ { "null", 4 }, JSON_NULL, false },  { { "None", 4 }, JSON_NULL, false },
	};
	for (size_t i = 0; i < COUNT(words); i++)
		if (str_equal(words[i].word, word)) {
			*out = (struct json){ .kind = words[i].kind,
					      .as.boolean = words[i].boolean };
			return true;
		}
	return false;
}

/* Parses steps.NAME.FIELD. */
static const struct expr_node *read_step(struct parser *r)
{
	static const struct {
		struct str word;
		enum expr_field field;
	} fields[] = { { { "outputs", 7 }, EXPR_OUTPUTS },
		       { { "output", 6 }, EXPR_OUTPUTS },
		       { { "status", 6 }, EXPR_STATUS },
		       { { "error", 5 }, EXPR_ERROR } };
	struct expr_node *node = node_new(r, EXPR_STEP);
	if (node == NULL)
		return NULL;
	if (!take(r, S(".")) || (node->name = take_name(r)).size == 0 || !take(r, S(".")))
		return fail_at(r, "write steps.<name>.outputs");
	struct str field = take_name(r);
	for (size_t i = 0; i < COUNT(fields); i++)
		if (str_equal(fields[i].word, field)) {
			node->field = fields[i].field;
			return node;
		}
	return fail_at(r,
		       "unknown field of a step; expected one of outputs, output, status, error");
}

static const struct expr_node *read_root(struct parser *r)
{
	struct json value;
	struct str name = take_name(r);
	if (name.size == 0)
		return fail_at(r, "a value is missing");
	if (word_value(name, &value))
		return literal(r, value);
	if (str_equal(name, S("steps")))
		return read_step(r);
	if (take(r, S("(")))
		return read_call(r, name);
	struct expr_node *node = node_new(r, str_equal(name, S("ctx")) ? EXPR_CTX : EXPR_VARIABLE);
	if (node == NULL)
		return NULL;
	node->name = name;
	if (node->kind == EXPR_CTX && (!take(r, S(".")) || (node->name = take_name(r)).size == 0))
		return fail_at(r, "write ctx.<name>");
	return node;
}

static const struct expr_node *read_primary(struct parser *r)
{
	skip_blanks(r);
	bool braces = take(r, S("${"));
	if (braces || take(r, S("("))) {
		const struct expr_node *inside = read_or(r);
		if (inside != NULL && !take(r, braces ? S("}") : S(")")))
			return fail_at(r, braces ? "a } is missing" : "a ) is missing");
		return inside;
	}
	if (take(r, S("["))) {
		struct expr_node *list = node_new(r, EXPR_LIST);
		return list != NULL && read_items(r, S("]"), list) ? list : NULL;
	}
	if (peek(r) == '\'' || peek(r) == '"')
		return read_text(r);
	return is_digit(peek(r)) ? read_number(r) : read_root(r);
}

/* Parses an operand and the path after it. */
static const struct expr_node *read_path(struct parser *r)
{
	const struct expr_node *node = read_primary(r);
	while (node != NULL) {
		if (peek(r) == '.') {
			r->at++;
			struct expr_node *key = node_new(r, EXPR_KEY);
			if (key == NULL)
				return NULL;
			key->left = node;
			key->name = take_name(r);
			if (key->name.size == 0)
				return fail_at(r, "a key is missing after the dot");
			node = key;
		} else if (peek(r) == '[') {
			r->at++;
			const struct expr_node *index = read_or(r);
			if (index != NULL && !take(r, S("]")))
				return fail_at(r, "a ] is missing");
			node = pair(r, EXPR_INDEX, node, index);
		} else {
			break;
		}
	}
	return node;
}

/* ---- operators ----------------------------------------------------------------------- */

static const struct expr_node *read_unary(struct parser *r)
{
	if (++r->depth > LIMIT_EXPR_DEPTH)
		return fail_at(r, "the expression is nested too deeply");
	const struct expr_node *node;
	if (take(r, S("-"))) {
		struct expr_node *negated = node_new(r, EXPR_NEGATE);
		const struct expr_node *inner = negated == NULL ? NULL : read_unary(r);
		if (negated != NULL)
			negated->left = inner;
		node = inner == NULL ? NULL : negated;
	} else {
		node = read_path(r);
	}
	r->depth--;
	return node;
}

static const struct expr_node *read_product(struct parser *r)
{
	const struct expr_node *left = read_unary(r);
	while (left != NULL) {
		enum expr_kind kind = take(r, S("*"))   ? EXPR_MULTIPLY
				      : take(r, S("/")) ? EXPR_DIVIDE
				      : take(r, S("%")) ? EXPR_REST
							: EXPR_LITERAL;
		if (kind == EXPR_LITERAL)
			break;
		left = pair(r, kind, left, read_unary(r));
	}
	return left;
}

static const struct expr_node *read_sum(struct parser *r)
{
	const struct expr_node *left = read_product(r);
	while (left != NULL) {
		enum expr_kind kind = take(r, S("+"))   ? EXPR_ADD
				      : take(r, S("-")) ? EXPR_SUBTRACT
							: EXPR_LITERAL;
		if (kind == EXPR_LITERAL)
			break;
		left = pair(r, kind, left, read_product(r));
	}
	return left;
}

/* Consumes a comparison operator; EXPR_LITERAL when there is none. */
static enum expr_kind take_comparison(struct parser *r)
{
	static const struct {
		struct str text;
		enum expr_kind kind;
	} signs[] = { { { "==", 2 }, EXPR_EQUAL },   { { "!=", 2 }, EXPR_UNEQUAL },
		      { { "<=", 2 }, EXPR_AT_MOST }, { { ">=", 2 }, EXPR_AT_LEAST },
		      { { "<", 1 }, EXPR_LESS },     { { ">", 1 }, EXPR_MORE } };
	for (size_t i = 0; i < COUNT(signs); i++)
		if (take(r, signs[i].text))
			return signs[i].kind;
	if (take_word(r, S("in")))
		return EXPR_IN;
	if (take_word(r, S("is")))
		return take_word(r, S("not")) ? EXPR_UNEQUAL : EXPR_EQUAL;
	size_t before = r->at;
	if (take_word(r, S("not")) && take_word(r, S("in")))
		return EXPR_NOT_IN;
	r->at = before;
	return EXPR_LITERAL;
}

static const struct expr_node *read_comparison(struct parser *r)
{
	const struct expr_node *left = read_sum(r);
	if (left == NULL)
		return NULL;
	enum expr_kind kind = take_comparison(r);
	return kind == EXPR_LITERAL ? left : pair(r, kind, left, read_sum(r));
}

static const struct expr_node *read_not(struct parser *r)
{
	if (++r->depth > LIMIT_EXPR_DEPTH)
		return fail_at(r, "the expression is nested too deeply");
	const struct expr_node *node;
	if (take_word(r, S("not"))) {
		struct expr_node *turned = node_new(r, EXPR_NOT);
		const struct expr_node *inner = turned == NULL ? NULL : read_not(r);
		if (turned != NULL)
			turned->left = inner;
		node = inner == NULL ? NULL : turned;
	} else {
		node = read_comparison(r);
	}
	r->depth--;
	return node;
}

static const struct expr_node *read_and(struct parser *r)
{
	const struct expr_node *left = read_not(r);
	while (left != NULL && take_word(r, S("and")))
		left = pair(r, EXPR_AND, left, read_not(r));
	return left;
}

static const struct expr_node *read_or(struct parser *r)
{
	const struct expr_node *left = read_and(r);
	while (left != NULL && take_word(r, S("or")))
		left = pair(r, EXPR_OR, left, read_and(r));
	return left;
}

bool expr_parse(struct str text, struct arena *arena, const struct expr **out_expr,
		struct error *error)
{
	struct parser parser = { .text = text, .arena = arena, .error = error };
	if (text.size > LIMIT_EXPR_BYTES)
		return fail(error, ERROR_TOO_LARGE, "the expression is longer than %d bytes",
			    LIMIT_EXPR_BYTES);
	const struct expr_node *root = read_or(&parser);
	if (root == NULL)
		return false;
	skip_blanks(&parser);
	if (parser.at < text.size) {
		fail_at(&parser, "unexpected text after the expression");
		return false;
	}
	struct expr *expr = arena_new(arena, struct expr);
	expr->root = root;
	expr->text = text;
	expr->negative = parser.negative;
	*out_expr = expr;
	return true;
}

/* ---- names --------------------------------------------------------------------------- */

static bool visit_node(const struct expr_node *node, expr_visit *visit, void *context,
		       struct error *error)
{
	if (node == NULL)
		return true;
	bool good = true;
	if (node->kind == EXPR_STEP)
		good = visit(context, EXPR_NAME_STEP, node->name, S(""), error);
	else if (node->kind == EXPR_CTX)
		good = visit(context, EXPR_NAME_CTX, node->name, S(""), error);
	else if (node->kind == EXPR_KEY && node->left->kind == EXPR_STEP &&
		 node->left->field == EXPR_OUTPUTS)
		return visit(context, EXPR_NAME_STEP, node->left->name, node->name, error);
	else if (node->kind == EXPR_KEY && node->left->kind == EXPR_VARIABLE &&
		 str_equal(node->left->name, S("inputs")))
		return visit(context, EXPR_NAME_INPUT, node->name, S(""), error);
	else if (node->kind == EXPR_VARIABLE)
		good = visit(context, EXPR_NAME_VARIABLE, node->name, S(""), error);
	for (size_t i = 0; i < node->count && good; i++)
		good = visit_node(node->items[i], visit, context, error);
	return good && visit_node(node->left, visit, context, error) &&
	       visit_node(node->right, visit, context, error);
}

bool expr_names(const struct expr *expr, expr_visit *visit, void *context, struct error *error)
{
	return visit_node(expr->root, visit, context, error);
}
