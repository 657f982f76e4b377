/* expr/template.c -- checks and renders templates; both use the same scanner. */
#include "expr/template.h"

#include <string.h>

#include "base/limits.h"

/* ---- scanning a string --------------------------------------------------------------- */

enum piece_kind { PIECE_TEXT, PIECE_REFERENCE, PIECE_UNCLOSED };

/* Finds the closing brace; braces in quotes do not count. */
static bool find_end(struct str inside, size_t *out_end)
{
	char quote = '\0';
	for (size_t i = 0; i < inside.size; i++) {
		char c = inside.at[i];
		if (quote != '\0' && c == '\\')
			i++;
		else if (quote != '\0')
			quote = c == quote ? '\0' : quote;
		else if (c == '\'' || c == '"')
			quote = c;
		else if (c == '}') {
			*out_end = i;
			return true;
		}
	}
	return false;
}

/* Takes the next piece: plain text up to `${`, or the expression of one.  `$${` gives the text
 * `${`. */
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
		size_t end = 0;
		bool closed = find_end(inside, &end);
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

static bool is_name(struct str text)
{
	for (size_t i = 0; i < text.size; i++) {
		char c = text.at[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
		if (!letter && (i == 0 || c < '0' || c > '9'))
			return false;
	}
	return text.size > 0;
}

static bool is_secret(struct str piece, struct str *out_name)
{
	piece = str_trim(piece);
	if (!str_starts(piece, S("secrets.")) || !is_name(str_skip(piece, 8)))
		return false;
	*out_name = str_skip(piece, 8);
	return true;
}

static bool check_string(const struct json *string, struct arena *arena, expr_visit *visit,
			 void *context, struct error *error)
{
	struct str rest = string->as.string, piece;
	enum piece_kind kind;
	while (take_piece(&rest, &kind, &piece)) {
		const struct expr *expr;
		struct str secret;
		if (kind == PIECE_TEXT)
			continue;
		bool good = kind == PIECE_REFERENCE && is_secret(piece, &secret)
				    ? visit(context, EXPR_NAME_SECRET, secret, S(""), error)
			    : kind == PIECE_UNCLOSED
				    ? fail(error, ERROR_INVALID,
					   "${" STR_FMT " has no closing brace; a literal ${ is "
					   "written $${",
					   STR_ARG(str_head(piece, LIMIT_QUOTE_BYTES)))
				    : expr_parse(piece, arena, &expr, error) &&
					      expr_names(expr, visit, context, error);
		if (!good) {
			error->offset = (uint32_t)(piece.at - string->as.string.at) + error->column;
			error->offset -= kind == PIECE_UNCLOSED ? 1 : 0;
			error->line = string->line;
			error->column = string->column;
			return false;
		}
	}
	return true;
}

bool template_check(const struct json *template, struct arena *arena, expr_visit *visit,
		    void *context, struct error *error)
{
	if (template->kind == JSON_STRING)
		return check_string(template, arena, visit, context, error);
	if (template->kind == JSON_LIST)
		for (size_t i = 0; i < template->as.list.count; i++)
			if (!template_check(&template->as.list.at[i], arena, visit, context, error))
				return false;
	if (template->kind == JSON_OBJECT)
		for (size_t i = 0; i < template->as.object.count; i++)
			if (!template_check(&template->as.object.at[i].value, arena, visit, context,
					    error))
				return false;
	return true;
}

/* ---- rendering ---------------------------------------------------------------------- */

static const struct json null_value = { .kind = JSON_NULL };

/* The state of a rendering.  The budget bounds the rendered text: without it, many references to
 * one large value would use unlimited memory. */
struct renderer {
	const struct expr_scope *scope;
	struct arena *arena;
	size_t budget;
	struct template_secrets *secrets; /* NULL = their places are not wanted */
};

/* The way from the root to a value; a list item has no key. */
struct path {
	const struct path *up;
	const struct str *key;
	size_t index;
};

static void add_pointer(const struct path *path, struct buf *out)
{
	if (path == NULL)
		return;
	add_pointer(path->up, out);
	buf_add_char(out, '/');
	if (path->key == NULL) {
		buf_add_format(out, "%zu", path->index);
		return;
	}
	for (size_t i = 0; i < path->key->size; i++) {
		char c = path->key->at[i];
		buf_add(out, c == '~'   ? S("~0")
			     : c == '/' ? S("~1")
					: (struct str){ &path->key->at[i], 1 });
	}
}

static void note_secret(const struct renderer *renderer, const struct path *path, size_t offset,
			struct str name)
{
	struct template_secrets *secrets = renderer->secrets;
	AUTO(buf) pointer = { 0 };
	if (secrets == NULL)
		return;
	if (secrets->count == secrets->room) {
		size_t room = secrets->room == 0 ? 4 : secrets->room * 2;
		struct template_secret *at =
			arena_array(renderer->arena, struct template_secret, room);
		for (size_t i = 0; i < secrets->count; i++)
			at[i] = secrets->at[i];
		secrets->at = at;
		secrets->room = room;
	}
	add_pointer(path, &pointer);
	secrets->at[secrets->count++] =
		(struct template_secret){ str_copy(renderer->arena, buf_str(&pointer)), offset,
					  name };
}

static const struct json *resolve(const struct renderer *renderer, struct str text)
{
	const struct expr *expr;
	const struct json *value;
	struct error error;
	const struct expr_scope *scope = renderer->scope;
	if (expr_parse(text, renderer->arena, &expr, &error) &&
	    expr_evaluate(expr, scope, renderer->arena, &value, &error))
		return value;
	if (scope->lenient != NULL)
		scope->lenient(scope->context, EXPR_FAILED_AS_NULL, text, error.text);
	return &null_value;
}

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

static const struct json *render_mixed(struct renderer *renderer, const struct path *path,
				       struct str rest)
{
	struct str piece, secret;
	enum piece_kind kind;
	AUTO(buf) text = buf_limited(renderer->budget + 1);
	while (!text.full && take_piece(&rest, &kind, &piece)) {
		if (kind == PIECE_TEXT)
			buf_add(&text, piece);
		else if (is_secret(piece, &secret))
			note_secret(renderer, path, text.size, secret);
		else
			add_as_text(&text, resolve(renderer, piece));
	}
	if (text.full || text.size > renderer->budget)
		return NULL;
	renderer->budget -= text.size;
	struct json *rendered = arena_new(renderer->arena, struct json);
	rendered->kind = JSON_STRING;
	rendered->as.string = str_copy(renderer->arena, buf_str(&text));
	return rendered;
}

static const struct json *render_string(struct renderer *renderer, const struct path *path,
					const struct json *string)
{
	struct str text = string->as.string, rest = text, piece, secret;
	enum piece_kind kind;
	if (text.size == 0 || memchr(text.at, '$', text.size) == NULL)
		return string;
	if (take_piece(&rest, &kind, &piece) && kind == PIECE_REFERENCE && rest.size == 0 &&
	    !is_secret(piece, &secret))
		return resolve(renderer, piece);
	return render_mixed(renderer, path, text);
}

static const struct json *render(struct renderer *renderer, const struct path *path,
				 const struct json *template)
{
	if (template->kind == JSON_STRING)
		return render_string(renderer, path, template);
	struct json *copy = arena_new(renderer->arena, struct json);
	*copy = *template;
	if (template->kind == JSON_LIST) {
		size_t count = template->as.list.count;
		struct json *items = arena_array(renderer->arena, struct json, count);
		for (size_t i = 0; i < count; i++) {
			const struct path inner = { .up = path, .index = i };
			const struct json *item =
				render(renderer, &inner, &template->as.list.at[i]);
			if (item == NULL)
				return NULL;
			items[i] = *item;
		}
		copy->as.list.at = items;
	} else if (template->kind == JSON_OBJECT) {
		size_t count = template->as.object.count;
		struct json_member *members =
			arena_array(renderer->arena, struct json_member, count);
		for (size_t i = 0; i < count; i++) {
			members[i] = template->as.object.at[i];
			const struct path inner = { .up = path, .key = &members[i].key };
			const struct json *value = render(renderer, &inner, &members[i].value);
			if (value == NULL)
				return NULL;
			members[i].value = *value;
		}
		copy->as.object.at = members;
	}
	return copy;
}

const struct json *template_render(const struct json *template, const struct expr_scope *scope,
				   struct arena *arena)
{
	return template_render_secrets(template, scope, arena, NULL);
}

const struct json *template_render_secrets(const struct json *template,
					   const struct expr_scope *scope, struct arena *arena,
					   struct template_secrets *secrets)
{
	struct renderer renderer = { scope, arena, LIMIT_VALUE_BYTES, secrets };
	return render(&renderer, NULL, template);
}
