/* Values from rows: each kind has one good value, and rules move it into their range. */
#include "generate.h"

#include <criterion/criterion.h>
#include <math.h>
#include <regex.h>
#include <string.h>

enum { DEPTH_MAX = 4 }; /* below it only what must be there: rows may refer to themselves */

struct maker {
	struct arena *arena;
	enum fullness fullness;
	unsigned depth;
};

/* ---- trees ------------------------------------------------------------------------------ */

struct json json_parse_own(struct str text, struct arena *arena)
{
	const struct json *json;
	struct error error;
	cr_assert(json_read(text, arena, &json, &error), STR_FMT ": %s", STR_ARG(text), error.text);
	return *json;
}

struct json json_string(struct str text)
{
	return (struct json){ .kind = JSON_STRING, .as.string = text };
}

struct json *json_with(const struct json *object, struct str key, const struct json *value,
		       struct arena *arena)
{
	struct json *copy = arena_new(arena, struct json);
	size_t count = object->as.object.count, next = 0;
	struct json_member *members = arena_array(arena, struct json_member, count + 1);
	bool found = false;
	for (size_t i = 0; i < count; i++) {
		const struct json_member *from = &object->as.object.at[i];
		bool same = str_equal(from->key, key);
		found = found || same;
		if (same && value == NULL)
			continue;
		members[next] = *from;
		if (same)
			members[next].value = *value;
		next++;
	}
	if (!found && value != NULL)
		members[next++] = (struct json_member){ .key = key, .value = *value };
	copy->kind = JSON_OBJECT;
	copy->as.object.at = members;
	copy->as.object.count = next;
	return copy;
}

/* ---- patterns --------------------------------------------------------------------------- */

bool pattern_fits(const char *pattern, struct str text, struct arena *arena)
{
	regex_t regex;
	cr_assert(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) == 0, "%s", pattern);
	bool fits = regexec(&regex, str_c(arena, text), 0, NULL, 0) == 0;
	regfree(&regex);
	return fits;
}

/* A text that fits: classes and letters in a row, each as often as its quantifier asks at least,
 * those with `*` or `+` more often when the text must be longer. */
static struct str fitting(const char *pattern, size_t least, struct arena *arena)
{
	for (size_t more = 0; more <= least; more++) {
		AUTO(buf) out = { 0 };
		for (const char *at = pattern; *at != '\0'; at++) {
			char letter = *at;
			if (letter == '^' || letter == '$')
				continue;
			if (letter == '(') { /* a group that may be absent */
				at = strstr(at, ")?");
				cr_assert(at != NULL, "%s", pattern);
				at++;
				continue;
			}
			if (letter == '[') {
				letter = at[1];
				at = strchr(at, ']');
				cr_assert(at != NULL, "%s", pattern);
			} else if (letter == '\\') {
				letter = *++at;
			}
			bool many = at[1] == '*' || at[1] == '+';
			size_t times = at[1] == '*' || at[1] == '?' ? 0 : 1;
			for (size_t i = 0; i < times + (many ? more : 0); i++)
				buf_add_char(&out, letter);
			if (many || at[1] == '?')
				at++;
		}
		struct str text = str_copy(arena, buf_str(&out));
		if (text.size >= least && pattern_fits(pattern, text, arena))
			return text;
	}
	cr_assert_fail("no text made for the pattern %s", pattern);
	return S("");
}

/* ---- values ----------------------------------------------------------------------------- */

static struct json *make_type(struct maker *maker, const struct type *type);

/* `number` tells items of one list apart. */
static struct str make_text(struct maker *maker, const struct field *field, size_t number)
{
	size_t least = field->has_length && field->shape == SHAPE_ONE ? (size_t)field->least : 0;
	if (field->pattern != NULL)
		return fitting(field->pattern, least + number, maker->arena);
	AUTO(buf) out = { 0 };
	buf_add_format(&out, "t%zu", number);
	while (out.size < least)
		buf_add_char(&out, 'x');
	size_t most =
		field->has_length && field->shape == SHAPE_ONE ? (size_t)field->most : out.size;
	return str_head(str_copy(maker->arena, buf_str(&out)), most);
}

