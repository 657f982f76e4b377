/* base/yaml.c -- composes a tree from libyaml's events.
 *
 * libyaml's own loader has neither limits on expansion nor merge keys.  This composer charges every
 * node against a budget when the node appears, and an alias costs as much as everything below its
 * anchor, so a "billion laughs" document fails at the limit instead of exhausting memory.  Aliased
 * nodes are shared, not copied.  Text is charged too: a long string with a thousand aliases is
 * cheap here but huge when it is printed.  Events are pulled one by one and the depth is checked at
 * each one, which stops reading before libyaml's bookkeeping of open flow collections becomes
 * quadratic.
 */
#include "base/yaml.h"

#include <stdio.h>
#include <yaml.h>

#include "base/json_parts.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/utf8.h"
#include "base/yaml_scalar.h"

/* A node, and what an alias to it costs. */
struct node {
	struct json json;
	size_t weight;   /* number of nodes including this one, aliases expanded */
	size_t bytes;    /* size of all scalars and keys, aliases expanded */
	uint32_t height; /* levels below this node; 0 for a scalar */
	struct str text; /* the text of a scalar, in case it is used as a key */
};

struct anchor {
	struct node node;
	bool open; /* still being read: an alias to it would be a cycle */
};

struct composer {
	yaml_parser_t parser;
	struct arena *arena;
	struct json_scratch scratch;
	struct map anchors;  /* name -> struct anchor */
	size_t nodes, bytes; /* charged so far */
	uint32_t depth;
	struct error *error;
};

PRINTF_LIKE(4, 5)
static bool refuse(struct composer *composer, yaml_mark_t mark, enum error_code code,
		   const char *format, ...)
{
	char text[ERROR_TEXT_SIZE];
	va_list list;
	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	fail(composer->error, code, "%s", text);
	composer->error->line = (uint32_t)mark.line + 1;
	composer->error->column = (uint32_t)mark.column + 1;
	return false;
}

/* Where a byte of the text stands; libyaml, too, counts characters and ends a line at \r. */
static void place(struct str text, size_t at, struct error *error)
{
	error->line = error->column = 1;
	for (size_t i = 0; i < at; i++) {
		bool pair = text.at[i] == '\r' && i + 1 < text.size && text.at[i + 1] == '\n';
		if (!pair && (text.at[i] == '\n' || text.at[i] == '\r')) {
			error->line++;
			error->column = 1;
		} else if (((unsigned char)text.at[i] & 0xC0) != 0x80) {
			error->column++;
		}
	}
}

/* Fails with libyaml's message and the construct that it was parsing. */
static bool refuse_syntax(struct composer *composer, struct str text)
{
	const yaml_parser_t *parser = &composer->parser;
	require(parser->error != YAML_MEMORY_ERROR);
	const char *problem = parser->problem == NULL ? "not valid YAML" : parser->problem;
	if (parser->error == YAML_READER_ERROR) {
		fail(composer->error, ERROR_SYNTAX, "%s", problem);
		place(text, parser->problem_offset, composer->error);
		return false;
	}
	if (parser->context == NULL)
		return refuse(composer, parser->problem_mark, ERROR_SYNTAX, "%s", problem);
	return refuse(composer, parser->problem_mark, ERROR_SYNTAX,
		      "%s (%s, which began on line %zu)", problem, parser->context,
		      parser->context_mark.line + 1);
}

static void event_done(yaml_event_t *event)
{
	yaml_event_delete(event);
}

#define AUTO_EVENT __attribute__((cleanup(event_done))) yaml_event_t

static struct str whole_text(const struct composer *composer)
{
	const yaml_parser_t *parser = &composer->parser;
	return (struct str){ (const char *)parser->input.string.start,
			     (size_t)(parser->input.string.end - parser->input.string.start) };
}

static bool next_event(struct composer *composer, yaml_event_t *out_event)
{
	if (yaml_parser_parse(&composer->parser, out_event))
		return true;
	return refuse_syntax(composer, whole_text(composer));
}

static bool charge(struct composer *composer, yaml_mark_t mark, size_t weight, size_t bytes)
{
	if (weight > LIMIT_YAML_NODES - composer->nodes)
		limit_hit(REJECTION_YAML_NODES);
	if (weight > LIMIT_YAML_NODES - composer->nodes)
		return refuse(composer, mark, ERROR_TOO_LARGE,
			      "the document has more than %d nodes when aliases and merge keys are "
			      "expanded",
			      LIMIT_YAML_NODES);
	if (bytes > LIMIT_JSON_BYTES - composer->bytes)
		return refuse(composer, mark, ERROR_TOO_LARGE,
			      "the document has more than %d bytes when aliases and merge keys are "
			      "expanded",
			      LIMIT_JSON_BYTES);
	composer->nodes += weight;
	composer->bytes += bytes;
	return true;
}

