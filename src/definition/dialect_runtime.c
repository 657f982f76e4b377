/* definition/dialect_runtime.c -- workflows with steps: the shorter spellings that the contract does not have.
 *
 *	_NAME, x-NAME      ignored in the file and in steps: a place for YAML anchors
 *	retry: 2           retry: {max_retries: 2}; so is max_retries: 2 beside it
 *	agent: tier0_NAME  calls the tool NAME without a model, or passes its inputs on if there is none
 *	verify: {...}      on a step that does something: repeats it until its criteria hold (dialect_verify.c)
 *
 * A file without them is not copied.
 */
#include "definition/dialect.h"
#include "definition/dialect_verify.h"
#include "definition/tree_build.h"

#define TIER0 S("tier0_")

struct runtime_file {
	const struct compiler *compiler;
	struct arena *arena;
	const struct json *agents; /* of the file; NULL = none */
};

static bool is_ignored(struct str key)
{
	return str_starts(key, S("_")) || str_starts(key, S("x-"));
}

static bool is_one_of(struct str key, const char *const *names)
{
	for (; *names != NULL; names++)
		if (str_equal(key, str_from_c(*names)))
			return true;
	return false;
}

static const char *const bodies[] = { "parallel", "map", "loop", "verify", "gate", "try", NULL };
static const char *const lists[] = { "steps", "catch", "finally", "undo", NULL };

static struct json steps_of(const struct runtime_file *file, const struct json *list);

/* A container: only its lists of steps are looked at. */
static struct json body_of(const struct runtime_file *file, const struct json *from)
{
	struct tree_object body = { .arena = file->arena, .place = from };
	if (from->kind != JSON_OBJECT)
		return *from;
	for (size_t i = 0; i < from->as.object.count; i++) {
		const struct json_member *member = &from->as.object.at[i];
		tree_add_member(&body, member,
				is_one_of(member->key, lists) ? steps_of(file, &member->value)
							      : member->value);
	}
	return tree_object(&body);
}

static struct json retry_of(const struct runtime_file *file, const struct json *from)
{
	struct tree_object retry = { .arena = file->arena, .place = from };
	if (from->kind != JSON_INT)
		return *from;
	tree_add(&retry, S("max_retries"), *from);
	return tree_object(&retry);
}

/* ---- steps -------------------------------------------------------------------------------------- */

/* Without a model: the tool of that name, or one that passes its inputs on. */
static bool is_without_model(const struct runtime_file *file, const struct json_member *member)
{
	return str_equal(member->key, S("agent")) && member->value.kind == JSON_STRING &&
	       str_starts(member->value.as.string, TIER0) &&
	       json_member(file->agents, member->value.as.string) == NULL;
}

static struct str tool_without_model(const struct runtime_file *file, struct str agent)
{
	struct str name = str_skip(agent, TIER0.size);
	return definition_find_tool(file->compiler, name) == NULL ? S("echo") : name;
}

static void add_member(const struct runtime_file *file, const struct json *step,
		       const struct json_member *member, struct tree_object *out)
{
	if (is_ignored(member->key))
		return;
	if (str_equal(member->key, S("max_retries"))) {
		if (json_member(step, S("retry")) == NULL)
			tree_add(out, S("retry"), retry_of(file, &member->value));
		return;
	}
	if (is_without_model(file, member))
		tree_add(out, S("tool"),
			 tree_text(tool_without_model(file, member->value.as.string),
				   &member->value));
	else if (str_equal(member->key, S("retry")))
		tree_add_member(out, member, retry_of(file, &member->value));
	else if (is_one_of(member->key, lists))
		tree_add_member(out, member, steps_of(file, &member->value));
	else if (is_one_of(member->key, bodies))
		tree_add_member(out, member, body_of(file, &member->value));
	else
		tree_add_member(out, member, member->value);
}

static struct json step_of(const struct runtime_file *file, const struct json *from)
{
	struct tree_object step = { .arena = file->arena, .place = from };
	if (from->kind != JSON_OBJECT)
		return *from;
	for (size_t i = 0; i < from->as.object.count; i++)
		add_member(file, from, &from->as.object.at[i], &step);
	struct json plain = tree_object(&step);
	return dialect_has_criteria(&plain) ? dialect_verified(file->arena, &plain) : plain;
}

static struct json steps_of(const struct runtime_file *file, const struct json *from)
{
	struct tree_list steps = { .arena = file->arena, .place = from };
	if (from->kind != JSON_LIST)
		return *from;
	for (size_t i = 0; i < from->as.list.count; i++)
		tree_append(&steps, step_of(file, &from->as.list.at[i]));
	return tree_list(&steps);
}

/* Whether a value has one of the spellings anywhere; a text like one costs a copy, nothing else. */
static bool has_spelling(const struct json *json)
{
	for (size_t i = 0; json->kind == JSON_LIST && i < json->as.list.count; i++)
		if (has_spelling(&json->as.list.at[i]))
			return true;
	for (size_t i = 0; json->kind == JSON_OBJECT && i < json->as.object.count; i++) {
		const struct json_member *member = &json->as.object.at[i];
		if (is_ignored(member->key) || str_equal(member->key, S("max_retries")) ||
		    str_equal(member->key, S("verify")) ||
		    (str_equal(member->key, S("retry")) && member->value.kind == JSON_INT) ||
		    (str_equal(member->key, S("agent")) &&
		     str_starts(json_text(&member->value), TIER0)) ||
		    has_spelling(&member->value))
			return true;
	}
	return false;
}

const struct json *dialect_runtime_translate(const struct compiler *compiler,
					     const struct json *tree)
{
	const struct runtime_file file = { .compiler = compiler,
					   .arena = compiler->arena,
					   .agents = json_member(tree, S("agents")) };
	struct tree_object out = { .arena = compiler->arena, .place = tree };
	if (tree->kind != JSON_OBJECT || !has_spelling(tree))
		return tree;
	for (size_t i = 0; i < tree->as.object.count; i++) {
		const struct json_member *member = &tree->as.object.at[i];
		if (!is_ignored(member->key))
			tree_add_member(&out, member,
					str_equal(member->key, S("steps"))
						? steps_of(&file, &member->value)
						: member->value);
	}
	struct json *copy = arena_new(compiler->arena, struct json);
	*copy = tree_object(&out);
	return copy;
}
