/* template/jinja_tree.h -- the tree of a template and its parser; private to template. */
#ifndef TEMPLATE_JINJA_TREE_H
#define TEMPLATE_JINJA_TREE_H

#include "template/jinja_value.h"

/* ---- the tree ---------------------------------------------------------------------------- */

enum node_kind {
	/* expressions */
	NODE_CONSTANT,
	NODE_NAME,      /* name */
	NODE_LIST,      /* items */
	NODE_TUPLE,     /* items */
	NODE_DICT,      /* items: NODE_PAIR */
	NODE_PAIR,      /* a: key, b: value */
	NODE_ATTRIBUTE, /* a, name */
	NODE_ITEM,      /* a, b */
	NODE_SLICE,     /* a: what; items: three, NODE_CONSTANT none if absent */
	NODE_CALL,      /* a, items: arguments */
	NODE_KEYWORD,   /* name, a: a keyword argument */
	NODE_FILTER,    /* a (NULL = the text of a block), name, items: arguments */
	NODE_TEST,      /* a, name, items: arguments */
	NODE_NOT,
	NODE_NEGATE,
	NODE_PLUS,
	NODE_AND,
	NODE_OR,
	NODE_COMPARE, /* a, items: NODE_OPERAND */
	NODE_OPERAND, /* operator, a */
	NODE_BINARY,  /* operator, a, b */
	NODE_CONCAT,  /* items */
	NODE_CHOICE,  /* a if b else c; c may be NULL */
	/* statements */
	NODE_TEXT,         /* name: the text */
	NODE_OUTPUT,       /* a */
	NODE_IF,           /* a, body, other: else */
	NODE_FOR,          /* a: target, b: iterable, c: condition, body, other; is_recursive */
	NODE_SET,          /* a: target, b: value */
	NODE_SET_BLOCK,    /* a: target, b: filters, body */
	NODE_INCLUDE,      /* a: name or list; ignores_missing, without_context */
	NODE_MACRO,        /* name, items: NODE_PARAMETER, body; uses_* */
	NODE_PARAMETER,    /* name, a: default */
	NODE_CALL_BLOCK,   /* a: NODE_CALL, b: NODE_MACRO, the caller */
	NODE_FILTER_BLOCK, /* a: filters, body */
	NODE_WITH,         /* items: NODE_SET, body */
};

enum operator_kind {
	OP_ADD,
	OP_SUBTRACT,
	OP_MULTIPLY,
	OP_DIVIDE,
	OP_FLOOR_DIVIDE,
	OP_REST,
	OP_POWER,
	OP_EQUAL,
	OP_UNEQUAL,
	OP_LESS,
	OP_AT_MOST,
	OP_MORE,
	OP_AT_LEAST,
	OP_IN,
	OP_NOT_IN,
};

struct node {
	enum node_kind kind;
	enum operator_kind operator;
	uint32_t line, column;
	bool ignores_missing, without_context, is_recursive;
	bool uses_caller, uses_varargs, uses_kwargs; /* of a macro: what its body names */
	struct str name;
	struct str file;
	struct value constant;
	const struct node *a, *b, *c;
	const struct node *items, *body, *other; /* first of a list */
	const struct node *next;                 /* in its list */
};

struct jinja_template {
	struct str name;
	const struct node *body;
};

/* ---- parsing ------------------------------------------------------------------------------ */

enum token_kind {
	TOKEN_TEXT,
	TOKEN_VARIABLE_BEGIN,
	TOKEN_VARIABLE_END,
	TOKEN_BLOCK_BEGIN,
	TOKEN_BLOCK_END,
	TOKEN_NAME,
	TOKEN_STRING,
	TOKEN_INT,
	TOKEN_REAL,
	TOKEN_OPERATOR, /* text */
	TOKEN_END,
};

struct token {
	enum token_kind kind;
	uint32_t line, column;
	struct str text;
	struct value value; /* of a string or number */
};

struct parser {
	struct str file;
	struct arena *arena;
	const struct jinja_options *options;
	struct token *tokens;
	size_t count, at;
	size_t depth, nodes;
	size_t loops; /* around the statement */
	struct error *error;
};

MUST_CHECK bool jinja_lex(struct parser *parser, struct str source);
/* Fails at a token. */
bool jinja_parse_fail(struct parser *parser, const struct token *token, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* Makes a node at a token; NULL after a failure. */
struct node *jinja_node(struct parser *parser, const struct token *token, enum node_kind kind);
const struct token *jinja_token(const struct parser *parser);
bool jinja_is_operator(const struct parser *parser, struct str text);
bool jinja_is_name(const struct parser *parser, struct str name);
bool jinja_skip_operator(struct parser *parser, struct str text);
bool jinja_skip_name(struct parser *parser, struct str name);
MUST_CHECK bool jinja_expect(struct parser *parser, struct str operator_text);
struct str jinja_token_text(const struct token *token); /* for errors */

/* Each returns NULL after a failure. */
const struct node *jinja_parse_expression(struct parser *parser, bool with_condition);
/* Expressions with commas between them; one without a comma stands for itself. */
const struct node *jinja_parse_tuple(struct parser *parser, bool with_condition);
const struct node *jinja_parse_target(struct parser *parser, bool with_namespace);
const struct node *jinja_parse_primary(struct parser *parser);
/* Filters with `|` between them, on the text of a block. */
const struct node *jinja_parse_filters(struct parser *parser);
const struct node *jinja_parse_postfix(struct parser *parser, const struct node *node);

#endif
