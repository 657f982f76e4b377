/* template/jinja_parse.c -- parses statements.
 *
 * A body ends at a tag whose name the caller expects, such as `elif`, `else` or `endif`; the caller
 * reads that tag.  A tag that nothing expects is an error that names what is open.
 */
#include "base/utf8.h"
#include "contract/closest.h"
#include "template/jinja_render.h"

struct list {
	const struct node *first;
	struct node *last;
};

static bool list_add(struct list *list, const struct node *node)
{
	struct node *item = (struct node *)(uintptr_t)node;
	if (node == NULL)
		return false;
	if (list->last == NULL)
		list->first = item;
	else
		list->last->next = item;
	list->last = item;
	return true;
}

static bool expect_end_of_tag(struct parser *parser)
{
	const struct token *token = jinja_token(parser);
	if (token->kind != TOKEN_BLOCK_END)
		return jinja_parse_fail(parser, token, "expected %%}, not " STR_FMT,
					STR_ARG(jinja_token_text(token)));
	parser->at++;
	return true;
}

static bool expect_name(struct parser *parser, struct str name)
{
	if (jinja_skip_name(parser, name))
		return true;
	return jinja_parse_fail(parser, jinja_token(parser), "expected " STR_FMT ", not " STR_FMT,
				STR_ARG(name), STR_ARG(jinja_token_text(jinja_token(parser))));
}

static bool is_among(struct str name, const char *const *names)
{
	for (size_t i = 0; names[i] != NULL; i++)
		if (str_equal(name, str_from_c(names[i])))
			return true;
	return false;
}

static const struct node *parse_statement(struct parser *parser);

/* Parses up to one of the tags `ends`, whose name becomes the next token.  With NULL, up to the end of
 * the template. */
static bool parse_body(struct parser *parser, const struct token *opener, const char *const *ends,
		       const struct node **out)
{
	struct list body = { 0 };
	for (;;) {
		const struct token *token = jinja_token(parser);
		const struct node *node = NULL;
		if (token->kind == TOKEN_END && ends == NULL)
			break;
		if (token->kind == TOKEN_END)
			return jinja_parse_fail(parser, opener,
						STR_FMT " has no end: {%% %s %%} is missing",
						STR_ARG(opener->text), ends[0]);
		parser->at++;
		if (token->kind == TOKEN_TEXT) {
			struct node *text = jinja_node(parser, token, NODE_TEXT);
			if (text != NULL)
				text->name = token->text;
			node = text;
		} else if (token->kind == TOKEN_VARIABLE_BEGIN) {
			struct node *output = jinja_node(parser, token, NODE_OUTPUT);
			if (output == NULL || (output->a = jinja_parse_tuple(parser, true)) == NULL)
				return false;
			const struct token *end = jinja_token(parser);
			if (end->kind != TOKEN_VARIABLE_END)
				return jinja_parse_fail(parser, end, "expected }}, not " STR_FMT,
							STR_ARG(jinja_token_text(end)));
			parser->at++;
			node = output;
		} else {
			const struct token *name = jinja_token(parser);
			if (name->kind == TOKEN_NAME && ends != NULL && is_among(name->text, ends))
				break;
			node = parse_statement(parser);
		}
		if (!list_add(&body, node))
			return false;
	}
	*out = body.first;
	return true;
}

/* ---- statements ------------------------------------------------------------------------------ */

static const struct node *parse_if(struct parser *parser, const struct token *token)
{
	static const char *const ends[] = { "endif", "elif", "else", NULL };
	static const char *const last[] = { "endif", NULL };
	struct node *node = jinja_node(parser, token, NODE_IF), *current = node;
	for (;;) {
		if (current == NULL || (current->a = jinja_parse_tuple(parser, false)) == NULL ||
		    !expect_end_of_tag(parser) || !parse_body(parser, token, ends, &current->body))
			return NULL;
		const struct token *tag = jinja_token(parser);
		if (!jinja_skip_name(parser, S("elif")))
			break;
		struct node *next = jinja_node(parser, tag, NODE_IF);
		current->other = next;
		current = next;
	}
	if (jinja_skip_name(parser, S("else")) &&
	    (!expect_end_of_tag(parser) || !parse_body(parser, token, last, &current->other)))
		return NULL;
	return expect_name(parser, S("endif")) && expect_end_of_tag(parser) ? node : NULL;
}

