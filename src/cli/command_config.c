/* cli/command_config.c -- baton config: show settings, and change config.yaml.
 *
 * The command needs no server.  Settings are read when a process starts, so a running server keeps
 * its settings until it is restarted.  The command also edits a config.yaml that has errors, so
 * that it can be used to repair the file.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "config/config_edit.h"
#include "os/file.h"

static bool find_row(const char *name, const struct config_row **out_row, struct error *error)
{
	*out_row = config_find(str_from_c(name));
	if (*out_row != NULL)
		return true;
	struct str near = config_closest(str_from_c(name));
	if (near.size > 0)
		return fail(error, ERROR_NOT_FOUND, "unknown setting %s; did you mean " STR_FMT "?",
			    name, STR_ARG(near));
	return fail(error, ERROR_NOT_FOUND, "unknown setting %s; see baton config list", name);
}

static bool prepare(struct cli *cli, struct error *error)
{
	const struct config_row *row = NULL;
	const char *name = cli_argument(cli, 0);
	bool changes = strcmp(cli->subcommand->name, "set") == 0 ||
		       strcmp(cli->subcommand->name, "unset") == 0;
	if (name != NULL && !find_row(name, &row, error))
		return false;
	if (changes && row == config_row(CONFIG_HOME))
		return fail(
			error, ERROR_USAGE,
			"home cannot be set in config.yaml, which lives in that folder; use --home or "
			"BATON_HOME");
	cli->state = (void *)(uintptr_t)row;
	return true;
}

/* ---- list and get ---------------------------------------------------------------------- */

/* The value for display: a reference to a secret is shown, the secret itself is not. */
static struct str displayed_value(const struct cli *cli, const struct config_row *row)
{
	struct str text = str_from_c(config_text(&cli->config, config_key_of(row)));
	bool reference = str_starts(text, S("env:")) || str_starts(text, S("file:"));
	return row->type == CONFIG_SECRET && text.size > 0 && !reference ? S("(not shown)") : text;
}

static struct str value_source(struct cli *cli, const struct config_row *row)
{
	return config_source_text(&cli->config, config_key_of(row), cli->config_file, &cli->arena);
}

static void put_value(struct cli *cli, const struct config_row *row, struct json_writer *writer)
{
	const struct config_value *value = &cli->config.values[config_key_of(row)];
	switch (row->type) {
	case CONFIG_PORT:
	case CONFIG_INT:
	case CONFIG_SECONDS:
		json_put_int(writer, value->number);
		return;
	case CONFIG_BOOL:
		json_put_bool(writer, value->number != 0);
		return;
	case CONFIG_LIST:
		json_open(writer, '[');
		for (size_t i = 0; i < value->list.count; i++)
			json_put_str(writer, value->list.at[i]);
		json_close(writer, ']');
		return;
	case CONFIG_TEXT:
	case CONFIG_PATH:
	case CONFIG_CHOICE:
	case CONFIG_SECRET:
		json_put_str(writer, displayed_value(cli, row));
		return;
	}
}

static void put_setting(struct cli *cli, const struct config_row *row, struct json_writer *writer)
{
	json_open(writer, '{');
	json_key(writer, S("name"));
	json_put_str(writer, row->name);
	json_key(writer, S("value"));
	put_value(cli, row, writer);
	json_key(writer, S("source"));
	json_put_str(writer, value_source(cli, row));
	json_key(writer, S("text"));
	json_put_str(writer, row->text);
	json_close(writer, '}');
}

static int list_json(struct cli *cli)
{
	const struct config_row *row;
	AUTO(buf) out = { 0 };
	struct json_writer writer = { .out = &out };
	json_open(&writer, '[');
	for (size_t i = 0; (row = config_at(i)) != NULL; i++)
		put_setting(cli, row, &writer);
	json_close(&writer, ']');
	return cli_print(cli, buf_str(&out));
}

/* A column is as wide as its longest text, but a long value does not widen it beyond this. */
enum { VALUE_MOST = 40 };

