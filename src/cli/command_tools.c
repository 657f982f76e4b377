/* cli/command_tools.c -- baton tools: the tools that steps can call; one of them with its inputs and
 * outputs.
 *
 * Inputs and outputs are printed from the JSON Schema that the server sends, so custom tools look
 * like built-in ones.  A reference of a schema names a document type; this program knows the same
 * types, unless the server is newer.
 */
#include <string.h>

#include "base/terminal_text.h"
#include "cli/output.h"
#include "cli/server_request.h"
#include "contract/closest.h"
#include "contract/modules.h"

/* What happens to a call that a crash has left open, in a few words and in a sentence. */
static const struct {
	const char *class, *brief, *text;
} crash_words[] = {
	{ "pure", "computed again", "it has no effect, so it is computed again" },
	{ "idempotent", "called again", "it is called again, which changes nothing" },
	{ "keyed", "called again", "it is called again with the same Idempotency-Key" },
	{ "probe", "looks first", "Baton looks whether it has happened, and else calls it" },
	{ "contained", "undone, again", "the workspace is restored, and the tool is called again" },
	{ "once", "asks a person", "it is not called again; a person is asked what happened" },
};

/* An unknown class, of a newer server, is the last one: never repeated. */
static size_t crash_row(const struct json *tool)
{
	size_t row = 0;
	while (row < COUNT(crash_words) - 1 &&
	       !str_equal(cli_text(tool, "class"), str_from_c(crash_words[row].class)))
		row++;
	return row;
}

static const char *origin(const struct json *tool)
{
	if (!cli_is_true(tool, "custom"))
		return "built in";
	return cli_is_true(tool, "trusted") ? "trusted" : "inert";
}

/* ---- the list ---------------------------------------------------------------------------- */

/* The list has one line for each tool; what else a text says is for models and `baton tools NAME`. */
static struct str first_sentence(struct str text)
{
	size_t end;
	return str_find(text, S(". "), &end) ? str_head(text, end + 1) : text;
}

static int list(const struct json *items)
{
	cli_line(CLI_RESULT, "%-16s  %-14s  %-6s  %-8s  %s", "TOOL", "AFTER A CRASH", "RISK",
		 "ORIGIN", "WHAT IT DOES");
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *tool = json_item(items, i);
		struct str text = cli_text(tool, cli_is_true(tool, "trusted") ? "text" : "reason");
		cli_line(CLI_RESULT, "%-16.*s  %-14s  %-6.*s  %-8s  " STR_FMT,
			 STR_ARG(cli_text(tool, "name")), crash_words[crash_row(tool)].brief,
			 STR_ARG(cli_text(tool, "risk")), origin(tool),
			 STR_ARG(first_sentence(text)));
	}
	return cli_flush();
}

/* ---- one tool ---------------------------------------------------------------------------- */

static void add_choices(const struct type *type, struct buf *out)
{
	for (size_t i = 0; i < type->word_count; i++)
		buf_add_format(out, "%s" STR_FMT, i == 0 ? "" : " | ",
			       STR_ARG(type->words[i].name));
}

/* A reference such as /openapi.json#/components/schemas/run.HttpWaits.Input. */
static void add_reference(struct str reference, struct buf *out)
{
	struct str rest = reference, name = reference;
	while (str_cut(&rest, '/', &name))
		;
	if (str_ends(name, S(".Input")))
		name.size -= strlen(".Input");
	const struct type *type = contract_find(name);
	if (type != NULL && type->kind == KIND_ENUM)
		add_choices(type, out);
	else
		buf_add(out, name);
}

static void add_type(const struct json *schema, struct buf *out)
{
	struct str reference = cli_text(schema, "$ref"), type = cli_text(schema, "type");
	const struct json *choices = json_member(schema, S("enum"));
	AUTO(arena) arena = { 0 };
	if (reference.size > 0) {
		add_reference(reference, out);
	} else if (json_item(choices, 0) != NULL) {
		for (size_t i = 0; json_item(choices, i) != NULL; i++)
			buf_add_format(out, "%s" STR_FMT, i == 0 ? "" : " | ",
				       STR_ARG(json_print(&arena, json_item(choices, i))));
	} else if (str_equal(type, S("array")) && json_member(schema, S("items")) != NULL) {
		buf_add(out, S("array of "));
		add_type(json_member(schema, S("items")), out);
	} else {
		buf_add(out, type.size > 0 ? type : S("any"));
	}
}

static bool is_required(const struct json *schema, struct str name)
{
	const struct json *required = json_member(schema, S("required"));
	for (size_t i = 0; json_item(required, i) != NULL; i++)
		if (str_equal(json_text(json_item(required, i)), name))
			return true;
	return false;
}

