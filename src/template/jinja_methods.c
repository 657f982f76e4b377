/* template/jinja_methods.c -- the methods of strings, mappings, lists and loops that templates call.
 *
 * There are no others: a template cannot reach anything but the data.  Methods never change a value.
 */
#include "base/utf8.h"
#include "template/jinja_render.h"

typedef bool method_function(struct renderer *r, struct value of, struct value *arguments,
			     struct value *out);

struct method_row {
	enum value_kind kind;
	struct str name;
	method_function *function;
	const char *parameters;
	size_t required;
};

/* ---- strings --------------------------------------------------------------------------------------- */

static bool filter_by_name(struct renderer *r, struct value of, struct str name, struct value *out)
{
	struct arguments none = { 0 };
	return jinja_filter(r, name, of, &none, out);
}

static bool string_upper(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	(void)a;
	return filter_by_name(r, of, S("upper"), out);
}

static bool string_lower(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	(void)a;
	return filter_by_name(r, of, S("lower"), out);
}

static bool string_capitalize(struct renderer *r, struct value of, struct value *a,
			      struct value *out)
{
	(void)a;
	return filter_by_name(r, of, S("capitalize"), out);
}

/* Every letter behind anything but a letter begins a word, unlike the filter. */
static bool string_title(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	struct str text = of.as.string;
	uint32_t c;
	bool inside = false;
	AUTO(buf) title = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
	(void)a;
	for (size_t size; (size = utf8_decode(text, &c)) > 0; text = str_skip(text, size)) {
		jinja_text_put(&title, inside ? jinja_text_lower(c) : jinja_text_upper(c));
		inside = jinja_text_is_letter(c);
	}
	return jinja_copy(r, &title, out);
}

static bool strip(struct renderer *r, struct value of, const struct value *a, bool left, bool right,
		  struct value *out)
{
	struct str characters = { 0 };
	if (a[0].kind != VALUE_NONE &&
	    !jinja_text_argument(r, a[0], "chars", characters, &characters))
		return false;
	*out = jinja_value_string(jinja_text_strip(of.as.string, characters, left, right));
	return jinja_work(r, of.as.string.size / 64);
}

static bool string_strip(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	return strip(r, of, a, true, true, out);
}

static bool string_lstrip(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	return strip(r, of, a, true, false, out);
}

static bool string_rstrip(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	return strip(r, of, a, false, true, out);
}

/* A list that grows; items are strings within the text, so nothing is copied. */
struct pieces {
	struct value list;
	size_t count;
};

static bool add_piece(struct renderer *r, struct pieces *pieces, struct str piece)
{
	struct sequence *sequence = pieces->list.as.sequence;
	if (!jinja_work(r, 1))
		return false;
	if (pieces->count == sequence->count) {
		struct value grown;
		if (!jinja_sequence(r, SEQUENCE_LIST, pieces->count * 2 + 8, &grown))
			return false;
		for (size_t i = 0; i < pieces->count; i++)
			grown.as.sequence->at[i] = sequence->at[i];
		pieces->list = grown;
		sequence = grown.as.sequence;
	}
	sequence->at[pieces->count++] = jinja_value_string(piece);
	return true;
}

static bool split_words(struct renderer *r, struct str text, int64_t most, struct pieces *pieces)
{
	text = jinja_text_strip(text, (struct str){ 0 }, true, false);
	while (text.size > 0 && most != 0) {
		size_t end = 0, size;
		uint32_t c;
		while ((size = utf8_decode(str_skip(text, end), &c)) > 0 && !jinja_text_is_space(c))
			end += size;
		if (!add_piece(r, pieces, str_head(text, end)))
			return false;
		text = jinja_text_strip(str_skip(text, end), (struct str){ 0 }, true, false);
		most--;
	}
	return text.size == 0 || add_piece(r, pieces, text);
}

