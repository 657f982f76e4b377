/* schema/schema_check.c -- checks a value against a compiled schema.
 *
 * Checking a node returns true or false and adds problems unless c->problems is NULL; branches that
 * may fail (anyOf, not, if, ...) are checked without adding problems.  If the schema uses
 * unevaluatedProperties or unevaluatedItems, a bit per member or item records which ones have been
 * evaluated.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <math.h>
#include <pcre2.h>
#include <string.h>

#include "base/limits.h"
#include "schema/schema_internal.h"

/* A stack frame of the check: for the dynamic scope, and to detect cycles. */
struct frame {
	const struct frame *outer;
	const struct schema_node *node;
	const struct json *value;
};

struct checker {
	struct schema *schema;
	struct arena *arena;
	struct problems *problems; /* NULL = do not add problems */
	struct str pointer;        /* of the value */
	const struct frame *frames;
	size_t steps, depth;
	bool exhausted;
};

/* One flag per member or item; NULL = not needed. */
typedef uint8_t evaluated_bits;

static bool check(struct checker *c, const struct schema_node *node, const struct json *value,
		  evaluated_bits *evaluated);

static size_t parts(const struct json *value)
{
	return value->kind == JSON_OBJECT ? value->as.object.count
	       : value->kind == JSON_LIST ? value->as.list.count
					  : 0;
}

static evaluated_bits *evaluated_new(struct checker *c, const struct json *value)
{
	return c->schema->tracks && parts(value) > 0
		       ? arena_array(c->arena, evaluated_bits, parts(value))
		       : NULL;
}

static void evaluated_merge(evaluated_bits *into, const evaluated_bits *from, size_t count)
{
	for (size_t i = 0; into != NULL && from != NULL && i < count; i++)
		into[i] |= from[i];
}

__attribute__((format(printf, 2, 3))) static bool add_problem(struct checker *c, const char *format,
							      ...)
{
	if (c->problems == NULL)
		return false;
	va_list list;
	va_start(list, format);
	struct str text = str_format_list(c->arena, format, list);
	va_end(list);
	problems_add(c->problems, c->pointer, 0, 0, STR_FMT, STR_ARG(text));
	return false;
}

/* Checks without adding problems. */
static bool check_silently(struct checker *c, const struct schema_node *node,
			   const struct json *value, evaluated_bits *evaluated)
{
	struct problems *problems = c->problems;
	c->problems = NULL;
	bool good = check(c, node, value, evaluated);
	c->problems = problems;
	return good;
}

/* Checks a member or item of the value. */
static bool check_part(struct checker *c, const struct schema_node *node, const struct json *value,
		       struct str key, size_t index)
{
	struct str outer = c->pointer;
	if (c->problems != NULL)
		c->pointer = key.at != NULL
				     ? str_format(c->arena, STR_FMT "/" STR_FMT, STR_ARG(outer),
						  STR_ARG(key))
				     : str_format(c->arena, STR_FMT "/%zu", STR_ARG(outer), index);
	if (c->pointer.size > LIMIT_POINTER_BYTES)
		c->pointer = str_head(c->pointer, LIMIT_POINTER_BYTES);
	bool good = check(c, node, value, NULL);
	c->pointer = outer;
	return good;
}

/* ---- keywords for all values ----------------------------------------------------------- */

static unsigned types_of(const struct json *value)
{
	switch (value->kind) {
	case JSON_NULL:
		return TYPE_NULL;
	case JSON_BOOL:
		return TYPE_BOOL;
	case JSON_INT:
		return TYPE_INTEGER | TYPE_NUMBER;
	case JSON_REAL:
		return floor(value->as.real) == value->as.real ? TYPE_INTEGER | TYPE_NUMBER
							       : TYPE_NUMBER;
	case JSON_STRING:
		return TYPE_STRING;
	case JSON_LIST:
		return TYPE_LIST;
	case JSON_OBJECT:
		return TYPE_OBJECT;
	}
	return 0;
}

static bool check_any(struct checker *c, const struct schema_node *node, const struct json *value)
{
	bool good = true;
	if (node->types != 0 && (node->types & types_of(value)) == 0)
		good = add_problem(c, "has the wrong type: %s", json_kind_name(value->kind));
	if (node->constant != NULL && !number_equal_trees(node->constant, value))
		good = add_problem(c, "is not the value of const");
	if (node->choices != NULL) {
		bool found = false;
		for (size_t i = 0; i < parts(node->choices) && !found; i++)
			found = number_equal_trees(json_item(node->choices, i), value);
		if (!found)
			good = add_problem(c, "is not one of the values of enum");
	}
	return good;
}

