/* contract/parse.c -- parses a JSON tree into a typed value, or reports all of its problems.
 *
 * Parsing never stops at a problem.  CHECK and COMPUTE run only for an entity without problems of
 * its own, so they can rely on every REQUIRED member.  TAG_IN fields are read after the other
 * members, because the sibling with the tag may come later in the document.
 */
#include "contract/contract_internal.h"

#include <string.h>

#include "base/map.h"

static size_t problems_so_far(const struct parse *parse)
{
	return parse->problems->count + parse->problems->hidden;
}

/* Memory for values is bounded, because a few bytes of text can require a large struct. */
void *parse_take(struct parse *parse, const struct path *path, const struct json *json,
		 size_t count, size_t size)
{
	if (size != 0 && count > parse->room / size) {
		problem_add(parse, path, place_of(json), "has too many items to be held");
		return NULL;
	}
	parse->room -= count * size;
	return arena_take_array(parse->arena, count, size);
}

/* ---- entities -------------------------------------------------------------------------- */

static void unknown_field(struct parse *parse, const struct path *path, const struct type *type,
			  const struct json_member *member)
{
	if (problem_hide(parse))
		return;
	struct path inner = path_key(path, member->key);
	struct place place = { member->line, member->column };
	struct str near = ready_closest(type_ready(type), member->key);
	struct problem *problem =
		near.size > 0 ? problem_add(parse, &inner, place,
					    "is not a field of " STR_FMT "; did you mean \"" STR_FMT
					    "\"?",
					    STR_ARG(type->name), STR_ARG(near))
			      : problem_add(parse, &inner, place, "is not a field of " STR_FMT,
					    STR_ARG(type->name));
	problem_suggest(problem, member->key, near);
}

static void keep(struct parse *parse, const struct type *type, const struct json *json,
		 const struct json_member *member, void *out)
{
	struct contract_kept *kept = (void *)((char *)out + type->kept);
	if (kept->at == NULL)
		kept->at = arena_array(parse->arena, struct json_member, json->as.object.count);
	memcpy((char *)(uintptr_t)kept->at + kept->count++ * sizeof(*member), member,
	       sizeof(*member));
}

static void parse_const(struct parse *parse, const struct path *path, const struct field *field,
			const struct json *json)
{
	if (json->kind == JSON_STRING && str_equal(json->as.string, field->constant))
		return;
	if (problem_hide(parse))
		return;
	struct str said = json_said(parse->arena, json);
	problem_add(parse, path, place_of(json), "must be \"" STR_FMT "\", got " STR_FMT,
		    STR_ARG(field->constant), STR_ARG(said));
}

/* A known member that is neither postponed (TAG_IN) nor ignored (COMPUTED). */
static void parse_row(struct parse *parse, const struct path *path, const struct type_ready *ready,
		      size_t row, struct str tag, const struct json *json, void *out)
{
	const struct field *field = &ready->fields[row];
	if (field->shape == SHAPE_CONST) {
		parse_const(parse, path, field, json);
		return;
	}
	if (json->kind == JSON_NULL && field->nullable) {
		mark_write(out, field, IS_NULL);
		return;
	}
	mark_write(out, field, GIVEN);
	parse_member(parse, path, field, (struct rules){ field, ready->patterns[row] }, tag, json,
		     out);
}

static bool alias_clashes(struct parse *parse, const struct path *path, const struct json *json,
			  const struct field *field, const struct json_member *member)
{
	if (json_member(json, field->name) == NULL)
		return false;
	problem_add(parse, path, (struct place){ member->line, member->column },
		    "is the old name of \"" STR_FMT "\", which is given too", STR_ARG(field->name));
	return true;
}

/* The next row is tried first, because most documents have their fields in the order of the rows. */
static bool find_row(const struct type_ready *ready, struct str key, size_t *next, size_t *out_row,
		     bool *out_old)
{
	const struct ready_name *name;
	*out_old = false;
	if (*next < ready->field_count && key.size > 0 &&
	    str_equal(ready->fields[*next].name, key)) {
		*out_row = *next;
	} else if (ready_find(ready, key, &name)) {
		*out_row = name->row;
		*out_old = name->old;
	} else {
		return false;
	}
	*next = *out_row + 1;
	return true;
}

