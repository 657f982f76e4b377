/* lsp/language_complete.c -- completion: fields, values, names, and names inside expressions.
 *
 * The edit of an item replaces what is typed of the word, so that it does not matter what the editor takes
 * for a word.
 */
#include "base/json.h"
#include "base/limits.h"
#include "lsp/definition_fields.h"
#include "lsp/language_answers.h"
#include "lsp/workflow_names.h"

/* CompletionItemKind of the protocol. */
enum item_kind {
	ITEM_FUNCTION = 3,
	ITEM_FIELD = 5,
	ITEM_VARIABLE = 6,
	ITEM_MODULE = 9,
	ITEM_VALUE = 12,
	ITEM_REFERENCE = 18
};

struct completion {
	const struct language_question *question;
	struct json_writer *writer;
	struct str word; /* typed so far */
	size_t column;   /* where it begins */
	size_t count;
};

struct offer {
	struct str label, insert, detail, text;
	enum item_kind kind;
};

static void offer(struct completion *completion, const struct offer *item)
{
	const struct language_question *question = completion->question;
	struct json_writer *writer = completion->writer;
	struct text_position from = { question->at.line, completion->column };
	if (!str_starts(item->label, completion->word) || completion->count == LIMIT_LSP_ITEMS)
		return;
	completion->count++;
	json_open(writer, '{');
	json_key(writer, S("label"));
	json_put_str(writer, item->label);
	json_key(writer, S("kind"));
	json_put_int(writer, item->kind);
	if (item->detail.size > 0) {
		json_key(writer, S("detail"));
		json_put_str(writer, item->detail);
	}
	if (item->text.size > 0) {
		json_key(writer, S("documentation"));
		json_put_str(writer, item->text);
	}
	json_key(writer, S("textEdit"));
	json_open(writer, '{');
	text_range_put(writer, question->text, from, question->at.byte - completion->column,
		       question->utf8);
	json_key(writer, S("newText"));
	json_put_str(writer, item->insert.size > 0 ? item->insert : item->label);
	json_close(writer, '}');
	json_close(writer, '}');
}

/* ---- fields ------------------------------------------------------------------------------------ */

struct siblings {
	const struct yaml_path *mapping;
	uint32_t line; /* the key that is being typed does not count */
	struct str names[256];
	size_t count;
};

static bool gather_sibling(void *context, const struct yaml_place *place)
{
	struct siblings *siblings = context;
	if (place->is_key && place->line != siblings->line &&
	    place->path.depth == siblings->mapping->depth + 1 &&
	    yaml_path_shares(&place->path, siblings->mapping, siblings->mapping->depth) &&
	    siblings->count < COUNT(siblings->names))
		siblings->names[siblings->count++] = place->text;
	return true;
}

static bool is_sibling(const struct siblings *siblings, struct str name)
{
	for (size_t i = 0; i < siblings->count; i++)
		if (str_equal(siblings->names[i], name))
			return true;
	return false;
}

static struct str insert_of(const struct completion *completion, const struct field *field)
{
	const struct type *type = field_type(field);
	bool is_container = type != NULL && type->kind == KIND_ENTITY;
	return str_format(completion->question->arena, STR_FMT "%s", STR_ARG(field->name),
			  is_container || field->shape == SHAPE_MAP ? ":" : ": ");
}

static void offer_fields(struct completion *completion, const struct type *type,
			 const struct siblings *siblings)
{
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++) {
		AUTO(buf) detail = { 0 };
		if (field_is_hook(field) || field->deprecated || is_sibling(siblings, field->name))
			continue;
		definition_field_print(field, &detail);
		offer(completion, &(struct offer){ .label = field->name,
						   .insert = insert_of(completion, field),
						   .detail = str_copy(completion->question->arena,
								      buf_str(&detail)),
						   .text = field->text,
						   .kind = ITEM_FIELD });
	}
}

