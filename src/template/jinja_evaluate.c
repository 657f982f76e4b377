/* template/jinja_evaluate.c -- evaluates expressions.
 *
 * `r->place` is the node of the operation under way.  Evaluating an operand moves it, so it is set again
 * before anything that can fail.
 */
#include "base/utf8.h"
#include "template/jinja_render.h"

/* ---- names, attributes, items -------------------------------------------------------------------- */

bool jinja_lookup(struct renderer *r, struct str name, struct value *out)
{
	static const struct str functions[] = { { "range", 5 }, { "dict", 4 }, { "namespace", 9 } };
	for (struct scope *scope = r->scope; scope != NULL; scope = scope->outer)
		for (struct binding *b = scope->first; b != NULL; b = b->next)
			if (str_equal(b->name, name)) {
				*out = b->value;
				return true;
			}
	const struct json *data = json_member(r->data, name);
	if (data != NULL) {
		*out = jinja_value_of_json(r, data);
		return true;
	}
	for (size_t i = 0; i < COUNT(functions); i++)
		if (str_equal(name, functions[i])) {
			*out = (struct value){ .kind = VALUE_FUNCTION,
					       .as.function = (enum global_function)i };
			return true;
		}
	return false;
}

static struct value undefined_of(struct renderer *r, struct str name)
{
	return jinja_value_undefined(str_format(r->arena, "\"" STR_FMT "\"",
						STR_ARG(str_head(name, LIMIT_QUOTE_BYTES))));
}

static struct value count_value(size_t count)
{
	return jinja_value_int((int64_t)count);
}

static bool loop_attribute(struct renderer *r, const struct loop *loop, struct str name,
			   struct value *out)
{
	size_t count = loop->items->count, index = loop->index;
	if (str_equal(name, S("index")))
		*out = count_value(index + 1);
	else if (str_equal(name, S("index0")))
		*out = count_value(index);
	else if (str_equal(name, S("revindex")))
		*out = count_value(count - index);
	else if (str_equal(name, S("revindex0")))
		*out = count_value(count - index - 1);
	else if (str_equal(name, S("first")))
		*out = jinja_value_bool(index == 0);
	else if (str_equal(name, S("last")))
		*out = jinja_value_bool(index + 1 == count);
	else if (str_equal(name, S("length")))
		*out = count_value(count);
	else if (str_equal(name, S("depth")))
		*out = count_value(loop->depth + 1);
	else if (str_equal(name, S("depth0")))
		*out = count_value(loop->depth);
	else if (str_equal(name, S("previtem")) && index > 0)
		*out = jinja_value_item(r, loop->items, index - 1);
	else if (str_equal(name, S("nextitem")) && index + 1 < count)
		*out = jinja_value_item(r, loop->items, index + 1);
	else
		*out = undefined_of(r, name);
	return true;
}

bool jinja_attribute(struct renderer *r, struct value of, struct str name, struct value *out)
{
	if (of.kind == VALUE_UNDEFINED)
		return jinja_fail(r, STR_FMT " is undefined, so it has no \"" STR_FMT "\"",
				  STR_ARG(of.as.string),
				  STR_ARG(str_head(name, LIMIT_QUOTE_BYTES)));
	if (of.kind == VALUE_LOOP)
		return loop_attribute(r, of.as.loop, name, out);
	if ((of.kind == VALUE_MAPPING || of.kind == VALUE_NAMESPACE) &&
	    jinja_value_find(r, of.as.mapping, jinja_value_string(name), out))
		return jinja_work(r, of.as.mapping->json != NULL ? of.as.mapping->count / 16 : 0);
	if (of.kind == VALUE_SEQUENCE && of.as.sequence->is_group &&
	    (str_equal(name, S("grouper")) || str_equal(name, S("list")))) {
		*out = of.as.sequence->at[str_equal(name, S("list"))];
		return true;
	}
	*out = undefined_of(r, name);
	return true;
}