static void parse_members(struct parse *parse, const struct path *path, const struct slot *slot,
			  const struct json *json, void *out)
{
	const struct type *type = slot->type;
	const struct type_ready *ready = type_ready(type);
	size_t next = 0, row;
	bool old;
	for (size_t i = 0; i < json->as.object.count; i++) {
		const struct json_member *member = &json->as.object.at[i];
		if (slot->skip.size > 0 && str_equal(member->key, slot->skip))
			continue;
		if (!find_row(ready, member->key, &next, &row, &old)) {
			if (type->openness == CONTRACT_KEPT)
				keep(parse, type, json, member, out);
			else if (type->openness == CONTRACT_CLOSED && !parse->lenient)
				unknown_field(parse, path, type, member);
			continue;
		}
		const struct field *field = &ready->fields[row];
		if (field->presence == PRESENCE_COMPUTED || field->tag_in.size > 0)
			continue;
		struct path inner = path_key(path, member->key);
		if (old && alias_clashes(parse, &inner, json, field, member))
			continue;
		parse_row(parse, &inner, ready, row, (struct str){ NULL, 0 }, &member->value, out);
	}
}

enum sibling { SIBLING_TELLS, SIBLING_IS_SILENT, SIBLING_IS_WRONG };

/* The tag in the sibling of a TAG_IN field.  An invalid sibling already has a problem of its own. */
static enum sibling sibling_tag(const struct type_ready *ready, struct str sibling,
				const void *value, struct str *out_tag)
{
	const struct ready_name *name;
	if (!ready_find(ready, sibling, &name))
		return SIBLING_IS_SILENT;
	const struct field *field = &ready->fields[name->row];
	if (field->shape == SHAPE_CONST) {
		*out_tag = field->constant;
		return SIBLING_TELLS;
	}
	if (mark_read(value, field) < DEFAULTED)
		return field->presence == PRESENCE_REQUIRED && !field->nullable ? SIBLING_IS_WRONG
										: SIBLING_IS_SILENT;
	const void *member = member_read(value, field);
	if (ready->of[name->row]->kind == KIND_STR) {
		memcpy(out_tag, member, sizeof(*out_tag));
		return out_tag->at != NULL ? SIBLING_TELLS : SIBLING_IS_WRONG;
	}
	uint32_t word;
	memcpy(&word, member, sizeof(word));
	if (word >= ready->of[name->row]->word_count)
		return SIBLING_IS_WRONG;
	*out_tag = contract_word(ready->of[name->row], word);
	return SIBLING_TELLS;
}

static void parse_tagged_row(struct parse *parse, const struct path *path,
			     const struct type_ready *ready, size_t row, const struct json *json,
			     void *out)
{
	const struct field *field = &ready->fields[row];
	struct str tag = { NULL, 0 };
	if (json->kind == JSON_NULL && field->nullable) {
		mark_write(out, field, IS_NULL);
		return;
	}
	mark_write(out, field, GIVEN);
	switch (sibling_tag(ready, field->tag_in, out, &tag)) {
	case SIBLING_TELLS:
		parse_row(parse, path, ready, row, tag, json, out);
		break;
	case SIBLING_IS_SILENT:
		problem_add(parse, path, place_of(json),
			    "cannot be read: \"" STR_FMT "\" does not tell what it is",
			    STR_ARG(field->tag_in));
		break;
	case SIBLING_IS_WRONG:
		break;
	}
}

static void parse_tagged(struct parse *parse, const struct path *path,
			 const struct type_ready *ready, const struct json *json, void *out)
{
	for (size_t i = 0; i < ready->field_count; i++) {
		const struct field *field = &ready->fields[i];
		if (field->tag_in.size == 0)
			continue;
		struct str key = field->name;
		const struct json *member = json_member(json, key);
		if (member == NULL && field->alias.size > 0) {
			key = field->alias;
			member = json_member(json, key);
		}
		struct path inner = path_key(path, key);
		if (member != NULL)
			parse_tagged_row(parse, &inner, ready, i, member, out);
	}
}

