/* template/jinja_names.c -- the names that a template reads and does not bind itself.
 *
 * The tree is walked in the order in which it is rendered.  A name that is set in a branch of an `if` may
 * or may not be set behind it: it is reported with `bound`, so that a caller can supply its value and
 * need not know the name.
 */
#include "template/jinja_render.h"

struct known_name {
	struct str name;
	bool certain; /* it is set on every way */
	struct known_name *next;
};

struct frame {
	struct frame *outer;
	struct known_name *names;
};

struct file {
	struct str name;
	struct file *outer; /* that includes it */
};

struct walker {
	const struct jinja_options *options;
	jinja_visit *visit;
	void *context;
	struct arena *arena;
	struct frame *frame;
	struct file *file;
	size_t branches; /* of an if around this place */
	size_t files, depth;
	struct error *error;
};

static bool fail_at(const struct walker *w, const struct node *node, struct str text)
{
	error_fill(w->error, ERROR_INVALID, STR_FMT ":%u:%u: " STR_FMT, STR_ARG(node->file),
		   node->line, node->column, STR_ARG(text));
	w->error->line = node->line;
	w->error->column = node->column;
	return false;
}

static void declare(struct walker *w, struct str name)
{
	struct known_name *known = arena_new(w->arena, struct known_name);
	*known = (struct known_name){ name, w->branches == 0, w->frame->names };
	w->frame->names = known;
}

static void declare_target(struct walker *w, const struct node *target)
{
	if (target->kind == NODE_NAME)
		declare(w, target->name);
	for (const struct node *item = target->items; item != NULL; item = item->next)
		declare_target(w, item);
}

/* 0 = free, 1 = bound on some ways, 2 = bound. */
static int state_of(const struct walker *w, struct str name)
{
	int state = 0;
	for (const struct frame *frame = w->frame; frame != NULL; frame = frame->outer)
		for (const struct known_name *known = frame->names; known != NULL;
		     known = known->next)
			if (str_equal(known->name, name)) {
				if (known->certain)
					return 2;
				state = 1;
			}
	return state;
}

/* Reports the name at the root of `a.b["c"]`; *out_root is NULL if the root is no name. */
static bool report(struct walker *w, const struct node *node, const struct node **out_root)
{
	struct str path[16];
	size_t count = 0;
	const struct node *root = node;
	while (root->kind == NODE_ATTRIBUTE ||
	       (root->kind == NODE_ITEM && root->b->kind == NODE_CONSTANT &&
		root->b->constant.kind == VALUE_STRING))
		root = root->a;
	*out_root = root->kind == NODE_NAME ? root : NULL;
	if (*out_root == NULL || w->visit == NULL)
		return true;
	int state = state_of(w, root->name);
	if (state == 2 || str_equal(root->name, S("range")) || str_equal(root->name, S("dict")) ||
	    str_equal(root->name, S("namespace")))
		return true;
	for (const struct node *at = node; at != root; at = at->a)
		count++;
	size_t kept = count < COUNT(path) ? count : COUNT(path);
	for (const struct node *at = node; at != root; at = at->a, count--)
		if (count <= kept)
			path[count - 1] =
				at->kind == NODE_ATTRIBUTE ? at->name : at->b->constant.as.string;
	struct jinja_name name = { .name = root->name,
				   .path = { arena_copy(w->arena, path, sizeof(path[0]) * kept),
					     kept },
				   .bound = state == 1,
				   .file = root->file,
				   .line = root->line,
				   .column = root->column };
	struct error error = { 0 };
	return w->visit(w->context, &name, &error) || fail_at(w, root, str_from_c(error.text));
}

static bool walk(struct walker *w, const struct node *node);

static bool walk_list(struct walker *w, const struct node *list)
{
	for (const struct node *node = list; node != NULL; node = node->next)
		if (!walk(w, node))
			return false;
	return true;
}

/* A body with a scope of its own, whose first names are the parameters or the loop's. */
static bool walk_scope(struct walker *w, const struct node *parameters, const struct node *target,
		       struct str own, const struct node *body)
{
	struct frame frame = { .outer = w->frame };
	size_t branches = w->branches;
	w->frame = &frame;
	w->branches = 0;
	if (own.size > 0)
		declare(w, own);
	if (target != NULL)
		declare_target(w, target);
	for (const struct node *p = parameters; p != NULL; p = p->next) {
		if (p->a != NULL && !walk(w, p->a))
			return false;
		declare(w, p->name);
	}
	bool good = walk_list(w, body);
	w->branches = branches;
	w->frame = frame.outer;
	return good;
}

static bool walk_macro(struct walker *w, const struct node *node)
{
	struct frame frame = { .outer = w->frame };
	w->frame = &frame;
	declare(w, S("varargs"));
	declare(w, S("kwargs"));
	frame.names->certain = frame.names->next->certain = true;
	bool good = walk_scope(w, node->items, NULL, S("caller"), node->body);
	w->frame = frame.outer;
	return good;
}

