/* template/jinja_render.c -- executes statements: text, output, loops, macros, includes.
 *
 * Scopes are as in Jinja2: a loop's round, a macro, `with`, a block and an included template have their
 * own; `if` has none.  What is set in a scope is gone with it.
 */
#include "template/jinja_render.h"

#include <stdarg.h>

bool jinja_fail(struct renderer *r, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	struct str text = str_format_list(r->arena, format, list);
	va_end(list);
	error_fill(r->error, ERROR_INVALID, STR_FMT ":%u:%u: " STR_FMT, STR_ARG(r->place->file),
		   r->place->line, r->place->column, STR_ARG(text));
	r->error->line = r->place->line;
	r->error->column = r->place->column;
	return false;
}

/* ---- limits -------------------------------------------------------------------------------------- */

bool jinja_work(struct renderer *r, size_t steps)
{
	r->steps += steps;
	if (r->steps <= LIMIT_TEMPLATE_STEPS)
		return true;
	return jinja_fail(r, "the template takes more than %d steps", LIMIT_TEMPLATE_STEPS);
}

bool jinja_charge(struct renderer *r, size_t bytes)
{
	r->memory += bytes;
	if (r->memory > LIMIT_TEMPLATE_MEMORY_BYTES)
		return jinja_fail(r, "the template takes more than %d bytes of memory",
				  LIMIT_TEMPLATE_MEMORY_BYTES);
	return jinja_work(r, bytes / 256);
}

bool jinja_enter(struct renderer *r)
{
	if (++r->depth <= LIMIT_TEMPLATE_DEPTH)
		return true;
	return jinja_fail(r,
			  "expressions, blocks, macros and includes are nested more than %d "
			  "deep; does the template include or call itself?",
			  LIMIT_TEMPLATE_DEPTH);
}

bool jinja_copy(struct renderer *r, const struct buf *text, struct value *out)
{
	if (text->full)
		return jinja_fail(r, "the text is larger than %d bytes",
				  LIMIT_TEMPLATE_OUTPUT_BYTES);
	if (!jinja_charge(r, text->size))
		return false;
	*out = jinja_value_string(str_copy(r->arena, buf_str(text)));
	return true;
}

bool jinja_sequence(struct renderer *r, enum sequence_flavor flavor, size_t count,
		    struct value *out)
{
	if (!jinja_charge(r, sizeof(struct sequence) + count * sizeof(struct value)))
		return false;
	struct sequence *sequence = arena_new(r->arena, struct sequence);
	sequence->flavor = flavor;
	sequence->at = arena_array(r->arena, struct value, count);
	sequence->count = count;
	*out = (struct value){ .kind = VALUE_SEQUENCE, .as.sequence = sequence };
	return true;
}

bool jinja_mapping(struct renderer *r, size_t room, struct value *out)
{
	if (!jinja_charge(r, sizeof(struct mapping) + room * sizeof(struct entry)))
		return false;
	struct mapping *mapping = arena_new(r->arena, struct mapping);
	mapping->at = arena_array(r->arena, struct entry, room);
	mapping->room = room;
	*out = (struct value){ .kind = VALUE_MAPPING, .as.mapping = mapping };
	return true;
}

/* Replaces the value of the key, or adds it; there is room. */
void jinja_mapping_put(struct mapping *mapping, struct value key, struct value value)
{
	for (size_t i = 0; i < mapping->count; i++) {
		struct value other = mapping->at[i].key;
		bool is_same =
			other.kind == VALUE_STRING
				? key.kind == VALUE_STRING &&
					  str_equal(other.as.string, key.as.string)
			: other.kind == VALUE_NONE
				? key.kind == VALUE_NONE
				: jinja_value_is_number(key) &&
					  jinja_value_as_real(key) >= jinja_value_as_real(other) &&
					  jinja_value_as_real(key) <= jinja_value_as_real(other);
		if (is_same) {
			mapping->at[i].value = value;
			return;
		}
	}
	require(mapping->count < mapping->room);
	mapping->at[mapping->count++] = (struct entry){ key, value };
}

/* ---- scopes ---------------------------------------------------------------------------------------- */

bool jinja_scope(struct renderer *r, struct scope *outer)
{
	if (!jinja_charge(r, sizeof(struct scope)))
		return false;
	r->scope = arena_new(r->arena, struct scope);
	r->scope->outer = outer;
	return true;
}