static bool text_item(struct renderer *r, struct str text, int64_t index, struct value *out)
{
	int64_t count = (int64_t)utf8_count(text);
	uint32_t c;
	if (!jinja_work(r, text.size / 64))
		return false;
	index += index < 0 ? count : 0;
	if (index < 0 || index >= count) {
		*out = jinja_value_undefined(S("the character"));
		return true;
	}
	text = str_skip(text, jinja_text_offset(text, (size_t)index));
	*out = jinja_value_string(str_head(text, utf8_decode(text, &c)));
	return true;
}

bool jinja_item(struct renderer *r, struct value of, struct value key, struct value *out)
{
	if (of.kind == VALUE_UNDEFINED)
		return jinja_fail(r, STR_FMT " is undefined, so it has no items",
				  STR_ARG(of.as.string));
	if (key.kind == VALUE_STRING)
		return jinja_attribute(r, of, key.as.string, out);
	if (of.kind == VALUE_STRING && jinja_value_is_whole(key))
		return text_item(r, of.as.string, jinja_value_whole(key), out);
	if (of.kind == VALUE_SEQUENCE && jinja_value_is_whole(key) &&
	    of.as.sequence->flavor <= SEQUENCE_RANGE) {
		int64_t count = (int64_t)of.as.sequence->count, index = jinja_value_whole(key);
		index += index < 0 ? count : 0;
		*out = index >= 0 && index < count
			       ? jinja_value_item(r, of.as.sequence, (size_t)index)
			       : jinja_value_undefined(S("the item"));
		return true;
	}
	if (of.kind == VALUE_MAPPING && jinja_value_find(r, of.as.mapping, key, out))
		return jinja_work(r, of.as.mapping->count / 8);
	*out = jinja_value_undefined(S("the item"));
	return true;
}

bool jinja_path(struct renderer *r, struct value of, struct value path, struct value *out)
{
	if (path.kind != VALUE_STRING)
		return jinja_item(r, of, path, out);
	struct str rest = path.as.string, part;
	while (str_cut(&rest, '.', &part)) {
		int64_t index;
		bool number = part.size > 0 && part.at[0] != '-' && str_to_int(part, &index);
		if (!jinja_item(r, of, number ? jinja_value_int(index) : jinja_value_string(part),
				&of))
			return false;
	}
	*out = of;
	return true;
}

/* ---- slices ---------------------------------------------------------------------------------------- */

struct slice {
	int64_t start, stop, step;
};

static bool slice_number(struct renderer *r, struct value value, int64_t fallback, int64_t *out)
{
	if (value.kind == VALUE_NONE) {
		*out = fallback;
		return true;
	}
	if (!jinja_value_is_whole(value))
		return jinja_fail(r, "a slice needs whole numbers, not %s",
				  jinja_value_kind_name(value));
	*out = jinja_value_whole(value);
	return true;
}

static int64_t clamp(int64_t index, int64_t count, bool backward)
{
	int64_t least = backward ? -1 : 0, most = backward ? count - 1 : count;
	if (index < 0)
		index = index < -count ? -1 : index + count;
	return index < least ? least : index > most ? most : index;
}

static bool slice_bounds(struct renderer *r, const struct value *given, int64_t count,
			 struct slice *out)
{
	if (!slice_number(r, given[2], 1, &out->step))
		return false;
	if (out->step == 0)
		return jinja_fail(r, "the step of a slice cannot be zero");
	bool backward = out->step < 0;
	if (!slice_number(r, given[0], backward ? count - 1 : 0, &out->start) ||
	    !slice_number(r, given[1], backward ? -count - 1 : count, &out->stop))
		return false;
	out->start = clamp(out->start, count, backward);
	out->stop = clamp(out->stop, count, backward);
	/* A step beyond the count gives one item, and cannot overflow the index. */
	if (out->step > count + 1)
		out->step = count + 1;
	if (out->step < -count - 1)
		out->step = -count - 1;
	return true;
}

