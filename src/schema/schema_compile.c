/* schema/schema_compile.c -- compiles a schema into nodes.
 *
 * There are two passes over each document: the first finds all URIs (`$id`, anchors), the second
 * compiles the reachable schemas.  So a reference may point anywhere, even into parts that belong
 * to no keyword.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "schema/schema_internal.h"

struct compiler {
	struct schema *schema;
	struct arena *arena;
	struct problems *problems;
	size_t depth;
	unsigned vocabularies; /* in use */
	bool formats;          /* are checked */
};

/* The location of a schema: its pointer, and the base URI of its references. */
struct location {
	struct str pointer, base;
	bool draft7;
};

static struct schema_node *compile(struct compiler *c, const struct json *json,
				   struct location location);

static void add_problem(struct compiler *c, const struct location *at, const char *what)
{
	problems_add(c->problems, at->pointer, 0, 0, "%s", what);
}

static struct location below(struct compiler *c, const struct location *at, struct str key)
{
	AUTO(buf) pointer = { 0 };
	buf_add(&pointer, at->pointer);
	buf_add_char(&pointer, '/');
	for (size_t i = 0; i < key.size; i++)
		if (key.at[i] == '~' || key.at[i] == '/')
			buf_add(&pointer, key.at[i] == '~' ? S("~0") : S("~1"));
		else
			buf_add_char(&pointer, key.at[i]);
	struct location location = *at;
	location.pointer =
		str_head(str_copy(c->arena, buf_str(&pointer)), (size_t)LIMIT_POINTER_BYTES);
	return location;
}

/* ---- URIs ---------------------------------------------------------------------------- */

static bool is_draft7(const struct json *json, bool otherwise)
{
	struct str name = json_text(json_member(json, S("$schema")));
	size_t at;
	if (name.size == 0)
		return otherwise;
	return str_find(name, S("draft-07"), &at) || str_find(name, S("draft-06"), &at);
}

static void add_resource(struct compiler *c, struct str uri, const struct json *root, bool draft7)
{
	struct schema_resource *resource = arena_new(c->arena, struct schema_resource);
	struct str document, fragment;
	uri_split(uri, &document, &fragment);
	*resource = (struct schema_resource){ c->schema->resources, document, root, draft7 };
	c->schema->resources = resource;
}

struct anchor {
	struct str uri;
	const struct json *json;
	struct str base;
	bool dynamic, draft7;
};

static void add_place(struct compiler *c, struct str uri, const struct json *json, struct str base,
		      bool dynamic, bool draft7)
{
	struct schema_place *place = arena_new(c->arena, struct schema_place);
	struct schema_node *node = arena_new(c->arena, struct schema_node);
	node->json = json;
	node->base = base;
	node->draft7 = draft7;
	*place = (struct schema_place){ c->schema->places, uri, node, dynamic };
	c->schema->places = place;
}

/* Keywords whose values are data, not schemas. */
static bool is_data(struct str key)
{
	return str_equal(key, S("enum")) || str_equal(key, S("const")) ||
	       str_equal(key, S("default")) || str_equal(key, S("examples"));
}

/* Keywords whose values are mappings from names of any kind to schemas. */
static bool is_mapping(struct str key)
{
	return str_equal(key, S("properties")) || str_equal(key, S("patternProperties")) ||
	       str_equal(key, S("$defs")) || str_equal(key, S("definitions")) ||
	       str_equal(key, S("dependentSchemas")) || str_equal(key, S("dependencies"));
}

static void find_addresses(struct compiler *c, const struct json *json, struct str base,
			   bool draft7, size_t depth);

static void find_addresses_below(struct compiler *c, const struct json_member *member,
				 struct str base, bool draft7, size_t depth)
{
	if (is_data(member->key))
		return;
	if (!is_mapping(member->key) || member->value.kind != JSON_OBJECT) {
		find_addresses(c, &member->value, base, draft7, depth);
		return;
	}
	for (size_t i = 0; i < member->value.as.object.count; i++)
		find_addresses(c, &member->value.as.object.at[i].value, base, draft7, depth + 1);
}