static struct json json_at(yaml_mark_t mark)
{
	return (struct json){ .line = (uint32_t)mark.line + 1,
			      .column = (uint32_t)mark.column + 1 };
}

/* ---- anchors --------------------------------------------------------------------------- */

/* Registers an anchor; it replaces an earlier anchor of the same name. */
static struct anchor *anchor_open(struct composer *composer, const yaml_char_t *name)
{
	if (name == NULL)
		return NULL;
	struct anchor *anchor = arena_new(composer->arena, struct anchor);
	anchor->open = true;
	struct str key = str_copy(composer->arena, str_from_c((const char *)name));
	map_put(&composer->anchors, key, anchor);
	return anchor;
}

static void anchor_close(struct anchor *anchor, const struct node *node)
{
	if (anchor == NULL)
		return;
	anchor->node = *node;
	anchor->open = false;
}

static bool read_alias(struct composer *composer, const yaml_event_t *event, struct node *out)
{
	const char *name = (const char *)event->data.alias.anchor;
	const struct anchor *anchor = map_get(&composer->anchors, str_from_c(name));
	if (anchor == NULL)
		return refuse(composer, event->start_mark, ERROR_SYNTAX,
			      "the alias *%.100s has no preceding anchor &%.100s", name, name);
	if (anchor->open)
		return refuse(composer, event->start_mark, ERROR_SYNTAX,
			      "the alias *%.100s is inside its own anchor", name);
	if (composer->depth + anchor->node.height > LIMIT_JSON_DEPTH)
		return refuse(composer, event->start_mark, ERROR_TOO_LARGE,
			      "the alias *%.100s nests the document deeper than %d levels", name,
			      LIMIT_JSON_DEPTH);
	*out = anchor->node;
	return charge(composer, event->start_mark, out->weight, out->bytes);
}

/* ---- scalars --------------------------------------------------------------------------- */

static bool scalar_type(struct composer *composer, const yaml_event_t *event,
			enum yaml_type *out_type)
{
	static const struct {
		const char *tag;
		enum yaml_type type;
	} types[] = {
		{ YAML_STR_TAG, YAML_STR },     { YAML_INT_TAG, YAML_INT },
		{ YAML_FLOAT_TAG, YAML_FLOAT }, { YAML_BOOL_TAG, YAML_BOOL },
		{ YAML_NULL_TAG, YAML_NULL },
	};
	const char *tag = (const char *)event->data.scalar.tag;
	if (tag == NULL) {
		bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
		*out_type = plain ? YAML_PLAIN : YAML_STR;
		return true;
	}
	for (size_t i = 0; i < COUNT(types); i++)
		if (strcmp(tag, types[i].tag) == 0) {
			*out_type = types[i].type;
			return true;
		}
	return refuse(composer, event->start_mark, ERROR_SYNTAX,
		      "unknown tag %.100s on a scalar; expected one of !!str !!int !!float !!bool "
		      "!!null",
		      tag);
}

static bool read_scalar(struct composer *composer, const yaml_event_t *event, bool is_key,
			struct node *out)
{
	enum yaml_type type = YAML_PLAIN;
	if (!scalar_type(composer, event, &type))
		return false;
	struct str value = { (const char *)event->data.scalar.value, event->data.scalar.length };
	if (!charge(composer, event->start_mark, is_key ? 0 : 1, value.size))
		return false;
	struct anchor *anchor = anchor_open(composer, event->data.scalar.anchor);
	*out = (struct node){ .json = json_at(event->start_mark), .weight = 1 };
	out->bytes = value.size;
	out->text = str_copy(composer->arena, value);
	/* A key is plain text even if it would be another type as a value, so `.inf:` is valid. */
	if (is_key && type == YAML_PLAIN && anchor == NULL)
		return true;
	const char *reason = yaml_scalar(type, out->text, &out->json);
	if (reason != NULL)
		return refuse(composer, event->start_mark, ERROR_SYNTAX, "%s", reason);
	anchor_close(anchor, out);
	return true;
}

/* ---- collections ----------------------------------------------------------------------- */

static bool read_node(struct composer *composer, const yaml_event_t *event, struct node *out);