static bool slice_text(struct renderer *r, struct str text, const struct value *given,
		       struct value *out)
{
	struct slice slice;
	struct sequence *all;
	AUTO(buf) cut = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
	if (!slice_bounds(r, given, (int64_t)utf8_count(text), &slice))
		return false;
	if (slice.step == 1) {
		size_t from = jinja_text_offset(text, (size_t)slice.start);
		size_t to = jinja_text_offset(text, (size_t)slice.stop);
		*out = jinja_value_string(to > from ? (struct str){ text.at + from, to - from }
						    : S(""));
		return jinja_work(r, text.size / 64);
	}
	if (!jinja_value_iterate(r, jinja_value_string(text), &all))
		return false;
	for (int64_t i = slice.start; slice.step > 0 ? i < slice.stop : i > slice.stop;
	     i += slice.step)
		buf_add(&cut, all->at[i].as.string);
	return jinja_copy(r, &cut, out);
}

static bool evaluate_slice(struct renderer *r, const struct node *node, struct value *out)
{
	struct value of, given[3];
	struct slice slice;
	size_t count = 0;
	if (!jinja_evaluate(r, node->a, &of))
		return false;
	for (const struct node *item = node->items; item != NULL; item = item->next)
		if (!jinja_evaluate(r, item, &given[count++]))
			return false;
	r->place = node;
	if (of.kind == VALUE_STRING)
		return slice_text(r, of.as.string, given, out);
	if (of.kind == VALUE_UNDEFINED)
		return jinja_fail(r, STR_FMT " is undefined", STR_ARG(of.as.string));
	if (of.kind != VALUE_SEQUENCE || of.as.sequence->flavor > SEQUENCE_RANGE)
		return jinja_fail(r, "%s has no slices", jinja_value_kind_name(of));
	const struct sequence *all = of.as.sequence;
	if (!slice_bounds(r, given, (int64_t)all->count, &slice))
		return false;
	int64_t span = slice.step > 0 ? slice.stop - slice.start : slice.start - slice.stop;
	int64_t step = slice.step > 0 ? slice.step : -slice.step;
	int64_t taken = span > 0 ? (span + step - 1) / step : 0;
	if (!jinja_sequence(r, all->flavor == SEQUENCE_TUPLE ? SEQUENCE_TUPLE : SEQUENCE_LIST,
			    (size_t)taken, out))
		return false;
	for (int64_t i = 0; i < taken; i++)
		out->as.sequence->at[i] =
			jinja_value_item(r, all, (size_t)(slice.start + i * slice.step));
	return true;
}

/* ---- calls --------------------------------------------------------------------------------------------- */

bool jinja_arguments(struct renderer *r, const struct node *items, struct arguments *out)
{
	size_t count = 0, at = 0;
	for (const struct node *item = items; item != NULL; item = item->next)
		count++;
	*out = (struct arguments){ 0 };
	if (!jinja_charge(r, (count + 1) * (sizeof(struct value) + sizeof(struct str))))
		return false;
	/* One more, for the caller of a call block. */
	out->at = arena_array(r->arena, struct value, count + 1);
	out->names = arena_array(r->arena, struct str, count + 1);
	for (const struct node *item = items; item != NULL; item = item->next) {
		bool keyword = item->kind == NODE_KEYWORD;
		for (size_t i = 0; keyword && i < out->keywords; i++)
			if (str_equal(out->names[i], item->name)) {
				r->place = item;
				return jinja_fail(r, "the argument \"" STR_FMT "\" is given twice",
						  STR_ARG(item->name));
			}
		if (!jinja_evaluate(r, keyword ? item->a : item, &out->at[at++]))
			return false;
		if (keyword)
			out->names[out->keywords++] = item->name;
		else
			out->count++;
	}
	return true;
}

