/* expr/expr_tree.h -- the tree of a parsed expression; private to expr. */
#ifndef EXPR_TREE_H
#define EXPR_TREE_H

#include "expr/expr.h"

enum expr_kind {
	EXPR_LITERAL,  /* value */
	EXPR_LIST,     /* items */
	EXPR_STEP,     /* steps.NAME.FIELD */
	EXPR_CTX,      /* ctx.NAME */
	EXPR_VARIABLE, /* NAME */
	EXPR_KEY,      /* left.NAME */
	EXPR_INDEX,    /* left[right] */
	EXPR_NOT,
	EXPR_NEGATE,
	EXPR_AND,
	EXPR_OR,
	EXPR_EQUAL, /* also `is` */
	EXPR_UNEQUAL,
	EXPR_LESS,
	EXPR_AT_MOST,
	EXPR_MORE,
	EXPR_AT_LEAST,
	EXPR_IN,
	EXPR_NOT_IN,
	EXPR_ADD,
	EXPR_SUBTRACT,
	EXPR_MULTIPLY,
	EXPR_DIVIDE,
	EXPR_REST,
	EXPR_CALL, /* function, items */
};

enum expr_function { EXPR_COALESCE, EXPR_LEN, EXPR_LOWER, EXPR_UPPER, EXPR_INT, EXPR_STR };

struct expr_node {
	enum expr_kind kind;
	enum expr_field field;
	enum expr_function function;
	struct str name;
	struct json value;
	const struct expr_node *left, *right;
	const struct expr_node *const *items;
	size_t count;
};

struct expr {
	const struct expr_node *root;
	struct str text;
	bool negative; /* contains `!=` or `not in` */
};

#endif
