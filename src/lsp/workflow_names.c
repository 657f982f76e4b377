/* lsp/workflow_names.c -- declarations and references of a workflow file, by their places. */
#include "lsp/workflow_names.h"

#include "base/limits.h"

/* Keys whose list has steps. */
static const struct str bodies[] = {
	{ "steps", 5 }, { "catch", 5 }, { "finally", 7 }, { "undo", 4 }
};

struct reference_row {
	struct str key;
	enum name_kind kind;
};

/* Keys whose value, or each item of it, names something. */
static const struct reference_row references[] = {
	{ { "depends_on", 10 }, NAME_STEP },  { { "to", 2 }, NAME_STEP },
	{ { "from", 4 }, NAME_STEP },         { { "target", 6 }, NAME_STEP },
	{ { "entry_point", 11 }, NAME_STEP }, { { "required", 8 }, NAME_STEP },
	{ { "tool", 4 }, NAME_TOOL },         { { "tools", 5 }, NAME_TOOL },
	{ { "approve", 7 }, NAME_TOOL },      { { "required_tools", 14 }, NAME_TOOL },
	{ { "agent", 5 }, NAME_AGENT },       { { "workflow", 8 }, NAME_WORKFLOW },
};

static const struct str expressions[] = { { "when", 4 },  { "unless", 6 },      { "condition", 9 },
					  { "until", 5 }, { "loop_until", 10 }, { "check", 5 } };

/* The last name of a path: list items do not count. */
static struct str last_key(const struct yaml_path *path)
{
	for (size_t i = path->depth; i > 0; i--)
		if (path->at[i - 1].key.size > 0)
			return path->at[i - 1].key;
	return S("");
}

/* True when a value below `inputs`, `options` or `outputs` is data of the workflow, not of the file. */
static bool is_data(const struct yaml_path *path)
{
	for (size_t i = 1; i + 1 < path->depth; i++)
		if (str_equal(path->at[i].key, S("inputs")) ||
		    str_equal(path->at[i].key, S("options")))
			return true;
	return path->depth > 1 && str_equal(path->at[0].key, S("inputs"));
}

bool workflow_names_kind_at(const struct yaml_path *path, enum name_kind *out_kind)
{
	struct str key = last_key(path);
	if (path->depth < 2 && !str_equal(key, S("entry_point")))
		return false;
	if (is_data(path) || (path->depth > 0 && str_equal(path->at[0].key, S("outputs"))))
		return false;
	for (size_t i = 0; i < COUNT(references); i++)
		if (str_equal(references[i].key, key)) {
			*out_kind = references[i].kind;
			return true;
		}
	return false;
}

bool workflow_names_expression_at(const struct yaml_path *path)
{
	struct str key = last_key(path);
	for (size_t i = 0; i < COUNT(expressions); i++)
		if (str_equal(expressions[i], key))
			return path->depth > 1 && !is_data(path);
	return false;
}

/* ---- declarations ------------------------------------------------------------------------------ */

struct reading {
	struct declared_names names;
	struct arena *arena;
	size_t room;
};

static bool is_body(struct str key)
{
	for (size_t i = 0; i < COUNT(bodies); i++)
		if (str_equal(bodies[i], key))
			return true;
	return false;
}

/* The step whose entry this is: `...steps[i]`, `nodes.NAME`. */
static bool step_depth(const struct yaml_path *path, size_t *out_depth)
{
	if (path->depth >= 2 && str_equal(path->at[0].key, S("nodes"))) {
		*out_depth = 2;
		return true;
	}
	for (size_t i = path->depth; i >= 2; i--)
		if (path->at[i - 1].key.size == 0 && is_body(path->at[i - 2].key)) {
			*out_depth = i;
			return true;
		}
	return false;
}

static void add(struct reading *reading, enum name_kind kind, const struct yaml_place *place,
		size_t body)
{
	struct declared_names *names = &reading->names;
	if (names->count == LIMIT_LSP_NAMES)
		return;
	if (names->count == reading->room) {
		size_t room = reading->room == 0 ? 64 : reading->room * 2;
		struct declared_name *grown =
			arena_array(reading->arena, struct declared_name, room);
		for (size_t i = 0; i < names->count; i++)
			grown[i] = names->at[i];
		names->at = grown;
		reading->room = room;
	}
	struct declared_name *name = &names->at[names->count++];
	*name = (struct declared_name){ .kind = kind,
					.name = place->text,
					.body = place->path,
					.place = { place->line, place->column } };
	name->body.depth = body;
}

/* A value of a step that is already known: what it calls, what it is for. */
static void add_detail(struct reading *reading, const struct yaml_place *place, size_t depth)
{
	struct str key = place->path.at[place->path.depth - 1].key;
	for (size_t i = reading->names.count; i > 0; i--) {
		struct declared_name *name = &reading->names.at[i - 1];
		if (name->kind != NAME_STEP ||
		    !yaml_path_shares(&name->body, &place->path, depth - 1) ||
		    name->body.depth != depth)
			continue;
		if (name->body.at[depth - 1].index != place->path.at[depth - 1].index ||
		    !str_equal(name->body.at[depth - 1].key, place->path.at[depth - 1].key))
			continue;
		if (str_equal(key, S("description")))
			name->description = place->text;
		else if (str_equal(key, S("tool")) || str_equal(key, S("agent")) ||
			 str_equal(key, S("workflow"))) {
			name->calls = place->text;
			name->caller = key;
		}
		return;
	}
}

