/* template/jinja_value.c -- values: reading JSON, printing, equality, order, items.
 *
 * Values behave as Python's: True is 1, a tuple is not a list, a string prints with quotes inside of a
 * list.  Everything that walks a value counts steps.
 */
#include "base/utf8.h"
#include "template/jinja_render.h"

struct value jinja_value_of_json(struct renderer *r, const struct json *json)
{
	struct value value = { .kind = VALUE_NONE };
	switch (json->kind) {
	case JSON_NULL:
		break;
	case JSON_BOOL:
		return jinja_value_bool(json->as.boolean);
	case JSON_INT:
		return jinja_value_int(json->as.integer);
	case JSON_REAL:
		return jinja_value_real(json->as.real);
	case JSON_STRING:
		return jinja_value_string(json->as.string);
	case JSON_LIST:
		value.kind = VALUE_SEQUENCE;
		value.as.sequence = arena_new(r->arena, struct sequence);
		value.as.sequence->json = json;
		value.as.sequence->count = json->as.list.count;
		break;
	case JSON_OBJECT:
		value.kind = VALUE_MAPPING;
		value.as.mapping = arena_new(r->arena, struct mapping);
		value.as.mapping->json = json;
		value.as.mapping->count = json->as.object.count;
		break;
	}
	return value;
}

struct value jinja_value_item(struct renderer *r, const struct sequence *sequence, size_t index)
{
	return sequence->json != NULL ? jinja_value_of_json(r, &sequence->json->as.list.at[index])
				      : sequence->at[index];
}

void jinja_value_entry(struct renderer *r, const struct mapping *mapping, size_t index,
		       struct entry *out)
{
	if (mapping->json == NULL) {
		*out = mapping->at[index];
		return;
	}
	const struct json_member *member = &mapping->json->as.object.at[index];
	*out = (struct entry){ jinja_value_string(member->key),
			       jinja_value_of_json(r, &member->value) };
}

/* ---- kinds ------------------------------------------------------------------------------- */

const char *jinja_value_kind_name(struct value value)
{
	switch (value.kind) {
	case VALUE_UNDEFINED:
		return "an undefined value";
	case VALUE_NONE:
		return "none";
	case VALUE_BOOL:
		return "a boolean";
	case VALUE_INT:
		return "an integer";
	case VALUE_REAL:
		return "a number with a fraction";
	case VALUE_STRING:
		return "a string";
	case VALUE_SEQUENCE:
		return value.as.sequence->flavor == SEQUENCE_TUPLE ? "a tuple" : "a list";
	case VALUE_MAPPING:
		return "a mapping";
	case VALUE_NAMESPACE:
		return "a namespace";
	case VALUE_MACRO:
		return "a macro";
	case VALUE_LOOP:
		return "a loop";
	case VALUE_FUNCTION:
		break;
	}
	return "a function";
}

bool jinja_value_is_whole(struct value value)
{
	return value.kind == VALUE_INT || value.kind == VALUE_BOOL;
}

bool jinja_value_is_number(struct value value)
{
	return jinja_value_is_whole(value) || value.kind == VALUE_REAL;
}

int64_t jinja_value_whole(struct value value)
{
	return value.kind == VALUE_BOOL ? value.as.boolean : value.as.integer;
}

double jinja_value_as_real(struct value value)
{
	return value.kind == VALUE_REAL ? value.as.real : (double)jinja_value_whole(value);
}

bool jinja_value_has_items(struct value value)
{
	return value.kind == VALUE_SEQUENCE || value.kind == VALUE_MAPPING ||
	       value.kind == VALUE_STRING || value.kind == VALUE_UNDEFINED;
}

static bool fail_undefined(struct renderer *r, struct value value)
{
	return jinja_fail(r, STR_FMT " is undefined", STR_ARG(value.as.string));
}

static bool check_defined(struct renderer *r, struct value value)
{
	return value.kind != VALUE_UNDEFINED || value.safe || !r->options->strict ||
	       fail_undefined(r, value);
}

