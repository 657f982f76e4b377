/* contract/describe_typescript.c -- every type as TypeScript declarations.
 *
 * Each module is a namespace.  X is the type of output, X_Input that of input where the two differ,
 * by the same rules as in describe_schema.c.
 */
#include "contract/describe.h"
#include "contract/modules.h"

struct form {
	struct buf *out;
	bool input;
};

static const char open_object[] = "{ [key: string]: unknown }";

/* ---- names and texts ------------------------------------------------------------------- */

static bool is_plain_name(struct str name)
{
	for (size_t i = 0; i < name.size; i++) {
		char c = name.at[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
		if (!letter && (i == 0 || c < '0' || c > '9'))
			return false;
	}
	return name.size > 0;
}

static void put_string(struct buf *out, struct str text)
{
	struct json_writer writer = { .out = out };
	json_put_str(&writer, text);
}

static void put_member_name(struct buf *out, struct str name)
{
	if (is_plain_name(name))
		buf_add(out, name);
	else
		put_string(out, name);
}

/* Writes text inside a comment; splits an end-of-comment mark in it. */
static void put_comment_text(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.size; i++) {
		buf_add_char(out, text.at[i]);
		if (text.at[i] == '*' && i + 1 < text.size && text.at[i + 1] == '/')
			buf_add_char(out, ' ');
	}
}

static void put_comment(struct buf *out, const char *indent, struct str text)
{
	if (text.size == 0)
		return;
	buf_add_format(out, "%s/** ", indent);
	put_comment_text(out, text);
	buf_add(out, S(" */\n"));
}

/* The name of a type inside its namespace: `Issue` or `Issue_Input`. */
static void put_own_name(struct form *form, const struct type *type, bool differs)
{
	struct str rest = contract_short_name(type), piece;
	for (bool first = true; str_cut(&rest, '.', &piece); first = false)
		buf_add_format(form->out, "%s" STR_FMT, first ? "" : "_", STR_ARG(piece));
	if (form->input && differs)
		buf_add(form->out, S("_Input"));
}

static void put_reference(struct form *form, const struct type *type)
{
	struct str short_name = contract_short_name(type);
	buf_add(form->out, str_head(type->name, type->name.size - short_name.size));
	put_own_name(form, type, describe_schema_differs(type));
}

/* ---- values ---------------------------------------------------------------------------- */

static void put_type(struct form *form, const struct type *type)
{
	switch (type->kind) {
	case KIND_STR:
	case KIND_TIME:
	case KIND_UUID:
	case KIND_HASH:
	case KIND_SECRET:
		buf_add(form->out, S("string"));
		return;
	case KIND_INT:
	case KIND_REAL:
		buf_add(form->out, S("number"));
		return;
	case KIND_BOOL:
		buf_add(form->out, S("boolean"));
		return;
	case KIND_OBJECT:
		buf_add(form->out, str_from_c(open_object));
		return;
	case KIND_ANY:
		buf_add(form->out, S("unknown"));
		return;
	case KIND_ENUM:
	case KIND_ENTITY:
	case KIND_UNION:
		put_reference(form, type);
		return;
	}
}

static void put_field_type(struct form *form, const struct field *field)
{
	switch (field->shape) {
	case SHAPE_CONST:
		put_string(form->out, field->constant);
		return;
	case SHAPE_ONE:
		put_type(form, field->of());
		break;
	case SHAPE_LIST:
		put_type(form, field->of());
		buf_add(form->out, S("[]"));
		break;
	case SHAPE_MAP:
		buf_add(form->out, S("{ [key: string]: "));
		put_type(form, field->of());
		buf_add(form->out, S(" }"));
		break;
	case SHAPE_END:
	case SHAPE_CHECK:
	case SHAPE_COMPUTE:
		return;
	}
	/* `unknown` already includes null */
	bool any = field->shape == SHAPE_ONE && field->of()->kind == KIND_ANY;
	if (!any && (field->nullable || field->presence == PRESENCE_COMPUTED))
		buf_add(form->out, S(" | null"));
}

