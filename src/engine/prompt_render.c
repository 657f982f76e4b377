/* engine/prompt_render.c -- renders the templates of prompts from recorded data only.
 *
 * The graph has the files of a template and references to what it reads; the references are rendered as
 * inputs are, and their values are data: nothing in them is ever a template.  An input that was not given
 * and a variable that was not set are undefined, so that a template can give a default.
 */
#include "contract/run_graph_types.h"
#include "engine/engine_internal.h"
#include "template/jinja.h"

static bool load(void *context, struct str name, struct arena *arena, struct str *out_source,
		 struct error *error)
{
	const struct run_graph_template *template = context;
	struct str plain = str_starts(name, S("prompts/")) ? str_skip(name, 8) : name;
	(void)arena;
	for (size_t i = 0; i < template->files.count; i++) {
		const struct run_graph_template_file *file = &template->files.at[i];
		if (str_starts(file->name, S("prompts/")) &&
		    str_equal(str_skip(file->name, 8), plain)) {
			*out_source = file->text;
			return true;
		}
	}
	return fail(error, ERROR_NOT_FOUND, "there is no template " STR_FMT, STR_ARG(name));
}

static struct json without_nulls(const struct json *mapping, struct arena *arena)
{
	struct json copy = *mapping;
	if (mapping->kind != JSON_OBJECT)
		return copy;
	struct json_member *members =
		arena_array(arena, struct json_member, mapping->as.object.count);
	size_t count = 0;
	for (size_t i = 0; i < mapping->as.object.count; i++)
		if (mapping->as.object.at[i].value.kind != JSON_NULL)
			members[count++] = mapping->as.object.at[i];
	copy.as.object.at = members;
	copy.as.object.count = count;
	return copy;
}

/* Members of `inputs` and `ctx` that are null are undefined. */
static const struct json *defined_data(const struct json *data, struct arena *arena)
{
	struct json *copy = arena_new(arena, struct json);
	size_t count = data->as.object.count;
	struct json_member *members = arena_array(arena, struct json_member, count);
	for (size_t i = 0; i < count; i++) {
		members[i] = data->as.object.at[i];
		if (str_equal(members[i].key, S("inputs")) || str_equal(members[i].key, S("ctx")))
			members[i].value = without_nulls(&members[i].value, arena);
	}
	*copy = *data;
	copy->as.object.at = members;
	return copy;
}

bool prompt_render(struct run *run, const struct activation *activation,
		   const struct engine_values *values, struct decision *d,
		   const struct run_graph_template *template, struct str *out_text,
		   struct failure *out_fault)
{
	struct eval_context eval_context = eval_context_make(run, activation, values, d);
	const struct jinja_options options = {
		.strict = has(run->graph->rows, strict) && run->graph->rows->strict,
		.trim_blocks = has(template, trim_blocks) && template->trim_blocks,
		.lstrip_blocks = has(template, lstrip_blocks) && template->lstrip_blocks,
		.load = load,
		.context = (void *)(uintptr_t) template
	};
	const struct jinja_template *parsed;
	struct error error = { 0 };
	eval_context.quiet = true;
	const struct json *data = eval_render(&eval_context, template->data);
	if (eval_context.missing)
		return false;
	*out_text = S("");
	*out_fault = (struct failure){ S(""), S("") };
	if (data == NULL || data->kind != JSON_OBJECT)
		*out_fault = request_too_large();
	else if (!jinja_parse(template->files.at[0].name, template->files.at[0].text, &options,
			      d->arena, &parsed, &error) ||
		 !jinja_render(parsed, defined_data(data, d->arena), &options, d->arena, out_text,
			       &error))
		*out_fault =
			failure_make(error.code, str_format(d->arena, "prompt: %s", error.text));
	return true;
}

const struct json *prompt_add(const struct json *inputs, struct str text, struct arena *arena)
{
	size_t count = inputs->as.object.count;
	struct json_member *members = arena_array(arena, struct json_member, count + 1);
	struct json *copy = arena_new(arena, struct json);
	for (size_t i = 0; i < count; i++)
		members[i] = inputs->as.object.at[i];
	members[count] =
		(struct json_member){ .key = S("prompt"),
				      .value = { .kind = JSON_STRING, .as.string = text } };
	*copy = *inputs;
	copy->as.object.at = members;
	copy->as.object.count = count + 1;
	return copy;
}

bool prompt_system(struct run *run, const struct activation *activation,
		   const struct engine_values *values, struct decision *d,
		   const struct run_graph_agent *agent, struct str *out_text,
		   struct failure *out_fault)
{
	if (has(agent, system_template))
		return prompt_render(run, activation, values, d, agent->system_template, out_text,
				     out_fault);
	*out_text = agent->system;
	*out_fault = (struct failure){ S(""), S("") };
	return true;
}