static bool check_number(struct checker *c, const struct schema_node *node,
			 const struct json *value)
{
	bool good = true;
	if (node->maximum != NULL && number_compare(value, node->maximum) > 0)
		good = add_problem(c, "is greater than maximum");
	if (node->minimum != NULL && number_compare(value, node->minimum) < 0)
		good = add_problem(c, "is less than minimum");
	if (node->below != NULL && number_compare(value, node->below) >= 0)
		good = add_problem(c, "is not less than exclusiveMaximum");
	if (node->above != NULL && number_compare(value, node->above) <= 0)
		good = add_problem(c, "is not greater than exclusiveMinimum");
	if (node->multiple != NULL && !number_is_multiple(value, node->multiple))
		good = add_problem(c, "is not a multiple of multipleOf");
	return good;
}

static int64_t characters(struct str text)
{
	int64_t count = 0;
	for (size_t i = 0; i < text.size; i++)
		count += ((unsigned char)text.at[i] & 0xC0) != 0x80;
	return count;
}

static bool matches(const struct schema_pattern *pattern, struct str text)
{
	static const char nothing[] = "";
	if (pattern == NULL || text.size > LIMIT_PATTERN_BYTES)
		return false;
	pcre2_match_context *context = pcre2_match_context_create(NULL);
	require(context != NULL);
	pcre2_set_match_limit(context, LIMIT_PATTERN_MATCHES);
	pcre2_set_depth_limit(context, LIMIT_PATTERN_MATCHES);
	int found = pcre2_match(pattern->code, (PCRE2_SPTR)(text.at == NULL ? nothing : text.at),
				text.size, 0, 0, pattern->match, context);
	pcre2_match_context_free(context);
	return found >= 0;
}

static bool check_text(struct checker *c, const struct schema_node *node, struct str text)
{
	bool good = true;
	if (node->max_length >= 0 && characters(text) > node->max_length)
		good = add_problem(c, "is longer than %lld characters",
				   (long long)node->max_length);
	if (node->min_length >= 0 && characters(text) < node->min_length)
		good = add_problem(c, "is shorter than %lld characters",
				   (long long)node->min_length);
	if (node->format != NULL && !node->format(text))
		good = add_problem(c, "does not have the format " STR_FMT,
				   STR_ARG(json_text(json_member(node->json, S("format")))));
	if (node->pattern != NULL && !matches(node->pattern, text))
		good = add_problem(c, "does not match the pattern " STR_FMT,
				   STR_ARG(str_head(node->pattern->text, LIMIT_QUOTE_BYTES)));
	return good;
}

/* ---- lists --------------------------------------------------------------------------- */

static bool check_unique(struct checker *c, const struct json *value)
{
	for (size_t i = 0; i < value->as.list.count; i++)
		for (size_t k = i + 1; k < value->as.list.count; k++) {
			if (++c->steps > LIMIT_SCHEMA_STEPS)
				return true; /* check() reports it */
			if (number_equal_trees(&value->as.list.at[i], &value->as.list.at[k]))
				return add_problem(c, "contains equal items at %zu and %zu", i, k);
		}
	return true;
}

static bool check_contains(struct checker *c, const struct schema_node *node,
			   const struct json *value, evaluated_bits *evaluated)
{
	int64_t found = 0, least = node->min_contains >= 0 ? node->min_contains : 1;
	for (size_t i = 0; i < value->as.list.count; i++)
		if (check_silently(c, node->contains, &value->as.list.at[i], NULL)) {
			found++;
			if (evaluated != NULL && !node->draft7)
				evaluated[i] = 1;
		}
	if (found < least)
		return add_problem(c, "has %lld items that match contains, fewer than %lld",
				   (long long)found, (long long)least);
	if (node->max_contains >= 0 && found > node->max_contains)
		return add_problem(c, "has %lld items that match contains, more than %lld",
				   (long long)found, (long long)node->max_contains);
	return true;
}

static bool check_list(struct checker *c, const struct schema_node *node, const struct json *value,
		       evaluated_bits *evaluated)
{
	size_t count = value->as.list.count;
	bool good = true;
	if (node->max_items >= 0 && (int64_t)count > node->max_items)
		good = add_problem(c, "has more than %lld items", (long long)node->max_items);
	if (node->min_items >= 0 && (int64_t)count < node->min_items)
		good = add_problem(c, "has fewer than %lld items", (long long)node->min_items);
	if (node->unique && !check_unique(c, value))
		good = false;
	for (size_t i = 0; i < count; i++) {
		const struct schema_node *item =
			i < node->prefix.count ? node->prefix.at[i] : node->items;
		if (item == NULL)
			continue;
		good &= check_part(c, item, &value->as.list.at[i], (struct str){ 0 }, i);
		if (evaluated != NULL)
			evaluated[i] = 1;
	}
	if (node->contains != NULL)
		good &= check_contains(c, node, value, evaluated);
	return good;
}

/* ---- mappings ------------------------------------------------------------------------ */

