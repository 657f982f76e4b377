/* config/config_edit.c -- changes one setting in the text of config.yaml.
 *
 * The YAML parser reports where keys and values begin.  Their ends are found by scanning the text
 * for the usual syntax: plain and quoted scalars, [flow] and {flow}, block lists.  The scan may be
 * wrong for other syntax, so its result is never trusted: check_result() parses the new text and
 * rejects it if anything but the setting has changed.
 */
#include "config/config_edit.h"

#include "base/limits.h"
#include "base/yaml.h"

struct edit {
	struct str text, name;
	struct arena *arena;
	const struct json *tree;
	struct str line_end;
	/* the setting; NULL = not in the file */
	const struct json_member *member;
	/* the innermost existing section; NULL = the top level */
	const struct json_member *section;
	struct str rest;           /* of the name, after the section */
	const struct json *holder; /* the mapping that contains the setting, or will */
};

/* ---- positions ----------------------------------------------------------------------- */

static size_t line_start(struct str text, uint32_t line)
{
	size_t at = 0;
	for (uint32_t i = 1; i < line && at < text.size; at++)
		i += text.at[at] == '\n';
	return at;
}

static size_t line_stop(struct str text, size_t at)
{
	while (at < text.size && text.at[at] != '\n')
		at++;
	return at;
}