static bool enter(struct composer *composer, const yaml_event_t *event, const yaml_char_t *tag,
		  const char *core_tag)
{
	if (tag != NULL && strcmp((const char *)tag, core_tag) != 0)
		return refuse(composer, event->start_mark, ERROR_SYNTAX,
			      "the tag %.100s is not allowed here; remove it", (const char *)tag);
	if (composer->depth >= LIMIT_JSON_DEPTH)
		return refuse(composer, event->start_mark, ERROR_TOO_LARGE,
			      "lists and mappings are nested deeper than %d levels",
			      LIMIT_JSON_DEPTH);
	composer->depth++;
	return charge(composer, event->start_mark, 1, 0);
}

static void add_child(struct node *parent, const struct node *child)
{
	parent->weight += child->weight;
	parent->bytes += child->bytes;
	if (parent->height < child->height + 1)
		parent->height = child->height + 1;
}

static bool read_list(struct composer *composer, const yaml_event_t *event, struct node *out)
{
	if (!enter(composer, event, event->data.sequence_start.tag, YAML_SEQ_TAG))
		return false;
	struct anchor *anchor = anchor_open(composer, event->data.sequence_start.anchor);
	*out = (struct node){ .json = json_at(event->start_mark), .weight = 1, .height = 1 };
	size_t base = composer->scratch.size, count = 0;
	for (;;) {
		AUTO_EVENT next = { 0 };
		if (!next_event(composer, &next))
			return false;
		if (next.type == YAML_SEQUENCE_END_EVENT)
			break;
		struct node item;
		if (!read_node(composer, &next, &item))
			return false;
		add_child(out, &item);
		json_scratch_push(&composer->scratch, &item.json, sizeof(item.json));
		count++;
	}
	out->json.kind = JSON_LIST;
	out->json.as.list.count = count;
	out->json.as.list.at = json_scratch_pop(&composer->scratch, base, composer->arena);
	composer->depth--;
	anchor_close(anchor, out);
	return true;
}

/* A mapping that is being read.  `<<` is applied at its end, when all its own keys are known. */
struct mapping {
	size_t base, count; /* position and number of its members on the scratch stack */
	bool has_merge;
	struct json merged; /* value of its `<<` */
	yaml_mark_t merge_mark;
};

static bool is_merge_key(const yaml_event_t *event)
{
	return event->type == YAML_SCALAR_EVENT && event->data.scalar.tag == NULL &&
	       event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       event->data.scalar.length == 2 && memcmp(event->data.scalar.value, "<<", 2) == 0;
}

static bool read_key(struct composer *composer, const yaml_event_t *event, struct str *out_key)
{
	struct node key = { 0 };
	if (event->type == YAML_SCALAR_EVENT) {
		if (!read_scalar(composer, event, true, &key))
			return false;
	} else if (event->type == YAML_ALIAS_EVENT) {
		if (!read_alias(composer, event, &key))
			return false;
		if (key.height > 0)
			return refuse(
				composer, event->start_mark, ERROR_SYNTAX,
				"a key must be a scalar, but this alias is a list or mapping");
	} else {
		return refuse(composer, event->start_mark, ERROR_SYNTAX,
			      "a key must be a scalar, not a list or mapping");
	}
	*out_key = key.text;
	return true;
}

static bool read_entry(struct composer *composer, const yaml_event_t *event,
		       struct mapping *mapping, struct node *parent)
{
	bool merge = is_merge_key(event);
	struct json_member member = { .line = (uint32_t)event->start_mark.line + 1,
				      .column = (uint32_t)event->start_mark.column + 1 };
	if (!read_key(composer, event, &member.key))
		return false;
	parent->bytes += member.key.size;
	AUTO_EVENT next = { 0 };
	struct node value;
	if (!next_event(composer, &next) || !read_node(composer, &next, &value))
		return false;
	add_child(parent, &value);
	member.value = value.json;
	if (!merge) {
		json_scratch_push(&composer->scratch, &member, sizeof(member));
		mapping->count++;
		return true;
	}
	if (mapping->has_merge)
		return refuse(composer, event->start_mark, ERROR_SYNTAX,
			      "duplicate merge key; write one with a list: <<: [*a, *b]");
	mapping->has_merge = true;
	mapping->merged = value.json;
	mapping->merge_mark = next.start_mark;
	return true;
}

/* Adds the members of `from` whose keys are not in `keys` yet. */
static void merge_one(struct composer *composer, struct mapping *mapping, struct map *keys,
		      const struct json *from)
{
	static char present;
	for (size_t i = 0; i < from->as.object.count; i++) {
		const struct json_member *member = &from->as.object.at[i];
		if (map_get(keys, member->key) != NULL)
			continue;
		map_put(keys, member->key, &present);
		json_scratch_push(&composer->scratch, member, sizeof(*member));
		mapping->count++;
	}
}

