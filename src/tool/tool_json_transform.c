/* tool/tool_json_transform.c -- json_transform: transforms a JSON value by a list of operations.
 *
 * Each operation takes the result of the one before:
 *
 *	get     pointer      the value at the JSON pointer (RFC 6901); fails if there is none
 *	pick    [names]      a mapping with only these members, in this order; missing ones are
 *	                     skipped
 *	drop    [names]      a mapping without these members
 *	rename  {old: new}   a mapping with renamed members; fails if two get the same name
 *	merge   mapping      its members merged into the value (RFC 7396: null removes a member)
 *	wrap    name         a mapping with the value as its only member
 *	filter  condition    the items of a list that meet the condition
 *	map     [operations] applies operations to each item of a list or value of a mapping
 *	check   JSON Schema  the value itself; fails if it does not match the schema
 *
 * The tool is pure.  It runs on the loop thread, so LIMIT_TRANSFORM_STEPS bounds its work.
 */
#include "base/limits.h"
#include "contract/run_tool_types.h"
#include "schema/schema.h"
#include "tool/tool_context.h"

enum { CHECK_STEPS = 1000 }; /* cost of one check operation */

struct transform {
	struct arena *arena;
	size_t steps;
	struct error *error;
};

static bool apply_all(struct transform *t, const struct run_json_operation_list *operations,
		      struct json value, struct json *out);

static bool spend(struct transform *t, size_t steps)
{
	t->steps += steps;
	return t->steps <= LIMIT_TRANSFORM_STEPS ||
	       fail(t->error, ERROR_TOO_LARGE,
		    "the operations take more than %d steps on this value", LIMIT_TRANSFORM_STEPS);
}

static bool want(struct transform *t, const struct json *value, enum json_kind kind,
		 const char *operation)
{
	return value->kind == kind ||
	       fail(t->error, ERROR_INVALID, "%s needs %s, not %s", operation,
		    kind == JSON_LIST ? "a list" : "a mapping", json_kind_name(value->kind));
}

static struct json mapping(const struct json_member *at, size_t count)
{
	return (struct json){ .kind = JSON_OBJECT, .as.object = { at, count } };
}

/* ---- JSON pointers ------------------------------------------------------------------- */
/* Replaces ~1 by / and ~0 by ~ in one segment of a pointer. */
static struct str unescape(struct transform *t, struct str part)
{
	char *out = arena_take_text(t->arena, part.size + 1);
	size_t made = 0;
	for (size_t i = 0; i < part.size; i++) {
		char c = part.at[i];
		if (c == '~' && i + 1 < part.size)
			c = part.at[++i] == '1' ? '/' : '~';
		out[made++] = c;
	}
	return (struct str){ out, made };
}

/* The value at the pointer; NULL = none. */
static const struct json *find(struct transform *t, const struct json *value, struct str pointer)
{
	struct str rest = str_skip(pointer, pointer.size > 0 ? 1 : 0), part;
	if (pointer.size == 0)
		return value;
	if (rest.size == 0)
		return json_member(value, S(""));
	while (value != NULL && str_cut(&rest, '/', &part)) {
		struct str name = unescape(t, part);
		int64_t index;
		if (value->kind == JSON_OBJECT)
			value = json_member(value, name);
		else if (value->kind == JSON_LIST && str_to_int(name, &index) && index >= 0 &&
			 (name.size == 1 || name.at[0] != '0'))
			value = json_item(value, (size_t)index);
		else
			value = NULL;
	}
	return value;
}

/* ---- conditions ---------------------------------------------------------------------- */

static bool meets(struct transform *t, const struct run_json_condition *condition,
		  const struct json *item)
{
	const struct json *value = find(t, item, condition->at);
	if (has(condition, exists) && condition->exists != (value != NULL))
		return false;
	if (has(condition, equals) && (value == NULL || !json_equal(value, condition->equals)))
		return false;
	if (has(condition, differs) && value != NULL && json_equal(value, condition->differs))
		return false;
	if (has(condition, at_least) &&
	    (value == NULL || !json_is_number(value) || json_real(value) < condition->at_least))
		return false;
	return !has(condition, at_most) ||
	       (value != NULL && json_is_number(value) && json_real(value) <= condition->at_most);
}

/* ---- operations ---------------------------------------------------------------------- */