static struct json make_number(const struct field *field, bool whole, size_t number)
{
	double value = 1;
	if (field->has_low)
		value = field->above ? (whole ? floor(field->low) + 1 : field->low + 0.5)
				     : (whole ? ceil(field->low) : field->low);
	else if (field->has_high && field->high < value)
		value = whole ? floor(field->high) : field->high;
	if (field->has_high && value > field->high)
		value = field->above ? (field->low + field->high) / 2 : field->high;
	value += (double)number;
	if (whole)
		return (struct json){ .kind = JSON_INT, .as.integer = (int64_t)value };
	return (struct json){ .kind = JSON_REAL, .as.real = value };
}

static struct json decision_value(struct maker *maker, const struct field *field, size_t number)
{
	const struct type *type = field->of();
	switch (type->kind) {
	case KIND_STR:
		return json_string(make_text(maker, field, number));
	case KIND_INT:
		return make_number(field, true, number);
	case KIND_REAL:
		return make_number(field, false, number);
	case KIND_BOOL:
		return (struct json){ .kind = JSON_BOOL, .as.boolean = true };
	case KIND_TIME:
		return json_string(S("2026-01-02T03:04:05Z"));
	case KIND_UUID:
		return json_string(S("0b6f7c52-7c1e-4d52-9a3e-5d1c2b3a4f50"));
	case KIND_HASH:
		return json_string(S("00112233445566778899aabbccddeeff"
				     "00112233445566778899aabbccddeeff"));
	case KIND_SECRET:
		return json_string(S("env:A_NAME"));
	case KIND_OBJECT:
		return json_parse_own(S("{\"a\":1}"), maker->arena);
	case KIND_ANY:
		return json_parse_own(S("[\"any\",{\"b\":2}]"), maker->arena);
	case KIND_ENUM:
		return json_string(type->words[number % type->word_count].name);
	case KIND_ENTITY:
	case KIND_UNION:
		return *make_type(maker, type);
	}
	return (struct json){ .kind = JSON_NULL };
}

/* A union in a list shows all its cases, as far as the list takes them. */
static size_t item_count(const struct maker *maker, const struct field *field)
{
	size_t count = field->has_length ? (size_t)field->least : 0;
	const struct type *type = field->of();
	if (maker->fullness == FULL && maker->depth <= DEPTH_MAX && count == 0)
		count = 1;
	if (maker->fullness == FULL && maker->depth <= DEPTH_MAX && type->kind == KIND_UNION &&
	    type->tag.size > 0 && field->shape == SHAPE_LIST && count < type->case_count)
		count = type->case_count;
	if (field->has_length && count > field->most)
		count = (size_t)field->most;
	return count;
}

static struct json *make_case(struct maker *maker, const struct type *type, size_t index);

static struct json make_item(struct maker *maker, const struct field *field, size_t number)
{
	const struct type *type = field->of();
	if (type->kind == KIND_UNION && type->tag.size > 0)
		return *make_case(maker, type, number % type->case_count);
	return decision_value(maker, field, number);
}

