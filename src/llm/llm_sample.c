/* llm/llm_sample.c -- the reply of a simulated model. */
#include "llm/llm_sample.h"

#include "base/buf.h"

enum { SAMPLE_DEPTH = 8 };

/* The smallest JSON that fits the usual keywords of a schema. */
static void put_fitting(const struct json *schema, struct json_writer *writer, unsigned depth)
{
	const struct json *choices = json_member(schema, S("enum")),
			  *constant = json_member(schema, S("const"));
	const struct json *properties = json_member(schema, S("properties"));
	const struct json *required = json_member(schema, S("required")), *name;
	struct str type = json_text(json_member(schema, S("type")));
	if (constant != NULL)
		json_put_tree(writer, constant);
	else if (json_item(choices, 0) != NULL)
		json_put_tree(writer, json_item(choices, 0));
	else if (str_equal(type, S("boolean")))
		json_put_bool(writer, true);
	else if (str_equal(type, S("integer")) || str_equal(type, S("number")))
		json_put_int(writer, 1);
	else if (str_equal(type, S("array")))
		json_put_raw(writer, S("[]"));
	else if (str_equal(type, S("string")))
		json_put_str(writer, S("ok"));
	else if (depth == 0 || (properties == NULL && !str_equal(type, S("object"))))
		json_put_null(writer);
	else {
		json_open(writer, '{');
		for (size_t i = 0; (name = json_item(required, i)) != NULL; i++) {
			json_key(writer, json_text(name));
			put_fitting(json_member(properties, json_text(name)), writer, depth - 1);
		}
		json_close(writer, '}');
	}
}

struct str llm_sample(const struct json *schema, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	if (schema == NULL)
		return S("ok");
	put_fitting(schema, &writer, SAMPLE_DEPTH);
	return str_copy(arena, buf_str(&text));
}