static void fill_missing(struct parse *parse, const struct path *path,
			 const struct type_ready *ready, const struct json *json, void *out)
{
	for (size_t i = 0; i < ready->field_count; i++) {
		const struct field *field = &ready->fields[i];
		if (field->shape == SHAPE_CONST || field_is_hook(field) ||
		    mark_read(out, field) != ABSENT)
			continue;
		if (field->presence == PRESENCE_MADE && parse->world != NULL) {
			make_field(field, out, parse->arena, parse->world);
		} else if (field->presence == PRESENCE_REQUIRED ||
			   field->presence == PRESENCE_MADE) {
			struct path inner = path_key(path, field->name);
			problem_add(parse, &inner, place_of(json), "is required");
		}
	}
}

static void run_hooks(struct parse *parse, const struct path *path, const struct type_ready *ready,
		      const struct json *json, void *out)
{
	struct check check = { parse, path, json };
	for (size_t i = 0; i < ready->field_count; i++)
		if (ready->fields[i].shape == SHAPE_COMPUTE)
			ready->fields[i].compute(out);
	for (size_t i = 0; i < ready->field_count; i++)
		if (ready->fields[i].shape == SHAPE_CHECK)
			ready->fields[i].check(out, &check);
}

static void parse_entity(struct parse *parse, const struct path *path, const struct slot *slot,
			 const struct json *json, void *out)
{
	const struct type_ready *ready = type_ready(slot->type);
	if (ready == NULL) {
		problem_add(parse, path, place_of(json), "contains itself");
		return;
	}
	memcpy(out, ready->image, slot->type->size);
	if (json->kind != JSON_OBJECT) {
		parse_wrong(parse, path, json, "an object");
		return;
	}
	size_t before = problems_so_far(parse);
	parse_members(parse, path, slot, json, out);
	if (ready->has_tag_in)
		parse_tagged(parse, path, ready, json, out);
	fill_missing(parse, path, ready, json, out);
	if (ready->has_hooks && problems_so_far(parse) == before)
		run_hooks(parse, path, ready, json, out);
}

void parse_slot(struct parse *parse, const struct path *path, const struct slot *slot,
		const struct json *json, void *out)
{
	if (!kind_is_pointed(slot->type->kind))
		parse_leaf(parse, path, slot->type, slot->rules, json, out);
	else if (path->depth > LIMIT_JSON_DEPTH)
		problem_add(parse, path, place_of(json), "is nested too deeply");
	else if (slot->type->kind == KIND_ENTITY)
		parse_entity(parse, path, slot, json, out);
	else
		parse_union(parse, path, slot, json, out);
}

/* ---- members of every shape ------------------------------------------------------------ */

static void parse_one(struct parse *parse, const struct path *path, const struct slot *slot,
		      const struct json *json, void *member)
{
	if (!kind_is_pointed(slot->type->kind)) {
		parse_slot(parse, path, slot, json, member);
		return;
	}
	const void *value = parse_take(parse, path, json, 1, slot->type->size);
	if (value == NULL)
		return;
	parse_slot(parse, path, slot, json, (void *)(uintptr_t)value);
	memcpy(member, &value, sizeof(value));
}

static void parse_list(struct parse *parse, const struct path *path, const struct field *field,
		       const struct slot *slot, const struct json *json, void *member)
{
	if (json->kind != JSON_LIST) {
		parse_wrong(parse, path, json, "a list");
		return;
	}
	size_t count = json->as.list.count, before = problems_so_far(parse);
	if (!parse_length(parse, path, field, json, count))
		return;
	char *items = parse_take(parse, path, json, count, slot->type->size);
	if (items == NULL)
		return;
	for (size_t i = 0; i < count; i++) {
		struct path inner = path_index(path, i);
		parse_slot(parse, &inner, slot, &json->as.list.at[i], items + i * slot->type->size);
	}
	if (field->unique && problems_so_far(parse) == before)
		parse_unique(parse, path, slot->type, json, items);
	struct span span = { count == 0 ? NULL : items, count };
	memcpy(member, &span, sizeof(span));
}

