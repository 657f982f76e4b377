/* cli/command_contract.c -- baton contract: list document types, show one, check a document.
 *
 * check prints a valid document with its defaults filled in, and all problems of an invalid one.
 * Generated members (ids, times) are generated here from the command's random bytes and clock.  A
 * document in an older format of its type is converted and printed in the current format.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/sha256.h"
#include "base/yaml.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "contract/describe.h"
#include "contract/migrate_pipeline.h"
#include "contract/modules.h"
#include "contract/run_server_types.h"
#include "os/file.h"

struct contract_state {
	int (*run)(struct cli *cli);
	const struct type *type;
	const char *path;        /* NULL = stdin */
	uint64_t random_counter; /* blocks of random bytes generated so far */
};

/* ---- list ------------------------------------------------------------------------------ */

static void list_line(struct json_writer *writer, const struct type *type, bool json)
{
	const char *kind = contract_kind_name(type->kind);
	if (!json) {
		buf_add_format(writer->out, "%-42.*s %-7s " STR_FMT "\n", STR_ARG(type->name), kind,
			       STR_ARG(type->text));
		return;
	}
	json_open(writer, '{');
	json_key(writer, S("name"));
	json_put_str(writer, type->name);
	json_key(writer, S("kind"));
	json_put_str(writer, str_from_c(kind));
	json_key(writer, S("text"));
	json_put_str(writer, type->text);
	json_close(writer, '}');
}

static int list(struct cli *cli)
{
	const struct contract_module *module;
	const struct type *type;
	AUTO(buf) out = buf_limited(LIMIT_DESCRIPTION_BYTES);
	struct json_writer writer = { .out = &out };
	if (cli->json)
		json_open(&writer, '[');
	for (size_t i = 0; (module = contract_module_at(i)) != NULL; i++)
		for (size_t j = 0; (type = contract_type_at(module, j)) != NULL; j++)
			list_line(&writer, type, cli->json);
	if (cli->json) {
		json_close(&writer, ']');
		buf_add_char(&out, '\n');
	}
	return cli_print(cli, buf_str(&out));
}

/* ---- show ------------------------------------------------------------------------------ */

static int show(struct cli *cli)
{
	struct contract_state *state = cli->state;
	AUTO(buf) line = buf_limited(LIMIT_DESCRIPTION_BYTES);
	AUTO(buf) out = buf_limited(LIMIT_DESCRIPTION_BYTES);
	if (cli->json) {
		struct json_writer writer = { .out = &line };
		describe_schema(state->type, S("#/$defs/"), &writer);
		describe_indented(buf_str(&line), &out);
	} else {
		describe_markdown_type(state->type, &out);
	}
	return cli_print(cli, buf_str(&out));
}

/* ---- check ----------------------------------------------------------------------------- */

/* Expands the command's 16 random bytes to any number of bytes. */
static void random_bytes(void *context, void *bytes, size_t size)
{
	struct cli *cli = context;
	struct contract_state *state = cli->state;
	for (size_t done = 0; done < size;) {
		struct sha256 sha;
		sha256_init(&sha);
		sha256_add(&sha, cli->random, sizeof(cli->random));
		sha256_add(&sha, &state->random_counter, sizeof(state->random_counter));
		state->random_counter++;
		struct hash hash = sha256_finish(&sha);
		size_t piece = size - done < sizeof(hash.bytes) ? size - done : sizeof(hash.bytes);
		memcpy((char *)bytes + done, hash.bytes, piece);
		done += piece;
	}
}

/* The file name decides; without a known suffix, the first character of the text does. */
static bool is_json(const char *path, struct str text)
{
	struct str name = str_from_c(path);
	if (str_ends(name, S(".json")))
		return true;
	if (str_ends(name, S(".yaml")) || str_ends(name, S(".yml")))
		return false;
	text = str_trim(text);
	return str_starts(text, S("{")) || str_starts(text, S("["));
}

static void put_problem(struct json_writer *writer, const struct problem *from, struct arena *arena)
{
	struct run_problem_place *place = run_problem_place_new(arena);
	SET(place, pointer, from->pointer);
	SET(place, text, from->text);
	if (from->line > 0) {
		SET(place, line, from->line);
		SET(place, column, from->column);
	}
	run_problem_place_print(place, writer);
}