static bool call_range(struct renderer *r, const struct arguments *arguments, struct value *out)
{
	int64_t numbers[3] = { 0, 0, 1 };
	size_t count = arguments->count;
	if (arguments->keywords > 0 || count < 1 || count > 3)
		return jinja_fail(r,
				  "range needs one to three numbers: range(stop) or range(start, "
				  "stop, step)");
	for (size_t i = 0; i < count; i++) {
		if (!jinja_value_is_whole(arguments->at[i]))
			return jinja_fail(r, "range needs whole numbers, not %s",
					  jinja_value_kind_name(arguments->at[i]));
		numbers[count == 1 ? 1 : i] = jinja_value_whole(arguments->at[i]);
	}
	int64_t start = numbers[0], stop = numbers[1], step = numbers[2], span, items = 0;
	if (step == 0)
		return jinja_fail(r, "the step of range cannot be zero");
	if ((step > 0 ? __builtin_sub_overflow(stop, start, &span)
		      : __builtin_sub_overflow(start, stop, &span)) ||
	    step == INT64_MIN)
		return jinja_fail(r, "the range is too large");
	step = step < 0 ? -step : step;
	if (span > 0)
		items = (span - 1) / step + 1;
	if (items > LIMIT_TEMPLATE_STEPS)
		return jinja_fail(r, "the range has %lld items; the limit is %d", (long long)items,
				  LIMIT_TEMPLATE_STEPS);
	if (!jinja_work(r, (size_t)items / 8) ||
	    !jinja_sequence(r, SEQUENCE_RANGE, (size_t)items, out))
		return false;
	out->as.sequence->start = start;
	out->as.sequence->stop = stop;
	out->as.sequence->stride = numbers[2];
	for (int64_t i = 0; i < items; i++)
		out->as.sequence->at[i] = jinja_value_int(start + i * numbers[2]);
	return true;
}

static bool call_mapping(struct renderer *r, const struct arguments *arguments,
			 enum value_kind kind, struct value *out)
{
	const struct mapping *given = NULL;
	if (arguments->count > 1 ||
	    (arguments->count == 1 && arguments->at[0].kind != VALUE_MAPPING))
		return jinja_fail(r, "expected one mapping, or arguments with names");
	if (arguments->count == 1)
		given = arguments->at[0].as.mapping;
	size_t count = given == NULL ? 0 : given->count;
	if (!jinja_mapping(r, count + arguments->keywords, out))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct entry entry;
		jinja_value_entry(r, given, i, &entry);
		jinja_mapping_put(out->as.mapping, entry.key, entry.value);
	}
	for (size_t i = 0; i < arguments->keywords; i++)
		jinja_mapping_put(out->as.mapping, jinja_value_string(arguments->names[i]),
				  arguments->at[arguments->count + i]);
	out->kind = kind;
	return true;
}

static bool call_value(struct renderer *r, struct value callee, const struct arguments *arguments,
		       struct value *out)
{
	if (callee.kind == VALUE_MACRO)
		return jinja_macro_call(r, callee.as.macro, arguments, out);
	if (callee.kind == VALUE_LOOP)
		return jinja_loop_call(r, callee.as.loop, arguments, out);
	if (callee.kind == VALUE_FUNCTION && callee.as.function == FUNCTION_RANGE)
		return call_range(r, arguments, out);
	if (callee.kind == VALUE_FUNCTION)
		return call_mapping(
			r, arguments,
			callee.as.function == FUNCTION_DICT ? VALUE_MAPPING : VALUE_NAMESPACE, out);
	if (callee.kind == VALUE_UNDEFINED)
		return jinja_fail(r, STR_FMT " is undefined, so it cannot be called",
				  STR_ARG(callee.as.string));
	return jinja_fail(r, "%s cannot be called", jinja_value_kind_name(callee));
}

static bool evaluate_call(struct renderer *r, const struct node *node, struct value *out)
{
	struct value of, callee;
	struct arguments arguments;
	const struct node *a = node->a;
	if (a->kind == NODE_ATTRIBUTE) {
		if (!jinja_evaluate(r, a->a, &of))
			return false;
		if (jinja_has_method(of, a->name)) {
			if (!jinja_arguments(r, node->items, &arguments))
				return false;
			r->place = a;
			return jinja_method(r, of, a->name, &arguments, out);
		}
		r->place = a;
		if (!jinja_attribute(r, of, a->name, &callee))
			return false;
	} else if (!jinja_evaluate(r, a, &callee)) {
		return false;
	}
	if (!jinja_arguments(r, node->items, &arguments))
		return false;
	r->place = a;
	return call_value(r, callee, &arguments, out);
}

/* ---- operators ----------------------------------------------------------------------------------------- */

