/* tool/tool_sample.c -- the smallest output that fits the contract of a tool.
 *
 * A simulated call returns it: a step behind it finds every field that a real call always returns.
 */
#include "tool/tool_sample.h"

#include "base/buf.h"
#include "contract/type.h"
#include "tool/tool.h"

static void put_sample(const struct field *field, struct json_writer *writer)
{
	const struct type *type = field_type(field);
	if (field->fallback.size > 0) {
		json_put_raw(writer, field->fallback);
		return;
	}
	if (field->shape != SHAPE_ONE) {
		json_put_raw(writer, field->shape == SHAPE_LIST ? S("[]") : S("{}"));
		return;
	}
	switch (type->kind) {
	case KIND_INT:
	case KIND_REAL:
		json_put_int(writer, field->has_low && field->low > 0 ? (int64_t)field->low : 0);
		break;
	case KIND_BOOL:
		json_put_bool(writer, false);
		break;
	case KIND_ENUM:
		json_put_str(writer, type->words[0].name);
		break;
	case KIND_OBJECT:
	case KIND_ENTITY:
		json_put_raw(writer, S("{}"));
		break;
	case KIND_ANY:
	case KIND_UNION:
		json_put_null(writer);
		break;
	case KIND_HASH:
		json_put_str(writer,
			     S("0000000000000000000000000000000000000000000000000000000000000000"));
		break;
	case KIND_STR:
	case KIND_TIME:
	case KIND_UUID:
	case KIND_SECRET:
		json_put_str(writer, S(""));
		break;
	}
}

const struct json *tool_sample(const struct tool *tool, struct arena *arena)
{
	const struct type *type = tool == NULL || tool->outputs == NULL ? NULL : tool->outputs();
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	const struct json *json = NULL;
	struct error error;
	json_open(&writer, '{');
	for (const struct field *field = type == NULL ? NULL : type_fields(type);
	     field != NULL && field->shape != SHAPE_END; field++) {
		if (field_is_hook(field) || field->presence == PRESENCE_OPTIONAL ||
		    field->shape == SHAPE_CONST)
			continue;
		json_key(&writer, field->name);
		put_sample(field, &writer);
	}
	json_close(&writer, '}');
	bool good = json_read(str_copy(arena, buf_str(&text)), arena, &json, &error);
	require(good);
	return json;
}