static int print_problems(struct cli *cli, const struct problems *problems)
{
	if (!cli->json) {
		struct str lines = problems_text(problems, &cli->arena);
		cli_lines(CLI_PROGRESS, lines);
		if (!str_ends(lines, S("\n")))
			cli_lines(CLI_PROGRESS, S("\n"));
		return error_row(ERROR_INVALID)->exit_status;
	}
	AUTO(buf) out = { 0 };
	struct json_writer writer = { .out = &out };
	json_open(&writer, '{');
	json_key(&writer, S("problems"));
	json_open(&writer, '[');
	for (size_t i = 0; i < problems->count; i++)
		put_problem(&writer, &problems->at[i], &cli->arena);
	json_close(&writer, ']');
	json_key(&writer, S("hidden"));
	json_put_int(&writer, (int64_t)problems->hidden);
	json_close(&writer, '}');
	buf_add_char(&out, '\n');
	int status = cli_print(cli, buf_str(&out));
	return status != 0 ? status : error_row(ERROR_INVALID)->exit_status;
}

static int check(struct cli *cli)
{
	struct contract_state *state = cli->state;
	const struct json *json;
	struct error error;
	struct str text;
	const char *path = state->path == NULL ? "/dev/stdin" : state->path;
	if (!file_read(path, LIMIT_JSON_BYTES, &cli->arena, &text, &error))
		return cli_fail(cli, &error);
	bool good = is_json(path, text) ? json_read(text, &cli->arena, &json, &error)
					: yaml_read(text, &cli->arena, &json, &error);
	struct problems problems = { .arena = &cli->arena };
	if (!good) {
		/* A document with a syntax error has this one problem, which belongs to no member. */
		problems_add(&problems, S(""), error.line, error.column, "%s", error.text);
		return print_problems(cli, &problems);
	}
	struct contract_world world = { .now = cli->now, .random = random_bytes, .context = cli };
	struct contract_source source = { .json = json, .text = text, .world = &world };
	bool old;
	const void *value = pipeline_read_old(state->type, &source, &cli->arena, &problems, &old);
	if (old && value != NULL)
		cli_line(CLI_PROGRESS,
			 "the document is in the old format; printing it in the current one");
	if (!old)
		value = contract_parse(state->type, &source, &cli->arena, &problems);
	if (value == NULL)
		return print_problems(cli, &problems);
	AUTO(buf) out = { 0 };
	describe_indented(contract_text(state->type, value, &cli->arena), &out);
	return cli_print_json_text(cli, buf_str(&out));
}

/* ---- arguments ------------------------------------------------------------------------- */

static bool find_type(const char *name, const struct type **out_type, struct error *error)
{
	*out_type = contract_find(str_from_c(name));
	if (*out_type != NULL)
		return true;
	struct str near = contract_closest(str_from_c(name));
	if (near.size > 0)
		return fail(error, ERROR_NOT_FOUND, "unknown type %s; did you mean " STR_FMT "?",
			    name, STR_ARG(near));
	return fail(error, ERROR_NOT_FOUND, "unknown type %s; see baton contract list", name);
}

static bool prepare_check(struct cli *cli, struct contract_state *state, struct error *error)
{
	/* Enums, and unions without a tag, are parts of documents, never whole documents. */
	const struct type *type = state->type;
	if (type->kind != KIND_ENTITY && (type->kind != KIND_UNION || type->tag.size == 0))
		return fail(error, ERROR_USAGE,
			    STR_FMT " is not a document type; check the document that contains it",
			    STR_ARG(type->name));
	state->path = cli_argument(cli, 1);
	if (state->path != NULL && strcmp(state->path, "-") == 0)
		state->path = NULL;
	return true;
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct contract_state *state = arena_new(&cli->arena, struct contract_state);
	bool checks = strcmp(cli->subcommand->name, "check") == 0;
	cli->state = state;
	state->run = checks ? check : show;
	if (strcmp(cli->subcommand->name, "list") == 0) {
		state->run = list;
		return true;
	}
	return find_type(cli_argument(cli, 0), &state->type, error) &&
	       (!checks || prepare_check(cli, state, error));
}

static int run(struct cli *cli)
{
	struct contract_state *state = cli->state;
	return state->run(cli);
}

static const struct cli_subcommand subcommands[] = {
	{ .name = "list", .text = "List all types with their kinds" },
	{ .name = "show",
	  .text = "Show the fields of a type, or with --json its JSON Schema",
	  .arguments = { { .name = "NAME" } } },
	{ .name = "check",
	  .text = "Check a document; print its problems, or the document with defaults",
	  .arguments = { { .name = "NAME" },
			 { .name = "FILE", .value_kind = CLI_FILE, .optional = true } } },
	{ .name = NULL },
};

const struct cli_command command_contract = {
	.name = "contract",
	.text = "List document types, show one, or check a document against it",
	.group = CLI_REFERENCE,
	.kind = CLI_PLAIN,
	.subcommands = subcommands,
	.examples = { { "baton contract check runtime.WorkflowDefinition flow.yaml",
			"Check a workflow; without FILE, or with -, reads standard input" } },
	.prepare = prepare,
	.run = run,
};