/* The JSON reader rejects duplicate keys, but a tree may come from elsewhere: check again. */
static void check_keys(struct parse *parse, const struct path *path, const struct json *json)
{
	enum { FEW = 32 };
	AUTO(map) seen = { 0 };
	size_t count = json->as.object.count;
	for (size_t i = 0; i < count; i++) {
		const struct json_member *member = &json->as.object.at[i];
		bool twice = false;
		if (count > FEW) {
			twice = map_get(&seen, member->key) != NULL;
			map_put(&seen, member->key, parse);
		} else {
			for (size_t j = 0; j < i && !twice; j++)
				twice = str_equal(json->as.object.at[j].key, member->key);
		}
		if (twice) {
			struct path inner = path_key(path, member->key);
			problem_add(parse, &inner, (struct place){ member->line, member->column },
				    "is given twice");
		}
	}
}

static void parse_map(struct parse *parse, const struct path *path, const struct field *field,
		      const struct slot *slot, const struct json *json, void *member)
{
	if (json->kind != JSON_OBJECT) {
		parse_wrong(parse, path, json, "an object");
		return;
	}
	size_t count = json->as.object.count, size = slot->type->entry_size;
	if (!parse_length(parse, path, field, json, count))
		return;
	check_keys(parse, path, json);
	char *entries = parse_take(parse, path, json, count, size);
	if (entries == NULL)
		return;
	for (size_t i = 0; i < count; i++) {
		const struct json_member *from = &json->as.object.at[i];
		char *entry = entries + i * size;
		struct path inner = path_key(path, from->key);
		memcpy(entry, &from->key, sizeof(from->key));
		parse_slot(parse, &inner, slot, &from->value, entry + slot->type->entry_value);
	}
	struct span span = { count == 0 ? NULL : entries, count };
	memcpy(member, &span, sizeof(span));
}

bool parse_member(struct parse *parse, const struct path *path, const struct field *field,
		  struct rules rules, struct str tag, const struct json *json, void *value)
{
	size_t before = problems_so_far(parse);
	struct slot slot = { .type = field->of(), .rules = rules, .tag = tag };
	void *member = member_of(value, field);
	if (field->shape == SHAPE_LIST)
		parse_list(parse, path, field, &slot, json, member);
	else if (field->shape == SHAPE_MAP)
		parse_map(parse, path, field, &slot, json, member);
	else
		parse_one(parse, path, &slot, json, member);
	return problems_so_far(parse) == before;
}

/* ---- doors ----------------------------------------------------------------------------- */

const void *contract_parse(const struct type *type, const struct contract_source *source,
			   struct arena *arena, struct problems *problems)
{
	require(kind_is_pointed(type->kind));
	require(type->kind == KIND_ENTITY || type->tag.size > 0);
	require(type_ready(type)->mistake.size == 0);
	struct parse parse = { .arena = arena,
			       .problems = problems,
			       .world = source->world,
			       .lenient = source->lenient,
			       .room = LIMIT_CONTRACT_BYTES };
	size_t first = problems->count, before = problems_so_far(&parse);
	struct path path = { .depth = 0 };
	struct slot slot = { .type = type };
	void *value = arena_take(arena, type->size);
	parse_slot(&parse, &path, &slot, source->json, value);
	problems_locate(problems, first, source->text);
	return problems_so_far(&parse) == before ? value : NULL;
}

void contract_make(const struct type *type, void *value, struct arena *arena,
		   const struct contract_world *world)
{
	const struct type_ready *ready = type_ready(type);
	for (size_t i = 0; i < ready->field_count; i++) {
		const struct field *field = &ready->fields[i];
		if (field->presence == PRESENCE_MADE && mark_read(value, field) == ABSENT) {
			require(world != NULL);
			make_field(field, value, arena, world);
		}
	}
	for (size_t i = 0; i < ready->field_count; i++)
		if (ready->fields[i].shape == SHAPE_COMPUTE)
			ready->fields[i].compute(value);
}
