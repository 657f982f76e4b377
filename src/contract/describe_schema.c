/* contract/describe_schema.c -- one type as JSON Schema 2020-12.
 *
 * Input and output differ: a field with a default may be absent from input and is always present in
 * output.  So a type has two schemas, X for output and X.Input for input, when it or a type that it
 * refers to differs between the two.
 *
 * Old names and values are accepted but not part of either schema; they are listed as x-oldName and
 * x-oldValues.  The texts of enum values are in x-enumDescriptions, those of hooks in x-rules.
 *
 * A schema for a model has no references to other documents and no keywords of our own, because
 * providers refuse both: other types are written in place, and the texts of enum values and hooks
 * stand in descriptions.
 */
#include "contract/describe.h"

#include "base/map.h"
#include "contract/contract_internal.h"

struct recursive_type {
	const struct type *type;
	struct recursive_type *next;
};

/* Types that are written in place.  A type that contains itself cannot be: its inner occurrence
 * refers to $defs. */
struct inlining {
	struct arena arena;
	struct map around;    /* the types around the place that is being written */
	struct map recursive; /* the types of the list */
	struct recursive_type *first, **last;
};

struct describer {
	struct json_writer *writer;
	struct str prefix;
	bool input;
	struct inlining *inlining; /* NULL = other types are references */
	bool file; /* what a file may contain: second names too, and only standard keywords */
};

/* ---- do the forms differ? -------------------------------------------------------------- */

static bool differs(const struct type *type, struct map *seen);

static bool field_differs(const struct field *field, struct map *seen)
{
	if (field_is_hook(field))
		return false;
	if (field->shape == SHAPE_CONST || field->presence == PRESENCE_DEFAULT ||
	    field->presence == PRESENCE_MADE || field->presence == PRESENCE_COMPUTED ||
	    field->presence == PRESENCE_NULLABLE)
		return true;
	return differs(field->of(), seen);
}

static bool differs(const struct type *type, struct map *seen)
{
	static char mark;
	if (!kind_is_pointed(type->kind) || map_get(seen, type->name) != NULL)
		return false;
	map_put(seen, type->name, &mark);
	for (size_t i = 0; i < type->case_count; i++)
		if (type->cases[i].of != NULL && differs(type->cases[i].of(), seen))
			return true;
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++)
		if (field_differs(field, seen))
			return true;
	return false;
}

bool describe_schema_differs(const struct type *type)
{
	AUTO(map) seen = { 0 };
	return differs(type, &seen);
}

/* ---- pieces ---------------------------------------------------------------------------- */

static void put(struct describer *to, struct str key, struct str value)
{
	json_key(to->writer, key);
	json_put_str(to->writer, value);
}

static void put_count(struct describer *to, struct str key, uint64_t count)
{
	if (count > INT64_MAX)
		return; /* unbounded */
	json_key(to->writer, key);
	json_put_int(to->writer, (int64_t)count);
}

static void add_sentence(struct buf *out, struct str text)
{
	if (out->size > 0 && text.size > 0)
		buf_add_char(out, ' ');
	buf_add(out, text);
}

/* A text followed by what has no keyword: the meanings of an enum's words, the rules of an entity. */
static void put_text_of(struct describer *to, const struct type *type, struct str text)
{
	AUTO(buf) all = { 0 };
	AUTO(arena) arena = { 0 };
	add_sentence(&all, text);
	for (size_t i = 0; type != NULL && type->kind == KIND_ENUM && i < type->word_count; i++)
		if (type->words[i].text.size > type->words[i].name.size + 1)
			add_sentence(&all, str_format(&arena, STR_FMT " = " STR_FMT,
						      STR_ARG(type->words[i].name),
						      STR_ARG(type->words[i].text)));
	if (type != NULL && type->kind == KIND_ENTITY)
		for (const struct field *field = type_fields(type); field->shape != SHAPE_END;
		     field++)
			if (field_is_hook(field))
				add_sentence(&all, field->text);
	if (all.size > 0)
		put(to, S("description"), buf_str(&all));
}

