/* cli/command_db.c -- db check, stats, backup and vacuum: care of the database, by its owner.
 *
 * The file is never opened here: the request goes to whoever owns the data folder, which is this
 * process itself when nobody else does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/cli.h"

typedef int db_show(struct cli *cli, const struct json *answer);

static db_show show_check, show_stats, show_backup, show_vacuum;

static const struct db_word {
	const char *name, *method, *target;
	db_show *show;
} db_words[] = {
	{ "check", "POST", "/api/db/check", show_check },
	{ "stats", "GET", "/api/db/stats", show_stats },
	{ "backup", "POST", "/api/db/backup", show_backup },
	{ "vacuum", "POST", "/api/db/vacuum", show_vacuum },
};

struct db {
	const struct db_word *word;
	struct str body;
};

/* ---- answers ------------------------------------------------------------------------- */

static long long number(const struct json *object, const char *name)
{
	const struct json *member = json_member(object, str_from_c(name));
	return member != NULL && member->kind == JSON_INT ? (long long)member->as.integer : 0;
}

/* What is wrong is the result, so it goes to stdout; the status says that something is. */
static int show_check(struct cli *cli, const struct json *answer)
{
	const struct json *problems = json_member(answer, S("problems"));
	(void)cli;
	for (size_t i = 0; json_item(problems, i) != NULL; i++)
		printf(STR_FMT "\n", STR_ARG(json_text(json_item(problems, i))));
	if (json_item(problems, 0) == NULL)
		printf("sound: %lld events, %lld references to values\n", number(answer, "events"),
		       number(answer, "values"));
	return 0;
}

static int show_stats(struct cli *cli, const struct json *answer)
{
	(void)cli;
	for (size_t i = 0; i < answer->as.object.count; i++) {
		const struct json_member *member = &answer->as.object.at[i];
		printf("%-10.*s  %lld\n", STR_ARG(member->key),
		       (long long)member->value.as.integer);
	}
	return 0;
}

static int show_backup(struct cli *cli, const struct json *answer)
{
	(void)cli;
	printf(STR_FMT "  %lld bytes\n", STR_ARG(json_text(json_member(answer, S("file")))),
	       number(answer, "bytes"));
	return 0;
}

static int show_vacuum(struct cli *cli, const struct json *answer)
{
	(void)cli;
	printf("%lld bytes\n", number(answer, "bytes"));
	return 0;
}

/* ---- the command --------------------------------------------------------------------- */

/* The owner has another working folder than we. */
static struct str from_the_root(struct cli *cli, const char *file)
{
	char *here = file[0] == '/' ? NULL : realpath(".", NULL);
	struct str path =
		here == NULL ? str_from_c(file) : str_format(&cli->arena, "%s/%s", here, file);
	free(here);
	return path;
}

static struct str body_of(struct cli *cli, const char *file)
{
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	json_open(&writer, '{');
	json_key(&writer, S("file"));
	json_put_str(&writer, from_the_root(cli, file));
	json_close(&writer, '}');
	return str_copy(&cli->arena, buf_str(&text));
}

static bool db_prepare(struct cli *cli, struct error *error)
{
	struct db *db = arena_new(&cli->arena, struct db);
	for (size_t i = 0; i < COUNT(db_words); i++)
		if (strcmp(db_words[i].name, cli->word->name) == 0)
			db->word = &db_words[i];
	require(db->word != NULL);
	cli->state = db;
	const char *file = cli_argument(cli, 0);
	size_t bad;
	if (file == NULL)
		return true;
	if (!utf8_valid(str_from_c(file), &bad))
		return fail(error, ERROR_USAGE, "the name of the copy is not UTF-8");
	db->body = body_of(cli, file);
	return true;
}

static int db_run(struct cli *cli)
{
	const struct db *db = cli->state;
	const struct json *answer;
	struct error error;
	bool lost;
	if (!cli_request(cli, db->word->method, str_from_c(db->word->target), db->body, &answer,
			 &lost, &error))
		return lost ? CLI_SERVER_LOST : cli_fail(cli, &error);
	int status = cli->json ? cli_print_json(cli, answer) : db->word->show(cli, answer);
	const struct json *sound = json_member(answer, S("sound"));
	if (sound != NULL && !sound->as.boolean)
		status = error_row(ERROR_STORAGE)->exit_status;
	return status;
}

static const struct cli_word words[] = {
	{ .name = "check", .text = "Look at everything the database holds" },
	{ .name = "stats", .text = "Count what it holds" },
	{ .name = "backup",
	  .text = "Copy it, a moment of its history",
	  .arguments = { { .name = "FILE", .values = CLI_FILE } } },
	{ .name = "vacuum", .text = "Give free pages back to the disk" },
	{ .name = NULL },
};

const struct cli_command command_db = {
	.name = "db",
	.text = "Check, measure, copy or shrink the database, while work goes on",
	.group = CLI_SERVERS,
	.words = words,
	.exits = { { 74, "check: something is wrong with it" } },
	.kind = CLI_CLIENT,
	.only_looks = true,
	.prepare = db_prepare,
	.run = db_run,
};
