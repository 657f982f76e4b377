/* template/jinja_expression.c -- parses expressions.
 *
 * The order of the operators is that of Jinja2, which differs from Python's: `not` binds weaker than a
 * comparison, `~` binds stronger than `+`, and `**` groups from the left.  A filter belongs to the
 * operand before it, so that `a + b|upper` is `a + (b|upper)`.
 */
#include "template/jinja_render.h"

/* Enters a level of nesting; the caller leaves it. */
static bool deeper(struct parser *parser)
{
	if (++parser->depth <= LIMIT_TEMPLATE_NESTING)
		return true;
	return jinja_parse_fail(parser, jinja_token(parser),
				"the expression is nested more than %d deep",
				LIMIT_TEMPLATE_NESTING);
}

/* ---- primaries --------------------------------------------------------------------------- */

static const struct node *constant(struct parser *parser, const struct token *token,
				   struct value value)
{
	struct node *node = jinja_node(parser, token, NODE_CONSTANT);
	if (node != NULL)
		node->constant = value;
	return node;
}

static const struct node *parse_name(struct parser *parser)
{
	const struct token *token = &parser->tokens[parser->at++];
	struct str name = token->text;
	if (str_equal(name, S("true")) || str_equal(name, S("True")))
		return constant(parser, token, jinja_value_bool(true));
	if (str_equal(name, S("false")) || str_equal(name, S("False")))
		return constant(parser, token, jinja_value_bool(false));
	if (str_equal(name, S("none")) || str_equal(name, S("None")))
		return constant(parser, token, jinja_value_none());
	struct node *node = jinja_node(parser, token, NODE_NAME);
	if (node != NULL)
		node->name = name;
	return node;
}

/* "a" "b" is one string. */
static const struct node *parse_strings(struct parser *parser)
{
	const struct token *first = jinja_token(parser);
	struct str text = first->text;
	parser->at++;
	if (jinja_token(parser)->kind == TOKEN_STRING) {
		AUTO(buf) all = { 0 };
		buf_add(&all, text);
		for (; jinja_token(parser)->kind == TOKEN_STRING; parser->at++)
			buf_add(&all, jinja_token(parser)->text);
		text = str_copy(parser->arena, buf_str(&all));
	}
	return constant(parser, first, jinja_value_string(text));
}

/* Adds a node to a list; false if it is NULL. */
static bool append(const struct node **list, struct node **last, const struct node *node)
{
	struct node *item = (struct node *)(uintptr_t)node;
	if (node == NULL)
		return false;
	if (*last == NULL)
		*list = item;
	else
		(*last)->next = item;
	*last = item;
	return true;
}

/* A node may be in one list only; a constant or name that is parsed is always a new one. */
static const struct node *parse_list(struct parser *parser)
{
	struct node *node = jinja_node(parser, jinja_token(parser), NODE_LIST), *last = NULL;
	if (node == NULL || !jinja_expect(parser, S("[")))
		return NULL;
	while (!jinja_skip_operator(parser, S("]"))) {
		if (last != NULL && !jinja_expect(parser, S(",")))
			return NULL;
		if (jinja_skip_operator(parser, S("]")))
			break;
		if (!append(&node->items, &last, jinja_parse_expression(parser, true)))
			return NULL;
	}
	return node;
}

static const struct node *parse_dict(struct parser *parser)
{
	struct node *node = jinja_node(parser, jinja_token(parser), NODE_DICT), *last = NULL;
	if (node == NULL || !jinja_expect(parser, S("{")))
		return NULL;
	while (!jinja_skip_operator(parser, S("}"))) {
		if (last != NULL && !jinja_expect(parser, S(",")))
			return NULL;
		if (jinja_skip_operator(parser, S("}")))
			break;
		struct node *pair = jinja_node(parser, jinja_token(parser), NODE_PAIR);
		if (pair == NULL || (pair->a = jinja_parse_expression(parser, true)) == NULL ||
		    !jinja_expect(parser, S(":")) ||
		    (pair->b = jinja_parse_expression(parser, true)) == NULL ||
		    !append(&node->items, &last, pair))
			return NULL;
	}
	return node;
}

