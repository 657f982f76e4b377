/* template/jinja_filters_order.c -- filters that sort and group.
 *
 * The sort is a merge sort of its own: it is stable as Python's, counts its steps, and can fail when two
 * values have no order.
 */
#include "template/jinja_filters.h"

struct keyed {
	struct value key, item;
};

static struct value fold(struct renderer *r, struct value key, bool case_sensitive)
{
	if (!case_sensitive && key.kind == VALUE_STRING)
		return jinja_value_string(jinja_text_folded(r, key.as.string));
	return key;
}

/* The key of an item: of "a,b" a list of two. */
static bool key_of(struct renderer *r, struct value item, struct value path, bool case_sensitive,
		   struct value *out)
{
	size_t comma;
	if (!jinja_work(r, 1))
		return false;
	if (!jinja_given(path) || path.kind == VALUE_NONE) {
		*out = fold(r, item, case_sensitive);
		return jinja_work(r, item.kind == VALUE_STRING ? item.as.string.size / 64 : 0);
	}
	if (path.kind != VALUE_STRING || !str_find(path.as.string, S(","), &comma)) {
		if (!jinja_path(r, item, path, out))
			return false;
		*out = fold(r, *out, case_sensitive);
		return true;
	}
	size_t count = 1;
	for (size_t i = 0; i < path.as.string.size; i++)
		count += path.as.string.at[i] == ',';
	struct value list;
	struct str rest = path.as.string, part;
	if (!jinja_sequence(r, SEQUENCE_LIST, count, &list))
		return false;
	for (size_t i = 0; i < count && str_cut(&rest, ',', &part); i++) {
		struct value key;
		if (!jinja_path(r, item, jinja_value_string(part), &key))
			return false;
		list.as.sequence->at[i] = fold(r, key, case_sensitive);
	}
	*out = list;
	return true;
}

/* Sorts `at` with the help of `spare`. */
static bool merge_sort(struct renderer *r, struct keyed *at, struct keyed *spare, size_t count,
		       bool reverse)
{
	if (count < 2)
		return true;
	size_t half = count / 2, i = 0, j = half, k = 0;
	if (!merge_sort(r, at, spare, half, reverse) ||
	    !merge_sort(r, at + half, spare + half, count - half, reverse))
		return false;
	while (i < half && j < count) {
		int order;
		/* As Python, which asks only whether one is less. */
		if (!jinja_value_compare(r, at[j].key, at[i].key, &order))
			return false;
		bool second = reverse ? order > 0 : order < 0;
		spare[k++] = second ? at[j++] : at[i++];
	}
	while (i < half)
		spare[k++] = at[i++];
	for (size_t n = 0; n < k; n++)
		at[n] = spare[n];
	return true;
}

static bool sort_items(struct renderer *r, const struct sequence *items, struct value path,
		       bool case_sensitive, bool reverse, struct keyed **out)
{
	if (!jinja_charge(r, 2 * items->count * sizeof(struct keyed)))
		return false;
	struct keyed *keyed = arena_array(r->arena, struct keyed, items->count);
	struct keyed *spare = arena_array(r->arena, struct keyed, items->count);
	for (size_t i = 0; i < items->count; i++) {
		keyed[i].item = jinja_value_item(r, items, i);
		if (!key_of(r, keyed[i].item, path, case_sensitive, &keyed[i].key))
			return false;
	}
	*out = keyed;
	return merge_sort(r, keyed, spare, items->count, reverse);
}

bool jinja_filter_sorted(struct renderer *r, struct value value, struct value path,
			 bool case_sensitive, bool reverse, struct value *out)
{
	struct sequence *items;
	struct keyed *keyed;
	if (!jinja_value_iterate(r, value, &items) ||
	    !sort_items(r, items, path, case_sensitive, reverse, &keyed) ||
	    !jinja_sequence(r, SEQUENCE_LIST, items->count, out))
		return false;
	for (size_t i = 0; i < items->count; i++)
		out->as.sequence->at[i] = keyed[i].item;
	return true;
}

bool jinja_filter_sort(struct renderer *r, struct value value, struct value *arguments,
		       struct value *out)
{
	bool reverse, case_sensitive;
	return jinja_bool_argument(r, arguments[0], false, &reverse) &&
	       jinja_bool_argument(r, arguments[1], false, &case_sensitive) &&
	       jinja_filter_sorted(r, value, arguments[2], case_sensitive, reverse, out);
}

bool jinja_filter_dictsort(struct renderer *r, struct value value, struct value *arguments,
			   struct value *out)
{
	bool case_sensitive, reverse;
	struct str by;
	struct value pairs;
	struct arguments none = { 0 };
	if (!jinja_bool_argument(r, arguments[0], false, &case_sensitive) ||
	    !jinja_text_argument(r, arguments[1], "by", S("key"), &by) ||
	    !jinja_bool_argument(r, arguments[2], false, &reverse))
		return false;
	bool by_value = str_equal(by, S("value"));
	if (!by_value && !str_equal(by, S("key")))
		return jinja_fail(r, "by must be \"key\" or \"value\"");
	if (value.kind != VALUE_MAPPING)
		return jinja_fail(r, "dictsort needs a mapping, not %s",
				  jinja_value_kind_name(value));
	return jinja_method(r, value, S("items"), &none, &pairs) &&
	       jinja_filter_sorted(r, pairs, jinja_value_int(by_value), case_sensitive, reverse,
				   out);
}

