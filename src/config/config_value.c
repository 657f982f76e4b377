/* config/config_value.c -- parses and checks the value of a setting.
 *
 * Text and YAML nodes give the same value, but a node must have the right YAML type (a port is a
 * number, not a string with digits), because a wrong type is usually a mistake.  Errors quote the
 * beginning of the wrong value, except of a secret.
 */
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "config/config.h"

static bool refuse(const struct config_row *row, struct str got, struct error *error)
{
	AUTO(buf) allowed = { 0 };
	config_allowed(row, &allowed);
	if (row->type == CONFIG_SECRET)
		return fail(error, ERROR_INVALID,
			    STR_FMT " must be " STR_FMT ", not the secret itself",
			    STR_ARG(row->name), STR_ARG(buf_str(&allowed)));
	return fail(error, ERROR_INVALID, STR_FMT " must be " STR_FMT ", not " STR_FMT,
		    STR_ARG(row->name), STR_ARG(buf_str(&allowed)),
		    STR_ARG(str_head(got, LIMIT_QUOTE_BYTES)));
}

static bool number_value(const struct config_row *row, int64_t number, struct str got,
			 struct arena *arena, struct config_value *value, struct error *error)
{
	if (number < row->least || number > row->most)
		return refuse(row, got, error);
	value->number = number;
	value->text = str_format(arena, "%lld", (long long)number).at;
	return true;
}

