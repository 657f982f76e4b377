/* contract/parse_value.c -- parses scalars and enum words, and checks the rules of their rows. */
#include "contract/contract_internal.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/time.h"
#include "base/utf8.h"

bool parse_wrong(struct parse *parse, const struct path *path, const struct json *json,
		 const char *expected)
{
	if (problem_hide(parse))
		return false;
	struct str said = json_said(parse->arena, json);
	problem_add(parse, path, place_of(json), "must be %s, got " STR_FMT, expected,
		    STR_ARG(said));
	return false;
}

/* ---- numbers --------------------------------------------------------------------------- */

static bool number_in_range(struct parse *parse, const struct path *path, const struct field *field,
			    const struct json *json, double number)
{
	const char *words = NULL;
	double bound = 0;
	if (field->has_low && field->above && number <= field->low) {
		words = "above";
		bound = field->low;
	} else if (field->has_low && number < field->low) {
		words = "at least";
		bound = field->low;
	} else if (field->has_high && number > field->high) {
		words = "at most";
		bound = field->high;
	} else {
		return true;
	}
	if (problem_hide(parse))
		return false;
	struct str got = json_print(parse->arena, json);
	problem_add(parse, path, place_of(json), "must be %s %.15g, got " STR_FMT, words, bound,
		    STR_ARG(got));
	return false;
}

/* 5.0 and 1e3 are whole numbers too.  Beyond 2^53 a double cannot represent every integer. */
static bool whole_number(const struct json *json, int64_t *out)
{
	const double exact = 9007199254740992.0;
	if (json->kind == JSON_INT) {
		*out = json->as.integer;
		return true;
	}
	if (json->kind != JSON_REAL || !(json->as.real >= -exact && json->as.real <= exact) ||
	    floor(json->as.real) != json->as.real)
		return false;
	*out = (int64_t)json->as.real;
	return true;
}

static bool parse_int(struct parse *parse, const struct path *path, struct rules rules,
		      const struct json *json, void *out)
{
	int64_t number;
	if (!whole_number(json, &number))
		return parse_wrong(parse, path, json, "a whole number");
	memcpy(out, &number, sizeof(number));
	return rules.field == NULL ||
	       number_in_range(parse, path, rules.field, json, (double)number);
}

static bool parse_real(struct parse *parse, const struct path *path, struct rules rules,
		       const struct json *json, void *out)
{
	if (!json_is_number(json))
		return parse_wrong(parse, path, json, "a number");
	double number = json_real(json);
	number += 0.0; /* -0 is stored as 0, because an integer has no minus zero */
	memcpy(out, &number, sizeof(number));
	return rules.field == NULL || number_in_range(parse, path, rules.field, json, number);
}

/* ---- text ------------------------------------------------------------------------------ */

/* regexec needs a C string, so a text that contains a NUL byte never matches. */
static bool matches(struct parse *parse, const regex_t *pattern, struct str s)
{
	char few[256];
	const char *text = few;
	if (s.size > LIMIT_PATTERN_BYTES || (s.size > 0 && memchr(s.at, '\0', s.size) != NULL))
		return false;
	if (s.size < sizeof(few)) {
		if (s.size > 0)
			memcpy(few, s.at, s.size);
		few[s.size] = '\0';
	} else {
		text = str_c(parse->arena, s);
	}
	return regexec(pattern, text, 0, NULL, 0) == 0;
}

static bool bad_length(struct parse *parse, const struct path *path, const struct field *field,
		       const struct json *json, size_t count, const char *things)
{
	if (count < field->least)
		problem_add(parse, path, place_of(json),
			    "must have at least %" PRIu64 " %s, got %zu", field->least, things,
			    count);
	else
		problem_add(parse, path, place_of(json),
			    "must have at most %" PRIu64 " %s, got %zu", field->most, things,
			    count);
	return false;
}

static bool length_is_wrong(const struct field *field, size_t count)
{
	return field->has_length && (count < field->least || count > field->most);
}

bool parse_length(struct parse *parse, const struct path *path, const struct field *field,
		  const struct json *json, size_t count)
{
	return !length_is_wrong(field, count) ||
	       bad_length(parse, path, field, json, count, "items");
}