static const struct node *parse_parentheses(struct parser *parser)
{
	const struct token *open = &parser->tokens[parser->at++];
	if (jinja_skip_operator(parser, S(")")))
		return jinja_node(parser, open, NODE_TUPLE);
	const struct node *inner = jinja_parse_tuple(parser, true);
	return inner != NULL && jinja_expect(parser, S(")")) ? inner : NULL;
}

const struct node *jinja_parse_primary(struct parser *parser)
{
	const struct token *token = jinja_token(parser);
	if (token->kind == TOKEN_NAME)
		return parse_name(parser);
	if (token->kind == TOKEN_STRING)
		return parse_strings(parser);
	if (token->kind == TOKEN_INT || token->kind == TOKEN_REAL) {
		parser->at++;
		return constant(parser, token, token->value);
	}
	const struct node *node = NULL;
	if (!deeper(parser))
		return NULL;
	if (jinja_is_operator(parser, S("(")))
		node = parse_parentheses(parser);
	else if (jinja_is_operator(parser, S("[")))
		node = parse_list(parser);
	else if (jinja_is_operator(parser, S("{")))
		node = parse_dict(parser);
	else
		jinja_parse_fail(parser, token, "expected a value, not " STR_FMT,
				 STR_ARG(jinja_token_text(token)));
	parser->depth--;
	return node;
}

/* ---- behind a primary ------------------------------------------------------------------------ */

static bool parse_arguments(struct parser *parser, const struct node **out_items)
{
	struct node *last = NULL;
	bool keywords = false;
	if (!jinja_expect(parser, S("(")))
		return false;
	while (!jinja_skip_operator(parser, S(")"))) {
		const struct token *token = jinja_token(parser);
		if (last != NULL && !jinja_expect(parser, S(",")))
			return false;
		if (jinja_skip_operator(parser, S(")")))
			break;
		token = jinja_token(parser);
		if (jinja_is_operator(parser, S("*")) || jinja_is_operator(parser, S("**")))
			return jinja_parse_fail(
				parser, token,
				"* and ** in arguments are not supported; write the "
				"arguments one by one");
		const struct token *next = token->kind == TOKEN_END ? token : token + 1;
		if (token->kind == TOKEN_NAME && next->kind == TOKEN_OPERATOR &&
		    str_equal(next->text, S("="))) {
			struct node *keyword = jinja_node(parser, token, NODE_KEYWORD);
			parser->at += 2;
			if (keyword == NULL)
				return false;
			keyword->name = token->text;
			keyword->a = jinja_parse_expression(parser, true);
			if (keyword->a == NULL || !append(out_items, &last, keyword))
				return false;
			keywords = true;
		} else if (keywords) {
			return jinja_parse_fail(
				parser, token,
				"an argument without a name cannot follow one with a "
				"name");
		} else if (!append(out_items, &last, jinja_parse_expression(parser, true))) {
			return false;
		}
	}
	return true;
}

static const struct node *parse_call(struct parser *parser, const struct node *callee)
{
	struct node *node = jinja_node(parser, jinja_token(parser), NODE_CALL);
	if (node == NULL || !parse_arguments(parser, &node->items))
		return NULL;
	node->a = callee;
	return node;
}

static const struct node *parse_dot(struct parser *parser, const struct node *of)
{
	const struct token *dot = &parser->tokens[parser->at++], *token = jinja_token(parser);
	struct node *node =
		jinja_node(parser, dot, token->kind == TOKEN_INT ? NODE_ITEM : NODE_ATTRIBUTE);
	if (node == NULL)
		return NULL;
	node->a = of;
	parser->at++;
	if (token->kind == TOKEN_NAME) {
		node->name = token->text;
		return node;
	}
	if (token->kind == TOKEN_INT)
		return (node->b = constant(parser, token, token->value)) == NULL ? NULL : node;
	parser->at--;
	jinja_parse_fail(parser, token, "expected a name behind the dot, not " STR_FMT,
			 STR_ARG(jinja_token_text(token)));
	return NULL;
}

static const struct node *none_at(struct parser *parser)
{
	return constant(parser, jinja_token(parser), jinja_value_none());
}