static void find_addresses(struct compiler *c, const struct json *json, struct str base,
			   bool draft7, size_t depth)
{
	if (depth > LIMIT_JSON_DEPTH)
		return;
	if (json->kind == JSON_LIST)
		for (size_t i = 0; i < json->as.list.count; i++)
			find_addresses(c, &json->as.list.at[i], base, draft7, depth + 1);
	if (json->kind != JSON_OBJECT)
		return;
	struct str id = json_text(json_member(json, S("$id")));
	bool alone =
		draft7 && json_member(json, S("$ref")) != NULL; /* draft 7 ignores its siblings */
	draft7 = is_draft7(json, draft7);
	if (id.size > 0 && !alone) {
		struct str uri = uri_join(base, id, c->arena), document, fragment;
		uri_split(uri, &document, &fragment);
		if (draft7 && id.at[0] == '#') {
			add_place(c, uri, json, base, false, draft7);
		} else {
			base = document;
			add_resource(c, document, json, draft7);
			if (fragment.size > 0)
				add_place(c, uri, json, base, false, draft7);
		}
	}
	static const struct {
		struct str key;
		bool dynamic;
	} anchors[] = { { { "$anchor", 7 }, false }, { { "$dynamicAnchor", 14 }, true } };
	for (size_t i = 0; i < COUNT(anchors) && !draft7; i++) {
		struct str name = json_text(json_member(json, anchors[i].key));
		if (name.size > 0)
			add_place(c,
				  str_format(c->arena, STR_FMT "#" STR_FMT, STR_ARG(base),
					     STR_ARG(name)),
				  json, base, anchors[i].dynamic, draft7);
	}
	for (size_t i = 0; i < json->as.object.count; i++)
		find_addresses_below(c, &json->as.object.at[i], base, draft7, depth + 1);
}

static const struct schema_resource *find_resource(const struct schema *schema, struct str uri)
{
	for (const struct schema_resource *r = schema->resources; r != NULL; r = r->next)
		if (str_equal(r->uri, uri))
			return r;
	return NULL;
}

/* ---- keywords ------------------------------------------------------------------------ */

static void read_types(struct compiler *c, struct schema_node *node, const struct json *json,
		       const struct location *at)
{
	bool good =
		json->kind == JSON_STRING || (json->kind == JSON_LIST && json->as.list.count > 0);
	size_t count = json->kind == JSON_LIST ? json->as.list.count : 1;
	for (size_t i = 0; good && i < count; i++) {
		const struct json *name = json->kind == JSON_LIST ? &json->as.list.at[i] : json;
		unsigned bit = keyword_kind_type_bit(json_text(name));
		good = bit != 0;
		node->types |= bit;
	}
	if (!good)
		add_problem(
			c, at,
			"type must be one of null, boolean, integer, number, string, array, object");
}

static struct schema_pattern *read_pattern(struct compiler *c, struct str text,
					   const struct location *at)
{
	void *compiled = pattern_compile(text);
	if (compiled == NULL) {
		add_problem(c, at, "must be a valid regular expression");
		return NULL;
	}
	struct schema_pattern *pattern = arena_new(c->arena, struct schema_pattern);
	pattern->text = text;
	pattern->code = compiled;
	pattern->match = pcre2_match_data_create(1, NULL);
	require(pattern->match != NULL);
	pattern->next = c->schema->patterns;
	c->schema->patterns = pattern;
	return pattern;
}

static void read_count(struct compiler *c, int64_t *out, const struct json *json,
		       const struct location *at)
{
	if (json->kind == JSON_INT && json->as.integer >= 0)
		*out = json->as.integer;
	else if (json->kind == JSON_REAL && json->as.real >= 0 && json->as.real < 9e15 &&
		 json->as.real == (double)(int64_t)json->as.real)
		*out = (int64_t)json->as.real;
	else
		add_problem(c, at, "must be a whole number from 0");
}

static void read_number(struct compiler *c, const struct json **out, const struct json *json,
			const struct location *at)
{
	if (json_is_number(json))
		*out = json;
	else
		add_problem(c, at, "must be a number");
}

static void read_divisor(struct compiler *c, const struct json **out, const struct json *json,
			 const struct location *at)
{
	if (json_is_number(json) && json_real(json) > 0)
		*out = json;
	else
		add_problem(c, at, "must be a number greater than 0");
}

static struct str_list read_names(struct compiler *c, const struct json *json,
				  const struct location *at)
{
	if (json->kind != JSON_LIST) {
		add_problem(c, at, "must be a list of strings");
		return (struct str_list){ 0 };
	}
	struct str *names = arena_array(c->arena, struct str, json->as.list.count);
	for (size_t i = 0; i < json->as.list.count; i++) {
		names[i] = json_text(&json->as.list.at[i]);
		if (json->as.list.at[i].kind != JSON_STRING)
			add_problem(c, at, "must be a list of strings");
	}
	return (struct str_list){ names, json->as.list.count };
}