static struct json make_many(struct maker *maker, const struct field *field)
{
	size_t count = item_count(maker, field);
	if (field->shape == SHAPE_LIST) {
		struct json *items = arena_array(maker->arena, struct json, count);
		for (size_t i = 0; i < count; i++)
			items[i] = make_item(maker, field, i);
		return (struct json){ .kind = JSON_LIST, .as.list = { items, count } };
	}
	struct json_member *members = arena_array(maker->arena, struct json_member, count);
	for (size_t i = 0; i < count; i++) {
		members[i].key = str_format(maker->arena, "key%zu", i);
		members[i].value = make_item(maker, field, i);
	}
	return (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
}

static struct json make_field_value(struct maker *maker, const struct field *field)
{
	if (field->shape == SHAPE_CONST)
		return json_string(field->constant);
	return field->shape == SHAPE_ONE ? decision_value(maker, field, 0)
					 : make_many(maker, field);
}

/* ---- entities and unions ---------------------------------------------------------------- */

static const struct fix_up {
	const char *type, *members;
	enum fullness when;
} fix_ups[] = {
#define FIX_UP(type_, when_, members_) { type_, members_, when_ },
#include "fix_ups.def"
#undef FIX_UP
};

static struct json *fixed(struct maker *maker, const struct type *type, bool full,
			  struct json *value)
{
	for (size_t i = 0; i < COUNT(fix_ups); i++) {
		if (!str_equal(str_from_c(fix_ups[i].type), type->name) ||
		    (fix_ups[i].when == FULL) != full)
			continue;
		struct json more = json_parse_own(str_from_c(fix_ups[i].members), maker->arena);
		for (size_t j = 0; j < more.as.object.count; j++) {
			const struct json_member *member = &more.as.object.at[j];
			bool out = member->value.kind == JSON_NULL;
			value = json_with(value, member->key, out ? NULL : &member->value,
					  maker->arena);
		}
	}
	return value;
}

static bool is_wanted(const struct field *field, bool full)
{
	if (field_is_hook(field) || field->presence == PRESENCE_COMPUTED)
		return false;
	return full || (field->presence == PRESENCE_REQUIRED && field->shape != SHAPE_CONST);
}

static const struct field *field_called(const struct type *type, struct str name)
{
	const struct field *field = type_fields(type);
	while (field->shape != SHAPE_END && !str_equal(field->name, name))
		field++;
	return field->shape == SHAPE_END ? NULL : field;
}

/* A union told by a sibling: its first case, and the sibling says so (a CONST says its own). */
static struct json *with_told(struct maker *maker, const struct type *type,
			      const struct field *field, struct json *value)
{
	const struct type *of = field->of();
	const struct field *sibling = field_called(type, field->tag_in);
	size_t index = 0;
	cr_assert(sibling != NULL);
	if (sibling->shape == SHAPE_CONST)
		while (index + 1 < of->case_count &&
		       !str_equal(of->cases[index].tag, sibling->constant))
			index++;
	struct json inner = *make_type(maker, of->cases[index].of());
	struct json tag = json_string(of->cases[index].tag);
	struct json list = { .kind = JSON_LIST };
	list.as.list.at = arena_copy(maker->arena, &inner, sizeof(inner));
	list.as.list.count = 1;
	value = json_with(value, field->tag_in, &tag, maker->arena);
	return json_with(value, field->name, field->shape == SHAPE_LIST ? &list : &inner,
			 maker->arena);
}

static struct json *make_entity(struct maker *maker, const struct type *type)
{
	struct json *value = arena_new(maker->arena, struct json);
	bool full = maker->fullness == FULL && maker->depth <= DEPTH_MAX;
	struct maker inner = *maker;
	inner.depth++;
	value->kind = JSON_OBJECT;
	for (const struct field *field = type_fields(type); field->shape != SHAPE_END; field++) {
		if (!is_wanted(field, full))
			continue;
		if (field->tag_in.size > 0) {
			value = with_told(&inner, type, field, value);
			continue;
		}
		if (field_called(type, field->name) != field)
			continue;
		bool told = false; /* by a union beside it, already */
		for (size_t i = 0; i < value->as.object.count; i++)
			told = told || str_equal(value->as.object.at[i].key, field->name);
		struct json member = make_field_value(&inner, field);
		if (!told)
			value = json_with(value, field->name, &member, maker->arena);
	}
	return fixed(maker, type, full, value);
}

static struct json *make_case(struct maker *maker, const struct type *type, size_t index)
{
	const struct union_case *one = &type->cases[index];
	if (one->of == NULL) {
		struct json *other = arena_new(maker->arena, struct json);
		*other = json_parse_own(S("{\"more\":[1]}"), maker->arena);
		struct json tag = json_string(S("a tag that nobody knows"));
		return json_with(other, type->tag, &tag, maker->arena);
	}
	struct json *value = make_type(maker, one->of());
	if (type->tag.size == 0)
		return value;
	struct json tag = json_string(one->tag);
	return json_with(value, type->tag, &tag, maker->arena);
}

static struct json *make_type(struct maker *maker, const struct type *type)
{
	return type->kind == KIND_UNION ? make_case(maker, type, 0) : make_entity(maker, type);
}

/* ---- doors ------------------------------------------------------------------------------ */

struct json *generate(const struct type *type, enum fullness fullness, struct arena *arena)
{
	struct maker maker = { arena, fullness, 0 };
	return make_type(&maker, type);
}

struct json *generate_field(const struct field *field, enum fullness fullness, struct arena *arena)
{
	struct maker maker = { arena, fullness, 1 };
	struct json *value = arena_new(arena, struct json);
	*value = make_field_value(&maker, field);
	return value;
}

struct json *generate_case(const struct type *type, size_t index, enum fullness fullness,
			   struct arena *arena)
{
	struct maker maker = { arena, fullness, 0 };
	return make_case(&maker, type, index);
}