static bool named(const struct str_list *names, struct str name)
{
	for (size_t i = 0; i < names->count; i++)
		if (str_equal(names->at[i], name))
			return true;
	return false;
}

static bool pick(struct transform *t, const struct str_list *names, const struct json *value,
		 struct json *out)
{
	if (!want(t, value, JSON_OBJECT, "pick") || !spend(t, names->count))
		return false;
	struct json_member *at = arena_array(t->arena, struct json_member, names->count);
	size_t count = 0;
	for (size_t i = 0; i < names->count; i++) {
		const struct json *found = json_member(value, names->at[i]);
		if (found != NULL)
			at[count++] = (struct json_member){ .key = names->at[i], .value = *found };
	}
	*out = mapping(at, count);
	return true;
}

static bool drop(struct transform *t, const struct str_list *names, const struct json *value,
		 struct json *out)
{
	if (!want(t, value, JSON_OBJECT, "drop") ||
	    !spend(t, (names->count + 1) * value->as.object.count))
		return false;
	struct json_member *at = arena_array(t->arena, struct json_member, value->as.object.count);
	size_t count = 0;
	for (size_t i = 0; i < value->as.object.count; i++)
		if (!named(names, value->as.object.at[i].key))
			at[count++] = value->as.object.at[i];
	*out = mapping(at, count);
	return true;
}

static bool rename_members(struct transform *t, const struct str_map *names,
			   const struct json *value, struct json *out)
{
	if (!want(t, value, JSON_OBJECT, "rename") ||
	    !spend(t, (names->count + 1) * value->as.object.count))
		return false;
	size_t count = value->as.object.count;
	struct json_member *at = arena_array(t->arena, struct json_member, count);
	for (size_t i = 0; i < count; i++) {
		at[i] = value->as.object.at[i];
		for (size_t k = 0; k < names->count; k++)
			if (str_equal(names->at[k].key, value->as.object.at[i].key))
				at[i].key = names->at[k].value;
	}
	*out = mapping(at, count);
	for (size_t k = 0; k < names->count; k++) {
		size_t times = 0;
		for (size_t i = 0; i < count; i++)
			times += str_equal(at[i].key, names->at[k].value);
		if (times > 1)
			return fail(t->error, ERROR_INVALID,
				    "rename would give two members the name " STR_FMT,
				    STR_ARG(str_head(names->at[k].value, LIMIT_QUOTE_BYTES)));
	}
	return true;
}

/* JSON Merge Patch (RFC 7396); the recursion is as deep as the patch. */
static bool merge(struct transform *t, const struct json *patch, const struct json *value,
		  struct json *out)
{
	if (patch->kind != JSON_OBJECT) {
		*out = *patch;
		return true;
	}
	size_t old = value->kind == JSON_OBJECT ? value->as.object.count : 0, count = 0;
	size_t new = patch->as.object.count;
	if (!spend(t, old + new + 1))
		return false;
	struct json_member *at = arena_array(t->arena, struct json_member, old + new);
	for (size_t i = 0; i < old; i++) {
		const struct json_member *member = &value->as.object.at[i];
		const struct json *change = json_member(patch, member->key);
		if (change != NULL && change->kind == JSON_NULL)
			continue;
		at[count] = *member;
		if (change != NULL && !merge(t, change, &member->value, &at[count].value))
			return false;
		count++;
	}
	static const struct json nothing = { .kind = JSON_NULL };
	for (size_t i = 0; i < new; i++) {
		const struct json_member *change = &patch->as.object.at[i];
		if (change->value.kind == JSON_NULL ||
		    (old > 0 && json_member(value, change->key) != NULL))
			continue;
		at[count] = *change;
		if (!merge(t, &change->value, &nothing, &at[count].value))
			return false;
		count++;
	}
	*out = mapping(at, count);
	return true;
}

static bool filter(struct transform *t, const struct run_json_condition *condition,
		   const struct json *value, struct json *out)
{
	if (!want(t, value, JSON_LIST, "filter") || !spend(t, value->as.list.count))
		return false;
	struct json *at = arena_array(t->arena, struct json, value->as.list.count);
	size_t count = 0;
	for (size_t i = 0; i < value->as.list.count; i++)
		if (meets(t, condition, &value->as.list.at[i]))
			at[count++] = value->as.list.at[i];
	*out = (struct json){ .kind = JSON_LIST, .as.list = { at, count } };
	return true;
}