static void put_enum(struct describer *to, const struct type *type);
static void put_union(struct describer *to, const struct type *type);
static void put_entity(struct describer *to, const struct type *type, struct str tag,
		       struct str tag_value);

/* Writes a type into an object that is already open, without its description. */
static void put_in_place(struct describer *to, const struct type *type)
{
	struct inlining *inlining = to->inlining;
	static char mark;
	if (type->kind == KIND_ENUM) {
		put_enum(to, type);
		return;
	}
	if (map_get(&inlining->around, type->name) != NULL) {
		put(to, S("$ref"),
		    str_format(&inlining->arena, "#/$defs/" STR_FMT, STR_ARG(type->name)));
		if (map_get(&inlining->recursive, type->name) != NULL)
			return;
		map_put(&inlining->recursive, type->name, &mark);
		*inlining->last = arena_new(&inlining->arena, struct recursive_type);
		(*inlining->last)->type = type;
		inlining->last = &(*inlining->last)->next;
		return;
	}
	map_put(&inlining->around, type->name, &mark);
	if (type->kind == KIND_UNION)
		put_union(to, type);
	else
		put_entity(to, type, (struct str){ NULL, 0 }, (struct str){ NULL, 0 });
	map_remove(&inlining->around, type->name);
}

/* Writes `$ref`, or the type itself, into an object that is already open. */
static void put_reference(struct describer *to, const struct type *type)
{
	AUTO(arena) arena = { 0 };
	if (to->inlining != NULL) {
		put_in_place(to, type);
		return;
	}
	bool input = to->input && !to->file && describe_schema_differs(type);
	put(to, S("$ref"),
	    str_format(&arena, STR_FMT STR_FMT "%s", STR_ARG(to->prefix), STR_ARG(type->name),
		       input ? ".Input" : ""));
}

static struct str json_type(enum type_kind kind)
{
	switch (kind) {
	case KIND_INT:
		return S("integer");
	case KIND_REAL:
		return S("number");
	case KIND_BOOL:
		return S("boolean");
	case KIND_OBJECT:
	case KIND_ENTITY:
	case KIND_UNION:
		return S("object");
	case KIND_STR:
	case KIND_TIME:
	case KIND_UUID:
	case KIND_HASH:
	case KIND_SECRET:
	case KIND_ENUM:
	case KIND_ANY:
		break;
	}
	return S("string");
}

static void put_type(struct describer *to, struct str name, bool nullable)
{
	json_key(to->writer, S("type"));
	if (nullable)
		json_open(to->writer, '[');
	json_put_str(to->writer, name);
	if (nullable) {
		json_put_str(to->writer, S("null"));
		json_close(to->writer, ']');
	}
}

static void put_number_rules(struct describer *to, const struct field *field)
{
	if (field->has_low) {
		json_key(to->writer, field->above ? S("exclusiveMinimum") : S("minimum"));
		json_put_real(to->writer, field->low);
	}
	if (field->has_high) {
		json_key(to->writer, S("maximum"));
		json_put_real(to->writer, field->high);
	}
}

static void put_format(struct describer *to, enum type_kind kind)
{
	if (kind == KIND_TIME)
		put(to, S("format"), S("date-time"));
	else if (kind == KIND_UUID)
		put(to, S("format"), S("uuid"));
	else if (kind == KIND_HASH)
		put(to, S("pattern"), S("^[0-9a-fA-F]{64}$"));
	else if (kind == KIND_SECRET)
		put(to, S("pattern"), S("^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$"));
}

