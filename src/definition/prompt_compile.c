/* definition/prompt_compile.c -- templates of prompts: their files, and the data that they read.
 *
 * The graph has the text of a template and of everything that it includes, so that a run goes on with the
 * prompts it began with (architecture R14), and a mapping of references to what the template reads.  The
 * engine renders the mapping as it renders inputs, and the template with it: nothing else enters a prompt.
 */
#include "contract/closest.h"
#include "definition/compile_internal.h"
#include "definition/name_scope.h"
#include "template/jinja.h"

/* A template that is being compiled. */
struct prompt {
	const struct reader *reader;
	struct arena *arena;
	struct run_graph_template_file *files;
	size_t file_count, file_room;
	struct json_member *data, *steps, *ctx;
	size_t data_count, steps_count, ctx_count, data_room, steps_room, ctx_room;
};

static const struct run_definition_step *step_of(const struct reader *reader)
{
	return &reader->body->steps.at[reader->step];
}

/* ---- files -------------------------------------------------------------------------------- */

/* A name with or without the folder in front is the same file. */
static struct str plain_name(struct str name)
{
	return str_starts(name, S("prompts/")) ? str_skip(name, 8) : name;
}

static struct str shown_name(struct prompt *prompt, struct str name)
{
	return str_format(prompt->arena, "prompts/" STR_FMT, STR_ARG(plain_name(name)));
}

static void add_file(struct prompt *prompt, struct str name, struct str text)
{
	if (prompt->file_count == prompt->file_room) {
		size_t room = prompt->file_room * 2 + 4;
		struct run_graph_template_file *files =
			arena_array(prompt->arena, struct run_graph_template_file, room);
		for (size_t i = 0; i < prompt->file_count; i++)
			files[i] = prompt->files[i];
		prompt->files = files;
		prompt->file_room = room;
	}
	struct run_graph_template_file *file = &prompt->files[prompt->file_count++];
	*file = *run_graph_template_file_new(prompt->arena);
	SET(file, name, name);
	SET(file, text, text);
}

static bool read_file(struct prompt *prompt, struct str name, struct str *out_text,
		      struct error *error)
{
	const struct definition_tools *tools = prompt->reader->body->compiler->tools;
	if (tools->prompt == NULL)
		return fail(error, ERROR_NOT_FOUND, "there is no folder of prompts here");
	return tools->prompt(tools->context, plain_name(name), prompt->arena, out_text, error);
}

/* Gives an included template, and keeps it for the graph. */
static bool load(void *context, struct str name, struct arena *arena, struct str *out_source,
		 struct error *error)
{
	struct prompt *prompt = context;
	struct str shown = shown_name(prompt, name);
	(void)arena;
	for (size_t i = 0; i < prompt->file_count; i++)
		if (str_equal(prompt->files[i].name, shown)) {
			*out_source = prompt->files[i].text;
			return true;
		}
	if (!read_file(prompt, name, out_source, error))
		return false;
	add_file(prompt, shown, *out_source);
	return true;
}

/* ---- names -------------------------------------------------------------------------------- */

static void put(struct prompt *prompt, struct json_member **at, size_t *count, size_t *room,
		struct str key, struct json value)
{
	for (size_t i = 0; i < *count; i++)
		if (str_equal((*at)[i].key, key))
			return;
	if (*count == *room) {
		*room = *room * 2 + 8;
		struct json_member *grown = arena_array(prompt->arena, struct json_member, *room);
		for (size_t i = 0; i < *count; i++)
			grown[i] = (*at)[i];
		*at = grown;
	}
	(*at)[(*count)++] = (struct json_member){ .key = key, .value = value };
}

static struct json reference(struct prompt *prompt, const char *before, struct str name,
			     const char *after)
{
	return (struct json){ .kind = JSON_STRING,
			      .as.string = str_format(prompt->arena, "${%s" STR_FMT "%s}", before,
						      STR_ARG(name), after) };
}

static void put_data(struct prompt *prompt, struct str key, struct json value)
{
	put(prompt, &prompt->data, &prompt->data_count, &prompt->data_room, key, value);
}

/* A call such as inputs.items() is no input of that name. */
static bool is_method(struct str name)
{
	return str_equal(name, S("items")) || str_equal(name, S("keys")) ||
	       str_equal(name, S("values")) || str_equal(name, S("get"));
}

static bool check_name(const struct prompt *prompt, enum expr_name kind, struct str name,
		       struct str key, struct error *error)
{
	const struct reader *reader = prompt->reader;
	struct name_advice advice;
	bool good = definition_check_name(reader, kind, name, key, &advice, error);
	if (good && advice.warning.size > 0)
		definition_warn(reader->body->compiler,
				json_item(reader->body->tree, (size_t)reader->step),
				"prompt: " STR_FMT, STR_ARG(advice.warning));
	return good;
}

