/* definition/definition_repair.c -- what is left of a file that does not fit its contract.
 *
 * The passes of the compiler need a file that fits, but an author wants all problems at once.  So the
 * members that do not fit are taken out, or replaced by something harmless, until the rest fits.  What
 * was taken out is remembered: the passes then do not report that it is missing.
 */
#include "definition/compile_internal.h"

/* Each round takes out at least one member. */
enum { ROUNDS = 64 };

static bool is_one_of(struct str key, const char *const *names)
{
	for (; *names != NULL; names++)
		if (str_equal(key, str_from_c(*names)))
			return true;
	return false;
}

static const char *const step_lists[] = { "steps", "catch", "finally", "undo", NULL };
static const char *const orders[] = { "depends_on", "next", "join", "entry", NULL };
static const char *const named[] = { "name",    "steps", "catch",  "finally", "inputs",
				     "outputs", "as",    "agents", NULL };
static const char *const kinds[] = { "tool",     "agent",    "human", "wait", "condition",
				     "workflow", "parallel", "map",   "loop", "verify",
				     "gate",     "try",      NULL };

/* The member `key` of the object or list `owner` is gone. */
static void note(struct compiler *c, struct str owner, struct str key)
{
	c->order_unknown |= is_one_of(key, orders) || is_one_of(owner, orders);
	c->kinds_unknown |= is_one_of(key, kinds) || str_equal(key, S("type"));
	c->names_unknown |=
		is_one_of(key, named) || is_one_of(owner, named) || is_one_of(key, kinds);
}

static struct json text_node(const struct json *place, struct str text)
{
	return (struct json){
		.kind = JSON_STRING, .line = place->line, .column = place->column, .as.string = text
	};
}

static struct str new_name(struct compiler *c)
{
	return str_format(c->arena, "step_without_a_name_%zu", ++c->repairs);
}

/* A step that fits and about which there is nothing to report. */
static struct json empty_step(struct compiler *c, const struct json *place)
{
	struct json_member *members = arena_array(c->arena, struct json_member, 2);
	members[0] =
		(struct json_member){ .key = S("name"), .value = text_node(place, new_name(c)) };
	members[1] = (struct json_member){ .key = S("condition"),
					   .value = text_node(place, S("1 == 1")) };
	return (struct json){ .kind = JSON_OBJECT,
			      .line = place->line,
			      .column = place->column,
			      .as.object = { members, 2 } };
}

/* The first part of a JSON pointer. */
static struct str first_part(struct compiler *c, struct str *pointer)
{
	AUTO(buf) part = { 0 };
	*pointer = str_skip(*pointer, 1);
	while (pointer->size > 0 && pointer->at[0] != '/') {
		bool escaped = pointer->at[0] == '~' && pointer->size > 1;
		buf_add_char(&part, !escaped ? pointer->at[0] : pointer->at[1] == '1' ? '/' : '~');
		*pointer = str_skip(*pointer, escaped ? 2 : 1);
	}
	return str_copy(c->arena, buf_str(&part));
}

static bool take_out(struct compiler *c, struct json *node, struct str key, struct str pointer);

/* Takes the member out; a name is replaced. */
static size_t remove_member(struct compiler *c, struct json_member *members, size_t count,
			    size_t at)
{
	if (str_equal(members[at].key, S("name"))) {
		members[at].value = text_node(&members[at].value, new_name(c));
		return count;
	}
	for (size_t i = at; i + 1 < count; i++)
		members[i] = members[i + 1];
	return count - 1;
}

static bool take_member(struct compiler *c, struct json *object, struct str owner,
			struct str pointer)
{
	struct str key = first_part(c, &pointer);
	size_t count = object->as.object.count, at = 0;
	struct json_member *members = arena_array(c->arena, struct json_member, count + 1);
	for (size_t i = 0; i < count; i++)
		members[i] = object->as.object.at[i];
	while (at < count && !str_equal(members[at].key, key))
		at++;
	bool is_name = str_equal(key, S("name"));
	if (at == count && !is_name)
		return true; /* an object that lacks a member is taken out itself */
	bool is_missing = at == count;
	if (is_missing)
		members[count++] = (struct json_member){ .key = key, .value = *object };
	if (is_missing || take_out(c, &members[at].value, key, pointer)) {
		note(c, owner, key);
		count = remove_member(c, members, count, at);
	}
	object->as.object.at = members;
	object->as.object.count = count;
	return false;
}

static bool take_item(struct compiler *c, struct json *list, struct str key, struct str pointer)
{
	int64_t index;
	size_t count = list->as.list.count;
	if (!str_to_int(first_part(c, &pointer), &index) || index < 0 || (size_t)index >= count)
		return true;
	struct json *items = arena_array(c->arena, struct json, count);
	for (size_t i = 0; i < count; i++)
		items[i] = list->as.list.at[i];
	if (take_out(c, &items[index], S(""), pointer)) {
		note(c, key, S(""));
		if (is_one_of(key, step_lists)) {
			items[index] =
				empty_step(c, &items[index]); /* the others keep their places */
		} else {
			count--;
			for (size_t i = (size_t)index; i < count; i++)
				items[i] = items[i + 1];
		}
	}
	list->as.list.at = items;
	list->as.list.count = count;
	return false;
}

/* Takes what the pointer names out of the node, whose own key is `key`; true when that is the node
 * itself.  The node is changed, what it shares with the file is not. */
static bool take_out(struct compiler *c, struct json *node, struct str key, struct str pointer)
{
	if (pointer.size == 0)
		return true;
	if (node->kind == JSON_OBJECT)
		return take_member(c, node, key, pointer);
	if (node->kind == JSON_LIST)
		return take_item(c, node, key, pointer);
	return true;
}

const struct run_definition *definition_repair(struct compiler *c, struct str yaml,
					       const struct json **tree)
{
	struct json *rest = arena_copy(c->arena, *tree, sizeof(**tree));
	for (int round = 0; round < ROUNDS; round++) {
		struct problems problems = { .arena = c->arena };
		const struct contract_source source = { .json = rest,
							.text = yaml,
							.lenient = true };
		const struct run_definition *file =
			run_definition_parse(&source, c->arena, &problems);
		*tree = rest;
		if (file != NULL)
			return file;
		/* Backwards: items that are taken out of a list do not move those before them. */
		for (size_t i = problems.count; i > 0; i--)
			if (take_out(c, rest, S(""), problems.at[i - 1].pointer))
				return NULL;
	}
	return NULL;
}

void definition_drop_consequences(struct problems *problems, size_t unfit)
{
	size_t kept = unfit;
	for (size_t i = unfit; i < problems->count; i++) {
		struct str pointer = problems->at[i].pointer;
		bool follows = false;
		for (size_t k = 0; k < unfit && !follows; k++) {
			struct str inner = problems->at[k].pointer;
			follows = str_starts(inner, pointer) && inner.size > pointer.size &&
				  inner.at[pointer.size] == '/';
		}
		if (!follows)
			problems->at[kept++] = problems->at[i];
	}
	problems->count = kept;
}
