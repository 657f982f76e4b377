/* contract/describe_markdown.c -- every type as a Markdown reference page.
 *
 * Tables are not padded, so that a changed cell does not change other lines.
 */
#include "contract/describe.h"
#include "contract/modules.h"

/* ---- cells ----------------------------------------------------------------------------- */

/* A `|` ends a Markdown cell even inside backquotes, so it is escaped. */
static void put_cell_text(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.size; i++) {
		if (text.at[i] == '|')
			buf_add_char(out, '\\');
		buf_add_char(out, text.at[i]);
	}
}

static void put_code(struct buf *out, struct str text)
{
	buf_add_char(out, '`');
	put_cell_text(out, text);
	buf_add_char(out, '`');
}

static void put_number(struct buf *out, double number)
{
	struct json_writer writer = { .out = out };
	json_put_real(&writer, number);
}

static void put_type(struct buf *out, const struct field *field)
{
	if (field->shape == SHAPE_CONST) {
		put_code(out, field->constant);
		return;
	}
	const struct type *of = field->of();
	if (field->shape == SHAPE_LIST)
		buf_add(out, S("list of "));
	if (field->shape == SHAPE_MAP)
		buf_add(out, S("map of "));
	if (of->kind == KIND_ENUM || of->kind == KIND_ENTITY || of->kind == KIND_UNION)
		put_code(out, of->name);
	else
		buf_add(out, str_from_c(contract_kind_name(of->kind)));
}

static void put_presence(struct buf *out, const struct field *field)
{
	switch (field->presence) {
	case PRESENCE_REQUIRED:
		buf_add(out, field->shape == SHAPE_CONST ? S("always") : S("required"));
		break;
	case PRESENCE_OPTIONAL:
		buf_add(out, S("optional"));
		break;
	case PRESENCE_DEFAULT:
		put_code(out, field->fallback);
		break;
	case PRESENCE_MADE:
		buf_add(out, S("made"));
		break;
	case PRESENCE_COMPUTED:
		buf_add(out, S("computed"));
		break;
	case PRESENCE_NULLABLE:
		buf_add(out, S("null"));
		return;
	}
	if (field->nullable)
		buf_add(out, S(", or null"));
}

static void put_length(struct buf *out, const struct field *field)
{
	const char *what = field->shape == SHAPE_ONE ? "characters" : "items";
	if (field->most > INT64_MAX)
		buf_add_format(out, "%llu %s or more; ", (unsigned long long)field->least, what);
	else
		buf_add_format(out, "%llu to %llu %s; ", (unsigned long long)field->least,
			       (unsigned long long)field->most, what);
}

static void put_rules(struct buf *out, const struct field *field)
{
	if (field->has_low) {
		buf_add(out, field->above ? S("above ") : S("at least "));
		put_number(out, field->low);
		buf_add(out, S("; "));
	}
	if (field->has_high) {
		buf_add(out, S("at most "));
		put_number(out, field->high);
		buf_add(out, S("; "));
	}
	if (field->has_length)
		put_length(out, field);
	if (field->pattern != NULL) {
		put_code(out, str_from_c(field->pattern));
		buf_add(out, S("; "));
	}
	if (field->unique)
		buf_add(out, S("items are unique; "));
	if (field->tag_in.size > 0)
		buf_add_format(out, "`" STR_FMT "` selects the case; ", STR_ARG(field->tag_in));
	if (field->alias.size > 0)
		buf_add_format(out, "once `" STR_FMT "`; ", STR_ARG(field->alias));
	if (field->deprecated)
		buf_add(out, S("deprecated; "));
}

/* ---- types ----------------------------------------------------------------------------- */

static const char *openness_text(enum openness openness)
{
	switch (openness) {
	case CONTRACT_CLOSED:
		return "Unknown fields are rejected.";
	case CONTRACT_WIRE:
		return "Unknown fields are ignored.";
	case CONTRACT_KEPT:
		return "Unknown fields are kept.";
	}
	return "";
}

static void put_entity(struct buf *out, const struct type *type)
{
	buf_add_format(out, "%s\n\n", openness_text(type->openness));
	buf_add(out, S("| field | type | if absent | rules | meaning |\n|---|---|---|---|---|\n"));
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++) {
		if (field_is_hook(field))
			continue;
		buf_add_format(out, "| `" STR_FMT "` | ", STR_ARG(field->name));
		put_type(out, field);
		buf_add(out, S(" | "));
		put_presence(out, field);
		buf_add(out, S(" | "));
		put_rules(out, field);
		buf_add(out, S("| "));
		put_cell_text(out, field->text);
		buf_add(out, S(" |\n"));
	}
	bool first = true;
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++)
		if (field_is_hook(field)) {
			buf_add_format(out, "%s- " STR_FMT "\n", first ? "\n" : "",
				       STR_ARG(field->text));
			first = false;
		}
}

static void put_union(struct buf *out, const struct type *type)
{
	if (type->tag.size > 0)
		buf_add_format(out, "`" STR_FMT "` selects the case.\n\n", STR_ARG(type->tag));
	else
		buf_add(out, S("A sibling field selects the case.\n\n"));
	buf_add(out, S("| tag | type |\n|---|---|\n"));
	for (size_t i = 0; i < type->case_count; i++) {
		const struct union_case *one = &type->cases[i];
		if (one->of == NULL)
			buf_add(out, S("| any other | kept unchanged |\n"));
		else
			buf_add_format(out, "| `" STR_FMT "` | `" STR_FMT "` |\n",
				       STR_ARG(one->tag), STR_ARG(one->of()->name));
	}
}

static void put_enum(struct buf *out, const struct type *type)
{
	buf_add(out, S("| value | meaning |\n|---|---|\n"));
	for (size_t i = 0; i < type->word_count; i++) {
		buf_add(out, S("| "));
		put_code(out, type->words[i].name);
		buf_add(out, S(" | "));
		put_cell_text(out, type->words[i].text);
		buf_add(out, S(" |\n"));
	}
	for (const struct enum_old *old = type->olds; old->name.size > 0; old++) {
		buf_add(out, S("| "));
		put_code(out, old->name);
		buf_add(out, S(" | once "));
		put_code(out, type->words[old->value].name);
		buf_add(out, S(" |\n"));
	}
}

void describe_markdown_type(const struct type *type, struct buf *out)
{
	buf_add_format(out, "### " STR_FMT "\n\n", STR_ARG(type->name));
	if (type->text.size > 0)
		buf_add_format(out, STR_FMT "%s", STR_ARG(type->text),
			       type->kind == KIND_ENUM ? "\n\n" : " ");
	if (type->kind == KIND_ENTITY)
		put_entity(out, type);
	else if (type->kind == KIND_UNION)
		put_union(out, type);
	else
		put_enum(out, type);
}

void describe_markdown(struct buf *out)
{
	const struct contract_module *module;
	const struct type *type;
	buf_add(out, S("# Contracts\n\nEvery type that Baton reads and prints.\n"));
	for (size_t i = 0; (module = contract_module_at(i)) != NULL; i++) {
		buf_add_format(out, "\n## " STR_FMT "\n\n" STR_FMT "\n", STR_ARG(module->name),
			       STR_ARG(module->text));
		for (size_t j = 0; (type = contract_type_at(module, j)) != NULL; j++) {
			buf_add_char(out, '\n');
			describe_markdown_type(type, out);
		}
	}
}