static struct schema_nodes read_list(struct compiler *c, const struct json *json,
				     const struct location *at)
{
	if (json->kind != JSON_LIST) {
		add_problem(c, at, "must be a list of schemas");
		return (struct schema_nodes){ 0 };
	}
	struct schema_nodes nodes = { arena_array(c->arena, struct schema_node *,
						  json->as.list.count),
				      json->as.list.count };
	for (size_t i = 0; i < nodes.count; i++)
		nodes.at[i] = compile(c, &json->as.list.at[i],
				      below(c, at, str_format(c->arena, "%zu", i)));
	return nodes;
}

static struct schema_members read_members(struct compiler *c, const struct json *json,
					  bool patterns, const struct location *at)
{
	if (json->kind != JSON_OBJECT) {
		add_problem(c, at, "must be a mapping of schemas");
		return (struct schema_members){ 0 };
	}
	size_t count = json->as.object.count;
	struct schema_members members = { arena_array(c->arena, struct schema_member, count),
					  count };
	for (size_t i = 0; i < count; i++) {
		const struct json_member *from = &json->as.object.at[i];
		struct location inner = below(c, at, from->key);
		members.at[i].key = from->key;
		if (patterns)
			members.at[i].pattern = read_pattern(c, from->key, &inner);
		members.at[i].node = compile(c, &from->value, inner);
	}
	return members;
}

/* Draft 7 has one keyword for lists of names and for schemas, 2020-12 has two. */
static void read_dependencies(struct compiler *c, struct schema_node *node, const struct json *json,
			      const struct location *at)
{
	if (json->kind != JSON_OBJECT) {
		add_problem(c, at, "must be a mapping");
		return;
	}
	size_t count = json->as.object.count, schemas = 0;
	node->needs = arena_array(c->arena, struct schema_needs, count);
	struct schema_member *members = arena_array(c->arena, struct schema_member, count);
	for (size_t i = 0; i < count; i++) {
		const struct json_member *from = &json->as.object.at[i];
		struct location inner = below(c, at, from->key);
		if (from->value.kind == JSON_LIST || !node->draft7)
			node->needs[node->needs_count++] =
				(struct schema_needs){ from->key,
						       read_names(c, &from->value, &inner) };
		else
			members[schemas++] =
				(struct schema_member){ .key = from->key,
							.node = compile(c, &from->value, inner) };
	}
	if (schemas > 0)
		node->dependents = (struct schema_members){ members, schemas };
}

static void read_items(struct compiler *c, struct schema_node *node, const struct json *json,
		       const struct location *at)
{
	if (json->kind == JSON_LIST && node->draft7)
		node->prefix = read_list(c, json, at);
	else
		node->items = compile(c, json, *at);
}

/* One function per kind of value, one line per keyword. */
enum keyword_shape { KEYWORD_NODE, KEYWORD_NUMBER, KEYWORD_DIVISOR, KEYWORD_COUNT, KEYWORD_LIST };

struct keyword {
	struct str name;
	enum keyword_shape shape;
	size_t offset;
	bool new_only, old_only;
};

#define KEY(name_, shape_, member)                                                                 \
	{                                                                                          \
		{ name_, sizeof(name_) - 1 }, shape_, offsetof(struct schema_node, member), false, \
			false                                                                      \
	}
#define NEW(name_, shape_, member)                                                                \
	{                                                                                         \
		{ name_, sizeof(name_) - 1 }, shape_, offsetof(struct schema_node, member), true, \
			false                                                                     \
	}