/* The inputs of the step's tool, or of its workflow: properties of a JSON Schema. */
static void offer_properties(struct completion *completion, const struct json *schema,
			     struct str suffix, const struct siblings *siblings)
{
	const struct json *properties = json_member(schema, S("properties"));
	if (properties == NULL || properties->kind != JSON_OBJECT)
		return;
	for (size_t i = 0; i < properties->as.object.count; i++) {
		const struct json_member *member = &properties->as.object.at[i];
		if (siblings != NULL && is_sibling(siblings, member->key))
			continue;
		offer(completion,
		      &(struct offer){
			      .label = member->key,
			      .insert = str_format(completion->question->arena, STR_FMT STR_FMT,
						   STR_ARG(member->key), STR_ARG(suffix)),
			      .detail = json_text(json_member(&member->value, S("type"))),
			      .text = json_text(json_member(&member->value, S("description"))),
			      .kind = ITEM_FIELD });
	}
}

/* ---- names ------------------------------------------------------------------------------------- */

static void offer_catalog(struct completion *completion, enum lsp_catalog which)
{
	const struct language_question *question = completion->question;
	const struct json *items = question->host->catalog(question->host->context, which,
							   question->arena),
			  *item;
	for (size_t i = 0; (item = json_item(items, i)) != NULL; i++) {
		struct str text = json_text(
			json_member(item, which == LSP_TOOLS ? S("text") : S("description")));
		offer(completion,
		      &(struct offer){ .label = json_text(json_member(item, S("name"))),
				       .text = text,
				       .kind = which == LSP_TOOLS ? ITEM_FUNCTION : ITEM_MODULE });
	}
}

static void offer_declared(struct completion *completion, enum name_kind kind,
			   const struct yaml_path *path)
{
	const struct language_question *question = completion->question;
	struct declared_names names = workflow_names_read(question->text, question->arena);
	for (size_t i = 0; i < names.count; i++) {
		const struct declared_name *name = &names.at[i];
		/* dependencies lead to steps of the same body */
		bool same_body = path == NULL || kind != NAME_STEP ||
				 yaml_path_shares(&name->body, path, name->body.depth - 1);
		bool itself = path != NULL && kind == NAME_STEP &&
			      yaml_path_shares(&name->body, path, name->body.depth);
		if (name->kind != kind || !same_body || itself)
			continue;
		offer(completion,
		      &(struct offer){ .label = name->name,
				       .detail = str_format(question->arena, STR_FMT "%s" STR_FMT,
							    STR_ARG(name->caller),
							    name->caller.size > 0 ? " " : "",
							    STR_ARG(name->calls)),
				       .text = name->description,
				       .kind = ITEM_REFERENCE });
	}
}

static void offer_names(struct completion *completion, enum name_kind kind,
			const struct yaml_path *path)
{
	switch (kind) {
	case NAME_TOOL:
		offer_catalog(completion, LSP_TOOLS);
		break;
	case NAME_WORKFLOW:
		offer_catalog(completion, LSP_WORKFLOWS);
		break;
	case NAME_AGENT:
		offer_declared(completion, NAME_AGENT, NULL);
		offer_catalog(completion, LSP_AGENTS);
		break;
	case NAME_STEP:
	case NAME_INPUT:
	case NAME_VARIABLE:
		offer_declared(completion, kind, path);
		break;
	}
}

/* ---- expressions ------------------------------------------------------------------------------- */

static bool is_path_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-' || c == '.';
}

static void offer_words(struct completion *completion, const struct offer *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		offer(completion, &words[i]);
}

