/* schema/schema_check.c -- a value against a compiled schema.
 *
 * A node gives true or false and, where somebody wants to know, the problems; branches that may
 * fail (anyOf, not, if …) are walked without telling.  Which members and items a schema has looked
 * at is kept as bits, for unevaluatedProperties and unevaluatedItems, only in schemas that have
 * one.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <math.h>
#include <pcre2.h>
#include <string.h>

#include "base/limits.h"
#include "schema/schema_internal.h"

/* A schema under way: the dynamic scope, and what guards against circles. */
struct frame {
	const struct frame *outer;
	const struct schema_node *node;
	const struct json *value;
};

struct checking {
	struct schema *schema;
	struct arena *arena;
	struct problems *problems; /* NULL: only yes or no */
	struct str pointer;        /* of the value */
	const struct frame *frames;
	size_t steps, depth;
	bool exhausted;
};

/* One bit a member or item; NULL where nobody asks. */
typedef uint8_t seen_bits;

static bool check(struct checking *c, const struct schema_node *node, const struct json *value,
		  seen_bits *seen);

static size_t parts(const struct json *value)
{
	return value->kind == JSON_OBJECT ? value->as.object.count
	       : value->kind == JSON_LIST ? value->as.list.count
					  : 0;
}

static seen_bits *seen_new(struct checking *c, const struct json *value)
{
	return c->schema->tracks && parts(value) > 0
		       ? arena_array(c->arena, seen_bits, parts(value))
		       : NULL;
}

static void seen_merge(seen_bits *into, const seen_bits *from, size_t count)
{
	for (size_t i = 0; into != NULL && from != NULL && i < count; i++)
		into[i] |= from[i];
}

__attribute__((format(printf, 2, 3))) static bool no(struct checking *c, const char *format, ...)
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

/* Without telling why not. */
static bool quietly(struct checking *c, const struct schema_node *node, const struct json *value,
		    seen_bits *seen)
{
	struct problems *problems = c->problems;
	c->problems = NULL;
	bool good = check(c, node, value, seen);
	c->problems = problems;
	return good;
}