/* 90, 90s, 5m, 2h, 30d */
static bool seconds_of(struct str text, int64_t *out_seconds)
{
	static const struct {
		char letter;
		int64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
	int64_t factor = 1, number;
	for (size_t i = 0; i < COUNT(units) && text.size > 0; i++)
		if (text.at[text.size - 1] == units[i].letter) {
			factor = units[i].seconds;
			text.size--;
			break;
		}
	return str_to_int(text, &number) && !__builtin_mul_overflow(number, factor, out_seconds);
}

static bool bool_of(struct str text, bool *out_value)
{
	static const char *const words[2][4] = { { "false", "no", "off", "0" },
						 { "true", "yes", "on", "1" } };
	for (int value = 0; value < 2; value++)
		for (size_t i = 0; i < COUNT(words[value]); i++)
			if (str_equal(text, str_from_c(words[value][i]))) {
				*out_value = value == 1;
				return true;
			}
	return false;
}

static void set_bool(struct config_value *value, bool yes)
{
	value->number = yes;
	value->text = yes ? "true" : "false";
}

static bool is_choice(struct str choices, struct str text)
{
	struct str word;
	while (str_cut(&choices, '|', &word))
		if (str_equal(word, text))
			return true;
	return false;
}

static void set_list(struct config_value *value, struct str_list list, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	for (size_t i = 0; i < list.count; i++)
		buf_add_format(&text, "%s" STR_FMT, i == 0 ? "" : ", ", STR_ARG(list.at[i]));
	value->list = list;
	value->text = str_c(arena, buf_str(&text));
}

/* An item must not contain a comma, which separates items in environment variables and flags. */
static bool is_item(struct str item)
{
	size_t at;
	return item.size > 0 && !str_find(item, S(","), &at);
}

static void list_of(struct str text, struct arena *arena, struct config_value *value)
{
	size_t room = 1;
	for (size_t i = 0; i < text.size; i++)
		room += text.at[i] == ',';
	struct str *items = arena_array(arena, struct str, room);
	struct str_list list = { items, 0 };
	struct str item;
	while (str_cut(&text, ',', &item))
		if (str_trim(item).size > 0)
			items[list.count++] = str_copy(arena, str_trim(item));
	set_list(value, list, arena);
}

static bool path_of(const struct config_row *row, const char *user_home, struct str text,
		    struct arena *arena, struct config_value *value, struct error *error)
{
	bool at_home = str_equal(text, S("~")) || str_starts(text, S("~/"));
	if (at_home && user_home == NULL)
		return fail(error, ERROR_USAGE, STR_FMT " is " STR_FMT ", but HOME is not set",
			    STR_ARG(row->name), STR_ARG(text));
	value->text =
		at_home ? str_format(arena, "%s" STR_FMT, user_home, STR_ARG(str_skip(text, 1))).at
			: str_c(arena, text);
	return true;
}

static bool is_reference(struct str text)
{
	return (str_starts(text, S("env:")) && text.size > 4) ||
	       (str_starts(text, S("file:")) && text.size > 5);
}

/* Control characters are refused because values are used in headers, log lines and arguments. */
static bool is_plain(struct str text)
{
	size_t bad;
	for (size_t i = 0; i < text.size; i++)
		if ((unsigned char)text.at[i] < 0x20 || text.at[i] == 0x7F)
			return false;
	return utf8_valid(text, &bad);
}

bool config_value_of_text(const struct config_row *row, const char *user_home, const char *text,
			  struct arena *arena, struct config_value *out_value, struct error *error)
{
	struct config_value value = { 0 };
	struct str given = str_from_c(text);
	int64_t number;
	bool yes;
	if (!is_plain(given))
		return fail(error, ERROR_INVALID,
			    STR_FMT " contains control characters or is not UTF-8",
			    STR_ARG(row->name));
	if (given.size == 0 && row->fallback[0] != '\0' && row->type != CONFIG_LIST)
		return refuse(row, S("empty"), error);
	value.text = str_c(arena, given);
	switch (row->type) {
	case CONFIG_TEXT:
	case CONFIG_SECRET:
		break;
	case CONFIG_PATH:
		if (!path_of(row, user_home, given, arena, &value, error))
			return false;
		break;
	case CONFIG_PORT:
	case CONFIG_INT:
		if (!str_to_int(given, &number))
			return refuse(row, given, error);
		if (!number_value(row, number, given, arena, &value, error))
			return false;
		break;
	case CONFIG_SECONDS:
		if (!seconds_of(given, &number))
			return refuse(row, given, error);
		if (!number_value(row, number, given, arena, &value, error))
			return false;
		break;
	case CONFIG_BOOL:
		if (!bool_of(given, &yes))
			return refuse(row, given, error);
		set_bool(&value, yes);
		break;
	case CONFIG_CHOICE:
		if (!is_choice(row->choices, given))
			return refuse(row, given, error);
		break;
	case CONFIG_LIST:
		list_of(given, arena, &value);
		break;
	}
	*out_value = value;
	return true;
}

/* Describes a node for an error message that ends with "not ...". */
static struct str describe_node(const struct json *json, struct arena *arena)
{
	if (json->kind == JSON_LIST)
		return S("a list");
	if (json->kind == JSON_OBJECT)
		return S("a mapping");
	if (json->kind == JSON_NULL)
		return S("nothing");
	return json_print(arena, json);
}

static bool list_of_json(const struct config_row *row, const struct json *json, struct arena *arena,
			 struct config_value *value, struct error *error)
{
	struct str *items = arena_array(arena, struct str, json->as.list.count);
	for (size_t i = 0; i < json->as.list.count; i++) {
		const struct json *item = json_item(json, i);
		items[i] = json_text(item);
		if (item->kind != JSON_STRING || !is_item(items[i]) || !is_plain(items[i])) {
			fail(error, ERROR_INVALID,
			     STR_FMT " must be a list of strings without commas, not " STR_FMT,
			     STR_ARG(row->name),
			     STR_ARG(str_head(describe_node(item, arena), LIMIT_QUOTE_BYTES)));
			error->line = item->line;
			error->column = item->column;
			return false;
		}
	}
	set_list(value, (struct str_list){ items, json->as.list.count }, arena);
	return true;
}

bool config_value_of_json(const struct config_row *row, const char *user_home,
			  const struct json *json, struct arena *arena,
			  struct config_value *out_value, struct error *error)
{
	struct config_value value = { 0 };
	bool numeric =
		row->type == CONFIG_PORT || row->type == CONFIG_INT || row->type == CONFIG_SECONDS;
	if (json->kind == JSON_INT && numeric) {
		if (!number_value(row, json->as.integer, describe_node(json, arena), arena, &value,
				  error))
			return false;
		*out_value = value;
		return true;
	}
	if (json->kind == JSON_BOOL && row->type == CONFIG_BOOL) {
		set_bool(&value, json->as.boolean);
		*out_value = value;
		return true;
	}
	if (json->kind == JSON_LIST && row->type == CONFIG_LIST) {
		if (!list_of_json(row, json, arena, &value, error))
			return false;
		*out_value = value;
		return true;
	}
	bool takes_text = row->type != CONFIG_PORT && row->type != CONFIG_INT;
	if (json->kind != JSON_STRING || !takes_text ||
	    (row->type == CONFIG_SECRET && !is_reference(json->as.string)))
		return refuse(row, describe_node(json, arena), error);
	size_t nul;
	if (str_find(json->as.string, S("\0"), &nul))
		return refuse(row, S("a string with a NUL byte"), error);
	return config_value_of_text(row, user_home, str_c(arena, json->as.string), arena, out_value,
				    error);
}
