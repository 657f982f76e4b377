/* tool/tool_template_render.c -- template_render: renders a prompt template with data.
 *
 * The tool is pure.  It runs on the loop thread; the limits of templates bound its work, and nothing
 * can be included, because a call reads no files.
 */
#include "contract/run_tool_types.h"
#include "template/jinja.h"
#include "tool/tool_context.h"

static bool compute(const struct json *inputs, struct arena *arena, const struct json **out_output,
		    struct error *error)
{
	const struct run_template_render_inputs *given =
		tool_context_inputs(run_template_render_inputs_type(), inputs, arena, error);
	if (given == NULL)
		return false;
	const struct jinja_options options = { .trim_blocks = given->trim_blocks,
					       .lstrip_blocks = given->lstrip_blocks,
					       .strict = given->strict };
	const struct jinja_template *template;
	struct str text;
	if (!jinja_parse(S("template"), given->template, &options, arena, &template, error) ||
	    !jinja_render(template, given->data, &options, arena, &text, error))
		return false;
	struct run_template_render_outputs *outputs = run_template_render_outputs_new(arena);
	SET(outputs, text, text);
	*out_output = TOOL_OUTPUT(run_template_render_outputs, outputs, arena);
	return true;
}

const struct tool tool_template_render = {
	.name = "template_render",
	.text = "Renders a template, a subset of Jinja2, with data.",
	.class = RUN_CLASS_PURE,
	.risk = RUN_RISK_LOW,
	.inputs = run_template_render_inputs_type,
	.outputs = run_template_render_outputs_type,
	.compute = compute,
};