static bool use_step(struct prompt *prompt, struct str_list path, struct error *error)
{
	if (path.count == 0 || is_method(path.at[0]))
		return fail(error, ERROR_INVALID,
			    "a prompt can read single steps only: write steps.NAME");
	bool outputs = path.count > 1 &&
		       (str_equal(path.at[1], S("outputs")) || str_equal(path.at[1], S("output")));
	if (path.count > 1 && !outputs && !str_equal(path.at[1], S("status")) &&
	    !str_equal(path.at[1], S("error")))
		return fail(error, ERROR_INVALID,
			    "a step has outputs, status and error, not \"" STR_FMT "\"",
			    STR_ARG(path.at[1]));
	struct str key = outputs && path.count > 2 && !is_method(path.at[2]) ? path.at[2] : S("");
	if (!check_name(prompt, EXPR_NAME_STEP, path.at[0], key, error))
		return false;
	struct json_member *fields = arena_array(prompt->arena, struct json_member, 4);
	static const char *const names[] = { "outputs", "output", "status", "error" };
	for (size_t i = 0; i < COUNT(names); i++)
		fields[i] = (struct json_member){
			.key = str_from_c(names[i]),
			.value = reference(prompt, "steps.", path.at[0],
					   str_format(prompt->arena, ".%s", names[i]).at),
		};
	put(prompt, &prompt->steps, &prompt->steps_count, &prompt->steps_room, path.at[0],
	    (struct json){ .kind = JSON_OBJECT, .as.object = { fields, COUNT(names) } });
	return true;
}

static bool use_ctx(struct prompt *prompt, struct str_list path, struct error *error)
{
	if (path.count == 0 || is_method(path.at[0]))
		return fail(error, ERROR_INVALID,
			    "a prompt can read single variables only: write ctx.NAME");
	if (!check_name(prompt, EXPR_NAME_CTX, path.at[0], S(""), error))
		return false;
	put(prompt, &prompt->ctx, &prompt->ctx_count, &prompt->ctx_room, path.at[0],
	    reference(prompt, "ctx.", path.at[0], ""));
	return true;
}

static bool fail_unknown(const struct prompt *prompt, struct str name, struct error *error)
{
	const struct json *inputs = step_of(prompt->reader)->inputs;
	size_t count = inputs != NULL && inputs->kind == JSON_OBJECT ? inputs->as.object.count : 0;
	struct str *names = arena_array(prompt->arena, struct str, count + 3);
	names[0] = S("inputs");
	names[1] = S("steps");
	names[2] = S("ctx");
	for (size_t i = 0; i < count; i++)
		names[3 + i] = inputs->as.object.at[i].key;
	struct str close = closest_word((struct str_list){ names, count + 3 }, name);
	if (close.size > 0)
		return fail(error, ERROR_INVALID,
			    "unknown name \"" STR_FMT "\"; did you mean \"" STR_FMT "\"?",
			    STR_ARG(name), STR_ARG(close));
	return fail(error, ERROR_INVALID,
		    "unknown name \"" STR_FMT
		    "\": a prompt reads inputs.<name>, steps.<name>.outputs.<key>, ctx.<name> and "
		    "the inputs of its step",
		    STR_ARG(name));
}

static bool use_name(void *context, const struct jinja_name *name, struct error *error)
{
	struct prompt *prompt = context;
	const struct json *own = json_member(step_of(prompt->reader)->inputs, name->name);
	struct error ignored = { 0 };
	if (str_equal(name->name, S("inputs"))) {
		if (name->path.count > 0 && !is_method(name->path.at[0]) &&
		    !check_name(prompt, EXPR_NAME_INPUT, name->path.at[0], S(""), error))
			return false;
		put_data(prompt, name->name, reference(prompt, "", name->name, ""));
		return true;
	}
	if (str_equal(name->name, S("steps")))
		return use_step(prompt, name->path, error);
	if (str_equal(name->name, S("ctx")))
		return use_ctx(prompt, name->path, error);
	if (own != NULL) {
		put_data(prompt, name->name, *own);
		return true;
	}
	if (check_name(prompt, EXPR_NAME_VARIABLE, name->name, S(""), &ignored)) {
		put_data(prompt, name->name, reference(prompt, "", name->name, ""));
		return true;
	}
	return name->bound || fail_unknown(prompt, name->name, error);
}

/* ---- the template ------------------------------------------------------------------------- */

static const struct json *data_of(struct prompt *prompt)
{
	struct json *data = arena_new(prompt->arena, struct json);
	if (prompt->steps_count > 0)
		put_data(prompt, S("steps"),
			 (struct json){ .kind = JSON_OBJECT,
					.as.object = { prompt->steps, prompt->steps_count } });
	if (prompt->ctx_count > 0)
		put_data(prompt, S("ctx"),
			 (struct json){ .kind = JSON_OBJECT,
					.as.object = { prompt->ctx, prompt->ctx_count } });
	*data = (struct json){ .kind = JSON_OBJECT,
			       .as.object = { prompt->data, prompt->data_count } };
	return data;
}

/* NULL after adding a problem.  `file` is the name of the file, or "" for a template in the definition,
 * which errors call after its field. */
