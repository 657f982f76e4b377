/* llm/text_calls.c -- finds TOOL_CALL: {...} in a text.
 *
 * The end of the JSON object is found by its braces, outside of strings; the object itself is then read
 * by the strict reader.
 */
#include "llm/text_calls.h"

#include "base/buf.h"
#include "base/limits.h"

/* The bytes of the object at the beginning of the text, or 0 if it is not closed. */
static size_t object_size(struct str text)
{
	size_t depth = 0;
	bool quoted = false;
	for (size_t i = 0; i < text.size; i++) {
		char c = text.at[i];
		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && c == '{')
			depth++;
		else if (!quoted && c == '}' && --depth == 0)
			return i + 1;
	}
	return 0;
}

static const struct json *first_of(const struct json *object, const char *const *names,
				   size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct json *member = json_member(object, str_from_c(names[i]));
		if (member != NULL)
			return member;
	}
	return NULL;
}

static struct run_turn_call read_call(struct str text, size_t number, struct arena *arena)
{
	static const char *const name_words[] = { "name", "tool" };
	static const char *const argument_words[] = { "arguments", "args", "parameters", "input" };
	static const struct json nothing = { .kind = JSON_OBJECT };
	struct run_turn_call call = *run_turn_call_new(arena);
	const struct json *json = NULL;
	struct error error;
	SET(&call, id, str_format(arena, "text_%zu", number));
	if (text.size == 0 || text.size > LIMIT_PARSE_ON_LOOP_BYTES ||
	    !json_read(str_copy(arena, text), arena, &json, &error))
		json = NULL;
	const struct json *name = first_of(json, name_words, COUNT(name_words));
	const struct json *arguments = first_of(json, argument_words, COUNT(argument_words));
	SET(&call, name, name != NULL && name->kind == JSON_STRING ? name->as.string : S(""));
	if (json != NULL && arguments == NULL)
		arguments = &nothing;
	if (arguments != NULL && arguments->kind == JSON_OBJECT)
		SET(&call, arguments, arguments);
	else
		SET(&call, malformed, str_copy(arena, str_head(text, LIMIT_NAME_SHOWN)));
	return call;
}

struct run_turn_call_list text_calls_parse(struct str text, struct arena *arena,
					   struct str *out_rest)
{
	struct run_turn_call *calls = arena_array(arena, struct run_turn_call, LIMIT_REPLY_CALLS);
	struct str mark = S("TOOL_CALL:"), all = text;
	size_t count = 0, at;
	AUTO(buf) rest = { 0 };
	while (count < LIMIT_REPLY_CALLS && str_find(text, mark, &at)) {
		struct str before = str_head(text, at);
		struct str after = str_skip(text, at + mark.size);
		while (after.size > 0 && (after.at[0] == ' ' || after.at[0] == '\n'))
			after = str_skip(after, 1);
		size_t size = after.size > 0 && after.at[0] == '{' ? object_size(after) : 0;
		buf_add(&rest, before);
		calls[count] = read_call(str_head(after, size), count + 1, arena);
		count++;
		text = str_skip(after, size);
	}
	buf_add(&rest, text);
	*out_rest = count == 0 ? all : str_copy(arena, str_trim(buf_str(&rest)));
	return (struct run_turn_call_list){ calls, count };
}