static const struct keyword keywords[] = {
	KEY("additionalProperties", KEYWORD_NODE, additional),
	KEY("propertyNames", KEYWORD_NODE, names),
	KEY("contains", KEYWORD_NODE, contains),
	KEY("not", KEYWORD_NODE, not ),
	KEY("if", KEYWORD_NODE, when),
	KEY("then", KEYWORD_NODE, then),
	KEY("else", KEYWORD_NODE, otherwise),
	NEW("unevaluatedItems", KEYWORD_NODE, unevaluated_items),
	NEW("unevaluatedProperties", KEYWORD_NODE, unevaluated_members),
	KEY("maximum", KEYWORD_NUMBER, maximum),
	KEY("minimum", KEYWORD_NUMBER, minimum),
	KEY("exclusiveMaximum", KEYWORD_NUMBER, below),
	KEY("exclusiveMinimum", KEYWORD_NUMBER, above),
	KEY("multipleOf", KEYWORD_DIVISOR, multiple),
	KEY("maxLength", KEYWORD_COUNT, max_length),
	KEY("minLength", KEYWORD_COUNT, min_length),
	KEY("maxItems", KEYWORD_COUNT, max_items),
	KEY("minItems", KEYWORD_COUNT, min_items),
	KEY("maxProperties", KEYWORD_COUNT, max_members),
	KEY("minProperties", KEYWORD_COUNT, min_members),
	NEW("maxContains", KEYWORD_COUNT, max_contains),
	NEW("minContains", KEYWORD_COUNT, min_contains),
	KEY("allOf", KEYWORD_LIST, all),
	KEY("anyOf", KEYWORD_LIST, any),
	KEY("oneOf", KEYWORD_LIST, one),
	NEW("prefixItems", KEYWORD_LIST, prefix),
};

static void read_keyword(struct compiler *c, struct schema_node *node,
			 const struct keyword *keyword, const struct json *json,
			 const struct location *at)
{
	void *member = (char *)node + keyword->offset;
	switch (keyword->shape) {
	case KEYWORD_NODE:
		*(struct schema_node **)member = compile(c, json, *at);
		break;
	case KEYWORD_NUMBER:
		read_number(c, member, json, at);
		break;
	case KEYWORD_DIVISOR:
		read_divisor(c, member, json, at);
		break;
	case KEYWORD_COUNT:
		read_count(c, member, json, at);
		break;
	case KEYWORD_LIST:
		*(struct schema_nodes *)member = read_list(c, json, at);
		break;
	}
}

/* Reads the keywords with special handling; false = none of them. */
static bool read_special(struct compiler *c, struct schema_node *node, struct str key,
			 const struct json *json, const struct location *at)
{
	if (str_equal(key, S("type"))) {
		read_types(c, node, json, at);
	} else if (str_equal(key, S("const"))) {
		node->constant = json;
	} else if (str_equal(key, S("enum"))) {
		node->choices = json;
		if (json->kind != JSON_LIST)
			add_problem(c, at, "must be a list");
	} else if (str_equal(key, S("uniqueItems"))) {
		node->unique = json->kind == JSON_BOOL && json->as.boolean;
		if (json->kind != JSON_BOOL)
			add_problem(c, at, "must be true or false");
	} else if (str_equal(key, S("pattern"))) {
		if (json->kind != JSON_STRING)
			add_problem(c, at, "must be a string");
		else
			node->pattern = read_pattern(c, json->as.string, at);
	} else if (str_equal(key, S("required"))) {
		node->required = read_names(c, json, at);
	} else if (str_equal(key, S("properties"))) {
		node->properties = read_members(c, json, false, at);
	} else if (str_equal(key, S("patternProperties"))) {
		node->patterns = read_members(c, json, true, at);
	} else if (str_equal(key, S("items"))) {
		read_items(c, node, json, at);
	} else {
		return false;
	}
	return true;
}

static void check_kind(struct compiler *c, struct str key, const struct json *json,
		       const struct location *at)
{
	enum json_kind kind;
	if (keyword_kind(key, &kind) && json->kind != kind)
		problems_add(c->problems, at->pointer, 0, 0, "must be a %s, not a %s",
			     json_kind_name(kind), json_kind_name(json->kind));
}

static void read_apart(struct compiler *c, struct schema_node *node, struct str key,
		       const struct json *json, const struct location *at)
{
	if (node->draft7 && str_equal(key, S("additionalItems")) &&
	    json_member(node->json, S("items")) != NULL &&
	    json_member(node->json, S("items"))->kind == JSON_LIST)
		node->items = compile(c, json, *at);
	else if (node->draft7 ? str_equal(key, S("dependencies"))
			      : str_equal(key, S("dependentRequired")))
		read_dependencies(c, node, json, at);
	else if (!node->draft7 && str_equal(key, S("dependentSchemas")))
		node->dependents = read_members(c, json, false, at);
	else if (!node->draft7 && str_equal(key, S("$dynamicRef")))
		node->dynamic_ref = json_text(json);
	else if (c->formats && str_equal(key, S("format")) &&
		 (node->format = format_find(json_text(json))) == NULL)
		add_problem(c, at, "is not one of the formats that can be checked");
	else if (!node->draft7 && str_equal(key, S("$dynamicAnchor")))
		node->dynamic_anchor = json_text(json);
}