static bool map(struct transform *t, const struct run_json_operation_list *operations,
		const struct json *value, struct json *out)
{
	if (value->kind == JSON_OBJECT) {
		size_t count = value->as.object.count;
		struct json_member *at = arena_array(t->arena, struct json_member, count);
		for (size_t i = 0; i < count; i++) {
			at[i] = value->as.object.at[i];
			if (!apply_all(t, operations, value->as.object.at[i].value, &at[i].value))
				return false;
		}
		*out = mapping(at, count);
		return true;
	}
	if (!want(t, value, JSON_LIST, "map"))
		return false;
	size_t count = value->as.list.count;
	struct json *at = arena_array(t->arena, struct json, count);
	for (size_t i = 0; i < count; i++)
		if (!apply_all(t, operations, value->as.list.at[i], &at[i]))
			return false;
	*out = (struct json){ .kind = JSON_LIST, .as.list = { at, count } };
	return true;
}

static bool check(struct transform *t, const struct json *json, const struct json *value,
		  struct json *out)
{
	if (!spend(t, CHECK_STEPS))
		return false;
	struct problems problems = { .arena = t->arena };
	struct schema *schema;
	if (!schema_compile(json, NULL, t->arena, &schema, &problems)) {
		problems_fail(&problems, t->error);
		error_prefix(t->error, "check is not a valid JSON Schema: ");
		return false;
	}
	bool good = schema_check(schema, value, t->arena, &problems);
	schema_done(schema);
	if (!good) {
		problems_fail(&problems, t->error);
		error_prefix(t->error, "check: ");
	}
	*out = *value;
	return good;
}

static bool apply(struct transform *t, const struct run_json_operation *operation,
		  const struct json *value, struct json *out)
{
	if (!spend(t, 1))
		return false;
	if (has(operation, get)) {
		const struct json *found = find(t, value, operation->get);
		if (found == NULL)
			return fail(t->error, ERROR_NOT_FOUND, "get found nothing at " STR_FMT,
				    STR_ARG(str_head(operation->get, LIMIT_QUOTE_BYTES)));
		*out = *found;
		return true;
	}
	if (has(operation, wrap)) {
		struct json_member *at = arena_new(t->arena, struct json_member);
		*at = (struct json_member){ .key = operation->wrap, .value = *value };
		*out = mapping(at, 1);
		return true;
	}
	if (has(operation, pick))
		return pick(t, &operation->pick, value, out);
	if (has(operation, drop))
		return drop(t, &operation->drop, value, out);
	if (has(operation, rename))
		return rename_members(t, &operation->rename, value, out);
	if (has(operation, merge))
		return merge(t, operation->merge, value, out);
	if (has(operation, filter))
		return filter(t, operation->filter, value, out);
	if (has(operation, map))
		return map(t, &operation->map, value, out);
	require(has(operation, check));
	return check(t, operation->check, value, out);
}

static bool apply_all(struct transform *t, const struct run_json_operation_list *operations,
		      struct json value, struct json *out)
{
	for (size_t i = 0; i < operations->count; i++) {
		struct json given = value;
		if (!apply(t, &operations->at[i], &given, &value)) {
			error_prefix(t->error, "operation %zu: ", i + 1);
			return false;
		}
	}
	*out = value;
	return true;
}

static bool compute(const struct json *inputs, struct arena *arena, const struct json **out_output,
		    struct error *error)
{
	const struct run_json_transform_inputs *parsed =
		tool_context_inputs(run_json_transform_inputs_type(), inputs, arena, error);
	if (parsed == NULL)
		return false;
	struct transform t = { .arena = arena, .error = error };
	struct json_member *result = arena_new(arena, struct json_member);
	result->key = S("result");
	if (!apply_all(&t, &parsed->operations, *parsed->input, &result->value))
		return false;
	struct json *output = arena_new(arena, struct json);
	*output = mapping(result, 1);
	*out_output = output;
	return true;
}

const struct tool tool_json_transform = {
	.name = "json_transform",
	.text = "Transforms a JSON value: get, pick, drop, rename, merge, wrap, filter, map, check.",
	.class = RUN_CLASS_PURE,
	.risk = RUN_RISK_LOW,
	.inputs = run_json_transform_inputs_type,
	.outputs = run_json_transform_outputs_type,
	.compute = compute,
};