static bool string_split(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	int64_t most;
	struct str text = of.as.string, separator;
	struct pieces pieces = { 0 };
	size_t at;
	if (a[0].kind == VALUE_NONE)
		a[0] = (struct value){ .kind = VALUE_UNDEFINED };
	if (!jinja_text_argument(r, a[0], "sep", (struct str){ 0 }, &separator) ||
	    !jinja_int_argument(r, a[1], "maxsplit", -1, &most) ||
	    !jinja_sequence(r, SEQUENCE_LIST, 8, &pieces.list) || !jinja_work(r, text.size / 64))
		return false;
	if (separator.at == NULL) {
		if (!split_words(r, text, most, &pieces))
			return false;
	} else if (separator.size == 0) {
		return jinja_fail(r, "split needs a separator that is not empty");
	} else {
		for (; most != 0 && str_find(text, separator, &at); most--) {
			if (!add_piece(r, &pieces, str_head(text, at)))
				return false;
			text = str_skip(text, at + separator.size);
		}
		if (!add_piece(r, &pieces, text))
			return false;
	}
	pieces.list.as.sequence->count = pieces.count;
	*out = pieces.list;
	return true;
}

static bool is_line_end(uint32_t c)
{
	return (c >= 10 && c <= 13) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
	       c == 0x2029;
}

static bool string_splitlines(struct renderer *r, struct value of, struct value *a,
			      struct value *out)
{
	struct str text = of.as.string;
	struct pieces pieces = { 0 };
	(void)a;
	if (!jinja_sequence(r, SEQUENCE_LIST, 8, &pieces.list) || !jinja_work(r, text.size / 64))
		return false;
	while (text.size > 0) {
		size_t end = 0, size;
		uint32_t c = 0;
		while ((size = utf8_decode(str_skip(text, end), &c)) > 0 && !is_line_end(c))
			end += size;
		if (!add_piece(r, &pieces, str_head(text, end)))
			return false;
		bool pair =
			size > 0 && c == '\r' && end + 1 < text.size && text.at[end + 1] == '\n';
		text = str_skip(text, end + size + pair);
	}
	pieces.list.as.sequence->count = pieces.count;
	*out = pieces.list;
	return true;
}

static bool string_join(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	struct sequence *items;
	AUTO(buf) text = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
	if (!jinja_value_iterate(r, a[0], &items))
		return false;
	for (size_t i = 0; i < items->count; i++) {
		struct value item = jinja_value_item(r, items, i);
		if (item.kind != VALUE_STRING)
			return jinja_fail(r,
					  "join needs strings, not %s; the filter join takes any",
					  jinja_value_kind_name(item));
		buf_add(&text, i == 0 ? S("") : of.as.string);
		buf_add(&text, item.as.string);
		if (!jinja_work(r, 1))
			return false;
	}
	return jinja_copy(r, &text, out);
}

/* A prefix may be a tuple of them. */
static bool has_affix(struct renderer *r, struct str text, struct value affix, bool begins,
		      struct value *out)
{
	struct sequence *items;
	bool found = false;
	if (affix.kind == VALUE_STRING) {
		*out = jinja_value_bool(begins ? str_starts(text, affix.as.string)
					       : str_ends(text, affix.as.string));
		return true;
	}
	if (affix.kind != VALUE_SEQUENCE || affix.as.sequence->flavor != SEQUENCE_TUPLE ||
	    !jinja_value_iterate(r, affix, &items))
		return jinja_fail(r, "expected a string or a tuple of strings, not %s",
				  jinja_value_kind_name(affix));
	for (size_t i = 0; i < items->count && !found; i++) {
		if (items->at[i].kind != VALUE_STRING)
			return jinja_fail(r, "expected a tuple of strings");
		found = begins ? str_starts(text, items->at[i].as.string)
			       : str_ends(text, items->at[i].as.string);
	}
	*out = jinja_value_bool(found);
	return true;
}

static bool string_startswith(struct renderer *r, struct value of, struct value *a,
			      struct value *out)
{
	return has_affix(r, of.as.string, a[0], true, out);
}

static bool string_endswith(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	return has_affix(r, of.as.string, a[0], false, out);
}