bool jinja_bind(struct renderer *r, struct str name, struct value value)
{
	for (struct binding *b = r->scope->first; b != NULL; b = b->next)
		if (str_equal(b->name, name)) {
			b->value = value;
			return true;
		}
	if (!jinja_charge(r, sizeof(struct binding)))
		return false;
	struct binding *binding = arena_new(r->arena, struct binding);
	*binding = (struct binding){ name, value, r->scope->first };
	r->scope->first = binding;
	return true;
}

static bool bind_member(struct renderer *r, const struct node *target, struct value value)
{
	struct value space, ignored;
	if (!jinja_lookup(r, target->a->name, &space) || space.kind != VALUE_NAMESPACE)
		return jinja_fail(r,
				  "\"" STR_FMT "\" is no namespace: only members of namespace() "
				  "can be set",
				  STR_ARG(target->a->name));
	struct mapping *mapping = space.as.mapping;
	struct value key = jinja_value_string(target->name);
	if (mapping->count == mapping->room && !jinja_value_find(r, mapping, key, &ignored)) {
		size_t room = mapping->room == 0 ? 4 : mapping->room * 2;
		if (!jinja_charge(r, room * sizeof(struct entry)))
			return false;
		struct entry *at = arena_array(r->arena, struct entry, room);
		for (size_t i = 0; i < mapping->count; i++)
			at[i] = mapping->at[i];
		mapping->at = at;
		mapping->room = room;
	}
	jinja_mapping_put(mapping, key, value);
	return true;
}