static bool check_names(struct checker *c, const struct schema_node *node, const struct json *value)
{
	bool good = true;
	for (size_t i = 0; i < node->required.count; i++)
		if (json_member(value, node->required.at[i]) == NULL)
			good = add_problem(
				c, "needs the member " STR_FMT,
				STR_ARG(str_head(node->required.at[i], LIMIT_QUOTE_BYTES)));
	for (size_t i = 0; i < node->needs_count; i++) {
		const struct schema_needs *needs = &node->needs[i];
		if (json_member(value, needs->key) == NULL)
			continue;
		for (size_t n = 0; n < needs->names.count; n++)
			if (json_member(value, needs->names.at[n]) == NULL)
				good = add_problem(
					c, "has the member " STR_FMT " and so needs " STR_FMT,
					STR_ARG(str_head(needs->key, LIMIT_QUOTE_BYTES)),
					STR_ARG(str_head(needs->names.at[n], LIMIT_QUOTE_BYTES)));
	}
	for (size_t i = 0; node->names != NULL && i < value->as.object.count; i++) {
		struct json name = { .kind = JSON_STRING, .as.string = value->as.object.at[i].key };
		if (!check_silently(c, node->names, &name, NULL))
			good = add_problem(c, "has a member whose name is not allowed: " STR_FMT,
					   STR_ARG(str_head(name.as.string, LIMIT_QUOTE_BYTES)));
	}
	return good;
}

static bool check_member(struct checker *c, const struct schema_node *node,
			 const struct json_member *member, bool *out_known)
{
	bool good = true;
	*out_known = false;
	for (size_t i = 0; i < node->properties.count; i++)
		if (str_equal(node->properties.at[i].key, member->key)) {
			*out_known = true;
			good &= check_part(c, node->properties.at[i].node, &member->value,
					   member->key, 0);
		}
	for (size_t i = 0; i < node->patterns.count; i++)
		if (matches(node->patterns.at[i].pattern, member->key)) {
			*out_known = true;
			good &= check_part(c, node->patterns.at[i].node, &member->value,
					   member->key, 0);
		}
	if (*out_known || node->additional == NULL)
		return good;
	*out_known = true;
	if (node->additional->never)
		return add_problem(c, "has an unknown member: " STR_FMT,
				   STR_ARG(str_head(member->key, LIMIT_QUOTE_BYTES)));
	return check_part(c, node->additional, &member->value, member->key, 0);
}

static bool check_object(struct checker *c, const struct schema_node *node,
			 const struct json *value, evaluated_bits *evaluated)
{
	size_t count = value->as.object.count;
	bool good = check_names(c, node, value);
	if (node->max_members >= 0 && (int64_t)count > node->max_members)
		good = add_problem(c, "has more than %lld members", (long long)node->max_members);
	if (node->min_members >= 0 && (int64_t)count < node->min_members)
		good = add_problem(c, "has fewer than %lld members", (long long)node->min_members);
	for (size_t i = 0; i < count; i++) {
		bool known;
		good &= check_member(c, node, &value->as.object.at[i], &known);
		if (evaluated != NULL && known)
			evaluated[i] = 1;
	}
	for (size_t i = 0; i < node->dependents.count; i++)
		if (json_member(value, node->dependents.at[i].key) != NULL)
			good &= check(c, node->dependents.at[i].node, value, evaluated);
	return good;
}

/* ---- combined schemas ---------------------------------------------------------------- */
/* Counts the branches that the value matches; adds what those have evaluated. */
static size_t count_holding(struct checker *c, const struct schema_nodes *branches,
			    const struct json *value, evaluated_bits *evaluated)
{
	size_t holding = 0;
	for (size_t i = 0; i < branches->count; i++) {
		evaluated_bits *mine = evaluated == NULL ? NULL : evaluated_new(c, value);
		if (!check_silently(c, branches->at[i], value, mine))
			continue;
		holding++;
		evaluated_merge(evaluated, mine, parts(value));
	}
	return holding;
}

static bool check_branches(struct checker *c, const struct schema_node *node,
			   const struct json *value, evaluated_bits *evaluated)
{
	bool good = true;
	for (size_t i = 0; i < node->all.count; i++)
		good &= check(c, node->all.at[i], value, evaluated);
	if (node->any.count > 0 && count_holding(c, &node->any, value, evaluated) == 0)
		good = add_problem(c, "matches none of the %zu schemas of anyOf", node->any.count);
	if (node->one.count > 0) {
		size_t holding = count_holding(c, &node->one, value, evaluated);
		if (holding != 1)
			good = add_problem(
				c, "matches %zu of the %zu schemas of oneOf instead of exactly one",
				holding, node->one.count);
	}
	if (node->not != NULL && check_silently(c, node->not, value, NULL))
		good = add_problem(c, "matches the schema of not");
	if (node->when != NULL) {
		evaluated_bits *mine = evaluated == NULL ? NULL : evaluated_new(c, value);
		bool holds = check_silently(c, node->when, value, mine);
		if (holds)
			evaluated_merge(evaluated, mine, parts(value));
		const struct schema_node *next = holds ? node->then : node->otherwise;
		if (next != NULL)
			good &= check(c, next, value, evaluated);
	}
	return good;
}