bool jinja_value_true(struct renderer *r, struct value value, bool *out)
{
	switch (value.kind) {
	case VALUE_UNDEFINED:
		*out = false;
		return check_defined(r, value);
	case VALUE_NONE:
		*out = false;
		return true;
	case VALUE_BOOL:
	case VALUE_INT:
		*out = jinja_value_whole(value) != 0;
		return true;
	case VALUE_REAL:
		*out = value.as.real < 0 || value.as.real > 0;
		return true;
	case VALUE_STRING:
		*out = value.as.string.size > 0;
		return true;
	case VALUE_SEQUENCE:
		*out = value.as.sequence->count > 0 ||
		       value.as.sequence->flavor == SEQUENCE_GENERATOR;
		return true;
	case VALUE_MAPPING:
		*out = value.as.mapping->count > 0;
		return true;
	case VALUE_NAMESPACE:
	case VALUE_MACRO:
	case VALUE_LOOP:
	case VALUE_FUNCTION:
		break;
	}
	*out = true;
	return true;
}

/* ---- printing ---------------------------------------------------------------------------- */

static bool is_printable(uint32_t c)
{
	return c >= 0x20 && (c < 0x7F || c > 0xA0) && c != 0xAD && !(c >= 0x200B && c <= 0x200F) &&
	       !(c >= 0x2028 && c <= 0x202E) && !(c >= 0xE000 && c <= 0xF8FF) && c != 0xFEFF &&
	       !(c > 0x20 && jinja_text_is_space(c)) && !(c >= 0x2060 && c <= 0x206F);
}

static void repr_string(struct str text, struct buf *out)
{
	size_t at;
	char quote = str_find(text, S("'"), &at) && !str_find(text, S("\""), &at) ? '"' : '\'';
	uint32_t c;
	buf_add_char(out, quote);
	for (size_t size; (size = utf8_decode(text, &c)) > 0; text = str_skip(text, size)) {
		if (c == '\\' || c == (uint32_t)quote)
			buf_add_format(out, "\\%c", (int)c);
		else if (c == '\n' || c == '\r' || c == '\t')
			buf_add(out, c == '\n' ? S("\\n") : c == '\r' ? S("\\r") : S("\\t"));
		else if (is_printable(c))
			buf_add(out, str_head(text, size));
		else if (c < 0x100)
			buf_add_format(out, "\\x%02x", c);
		else if (c < 0x10000)
			buf_add_format(out, "\\u%04x", c);
		else
			buf_add_format(out, "\\U%08x", c);
	}
	buf_add_char(out, quote);
}

static bool repr_sequence(struct renderer *r, struct sequence *sequence, struct buf *out)
{
	static const char *const begins[] = { "[",           "(",           "range(",
					      "[",           "dict_keys([", "dict_values([",
					      "dict_items([" };
	static const char *const ends[] = { "]", ")", ")", "]", "])", "])", "])" };
	buf_add(out, str_from_c(begins[sequence->flavor]));
	if (sequence->flavor == SEQUENCE_RANGE) {
		buf_add_format(out, "%lld, %lld", (long long)sequence->start,
			       (long long)sequence->stop);
		if (sequence->stride != 1)
			buf_add_format(out, ", %lld", (long long)sequence->stride);
	} else {
		for (size_t i = 0; i < sequence->count; i++) {
			buf_add(out, i == 0 ? S("") : S(", "));
			if (!jinja_value_repr(r, jinja_value_item(r, sequence, i), out))
				return false;
		}
		if (sequence->flavor == SEQUENCE_TUPLE && sequence->count == 1)
			buf_add_char(out, ',');
	}
	buf_add(out, str_from_c(ends[sequence->flavor]));
	return true;
}

static bool repr_mapping(struct renderer *r, const struct mapping *mapping, struct buf *out)
{
	buf_add_char(out, '{');
	for (size_t i = 0; i < mapping->count; i++) {
		struct entry entry;
		jinja_value_entry(r, mapping, i, &entry);
		buf_add(out, i == 0 ? S("") : S(", "));
		if (!jinja_value_repr(r, entry.key, out))
			return false;
		buf_add(out, S(": "));
		if (!jinja_value_repr(r, entry.value, out))
			return false;
	}
	buf_add_char(out, '}');
	return true;
}