static void offer_roots(struct completion *completion)
{
	static const struct offer roots[] = {
		{ { "inputs", 6 },
		  { "inputs.", 7 },
		  { "", 0 },
		  { "the inputs of the run", 21 },
		  ITEM_VARIABLE },
		{ { "steps", 5 },
		  { "steps.", 6 },
		  { "", 0 },
		  { "results of steps that have ended", 32 },
		  ITEM_VARIABLE },
		{ { "ctx", 3 },
		  { "ctx.", 4 },
		  { "", 0 },
		  { "variables that steps set", 24 },
		  ITEM_VARIABLE },
		{ { "item", 4 },
		  { "item", 4 },
		  { "", 0 },
		  { "in a map: the item", 18 },
		  ITEM_VARIABLE },
		{ { "index", 5 },
		  { "index", 5 },
		  { "", 0 },
		  { "in a map: its number, from 0", 28 },
		  ITEM_VARIABLE },
		{ { "output", 6 },
		  { "output", 6 },
		  { "", 0 },
		  { "in a criterion: the checked value", 33 },
		  ITEM_VARIABLE },
		{ { "coalesce", 8 },
		  { "coalesce(", 9 },
		  { "", 0 },
		  { "the first argument that is not null", 35 },
		  ITEM_FUNCTION },
		{ { "len", 3 },
		  { "len(", 4 },
		  { "", 0 },
		  { "the length of a text, list or mapping", 37 },
		  ITEM_FUNCTION },
		{ { "lower", 5 },
		  { "lower(", 6 },
		  { "", 0 },
		  { "the text in lower case", 22 },
		  ITEM_FUNCTION },
		{ { "upper", 5 },
		  { "upper(", 6 },
		  { "", 0 },
		  { "the text in upper case", 22 },
		  ITEM_FUNCTION },
		{ { "int", 3 },
		  { "int(", 4 },
		  { "", 0 },
		  { "the value as a whole number", 27 },
		  ITEM_FUNCTION },
		{ { "str", 3 },
		  { "str(", 4 },
		  { "", 0 },
		  { "the value as text", 17 },
		  ITEM_FUNCTION },
	};
	offer_words(completion, roots, COUNT(roots));
}

static void offer_outputs(struct completion *completion, struct str step,
			  const struct yaml_path *near)
{
	static const struct offer of_agent[] = {
		{ { "text", 4 }, { "", 0 }, { "text", 4 }, { "the reply", 9 }, ITEM_FIELD },
		{ { "json", 4 },
		  { "", 0 },
		  { "any value", 9 },
		  { "the reply parsed as JSON", 24 },
		  ITEM_FIELD },
	};
	const struct language_question *question = completion->question;
	struct declared_names names = workflow_names_read(question->text, question->arena);
	const struct declared_name *name = workflow_names_find(&names, NAME_STEP, step, near);
	if (name == NULL)
		return;
	if (str_equal(name->caller, S("tool"))) {
		const struct json *tool = lsp_catalog_find(question, LSP_TOOLS, name->calls);
		offer_properties(completion, json_member(tool, S("outputs")), S(""), NULL);
	} else if (str_equal(name->caller, S("agent"))) {
		offer_words(completion, of_agent, COUNT(of_agent));
	}
}

/* `path` is what is typed before the last dot: "steps.build.outputs". */
static void offer_members(struct completion *completion, struct str path,
			  const struct yaml_path *near)
{
	static const struct offer of_step[] = {
		{ { "outputs", 7 },
		  { "outputs.", 8 },
		  { "", 0 },
		  { "what the step returned", 22 },
		  ITEM_FIELD },
		{ { "status", 6 },
		  { "", 0 },
		  { "", 0 },
		  { "success, failed or skipped", 26 },
		  ITEM_FIELD },
		{ { "error", 5 },
		  { "", 0 },
		  { "", 0 },
		  { "code and message of a failed step", 33 },
		  ITEM_FIELD },
	};
	struct str first, step, third;
	bool deep = str_cut(&path, '.', &first) && path.size > 0;
	if (!deep && str_equal(first, S("inputs"))) {
		offer_declared(completion, NAME_INPUT, NULL);
	} else if (!deep && str_equal(first, S("ctx"))) {
		offer_declared(completion, NAME_VARIABLE, NULL);
	} else if (!deep && str_equal(first, S("steps"))) {
		offer_declared(completion, NAME_STEP, NULL);
	} else if (deep && str_equal(first, S("steps")) && str_cut(&path, '.', &step)) {
		if (path.size == 0)
			offer_words(completion, of_step, COUNT(of_step));
		else if (str_cut(&path, '.', &third) && path.size == 0 &&
			 str_equal(third, S("outputs")))
			offer_outputs(completion, step, near);
	}
}