/* A part of the value, under its own pointer. */
static bool inside(struct checking *c, const struct schema_node *node, const struct json *value,
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

/* ---- what every value may be asked ----------------------------------------------------- */

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

static bool check_any(struct checking *c, const struct schema_node *node, const struct json *value)
{
	bool good = true;
	if (node->types != 0 && (node->types & types_of(value)) == 0)
		good = no(c, "is %s, which is not its type", json_kind_name(value->kind));
	if (node->constant != NULL && !json_equal(node->constant, value))
		good = no(c, "is not the one value it may be");
	if (node->choices != NULL) {
		bool found = false;
		for (size_t i = 0; i < parts(node->choices) && !found; i++)
			found = json_equal(json_item(node->choices, i), value);
		if (!found)
			good = no(c, "is not one of the values it may be");
	}
	return good;
}

/* -1, 0, 1; whole numbers exactly. */
static int compare(const struct json *a, const struct json *b)
{
	if (a->kind == JSON_INT && b->kind == JSON_INT)
		return (a->as.integer > b->as.integer) - (a->as.integer < b->as.integer);
	return (json_real(a) > json_real(b)) - (json_real(a) < json_real(b));
}

static bool is_multiple(const struct json *value, const struct json *of)
{
	if (value->kind == JSON_INT && of->kind == JSON_INT && of->as.integer != 0)
		return of->as.integer == -1 || value->as.integer % of->as.integer == 0;
	double quotient = json_real(value) / json_real(of);
	if (isinf(quotient) || isnan(quotient))
		return false;
	return quotient == floor(quotient) ||
	       fabs(quotient - nearbyint(quotient)) < 1e-9 * fmax(1, fabs(quotient));
}

static bool check_number(struct checking *c, const struct schema_node *node,
			 const struct json *value)
{
	bool good = true;
	if (node->maximum != NULL && compare(value, node->maximum) > 0)
		good = no(c, "is over its maximum");
	if (node->minimum != NULL && compare(value, node->minimum) < 0)
		good = no(c, "is under its minimum");
	if (node->below != NULL && compare(value, node->below) >= 0)
		good = no(c, "is not below its exclusiveMaximum");
	if (node->above != NULL && compare(value, node->above) <= 0)
		good = no(c, "is not above its exclusiveMinimum");
	if (node->multiple != NULL && !is_multiple(value, node->multiple))
		good = no(c, "is no multiple of its multipleOf");
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

static bool check_text(struct checking *c, const struct schema_node *node, struct str text)
{
	bool good = true;
	if (node->max_length >= 0 && characters(text) > node->max_length)
		good = no(c, "is longer than %lld characters", (long long)node->max_length);
	if (node->min_length >= 0 && characters(text) < node->min_length)
		good = no(c, "is shorter than %lld characters", (long long)node->min_length);
	if (node->pattern != NULL && !matches(node->pattern, text))
		good = no(c, "does not match its pattern " STR_FMT,
			  STR_ARG(str_head(node->pattern->text, LIMIT_QUOTE_BYTES)));
	return good;
}

/* ---- lists --------------------------------------------------------------------------- */

static bool check_unique(struct checking *c, const struct json *value)
{
	for (size_t i = 0; i < value->as.list.count; i++)
		for (size_t k = i + 1; k < value->as.list.count; k++) {
			if (++c->steps > LIMIT_SCHEMA_STEPS)
				return true; /* check() tells */
			if (json_equal(&value->as.list.at[i], &value->as.list.at[k]))
				return no(c, "has the same item twice, at %zu and %zu", i, k);
		}
	return true;
}

static bool check_contains(struct checking *c, const struct schema_node *node,
			   const struct json *value, seen_bits *seen)
{
	int64_t found = 0, least = node->min_contains >= 0 ? node->min_contains : 1;
	for (size_t i = 0; i < value->as.list.count; i++)
		if (quietly(c, node->contains, &value->as.list.at[i], NULL)) {
			found++;
			if (seen != NULL && !node->draft7)
				seen[i] = 1;
		}
	if (found < least)
		return no(c, "has %lld items of a kind of which it needs %lld", (long long)found,
			  (long long)least);
	if (node->max_contains >= 0 && found > node->max_contains)
		return no(c, "has %lld items of a kind of which it may have %lld", (long long)found,
			  (long long)node->max_contains);
	return true;
}

static bool check_list(struct checking *c, const struct schema_node *node, const struct json *value,
		       seen_bits *seen)
{
	size_t count = value->as.list.count;
	bool good = true;
	if (node->max_items >= 0 && (int64_t)count > node->max_items)
		good = no(c, "has more than %lld items", (long long)node->max_items);
	if (node->min_items >= 0 && (int64_t)count < node->min_items)
		good = no(c, "has fewer than %lld items", (long long)node->min_items);
	if (node->unique && !check_unique(c, value))
		good = false;
	for (size_t i = 0; i < count; i++) {
		const struct schema_node *item =
			i < node->prefix.count ? node->prefix.at[i] : node->items;
		if (item == NULL)
			continue;
		good &= inside(c, item, &value->as.list.at[i], (struct str){ 0 }, i);
		if (seen != NULL)
			seen[i] = 1;
	}
	if (node->contains != NULL)
		good &= check_contains(c, node, value, seen);
	return good;
}

/* ---- mappings ------------------------------------------------------------------------ */

static bool check_names(struct checking *c, const struct schema_node *node,
			const struct json *value)
{
	bool good = true;
	for (size_t i = 0; i < node->required.count; i++)
		if (json_member(value, node->required.at[i]) == NULL)
			good = no(c, "needs the member " STR_FMT,
				  STR_ARG(str_head(node->required.at[i], LIMIT_QUOTE_BYTES)));
	for (size_t i = 0; i < node->needs_count; i++) {
		const struct schema_needs *needs = &node->needs[i];
		if (json_member(value, needs->key) == NULL)
			continue;
		for (size_t n = 0; n < needs->names.count; n++)
			if (json_member(value, needs->names.at[n]) == NULL)
				good = no(c, "has " STR_FMT " and so needs " STR_FMT,
					  STR_ARG(str_head(needs->key, LIMIT_QUOTE_BYTES)),
					  STR_ARG(str_head(needs->names.at[n], LIMIT_QUOTE_BYTES)));
	}
	for (size_t i = 0; node->names != NULL && i < value->as.object.count; i++) {
		struct json name = { .kind = JSON_STRING, .as.string = value->as.object.at[i].key };
		if (!quietly(c, node->names, &name, NULL))
			good = no(c, "has a member of a name that is not allowed: " STR_FMT,
				  STR_ARG(str_head(name.as.string, LIMIT_QUOTE_BYTES)));
	}
	return good;
}

static bool check_member(struct checking *c, const struct schema_node *node,
			 const struct json_member *member, bool *out_known)
{
	bool good = true;
	*out_known = false;
	for (size_t i = 0; i < node->properties.count; i++)
		if (str_equal(node->properties.at[i].key, member->key)) {
			*out_known = true;
			good &= inside(c, node->properties.at[i].node, &member->value, member->key,
				       0);
		}
	for (size_t i = 0; i < node->patterns.count; i++)
		if (matches(node->patterns.at[i].pattern, member->key)) {
			*out_known = true;
			good &= inside(c, node->patterns.at[i].node, &member->value, member->key,
				       0);
		}
	if (*out_known || node->additional == NULL)
		return good;
	*out_known = true;
	if (node->additional->never)
		return no(c, "has a member that is not known: " STR_FMT,
			  STR_ARG(str_head(member->key, LIMIT_QUOTE_BYTES)));
	return inside(c, node->additional, &member->value, member->key, 0);
}

static bool check_object(struct checking *c, const struct schema_node *node,
			 const struct json *value, seen_bits *seen)
{
	size_t count = value->as.object.count;
	bool good = check_names(c, node, value);
	if (node->max_members >= 0 && (int64_t)count > node->max_members)
		good = no(c, "has more than %lld members", (long long)node->max_members);
	if (node->min_members >= 0 && (int64_t)count < node->min_members)
		good = no(c, "has fewer than %lld members", (long long)node->min_members);
	for (size_t i = 0; i < count; i++) {
		bool known;
		good &= check_member(c, node, &value->as.object.at[i], &known);
		if (seen != NULL && known)
			seen[i] = 1;
	}
	for (size_t i = 0; i < node->dependents.count; i++)
		if (json_member(value, node->dependents.at[i].key) != NULL)
			good &= check(c, node->dependents.at[i].node, value, seen);
	return good;
}

/* ---- schemas of schemas -------------------------------------------------------------- */

/* How many of the branches hold; what those have looked at counts. */
static size_t count_holding(struct checking *c, const struct schema_nodes *branches,
			    const struct json *value, seen_bits *seen)
{
	size_t holding = 0;
	for (size_t i = 0; i < branches->count; i++) {
		seen_bits *mine = seen == NULL ? NULL : seen_new(c, value);
		if (!quietly(c, branches->at[i], value, mine))
			continue;
		holding++;
		seen_merge(seen, mine, parts(value));
	}
	return holding;
}

static bool check_branches(struct checking *c, const struct schema_node *node,
			   const struct json *value, seen_bits *seen)
{
	bool good = true;
	for (size_t i = 0; i < node->all.count; i++)
		good &= check(c, node->all.at[i], value, seen);
	if (node->any.count > 0 && count_holding(c, &node->any, value, seen) == 0)
		good = no(c, "fits none of %zu schemas", node->any.count);
	if (node->one.count > 0) {
		size_t holding = count_holding(c, &node->one, value, seen);
		if (holding != 1)
			good = no(c, "fits %zu of %zu schemas and must fit exactly one", holding,
				  node->one.count);
	}
	if (node->not != NULL && quietly(c, node->not, value, NULL))
		good = no(c, "fits a schema that it must not fit");
	if (node->when != NULL) {
		seen_bits *mine = seen == NULL ? NULL : seen_new(c, value);
		bool holds = quietly(c, node->when, value, mine);
		if (holds)
			seen_merge(seen, mine, parts(value));
		const struct schema_node *next = holds ? node->then : node->otherwise;
		if (next != NULL)
			good &= check(c, next, value, seen);
	}
	return good;
}

/* The outermost schema under way that bears the dynamic anchor. */
static const struct schema_node *dynamic_target(const struct checking *c,
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

static bool check_unevaluated(struct checking *c, const struct schema_node *node,
			      const struct json *value, seen_bits *seen)
{
	const struct schema_node *rest = value->kind == JSON_OBJECT ? node->unevaluated_members
					 : value->kind == JSON_LIST ? node->unevaluated_items
								    : NULL;
	bool good = true;
	for (size_t i = 0; rest != NULL && i < parts(value); i++) {
		if (seen[i])
			continue;
		seen[i] = 1;
		if (value->kind == JSON_OBJECT)
			good &= inside(c, rest, &value->as.object.at[i].value,
				       value->as.object.at[i].key, 0);
		else
			good &= inside(c, rest, &value->as.list.at[i], (struct str){ 0 }, i);
	}
	return good;
}

static bool check_node(struct checking *c, const struct schema_node *node, const struct json *value,
		       seen_bits *seen)
{
	bool good = true;
	if (node->target != NULL)
		good &= check(c, node->target, value, seen);
	if (node->draft7 && node->ref.at != NULL)
		return good;
	if (node->dynamic_ref.at != NULL) {
		const struct schema_node *target = dynamic_target(c, node);
		if (target != NULL)
			good &= check(c, target, value, seen);
	}
	good &= check_any(c, node, value);
	if (json_is_number(value))
		good &= check_number(c, node, value);
	else if (value->kind == JSON_STRING)
		good &= check_text(c, node, value->as.string);
	else if (value->kind == JSON_LIST)
		good &= check_list(c, node, value, seen);
	else if (value->kind == JSON_OBJECT)
		good &= check_object(c, node, value, seen);
	good &= check_branches(c, node, value, seen);
	return check_unevaluated(c, node, value, seen) && good;
}

static bool is_circle(const struct checking *c, const struct schema_node *node,
		      const struct json *value)
{
	for (const struct frame *f = c->frames; f != NULL && f->value == value; f = f->outer)
		if (f->node == node)
			return true;
	return false;
}

static bool check(struct checking *c, const struct schema_node *node, const struct json *value,
		  seen_bits *seen)
{
	if (node->always)
		return true;
	if (node->never)
		return no(c, "may not be here at all");
	if (c->exhausted || ++c->steps > LIMIT_SCHEMA_STEPS || c->depth > LIMIT_SCHEMA_DEPTH) {
		c->exhausted = true;
		return false;
	}
	if (is_circle(c, node, value)) {
		c->exhausted = true; /* it would never end: nothing is proved about the value */
		return false;
	}
	struct frame frame = { c->frames, node, value };
	seen_bits *mine = seen_new(c, value);
	c->frames = &frame;
	c->depth++;
	bool good = check_node(c, node, value, mine);
	c->depth--;
	c->frames = frame.outer;
	seen_merge(seen, mine, parts(value));
	return good && !c->exhausted;
}

bool schema_check(struct schema *schema, const struct json *value, struct arena *arena,
		  struct problems *problems)
{
	struct checking c = {
		.schema = schema, .arena = arena, .problems = problems, .pointer = S("")
	};
	bool good = check(&c, schema->root, value, NULL);
	if (c.exhausted) {
		c.pointer = S("");
		no(&c, "checking it takes too many steps, or its schema leads in a circle");
		return false;
	}
	return good;
}