static bool repr(struct renderer *r, struct value value, struct buf *out)
{
	switch (value.kind) {
	case VALUE_UNDEFINED:
		buf_add(out, S("Undefined"));
		return true;
	case VALUE_NONE:
		buf_add(out, S("None"));
		return true;
	case VALUE_BOOL:
		buf_add(out, value.as.boolean ? S("True") : S("False"));
		return true;
	case VALUE_INT:
		buf_add_format(out, "%lld", (long long)value.as.integer);
		return true;
	case VALUE_REAL:
		jinja_real_text(value.as.real, out);
		return true;
	case VALUE_STRING:
		if (value.safe)
			buf_add(out, S("Markup("));
		repr_string(value.as.string, out);
		if (value.safe)
			buf_add_char(out, ')');
		return true;
	case VALUE_SEQUENCE:
		return repr_sequence(r, value.as.sequence, out);
	case VALUE_MAPPING:
		return repr_mapping(r, value.as.mapping, out);
	case VALUE_NAMESPACE:
		buf_add(out, S("<Namespace "));
		if (!repr_mapping(r, value.as.mapping, out))
			return false;
		buf_add_char(out, '>');
		return true;
	case VALUE_MACRO:
		buf_add(out, S("<Macro "));
		repr_string(value.as.macro->node->name, out);
		buf_add_char(out, '>');
		return true;
	case VALUE_LOOP:
		buf_add_format(out, "<LoopContext %zu/%zu>", value.as.loop->index + 1,
			       value.as.loop->items->count);
		return true;
	case VALUE_FUNCTION:
		break;
	}
	buf_add(out, S("<function>"));
	return true;
}

bool jinja_value_repr(struct renderer *r, struct value value, struct buf *out)
{
	if (!jinja_work(r, 1))
		return false;
	if (++r->depth > LIMIT_TEMPLATE_DEPTH)
		return jinja_fail(r, "the value is nested too deep to be printed");
	size_t before = out->size;
	bool good = repr(r, value, out) && jinja_work(r, (out->size - before) / 64);
	r->depth--;
	return good && (!out->full || jinja_fail(r, "the text is larger than %d bytes",
						 LIMIT_TEMPLATE_OUTPUT_BYTES));
}

bool jinja_value_print(struct renderer *r, struct value value, struct buf *out)
{
	if (value.kind == VALUE_UNDEFINED)
		return check_defined(r, value);
	if (value.kind != VALUE_STRING)
		return jinja_value_repr(r, value, out);
	buf_add(out, value.as.string);
	if (out->full)
		return jinja_fail(r, "the text is larger than %d bytes",
				  LIMIT_TEMPLATE_OUTPUT_BYTES);
	return jinja_work(r, value.as.string.size / 64);
}

bool jinja_value_text(struct renderer *r, struct value value, struct str *out)
{
	struct value copy;
	AUTO(buf) text = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
	if (value.kind == VALUE_STRING) {
		*out = value.as.string;
		return true;
	}
	if (!jinja_value_print(r, value, &text) || !jinja_copy(r, &text, &copy))
		return false;
	*out = copy.as.string;
	return true;
}

/* ---- equality and order --------------------------------------------------------------------- */

static bool equal_sequences(struct renderer *r, const struct sequence *a, const struct sequence *b,
			    bool *out)
{
	*out = a == b ||
	       (a->flavor == b->flavor && a->count == b->count && a->flavor != SEQUENCE_GENERATOR);
	for (size_t i = 0; a != b && *out && i < a->count; i++)
		if (!jinja_value_equal(r, jinja_value_item(r, a, i), jinja_value_item(r, b, i),
				       out))
			return false;
	return true;
}

bool jinja_value_find(struct renderer *r, const struct mapping *mapping, struct value key,
		      struct value *out)
{
	if (mapping->json != NULL) {
		const struct json *found =
			key.kind == VALUE_STRING ? json_member(mapping->json, key.as.string) : NULL;
		if (found != NULL)
			*out = jinja_value_of_json(r, found);
		return found != NULL;
	}
	for (size_t i = 0; i < mapping->count; i++) {
		struct value other = mapping->at[i].key;
		bool is_same =
			key.kind == VALUE_STRING ? other.kind == VALUE_STRING &&
							   str_equal(key.as.string, other.as.string)
			: jinja_value_is_number(key)
				? jinja_value_is_number(other) &&
					  jinja_value_as_real(key) <= jinja_value_as_real(other) &&
					  jinja_value_as_real(key) >= jinja_value_as_real(other)
				: key.kind == VALUE_NONE && other.kind == VALUE_NONE;
		if (!is_same)
			continue;
		*out = mapping->at[i].value;
		return true;
	}
	return false;
}