static const struct node *parse_for(struct parser *parser, const struct token *token)
{
	static const char *const ends[] = { "endfor", "else", NULL };
	static const char *const last[] = { "endfor", NULL };
	struct node *node = jinja_node(parser, token, NODE_FOR);
	if (node == NULL || (node->a = jinja_parse_target(parser, false)) == NULL ||
	    !expect_name(parser, S("in")) || (node->b = jinja_parse_tuple(parser, false)) == NULL)
		return NULL;
	if (jinja_skip_name(parser, S("if")) &&
	    (node->c = jinja_parse_expression(parser, true)) == NULL)
		return NULL;
	node->is_recursive = jinja_skip_name(parser, S("recursive"));
	if (!expect_end_of_tag(parser) || !parse_body(parser, token, ends, &node->body))
		return NULL;
	if (jinja_skip_name(parser, S("else")) &&
	    (!expect_end_of_tag(parser) || !parse_body(parser, token, last, &node->other)))
		return NULL;
	return expect_name(parser, S("endfor")) && expect_end_of_tag(parser) ? node : NULL;
}

static const struct node *parse_set(struct parser *parser, const struct token *token)
{
	static const char *const ends[] = { "endset", NULL };
	struct node *node = jinja_node(parser, token, NODE_SET);
	if (node == NULL || (node->a = jinja_parse_target(parser, true)) == NULL)
		return NULL;
	if (jinja_skip_operator(parser, S("="))) {
		node->b = jinja_parse_tuple(parser, true);
		return node->b != NULL && expect_end_of_tag(parser) ? node : NULL;
	}
	node->kind = NODE_SET_BLOCK;
	if (jinja_skip_operator(parser, S("|")) && (node->b = jinja_parse_filters(parser)) == NULL)
		return NULL;
	if (!expect_end_of_tag(parser) || !parse_body(parser, token, ends, &node->body))
		return NULL;
	return expect_name(parser, S("endset")) && expect_end_of_tag(parser) ? node : NULL;
}

static const struct node *parse_include(struct parser *parser, const struct token *token)
{
	struct node *node = jinja_node(parser, token, NODE_INCLUDE);
	if (node == NULL || (node->a = jinja_parse_expression(parser, true)) == NULL)
		return NULL;
	if (jinja_skip_name(parser, S("ignore"))) {
		if (!expect_name(parser, S("missing")))
			return NULL;
		node->ignores_missing = true;
	}
	const struct token *context = jinja_token(parser);
	if (jinja_skip_name(parser, S("without")))
		node->without_context = true;
	if ((node->without_context ||
	     (context->kind == TOKEN_NAME && jinja_skip_name(parser, S("with")))) &&
	    !expect_name(parser, S("context")))
		return NULL;
	return expect_end_of_tag(parser) ? node : NULL;
}

/* (a, b=1) of a macro or of a call block. */
static bool parse_parameters(struct parser *parser, struct node *macro)
{
	struct list parameters = { 0 };
	bool defaults = false;
	if (!jinja_expect(parser, S("(")))
		return false;
	while (!jinja_skip_operator(parser, S(")"))) {
		if (parameters.first != NULL && !jinja_expect(parser, S(",")))
			return false;
		const struct token *token = jinja_token(parser);
		struct node *parameter = jinja_node(parser, token, NODE_PARAMETER);
		if (parameter == NULL)
			return false;
		if (token->kind != TOKEN_NAME)
			return jinja_parse_fail(parser, token,
						"expected the name of a parameter, not " STR_FMT,
						STR_ARG(jinja_token_text(token)));
		parameter->name = token->text;
		parser->at++;
		if (jinja_skip_operator(parser, S("="))) {
			defaults = true;
			if ((parameter->a = jinja_parse_expression(parser, true)) == NULL)
				return false;
		} else if (defaults) {
			return jinja_parse_fail(parser, token,
						"parameter \"" STR_FMT
						"\" without a default follows one with a default",
						STR_ARG(token->text));
		}
		if (!list_add(&parameters, parameter))
			return false;
	}
	macro->items = parameters.first;
	return true;
}

