/* template/jinja_token.c -- what the parsers of expressions and statements share: tokens, nodes, errors. */
#include <stdarg.h>

#include "template/jinja_tree.h"

bool jinja_parse_fail(struct parser *parser, const struct token *token, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	struct str text = str_format_list(parser->arena, format, list);
	va_end(list);
	error_fill(parser->error, ERROR_INVALID, STR_FMT ":%u:%u: " STR_FMT, STR_ARG(parser->file),
		   token->line, token->column, STR_ARG(text));
	parser->error->line = token->line;
	parser->error->column = token->column;
	return false;
}

const struct token *jinja_token(const struct parser *parser)
{
	return &parser->tokens[parser->at];
}

struct str jinja_token_text(const struct token *token)
{
	switch (token->kind) {
	case TOKEN_TEXT:
		return S("text");
	case TOKEN_VARIABLE_BEGIN:
		return S("{{");
	case TOKEN_VARIABLE_END:
		return S("}}");
	case TOKEN_BLOCK_BEGIN:
		return S("{%");
	case TOKEN_BLOCK_END:
		return S("%}");
	case TOKEN_NAME:
	case TOKEN_OPERATOR:
		return str_head(token->text, LIMIT_QUOTE_BYTES);
	case TOKEN_STRING:
		return S("a string");
	case TOKEN_INT:
	case TOKEN_REAL:
		return S("a number");
	case TOKEN_END:
		break;
	}
	return S("the end of the template");
}

bool jinja_is_operator(const struct parser *parser, struct str text)
{
	const struct token *token = jinja_token(parser);
	return token->kind == TOKEN_OPERATOR && str_equal(token->text, text);
}

bool jinja_is_name(const struct parser *parser, struct str name)
{
	const struct token *token = jinja_token(parser);
	return token->kind == TOKEN_NAME && str_equal(token->text, name);
}

bool jinja_skip_operator(struct parser *parser, struct str text)
{
	bool is = jinja_is_operator(parser, text);
	parser->at += is;
	return is;
}

bool jinja_skip_name(struct parser *parser, struct str name)
{
	bool is = jinja_is_name(parser, name);
	parser->at += is;
	return is;
}

bool jinja_expect(struct parser *parser, struct str text)
{
	if (jinja_skip_operator(parser, text))
		return true;
	return jinja_parse_fail(parser, jinja_token(parser), "expected " STR_FMT ", not " STR_FMT,
				STR_ARG(text), STR_ARG(jinja_token_text(jinja_token(parser))));
}

struct node *jinja_node(struct parser *parser, const struct token *token, enum node_kind kind)
{
	if (++parser->nodes > LIMIT_TEMPLATE_NODES) {
		jinja_parse_fail(parser, token, "the template has more than %d parts",
				 LIMIT_TEMPLATE_NODES);
		return NULL;
	}
	struct node *node = arena_new(parser->arena, struct node);
	node->kind = kind;
	node->line = token->line;
	node->column = token->column;
	node->file = parser->file;
	return node;
}