static bool may_be_left_out(const struct form *form, const struct field *field)
{
	if (form->input)
		return field->presence != PRESENCE_REQUIRED || field->shape == SHAPE_CONST;
	return field->presence == PRESENCE_OPTIONAL;
}

static void put_field(struct form *form, const struct field *field)
{
	struct buf *out = form->out;
	if (field->text.size > 0 || field->presence == PRESENCE_DEFAULT || field->deprecated) {
		buf_add(out, S("    /** "));
		put_comment_text(out, field->text);
		if (field->presence == PRESENCE_DEFAULT) {
			buf_add(out, S(" @default "));
			put_comment_text(out, field->fallback);
		}
		if (field->deprecated)
			buf_add(out, S(" @deprecated"));
		buf_add(out, S(" */\n"));
	}
	buf_add(out, S("    "));
	put_member_name(out, field->name);
	buf_add(out, may_be_left_out(form, field) ? S("?: ") : S(": "));
	put_field_type(form, field);
	buf_add(out, S(";\n"));
}

/* ---- types ----------------------------------------------------------------------------- */

static void put_entity(struct form *form, const struct type *type, bool differs)
{
	buf_add(form->out, S("  export interface "));
	put_own_name(form, type, differs);
	buf_add(form->out, S(" {\n"));
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++)
		if (!field_is_hook(field))
			put_field(form, field);
	if (type->openness != CONTRACT_CLOSED)
		buf_add(form->out, S("    [key: string]: unknown;\n"));
	buf_add(form->out, S("  }\n"));
}

static void put_union(struct form *form, const struct type *type, bool differs)
{
	buf_add(form->out, S("  export type "));
	put_own_name(form, type, differs);
	buf_add(form->out, S(" =\n"));
	for (size_t i = 0; i < type->case_count; i++) {
		const struct union_case *one = &type->cases[i];
		buf_add(form->out, S("    | "));
		if (one->of == NULL) {
			buf_add(form->out, str_from_c(open_object));
		} else if (type->tag.size == 0) {
			put_reference(form, one->of());
		} else {
			buf_add(form->out, S("("));
			put_reference(form, one->of());
			buf_add(form->out, S(" & { "));
			put_member_name(form->out, type->tag);
			buf_add(form->out, S(": "));
			put_string(form->out, one->tag);
			buf_add(form->out, S(" })"));
		}
		buf_add(form->out, i + 1 == type->case_count ? S(";\n") : S("\n"));
	}
}

static void put_enum(struct form *form, const struct type *type)
{
	buf_add(form->out, S("  export type "));
	put_own_name(form, type, false);
	buf_add(form->out, S(" =\n"));
	for (size_t i = 0; i < type->word_count; i++) {
		put_comment(form->out, "    ", type->words[i].text);
		buf_add(form->out, S("    | "));
		put_string(form->out, type->words[i].name);
		buf_add(form->out, i + 1 == type->word_count ? S(";\n") : S("\n"));
	}
}

static void put_form(struct form *form, const struct type *type, bool differs)
{
	buf_add_char(form->out, '\n');
	put_comment(form->out, "  ", type->text);
	if (type->kind == KIND_ENTITY)
		put_entity(form, type, differs);
	else if (type->kind == KIND_UNION)
		put_union(form, type, differs);
	else
		put_enum(form, type);
}

void describe_typescript(struct buf *out)
{
	const struct contract_module *module;
	const struct type *type;
	buf_add(out,
		S("// Every type of Baton. X is what Baton prints, X_Input what it accepts where the "
		  "two differ.\n"));
	for (size_t i = 0; (module = contract_module_at(i)) != NULL; i++) {
		buf_add_char(out, '\n');
		put_comment(out, "", module->text);
		buf_add_format(out, "export namespace " STR_FMT " {", STR_ARG(module->name));
		for (size_t j = 0; (type = contract_type_at(module, j)) != NULL; j++) {
			bool differs = describe_schema_differs(type);
			struct form printed = { out, false }, taken = { out, true };
			put_form(&printed, type, differs);
			if (differs)
				put_form(&taken, type, true);
		}
		buf_add(out, S("}\n"));
	}
}