/* Finds out which of the names caller, varargs and kwargs the tokens of a macro's body use. */
static void note_uses(const struct parser *parser, size_t from, struct node *macro)
{
	for (size_t i = from; i < parser->at; i++) {
		if (parser->tokens[i].kind != TOKEN_NAME)
			continue;
		macro->uses_caller |= str_equal(parser->tokens[i].text, S("caller"));
		macro->uses_varargs |= str_equal(parser->tokens[i].text, S("varargs"));
		macro->uses_kwargs |= str_equal(parser->tokens[i].text, S("kwargs"));
	}
}

static const struct node *parse_macro(struct parser *parser, const struct token *token)
{
	static const char *const ends[] = { "endmacro", NULL };
	struct node *node = jinja_node(parser, token, NODE_MACRO);
	const struct token *name = jinja_token(parser);
	if (node == NULL)
		return NULL;
	if (name->kind != TOKEN_NAME) {
		jinja_parse_fail(parser, name, "expected the name of the macro, not " STR_FMT,
				 STR_ARG(jinja_token_text(name)));
		return NULL;
	}
	node->name = name->text;
	parser->at++;
	size_t from = parser->at;
	if (!parse_parameters(parser, node) || !expect_end_of_tag(parser) ||
	    !parse_body(parser, token, ends, &node->body))
		return NULL;
	note_uses(parser, from, node);
	return expect_name(parser, S("endmacro")) && expect_end_of_tag(parser) ? node : NULL;
}

static const struct node *parse_call_block(struct parser *parser, const struct token *token)
{
	static const char *const ends[] = { "endcall", NULL };
	struct node *node = jinja_node(parser, token, NODE_CALL_BLOCK);
	struct node *caller = jinja_node(parser, token, NODE_MACRO);
	if (node == NULL || caller == NULL)
		return NULL;
	caller->name = S("caller");
	if (jinja_is_operator(parser, S("(")) && !parse_parameters(parser, caller))
		return NULL;
	const struct token *call = jinja_token(parser);
	if ((node->a = jinja_parse_expression(parser, true)) == NULL)
		return NULL;
	if (node->a->kind != NODE_CALL) {
		jinja_parse_fail(parser, call, "call needs a call of a macro: {%% call name() %%}");
		return NULL;
	}
	if (!expect_end_of_tag(parser) || !parse_body(parser, token, ends, &caller->body))
		return NULL;
	node->b = caller;
	return expect_name(parser, S("endcall")) && expect_end_of_tag(parser) ? node : NULL;
}

static const struct node *parse_filter_block(struct parser *parser, const struct token *token)
{
	static const char *const ends[] = { "endfilter", NULL };
	struct node *node = jinja_node(parser, token, NODE_FILTER_BLOCK);
	if (node == NULL || (node->a = jinja_parse_filters(parser)) == NULL ||
	    !expect_end_of_tag(parser) || !parse_body(parser, token, ends, &node->body))
		return NULL;
	return expect_name(parser, S("endfilter")) && expect_end_of_tag(parser) ? node : NULL;
}

static const struct node *parse_with(struct parser *parser, const struct token *token)
{
	static const char *const ends[] = { "endwith", NULL };
	struct node *node = jinja_node(parser, token, NODE_WITH);
	struct list sets = { 0 };
	while (node != NULL && jinja_token(parser)->kind != TOKEN_BLOCK_END) {
		if (sets.first != NULL && !jinja_expect(parser, S(",")))
			return NULL;
		struct node *set = jinja_node(parser, jinja_token(parser), NODE_SET);
		if (set == NULL || (set->a = jinja_parse_target(parser, false)) == NULL ||
		    !jinja_expect(parser, S("=")) ||
		    (set->b = jinja_parse_expression(parser, true)) == NULL ||
		    !list_add(&sets, set))
			return NULL;
	}
	if (node == NULL || !expect_end_of_tag(parser) ||
	    !parse_body(parser, token, ends, &node->body))
		return NULL;
	node->items = sets.first;
	return expect_name(parser, S("endwith")) && expect_end_of_tag(parser) ? node : NULL;
}

