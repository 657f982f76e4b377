/* cli/command_profile.c -- profiles: documents of the server, one request a sub-command.
 *
 * A profile is written as a file (YAML or JSON), as members on the command line, or both: what
 * --set says comes on top.  What a profile may be is for the server to say.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/yaml.h"
#include "cli/cli.h"
#include "os/file.h"

struct profile_state {
	const char *method;
	struct str target, body;
};

/* ---- the document ---------------------------------------------------------------------- */

/* A copy of the object with one member, found by its path of names, set to the value. */
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

/* MEMBER=VALUE: JSON when it reads as JSON, else text. */
static bool set_member(struct cli *cli, struct json *document, const char *text,
		       struct error *error)
{
	struct str value = str_from_c(text);
	const struct json *json;
	struct error ignored;
	size_t at, dots = 0;
	if (!str_find(value, S("="), &at) || at == 0)
		return fail(error, ERROR_USAGE, "--set takes MEMBER=VALUE, not %s", text);
	struct str path = str_head(value, at);
	for (size_t i = 0; i < path.size; i++)
		dots += path.at[i] == '.';
	if (dots >= LIMIT_JSON_DEPTH)
		return fail(error, ERROR_USAGE, "--set goes no deeper than %d levels",
			    LIMIT_JSON_DEPTH);
	value = str_skip(value, at + 1);
	struct json item = text_value(value);
	if (value.size > 0 && json_read(value, &cli->arena, &json, &ignored))
		item = *json;
	*document = with_member(document, path, item, &cli->arena);
	return true;
}

static bool read_document(struct cli *cli, const char *name, struct str *out_body,
			  struct error *error)
{
	struct json document = { .kind = JSON_OBJECT };
	const char *file = cli_value(cli, "--file", 0), *text;
	struct str bytes;
	const struct json *tree;
	if (file != NULL) {
		cli->document = file;
		if (!file_read(strcmp(file, "-") == 0 ? "/dev/stdin" : file, LIMIT_YAML_BYTES,
			       &cli->arena, &bytes, error) ||
		    !yaml_read(bytes, &cli->arena, &tree, error))
			return false;
		if (tree->kind != JSON_OBJECT)
			return fail(error, ERROR_INVALID, "%s holds no mapping", file);
		document = *tree;
	}
	for (size_t i = 0; (text = cli_value(cli, "--set", i)) != NULL; i++)
		if (!set_member(cli, &document, text, error))
			return false;
	if (file == NULL && document.as.object.count == 0)
		return fail(error, ERROR_USAGE, "--file or --set says what the profile shall be");
	document = with_member(&document, S("name"), text_value(str_from_c(name)), &cli->arena);
	*out_body = json_print(&cli->arena, &document);
	return true;
}

/* ---- requests -------------------------------------------------------------------------- */

/* A name in a path: whatever is no plain character is escaped. */
static struct str target_of(struct cli *cli, const char *name, const char *behind)
{
	AUTO(buf) target = { 0 };
	buf_add(&target, S("/api/profiles/"));
	for (; *name != '\0'; name++) {
		bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
			     (*name >= '0' && *name <= '9') || strchr("-._~", *name) != NULL;
		if (plain)
			buf_add_char(&target, *name);
		else
			buf_add_format(&target, "%%%02X", (unsigned char)*name);
	}
	buf_add(&target, str_from_c(behind));
	return str_copy(&cli->arena, buf_str(&target));
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct profile_state *state = arena_new(&cli->arena, struct profile_state);
	const char *word = cli->word->name, *name = cli_argument(cli, 0);
	cli->state = state;
	state->method = "GET";
	state->target = name == NULL ? S("/api/profiles") : target_of(cli, name, "");
	if (name != NULL && name[0] == '\0')
		return fail(error, ERROR_USAGE, "a profile's name is not empty");
	if (strcmp(word, "create") == 0) {
		state->method = "POST";
		state->target = S("/api/profiles");
		return read_document(cli, name, &state->body, error);
	}
	if (strcmp(word, "edit") == 0) {
		/* A file is the whole profile, members are only what changes. */
		state->method = cli_has(cli, "--file") ? "PUT" : "PATCH";
		return read_document(cli, name, &state->body, error);
	}
	if (strcmp(word, "delete") == 0)
		state->method = "DELETE";
	if (strcmp(word, "activate") == 0) {
		state->method = "POST";
		state->target = target_of(cli, name, "/activate");
	}
	return true;
}

static struct str member(const struct json *object, const char *name)
{
	return json_text(json_member(object, str_from_c(name)));
}

static int list(const struct json *page)
{
	const struct json *items = json_member(page, S("items"));
	struct str active = member(page, "active_profile");
	for (size_t i = 0; json_item(items, i) != NULL; i++) {
		const struct json *item = json_item(items, i);
		struct str name = member(item, "name");
		printf("%c " STR_FMT "  " STR_FMT "  " STR_FMT "\n",
		       str_equal(name, active) ? '*' : ' ', STR_ARG(name),
		       STR_ARG(member(item, "tracker")), STR_ARG(member(item, "repo_root")));
	}
	return fflush(stdout) == 0 ? 0 : error_row(ERROR_IO)->exit_status;
}

static int run(struct cli *cli)
{
	const struct profile_state *state = cli->state;
	const struct json *answer;
	struct error error;
	bool lost;
	if (!cli_request(cli, state->method, state->target, state->body, &answer, &lost, &error))
		return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
	if (strcmp(cli->word->name, "list") == 0 && !cli->json)
		return list(answer);
	return cli_print_json(cli, answer);
}

#define NAME                                                  \
	{                                                     \
		{                                             \
			.name = "NAME", .values = CLI_PROFILE \
		}                                             \
	}
#define DOCUMENT                                                                        \
	{                                                                               \
		{ .name = "--file",                                                     \
		  .letter = 'f',                                                        \
		  .value = "FILE",                                                      \
		  .values = CLI_FILE,                                                   \
		  .text = "The whole profile, YAML or JSON; - is standard input" },     \
		{                                                                       \
			.name = "--set", .value = "MEMBER=VALUE", .repeats = true,      \
			.text = "One member; a.b is b of a, JSON when it reads as JSON" \
		}                                                                       \
	}

static const struct cli_word words[] = {
	{ .name = "list", .text = "Profiles by name; a star marks the one in use" },
	{ .name = "show", .text = "One profile", .arguments = NAME },
	{ .name = "create",
	  .text = "A new profile",
	  .arguments = { { .name = "NAME" } },
	  .options = DOCUMENT },
	{ .name = "edit",
	  .text = "Another profile of this name, or with --set alone only some members of it",
	  .arguments = NAME,
	  .options = DOCUMENT },
	{ .name = "delete", .text = "Take a profile away", .arguments = NAME },
	{ .name = "activate", .text = "Make a profile the one in use", .arguments = NAME },
	{ .name = NULL },
};

const struct cli_command command_profile = {
	.name = "profile",
	.text = "Show and change profiles",
	.group = CLI_SETTINGS,
	.kind = CLI_CLIENT,
	.only_looks = true,
	.words = words,
	.examples = { { "baton profile create work --set repo_root=/src/app --set tracker=github",
			"A profile from its members" },
		      { "baton profile edit work --set sandbox.mode=container",
			"One member of it" },
		      { "baton profile activate work", "Use it from now on" } },
	.prepare = prepare,
	.run = run,
};
