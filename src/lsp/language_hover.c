/* lsp/language_hover.c -- hover and go to definition: what stands at a position, and where it is declared. */
#include "base/json.h"
#include "base/utf8.h"
#include "lsp/definition_fields.h"
#include "lsp/language_answers.h"
#include "lsp/workflow_names.h"

const struct json *lsp_catalog_find(const struct language_question *question,
				    enum lsp_catalog which, struct str name)
{
	const struct json *items = question->host->catalog(question->host->context, which,
							   question->arena),
			  *item;
	for (size_t i = 0; (item = json_item(items, i)) != NULL; i++)
		if (str_equal(json_text(json_member(item, S("name"))), name))
			return item;
	return NULL;
}

static void put_hover(const struct language_question *question, struct json_writer *writer,
		      struct str text, struct text_position from, size_t size)
{
	json_open(writer, '{');
	json_key(writer, S("contents"));
	json_open(writer, '{');
	json_key(writer, S("kind"));
	json_put_str(writer, S("plaintext"));
	json_key(writer, S("value"));
	json_put_str(writer, text);
	json_close(writer, '}');
	text_range_put(writer, question->text, from, size, question->utf8);
	json_close(writer, '}');
}

/* ---- hover ------------------------------------------------------------------------------------- */

struct key_search {
	struct text_position at;
	struct yaml_place found;
	bool is_found;
};

static bool search_key(void *context, const struct yaml_place *place)
{
	struct key_search *search = context;
	if (place->line == search->at.line && place->is_key && place->column <= search->at.byte &&
	    search->at.byte <= place->column + place->text.size) {
		search->found = *place;
		search->is_found = true;
	}
	return place->line <= search->at.line && !search->is_found;
}

/* An input of a tool, below `inputs` of its step. */
static struct str input_text(const struct language_question *question, const struct yaml_path *path)
{
	struct declared_names names = workflow_names_read(question->text, question->arena);
	if (path->depth < 4 || !str_equal(path->at[path->depth - 2].key, S("inputs")))
		return S("");
	for (size_t i = 0; i < names.count; i++) {
		const struct declared_name *name = &names.at[i];
		if (name->kind != NAME_STEP || name->body.depth != path->depth - 2 ||
		    !str_equal(name->caller, S("tool")) ||
		    !yaml_path_shares(&name->body, path, name->body.depth))
			continue;
		const struct json *tool = lsp_catalog_find(question, LSP_TOOLS, name->calls);
		const struct json *schema =
			json_member(json_member(tool, S("parameters")), S("properties"));
		return json_text(json_member(json_member(schema, path->at[path->depth - 1].key),
					     S("description")));
	}
	return S("");
}

static bool hover_key(const struct language_question *question, struct json_writer *writer)
{
	struct key_search search = { .at = question->at };
	struct definition_field field;
	AUTO(buf) text = { 0 };
	yaml_places_scan(question->text, search_key, &search);
	if (!search.is_found)
		return false;
	const struct yaml_path *path = &search.found.path;
	if (definition_field_find(question->text, path, &field) && field.field != NULL &&
	    (str_equal(field.field->name, search.found.text) ||
	     str_equal(field.field->alias, search.found.text))) {
		buf_add_format(&text, STR_FMT ": ", STR_ARG(field.field->name));
		definition_field_print(field.field, &text);
		buf_add_format(&text, "\n\n" STR_FMT, STR_ARG(field.field->text));
	} else {
		buf_add(&text, input_text(question, path));
	}
	if (text.size == 0)
		return false;
	put_hover(question, writer, buf_str(&text),
		  (struct text_position){ search.found.line, search.found.column },
		  search.found.text.size);
	return true;
}

static void describe_declared(const struct language_question *question,
			      const struct name_reference *reference, struct buf *out)
{
	static const char *const kinds[] = {
		[NAME_STEP] = "step",         [NAME_AGENT] = "agent", [NAME_INPUT] = "input",
		[NAME_VARIABLE] = "variable", [NAME_TOOL] = "tool",   [NAME_WORKFLOW] = "workflow"
	};
	struct declared_names names = workflow_names_read(question->text, question->arena);
	const struct declared_name *name =
		workflow_names_find(&names, reference->kind, reference->name, &reference->path);
	if (name == NULL)
		return;
	buf_add_format(out, "%s " STR_FMT, kinds[name->kind], STR_ARG(name->name));
	if (name->caller.size > 0)
		buf_add_format(out, ": " STR_FMT " " STR_FMT, STR_ARG(name->caller),
			       STR_ARG(name->calls));
	if (name->description.size > 0)
		buf_add_format(out, "\n\n" STR_FMT, STR_ARG(name->description));
}