/* The part of an expression in front of the position that has no operator. */
static void complete_expression(struct completion *completion, struct str line,
				const struct yaml_path *near)
{
	size_t begin = line.size, dot;
	while (begin > 0 && is_path_byte(line.at[begin - 1]))
		begin--;
	for (dot = line.size; dot > begin && line.at[dot - 1] != '.';)
		dot--;
	completion->column = dot;
	completion->word = str_skip(line, dot);
	if (dot == begin)
		offer_roots(completion);
	else
		offer_members(completion, (struct str){ line.at + begin, dot - 1 - begin }, near);
}

/* An expression is open at the end of the text: ${ without }. */
static bool is_open(struct str text)
{
	for (size_t i = text.size; i >= 2; i--) {
		if (text.at[i - 1] == '}')
			return false;
		if (text.at[i - 1] == '{' && text.at[i - 2] == '$')
			return true;
	}
	return false;
}

/* ---- the question ------------------------------------------------------------------------------ */

static void offer_enum(struct completion *completion, const struct type *type)
{
	static const struct offer truths[] = {
		{ { "true", 4 }, { "", 0 }, { "", 0 }, { "", 0 }, ITEM_VALUE },
		{ { "false", 5 }, { "", 0 }, { "", 0 }, { "", 0 }, ITEM_VALUE },
	};
	if (type->kind == KIND_BOOL)
		offer_words(completion, truths, COUNT(truths));
	for (size_t i = 0; type->kind == KIND_ENUM && i < type->word_count; i++)
		offer(completion, &(struct offer){ .label = type->words[i].name,
						   .text = type->words[i].text,
						   .kind = ITEM_VALUE });
}

/* Below `inputs` of a step: what its tool takes. */
static bool complete_inputs(struct completion *completion, const struct yaml_path *mapping,
			    const struct siblings *siblings)
{
	const struct language_question *question = completion->question;
	size_t depth = mapping->depth;
	if (depth < 3 || !str_equal(mapping->at[depth - 1].key, S("inputs")))
		return false;
	struct declared_names names = workflow_names_read(question->text, question->arena);
	for (size_t i = 0; i < names.count; i++) {
		const struct declared_name *name = &names.at[i];
		if (name->kind != NAME_STEP || name->body.depth != depth - 1 ||
		    !yaml_path_shares(&name->body, mapping, depth - 1))
			continue;
		const struct json *tool =
			str_equal(name->caller, S("tool"))
				? lsp_catalog_find(question, LSP_TOOLS, name->calls)
				: NULL;
		offer_properties(completion, json_member(tool, S("parameters")), S(": "), siblings);
		return true;
	}
	return false;
}

static void complete(struct completion *completion, const struct yaml_cursor *cursor)
{
	const struct language_question *question = completion->question;
	struct definition_field field;
	enum name_kind kind;
	struct siblings siblings = { .mapping = &cursor->path, .line = question->at.line };
	if (workflow_names_kind_at(&cursor->path, &kind)) {
		offer_names(completion, kind, &cursor->path);
		return;
	}
	if (cursor->expects_key) {
		yaml_places_scan(question->text, gather_sibling, &siblings);
		if (complete_inputs(completion, &cursor->path, &siblings))
			return;
	}
	if (!definition_field_find(question->text, &cursor->path, &field) ||
	    field.shape == SHAPE_MAP)
		return;
	if (cursor->expects_key && field.type->kind == KIND_ENTITY && field.shape == SHAPE_ONE)
		offer_fields(completion, field.type, &siblings);
	else
		offer_enum(completion, field.type);
}

void language_complete(const struct language_question *question, struct json_writer *writer)
{
	struct completion completion = { .question = question, .writer = writer };
	struct yaml_cursor cursor;
	struct str line = str_head(text_line(question->text, question->at.line), question->at.byte);
	yaml_cursor_find(question->text, question->at.line, question->at.byte, &cursor);
	json_open(writer, '[');
	completion.word = cursor.word;
	completion.column = cursor.column;
	if (is_open(line) ||
	    (!cursor.expects_key && !cursor.in_text && workflow_names_expression_at(&cursor.path)))
		complete_expression(&completion, line, &cursor.path);
	else if (!cursor.in_text)
		complete(&completion, &cursor);
	json_close(writer, ']');
}