static int list(struct cli *cli)
{
	const struct config_row *row;
	size_t name_width = strlen("SETTING"), value_width = strlen("VALUE");
	if (cli->json)
		return list_json(cli);
	for (size_t i = 0; (row = config_at(i)) != NULL; i++) {
		size_t size = displayed_value(cli, row).size;
		name_width = row->name.size > name_width ? row->name.size : name_width;
		value_width = size > value_width && size <= VALUE_MOST ? size : value_width;
	}
	cli_line(CLI_RESULT, "%-*s  %-*s  SOURCE", (int)name_width, "SETTING", (int)value_width,
		 "VALUE");
	for (size_t i = 0; (row = config_at(i)) != NULL; i++) {
		struct str value = displayed_value(cli, row), source = value_source(cli, row);
		cli_line(CLI_RESULT, "%-*.*s  %-*.*s  " STR_FMT, (int)name_width,
			 STR_ARG(row->name), (int)value_width,
			 STR_ARG(value.size > 0 ? value : S("-")), STR_ARG(source));
	}
	return cli_flush();
}

static int get(struct cli *cli)
{
	const struct config_row *row = cli->state;
	AUTO(buf) out = { 0 };
	struct json_writer writer = { .out = &out };
	if (cli->json)
		put_setting(cli, row, &writer);
	else
		buf_add(&out, displayed_value(cli, row));
	return cli_print(cli, buf_str(&out));
}

/* ---- set and unset --------------------------------------------------------------------- */

/* Changes config.yaml.  The caller holds the lock, because a concurrent writer would lose a change.
 */
static bool change(struct cli *cli, const struct config_row *row, const char *value,
		   struct error *error)
{
	struct str before = S(""), after;
	struct error unread;
	cli->error_file = cli->config_file;
	if (!file_read(cli->config_file, LIMIT_CONFIG_BYTES, &cli->arena, &before, &unread) &&
	    unread.code != ERROR_NOT_FOUND) {
		*error = unread;
		return false;
	}
	bool good = value != NULL ? config_edit_set(before, row, value, &cli->arena, &after, error)
				  : config_edit_unset(before, row, &cli->arena, &after, error);
	return good && (str_equal(before, after) || file_replace(cli->config_file, after, error));
}

static int change_locked(struct cli *cli, const struct config_row *row, const char *value)
{
	struct error error;
	int lock;
	const char *path = str_format(&cli->arena, "%s.lock", cli->config_file).at;
	if (!folder_make(cli->data_folder, &error) || !file_lock(path, &lock, &error))
		return cli_fail(cli, &error);
	bool good = change(cli, row, value, &error);
	file_unlock(lock);
	return good ? 0 : cli_fail(cli, &error);
}

static int set(struct cli *cli)
{
	const struct config_row *row = cli->state;
	int status = change_locked(cli, row, cli_argument(cli, 1));
	enum config_source source = cli->config.values[config_key_of(row)].source;
	if (status == 0 && source > CONFIG_FROM_FILE)
		cli_line(CLI_PROGRESS, "written to config.yaml, but " STR_FMT " overrides it",
			 STR_ARG(value_source(cli, row)));
	if (status == 0 && cli->json)
		return cli_print(cli, S("{}"));
	return status;
}

static int unset(struct cli *cli)
{
	int status = change_locked(cli, cli->state, NULL);
	return status == 0 && cli->json ? cli_print(cli, S("{}")) : status;
}

static int run(struct cli *cli)
{
	static int (*const runs[])(struct cli *) = { list, get, set, unset };
	const struct cli_command *command = cli->command;
	if (cli->config_problems.count > 0)
		cli_line(CLI_PROGRESS, "%s has errors; see baton doctor", cli->config_file);
	return runs[cli->subcommand - command->subcommands](cli);
}

static const struct cli_subcommand subcommands[] = {
	{ .name = "list", .text = "List all settings with their values and sources" },
	{ .name = "get",
	  .text = "Print the value of a setting",
	  .arguments = { { .name = "NAME", .value_kind = CLI_SETTING } } },
	{ .name = "set",
	  .text = "Set a value in config.yaml; comments and order are kept",
	  .arguments = { { .name = "NAME", .value_kind = CLI_SETTING }, { .name = "VALUE" } } },
	{ .name = "unset",
	  .text = "Remove a setting from config.yaml",
	  .arguments = { { .name = "NAME", .value_kind = CLI_SETTING } } },
	{ .name = NULL },
};

const struct cli_command command_config = {
	.name = "config",
	.text = "Show and change settings",
	.group = CLI_SETTINGS,
	.kind = CLI_PLAIN,
	.subcommands = subcommands,
	.examples = { { "baton config list",
			"List the effective settings and where they come from" },
		      { "baton config set serve.port 9000", "Set the port for the next start" } },
	.prepare = prepare,
	.run = run,
};