/* Writes the schema of a field, with the rules of its row, into an object that is already open. */
static void put_value(struct describer *to, const struct type *of, const struct field *field,
		      bool nullable)
{
	if (of->kind == KIND_ANY)
		return;
	if (kind_is_pointed(of->kind) || of->kind == KIND_ENUM) {
		if (!nullable) {
			put_reference(to, of);
			return;
		}
		json_key(to->writer, S("anyOf"));
		json_open(to->writer, '[');
		json_open(to->writer, '{');
		put_reference(to, of);
		json_close(to->writer, '}');
		json_open(to->writer, '{');
		put(to, S("type"), S("null"));
		json_close(to->writer, '}');
		json_close(to->writer, ']');
		return;
	}
	put_type(to, json_type(of->kind), nullable);
	put_format(to, of->kind);
	put_number_rules(to, field);
	if (field->has_length && field->shape == SHAPE_ONE) {
		put_count(to, S("minLength"), field->least);
		put_count(to, S("maxLength"), field->most);
	}
	if (field->pattern != NULL)
		put(to, S("pattern"), str_from_c(field->pattern));
}

static void put_many(struct describer *to, const struct type *of, const struct field *field,
		     bool nullable)
{
	bool map = field->shape == SHAPE_MAP;
	put_type(to, map ? S("object") : S("array"), nullable);
	json_key(to->writer, map ? S("additionalProperties") : S("items"));
	json_open(to->writer, '{');
	put_value(to, of, field, false);
	json_close(to->writer, '}');
	if (field->has_length) {
		put_count(to, map ? S("minProperties") : S("minItems"), field->least);
		put_count(to, map ? S("maxProperties") : S("maxItems"), field->most);
	}
	if (field->unique) {
		json_key(to->writer, S("uniqueItems"));
		json_put_bool(to->writer, true);
	}
}

static bool is_nullable(const struct field *field)
{
	return field->nullable || field->presence == PRESENCE_COMPUTED;
}

static void put_field(struct describer *to, const struct field *field, struct str name)
{
	json_key(to->writer, name);
	json_open(to->writer, '{');
	if (field->shape == SHAPE_CONST) {
		put(to, S("type"), S("string"));
		put(to, S("const"), field->constant);
	} else if (field->shape == SHAPE_ONE) {
		put_value(to, field->of(), field, is_nullable(field));
	} else {
		put_many(to, field->of(), field, is_nullable(field));
	}
	if (to->inlining != NULL)
		put_text_of(to, field->shape == SHAPE_CONST ? NULL : field->of(), field->text);
	else if (field->text.size > 0)
		put(to, S("description"), field->text);
	if (field->presence == PRESENCE_DEFAULT) {
		json_key(to->writer, S("default"));
		json_put_raw(to->writer, field->fallback);
	}
	if (field->presence == PRESENCE_COMPUTED) {
		json_key(to->writer, S("readOnly"));
		json_put_bool(to->writer, true);
	}
	if (field->deprecated) {
		json_key(to->writer, S("deprecated"));
		json_put_bool(to->writer, true);
	}
	if (field->alias.size > 0 && to->inlining == NULL && !to->file)
		put(to, S("x-oldName"), field->alias);
	json_close(to->writer, '}');
}

static bool is_required(const struct field *field, bool input, bool file)
{
	if (file && field->alias.size > 0)
		return false; /* it may have its second name */
	if (input)
		return field->presence == PRESENCE_REQUIRED && field->shape != SHAPE_CONST;
	return field->presence != PRESENCE_OPTIONAL;
}

/* ---- whole types ----------------------------------------------------------------------- */

static void put_required(struct describer *to, const struct type *type, struct str tag)
{
	bool open = false;
	if (tag.size > 0) {
		json_key(to->writer, S("required"));
		json_open(to->writer, '[');
		json_put_str(to->writer, tag);
		open = true;
	}
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++) {
		if (field_is_hook(field) || !is_required(field, to->input, to->file))
			continue;
		if (!open) {
			json_key(to->writer, S("required"));
			json_open(to->writer, '[');
			open = true;
		}
		json_put_str(to->writer, field->name);
	}
	if (open)
		json_close(to->writer, ']');
}