static bool compare(struct renderer *r, enum operator_kind operator, struct value a, struct value b,
		    bool *out)
{
	int order = 0;
	if (operator== OP_EQUAL || operator== OP_UNEQUAL) {
		if (!jinja_value_equal(r, a, b, out))
			return false;
		*out = *out == (operator== OP_EQUAL);
		return true;
	}
	if (operator== OP_IN || operator== OP_NOT_IN) {
		if (!jinja_value_contains(r, b, a, out))
			return false;
		*out = *out == (operator== OP_IN);
		return true;
	}
	if (!jinja_value_compare(r, a, b, &order))
		return false;
	*out = operator== OP_LESS    ? order < 0 :
	       operator== OP_AT_MOST ? order <= 0
	       :
	       operator== OP_MORE ? order > 0
				  : order >= 0;
	return true;
}

static bool evaluate_compare(struct renderer *r, const struct node *node, struct value *out)
{
	struct value left, right;
	bool holds = true;
	if (!jinja_evaluate(r, node->a, &left))
		return false;
	for (const struct node *operand = node->items; holds && operand != NULL;
	     operand = operand->next) {
		if (!jinja_evaluate(r, operand->a, &right))
			return false;
		r->place = operand;
		if (!compare(r, operand->operator, left, right, &holds))
			return false;
		left = right;
	}
	*out = jinja_value_bool(holds);
	return true;
}

static bool evaluate_logical(struct renderer *r, const struct node *node, struct value *out)
{
	bool holds;
	if (!jinja_evaluate(r, node->a, out))
		return false;
	r->place = node;
	if (!jinja_value_true(r, *out, &holds))
		return false;
	return holds == (node->kind == NODE_OR) ? true : jinja_evaluate(r, node->b, out);
}

static bool evaluate_concat(struct renderer *r, const struct node *node, struct value *out)
{
	AUTO(buf) text = buf_limited(LIMIT_TEMPLATE_OUTPUT_BYTES);
	for (const struct node *item = node->items; item != NULL; item = item->next) {
		struct value value;
		if (!jinja_evaluate(r, item, &value))
			return false;
		r->place = node;
		if (!jinja_value_print(r, value, &text))
			return false;
	}
	return jinja_copy(r, &text, out);
}

static bool evaluate_choice(struct renderer *r, const struct node *node, struct value *out)
{
	struct value condition;
	bool holds;
	if (!jinja_evaluate(r, node->b, &condition))
		return false;
	r->place = node;
	if (!jinja_value_true(r, condition, &holds))
		return false;
	if (holds || node->c != NULL)
		return jinja_evaluate(r, holds ? node->a : node->c, out);
	*out = jinja_value_undefined(S("the choice without else"));
	out->safe = true;
	return true;
}

static bool evaluate_unary(struct renderer *r, const struct node *node, struct value *out)
{
	bool holds;
	if (!jinja_evaluate(r, node->a, out))
		return false;
	r->place = node;
	if (node->kind == NODE_NEGATE)
		return jinja_negate(r, *out, out);
	if (node->kind == NODE_PLUS) {
		if (!jinja_value_is_number(*out))
			return jinja_fail(r, "%s has no sign", jinja_value_kind_name(*out));
		if (out->kind == VALUE_BOOL)
			*out = jinja_value_int(out->as.boolean);
		return true;
	}
	if (!jinja_value_true(r, *out, &holds))
		return false;
	*out = jinja_value_bool(!holds);
	return true;
}

/* ---- lists and mappings -------------------------------------------------------------------------------- */

static bool evaluate_list(struct renderer *r, const struct node *node, struct value *out)
{
	size_t count = 0, at = 0;
	for (const struct node *item = node->items; item != NULL; item = item->next)
		count++;
	struct value list;
	if (!jinja_sequence(r, node->kind == NODE_LIST ? SEQUENCE_LIST : SEQUENCE_TUPLE, count,
			    &list))
		return false;
	for (const struct node *item = node->items; item != NULL; item = item->next)
		if (!jinja_evaluate(r, item, &list.as.sequence->at[at++]))
			return false;
	*out = list;
	return true;
}