static bool extreme(struct renderer *r, struct value value, struct value *arguments, int sign,
		    struct value *out)
{
	struct sequence *items;
	bool case_sensitive;
	struct value best_key = { 0 };
	if (!jinja_bool_argument(r, arguments[0], false, &case_sensitive) ||
	    !jinja_value_iterate(r, value, &items))
		return false;
	*out = jinja_value_undefined(S("the extreme of no items"));
	for (size_t i = 0; i < items->count; i++) {
		struct value item = jinja_value_item(r, items, i), key;
		int order = 1;
		if (!key_of(r, item, arguments[1], case_sensitive, &key) ||
		    (i > 0 && !jinja_value_compare(r, key, best_key, &order)))
			return false;
		if (i == 0 || (sign > 0 ? order > 0 : order < 0)) {
			*out = item;
			best_key = key;
		}
	}
	return true;
}

bool jinja_filter_max(struct renderer *r, struct value value, struct value *arguments,
		      struct value *out)
{
	return extreme(r, value, arguments, 1, out);
}

bool jinja_filter_min(struct renderer *r, struct value value, struct value *arguments,
		      struct value *out)
{
	return extreme(r, value, arguments, -1, out);
}

bool jinja_filter_unique(struct renderer *r, struct value value, struct value *arguments,
			 struct value *out)
{
	struct sequence *items;
	struct value keys;
	bool case_sensitive;
	size_t count = 0;
	if (!jinja_bool_argument(r, arguments[0], false, &case_sensitive) ||
	    !jinja_value_iterate(r, value, &items) ||
	    !jinja_sequence(r, SEQUENCE_LIST, items->count, &keys) ||
	    !jinja_sequence(r, SEQUENCE_GENERATOR, items->count, out))
		return false;
	for (size_t i = 0; i < items->count; i++) {
		struct value item = jinja_value_item(r, items, i), key;
		bool found = false;
		if (!key_of(r, item, arguments[1], case_sensitive, &key))
			return false;
		if (key.kind == VALUE_MAPPING ||
		    (key.kind == VALUE_SEQUENCE && key.as.sequence->flavor != SEQUENCE_TUPLE))
			return jinja_fail(r, "unique cannot compare %s; give an attribute",
					  jinja_value_kind_name(key));
		for (size_t k = 0; k < count && !found; k++)
			if (!jinja_value_equal(r, keys.as.sequence->at[k], key, &found))
				return false;
		if (found)
			continue;
		keys.as.sequence->at[count] = key;
		out->as.sequence->at[count++] = item;
	}
	out->as.sequence->count = count;
	return true;
}

static bool add_group(struct renderer *r, struct value key, const struct keyed *from, size_t count,
		      struct value *out)
{
	struct value members;
	if (!jinja_sequence(r, SEQUENCE_LIST, count, &members) ||
	    !jinja_sequence(r, SEQUENCE_TUPLE, 2, out))
		return false;
	for (size_t i = 0; i < count; i++)
		members.as.sequence->at[i] = from[i].item;
	out->as.sequence->at[0] = key;
	out->as.sequence->at[1] = members;
	out->as.sequence->is_group = true;
	return true;
}

bool jinja_filter_groupby(struct renderer *r, struct value value, struct value *arguments,
			  struct value *out)
{
	struct sequence *items;
	bool case_sensitive, has_default;
	if (!jinja_bool_argument(r, arguments[2], false, &case_sensitive) ||
	    !jinja_value_iterate(r, value, &items) ||
	    !jinja_charge(r, 3 * items->count * sizeof(struct keyed)))
		return false;
	has_default = jinja_given(arguments[1]) && arguments[1].kind != VALUE_NONE;
	struct keyed *keyed = arena_array(r->arena, struct keyed, items->count);
	struct keyed *spare = arena_array(r->arena, struct keyed, items->count);
	for (size_t i = 0; i < items->count; i++) {
		keyed[i].item = jinja_value_item(r, items, i);
		if (!jinja_work(r, 1) || !jinja_path(r, keyed[i].item, arguments[0], &keyed[i].key))
			return false;
		if (keyed[i].key.kind == VALUE_UNDEFINED && has_default)
			keyed[i].key = arguments[1];
		keyed[i].key = fold(r, keyed[i].key, case_sensitive);
	}
	if (!merge_sort(r, keyed, spare, items->count, false) ||
	    !jinja_sequence(r, SEQUENCE_LIST, items->count, out))
		return false;
	size_t count = 0;
	for (size_t from = 0, to; from < items->count; from = to) {
		bool is_same = true;
		struct value key;
		for (to = from + 1; to < items->count; to++)
			if (!jinja_value_equal(r, keyed[from].key, keyed[to].key, &is_same))
				return false;
			else if (!is_same)
				break;
		/* The key as the first member of the group has it. */
		if (!jinja_path(r, keyed[from].item, arguments[0], &key))
			return false;
		if (key.kind == VALUE_UNDEFINED && has_default)
			key = arguments[1];
		if (!add_group(r, key, &keyed[from], to - from, &out->as.sequence->at[count++]))
			return false;
	}
	out->as.sequence->count = count;
	return true;
}