static const struct run_graph_template *compile_template(const struct reader *reader,
							 struct str file, struct str text,
							 struct str key, struct error *error)
{
	struct prompt prompt = { .reader = reader, .arena = reader->body->compiler->arena };
	const struct run_definition *definition = reader->body->compiler->file;
	const struct jinja_options options = {
		.trim_blocks = has(definition, trim_blocks) && definition->trim_blocks,
		.lstrip_blocks = has(definition, lstrip_blocks) && definition->lstrip_blocks,
		.load = load,
		.context = &prompt,
	};
	const struct jinja_template *parsed;
	struct str name = file.size > 0 ? shown_name(&prompt, file) : key;
	if (file.size > 0 && !read_file(&prompt, file, &text, error))
		return NULL;
	add_file(&prompt, name, text);
	if (!jinja_parse(name, text, &options, prompt.arena, &parsed, error) ||
	    !jinja_names(parsed, &options, use_name, &prompt, prompt.arena, error))
		return NULL;
	struct run_graph_template *template = run_graph_template_new(prompt.arena);
	SET(template, data, data_of(&prompt));
	if (options.trim_blocks)
		SET(template, trim_blocks, true);
	if (options.lstrip_blocks)
		SET(template, lstrip_blocks, true);
	SET(template, files,
	    ((struct run_graph_template_file_list){ prompt.files, prompt.file_count }));
	return template;
}

void definition_make_prompt(const struct reader *reader, struct run_graph_node *node)
{
	const struct run_definition_step *step = step_of(reader);
	bool is_file = has(step, prompt_file);
	struct str key = is_file ? S("prompt_file") : S("prompt_template");
	struct error error = { 0 };
	if (!is_file && !has(step, prompt_template))
		return;
	if (is_file && has(step, prompt_template)) {
		definition_step_problem(reader->body, (size_t)reader->step, key,
					"a step has prompt_file or prompt_template, not both");
		return;
	}
	if (json_member(step->inputs, S("prompt")) != NULL) {
		definition_step_problem(
			reader->body, (size_t)reader->step, key,
			"the step has the input prompt already; remove one of them");
		return;
	}
	const struct run_graph_template *template =
		compile_template(reader, is_file ? step->prompt_file : S(""),
				 is_file ? S("") : step->prompt_template, key, &error);
	if (template == NULL)
		definition_step_problem(reader->body, (size_t)reader->step, key, "%s", error.text);
	else
		SET(node, prompt, template);
}

/* The template of a named prompt, and with it the version that the run goes on with. */
static const struct run_graph_template *compile_named(const struct reader *reader, struct str id,
						      int64_t *out_version, struct error *error)
{
	const struct compiler *c = reader->body->compiler;
	struct definition_prompt prompt;
	if (c->tools->named_prompt == NULL) {
		fail(error, ERROR_NOT_FOUND, "there are no named prompts here");
		return NULL;
	}
	if (!c->tools->named_prompt(c->tools->context, id, c->arena, &prompt, error))
		return NULL;
	*out_version = prompt.version;
	return compile_template(reader, S(""), prompt.text,
				str_format(c->arena, "prompt " STR_FMT, STR_ARG(id)), error);
}

static size_t count_systems(const struct run_definition_agent *own)
{
	return (size_t)(own->system.size > 0) + (size_t)has(own, system_file) +
	       (size_t)has(own, system_template) + (size_t)has(own, prompt_name);
}

static const struct run_graph_template *compile_system(const struct reader *reader,
						       const struct run_definition_agent *own,
						       int64_t *out_version, struct error *error)
{
	if (has(own, prompt_name))
		return compile_named(reader, own->prompt_name, out_version, error);
	bool is_file = has(own, system_file);
	return compile_template(reader, is_file ? own->system_file : S(""),
				is_file ? S("") : own->system_template,
				is_file ? S("system_file") : S("system_template"), error);
}

const struct run_graph_agent *definition_make_system(const struct reader *reader,
						     const struct run_graph_agent *agent)
{
	const struct compiler *c = reader->body->compiler;
	struct str name = step_of(reader)->agent;
	struct error error = { 0 };
	const struct run_definition_agent *own = NULL;
	for (size_t i = 0; i < c->file->agents.count; i++)
		if (str_equal(c->file->agents.at[i].key, name))
			own = &c->file->agents.at[i].value;
	if (own == NULL ||
	    (!has(own, system_file) && !has(own, system_template) && !has(own, prompt_name)))
		return agent;
	if (count_systems(own) > 1) {
		definition_step_problem(reader->body, (size_t)reader->step, S("agent"),
					"agent " STR_FMT
					" has more than one of system, system_file, "
					"system_template and prompt_name",
					STR_ARG(name));
		return agent;
	}
	int64_t version = 0;
	const struct run_graph_template *template = compile_system(reader, own, &version, &error);
	if (template == NULL) {
		definition_step_problem(reader->body, (size_t)reader->step, S("agent"),
					"agent " STR_FMT ": %s", STR_ARG(name), error.text);
		return agent;
	}
	struct run_graph_agent *with = arena_copy(c->arena, agent, sizeof(*agent));
	SET(with, system_template, template);
	if (has(own, prompt_name)) {
		SET(with, prompt_name, own->prompt_name);
		SET(with, prompt_version, version);
	}
	return with;
}