static bool equal_mappings(struct renderer *r, const struct mapping *a, const struct mapping *b,
			   bool *out)
{
	*out = a == b || a->count == b->count;
	for (size_t i = 0; a != b && *out && i < a->count; i++) {
		struct entry entry;
		struct value other;
		jinja_value_entry(r, a, i, &entry);
		if (!jinja_work(r, 1))
			return false;
		*out = jinja_value_find(r, b, entry.key, &other);
		if (*out && !jinja_value_equal(r, entry.value, other, out))
			return false;
	}
	return true;
}

static bool equal(struct renderer *r, struct value a, struct value b, bool *out)
{
	*out = false;
	if (jinja_value_is_whole(a) && jinja_value_is_whole(b))
		*out = jinja_value_whole(a) == jinja_value_whole(b);
	else if (jinja_value_is_number(a) && jinja_value_is_number(b))
		*out = jinja_value_as_real(a) <= jinja_value_as_real(b) &&
		       jinja_value_as_real(a) >= jinja_value_as_real(b);
	else if (a.kind != b.kind)
		return true;
	else if (a.kind == VALUE_STRING)
		*out = str_equal(a.as.string, b.as.string);
	else if (a.kind == VALUE_SEQUENCE)
		return equal_sequences(r, a.as.sequence, b.as.sequence, out);
	else if (a.kind == VALUE_MAPPING)
		return equal_mappings(r, a.as.mapping, b.as.mapping, out);
	else if (a.kind == VALUE_NAMESPACE || a.kind == VALUE_MACRO || a.kind == VALUE_LOOP)
		*out = a.as.mapping == b.as.mapping;
	else
		*out = a.kind != VALUE_FUNCTION || a.as.function == b.as.function;
	return true;
}

bool jinja_value_equal(struct renderer *r, struct value a, struct value b, bool *out)
{
	if (!jinja_work(r, 1) || !check_defined(r, a) || !check_defined(r, b))
		return false;
	if (++r->depth > LIMIT_TEMPLATE_DEPTH)
		return jinja_fail(r, "the values are nested too deep to be compared");
	bool good = equal(r, a, b, out);
	r->depth--;
	return good;
}

static bool compare_sequences(struct renderer *r, const struct sequence *a,
			      const struct sequence *b, int *out)
{
	for (size_t i = 0; i < a->count && i < b->count; i++) {
		struct value x = jinja_value_item(r, a, i), y = jinja_value_item(r, b, i);
		bool is_equal;
		if (!jinja_value_equal(r, x, y, &is_equal))
			return false;
		if (!is_equal)
			return jinja_value_compare(r, x, y, out);
	}
	*out = a->count < b->count ? -1 : a->count > b->count;
	return true;
}

bool jinja_value_compare(struct renderer *r, struct value a, struct value b, int *out)
{
	if (!jinja_work(r, 1))
		return false;
	if (jinja_value_is_whole(a) && jinja_value_is_whole(b)) {
		int64_t x = jinja_value_whole(a), y = jinja_value_whole(b);
		*out = x < y ? -1 : x > y;
		return true;
	}
	if (jinja_value_is_number(a) && jinja_value_is_number(b)) {
		double x = jinja_value_as_real(a), y = jinja_value_as_real(b);
		*out = x < y ? -1 : x > y;
		return true;
	}
	if (a.kind == VALUE_STRING && b.kind == VALUE_STRING) {
		*out = str_compare(a.as.string, b.as.string);
		return true;
	}
	if (a.kind == VALUE_SEQUENCE && b.kind == VALUE_SEQUENCE &&
	    a.as.sequence->flavor == b.as.sequence->flavor &&
	    a.as.sequence->flavor <= SEQUENCE_TUPLE) {
		if (++r->depth > LIMIT_TEMPLATE_DEPTH)
			return jinja_fail(r, "the values are nested too deep to be compared");
		bool good = compare_sequences(r, a.as.sequence, b.as.sequence, out);
		r->depth--;
		return good;
	}
	if (a.kind == VALUE_UNDEFINED)
		return fail_undefined(r, a);
	if (b.kind == VALUE_UNDEFINED)
		return fail_undefined(r, b);
	return jinja_fail(r, "%s and %s have no order", jinja_value_kind_name(a),
			  jinja_value_kind_name(b));
}