/* The outermost schema of the dynamic scope with the dynamic anchor. */
static const struct schema_node *dynamic_target(const struct checker *c,
						const struct schema_node *node)
{
	const struct schema_node *target = node->dynamic_target;
	struct str document, name;
	uri_split(node->dynamic_ref, &document, &name);
	if (target == NULL || !str_equal(target->dynamic_anchor, name) || name.size == 0)
		return target;
	for (const struct frame *frame = c->frames; frame != NULL; frame = frame->outer)
		for (const struct schema_place *place = c->schema->places; place != NULL;
		     place = place->next) {
			struct str place_document, anchor;
			uri_split(place->uri, &place_document, &anchor);
			if (!place->dynamic || !str_equal(anchor, name) ||
			    !str_equal(place_document, frame->node->base))
				continue;
			struct str key = { (const char *)&place->node->json,
					   sizeof(place->node->json) };
			const struct schema_node *found = map_get(&c->schema->by_json, key);
			if (found != NULL)
				target = found;
		}
	return target;
}

static bool check_unevaluated(struct checker *c, const struct schema_node *node,
			      const struct json *value, evaluated_bits *evaluated)
{
	const struct schema_node *rest = value->kind == JSON_OBJECT ? node->unevaluated_members
					 : value->kind == JSON_LIST ? node->unevaluated_items
								    : NULL;
	bool good = true;
	for (size_t i = 0; rest != NULL && i < parts(value); i++) {
		if (evaluated[i])
			continue;
		evaluated[i] = 1;
		if (value->kind == JSON_OBJECT)
			good &= check_part(c, rest, &value->as.object.at[i].value,
					   value->as.object.at[i].key, 0);
		else
			good &= check_part(c, rest, &value->as.list.at[i], (struct str){ 0 }, i);
	}
	return good;
}

static bool check_node(struct checker *c, const struct schema_node *node, const struct json *value,
		       evaluated_bits *evaluated)
{
	bool good = true;
	if (node->target != NULL)
		good &= check(c, node->target, value, evaluated);
	if (node->draft7 && node->ref.at != NULL)
		return good;
	if (node->dynamic_ref.at != NULL) {
		const struct schema_node *target = dynamic_target(c, node);
		if (target != NULL)
			good &= check(c, target, value, evaluated);
	}
	good &= check_any(c, node, value);
	if (json_is_number(value))
		good &= check_number(c, node, value);
	else if (value->kind == JSON_STRING)
		good &= check_text(c, node, value->as.string);
	else if (value->kind == JSON_LIST)
		good &= check_list(c, node, value, evaluated);
	else if (value->kind == JSON_OBJECT)
		good &= check_object(c, node, value, evaluated);
	good &= check_branches(c, node, value, evaluated);
	return check_unevaluated(c, node, value, evaluated) && good;
}

static bool is_circle(const struct checker *c, const struct schema_node *node,
		      const struct json *value)
{
	for (const struct frame *f = c->frames; f != NULL && f->value == value; f = f->outer)
		if (f->node == node)
			return true;
	return false;
}

static bool check(struct checker *c, const struct schema_node *node, const struct json *value,
		  evaluated_bits *evaluated)
{
	if (node->always)
		return true;
	if (node->never)
		return add_problem(c, "is not allowed here");
	if (c->exhausted || ++c->steps > LIMIT_SCHEMA_STEPS || c->depth > LIMIT_SCHEMA_DEPTH) {
		c->exhausted = true;
		return false;
	}
	if (is_circle(c, node, value)) {
		c->exhausted = true; /* an endless cycle: the result is unknown */
		return false;
	}
	struct frame frame = { c->frames, node, value };
	evaluated_bits *mine = evaluated_new(c, value);
	c->frames = &frame;
	c->depth++;
	bool good = check_node(c, node, value, mine);
	c->depth--;
	c->frames = frame.outer;
	evaluated_merge(evaluated, mine, parts(value));
	return good && !c->exhausted;
}

bool schema_check(struct schema *schema, const struct json *value, struct arena *arena,
		  struct problems *problems)
{
	struct checker c = {
		.schema = schema, .arena = arena, .problems = problems, .pointer = S("")
	};
	bool good = check(&c, schema->root, value, NULL);
	if (c.exhausted) {
		c.pointer = S("");
		add_problem(
			&c,
			"cannot be checked: it takes too many steps, or the schema has an endless cycle");
		return false;
	}
	return good;
}
