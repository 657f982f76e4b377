/* expr/template.c -- one scanner for both readings, so that what is checked is what is rendered.
 *
 * The reference is cut out of the string and walked as a path, segment by segment; there is no
 * tree to build and nothing to evaluate.
 */
#include "expr/template.h"

#include <string.h>

#include "base/limits.h"

/* A reference cut into its fixed head and the path that follows. */
struct reference {
	struct str step;  /* "" when it begins with inputs */
	struct str input; /* first segment after inputs */
	struct str path;  /* the rest, from '.' or '[' on, or empty */
};

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
}

static struct str take_name(struct str *rest)
{
	size_t size = 0;
	while (size < rest->size && is_name_char(rest->at[size]))
		size++;
	struct str name = str_head(*rest, size);
	*rest = str_skip(*rest, size);
	return name;
}

/* Takes one `.key` or `[index]` off the path. */
static bool take_segment(struct str *rest, struct str *out_key, int64_t *out_index)
{
	char first = rest->at[0];
	*rest = str_skip(*rest, 1);
	*out_key = (struct str){ NULL, 0 };
	if (first == '.') {
		*out_key = take_name(rest);
		return out_key->size > 0;
	}
	struct str digits = take_name(rest);
	if (first != '[' || !str_starts(*rest, S("]")) || !str_to_int(digits, out_index) ||
	    *out_index < 0)
		return false;
	*rest = str_skip(*rest, 1);
	return true;
}

static bool path_is_well_formed(struct str path)
{
	struct str key;
	int64_t index;
	while (path.size > 0)
		if (!take_segment(&path, &key, &index))
			return false;
	return true;
}

static bool reference_parse(struct str text, struct reference *out)
{
	struct str rest = str_trim(text);
	struct str root = take_name(&rest);
	*out = (struct reference){ .step = S(""), .input = S("") };
	struct str key;
	int64_t index;
	if (rest.size == 0 || !take_segment(&rest, &key, &index) || key.at == NULL)
		return false;
	if (str_equal(root, S("inputs"))) {
		out->input = key;
	} else if (str_equal(root, S("steps"))) {
		out->step = key;
		if (rest.size == 0 || !take_segment(&rest, &key, &index) || key.at == NULL)
			return false;
		if (!str_equal(key, S("outputs")) && !str_equal(key, S("output")))
			return false;
	} else {
		return false;
	}
	out->path = rest;
	return path_is_well_formed(rest);
}

/* ---- scanning a string --------------------------------------------------------------- */

enum piece_kind { PIECE_TEXT, PIECE_REFERENCE, PIECE_UNCLOSED };

/* Takes the next piece off the front: plain text up to `${`, or what stands inside one.  The
 * escape `$${` gives the text `${`. */
static bool take_piece(struct str *rest, enum piece_kind *out_kind, struct str *out_piece)
{
	if (rest->size == 0)
		return false;
	*out_kind = PIECE_TEXT;
	if (str_starts(*rest, S("$${"))) {
		*out_piece = str_head(str_skip(*rest, 1), 2);
		*rest = str_skip(*rest, 3);
		return true;
	}
	if (str_starts(*rest, S("${"))) {
		struct str inside = str_skip(*rest, 2);
		size_t end;
		bool closed = str_find(inside, S("}"), &end);
		*out_kind = closed ? PIECE_REFERENCE : PIECE_UNCLOSED;
		*out_piece = closed ? str_head(inside, end) : inside;
		*rest = closed ? str_skip(inside, end + 1) : S("");
		return true;
	}
	size_t size = 1;
	while (size < rest->size && rest->at[size] != '$')
		size++;
	*out_piece = str_head(*rest, size);
	*rest = str_skip(*rest, size);
	return true;
}

static bool check_string(const struct json *string, template_visit *visit, void *context,
			 struct error *error)
{
	struct str rest = string->as.string, piece;
	enum piece_kind kind;
	while (take_piece(&rest, &kind, &piece)) {
		struct reference reference;
		if (kind == PIECE_TEXT)
			continue;
		bool good = kind == PIECE_REFERENCE && reference_parse(piece, &reference);
		if (!good)
			fail(error, ERROR_INVALID,
			     kind == PIECE_UNCLOSED
				     ? "${" STR_FMT " has no closing brace"
				     : "${" STR_FMT "} is not a reference: write inputs.<name> or "
				       "steps.<name>.outputs.<key>, or $${ for a literal ${",
			     STR_ARG(str_head(piece, 60)));
		if (!good || !visit(context, string, reference.step, reference.input, error)) {
			error->line = string->line;
			error->column = string->column;
			return false;
		}
	}
	return true;
}