/* ---- items ------------------------------------------------------------------------------------ */

bool jinja_value_contains(struct renderer *r, struct value container, struct value what, bool *out)
{
	size_t at;
	*out = false;
	if (container.kind == VALUE_UNDEFINED)
		return check_defined(r, container);
	if (container.kind == VALUE_MAPPING) {
		struct value ignored;
		if (what.kind == VALUE_MAPPING ||
		    (what.kind == VALUE_SEQUENCE && what.as.sequence->flavor == SEQUENCE_LIST))
			return jinja_fail(r, "%s cannot be a key", jinja_value_kind_name(what));
		*out = jinja_value_find(r, container.as.mapping, what, &ignored);
		return jinja_work(r, container.as.mapping->count / 8);
	}
	if (container.kind == VALUE_STRING) {
		if (what.kind != VALUE_STRING)
			return jinja_fail(r, "in: a string contains only strings, not %s",
					  jinja_value_kind_name(what));
		*out = str_find(container.as.string, what.as.string, &at);
		return jinja_work(r, container.as.string.size / 64);
	}
	struct sequence *items;
	if (!jinja_value_iterate(r, container, &items))
		return false;
	for (size_t i = 0; i < items->count && !*out; i++)
		if (!jinja_value_equal(r, jinja_value_item(r, items, i), what, out))
			return false;
	return true;
}

bool jinja_value_count(struct renderer *r, struct value value, size_t *out)
{
	if (value.kind == VALUE_UNDEFINED) {
		*out = 0;
		return check_defined(r, value);
	}
	if (value.kind == VALUE_STRING) {
		*out = utf8_count(value.as.string);
		return jinja_work(r, value.as.string.size / 64);
	}
	if (value.kind == VALUE_MAPPING) {
		*out = value.as.mapping->count;
		return true;
	}
	if (value.kind != VALUE_SEQUENCE || value.as.sequence->flavor == SEQUENCE_GENERATOR)
		return jinja_fail(r, "%s has no length%s", jinja_value_kind_name(value),
				  value.kind == VALUE_SEQUENCE ? " before |list" : "");
	*out = value.as.sequence->count;
	return true;
}

static bool characters(struct renderer *r, struct str text, struct sequence **out)
{
	struct value list;
	size_t count = utf8_count(text);
	uint32_t c;
	if (!jinja_work(r, count) || !jinja_sequence(r, SEQUENCE_LIST, count, &list))
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t size = utf8_decode(text, &c);
		list.as.sequence->at[i] = jinja_value_string(str_head(text, size));
		text = str_skip(text, size);
	}
	*out = list.as.sequence;
	return true;
}

bool jinja_value_iterate(struct renderer *r, struct value value, struct sequence **out)
{
	struct value list;
	if (value.kind == VALUE_STRING)
		return characters(r, value.as.string, out);
	if (value.kind == VALUE_UNDEFINED) {
		if (!check_defined(r, value) || !jinja_sequence(r, SEQUENCE_LIST, 0, &list))
			return false;
		*out = list.as.sequence;
		return true;
	}
	if (value.kind == VALUE_MAPPING) {
		size_t count = value.as.mapping->count;
		if (!jinja_work(r, count) || !jinja_sequence(r, SEQUENCE_LIST, count, &list))
			return false;
		for (size_t i = 0; i < count; i++) {
			struct entry entry;
			jinja_value_entry(r, value.as.mapping, i, &entry);
			list.as.sequence->at[i] = entry.key;
		}
		*out = list.as.sequence;
		return true;
	}
	if (value.kind != VALUE_SEQUENCE)
		return jinja_fail(r, "%s has no items", jinja_value_kind_name(value));
	struct sequence *sequence = value.as.sequence;
	if (sequence->flavor == SEQUENCE_GENERATOR) {
		struct sequence *rest = arena_copy(r->arena, sequence, sizeof(*sequence));
		rest->at = sequence->at + sequence->taken;
		rest->count = sequence->count - sequence->taken;
		sequence->taken = sequence->count;
		sequence = rest;
	}
	*out = sequence;
	return true;
}