static bool parse_str(struct parse *parse, const struct path *path, struct rules rules,
		      const struct json *json, void *out)
{
	if (json->kind != JSON_STRING)
		return parse_wrong(parse, path, json, "a string");
	struct str text = json->as.string;
	memcpy(out, &text, sizeof(text));
	/* LENGTH of a list or map counts its items, not their characters. */
	if (rules.field != NULL && rules.field->has_length && rules.field->shape == SHAPE_ONE) {
		size_t count = utf8_count(text);
		if (length_is_wrong(rules.field, count))
			return bad_length(parse, path, rules.field, json, count, "characters");
	}
	if (rules.pattern == NULL || matches(parse, rules.pattern, text))
		return true;
	if (problem_hide(parse))
		return false;
	struct str said = quoted(parse->arena, text);
	problem_add(parse, path, place_of(json), STR_FMT " does not match %s", STR_ARG(said),
		    rules.field->pattern);
	return false;
}

static bool name_is_variable(struct str name)
{
	for (size_t i = 0; i < name.size; i++) {
		char c = name.at[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
		if (!letter && (i == 0 || c < '0' || c > '9'))
			return false;
	}
	return name.size > 0;
}

/* An invalid value may be the secret itself, so the problem does not quote it. */
static bool parse_secret(struct parse *parse, const struct path *path, const struct json *json,
			 void *out)
{
	struct secret secret = { json_text(json) };
	struct str text = secret.reference;
	bool good = json->kind == JSON_STRING &&
		    ((str_starts(text, S("env:")) && name_is_variable(str_skip(text, 4))) ||
		     (str_starts(text, S("file:")) && text.size > 5));
	memcpy(out, &secret, sizeof(secret));
	if (!good)
		problem_add(parse, path, place_of(json),
			    "must be a reference to the secret, \"env:NAME\" or \"file:path\", "
			    "not the secret itself");
	return good;
}

static bool parse_time(struct parse *parse, const struct path *path, const struct json *json,
		       void *out)
{
	int64_t us;
	if (json->kind != JSON_STRING || !time_parse(json->as.string, &us))
		return parse_wrong(parse, path, json, "a time such as \"2026-01-31T09:30:00Z\"");
	memcpy(out, &us, sizeof(us));
	return true;
}

static bool parse_uuid(struct parse *parse, const struct path *path, const struct json *json,
		       void *out)
{
	struct uuid uuid;
	if (json->kind != JSON_STRING || !uuid_parse(json->as.string, &uuid))
		return parse_wrong(parse, path, json, "a UUID");
	memcpy(out, &uuid, sizeof(uuid));
	return true;
}

static bool parse_hash(struct parse *parse, const struct path *path, const struct json *json,
		       void *out)
{
	struct hash hash;
	if (json->kind != JSON_STRING || !hash_parse(json->as.string, &hash))
		return parse_wrong(parse, path, json, "a SHA-256 hash of 64 hex digits");
	memcpy(out, &hash, sizeof(hash));
	return true;
}

/* ---- enums ----------------------------------------------------------------------------- */

static struct str words_text(struct arena *arena, const struct type *type)
{
	enum { SHOWN = 16 };
	AUTO(buf) buf = { 0 };
	for (size_t i = 0; i < type->word_count && i < SHOWN; i++) {
		buf_add(&buf, i == 0 ? S("") : S(", "));
		buf_add(&buf, type->words[i].name);
	}
	if (type->word_count > SHOWN)
		buf_add_format(&buf, " (and %zu more)", type->word_count - SHOWN);
	return str_copy(arena, buf_str(&buf));
}

static bool parse_enum(struct parse *parse, const struct path *path, const struct type *type,
		       const struct json *json, void *out)
{
	uint32_t value =
		UINT32_MAX; /* out of range: a TAG_IN field checks this to see that its sibling is invalid */
	bool known = json->kind == JSON_STRING && contract_word_find(type, json->as.string, &value);
	memcpy(out, &value, sizeof(value));
	if (known)
		return true;
	if (problem_hide(parse))
		return false;
	struct str words = words_text(parse->arena, type);
	if (json->kind != JSON_STRING) {
		struct str said = json_said(parse->arena, json);
		problem_add(parse, path, place_of(json), "must be one of " STR_FMT ", got " STR_FMT,
			    STR_ARG(words), STR_ARG(said));
		return false;
	}
	struct str said = quoted(parse->arena, json->as.string);
	struct str near = ready_closest(type_ready(type), json->as.string);
	struct problem *problem =
		near.size > 0 ? problem_add(parse, path, place_of(json),
					    STR_FMT " is not one of " STR_FMT
						    "; did you mean \"" STR_FMT "\"?",
					    STR_ARG(said), STR_ARG(words), STR_ARG(near))
			      : problem_add(parse, path, place_of(json),
					    STR_FMT " is not one of " STR_FMT, STR_ARG(said),
					    STR_ARG(words));
	problem_suggest(problem, json->as.string, near);
	return false;
}

bool parse_leaf(struct parse *parse, const struct path *path, const struct type *type,
		struct rules rules, const struct json *json, void *out)
{
	switch (type->kind) {
	case KIND_STR:
		return parse_str(parse, path, rules, json, out);
	case KIND_INT:
		return parse_int(parse, path, rules, json, out);
	case KIND_REAL:
		return parse_real(parse, path, rules, json, out);
	case KIND_BOOL:
		if (json->kind != JSON_BOOL)
			return parse_wrong(parse, path, json, "true or false");
		memcpy(out, &json->as.boolean, sizeof(bool));
		return true;
	case KIND_TIME:
		return parse_time(parse, path, json, out);
	case KIND_UUID:
		return parse_uuid(parse, path, json, out);
	case KIND_HASH:
		return parse_hash(parse, path, json, out);
	case KIND_SECRET:
		return parse_secret(parse, path, json, out);
	case KIND_OBJECT:
		if (json->kind != JSON_OBJECT)
			return parse_wrong(parse, path, json, "an object");
		memcpy(out, &json, sizeof(json));
		return true;
	case KIND_ANY:
		memcpy(out, &json, sizeof(json));
		return true;
	case KIND_ENUM:
		return parse_enum(parse, path, type, json, out);
	case KIND_ENTITY:
	case KIND_UNION:
		break;
	}
	require(!kind_is_pointed(type->kind));
	return false;
}

/* ---- UNIQUE ---------------------------------------------------------------------------- */

/* The text by which two items are compared: the string itself, or the printed value. */
static struct str item_key(struct parse *parse, const struct type *type, const void *item)
{
	if (type->kind == KIND_STR) {
		struct str text;
		memcpy(&text, item, sizeof(text));
		return text;
	}
	return contract_text(type, item, parse->arena);
}

void parse_unique(struct parse *parse, const struct path *path, const struct type *type,
		  const struct json *json, const void *items)
{
	enum { FEW = 32 };
	struct str few[FEW];
	AUTO(map) seen = { 0 };
	size_t count = json->as.list.count;
	for (size_t i = 0; i < count; i++) {
		struct str key = item_key(parse, type, (const char *)items + i * type->size);
		bool twice = false;
		if (count > FEW) {
			twice = map_get(&seen, key) != NULL;
			map_put(&seen, key, parse);
		} else {
			for (size_t j = 0; j < i && !twice; j++)
				twice = str_equal(few[j], key);
			few[i] = key;
		}
		if (twice) {
			struct path item = path_index(path, i);
			problem_add(parse, &item, place_of(&json->as.list.at[i]),
				    "is listed twice");
		}
	}
}

/* ---- GENERATED ------------------------------------------------------------------------------ */

void make_field(const struct field *field, void *value, struct arena *arena,
		const struct contract_world *world)
{
	void *out = member_of(value, field);
	mark_write(value, field, GIVEN);
	if (field->making == CONTRACT_MAKE_now) {
		memcpy(out, &world->now, sizeof(world->now));
		return;
	}
	uint8_t dice[16];
	world->random(world->context, dice, sizeof(dice));
	struct uuid uuid = uuid_from_random(dice);
	if (field->of()->kind == KIND_UUID) {
		memcpy(out, &uuid, sizeof(uuid));
		return;
	}
	char text[UUID_TEXT_SIZE], digits[33];
	struct str id = uuid_text(&uuid, text);
	if (field->making == CONTRACT_MAKE_uuid_hex) {
		size_t count = 0;
		for (size_t i = 0; i < id.size; i++)
			if (id.at[i] != '-')
				digits[count++] = id.at[i];
		id = (struct str){ digits, count };
	}
	struct str made = str_format(arena, STR_FMT STR_FMT, STR_ARG(field->prefix), STR_ARG(id));
	memcpy(out, &made, sizeof(made));
}