struct statement_row {
	struct str name;
	const struct node *(*parse)(struct parser *parser, const struct token *token);
};

static const struct statement_row statements[] = {
	{ { "call", 4 }, parse_call_block }, { { "filter", 6 }, parse_filter_block },
	{ { "for", 3 }, parse_for },         { { "if", 2 }, parse_if },
	{ { "include", 7 }, parse_include }, { { "macro", 5 }, parse_macro },
	{ { "set", 3 }, parse_set },         { { "with", 4 }, parse_with },
};

static const struct node *unknown_tag(struct parser *parser, const struct token *token)
{
	static const struct str ends[] = { { "else", 4 },    { "elif", 4 },     { "endif", 5 },
					   { "endfor", 6 },  { "endset", 6 },   { "endcall", 7 },
					   { "endwith", 7 }, { "endmacro", 8 }, { "endfilter", 9 },
					   { "endraw", 6 } };
	static const struct str missing[] = { { "block", 5 },    { "extends", 7 },
					      { "import", 6 },   { "from", 4 },
					      { "do", 2 },       { "autoescape", 10 },
					      { "continue", 8 }, { "break", 5 } };
	struct str names[COUNT(statements)];
	for (size_t i = 0; i < COUNT(statements); i++)
		names[i] = statements[i].name;
	for (size_t i = 0; i < COUNT(ends); i++)
		if (str_equal(token->text, ends[i])) {
			jinja_parse_fail(parser, token,
					 "nothing is open that " STR_FMT " could end",
					 STR_ARG(token->text));
			return NULL;
		}
	for (size_t i = 0; i < COUNT(missing); i++)
		if (str_equal(token->text, missing[i])) {
			jinja_parse_fail(parser, token, "the tag " STR_FMT " is not supported",
					 STR_ARG(token->text));
			return NULL;
		}
	struct str closest = closest_word((struct str_list){ names, COUNT(names) }, token->text);
	if (closest.size > 0)
		jinja_parse_fail(parser, token,
				 "unknown tag \"" STR_FMT "\"; did you mean \"" STR_FMT "\"?",
				 STR_ARG(jinja_token_text(token)), STR_ARG(closest));
	else
		jinja_parse_fail(parser, token, "unknown tag \"" STR_FMT "\"",
				 STR_ARG(jinja_token_text(token)));
	return NULL;
}

static const struct node *parse_statement(struct parser *parser)
{
	const struct token *token = jinja_token(parser);
	if (token->kind != TOKEN_NAME) {
		jinja_parse_fail(parser, token, "expected the name of a tag, not " STR_FMT,
				 STR_ARG(jinja_token_text(token)));
		return NULL;
	}
	parser->at++;
	if (++parser->depth > LIMIT_TEMPLATE_NESTING) {
		jinja_parse_fail(parser, token, "tags are nested more than %d deep",
				 LIMIT_TEMPLATE_NESTING);
		return NULL;
	}
	for (size_t i = 0; i < COUNT(statements); i++)
		if (str_equal(token->text, statements[i].name)) {
			const struct node *node = statements[i].parse(parser, token);
			parser->depth--;
			return node;
		}
	return unknown_tag(parser, token);
}

bool jinja_parse(struct str name, struct str source, const struct jinja_options *options,
		 struct arena *arena, const struct jinja_template **out_template,
		 struct error *error)
{
	struct parser parser = { .file = name, .arena = arena, .options = options, .error = error };
	const struct token start = { .line = 1, .column = 1 };
	struct jinja_template *template = arena_new(arena, struct jinja_template);
	size_t bad;
	template->name = name;
	if (source.size > LIMIT_TEMPLATE_BYTES) {
		return jinja_parse_fail(&parser, &start,
					"the template has %zu bytes; the limit is %d", source.size,
					LIMIT_TEMPLATE_BYTES);
	}
	if (!utf8_valid(source, &bad))
		return jinja_parse_fail(&parser, &start,
					"the template is not valid UTF-8, from byte %zu on", bad);
	if (!jinja_lex(&parser, source) || !parse_body(&parser, &start, NULL, &template->body))
		return false;
	*out_template = template;
	return true;
}