/* start:stop:step behind `start`, each of which may be absent. */
static const struct node *parse_slice(struct parser *parser, struct node *node,
				      const struct node *start)
{
	struct node *last = NULL;
	node->kind = NODE_SLICE;
	node->b = NULL;
	if (!append(&node->items, &last, start != NULL ? start : none_at(parser)))
		return NULL;
	for (int i = 0; i < 2; i++) {
		bool more = jinja_skip_operator(parser, S(":"));
		bool absent = !more || jinja_is_operator(parser, S(":")) ||
			      jinja_is_operator(parser, S("]"));
		if (!append(&node->items, &last,
			    absent ? none_at(parser) : jinja_parse_expression(parser, true)))
			return NULL;
	}
	return node;
}

static const struct node *parse_subscript(struct parser *parser, const struct node *of)
{
	struct node *node = jinja_node(parser, jinja_token(parser), NODE_ITEM);
	if (node == NULL || !jinja_expect(parser, S("[")))
		return NULL;
	node->a = of;
	if (!jinja_is_operator(parser, S(":")) &&
	    (node->b = jinja_parse_tuple(parser, true)) == NULL)
		return NULL;
	if (jinja_is_operator(parser, S(":")) && parse_slice(parser, node, node->b) == NULL)
		return NULL;
	return jinja_expect(parser, S("]")) ? node : NULL;
}

const struct node *jinja_parse_postfix(struct parser *parser, const struct node *node)
{
	size_t count = 0;
	while (node != NULL) {
		if (++count > LIMIT_TEMPLATE_NESTING) {
			jinja_parse_fail(parser, jinja_token(parser),
					 "the expression is nested more than %d deep",
					 LIMIT_TEMPLATE_NESTING);
			return NULL;
		}
		if (jinja_is_operator(parser, S(".")))
			node = parse_dot(parser, node);
		else if (jinja_is_operator(parser, S("[")))
			node = parse_subscript(parser, node);
		else if (jinja_is_operator(parser, S("(")))
			node = parse_call(parser, node);
		else
			break;
	}
	return node;
}

/* ---- filters and tests ------------------------------------------------------------------------- */

/* A name with dots, as filters and tests of extensions have. */
static bool parse_dotted(struct parser *parser, struct str *out)
{
	const struct token *token = jinja_token(parser);
	if (token->kind != TOKEN_NAME)
		return jinja_parse_fail(parser, token, "expected a name, not " STR_FMT,
					STR_ARG(jinja_token_text(token)));
	*out = token->text;
	parser->at++;
	return true;
}

static const struct node *unknown(struct parser *parser, const struct token *token,
				  const char *what, struct str name, struct str closest)
{
	if (closest.size > 0)
		jinja_parse_fail(parser, token,
				 "unknown %s \"" STR_FMT "\"; did you mean \"" STR_FMT "\"?", what,
				 STR_ARG(str_head(name, LIMIT_QUOTE_BYTES)), STR_ARG(closest));
	else
		jinja_parse_fail(parser, token, "unknown %s \"" STR_FMT "\"", what,
				 STR_ARG(str_head(name, LIMIT_QUOTE_BYTES)));
	return NULL;
}

static const struct node *parse_filter(struct parser *parser, const struct node *subject)
{
	const struct token *token = jinja_token(parser);
	struct node *node = jinja_node(parser, token, NODE_FILTER);
	if (node == NULL || !parse_dotted(parser, &node->name))
		return NULL;
	if (!jinja_filter_exists(node->name))
		return unknown(parser, token, "filter", node->name,
			       jinja_filter_closest(node->name));
	node->a = subject;
	if (jinja_is_operator(parser, S("(")) && !parse_arguments(parser, &node->items))
		return NULL;
	return node;
}

const struct node *jinja_parse_filters(struct parser *parser)
{
	size_t count = 1;
	const struct node *node = parse_filter(parser, NULL);
	while (node != NULL && jinja_skip_operator(parser, S("|"))) {
		if (++count > LIMIT_TEMPLATE_NESTING) {
			jinja_parse_fail(parser, jinja_token(parser), "more than %d filters",
					 LIMIT_TEMPLATE_NESTING);
			return NULL;
		}
		node = parse_filter(parser, node);
	}
	return node;
}

