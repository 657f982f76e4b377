/* cli/cli.h -- the command line: one file command_<name>.c and one row in commands.def each.
 *
 * A command that needs Baton speaks to baton.sock, whoever owns it: another process, or this one,
 * whose loop then runs beside the command (main.c).  So there is one way to do a thing, and a
 * second `baton` on the same data folder is a client without knowing it.  With --server the same
 * requests go to a Baton elsewhere.
 *
 * What a command is called, what it takes and what it is good for is data (struct cli_command):
 * arguments are checked against it before the command sees them, and help, completion and the
 * printed reference are made from it.
 *
 * The result goes to stdout, the narration to stderr; the exit status is that of the error's row.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/error.h"
#include "base/json.h"
#include "base/uuid.h"
#include "config/config.h"

struct cli_command;
struct cli_word;
struct cli_given;
struct packed_file;

struct cli {
	const struct cli_command *command;
	const struct cli_word *word; /* of the command, when it has some */
	char **arguments;            /* behind the command's name and word, without options */
	int argument_count;
	const struct cli_given *given; /* options, in their order */
	size_t given_count;
	bool json;   /* --json */
	bool helps;  /* --help: say what the command does instead of doing it */
	bool colour; /* stdout is a terminal that wants it */
	bool screen; /* stdout is a terminal where lines can be written over */

	const char *data_folder, *config_file;
	const char *address; /* of the server: the path of baton.sock, or http://host:port */
	const char *api_key; /* for the latter; NULL = none */
	struct config config;
	struct problems config_problems; /* what is wrong with config_file */
	struct str_list unknown_variables;
	const char *const *environment; /* all of it */
	/* what is in the program: the dashboard, workflows by name */
	const struct packed_file *packed_pages, *packed_examples;

	uint8_t dice[16];       /* for an id of our own */
	int64_t now;            /* when the command began, us since 1970 UTC */
	int64_t (*clock)(void); /* what it is by now */
	struct str once;        /* Idempotency-Key of what it sends; empty = none */
	struct arena arena;
	void *state;     /* what a command keeps between two servers */
	bool own_server; /* this process is the owner: what it leaves, nobody else goes on with */
	bool only_looks; /* as an owner it leaves open runs alone; the command may change it */
	bool answered;   /* a server has answered at least once */
	const char *document; /* what places in errors are in; NULL = nothing to name */
};

/* ---- what a command is ----------------------------------------------------------------- */

enum cli_kind {
	CLI_PLAIN,  /* needs nobody, and no settings that are right */
	CLI_CLIENT, /* needs a server: found, or started in this process */
	CLI_SERVER, /* is the server */
};

enum cli_group { CLI_RUNS, CLI_SERVERS, CLI_SETTINGS, CLI_REFERENCE, CLI_HIDDEN };

/* What a value is, so that it can be completed. */
enum cli_values {
	CLI_TEXT,
	CLI_FILE,
	CLI_RUN,
	CLI_REQUEST,
	CLI_PROFILE,
	CLI_AGENT,
	CLI_SCHEDULE,
	CLI_KEY,
	CLI_SETTING,
	CLI_COMMAND_NAME,
	CLI_WORKFLOW,
	CLI_DESCRIPTION,
	CLI_ONE_OF, /* of `words`, "a|b" */
};

struct cli_argument {
	const char *name; /* as help writes it: FILE; NULL ends the list */
	enum cli_values values;
	const char *words;
	bool optional, repeats;
};

struct cli_option {
	const char *name;  /* --message; NULL ends the list */
	const char *alias; /* an older name: accepted, never shown; NULL = none */
	const char *value; /* what it takes, as help writes it; NULL = nothing */
	const char *text;
	const char *words;
	enum cli_values values;
	char letter; /* 'm' for -m; 0 = none */
	bool repeats;
};

enum { CLI_ARGUMENTS = 4, CLI_OPTIONS = 10, CLI_EXAMPLES = 5 }; /* each with its end */

struct cli_word {
	const char *name, *text; /* NULL name ends the list */
	struct cli_argument arguments[CLI_ARGUMENTS];
	struct cli_option options[CLI_OPTIONS];
};

struct cli_example {
	const char *command, *text;
};

struct cli_exit {
	int status;
	const char *text;
};

struct cli_command {
	const char *name, *text;
	enum cli_group group;
	enum cli_kind kind;
	bool only_looks;              /* as an owner it leaves open runs alone */
	bool raw;                     /* everything behind its name is an argument */
	const struct cli_word *words; /* sub-commands; NULL = none */
	struct cli_argument arguments[CLI_ARGUMENTS];
	struct cli_option options[CLI_OPTIONS];
	struct cli_example examples[CLI_EXAMPLES];
	struct cli_exit exits[CLI_EXAMPLES]; /* what the table of errors does not say; text ends */
	/* Reads the arguments; false after saying what is wrong. */
	bool (*prepare)(struct cli *cli, struct error *error);
	int (*run)(struct cli *cli);
};

/* Instead of an exit status: the server went away, find another and call again. */
enum { CLI_SERVER_LOST = -1 };

const struct cli_command *cli_find(struct str name);
const struct cli_command *cli_command_at(size_t index); /* NULL behind the last */
const struct cli_option *cli_common_options(void);      /* of every command, beside settings */
const char *cli_group_name(enum cli_group group);
/* Is this setting's flag taken by this command (NULL: by every command)? */
bool cli_takes_setting(const struct cli_command *command, const struct config_row *row);

/* ---- from main ------------------------------------------------------------------------- */

/* argv without the program's name to command, word, arguments and options. */
MUST_CHECK bool cli_parse(struct cli *cli, int count, char **words, struct error *error);
/* Settings from default, file, environment and flags; what they say about where things are. */
MUST_CHECK bool cli_settings(struct cli *cli, const char *const *environment, struct error *error);

/* ---- for commands -------------------------------------------------------------------- */

/* Prints the error with its place and gives its exit status. */
int cli_fail(struct cli *cli, const struct error *error);
/* The argument behind the command (and its word); NULL when it was left out. */
const char *cli_argument(const struct cli *cli, int index);
/* The option's value, the index-th when it may be repeated; NULL when it was not given. */
const char *cli_value(const struct cli *cli, const char *name, size_t index);
bool cli_has(const struct cli *cli, const char *name);
MUST_CHECK bool cli_uuid(const char *text, const char *what, struct uuid *out_id,
			 struct error *error);
bool cli_nothing(struct cli *cli, struct error *error); /* a prepare() that has nothing to do */

/* Follows a run's events until it ends, as a tree on a terminal, else telling each on a line; then
 * prints its result.  *seen is the seq of the last event told: called again it goes on behind it.
 */
int cli_follow(struct cli *cli, const struct uuid *run, int64_t *seen);
/* The result: to stdout, all of it, with a line end. */
int cli_print(struct cli *cli, struct str text);
int cli_print_json(struct cli *cli, const struct json *json);
/* Behind lines that were printed one by one: 0 when stdout has taken them all. */
int cli_printed(void);

/* What a setting's flag takes, as help writes it; NULL = nothing. */
const char *cli_setting_value(const struct config_row *row);
/* How a command is written: "run FILE|NAME [--input NAME=VALUE]...". */
void cli_usage(const struct cli_command *command, const struct cli_word *word, struct buf *out);

#endif
