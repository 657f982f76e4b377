/* tool/tool_schema.c -- the JSON Schema of a tool's inputs, for models. */
#include "tool/tool_schema.h"

#include "base/limits.h"
#include "contract/describe.h"

static const struct json *read_text(struct str text, struct arena *arena)
{
	const struct json *json;
	struct error error;
	bool good = json_read(str_copy(arena, text), arena, &json, &error);
	require(good);
	return json;
}

static const struct json *any_object(struct arena *arena)
{
	return read_text(S("{\"type\":\"object\",\"properties\":{},\"additionalProperties\":true}"),
			 arena);
}

const struct json *tool_parameters(const struct tool *tool, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	if (tool->inputs == NULL)
		return any_object(arena);
	describe_schema_whole(tool->inputs(), &writer);
	return read_text(buf_str(&text), arena);
}

/* A model's provider wants the type, which a definition may leave out: inputs are always an object. */
const struct json *tool_custom_parameters(const struct custom_tool *tool, struct arena *arena)
{
	const struct json *declared = tool->definition == NULL ? NULL : tool->definition->inputs;
	if (declared == NULL || declared->kind != JSON_OBJECT || declared->as.object.count == 0)
		return any_object(arena);
	if (json_member(declared, S("type")) != NULL)
		return declared;
	struct json_builder *builder = json_builder_new(arena);
	struct json_writer writer = { .builder = builder };
	json_open(&writer, '{');
	json_key(&writer, S("type"));
	json_put_str(&writer, S("object"));
	for (size_t i = 0; i < declared->as.object.count; i++) {
		json_key(&writer, declared->as.object.at[i].key);
		json_put_tree(&writer, &declared->as.object.at[i].value);
	}
	json_close(&writer, '}');
	return json_builder_end(builder);
}

enum run_risk tool_custom_risk(const struct custom_tool *tool)
{
	const struct run_custom_tool *definition = tool->definition;
	if (definition == NULL)
		return RUN_RISK_HIGH;
	if (has(definition, risk))
		return definition->risk;
	if (definition->network)
		return RUN_RISK_HIGH;
	switch (definition->class) {
	case RUN_CLASS_PURE:
	case RUN_CLASS_IDEMPOTENT:
		return RUN_RISK_LOW;
	case RUN_CLASS_CONTAINED:
		return RUN_RISK_MEDIUM;
	case RUN_CLASS_KEYED:
	case RUN_CLASS_PROBE:
	case RUN_CLASS_ONCE:
		break;
	}
	return RUN_RISK_HIGH;
}

double tool_timeout_seconds(const struct tool *tool)
{
	return tool->timeout_seconds > 0 ? tool->timeout_seconds : LIMIT_TOOL_SECONDS;
}

double tool_custom_timeout_seconds(const struct custom_tool *tool)
{
	return tool->definition == NULL ? LIMIT_TOOL_SECONDS : tool->definition->timeout_seconds;
}