/* Rules that JSON Schema has no keyword for: the texts of the CHECK and COMPUTE rows. */
static void put_hooks(struct describer *to, const struct type *type)
{
	bool open = false;
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++) {
		if (!field_is_hook(field))
			continue;
		if (!open) {
			json_key(to->writer, S("x-rules"));
			json_open(to->writer, '[');
			open = true;
		}
		json_put_str(to->writer, field->text);
	}
	if (open)
		json_close(to->writer, ']');
}

/* ---- spellings of files ---------------------------------------------------------------- */
/* What a workflow file may contain besides the fields of its contract (definition/dialect_runtime.c). */

static bool is_step(const struct type *type)
{
	return str_equal(type->name, S("run.DefinitionStep"));
}

/* A number of retries in place of a policy. */
static void put_retry(struct describer *to, const struct field *field)
{
	json_key(to->writer, field->name);
	json_open(to->writer, '{');
	put(to, S("description"), field->text);
	json_key(to->writer, S("anyOf"));
	json_open(to->writer, '[');
	json_open(to->writer, '{');
	put_reference(to, field->of());
	json_close(to->writer, '}');
	json_put_raw(to->writer, S("{\"type\":\"integer\",\"minimum\":0}"));
	json_close(to->writer, ']');
	json_close(to->writer, '}');
	json_key(to->writer, S("max_retries"));
	json_put_raw(to->writer, S("{\"type\":\"integer\",\"minimum\":0,\"description\":"
				   "\"The same as retry: {max_retries: N}.\"}"));
}

/* Keys that are a place for anchors. */
static void put_ignored_keys(struct describer *to)
{
	json_key(to->writer, S("patternProperties"));
	json_put_raw(to->writer, S("{\"^(_|x-)\":{}}"));
}

/* ---- entities -------------------------------------------------------------------------- */

/* Writes an entity's schema into an open object.  `tag` is the tag of the union around it, for an
 * entity that does not have the tag among its own fields. */
static void put_entity(struct describer *to, const struct type *type, struct str tag,
		       struct str tag_value)
{
	put(to, S("type"), S("object"));
	if (type->text.size > 0 && to->inlining == NULL)
		put(to, S("description"), type->text);
	json_key(to->writer, S("properties"));
	json_open(to->writer, '{');
	if (tag.size > 0) {
		json_key(to->writer, tag);
		json_open(to->writer, '{');
		put(to, S("type"), S("string"));
		put(to, S("const"), tag_value);
		json_close(to->writer, '}');
	}
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++)
		if (to->file && is_step(type) && str_equal(field->name, S("retry")))
			put_retry(to, field);
		else if (!field_is_hook(field))
			put_field(to, field, field->name);
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++)
		if (to->file && !field_is_hook(field) && field->alias.size > 0)
			put_field(to, field, field->alias);
	json_close(to->writer, '}');
	put_required(to, type, tag);
	if (to->file && (is_step(type) || str_equal(type->name, S("run.Definition"))))
		put_ignored_keys(to);
	json_key(to->writer, S("additionalProperties"));
	json_put_bool(to->writer, type->openness != CONTRACT_CLOSED);
	if (to->inlining == NULL && !to->file)
		put_hooks(to, type);
}

static void put_case(struct describer *to, const struct type *type, size_t index)
{
	const struct union_case *one = &type->cases[index];
	json_open(to->writer, '{');
	if (one->of == NULL) {
		put(to, S("type"), S("object"));
	} else if (!type_ready(type)->tag_inside[index]) {
		put_entity(to, one->of(), type->tag, one->tag);
		json_close(to->writer, '}');
		return;
	} else {
		put_reference(to, one->of());
	}
	if (type->tag.size > 0) {
		json_key(to->writer, S("required"));
		json_open(to->writer, '[');
		json_put_str(to->writer, type->tag);
		json_close(to->writer, ']');
	}
	json_close(to->writer, '}');
}