static void read_key(struct reading *reading, const struct yaml_place *place)
{
	const struct yaml_path *path = &place->path;
	if (path->depth != 2)
		return;
	struct str top = path->at[0].key;
	if (str_equal(top, S("agents")))
		add(reading, NAME_AGENT, place, 1);
	else if (str_equal(top, S("inputs")))
		add(reading, NAME_INPUT, place, 1);
	else if (str_equal(top, S("nodes")))
		add(reading, NAME_STEP, place, 2);
}

static bool read_place(void *context, const struct yaml_place *place)
{
	struct reading *reading = context;
	const struct yaml_path *path = &place->path;
	size_t depth;
	if (place->is_key) {
		read_key(reading, place);
		return true;
	}
	if (!step_depth(path, &depth))
		return true;
	struct str key = path->at[path->depth - 1].key;
	if (path->depth == depth + 1 && str_equal(key, S("name")) &&
	    path->at[depth - 1].key.size == 0)
		add(reading, NAME_STEP, place, depth);
	else if (path->depth == depth + 1)
		add_detail(reading, place, depth);
	else if (path->depth == depth + 2 && str_equal(path->at[depth].key, S("outputs")))
		add(reading, NAME_VARIABLE, place, depth);
	return true;
}

struct declared_names workflow_names_read(struct str text, struct arena *arena)
{
	struct reading reading = { .arena = arena };
	yaml_places_scan(text, read_place, &reading);
	return reading.names;
}

const struct declared_name *workflow_names_find(const struct declared_names *names,
						enum name_kind kind, struct str name,
						const struct yaml_path *near)
{
	const struct declared_name *best = NULL;
	size_t best_depth = 0;
	for (size_t i = 0; i < names->count; i++) {
		const struct declared_name *found = &names->at[i];
		if (found->kind != kind || !str_equal(found->name, name))
			continue;
		/* the deepest body that the reference is inside of */
		size_t body = found->body.depth > 0 ? found->body.depth - 1 : 0;
		bool encloses = near != NULL && yaml_path_shares(&found->body, near, body);
		if (best == NULL || (encloses && body >= best_depth)) {
			best = found;
			best_depth = encloses ? body : 0;
		}
	}
	return best;
}

/* ---- references -------------------------------------------------------------------------------- */

struct searching {
	struct text_position at;
	struct name_reference *out;
	bool found;
};

static bool is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
}

/* The name at an offset of an expression, if `inputs.`, `steps.` or `ctx.` is in front of it. */
static bool expression_name(struct str text, size_t at, enum name_kind *kind, size_t *begin,
			    size_t *end)
{
	static const struct reference_row roots[] = { { { "inputs.", 7 }, NAME_INPUT },
						      { { "steps.", 6 }, NAME_STEP },
						      { { "ctx.", 4 }, NAME_VARIABLE } };
	for (*begin = at; *begin > 0 && is_name_byte(text.at[*begin - 1]);)
		--*begin;
	for (*end = at; *end < text.size && is_name_byte(text.at[*end]);)
		++*end;
	if (*end == *begin)
		return false;
	struct str before = str_head(text, *begin);
	for (size_t i = 0; i < COUNT(roots); i++) {
		size_t size = roots[i].key.size;
		if (!str_ends(before, roots[i].key))
			continue;
		*kind = roots[i].kind;
		return before.size == size || (!is_name_byte(before.at[before.size - size - 1]) &&
					       before.at[before.size - size - 1] != '.');
	}
	return false;
}

/* True when the offset is between ${ and }. */
static bool is_in_expression(struct str text, size_t at)
{
	for (size_t i = at; i >= 2; i--) {
		if (text.at[i - 1] == '}')
			return false;
		if (text.at[i - 1] == '{' && text.at[i - 2] == '$')
			return true;
	}
	return false;
}

static void found(struct searching *search, enum name_kind kind, const struct yaml_place *place,
		  size_t begin, size_t end)
{
	*search->out = (struct name_reference){ .kind = kind,
						.name = { place->text.at + begin, end - begin },
						.place = { place->line, place->column + begin },
						.path = place->path };
	search->found = true;
}

static bool search_place(void *context, const struct yaml_place *place)
{
	struct searching *search = context;
	size_t begin = 0, end = place->text.size;
	enum name_kind kind;
	if (place->line < search->at.line || place->is_key)
		return true;
	if (place->line > search->at.line)
		return false;
	if (search->at.byte < place->column || search->at.byte > place->column + place->text.size)
		return true;
	size_t at = search->at.byte - place->column;
	bool expression =
		workflow_names_expression_at(&place->path) || is_in_expression(place->text, at);
	if (expression && expression_name(place->text, at, &kind, &begin, &end))
		found(search, kind, place, begin, end);
	else if (!expression && workflow_names_kind_at(&place->path, &kind))
		found(search, kind, place, 0, place->text.size);
	return false;
}

bool workflow_names_reference(struct str text, struct text_position at, struct name_reference *out)
{
	struct searching search = { .at = at, .out = out };
	struct yaml_cursor cursor;
	enum name_kind kind;
	size_t begin, end;
	yaml_places_scan(text, search_place, &search);
	if (search.found)
		return true;
	/* A text block: its lines are no values of their own. */
	yaml_cursor_find(text, at.line, at.byte, &cursor);
	struct str line = text_line(text, at.line);
	if (!cursor.in_text || !is_in_expression(line, at.byte) ||
	    !expression_name(line, at.byte, &kind, &begin, &end))
		return false;
	*out = (struct name_reference){ .kind = kind,
					.name = { line.at + begin, end - begin },
					.place = { at.line, begin },
					.path = cursor.path };
	return true;
}