static bool string_replace(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	int64_t most;
	struct str text = of.as.string, old, new;
	size_t at;
	AUTO(buf) replaced = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
	if (!jinja_text_argument(r, a[0], "old", S(""), &old) ||
	    !jinja_text_argument(r, a[1], "new", S(""), &new) ||
	    !jinja_int_argument(r, a[2], "count", -1, &most) || !jinja_work(r, text.size / 64))
		return false;
	if (old.size == 0) {
		/* Between all characters. */
		for (; most != 0; most--) {
			uint32_t c;
			size_t size = utf8_decode(text, &c);
			buf_add(&replaced, new);
			buf_add(&replaced, str_head(text, size));
			text = str_skip(text, size);
			if (size == 0 || replaced.full)
				break;
		}
	}
	for (; old.size > 0 && most != 0 && !replaced.full && str_find(text, old, &at); most--) {
		buf_add(&replaced, str_head(text, at));
		buf_add(&replaced, new);
		text = str_skip(text, at + old.size);
	}
	buf_add(&replaced, text);
	return jinja_copy(r, &replaced, out);
}

static bool string_find(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	struct str what;
	size_t at;
	if (!jinja_text_argument(r, a[0], "sub", S(""), &what) ||
	    !jinja_work(r, of.as.string.size / 64))
		return false;
	bool found = str_find(of.as.string, what, &at);
	*out = jinja_value_int(found ? (int64_t)utf8_count(str_head(of.as.string, at)) : -1);
	return true;
}

static bool string_count(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	struct str what, text = of.as.string;
	size_t at;
	int64_t count = 0;
	if (!jinja_text_argument(r, a[0], "sub", S(""), &what) || !jinja_work(r, text.size / 64))
		return false;
	if (what.size == 0)
		count = (int64_t)utf8_count(text) + 1;
	for (; what.size > 0 && str_find(text, what, &at); text = str_skip(text, at + what.size))
		count++;
	*out = jinja_value_int(count);
	return true;
}

static bool string_isdigit(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	struct str text = of.as.string;
	bool digits = text.size > 0;
	(void)a;
	for (size_t i = 0; i < text.size && digits; i++)
		digits = text.at[i] >= '0' && text.at[i] <= '9';
	*out = jinja_value_bool(digits);
	return jinja_work(r, text.size / 64);
}

/* ---- mappings and lists ------------------------------------------------------------------------------ */

static bool mapping_view(struct renderer *r, struct value of, enum sequence_flavor flavor,
			 struct value *out)
{
	size_t count = of.as.mapping->count;
	if (!jinja_work(r, count) || !jinja_sequence(r, flavor, count, out))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct entry entry;
		struct value *item = &out->as.sequence->at[i];
		jinja_value_entry(r, of.as.mapping, i, &entry);
		*item = flavor == SEQUENCE_KEYS ? entry.key : entry.value;
		if (flavor != SEQUENCE_ITEMS)
			continue;
		if (!jinja_sequence(r, SEQUENCE_TUPLE, 2, item))
			return false;
		item->as.sequence->at[0] = entry.key;
		item->as.sequence->at[1] = entry.value;
	}
	return true;
}

static bool mapping_items(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	(void)a;
	return mapping_view(r, of, SEQUENCE_ITEMS, out);
}

static bool mapping_keys(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	(void)a;
	return mapping_view(r, of, SEQUENCE_KEYS, out);
}

static bool mapping_values(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	(void)a;
	return mapping_view(r, of, SEQUENCE_VALUES, out);
}

static bool mapping_get(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	if (a[0].kind == VALUE_SEQUENCE || a[0].kind == VALUE_MAPPING)
		return jinja_fail(r, "%s cannot be a key", jinja_value_kind_name(a[0]));
	if (!jinja_value_find(r, of.as.mapping, a[0], out))
		*out = jinja_given(a[1]) ? a[1] : jinja_value_none();
	return jinja_work(r, of.as.mapping->count / 8);
}

static bool list_index(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	for (size_t i = 0; i < of.as.sequence->count; i++) {
		bool found;
		if (!jinja_value_equal(r, jinja_value_item(r, of.as.sequence, i), a[0], &found))
			return false;
		if (found) {
			*out = jinja_value_int((int64_t)i);
			return true;
		}
	}
	return jinja_fail(r, "index: the list has no such item");
}