static void put_union(struct describer *to, const struct type *type)
{
	if (type->text.size > 0 && to->inlining == NULL)
		put(to, S("description"), type->text);
	/* anyOf instead of oneOf: when a sibling field selects the case, a value can match several cases. */
	json_key(to->writer, S("anyOf"));
	json_open(to->writer, '[');
	for (size_t i = 0; i < type->case_count; i++)
		put_case(to, type, i);
	json_close(to->writer, ']');
}

static void put_enum(struct describer *to, const struct type *type)
{
	put(to, S("type"), S("string"));
	if (type->text.size > 0 && to->inlining == NULL)
		put(to, S("description"), type->text);
	json_key(to->writer, S("enum"));
	json_open(to->writer, '[');
	for (size_t i = 0; i < type->word_count; i++)
		json_put_str(to->writer, type->words[i].name);
	for (const struct enum_old *old = type->olds; to->file && old != NULL && old->name.size > 0;
	     old++)
		json_put_str(to->writer, old->name);
	json_close(to->writer, ']');
	if (to->inlining != NULL || to->file)
		return;
	json_key(to->writer, S("x-enumDescriptions"));
	json_open(to->writer, '{');
	for (size_t i = 0; i < type->word_count; i++)
		put(to, type->words[i].name, type->words[i].text);
	json_close(to->writer, '}');
	if (type->olds == NULL || type->olds[0].name.size == 0)
		return;
	json_key(to->writer, S("x-oldValues"));
	json_open(to->writer, '{');
	for (const struct enum_old *old = type->olds; old->name.size > 0; old++)
		put(to, old->name, type->words[old->value].name);
	json_close(to->writer, '}');
}

static void describe(struct describer *to, const struct type *type)
{
	static const struct field no_rules = { .shape = SHAPE_ONE };
	json_open(to->writer, '{');
	if (type->kind == KIND_ENTITY)
		put_entity(to, type, (struct str){ NULL, 0 }, (struct str){ NULL, 0 });
	else if (type->kind == KIND_UNION)
		put_union(to, type);
	else if (type->kind == KIND_ENUM)
		put_enum(to, type);
	else
		put_value(to, type, &no_rules, false);
	json_close(to->writer, '}');
}

void describe_schema(const struct type *type, struct str prefix, struct json_writer *writer)
{
	struct describer to = { .writer = writer, .prefix = prefix };
	describe(&to, type);
}

void describe_schema_input(const struct type *type, struct str prefix, struct json_writer *writer)
{
	struct describer to = { .writer = writer, .prefix = prefix, .input = true };
	describe(&to, type);
}

void describe_schema_file(const struct type *type, struct str prefix, struct json_writer *writer)
{
	struct describer to = { .writer = writer, .prefix = prefix, .input = true, .file = true };
	describe(&to, type);
}

void describe_schema_whole(const struct type *type, struct json_writer *writer)
{
	struct inlining inlining = { .last = &inlining.first };
	struct describer to = { .writer = writer, .input = true, .inlining = &inlining };
	require(type->kind == KIND_ENTITY);
	json_open(writer, '{');
	put_in_place(&to, type);
	put_text_of(&to, type, type->text);
	if (inlining.first != NULL) {
		json_key(writer, S("$defs"));
		json_open(writer, '{');
		/* A definition may add others to the list. */
		for (struct recursive_type *at = inlining.first; at != NULL; at = at->next) {
			json_key(writer, at->type->name);
			json_open(writer, '{');
			put_in_place(&to, at->type);
			put_text_of(&to, at->type, at->type->text);
			json_close(writer, '}');
		}
		json_close(writer, '}');
	}
	json_close(writer, '}');
	map_done(&inlining.around);
	map_done(&inlining.recursive);
	arena_done(&inlining.arena);
}