/* Whether a test takes the next token as its argument without parentheses. */
static bool is_bare_argument(const struct parser *parser)
{
	const struct token *token = jinja_token(parser);
	if (token->kind == TOKEN_NAME)
		return !jinja_is_name(parser, S("else")) && !jinja_is_name(parser, S("or")) &&
		       !jinja_is_name(parser, S("and"));
	return token->kind == TOKEN_STRING || token->kind == TOKEN_INT ||
	       token->kind == TOKEN_REAL || jinja_is_operator(parser, S("[")) ||
	       jinja_is_operator(parser, S("{"));
}

static const struct node *parse_test(struct parser *parser, const struct node *subject)
{
	const struct token *token = &parser->tokens[parser->at++];
	bool negated = jinja_skip_name(parser, S("not"));
	struct node *node = jinja_node(parser, token, NODE_TEST);
	const struct token *name = jinja_token(parser);
	if (node == NULL || !parse_dotted(parser, &node->name))
		return NULL;
	if (!jinja_test_exists(node->name))
		return unknown(parser, name, "test", node->name, jinja_test_closest(node->name));
	node->a = subject;
	if (jinja_is_operator(parser, S("("))) {
		if (!parse_arguments(parser, &node->items))
			return NULL;
	} else if (jinja_is_name(parser, S("is"))) {
		jinja_parse_fail(parser, jinja_token(parser),
				 "tests cannot be chained; join them with and");
		return NULL;
	} else if (is_bare_argument(parser)) {
		node->items = jinja_parse_postfix(parser, jinja_parse_primary(parser));
		if (node->items == NULL)
			return NULL;
	}
	if (!negated)
		return node;
	struct node *not = jinja_node(parser, token, NODE_NOT);
	if (not != NULL)
		not ->a = node;
	return not ;
}

static const struct node *parse_filters_and_tests(struct parser *parser, const struct node *node)
{
	size_t count = 0;
	while (node != NULL) {
		if (++count > LIMIT_TEMPLATE_NESTING) {
			jinja_parse_fail(parser, jinja_token(parser), "more than %d filters",
					 LIMIT_TEMPLATE_NESTING);
			return NULL;
		}
		if (jinja_skip_operator(parser, S("|")))
			node = parse_filter(parser, node);
		else if (jinja_is_name(parser, S("is")))
			node = parse_test(parser, node);
		else if (jinja_is_operator(parser, S("(")))
			node = parse_call(parser, node);
		else
			break;
	}
	return node;
}

/* ---- operators --------------------------------------------------------------------------------- */

static const struct node *parse_unary(struct parser *parser, bool with_filters)
{
	const struct token *token = jinja_token(parser);
	const struct node *node;
	bool negate = jinja_is_operator(parser, S("-"));
	if (negate || jinja_is_operator(parser, S("+"))) {
		struct node *sign = jinja_node(parser, token, negate ? NODE_NEGATE : NODE_PLUS);
		parser->at++;
		if (sign == NULL || !deeper(parser))
			return NULL;
		sign->a = parse_unary(parser, false);
		parser->depth--;
		node = sign->a == NULL ? NULL : sign;
	} else {
		node = jinja_parse_primary(parser);
	}
	node = jinja_parse_postfix(parser, node);
	return with_filters ? parse_filters_and_tests(parser, node) : node;
}

struct operator_row {
	const char *text;
	enum operator_kind operator;
};

/* Operands with operators of one level between them, grouped from the left. */
static const struct node *parse_level(struct parser *parser, const struct operator_row *rows,
				      size_t count,
				      const struct node *(*operand)(struct parser *parser))
{
	const struct node *left = operand(parser);
	size_t depth = 0;
	for (size_t i = 0; left != NULL && i < count; i++) {
		const struct token *token = jinja_token(parser);
		if (!jinja_skip_operator(parser, str_from_c(rows[i].text)))
			continue;
		struct node *node = jinja_node(parser, token, NODE_BINARY);
		if (node == NULL)
			return NULL;
		if (++depth > LIMIT_TEMPLATE_NESTING) {
			jinja_parse_fail(parser, token, "more than %d operators in a row",
					 LIMIT_TEMPLATE_NESTING);
			return NULL;
		}
		node->operator= rows[i].operator;
		node->a = left;
		node->b = operand(parser);
		left = node->b == NULL ? NULL : node;
		i = (size_t)-1; /* from the first row again */
	}
	return left;
}