static bool list_count(struct renderer *r, struct value of, struct value *a, struct value *out)
{
	int64_t count = 0;
	for (size_t i = 0; i < of.as.sequence->count; i++) {
		bool found;
		if (!jinja_value_equal(r, jinja_value_item(r, of.as.sequence, i), a[0], &found))
			return false;
		count += found;
	}
	*out = jinja_value_int(count);
	return true;
}

/* ---- by name ------------------------------------------------------------------------------------------- */

#define ROW(kind, type, name, parameters, required)                                     \
	{                                                                               \
		kind, { #name, sizeof(#name) - 1 }, type##_##name, parameters, required \
	}

static const struct method_row methods[] = {
	ROW(VALUE_STRING, string, upper, "", 0),
	ROW(VALUE_STRING, string, lower, "", 0),
	ROW(VALUE_STRING, string, capitalize, "", 0),
	ROW(VALUE_STRING, string, title, "", 0),
	ROW(VALUE_STRING, string, strip, "chars", 0),
	ROW(VALUE_STRING, string, lstrip, "chars", 0),
	ROW(VALUE_STRING, string, rstrip, "chars", 0),
	ROW(VALUE_STRING, string, split, "sep maxsplit", 0),
	ROW(VALUE_STRING, string, splitlines, "", 0),
	ROW(VALUE_STRING, string, join, "iterable", 1),
	ROW(VALUE_STRING, string, startswith, "prefix", 1),
	ROW(VALUE_STRING, string, endswith, "suffix", 1),
	ROW(VALUE_STRING, string, replace, "old new count", 2),
	ROW(VALUE_STRING, string, find, "sub", 1),
	ROW(VALUE_STRING, string, count, "sub", 1),
	ROW(VALUE_STRING, string, isdigit, "", 0),
	ROW(VALUE_MAPPING, mapping, items, "", 0),
	ROW(VALUE_MAPPING, mapping, keys, "", 0),
	ROW(VALUE_MAPPING, mapping, values, "", 0),
	ROW(VALUE_MAPPING, mapping, get, "key default", 1),
	ROW(VALUE_SEQUENCE, list, index, "value", 1),
	ROW(VALUE_SEQUENCE, list, count, "value", 1),
};

static const struct method_row *find(struct value of, struct str name)
{
	for (size_t i = 0; i < COUNT(methods); i++)
		if (methods[i].kind == of.kind && str_equal(methods[i].name, name))
			return &methods[i];
	return NULL;
}

static bool is_loop_method(struct value of, struct str name)
{
	return of.kind == VALUE_LOOP &&
	       (str_equal(name, S("cycle")) || str_equal(name, S("changed")));
}

bool jinja_has_method(struct value of, struct str name)
{
	return is_loop_method(of, name) || find(of, name) != NULL;
}

static bool loop_cycle(struct renderer *r, const struct loop *loop,
		       const struct arguments *arguments, struct value *out)
{
	if (arguments->count == 0)
		return jinja_fail(r, "cycle needs the values to cycle through");
	*out = arguments->at[loop->index % arguments->count];
	return true;
}

static bool loop_changed(struct renderer *r, struct loop *loop, const struct arguments *arguments,
			 struct value *out)
{
	struct value now;
	bool is_same = false;
	if (!jinja_sequence(r, SEQUENCE_TUPLE, arguments->count, &now))
		return false;
	for (size_t i = 0; i < arguments->count; i++)
		now.as.sequence->at[i] = arguments->at[i];
	if (loop->has_changed && !jinja_value_equal(r, loop->changed, now, &is_same))
		return false;
	loop->changed = now;
	loop->has_changed = true;
	*out = jinja_value_bool(!is_same);
	return true;
}

bool jinja_method(struct renderer *r, struct value of, struct str name,
		  const struct arguments *arguments, struct value *out)
{
	struct value ordered[JINJA_ARGUMENTS];
	if (is_loop_method(of, name))
		return str_equal(name, S("cycle")) ? loop_cycle(r, of.as.loop, arguments, out)
						   : loop_changed(r, of.as.loop, arguments, out);
	const struct method_row *row = find(of, name);
	require(row != NULL);
	return jinja_order(r, name, row->parameters, row->required, arguments, ordered) &&
	       row->function(r, of, ordered, out);
}