/* One line: name, type, whether it must be given, text. */
static void add_field(const struct json *schema, const struct json_member *field, bool input,
		      struct buf *out)
{
	AUTO(arena) arena = { 0 };
	AUTO(buf) line = { 0 };
	AUTO(buf) type = { 0 };
	const struct json *fallback = json_member(&field->value, S("default"));
	add_type(&field->value, &type);
	buf_add_format(&line, "  %-16.*s  %-18.*s  " STR_FMT, STR_ARG(field->key),
		       STR_ARG(buf_str(&type)), STR_ARG(cli_text(&field->value, "description")));
	if (fallback != NULL)
		buf_add_format(&line, " (default " STR_FMT ")",
			       STR_ARG(json_print(&arena, fallback)));
	else if (is_required(schema, field->key) && input)
		buf_add(&line, S(" (required)"));
	else if (!is_required(schema, field->key) && !input)
		buf_add(&line, S(" (may be absent)"));
	terminal_text_add(buf_str(&line), 0, out);
	buf_add_char(out, '\n');
}

static void add_fields(const struct json *schema, bool input, struct buf *out)
{
	const struct json *fields = json_member(schema, S("properties"));
	buf_add_format(out, "\n%s\n", input ? "inputs" : "outputs");
	if (fields == NULL || fields->kind != JSON_OBJECT || fields->as.object.count == 0) {
		buf_add(out, S("  any\n"));
		return;
	}
	for (size_t i = 0; i < fields->as.object.count; i++)
		add_field(schema, &fields->as.object.at[i], input, out);
}

static int show(struct cli *cli, const struct json *tool)
{
	AUTO(buf) out = { 0 };
	terminal_text_add(cli_text(tool, "name"), 0, &out);
	buf_add(&out, S(": "));
	terminal_text_add(cli_text(tool, "text"), 0, &out);
	buf_add_format(&out, "\nafter a crash: %s (class ", crash_words[crash_row(tool)].text);
	terminal_text_add(cli_text(tool, "class"), 0, &out);
	buf_add(&out, S(")\nrisk: "));
	terminal_text_add(cli_text(tool, "risk"), 0, &out);
	buf_add_char(&out, '\n');
	if (cli_is_true(tool, "custom")) {
		buf_add_format(&out, "origin: %s", origin(tool));
		buf_add(&out, cli_text(tool, "reason").size > 0 ? S(", ") : S(""));
		terminal_text_add(cli_text(tool, "reason"), 0, &out);
		buf_add_char(&out, '\n');
	}
	add_fields(json_member(tool, S("inputs")), true, &out);
	add_fields(json_member(tool, S("outputs")), false, &out);
	return cli_print(cli, buf_str(&out));
}

static const struct json *find(struct cli *cli, const struct json *items, struct str name,
			       struct error *error)
{
	size_t count = 0;
	while (json_item(items, count) != NULL)
		count++;
	struct str *names = arena_array(&cli->arena, struct str, count);
	for (size_t i = 0; i < count; i++) {
		names[i] = cli_text(json_item(items, i), "name");
		if (str_equal(names[i], name))
			return json_item(items, i);
	}
	struct str near = closest_word((struct str_list){ names, count }, name);
	fail(error, ERROR_NOT_FOUND, "there is no tool called " STR_FMT "%s" STR_FMT "%s",
	     STR_ARG(name), near.size > 0 ? "; did you mean " : "; see baton tools", STR_ARG(near),
	     near.size > 0 ? "?" : "");
	return NULL;
}

static int run(struct cli *cli)
{
	const struct json *answer, *tool;
	const char *name = cli_argument(cli, 0);
	struct error error;
	int status = cli_call(cli, "GET", S("/api/tools"), S(""), &answer);
	if (status != 0)
		return status;
	const struct json *items = json_member(answer, S("items"));
	if (name == NULL)
		return cli->json ? cli_print_json(cli, answer) : list(items);
	tool = find(cli, items, str_from_c(name), &error);
	if (tool == NULL)
		return cli_fail(cli, &error);
	if (cli_has(cli, "--schema"))
		return cli_print_json(cli, json_member(tool, S("parameters")));
	return cli->json ? cli_print_json(cli, tool) : show(cli, tool);
}

static bool prepare(struct cli *cli, struct error *error)
{
	if (cli_has(cli, "--schema") && cli_argument(cli, 0) == NULL)
		return fail(error, ERROR_USAGE,
			    "--schema is for one tool: baton tools NAME --schema");
	return true;
}

const struct cli_command command_tools = {
	.name = "tools",
	.text = "List the tools that steps can call, or show one with its inputs and outputs",
	.group = CLI_REFERENCE,
	.kind = CLI_CLIENT,
	.read_only = true,
	.arguments = { { .name = "NAME", .value_kind = CLI_TOOL, .optional = true } },
	.options = { { .name = "--schema",
		       .text = "Print the JSON Schema of its inputs as a model gets it" } },
	.examples = { { "baton tools", "List built-in tools and the tools of the data folder" },
		      { "baton tools http_fetch", "Show inputs, outputs and what a crash does" },
		      { "baton tools http_fetch --schema",
			"Print what a model gets as parameters" },
		      { "baton tools http_fetch --json", "Print the tool with its JSON Schemas" } },
	.prepare = prepare,
	.run = run,
};