static const struct node *parse_operand(struct parser *parser)
{
	return parse_unary(parser, true);
}

static const struct node *parse_power(struct parser *parser)
{
	static const struct operator_row rows[] = { { "**", OP_POWER } };
	return parse_level(parser, rows, COUNT(rows), parse_operand);
}

static const struct node *parse_product(struct parser *parser)
{
	static const struct operator_row rows[] = { { "*", OP_MULTIPLY },
						    { "/", OP_DIVIDE },
						    { "//", OP_FLOOR_DIVIDE },
						    { "%", OP_REST } };
	return parse_level(parser, rows, COUNT(rows), parse_power);
}

static const struct node *parse_concat(struct parser *parser)
{
	const struct token *token = jinja_token(parser);
	const struct node *first = parse_product(parser);
	if (first == NULL || !jinja_is_operator(parser, S("~")))
		return first;
	struct node *node = jinja_node(parser, token, NODE_CONCAT), *last = NULL;
	if (node == NULL || !append(&node->items, &last, first))
		return NULL;
	while (jinja_skip_operator(parser, S("~")))
		if (!append(&node->items, &last, parse_product(parser)))
			return NULL;
	return node;
}

static const struct node *parse_sum(struct parser *parser)
{
	static const struct operator_row rows[] = { { "+", OP_ADD }, { "-", OP_SUBTRACT } };
	return parse_level(parser, rows, COUNT(rows), parse_concat);
}

static bool take_comparison(struct parser *parser, enum operator_kind *out)
{
	static const struct operator_row rows[] = { { "==", OP_EQUAL },   { "!=", OP_UNEQUAL },
						    { "<=", OP_AT_MOST }, { ">=", OP_AT_LEAST },
						    { "<", OP_LESS },     { ">", OP_MORE } };
	for (size_t i = 0; i < COUNT(rows); i++)
		if (jinja_skip_operator(parser, str_from_c(rows[i].text))) {
			*out = rows[i].operator;
			return true;
		}
	if (jinja_skip_name(parser, S("in"))) {
		*out = OP_IN;
		return true;
	}
	const struct token *next = jinja_token(parser) + 1;
	if (jinja_is_name(parser, S("not")) && next->kind == TOKEN_NAME &&
	    str_equal(next->text, S("in"))) {
		parser->at += 2;
		*out = OP_NOT_IN;
		return true;
	}
	return false;
}

static const struct node *parse_compare(struct parser *parser)
{
	const struct token *token = jinja_token(parser);
	const struct node *first = parse_sum(parser);
	struct node *node = NULL, *last = NULL;
	enum operator_kind operator;
	while (first != NULL && (token = jinja_token(parser), take_comparison(parser, &operator))) {
		struct node *operand = jinja_node(parser, token, NODE_OPERAND);
		if (node == NULL && (node = jinja_node(parser, token, NODE_COMPARE)) != NULL)
			node->a = first;
		if (operand == NULL || node == NULL || (operand->a = parse_sum(parser)) == NULL ||
		    !append(&node->items, &last, operand))
			return NULL;
		operand->operator= operator;
	}
	return node != NULL ? node : first;
}

static const struct node *parse_not(struct parser *parser)
{
	const struct token *token = jinja_token(parser);
	if (!jinja_skip_name(parser, S("not")))
		return parse_compare(parser);
	struct node *node = jinja_node(parser, token, NODE_NOT);
	if (node == NULL || !deeper(parser))
		return NULL;
	node->a = parse_not(parser);
	parser->depth--;
	return node->a == NULL ? NULL : node;
}

static const struct node *parse_logical(struct parser *parser, struct str word, enum node_kind kind,
					const struct node *(*operand)(struct parser *parser))
{
	const struct node *left = operand(parser);
	size_t depth = 0;
	const struct token *token = jinja_token(parser);
	while (left != NULL && (token = jinja_token(parser), jinja_skip_name(parser, word))) {
		struct node *node = jinja_node(parser, token, kind);
		if (node == NULL)
			return NULL;
		if (++depth > LIMIT_TEMPLATE_NESTING) {
			jinja_parse_fail(parser, token, "more than %d operators in a row",
					 LIMIT_TEMPLATE_NESTING);
			return NULL;
		}
		node->a = left;
		node->b = operand(parser);
		left = node->b == NULL ? NULL : node;
	}
	return left;
}