static bool bind_target(struct renderer *r, const struct node *target, struct value value)
{
	struct sequence *items;
	size_t count = 0;
	r->place = target;
	if (target->kind == NODE_NAME)
		return jinja_bind(r, target->name, value);
	if (target->kind == NODE_ATTRIBUTE)
		return bind_member(r, target, value);
	for (const struct node *item = target->items; item != NULL; item = item->next)
		count++;
	if (!jinja_value_iterate(r, value, &items))
		return false;
	if (items->count != count)
		return jinja_fail(r, "cannot assign %zu values to %zu names", items->count, count);
	count = 0;
	for (const struct node *item = target->items; item != NULL; item = item->next)
		if (!bind_target(r, item, jinja_value_item(r, items, count++)))
			return false;
	return true;
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static bool write_text(struct renderer *r, struct str text)
{
	if (!buf_add(r->out, text))
		return jinja_fail(r, "the text is larger than %d bytes",
				  LIMIT_TEMPLATE_OUTPUT_BYTES);
	return jinja_work(r, text.size / 256);
}

/* Renders a body into a string of its own. */
static bool capture(struct renderer *r, const struct node *body, struct value *out)
{
	AUTO(buf) text = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
	struct buf *outer = r->out;
	r->out = &text;
	bool good = jinja_body(r, body);
	r->out = outer;
	return good && jinja_copy(r, &text, out);
}

/* Applies the filters of a block to its text: the innermost has no subject. */
static bool apply_filters(struct renderer *r, const struct node *filter, struct value text,
			  struct value *out)
{
	struct arguments arguments;
	if (filter == NULL) {
		*out = text;
		return true;
	}
	if (!apply_filters(r, filter->a, text, &text) ||
	    !jinja_arguments(r, filter->items, &arguments))
		return false;
	r->place = filter;
	return jinja_filter(r, filter->name, text, &arguments, out);
}

/* ---- loops --------------------------------------------------------------------------------------------- */

static bool passes(struct renderer *r, const struct node *node, struct scope *outer,
		   struct value item, bool *out)
{
	struct value condition;
	if (!jinja_scope(r, outer) || !bind_target(r, node->a, item) ||
	    !jinja_evaluate(r, node->c, &condition))
		return false;
	r->place = node;
	return jinja_value_true(r, condition, out);
}

static bool select_items(struct renderer *r, const struct node *node, struct scope *outer,
			 struct sequence **items)
{
	struct value kept;
	size_t count = 0;
	if (node->c == NULL)
		return true;
	if (!jinja_sequence(r, SEQUENCE_LIST, (*items)->count, &kept))
		return false;
	for (size_t i = 0; i < (*items)->count; i++) {
		struct value item = jinja_value_item(r, *items, i);
		bool pass;
		if (!passes(r, node, outer, item, &pass))
			return false;
		if (pass)
			kept.as.sequence->at[count++] = item;
	}
	kept.as.sequence->count = count;
	*items = kept.as.sequence;
	return true;
}

static bool run_loop(struct renderer *r, const struct node *node, struct scope *outer,
		     struct value over, size_t depth)
{
	struct sequence *items;
	r->place = node->b;
	if (!jinja_value_iterate(r, over, &items) || !select_items(r, node, outer, &items))
		return false;
	if (!jinja_charge(r, sizeof(struct loop)))
		return false;
	struct loop *loop = arena_new(r->arena, struct loop);
	*loop = (struct loop){ .node = node, .scope = outer, .items = items, .depth = depth };
	for (size_t i = 0; i < items->count; i++) {
		loop->index = i;
		r->place = node;
		if (!jinja_scope(r, outer) ||
		    !jinja_bind(r, S("loop"),
				(struct value){ .kind = VALUE_LOOP, .as.loop = loop }) ||
		    !bind_target(r, node->a, jinja_value_item(r, items, i)) ||
		    !jinja_body(r, node->body))
			return false;
	}
	if (items->count > 0)
		return true;
	return jinja_scope(r, outer) && jinja_body(r, node->other);
}

bool jinja_loop_call(struct renderer *r, struct loop *loop, const struct arguments *arguments,
		     struct value *out)
{
	AUTO(buf) text = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
	struct buf *outer_text = r->out;
	struct scope *outer = r->scope;
	if (!loop->node->is_recursive)
		return jinja_fail(r, "the loop cannot be called: write {%% for … recursive %%}");
	if (arguments->count != 1 || arguments->keywords > 0)
		return jinja_fail(r, "loop() needs one argument, the items");
	r->out = &text;
	bool good = run_loop(r, loop->node, loop->scope, arguments->at[0], loop->depth + 1);
	r->out = outer_text;
	r->scope = outer;
	return good && jinja_copy(r, &text, out);
}

/* ---- macros ------------------------------------------------------------------------------------------------ */

/* The place of a keyword among the arguments, or the number of all of them. */
static size_t find_keyword(const struct arguments *arguments, struct str name)
{
	for (size_t i = 0; i < arguments->keywords; i++)
		if (str_equal(arguments->names[i], name))
			return arguments->count + i;
	return arguments->count + arguments->keywords;
}

static bool bind_parameters(struct renderer *r, const struct node *node,
			    const struct arguments *arguments, size_t *out_used)
{
	size_t position = 0, all = arguments->count + arguments->keywords, named = 0;
	for (const struct node *p = node->items; p != NULL; p = p->next) {
		size_t keyword = find_keyword(arguments, p->name);
		struct value value;
		if (position < arguments->count && keyword < all)
			return jinja_fail(r, "\"" STR_FMT "\" gets two values for \"" STR_FMT "\"",
					  STR_ARG(node->name), STR_ARG(p->name));
		if (position < arguments->count) {
			value = arguments->at[position];
		} else if (keyword < all) {
			value = arguments->at[keyword];
			named++;
		} else if (p->a == NULL) {
			value = jinja_value_undefined(str_format(
				r->arena, "the parameter \"" STR_FMT "\"", STR_ARG(p->name)));
		} else if (!jinja_evaluate(r, p->a, &value)) {
			return false;
		}
		position++;
		if (!jinja_bind(r, p->name, value))
			return false;
	}
	*out_used = named;
	return true;
}

/* The arguments that no parameter took. */
static bool bind_rest(struct renderer *r, const struct node *node, const struct node *call,
		      const struct arguments *arguments, size_t named)
{
	size_t parameters = 0, caller = find_keyword(arguments, S("caller"));
	size_t all = arguments->count + arguments->keywords, taken = 0;
	for (const struct node *p = node->items; p != NULL; p = p->next)
		parameters++;
	size_t extra = arguments->count > parameters ? arguments->count - parameters : 0;
	struct value rest, names;
	r->place = call;
	if (extra > 0 && !node->uses_varargs)
		return jinja_fail(r, "\"" STR_FMT "\" takes at most %zu arguments, not %zu",
				  STR_ARG(node->name), parameters, arguments->count);
	bool takes_caller = caller < all && node->uses_caller;
	if (node->uses_caller)
		taken += takes_caller;
	if (takes_caller && !jinja_bind(r, S("caller"), arguments->at[caller]))
		return false;
	if (arguments->keywords > named + taken && !node->uses_kwargs)
		return jinja_fail(r, "\"" STR_FMT "\" has no parameter for one of its arguments",
				  STR_ARG(node->name));
	if (!jinja_sequence(r, SEQUENCE_TUPLE, extra, &rest) ||
	    !jinja_mapping(r, arguments->keywords, &names))
		return false;
	for (size_t i = 0; i < extra; i++)
		rest.as.sequence->at[i] = arguments->at[parameters + i];
	for (size_t i = 0; i < arguments->keywords; i++) {
		bool is_parameter = takes_caller && arguments->count + i == caller;
		for (const struct node *p = node->items; p != NULL; p = p->next)
			is_parameter |= str_equal(p->name, arguments->names[i]);
		if (!is_parameter)
			jinja_mapping_put(names.as.mapping, jinja_value_string(arguments->names[i]),
					  arguments->at[arguments->count + i]);
	}
	return (!node->uses_varargs || jinja_bind(r, S("varargs"), rest)) &&
	       (!node->uses_kwargs || jinja_bind(r, S("kwargs"), names));
}

bool jinja_macro_call(struct renderer *r, const struct macro *macro,
		      const struct arguments *arguments, struct value *out)
{
	const struct node *node = macro->node, *call = r->place;
	struct scope *outer = r->scope;
	size_t named = 0;
	bool good = jinja_scope(r, macro->scope) && bind_parameters(r, node, arguments, &named) &&
		    bind_rest(r, node, call, arguments, named) && capture(r, node->body, out);
	r->scope = outer;
	return good;
}

static bool make_macro(struct renderer *r, const struct node *node, struct value *out)
{
	if (!jinja_charge(r, sizeof(struct macro)))
		return false;
	struct macro *macro = arena_new(r->arena, struct macro);
	*macro = (struct macro){ node, r->scope };
	*out = (struct value){ .kind = VALUE_MACRO, .as.macro = macro };
	return true;
}

static bool run_call_block(struct renderer *r, const struct node *node)
{
	struct value callee, caller, text;
	struct arguments arguments;
	if (!jinja_evaluate(r, node->a->a, &callee) ||
	    !jinja_arguments(r, node->a->items, &arguments) || !make_macro(r, node->b, &caller))
		return false;
	r->place = node;
	if (callee.kind != VALUE_MACRO)
		return jinja_fail(r, "call needs a macro, not %s", jinja_value_kind_name(callee));
	arguments.names[arguments.keywords] = S("caller");
	arguments.at[arguments.count + arguments.keywords++] = caller;
	return jinja_macro_call(r, callee.as.macro, &arguments, &text) &&
	       write_text(r, text.as.string);
}

/* ---- includes ---------------------------------------------------------------------------------------------- */

/* Loads a template once; *out is NULL if there is none of this name. */
static bool load(struct renderer *r, struct str name, const struct jinja_template **out)
{
	struct str source;
	struct error error = { 0 };
	*out = NULL;
	for (struct loaded_template *l = r->loaded; l != NULL; l = l->next)
		if (str_equal(l->name, name)) {
			*out = l->template;
			return true;
		}
	if (r->options->load == NULL)
		return true;
	if (!r->options->load(r->options->context, name, r->arena, &source, &error))
		return error.code == ERROR_NOT_FOUND ? true : jinja_fail(r, "%s", error.text);
	if (!jinja_charge(r, source.size * 16) ||
	    !jinja_parse(str_copy(r->arena, name), source, r->options, r->arena, out, r->error))
		return false;
	struct loaded_template *loaded = arena_new(r->arena, struct loaded_template);
	*loaded = (struct loaded_template){ (*out)->name, *out, r->loaded };
	r->loaded = loaded;
	return true;
}

/* The first of the names that exists. */
static bool find_included(struct renderer *r, const struct node *node,
			  const struct jinja_template **out)
{
	struct value names;
	struct sequence *items = NULL;
	if (!jinja_evaluate(r, node->a, &names))
		return false;
	r->place = node;
	if (names.kind == VALUE_STRING)
		return load(r, names.as.string, out);
	if (names.kind != VALUE_SEQUENCE)
		return jinja_fail(r, "include needs a name or a list of names, not %s",
				  jinja_value_kind_name(names));
	if (!jinja_value_iterate(r, names, &items))
		return false;
	*out = NULL;
	for (size_t i = 0; *out == NULL && i < items->count; i++) {
		struct value name = jinja_value_item(r, items, i);
		if (name.kind != VALUE_STRING)
			return jinja_fail(r, "include needs names, not %s",
					  jinja_value_kind_name(name));
		if (!load(r, name.as.string, out))
			return false;
	}
	return true;
}

static bool run_include(struct renderer *r, const struct node *node)
{
	const struct jinja_template *template = NULL;
	struct scope *outer = r->scope;
	const struct json *data = r->data;
	if (!find_included(r, node, &template))
		return false;
	if (template == NULL && node->ignores_missing)
		return true;
	if (template == NULL)
		return jinja_fail(r, "there is no template of this name; write \"ignore missing\" "
				     "if that is fine");
	if (!jinja_scope(r, node->without_context ? NULL : outer))
		return false;
	r->data = node->without_context ? NULL : data;
	bool good = jinja_body(r, template->body);
	r->data = data;
	r->scope = outer;
	return good;
}

/* ---- statements -------------------------------------------------------------------------------------------- */

static bool run_if(struct renderer *r, const struct node *node)
{
	struct value condition;
	bool holds;
	if (!jinja_evaluate(r, node->a, &condition))
		return false;
	r->place = node;
	if (!jinja_value_true(r, condition, &holds))
		return false;
	return jinja_body(r, holds ? node->body : node->other);
}

static bool run_set(struct renderer *r, const struct node *node)
{
	struct value value;
	struct scope *outer = r->scope;
	if (node->kind == NODE_SET)
		return jinja_evaluate(r, node->b, &value) && bind_target(r, node->a, value);
	bool good = jinja_scope(r, outer) && capture(r, node->body, &value);
	r->scope = outer;
	return good && apply_filters(r, node->b, value, &value) && bind_target(r, node->a, value);
}

/* The values are those of the scope around. */
static bool run_with(struct renderer *r, const struct node *node)
{
	struct scope *outer = r->scope, *inner;
	if (!jinja_scope(r, outer))
		return false;
	inner = r->scope;
	for (const struct node *set = node->items; set != NULL; set = set->next) {
		struct value value;
		r->scope = outer;
		if (!jinja_evaluate(r, set->b, &value))
			return false;
		r->scope = inner;
		if (!bind_target(r, set->a, value))
			return false;
	}
	r->scope = inner;
	bool good = jinja_body(r, node->body);
	r->scope = outer;
	return good;
}

static bool run_block(struct renderer *r, const struct node *node)
{
	struct scope *outer = r->scope;
	struct value value, text;
	if (node->kind == NODE_FOR) {
		bool good =
			jinja_evaluate(r, node->b, &value) && run_loop(r, node, outer, value, 0);
		r->scope = outer;
		return good;
	}
	bool good = jinja_scope(r, outer) && capture(r, node->body, &value);
	r->scope = outer;
	if (!good || !apply_filters(r, node->a, value, &value))
		return false;
	return jinja_value_text(r, value, &text.as.string) && write_text(r, text.as.string);
}

static bool run_output(struct renderer *r, const struct node *node)
{
	struct value value;
	if (!jinja_evaluate(r, node->a, &value))
		return false;
	r->place = node;
	return jinja_value_print(r, value, r->out);
}

static bool run_statement(struct renderer *r, const struct node *node)
{
	struct value value;
	if (node->kind == NODE_TEXT)
		return write_text(r, node->name);
	if (node->kind == NODE_OUTPUT)
		return run_output(r, node);
	if (node->kind == NODE_IF)
		return run_if(r, node);
	if (node->kind == NODE_FOR || node->kind == NODE_FILTER_BLOCK)
		return run_block(r, node);
	if (node->kind == NODE_SET || node->kind == NODE_SET_BLOCK)
		return run_set(r, node);
	if (node->kind == NODE_INCLUDE)
		return run_include(r, node);
	if (node->kind == NODE_MACRO)
		return make_macro(r, node, &value) && jinja_bind(r, node->name, value);
	if (node->kind == NODE_CALL_BLOCK)
		return run_call_block(r, node);
	require(node->kind == NODE_WITH);
	return run_with(r, node);
}

bool jinja_body(struct renderer *r, const struct node *body)
{
	if (body == NULL)
		return true;
	r->place = body;
	if (!jinja_enter(r))
		return false;
	for (const struct node *node = body; node != NULL; node = node->next) {
		r->place = node;
		if (!jinja_work(r, 1) || !run_statement(r, node))
			return false;
	}
	r->depth--;
	return true;
}

bool jinja_render(const struct jinja_template *template, const struct json *data,
		  const struct jinja_options *options, struct arena *arena, struct str *out_text,
		  struct error *error)
{
	static const struct node start = { .line = 1, .column = 1 };
	AUTO(buf) out = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
	struct node place = start;
	place.file = template->name;
	struct renderer r = { .options = options,
			      .arena = arena,
			      .data = data,
			      .out = &out,
			      .place = &place,
			      .error = error };
	if (!jinja_scope(&r, NULL) || !jinja_body(&r, template->body))
		return false;
	*out_text = str_copy(arena, buf_str(&out));
	return true;
}