bool template_check(const struct json *template, template_visit *visit, void *context,
		    struct error *error)
{
	if (template->kind == JSON_STRING)
		return check_string(template, visit, context, error);
	if (template->kind == JSON_LIST)
		for (size_t i = 0; i < template->as.list.count; i++)
			if (!template_check(&template->as.list.at[i], visit, context, error))
				return false;
	if (template->kind == JSON_OBJECT)
		for (size_t i = 0; i < template->as.object.count; i++)
			if (!template_check(&template->as.object.at[i].value, visit, context,
					    error))
				return false;
	return true;
}

/* ---- rendering ----------------------------------------------------------------------- */

static const struct json null_value = { .kind = JSON_NULL };

static const struct json *resolve(struct str text, const struct template_scope *scope)
{
	struct reference reference;
	bool good = reference_parse(text, &reference);
	require(good);
	const struct json *at = reference.step.size == 0
					? json_member(scope->inputs, reference.input)
					: scope->outputs(scope->context, reference.step);
	while (at != NULL && reference.path.size > 0) {
		struct str key;
		int64_t index = 0;
		good = take_segment(&reference.path, &key, &index);
		require(good);
		at = key.at != NULL ? json_member(at, key) : json_item(at, (size_t)index);
	}
	return at == NULL ? &null_value : at;
}

/* One rendering: what it may see and how much text it may still make.  Without the budget a small
 * file of references to one large value would cost memory without end. */
struct rendering {
	const struct template_scope *scope;
	struct arena *arena;
	size_t budget;
};

static void add_as_text(struct buf *out, const struct json *value)
{
	if (value->kind == JSON_NULL)
		return;
	if (value->kind == JSON_STRING) {
		buf_add(out, value->as.string);
		return;
	}
	struct json_writer writer = { .out = out };
	json_put_tree(&writer, value);
}

static const struct json *render_mixed(struct rendering *rendering, struct str rest)
{
	struct str piece;
	enum piece_kind kind;
	AUTO(buf) text = buf_limited(rendering->budget + 1);
	while (!text.full && take_piece(&rest, &kind, &piece)) {
		if (kind == PIECE_TEXT)
			buf_add(&text, piece);
		else
			add_as_text(&text, resolve(piece, rendering->scope));
	}
	if (text.full || text.size > rendering->budget)
		return NULL;
	rendering->budget -= text.size;
	struct json *rendered = arena_new(rendering->arena, struct json);
	rendered->kind = JSON_STRING;
	rendered->as.string = str_copy(rendering->arena, buf_str(&text));
	return rendered;
}

static const struct json *render_string(struct rendering *rendering, const struct json *string)
{
	struct str text = string->as.string, rest = text, piece;
	enum piece_kind kind;
	if (text.size == 0 || memchr(text.at, '$', text.size) == NULL)
		return string;
	if (take_piece(&rest, &kind, &piece) && kind == PIECE_REFERENCE && rest.size == 0)
		return resolve(piece, rendering->scope);
	return render_mixed(rendering, text);
}

static const struct json *render(struct rendering *rendering, const struct json *template)
{
	if (template->kind == JSON_STRING)
		return render_string(rendering, template);
	struct json *copy = arena_new(rendering->arena, struct json);
	*copy = *template;
	if (template->kind == JSON_LIST) {
		size_t count = template->as.list.count;
		struct json *items = arena_array(rendering->arena, struct json, count);
		for (size_t i = 0; i < count; i++) {
			const struct json *item = render(rendering, &template->as.list.at[i]);
			if (item == NULL)
				return NULL;
			items[i] = *item;
		}
		copy->as.list.at = items;
	} else if (template->kind == JSON_OBJECT) {
		size_t count = template->as.object.count;
		struct json_member *members =
			arena_array(rendering->arena, struct json_member, count);
		for (size_t i = 0; i < count; i++) {
			members[i] = template->as.object.at[i];
			const struct json *value = render(rendering, &members[i].value);
			if (value == NULL)
				return NULL;
			members[i].value = *value;
		}
		copy->as.object.at = members;
	}
	return copy;
}

const struct json *template_render(const struct json *template, const struct template_scope *scope,
				   struct arena *arena)
{
	struct rendering rendering = { scope, arena, LIMIT_VALUE_BYTES };
	return render(&rendering, template);
}