static const struct node *parse_and(struct parser *parser)
{
	return parse_logical(parser, S("and"), NODE_AND, parse_not);
}

static const struct node *parse_or(struct parser *parser)
{
	return parse_logical(parser, S("or"), NODE_OR, parse_and);
}

static const struct node *parse_choice(struct parser *parser)
{
	const struct node *left = parse_or(parser);
	const struct token *token = jinja_token(parser);
	size_t depth = 0;
	while (left != NULL && (token = jinja_token(parser), jinja_skip_name(parser, S("if")))) {
		struct node *node = jinja_node(parser, token, NODE_CHOICE);
		if (node == NULL)
			return NULL;
		if (++depth > LIMIT_TEMPLATE_NESTING) {
			jinja_parse_fail(parser, token, "more than %d choices in a row",
					 LIMIT_TEMPLATE_NESTING);
			return NULL;
		}
		node->a = left;
		node->b = parse_or(parser);
		if (node->b == NULL)
			return NULL;
		if (jinja_skip_name(parser, S("else")) &&
		    (node->c = jinja_parse_expression(parser, true)) == NULL)
			return NULL;
		left = node;
	}
	return left;
}

const struct node *jinja_parse_expression(struct parser *parser, bool with_condition)
{
	if (!deeper(parser))
		return NULL;
	const struct node *node = with_condition ? parse_choice(parser) : parse_or(parser);
	parser->depth--;
	return node;
}

static bool ends_tuple(const struct parser *parser)
{
	const struct token *token = jinja_token(parser);
	return token->kind == TOKEN_VARIABLE_END || token->kind == TOKEN_BLOCK_END ||
	       token->kind == TOKEN_END || jinja_is_operator(parser, S(")")) ||
	       jinja_is_operator(parser, S("]")) || jinja_is_name(parser, S("in"));
}

const struct node *jinja_parse_tuple(struct parser *parser, bool with_condition)
{
	const struct token *token = jinja_token(parser);
	const struct node *first = jinja_parse_expression(parser, with_condition);
	if (first == NULL || !jinja_is_operator(parser, S(",")))
		return first;
	struct node *node = jinja_node(parser, token, NODE_TUPLE), *last = NULL;
	if (node == NULL || !append(&node->items, &last, first))
		return NULL;
	while (jinja_skip_operator(parser, S(",")) && !ends_tuple(parser))
		if (!append(&node->items, &last, jinja_parse_expression(parser, with_condition)))
			return NULL;
	return node;
}

static const struct node *target_name(struct parser *parser, bool with_namespace)
{
	const struct token *token = jinja_token(parser);
	if (jinja_is_operator(parser, S("("))) {
		parser->at++;
		if (!deeper(parser))
			return NULL;
		const struct node *inner = jinja_parse_target(parser, false);
		parser->depth--;
		return inner != NULL && jinja_expect(parser, S(")")) ? inner : NULL;
	}
	const struct node *name = token->kind == TOKEN_NAME ? parse_name(parser) : NULL;
	if (name == NULL || name->kind != NODE_NAME) {
		jinja_parse_fail(parser, token, "cannot assign to " STR_FMT,
				 STR_ARG(jinja_token_text(token)));
		return NULL;
	}
	return with_namespace && jinja_is_operator(parser, S(".")) ? parse_dot(parser, name) : name;
}

const struct node *jinja_parse_target(struct parser *parser, bool with_namespace)
{
	const struct token *token = jinja_token(parser);
	const struct node *first = target_name(parser, with_namespace);
	if (first == NULL || !jinja_is_operator(parser, S(",")))
		return first;
	struct node *node = jinja_node(parser, token, NODE_TUPLE), *last = NULL;
	if (node == NULL || !append(&node->items, &last, first))
		return NULL;
	while (jinja_skip_operator(parser, S(",")) && !ends_tuple(parser) &&
	       !jinja_is_operator(parser, S("=")))
		if (!append(&node->items, &last, target_name(parser, false)))
			return NULL;
	return node;
}