static bool evaluate_dict(struct renderer *r, const struct node *node, struct value *out)
{
	size_t count = 0;
	for (const struct node *item = node->items; item != NULL; item = item->next)
		count++;
	struct value mapping;
	if (!jinja_mapping(r, count, &mapping))
		return false;
	for (const struct node *item = node->items; item != NULL; item = item->next) {
		struct value key, value;
		if (!jinja_evaluate(r, item->a, &key) || !jinja_evaluate(r, item->b, &value))
			return false;
		r->place = item;
		if (!jinja_value_is_number(key) && key.kind != VALUE_STRING &&
		    key.kind != VALUE_NONE)
			return jinja_fail(r, "%s cannot be a key", jinja_value_kind_name(key));
		if (!jinja_work(r, mapping.as.mapping->count / 8))
			return false;
		jinja_mapping_put(mapping.as.mapping, key, value);
	}
	*out = mapping;
	return true;
}

static bool evaluate_filter(struct renderer *r, const struct node *node, struct value *out)
{
	struct value value;
	struct arguments arguments;
	if (!jinja_evaluate(r, node->a, &value) || !jinja_arguments(r, node->items, &arguments))
		return false;
	r->place = node;
	return jinja_filter(r, node->name, value, &arguments, out);
}

static bool evaluate_test(struct renderer *r, const struct node *node, struct value *out)
{
	struct value value;
	struct arguments arguments;
	bool holds;
	if (!jinja_evaluate(r, node->a, &value) || !jinja_arguments(r, node->items, &arguments))
		return false;
	r->place = node;
	if (!jinja_test(r, node->name, value, &arguments, &holds))
		return false;
	*out = jinja_value_bool(holds);
	return true;
}

static bool evaluate_binary(struct renderer *r, const struct node *node, struct value *out)
{
	struct value a, b;
	if (!jinja_evaluate(r, node->a, &a) || !jinja_evaluate(r, node->b, &b))
		return false;
	r->place = node;
	return jinja_binary(r, node->operator, a, b, out);
}

static bool evaluate_access(struct renderer *r, const struct node *node, struct value *out)
{
	struct value of, key;
	if (!jinja_evaluate(r, node->a, &of))
		return false;
	if (node->kind == NODE_ITEM && !jinja_evaluate(r, node->b, &key))
		return false;
	r->place = node;
	return node->kind == NODE_ITEM ? jinja_item(r, of, key, out)
				       : jinja_attribute(r, of, node->name, out);
}

static bool evaluate(struct renderer *r, const struct node *node, struct value *out)
{
	if (node->kind == NODE_CONSTANT) {
		*out = node->constant;
		return true;
	}
	if (node->kind == NODE_NAME) {
		if (!jinja_lookup(r, node->name, out))
			*out = undefined_of(r, node->name);
		return true;
	}
	if (node->kind == NODE_LIST || node->kind == NODE_TUPLE)
		return evaluate_list(r, node, out);
	if (node->kind == NODE_DICT)
		return evaluate_dict(r, node, out);
	if (node->kind == NODE_ATTRIBUTE || node->kind == NODE_ITEM)
		return evaluate_access(r, node, out);
	if (node->kind == NODE_SLICE)
		return evaluate_slice(r, node, out);
	if (node->kind == NODE_CALL)
		return evaluate_call(r, node, out);
	if (node->kind == NODE_FILTER)
		return evaluate_filter(r, node, out);
	if (node->kind == NODE_TEST)
		return evaluate_test(r, node, out);
	if (node->kind == NODE_AND || node->kind == NODE_OR)
		return evaluate_logical(r, node, out);
	if (node->kind == NODE_COMPARE)
		return evaluate_compare(r, node, out);
	if (node->kind == NODE_BINARY)
		return evaluate_binary(r, node, out);
	if (node->kind == NODE_CONCAT)
		return evaluate_concat(r, node, out);
	if (node->kind == NODE_CHOICE)
		return evaluate_choice(r, node, out);
	require(node->kind == NODE_NOT || node->kind == NODE_NEGATE || node->kind == NODE_PLUS);
	return evaluate_unary(r, node, out);
}

bool jinja_evaluate(struct renderer *r, const struct node *node, struct value *out)
{
	r->place = node;
	if (!jinja_work(r, 1))
		return false;
	if (!jinja_enter(r))
		return false;
	bool good = evaluate(r, node, out);
	r->depth--;
	return good;
}