static bool merge(struct composer *composer, struct mapping *mapping, const struct json_member *own)
{
	static char present;
	AUTO(map) keys = { 0 };
	for (size_t i = 0; i < mapping->count; i++)
		map_put(&keys, own[i].key, &present);
	const struct json *merged = &mapping->merged;
	bool list = merged->kind == JSON_LIST;
	size_t count = list ? merged->as.list.count : 1;
	for (size_t i = 0; i < count; i++) {
		const struct json *from = list ? &merged->as.list.at[i] : merged;
		if (from->kind != JSON_OBJECT)
			return refuse(
				composer, mapping->merge_mark, ERROR_SYNTAX,
				"the value of a merge key must be a mapping or a list of mappings, "
				"found: %s",
				json_kind_name(from->kind));
		merge_one(composer, mapping, &keys, from);
	}
	return true;
}

static bool finish_mapping(struct composer *composer, struct mapping *mapping, struct node *out)
{
	const struct json_member *own =
		json_scratch_pop(&composer->scratch, mapping->base, composer->arena);
	const struct json_member *duplicate = json_duplicate(own, mapping->count);
	if (duplicate != NULL) {
		yaml_mark_t mark = { .line = duplicate->line - 1, .column = duplicate->column - 1 };
		return refuse(composer, mark, ERROR_SYNTAX,
			      "duplicate key \"" STR_FMT "\" in the same mapping",
			      STR_ARG(str_head(duplicate->key, 100)));
	}
	const struct json_member *all = own;
	if (mapping->has_merge) {
		json_scratch_push(&composer->scratch, own, mapping->count * sizeof(*own));
		if (!merge(composer, mapping, own))
			return false;
		all = json_scratch_pop(&composer->scratch, mapping->base, composer->arena);
	}
	out->json.kind = JSON_OBJECT;
	out->json.as.object.count = mapping->count;
	out->json.as.object.at = all;
	return true;
}

static bool read_mapping(struct composer *composer, const yaml_event_t *event, struct node *out)
{
	if (!enter(composer, event, event->data.mapping_start.tag, YAML_MAP_TAG))
		return false;
	struct anchor *anchor = anchor_open(composer, event->data.mapping_start.anchor);
	*out = (struct node){ .json = json_at(event->start_mark), .weight = 1, .height = 1 };
	struct mapping mapping = { .base = composer->scratch.size };
	for (;;) {
		AUTO_EVENT next = { 0 };
		if (!next_event(composer, &next))
			return false;
		if (next.type == YAML_MAPPING_END_EVENT)
			break;
		if (!read_entry(composer, &next, &mapping, out))
			return false;
	}
	if (!finish_mapping(composer, &mapping, out))
		return false;
	composer->depth--;
	anchor_close(anchor, out);
	return true;
}

static bool read_node(struct composer *composer, const yaml_event_t *event, struct node *out)
{
	if (event->type == YAML_SCALAR_EVENT)
		return read_scalar(composer, event, false, out);
	if (event->type == YAML_ALIAS_EVENT)
		return read_alias(composer, event, out);
	if (event->type == YAML_SEQUENCE_START_EVENT)
		return read_list(composer, event, out);
	require(event->type == YAML_MAPPING_START_EVENT);
	return read_mapping(composer, event, out);
}

/* ---- the document ---------------------------------------------------------------------- */

/* libyaml compares every %TAG directive with all earlier ones: a megabyte of directives takes many
 * seconds.  Only core tags are allowed, so no document needs %TAG, and it is refused before libyaml
 * sees it.  Directives stand before a document, among empty lines, comments and `...`; everywhere
 * else %TAG is text. */
static bool find_tag_directive(struct str text, size_t start, size_t *out_at)
{
	for (size_t at = start; at < text.size; at++) {
		struct str line = str_skip(text, at);
		if (str_starts(line, S("%TAG"))) {
			*out_at = at;
			return true;
		}
		size_t blank = 0;
		while (blank < line.size && (line.at[blank] == ' ' || line.at[blank] == '\t'))
			blank++;
		bool empty = blank == line.size || line.at[blank] == '\n' || line.at[blank] == '\r';
		if (!empty && line.at[blank] != '#' && line.at[0] != '%' &&
		    !str_starts(line, S("...")))
			return false;
		while (at < text.size && text.at[at] != '\n' && text.at[at] != '\r')
			at++;
	}
	return false;
}

/* YAML 1.1 and libyaml end a line, and a comment, at these characters; YAML 1.2 and most editors do
 * not.  What a person sees would not be what is read, so they must be escaped.  All their encodings
 * have 0x85, 0xA8 or 0xA9 as last byte. */
