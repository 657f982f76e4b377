/* config/config_file.c -- reads config.yaml and collects all its problems.
 *
 * A setting is written inside its section or with its dotted name at the top level; writing it
 * twice is an error.  An unknown section is one problem, not one per line.
 */
#include "base/limits.h"
#include "base/yaml.h"
#include "config/config.h"

static bool is_section(struct str name)
{
	const struct config_row *row;
	for (size_t i = 0; (row = config_at(i)) != NULL; i++)
		if (str_starts(row->name, name) &&
		    str_starts(str_skip(row->name, name.size), S(".")))
			return true;
	return false;
}

struct walk {
	struct arena *arena;
	struct config_entries entries;
	size_t room;
};

static void add(struct walk *walk, struct config_entry entry)
{
	if (walk->entries.count == walk->room) {
		size_t room = walk->room == 0 ? 16 : walk->room * 2;
		struct config_entry *larger = arena_array(walk->arena, struct config_entry, room);
		for (size_t i = 0; i < walk->entries.count; i++)
			larger[i] = walk->entries.at[i];
		walk->entries.at = larger;
		walk->room = room;
	}
	walk->entries.at[walk->entries.count++] = entry;
}

/* Recurses only into known sections, so at most as deep as a setting's name has dots. */
static void walk_object(struct walk *walk, struct str prefix, const struct json *object,
			size_t depth)
{
	for (size_t i = 0; i < object->as.object.count; i++) {
		const struct json_member *member = &object->as.object.at[i];
		struct str name = str_format(walk->arena, STR_FMT "%s" STR_FMT, STR_ARG(prefix),
					     prefix.size > 0 ? "." : "",
					     STR_ARG(str_head(member->key, LIMIT_NAME_BYTES)));
		const struct config_row *row = config_find(name);
		bool section = row == NULL && is_section(name);
		if (section && member->value.kind == JSON_NULL)
			continue;
		if (section && member->value.kind == JSON_OBJECT)
			walk_object(walk, name, &member->value, depth + 1);
		else
			add(walk, (struct config_entry){ .row = row,
							 .name = name,
							 .value = &member->value,
							 .line = member->line,
							 .column = member->column,
							 .depth = depth });
	}
}

struct config_entries config_entries(const struct json *tree, struct arena *arena)
{
	struct walk walk = { .arena = arena };
	if (tree->kind == JSON_OBJECT)
		walk_object(&walk, S(""), tree, 1);
	return walk.entries;
}

/* ---- problems ------------------------------------------------------------------------ */

static struct str pointer_of(struct str name, struct arena *arena)
{
	char *pointer = arena_take_text(arena, name.size + 1);
	pointer[0] = '/';
	for (size_t i = 0; i < name.size; i++)
		pointer[i + 1] = name.at[i] == '.' ? '/' : name.at[i];
	return (struct str){ pointer, name.size + 1 };
}

/* Lists the settings of the same section, or all settings. */
static void list_names(struct str name, struct buf *out)
{
	const struct config_row *row;
	struct str section = { name.at, 0 };
	for (size_t i = 0; i < name.size; i++)
		if (name.at[i] == '.')
			section.size = i;
	bool inside = section.size > 0 && is_section(section);
	for (size_t i = 0; (row = config_at(i)) != NULL; i++)
		if (row != config_row(CONFIG_HOME) &&
		    (!inside || (str_starts(row->name, section) &&
				 str_starts(str_skip(row->name, section.size), S(".")))))
			buf_add_format(out, "%s" STR_FMT, out->size == 0 ? "" : ", ",
				       STR_ARG(row->name));
}

static void refuse_unknown(const struct config_entry *entry, struct problems *problems)
{
	struct str pointer = pointer_of(entry->name, problems->arena);
	if (is_section(entry->name)) {
		problems_add(problems, pointer, entry->line, entry->column,
			     STR_FMT " is a section: write its settings below it, indented",
			     STR_ARG(entry->name));
		return;
	}
	AUTO(buf) names = { 0 };
	list_names(entry->name, &names);
	struct str near = config_closest(entry->name);
	if (near.size > 0)
		problems_add(problems, pointer, entry->line, entry->column,
			     "unknown setting " STR_FMT "; did you mean " STR_FMT
			     "? Expected one of " STR_FMT,
			     STR_ARG(entry->name), STR_ARG(near), STR_ARG(buf_str(&names)));
	else
		problems_add(problems, pointer, entry->line, entry->column,
			     "unknown setting " STR_FMT "; expected one of " STR_FMT,
			     STR_ARG(entry->name), STR_ARG(buf_str(&names)));
}

static void take_entry(struct config *config, const struct config_entry *entry,
		       struct problems *problems)
{
	struct str pointer = pointer_of(entry->name, problems->arena);
	if (entry->row == NULL) {
		refuse_unknown(entry, problems);
		return;
	}
	struct config_value *slot = &config->values[config_key_of(entry->row)], value;
	struct error error = { 0 };
	if (entry->row == config_row(CONFIG_HOME)) {
		problems_add(
			problems, pointer, entry->line, entry->column,
			"home cannot be set in config.yaml, which lives in that folder; use --home or "
			"BATON_HOME");
	} else if (slot->source == CONFIG_FROM_FILE) {
		problems_add(problems, pointer, entry->line, entry->column,
			     STR_FMT " is set twice; the first time on line %u",
			     STR_ARG(entry->name), slot->line);
	} else if (!config_value_of_json(entry->row, config->user_home, entry->value, config->arena,
					 &value, &error)) {
		problems_add(problems, pointer, error.line > 0 ? error.line : entry->value->line,
			     error.line > 0 ? error.column : entry->value->column, "%s",
			     error.text);
	} else {
		value.source = CONFIG_FROM_FILE;
		value.line = entry->line;
		value.column = entry->column;
		*slot = value;
	}
}

bool config_take_file(struct config *config, struct str text, struct problems *problems)
{
	const struct json *tree;
	struct error error;
	size_t before = problems->count + problems->hidden;
	if (!yaml_read(text, config->arena, &tree, &error)) {
		problems_add(problems, S(""), error.line, error.column, "%s", error.text);
		return false;
	}
	if (tree->kind != JSON_OBJECT && tree->kind != JSON_NULL) {
		problems_add(problems, S(""), tree->line, tree->column,
			     "the file must be a mapping of settings, like serve: {port: 8420}");
		return false;
	}
	struct config_entries entries = config_entries(tree, config->arena);
	for (size_t i = 0; i < entries.count; i++)
		take_entry(config, &entries.at[i], problems);
	return problems->count + problems->hidden == before;
}