static void describe_reference(const struct language_question *question,
			       const struct name_reference *reference, struct buf *out)
{
	static const enum lsp_catalog catalogs[] = {
		[NAME_AGENT] = LSP_AGENTS, [NAME_TOOL] = LSP_TOOLS, [NAME_WORKFLOW] = LSP_WORKFLOWS
	};
	describe_declared(question, reference, out);
	if (out->size > 0 || reference->kind == NAME_STEP || reference->kind == NAME_INPUT ||
	    reference->kind == NAME_VARIABLE)
		return;
	const struct json *item =
		lsp_catalog_find(question, catalogs[reference->kind], reference->name);
	if (item == NULL)
		return;
	bool is_tool = reference->kind == NAME_TOOL;
	buf_add_format(
		out, STR_FMT "\n\n" STR_FMT, STR_ARG(reference->name),
		STR_ARG(json_text(json_member(item, is_tool ? S("text") : S("description")))));
	if (is_tool)
		buf_add_format(out, "\n\nclass " STR_FMT ", risk " STR_FMT,
			       STR_ARG(json_text(json_member(item, S("class")))),
			       STR_ARG(json_text(json_member(item, S("risk")))));
}

void language_hover(const struct language_question *question, struct json_writer *writer)
{
	struct name_reference reference;
	AUTO(buf) text = { 0 };
	if (workflow_names_reference(question->text, question->at, &reference)) {
		describe_reference(question, &reference, &text);
		if (text.size > 0) {
			put_hover(question, writer, buf_str(&text), reference.place,
				  reference.name.size);
			return;
		}
	}
	if (!hover_key(question, writer))
		json_put_null(writer);
}

/* ---- go to definition -------------------------------------------------------------------------- */

static void put_location(const struct language_question *question, struct json_writer *writer,
			 struct str uri, struct text_position from, size_t size, bool same_file)
{
	json_open(writer, '{');
	json_key(writer, S("uri"));
	json_put_str(writer, uri);
	text_range_put(writer, same_file ? question->text : S(""), from, size, question->utf8);
	json_close(writer, '}');
}

/* Another workflow is looked for beside this file. */
static bool define_workflow(const struct language_question *question, struct str name,
			    struct json_writer *writer)
{
	static const struct str extensions[] = { { ".yaml", 5 }, { ".yml", 4 }, { ".json", 5 } };
	struct str folder = question->uri;
	size_t bad;
	while (folder.size > 0 && folder.at[folder.size - 1] != '/')
		folder.size--;
	if (!str_starts(folder, S("file:///")) || !utf8_valid(name, &bad))
		return false;
	for (size_t i = 0; i < COUNT(extensions); i++) {
		struct str uri = str_format(question->arena, STR_FMT STR_FMT STR_FMT,
					    STR_ARG(folder), STR_ARG(name), STR_ARG(extensions[i]));
		if (!question->host->exists(question->host->context, str_skip(uri, 7)))
			continue;
		put_location(question, writer, uri, (struct text_position){ 0 }, 0, false);
		return true;
	}
	return false;
}

void language_define(const struct language_question *question, struct json_writer *writer)
{
	struct name_reference reference;
	if (!workflow_names_reference(question->text, question->at, &reference)) {
		json_put_null(writer);
		return;
	}
	struct declared_names names = workflow_names_read(question->text, question->arena);
	const struct declared_name *name =
		workflow_names_find(&names, reference.kind, reference.name, &reference.path);
	if (name != NULL)
		put_location(question, writer, question->uri, name->place, name->name.size, true);
	else if (reference.kind != NAME_WORKFLOW ||
		 !define_workflow(question, reference.name, writer))
		json_put_null(writer);
}