/* Columns count characters. */
static size_t offset_of(struct str text, uint32_t line, uint32_t column)
{
	size_t at = line_start(text, line);
	for (uint32_t i = 1; i < column && at < text.size; i++) {
		at++;
		while (at < text.size && ((unsigned char)text.at[at] & 0xC0) == 0x80)
			at++;
	}
	return at;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool starts_with_at(struct str text, size_t at, char c)
{
	return at < text.size && text.at[at] == c;
}

/* ---- ends ---------------------------------------------------------------------------- */

static size_t quoted_end(struct str text, size_t at)
{
	char quote = text.at[at++];
	while (at < text.size) {
		bool doubled = quote == '\'' && text.at[at] == quote && at + 1 < text.size &&
			       text.at[at + 1] == quote;
		if (doubled || (quote == '"' && text.at[at] == '\\'))
			at += 2;
		else if (text.at[at++] == quote)
			break;
	}
	return at < text.size ? at : text.size;
}

static bool is_bracket(char c, const char pair[2])
{
	return c == pair[0] || c == pair[1];
}

static size_t flow_end(struct str text, size_t at)
{
	size_t depth = 0;
	while (at < text.size) {
		char c = text.at[at];
		if (c == '"' || c == '\'') {
			at = quoted_end(text, at);
			continue;
		}
		depth += is_bracket(c, "[{") ? 1 : 0;
		depth -= is_bracket(c, "]}") && depth > 0 ? 1 : 0;
		at++;
		if (depth == 0)
			break;
	}
	return at;
}

/* A plain scalar ends before a comment, at the end of its line, and in a flow before , ] and }. */
static size_t plain_end(struct str text, size_t at, bool in_flow)
{
	size_t end = at;
	for (; at < text.size && text.at[at] != '\n'; at++) {
		if (text.at[at] == '#' && at > 0 && is_blank(text.at[at - 1]))
			break;
		if (in_flow && (text.at[at] == ',' || is_bracket(text.at[at], "]}")))
			break;
		if (!is_blank(text.at[at]))
			end = at + 1;
	}
	return end;
}

static size_t scalar_end(struct str text, size_t at, bool in_flow)
{
	if (starts_with_at(text, at, '"') || starts_with_at(text, at, '\''))
		return quoted_end(text, at);
	if (starts_with_at(text, at, '[') || starts_with_at(text, at, '{'))
		return flow_end(text, at);
	return plain_end(text, at, in_flow);
}

/* The offset after the colon of the key that begins here. */
static size_t colon_end(struct str text, size_t at)
{
	if (starts_with_at(text, at, '"') || starts_with_at(text, at, '\''))
		at = quoted_end(text, at);
	while (at < text.size && text.at[at] != ':')
		at++;
	return at < text.size ? at + 1 : at;
}

/* Does this line belong to the block entry above it that is indented by `indent`? */
static bool continues(struct str line, size_t indent, bool *out_matters)
{
	size_t blanks = 0;
	while (blanks < line.size && line.at[blanks] == ' ')
		blanks++;
	struct str words = str_trim(line);
	*out_matters = words.size > 0 && words.at[0] != '#';
	return !*out_matters || blanks > indent ||
	       (blanks == indent && (str_starts(words, S("- ")) || str_equal(words, S("-"))));
}

/* The offset after the last line of the block entry with this key. */
static size_t block_end(struct str text, uint32_t line, uint32_t column)
{
	size_t at = line_stop(text, line_start(text, line));
	size_t end = at < text.size ? at + 1 : at;
	for (at = end; at < text.size;) {
		size_t stop = line_stop(text, at);
		bool matters;
		if (!continues((struct str){ text.at + at, stop - at }, column - 1, &matters))
			break;
		at = stop < text.size ? stop + 1 : stop;
		if (matters)
			end = at;
	}
	return end;
}

/* ---- finding ------------------------------------------------------------------------- */

static void find(struct edit *edit, const struct json *object, struct str prefix)
{
	edit->holder = object;
	for (size_t i = 0; object->kind == JSON_OBJECT && i < object->as.object.count; i++) {
		const struct json_member *member = &object->as.object.at[i];
		struct str name = str_format(edit->arena, STR_FMT "%s" STR_FMT, STR_ARG(prefix),
					     prefix.size > 0 ? "." : "", STR_ARG(member->key));
		if (str_equal(name, edit->name)) {
			edit->member = member;
			return;
		}
		bool above = str_starts(edit->name, name) &&
			     str_starts(str_skip(edit->name, name.size), S("."));
		if (!above ||
		    (member->value.kind != JSON_OBJECT && member->value.kind != JSON_NULL))
			continue;
		edit->section = member;
		edit->rest = str_skip(edit->name, name.size + 1);
		find(edit, &member->value, name);
		return;
	}
}

static bool begin(struct edit *edit, struct error *error)
{
	size_t at;
	if (!yaml_read(edit->text, edit->arena, &edit->tree, error))
		return false;
	if (edit->tree->kind != JSON_OBJECT && edit->tree->kind != JSON_NULL)
		return fail(error, ERROR_INVALID,
			    "the file must be a mapping of settings, like serve: {port: 8420}");
	edit->line_end = str_find(edit->text, S("\r\n"), &at) ? S("\r\n") : S("\n");
	edit->rest = edit->name;
	find(edit, edit->tree, S(""));
	return true;
}

static bool is_flow(const struct edit *edit, const struct json *mapping)
{
	return mapping->kind == JSON_OBJECT && mapping->line > 0 &&
	       starts_with_at(edit->text, offset_of(edit->text, mapping->line, mapping->column),
			      '{');
}

static struct str splice(struct edit *edit, size_t from, size_t to, struct str middle)
{
	return str_format(edit->arena, STR_FMT STR_FMT STR_FMT, STR_ARG(str_head(edit->text, from)),
			  STR_ARG(middle), STR_ARG(str_skip(edit->text, to)));
}

/* ---- changing ------------------------------------------------------------------------ */

static struct str replace(struct edit *edit, struct str value)
{
	const struct json_member *member = edit->member;
	const struct json *old = &member->value;
	bool in_flow = is_flow(edit, edit->holder);
	size_t key = offset_of(edit->text, member->line, member->column);
	size_t colon = colon_end(edit->text, key);
	size_t at = offset_of(edit->text, old->line, old->column);
	struct str spaced = str_format(edit->arena, " " STR_FMT, STR_ARG(value));
	if (old->kind != JSON_NULL && (in_flow || old->line == member->line))
		return splice(edit, at, scalar_end(edit->text, at, in_flow), value);
	if (old->kind == JSON_NULL) {
		size_t end = scalar_end(edit->text, colon, in_flow);
		return splice(edit, colon, end > colon ? end : colon, spaced);
	}
	size_t end = block_end(edit->text, member->line, member->column);
	while (end > colon && (edit->text.at[end - 1] == '\n' || edit->text.at[end - 1] == '\r'))
		end--;
	return splice(edit, colon, end, spaced);
}

/* The lines of `a.b: value` at this indentation. */
static struct str lines_of(struct edit *edit, size_t indent, struct str value)
{
	AUTO(buf) lines = { 0 };
	struct str rest = edit->rest, part;
	for (; str_cut(&rest, '.', &part); indent += 2) {
		buf_add_format(&lines, "%*s" STR_FMT ":", (int)indent, "", STR_ARG(part));
		if (rest.size == 0)
			buf_add_format(&lines, " " STR_FMT, STR_ARG(value));
		buf_add(&lines, edit->line_end);
	}
	return str_copy(edit->arena, buf_str(&lines));
}

static struct str insert_in_flow(struct edit *edit, struct str value)
{
	const struct json *mapping = edit->holder;
	size_t at = offset_of(edit->text, mapping->line, mapping->column) + 1;
	bool first = mapping->as.object.count == 0;
	struct str rest = edit->rest, part;
	AUTO(buf) words = { 0 };
	size_t open = 0;
	while (str_cut(&rest, '.', &part)) {
		buf_add_format(&words, STR_FMT ": %s", STR_ARG(part), rest.size > 0 ? "{" : "");
		open += rest.size > 0;
	}
	buf_add(&words, value);
	for (; open > 0; open--)
		buf_add_char(&words, '}');
	if (!first)
		buf_add(&words, S(", "));
	return splice(edit, at, at, buf_str(&words));
}

static struct str insert(struct edit *edit, struct str value)
{
	const struct json *mapping = edit->holder;
	const struct json_member *section = edit->section;
	if (is_flow(edit, mapping))
		return insert_in_flow(edit, value);
	size_t indent = 0, at = edit->text.size;
	if (mapping->kind == JSON_OBJECT && mapping->as.object.count > 0)
		indent = mapping->as.object.at[0].column - 1;
	else if (section != NULL)
		indent = section->column + 1;
	if (section != NULL)
		at = block_end(edit->text, section->line, section->column);
	struct str lines = lines_of(edit, indent, value);
	bool cut_off = at > 0 && edit->text.at[at - 1] != '\n';
	if (cut_off)
		lines = str_format(edit->arena, STR_FMT STR_FMT, STR_ARG(edit->line_end),
				   STR_ARG(lines));
	return splice(edit, at, at, lines);
}

static struct str remove_from_flow(struct edit *edit)
{
	const struct json_member *member = edit->member;
	size_t from = offset_of(edit->text, member->line, member->column);
	size_t to = member->value.kind == JSON_NULL
			    ? colon_end(edit->text, from)
			    : scalar_end(edit->text,
					 offset_of(edit->text, member->value.line,
						   member->value.column),
					 true);
	while (to < edit->text.size && is_blank(edit->text.at[to]))
		to++;
	if (starts_with_at(edit->text, to, ',')) {
		to++;
		while (to < edit->text.size && is_blank(edit->text.at[to]))
			to++;
		return splice(edit, from, to, S(""));
	}
	while (from > 0 && (is_blank(edit->text.at[from - 1]) || edit->text.at[from - 1] == '\n'))
		from--;
	if (from > 0 && edit->text.at[from - 1] == ',')
		from--;
	return splice(edit, from, to, S(""));
}

static struct str remove_entry(struct edit *edit)
{
	const struct json_member *member = edit->member, *section = edit->section;
	if (is_flow(edit, edit->holder))
		return remove_from_flow(edit);
	size_t from = line_start(edit->text, member->line);
	size_t to = block_end(edit->text, member->line, member->column);
	struct str text = splice(edit, from, to, S(""));
	bool last = section != NULL && edit->holder->as.object.count == 1 &&
		    section->line < member->line;
	if (!last)
		return text;
	struct edit above = { .text = text, .arena = edit->arena };
	size_t start = line_start(text, section->line);
	size_t stop = line_stop(text, start);
	return splice(&above, start, stop < text.size ? stop + 1 : stop, S(""));
}

/* ---- checking ------------------------------------------------------------------------ */

static const struct config_entry *entry_named(const struct config_entries *entries, struct str name)
{
	for (size_t i = 0; i < entries->count; i++)
		if (str_equal(entries->at[i].name, name))
			return &entries->at[i];
	return NULL;
}

/* Are all entries except the edited one the same in both texts? */
static bool other_entries_are_unchanged(struct edit *edit, const struct config_entries *before,
					const struct config_entries *after)
{
	size_t seen = 0;
	for (size_t i = 0; i < before->count; i++) {
		struct str name = before->at[i].name;
		if (str_equal(name, edit->name))
			continue;
		const struct config_entry *other = entry_named(after, name);
		if (other == NULL || !str_equal(json_print(edit->arena, before->at[i].value),
						json_print(edit->arena, other->value)))
			return false;
		seen++;
	}
	return after->count == seen + (entry_named(after, edit->name) != NULL);
}

static bool check_result(struct edit *edit, struct str text, const struct config_row *row,
			 const char *value, struct error *error)
{
	const struct json *tree;
	struct config_value wanted, read_back;
	struct error ignored;
	bool good = yaml_read(text, edit->arena, &tree, &ignored);
	if (good) {
		struct config_entries before = config_entries(edit->tree, edit->arena);
		struct config_entries after = config_entries(tree, edit->arena);
		const struct config_entry *entry = entry_named(&after, edit->name);
		good = other_entries_are_unchanged(edit, &before, &after) &&
		       (entry != NULL) == (value != NULL);
		if (good && value != NULL)
			good = config_value_of_text(row, "~", value, edit->arena, &wanted,
						    &ignored) &&
			       config_value_of_json(row, "~", entry->value, edit->arena, &read_back,
						    &ignored) &&
			       str_equal(str_from_c(wanted.text), str_from_c(read_back.text));
	}
	if (good)
		return true;
	fail(error, ERROR_CONFLICT,
	     STR_FMT " cannot be changed automatically because of its YAML syntax; edit it by hand",
	     STR_ARG(row->name));
	if (edit->member != NULL) {
		error->line = edit->member->line;
		error->column = edit->member->column;
	}
	return false;
}

/* ---- values -------------------------------------------------------------------------- */

/* Writes the text plain if YAML reads it back as the same string, else in double quotes. */
static void add_text(struct buf *out, struct str text, struct arena *arena)
{
	const struct json *json;
	struct error error;
	bool plain = text.size > 0;
	for (size_t i = 0; i < text.size && plain; i++) {
		char c = text.at[i];
		bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			    (c >= '0' && c <= '9') || c == '_' || c == '/' || c == '.';
		plain = word || (i > 0 && (c == '-' || c == ':' || c == '~') && i + 1 < text.size);
	}
	plain = plain && yaml_read(text, arena, &json, &error) && json->kind == JSON_STRING &&
		str_equal(json->as.string, text);
	struct json_writer writer = { .out = out };
	if (plain)
		buf_add(out, text);
	else
		json_put_str(&writer, text);
}

static struct str yaml_of(const struct config_row *row, const struct config_value *value,
			  const char *given, struct arena *arena)
{
	AUTO(buf) out = { 0 };
	switch (row->type) {
	case CONFIG_PORT:
	case CONFIG_INT:
	case CONFIG_BOOL:
		buf_add(&out, str_from_c(value->text));
		break;
	case CONFIG_SECONDS: /* 5m stays 5m */
	case CONFIG_TEXT:
	case CONFIG_PATH:
	case CONFIG_CHOICE:
	case CONFIG_SECRET:
		if (row->type == CONFIG_SECONDS &&
		    str_equal(str_from_c(given), str_from_c(value->text)))
			buf_add(&out, str_from_c(given));
		else
			add_text(&out, str_from_c(given), arena);
		break;
	case CONFIG_LIST:
		buf_add_char(&out, '[');
		for (size_t i = 0; i < value->list.count; i++) {
			buf_add(&out, i == 0 ? S("") : S(", "));
			add_text(&out, value->list.at[i], arena);
		}
		buf_add_char(&out, ']');
		break;
	}
	return str_copy(arena, buf_str(&out));
}

bool config_edit_set(struct str text, const struct config_row *row, const char *value,
		     struct arena *arena, struct str *out_text, struct error *error)
{
	struct edit edit = { .text = text, .name = row->name, .arena = arena };
	struct config_value wanted;
	if (!config_value_of_text(row, "~", value, arena, &wanted, error))
		return false;
	if (row->type == CONFIG_SECRET && !str_starts(str_from_c(value), S("env:")) &&
	    !str_starts(str_from_c(value), S("file:")))
		return fail(error, ERROR_INVALID,
			    STR_FMT
			    " must be a reference, env:NAME or file:NAME, not the secret itself",
			    STR_ARG(row->name));
	if (!begin(&edit, error))
		return false;
	struct str written = yaml_of(row, &wanted, value, arena);
	struct str result = edit.member != NULL ? replace(&edit, written) : insert(&edit, written);
	if (result.size > LIMIT_CONFIG_BYTES)
		return fail(error, ERROR_TOO_LARGE, "the file would be larger than %d bytes",
			    LIMIT_CONFIG_BYTES);
	if (!check_result(&edit, result, row, value, error))
		return false;
	*out_text = result;
	return true;
}

bool config_edit_unset(struct str text, const struct config_row *row, struct arena *arena,
		       struct str *out_text, struct error *error)
{
	struct edit edit = { .text = text, .name = row->name, .arena = arena };
	if (!begin(&edit, error))
		return false;
	if (edit.member == NULL)
		return fail(error, ERROR_NOT_FOUND, STR_FMT " is not set in the file",
			    STR_ARG(row->name));
	struct str result = remove_entry(&edit);
	if (!check_result(&edit, result, row, NULL, error))
		return false;
	*out_text = result;
	return true;
}