static bool include_one(struct walker *w, const struct node *node, const struct node *name)
{
	const struct jinja_template *template;
	struct str source;
	struct error error = { 0 };
	if (name->kind != NODE_CONSTANT || name->constant.kind != VALUE_STRING)
		return fail_at(
			w, node,
			S("include needs the name of a template in quotes here, so that a run "
			  "can keep the template"));
	struct str file = name->constant.as.string;
	for (const struct file *f = w->file; f != NULL; f = f->outer)
		if (str_equal(f->name, file))
			return true; /* a recursion; its names are known */
	if (++w->files > LIMIT_TEMPLATE_INCLUDES)
		return fail_at(w, node,
			       str_format(w->arena, "the template has more than %d includes",
					  LIMIT_TEMPLATE_INCLUDES));
	if (w->options->load == NULL ||
	    !w->options->load(w->options->context, file, w->arena, &source, &error)) {
		if (node->ignores_missing &&
		    (w->options->load == NULL || error.code == ERROR_NOT_FOUND))
			return true;
		return fail_at(w, node,
			       str_format(w->arena, "cannot include \"" STR_FMT "\": %s",
					  STR_ARG(str_head(file, LIMIT_QUOTE_BYTES)),
					  w->options->load == NULL ? "there are no other templates"
								   : error.text));
	}
	if (!jinja_parse(file, source, w->options, w->arena, &template, w->error))
		return false;
	struct file inner = { file, w->file };
	struct frame *frame = w->frame;
	w->file = &inner;
	if (node->without_context)
		w->frame = NULL;
	jinja_visit *visit = w->visit;
	w->visit = node->without_context ? NULL : visit;
	bool good = walk_scope(w, NULL, NULL, S(""), template->body);
	w->visit = visit;
	w->frame = frame;
	w->file = inner.outer;
	return good;
}

static bool walk_include(struct walker *w, const struct node *node)
{
	if (node->a->kind != NODE_LIST && node->a->kind != NODE_TUPLE)
		return include_one(w, node, node->a);
	/* Of several names, those that do not exist are skipped. */
	struct node lenient = *node;
	lenient.ignores_missing = true;
	for (const struct node *name = node->a->items; name != NULL; name = name->next)
		if (!include_one(w, &lenient, name))
			return false;
	return true;
}

static bool walk_if(struct walker *w, const struct node *node)
{
	if (!walk(w, node->a))
		return false;
	w->branches++;
	bool good = walk_list(w, node->body) && walk_list(w, node->other);
	w->branches--;
	return good;
}

static bool walk_for(struct walker *w, const struct node *node)
{
	struct node condition = { .kind = NODE_OUTPUT, .a = node->c, .file = node->file };
	if (!walk(w, node->b))
		return false;
	if (node->c != NULL && !walk_scope(w, NULL, node->a, S(""), &condition))
		return false;
	return walk_scope(w, NULL, node->a, S("loop"), node->body) &&
	       walk_scope(w, NULL, NULL, S(""), node->other);
}

static bool walk_with(struct walker *w, const struct node *node)
{
	struct frame frame = { .outer = w->frame };
	for (const struct node *set = node->items; set != NULL; set = set->next)
		if (!walk(w, set->b))
			return false;
	w->frame = &frame;
	size_t branches = w->branches;
	w->branches = 0;
	for (const struct node *set = node->items; set != NULL; set = set->next)
		declare_target(w, set->a);
	bool good = walk_list(w, node->body);
	w->branches = branches;
	w->frame = frame.outer;
	return good;
}

static bool walk_parts(struct walker *w, const struct node *node)
{
	return (node->a == NULL || walk(w, node->a)) && (node->b == NULL || walk(w, node->b)) &&
	       (node->c == NULL || walk(w, node->c)) && walk_list(w, node->items);
}

static bool walk_node(struct walker *w, const struct node *node)
{
	const struct node *root = NULL;
	if (node->kind == NODE_NAME || node->kind == NODE_ATTRIBUTE || node->kind == NODE_ITEM) {
		if (!report(w, node, &root))
			return false;
		return root != NULL || walk_parts(w, node);
	}
	if (node->kind == NODE_IF)
		return walk_if(w, node);
	if (node->kind == NODE_FOR)
		return walk_for(w, node);
	if (node->kind == NODE_WITH)
		return walk_with(w, node);
	if (node->kind == NODE_INCLUDE)
		return walk_include(w, node);
	if (node->kind == NODE_SET || node->kind == NODE_SET_BLOCK) {
		if ((node->b != NULL && !walk(w, node->b)) ||
		    !walk_scope(w, NULL, NULL, S(""), node->body))
			return false;
		declare_target(w, node->a);
		return true;
	}
	if (node->kind == NODE_MACRO) {
		declare(w, node->name);
		return walk_macro(w, node);
	}
	if (node->kind == NODE_CALL_BLOCK)
		return walk(w, node->a) &&
		       walk_scope(w, node->b->items, NULL, S(""), node->b->body);
	if (node->kind == NODE_FILTER_BLOCK)
		return walk(w, node->a) && walk_scope(w, NULL, NULL, S(""), node->body);
	return walk_parts(w, node);
}

static bool walk(struct walker *w, const struct node *node)
{
	if (++w->depth > LIMIT_TEMPLATE_DEPTH)
		return fail_at(w, node, S("the template is nested too deep"));
	bool good = walk_node(w, node);
	w->depth--;
	return good;
}

bool jinja_names(const struct jinja_template *template, const struct jinja_options *options,
		 jinja_visit *visit, void *context, struct arena *arena, struct error *error)
{
	struct frame frame = { 0 };
	struct file file = { template->name, NULL };
	struct walker walker = { .options = options,
				 .visit = visit,
				 .context = context,
				 .arena = arena,
				 .frame = &frame,
				 .file = &file,
				 .error = error };
	return walk_list(&walker, template->body);
}