static void read_node(struct compiler *c, struct schema_node *node, const struct location *at)
{
	const struct json *ref = json_member(node->json, S("$ref"));
	if (ref != NULL && ref->kind == JSON_STRING)
		node->ref = ref->as.string;
	if (node->draft7 && node->ref.at != NULL)
		return;
	for (size_t i = 0; i < node->json->as.object.count; i++) {
		const struct json_member *member = &node->json->as.object.at[i];
		struct location inner = below(c, at, member->key);
		if (!node->draft7 && (schema_vocabulary_of(member->key) & ~c->vocabularies) != 0)
			continue;
		if (read_special(c, node, member->key, &member->value, &inner))
			continue;
		bool known = false;
		for (size_t k = 0; k < COUNT(keywords) && !known; k++) {
			known = str_equal(keywords[k].name, member->key) &&
				!(keywords[k].new_only && node->draft7);
			if (known)
				read_keyword(c, node, &keywords[k], &member->value, &inner);
		}
		if (!known) {
			check_kind(c, member->key, &member->value, &inner);
			read_apart(c, node, member->key, &member->value, &inner);
		}
	}
	c->schema->tracks |= node->unevaluated_items != NULL || node->unevaluated_members != NULL;
}

/* ---- nodes --------------------------------------------------------------------------- */

static void location_enter(struct compiler *c, const struct json *json, struct location *location)
{
	struct str id = json_text(json_member(json, S("$id"))), document, fragment;
	bool alone = location->draft7 && json_member(json, S("$ref")) != NULL;
	location->draft7 = is_draft7(json, location->draft7);
	if (id.size == 0 || alone || (location->draft7 && id.at[0] == '#'))
		return;
	uri_split(uri_join(location->base, id, c->arena), &document, &fragment);
	location->base = document;
}

static struct schema_node *compile(struct compiler *c, const struct json *json,
				   struct location location)
{
	struct str key = str_copy(c->arena, (struct str){ (const char *)&json, sizeof(json) });
	struct schema_node *node = map_get(&c->schema->by_json, key);
	if (node != NULL)
		return node;
	node = arena_new(c->arena, struct schema_node);
	map_put(&c->schema->by_json, key, node);
	node->json = json;
	node->pointer = location.pointer;
	node->max_length = node->min_length = node->max_items = node->min_items = -1;
	node->max_members = node->min_members = node->max_contains = node->min_contains = -1;
	if (json->kind == JSON_BOOL) {
		node->always = json->as.boolean;
		node->never = !json->as.boolean;
		return node;
	}
	if (json->kind != JSON_OBJECT) {
		add_problem(c, &location, "a schema must be a mapping, true or false");
		return node;
	}
	if (++c->schema->node_count > LIMIT_SCHEMA_NODES || c->depth > LIMIT_JSON_DEPTH) {
		add_problem(c, &location, "the schema is too large");
		return node;
	}
	location_enter(c, json, &location);
	node->base = location.base;
	node->draft7 = location.draft7;
	c->depth++;
	read_node(c, node, &location);
	c->depth--;
	return node;
}

/* ---- references ---------------------------------------------------------------------- */

/* The location of a schema that was found by a pointer; its base is the nearest `$id` above it. */
static struct location location_at(struct compiler *c, const struct schema_resource *resource,
				   struct str fragment)
{
	struct location location = { fragment, resource->uri, resource->draft7 };
	const struct json *at = resource->root;
	struct str rest = fragment, raw;
	AUTO(buf) so_far = { 0 };
	str_cut(&rest, '/', &raw);
	while (at != NULL && str_cut(&rest, '/', &raw)) {
		buf_add_char(&so_far, '/');
		buf_add(&so_far, raw);
		if (at != resource->root)
			location_enter(c, at, &location);
		at = uri_follow_pointer(resource->root, buf_str(&so_far), c->arena);
	}
	return location;
}

static struct schema_node *resolve(struct compiler *c, const struct schema_node *from,
				   struct str ref)
{
	struct str uri = uri_join(from->base, ref, c->arena), document, fragment;
	uri_split(uri, &document, &fragment);
	const struct schema_resource *resource = find_resource(c->schema, document);
	if (resource != NULL && (fragment.size == 0 || fragment.at[0] == '/')) {
		const struct json *found = uri_follow_pointer(resource->root, fragment, c->arena);
		if (found == NULL)
			return NULL;
		return compile(c, found, location_at(c, resource, fragment));
	}
	for (const struct schema_place *place = c->schema->places; place != NULL;
	     place = place->next) {
		struct str wanted = str_format(c->arena, STR_FMT "#" STR_FMT, STR_ARG(document),
					       STR_ARG(fragment));
		if (str_equal(place->uri, wanted) || str_equal(place->uri, uri)) {
			struct location location = { S("#"), place->node->base,
						     place->node->draft7 };
			return compile(c, place->node->json, location);
		}
	}
	return NULL;
}

