/* contract/parse_union.c -- selects the case of a union by its tag and parses that case.
 *
 * The tag is a member of the object, or the value of the sibling that TAG_IN names.  An unknown tag
 * is a problem unless the union has an OTHER case, which keeps the object unchanged.
 */
#include "contract/contract_internal.h"

#include <string.h>

static struct str tags_text(struct arena *arena, const struct type *type)
{
	struct str text = { "", 0 };
	for (size_t i = 0; i < type->case_count; i++)
		if (type->cases[i].of != NULL)
			text = str_format(arena, STR_FMT "%s" STR_FMT, STR_ARG(text),
					  text.size == 0 ? "" : ", ", STR_ARG(type->cases[i].tag));
	return text;
}

static bool find_tag(struct parse *parse, const struct path *path, const struct slot *slot,
		     const struct json *json, struct str *out_tag, struct place *out_place)
{
	*out_tag = slot->tag;
	*out_place = place_of(json);
	if (slot->tag.at != NULL)
		return true;
	struct path inner = path_key(path, slot->type->tag);
	const struct json *tag = json_member(json, slot->type->tag);
	if (tag == NULL) {
		problem_add(parse, &inner, place_of(json),
			    "is required: it tells which " STR_FMT " this is",
			    STR_ARG(slot->type->name));
		return false;
	}
	*out_place = place_of(tag);
	if (tag->kind != JSON_STRING)
		return parse_wrong(parse, &inner, tag, "a string");
	*out_tag = tag->as.string;
	return true;
}

static void unknown_tag(struct parse *parse, const struct path *path, const struct slot *slot,
			struct str tag, struct place place)
{
	struct path inner = path_key(path, slot->type->tag);
	const struct path *at = slot->tag.at == NULL ? &inner : path;
	if (problem_hide(parse))
		return;
	struct str said = quoted(parse->arena, tag), tags = tags_text(parse->arena, slot->type);
	struct str near = ready_closest(type_ready(slot->type), tag);
	struct problem *problem =
		near.size > 0 ? problem_add(parse, at, place,
					    STR_FMT " is not one of " STR_FMT
						    "; did you mean \"" STR_FMT "\"?",
					    STR_ARG(said), STR_ARG(tags), STR_ARG(near))
			      : problem_add(parse, at, place, STR_FMT " is not one of " STR_FMT,
					    STR_ARG(said), STR_ARG(tags));
	problem_suggest(problem, tag, near);
}

void parse_union(struct parse *parse, const struct path *path, const struct slot *slot,
		 const struct json *json, void *out)
{
	const struct type *type = slot->type;
	const struct type_ready *ready = type_ready(type);
	struct str tag;
	struct place place;
	if (json->kind != JSON_OBJECT) {
		parse_wrong(parse, path, json, "an object");
		return;
	}
	if (!find_tag(parse, path, slot, json, &tag, &place))
		return;
	const struct ready_name *name;
	uint32_t kind;
	const void *as;
	if (ready_find(ready, tag, &name)) {
		kind = name->row;
		struct slot inner = { .type = type->cases[kind].of() };
		if (!ready->tag_inside[kind])
			inner.skip = type->tag;
		void *value = parse_take(parse, path, json, 1, inner.type->size);
		if (value == NULL)
			return;
		parse_slot(parse, path, &inner, json, value);
		as = value;
	} else if (ready->other != SIZE_MAX) {
		kind = (uint32_t)ready->other;
		as = json;
	} else {
		unknown_tag(parse, path, slot, tag, place);
		return;
	}
	memcpy(out, &kind, sizeof(kind));
	memcpy((char *)out + type->as, &as, sizeof(as));
}
