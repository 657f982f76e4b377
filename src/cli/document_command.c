/* cli/document_command.c -- builds documents from a file (YAML or JSON), from options, or both.
 *
 * Members from --set override members of the file.  The server validates the document.
 */
#include "cli/document_command.h"
#include "cli/output.h"

#include <string.h>

#include "base/limits.h"
#include "base/yaml.h"
#include "os/file.h"

/* Returns a copy of the object with the member at the dotted path set to the value. */
static struct json with_member(const struct json *object, struct str path, struct json value,
			       struct arena *arena)
{
	struct str rest = path, name;
	(void)!str_cut(&rest, '.', &name);
	bool last = name.size == path.size;
	const struct json none = { .kind = JSON_OBJECT };
	if (object == NULL || object->kind != JSON_OBJECT)
		object = &none;
	size_t count = object->as.object.count, at = count;
	struct json_member *members = arena_array(arena, struct json_member, count + 1);
	for (size_t i = 0; i < count; i++) {
		members[i] = object->as.object.at[i];
		if (str_equal(members[i].key, name))
			at = i;
	}
	const struct json *before = at < count ? &members[at].value : NULL;
	struct json inner = last ? value : with_member(before, rest, value, arena);
	members[at] = (struct json_member){ .key = name, .value = inner };
	return (struct json){ .kind = JSON_OBJECT,
			      .as.object = { members, at < count ? count : count + 1 } };
}

static struct json text_value(struct str text)
{
	return (struct json){ .kind = JSON_STRING, .as.string = text };
}

bool cli_pair(struct cli *cli, const char *option, const char *form, const char *text,
	      struct json_member *out_member, struct error *error)
{
	struct str pair = str_from_c(text);
	const struct json *json;
	struct error ignored;
	size_t at;
	if (!str_find(pair, S("="), &at) || at == 0)
		return fail(error, ERROR_USAGE, "%s must be %s, not \"%s\"", option, form, text);
	struct str value = str_skip(pair, at + 1);
	bool reads = value.size > 0 && json_read(value, &cli->arena, &json, &ignored);
	*out_member = (struct json_member){ .key = str_head(pair, at),
					    .value = reads ? *json : text_value(value) };
	return true;
}

bool cli_inputs(struct cli *cli, const char *form, struct json *out_inputs, struct error *error)
{
	size_t count = 0;
	while (cli_value(cli, "--input", count) != NULL)
		count++;
	struct json_member *members = arena_array(&cli->arena, struct json_member, count);
	for (size_t i = 0; i < count; i++)
		if (!cli_pair(cli, "--input", form, cli_value(cli, "--input", i), &members[i],
			      error))
			return false;
	*out_inputs = (struct json){ .kind = JSON_OBJECT, .as.object = { members, count } };
	return true;
}

static bool set_member(struct cli *cli, struct json *document, const char *text,
		       struct error *error)
{
	struct json_member member;
	size_t dots = 0;
	if (!cli_pair(cli, "--set", "MEMBER=VALUE", text, &member, error))
		return false;
	for (size_t i = 0; i < member.key.size; i++)
		dots += member.key.at[i] == '.';
	if (dots >= LIMIT_JSON_DEPTH)
		return fail(error, ERROR_USAGE, "--set: a member path has at most %d levels",
			    LIMIT_JSON_DEPTH);
	*document = with_member(document, member.key, member.value, &cli->arena);
	return true;
}

/* Reads the document from --file; leaves it unchanged without --file. */
static bool read_file(struct cli *cli, struct json *document, struct error *error)
{
	const char *file = cli_value(cli, "--file", 0);
	struct str bytes;
	const struct json *tree;
	if (file == NULL)
		return true;
	cli->error_file = file;
	if (!file_read(strcmp(file, "-") == 0 ? "/dev/stdin" : file, LIMIT_YAML_BYTES, &cli->arena,
		       &bytes, error) ||
	    !yaml_read(bytes, &cli->arena, &tree, error))
		return false;
	if (tree->kind != JSON_OBJECT)
		return fail(error, ERROR_INVALID, "%s must contain a mapping", file);
	*document = *tree;
	return true;
}

bool cli_document(struct cli *cli, const char *what, const char *name, const struct json *with,
		  struct str *out_body, struct error *error)
{
	struct json document = { .kind = JSON_OBJECT };
	const char *text;
	if (!read_file(cli, &document, error))
		return false;
	for (size_t i = 0; with != NULL && i < with->as.object.count; i++)
		document = with_member(&document, with->as.object.at[i].key,
				       with->as.object.at[i].value, &cli->arena);
	for (size_t i = 0; with == NULL && (text = cli_value(cli, "--set", i)) != NULL; i++)
		if (!set_member(cli, &document, text, error))
			return false;
	if (!cli_has(cli, "--file") && document.as.object.count == 0)
		return fail(error, ERROR_USAGE,
			    "nothing to write: give --file or %s to describe the %s",
			    with == NULL ? "--set" : "another option", what);
	document = with_member(&document, S("name"), text_value(str_from_c(name)), &cli->arena);
	*out_body = json_print(&cli->arena, &document);
	return true;
}

bool cli_json_value(struct cli *cli, const char *text, const char *what,
		    const struct json **out_json, struct error *error)
{
	struct str bytes = str_from_c(text);
	if (text[0] == '@') {
		const char *file = text + 1;
		if (!file_read(strcmp(file, "-") == 0 ? "/dev/stdin" : file, LIMIT_VALUE_BYTES,
			       &cli->arena, &bytes, error))
			return false;
		cli->error_file = file;
		return json_read(bytes, &cli->arena, out_json, error);
	}
	struct error wrong;
	return json_read(bytes, &cli->arena, out_json, &wrong) ||
	       fail(error, ERROR_USAGE, "%s must be JSON, or @FILE with JSON in it: %s", what,
		    wrong.text);
}

/* ---- named documents --------------------------------------------------------------------- */

bool document_command_prepare(struct cli *cli, const char *path, const char *whose,
			      struct document_call **out_call, struct error *error)
{
	struct document_call *call = arena_new(&cli->arena, struct document_call);
	const char *word = cli->subcommand->name, *name = cli_argument(cli, 0);
	call->method = "GET";
	call->target = str_from_c(path);
	*out_call = cli->state = call;
	if (name == NULL)
		return true;
	if (name[0] == '\0')
		return fail(error, ERROR_USAGE, "%s name must not be empty", whose);
	if (strcmp(word, "create") == 0) {
		call->method = "POST";
		return true;
	}
	call->target = cli_target(cli, str_format(&cli->arena, "%s/", path).at, name, "");
	if (strcmp(word, "delete") == 0)
		call->method = "DELETE";
	return true;
}

int document_command_run(struct cli *cli)
{
	const struct document_call *call = cli->state;
	const struct json *answer;
	int status = cli_call(cli, call->method, call->target, call->body, &answer);
	if (status != 0)
		return status;
	return call->show != NULL && !cli->json ? call->show(answer) : cli_print_json(cli, answer);
}