/* Any dynamic anchor may become the target of a dynamic reference, even one that nothing else
 * refers to. */
static void compile_dynamic(struct compiler *c)
{
	for (const struct schema_place *place = c->schema->places; place != NULL;
	     place = place->next)
		if (place->dynamic)
			compile(c, place->node->json,
				(struct location){ S("#"), place->node->base,
						   place->node->draft7 });
}

/* Resolves the references of new nodes, which may compile further nodes; false when there are none.
 */
static bool resolve_round(struct compiler *c)
{
	size_t index = 0, before = c->schema->node_count;
	struct str key;
	struct schema_node *node;
	struct schema_node **pending =
		arena_array(c->arena, struct schema_node *, c->schema->by_json.count + 1);
	size_t count = 0;
	while ((node = map_next(&c->schema->by_json, &index, &key)) != NULL)
		if (!node->checked_refs)
			pending[count++] = node;
	for (size_t i = 0; i < count; i++) {
		node = pending[i];
		node->checked_refs = true;
		if (node->ref.at != NULL && (node->target = resolve(c, node, node->ref)) == NULL)
			problems_add(c->problems, node->pointer, 0, 0,
				     "$ref " STR_FMT " cannot be resolved",
				     STR_ARG(str_head(node->ref, LIMIT_QUOTE_BYTES)));
		if (node->dynamic_ref.at != NULL &&
		    (node->dynamic_target = resolve(c, node, node->dynamic_ref)) == NULL)
			problems_add(c->problems, node->pointer, 0, 0,
				     "$dynamicRef " STR_FMT " cannot be resolved",
				     STR_ARG(str_head(node->dynamic_ref, LIMIT_QUOTE_BYTES)));
		if (node->dynamic_ref.at != NULL)
			compile_dynamic(c);
	}
	return count > 0 && (c->schema->node_count > before || count > 0);
}

void schema_done(struct schema *schema)
{
	if (schema == NULL)
		return;
	for (struct schema_pattern *p = schema->patterns; p != NULL; p = p->next) {
		pcre2_code_free(p->code);
		pcre2_match_data_free(p->match);
	}
	schema->patterns = NULL;
	map_done(&schema->by_json);
}

static unsigned read_vocabularies(struct compiler *c, const struct json *json)
{
	struct str document, fragment;
	uri_split(json_text(json_member(json, S("$schema"))), &document, &fragment);
	const struct schema_resource *meta =
		document.size == 0 ? NULL : find_resource(c->schema, document);
	return schema_vocabulary_read(meta == NULL ? NULL : meta->root, c->problems);
}

bool schema_compile(const struct json *json, const struct schema_library *library,
		    struct arena *arena, struct schema **out_schema, struct problems *problems)
{
	return schema_compile_formats(json, library, false, arena, out_schema, problems);
}

bool schema_compile_formats(const struct json *json, const struct schema_library *library,
			    bool formats, struct arena *arena, struct schema **out_schema,
			    struct problems *problems)
{
	struct schema *schema = arena_new(arena, struct schema);
	struct compiler c = {
		.schema = schema, .arena = arena, .problems = problems, .formats = formats
	};
	size_t before = problems->count + problems->hidden;
	bool draft7 = is_draft7(json, false);
	schema->arena = arena;
	for (size_t i = 0; library != NULL && i < library->count; i++) {
		const struct schema_document *document = &library->at[i];
		bool old = is_draft7(document->json, draft7);
		add_resource(&c, document->uri, document->json, old);
		find_addresses(&c, document->json, document->uri, old, 0);
	}
	add_resource(&c, S(""), json, draft7);
	find_addresses(&c, json, S(""), draft7, 0);
	c.vocabularies = read_vocabularies(&c, json);
	schema->root = compile(&c, json, (struct location){ S(""), S(""), draft7 });
	while (problems->count + problems->hidden == before && resolve_round(&c))
		;
	if (problems->count + problems->hidden > before) {
		schema_done(schema);
		return false;
	}
	*out_schema = schema;
	return true;
}