static bool find_separator(struct str text, size_t *out_at, const char **out_advice)
{
	static const struct {
		struct str bytes;
		const char *advice;
	} separators[] = {
		{ { "\xC2\x85", 2 }, "U+0085 must be escaped; write \\N in double quotes" },
		{ { "\xE2\x80\xA8", 3 }, "U+2028 must be escaped; write \\L in double quotes" },
		{ { "\xE2\x80\xA9", 3 }, "U+2029 must be escaped; write \\P in double quotes" },
	};
	for (size_t at = 0; at < text.size; at++) {
		if (text.at[at] != '\xC2' && text.at[at] != '\xE2')
			continue;
		for (size_t i = 0; i < COUNT(separators); i++)
			if (str_starts(str_skip(text, at), separators[i].bytes)) {
				*out_at = at;
				*out_advice = separators[i].advice;
				return true;
			}
	}
	return false;
}

static bool refuse_tag_directive(struct str text, size_t at, struct error *error)
{
	fail(error, ERROR_SYNTAX, "the directive %%TAG is not supported; use core tags only");
	place(text, at, error);
	return false;
}

/* libyaml counts characters. */
static size_t byte_offset(struct str text, size_t characters)
{
	size_t at = 0;
	for (; at < text.size; at++)
		if (((unsigned char)text.at[at] & 0xC0) != 0x80 && characters-- == 0)
			break;
	return at;
}

static bool expect_end(struct composer *composer)
{
	AUTO_EVENT document_end = { 0 };
	if (!next_event(composer, &document_end))
		return false;
	struct str text = whole_text(composer);
	size_t at = byte_offset(text, document_end.end_mark.index);
	if (find_tag_directive(text, at, &at))
		return refuse_tag_directive(text, at, composer->error);
	AUTO_EVENT last = { 0 };
	if (!next_event(composer, &last))
		return false;
	if (last.type == YAML_STREAM_END_EVENT)
		return true;
	return refuse(composer, last.start_mark, ERROR_SYNTAX,
		      "a second document starts here; a file must hold one document");
}

static bool read_document(struct composer *composer, struct node *out)
{
	AUTO_EVENT stream = { 0 };
	if (!next_event(composer, &stream))
		return false;
	AUTO_EVENT document = { 0 };
	if (!next_event(composer, &document))
		return false;
	if (document.type == YAML_STREAM_END_EVENT) {
		*out = (struct node){ .json = { .kind = JSON_NULL, .line = 1, .column = 1 } };
		return true;
	}
	AUTO_EVENT first = { 0 };
	return next_event(composer, &first) && read_node(composer, &first, out) &&
	       expect_end(composer);
}

static bool check_text(struct str text, struct error *error)
{
	if (text.size > LIMIT_YAML_BYTES)
		limit_hit(REJECTION_YAML_BYTES);
	if (text.size > LIMIT_YAML_BYTES)
		return fail(error, ERROR_TOO_LARGE,
			    "the text has %zu bytes; at most %d are allowed", text.size,
			    LIMIT_YAML_BYTES);
	size_t at;
	const char *advice;
	if (!utf8_valid(text, &at))
		fail(error, ERROR_SYNTAX, "the byte 0x%02x is not valid UTF-8 here",
		     (unsigned char)text.at[at]);
	else if (find_separator(text, &at, &advice))
		fail(error, ERROR_SYNTAX, "%s", advice);
	else if (find_tag_directive(text, str_starts(text, S("\xEF\xBB\xBF")) ? 3 : 0, &at))
		return refuse_tag_directive(text, at, error);
	else
		return true;
	place(text, at, error);
	return false;
}

bool yaml_read(struct str text, struct arena *arena, const struct json **out_json,
	       struct error *error)
{
	if (!check_text(text, error))
		return false;
	_Alignas(16) char first[JSON_SCRATCH_FIRST];
	struct composer composer = {
		.arena = arena,
		.scratch = json_scratch_on(first, sizeof(first)),
		.error = error,
	};
	require(yaml_parser_initialize(&composer.parser) == 1);
	const char *start = text.size == 0 ? "" : text.at;
	yaml_parser_set_encoding(&composer.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&composer.parser, (const unsigned char *)start, text.size);
	struct node root;
	bool good = read_document(&composer, &root);
	yaml_parser_delete(&composer.parser);
	map_done(&composer.anchors);
	json_scratch_done(&composer.scratch);
	if (good)
		*out_json = arena_copy(arena, &root.json, sizeof(root.json));
	return good;
}
