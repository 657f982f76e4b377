/* cli/cli.h -- the command line interface.
 *
 * Each command is one file command_<name>.c and one line in commands.def.
 *
 * A command that needs a server sends HTTP requests to baton.sock in the data folder.  If another
 * process owns the data folder, that process answers.  Otherwise this process becomes the owner and
 * runs the server and the command in two threads (main.c).  Either way the command only makes
 * requests, so it does not need to know which of the two cases applies.  With --server the
 * same requests go to the given address.
 *
 * The name, arguments, options and help text of a command are data (struct cli_command).  The
 * parser checks argv against this table before the command runs; help, completion and the printed
 * reference are generated from it.
 *
 * A command prints its result to stdout and progress messages to stderr.  Its exit status comes
 * from the table of errors (`baton describe errors`).
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/error.h"
#include "base/json.h"
#include "base/uuid.h"
#include "config/config.h"
#include "cli/exit_status.h"

struct cli_command;
struct cli_subcommand;
struct cli_parsed_option;
struct packed_file;

struct cli {
	const struct cli_command *command;
	const struct cli_subcommand *subcommand; /* NULL = the command has none */
	char **arguments; /* positional arguments after the command and subcommand */
	int argument_count;
	const struct cli_parsed_option *options; /* in the order of argv */
	size_t option_count;
	bool json;        /* --json */
	bool show_help;   /* --help: print the command's help instead of running it */
	bool to_terminal; /* stdout is a terminal */
	bool color;       /* stdout is a terminal and NO_COLOR is not set */
	bool interactive; /* stdout is a terminal that can overwrite lines */

	const char *data_folder, *config_file;
	const char *address; /* of the server: the path of baton.sock, or http://host:port */
	const char *api_key; /* sent to http://host:port; NULL = none */
	struct config config;
	struct problems config_problems;   /* errors in config_file */
	struct str_list unknown_variables; /* BATON_* variables that name no setting */
	const char *const *environment;
	/* files packed into the program: the dashboard, workflows by name, and the demo */
	const struct packed_file *packed_pages, *packed_examples, *packed_demo;
	uint8_t random[16];     /* random bytes for one UUID */
	int64_t now;            /* when the command started, microseconds since 1970 UTC */
	int64_t (*clock)(void); /* the current time, same unit */
	struct str idempotency_key, condition; /* of requests with a body: its value; If-Match: … */
	struct arena arena;
	void *state; /* the command's own; kept when run() is called again after a lost server */
	bool own_server; /* this process runs the server: open runs stop when it exits */
	bool read_only, accept_loss; /* as owner: leave open runs alone; go on without lost data */
	bool server_answered;        /* a server has answered at least once */
	const char *error_file; /* the file that line and column of an error refer to; or NULL */
	const struct json *problem;   /* the last error response of the server; or NULL */
	const char *_Atomic followed; /* id of the run that the command follows; or NULL */
	const char *follow_command;   /* that follows it, too; NULL = watch */
};

/* ---- the command table ----------------------------------------------------------------- */

enum cli_kind {
	CLI_PLAIN,  /* needs no server; runs even if config.yaml has errors */
	CLI_CLIENT, /* needs a server: a running one, or one started in this process */
	CLI_SERVER, /* is the server */
};

enum cli_group { CLI_RUNS, CLI_SERVERS, CLI_SETTINGS, CLI_REFERENCE, CLI_HIDDEN };

/* The kind of an argument's or option's value; completion suggests values by it. */
enum cli_value_kind {
	CLI_TEXT,
	CLI_FILE,
	CLI_RUN,
	CLI_REQUEST,
	CLI_PROFILE,
	CLI_AGENT,
	CLI_SCHEDULE,
	CLI_WEBHOOK,
	CLI_TRIGGER,
	CLI_KEY,
	CLI_SETTING,
	CLI_TOOL,
	CLI_COMMAND_NAME,
	CLI_WORKFLOW,
	CLI_DESCRIPTION,
	CLI_ONE_OF, /* one of `choices` */
};

struct cli_argument {
	const char *name; /* as help writes it: FILE; NULL ends the list */
	enum cli_value_kind value_kind;
	const char *choices; /* of CLI_ONE_OF: "a|b" */
	bool optional, repeats;
};

struct cli_option {
	const char *name;  /* --message; NULL ends the list */
	const char *alias; /* an older name: accepted, never shown; NULL = none */
	const char *value; /* its value as help writes it: FILE; NULL = takes no value */
	const char *text;
	const char *choices; /* of CLI_ONE_OF: "a|b" */
	enum cli_value_kind value_kind;
	char letter; /* 'm' for -m; 0 = none */
	bool repeats;
};

/* Sizes of the lists below, including the entry that ends each list. */
enum { CLI_ARGUMENTS = 4, CLI_OPTIONS = 17, CLI_EXAMPLES = 6 };

struct cli_subcommand {
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
	bool read_only;    /* as owner of the data folder it does not carry on open runs */
	bool only_follows; /* it carries on open runs but sends no command to a run */
	bool raw;          /* everything after its name is a positional argument */
	const struct cli_subcommand *subcommands; /* NULL = none */
	struct cli_argument arguments[CLI_ARGUMENTS];
	struct cli_option options[CLI_OPTIONS];
	struct cli_example examples[CLI_EXAMPLES];
	struct cli_exit exits[CLI_EXAMPLES]; /* beyond the table of errors; NULL text ends */
	/* Reads the arguments; on failure returns false and sets *error. */
	bool (*prepare)(struct cli *cli, struct error *error);
	int (*run)(struct cli *cli);
};

/* run() returns this when the server was lost: main.c finds or starts another and calls it again. */
enum { CLI_SERVER_LOST = -1 };

const struct cli_command *cli_command_find(struct str name);
const struct cli_command *cli_command_at(size_t index); /* NULL after the last */
const struct cli_option *cli_common_options(void);      /* of every command; without settings */
const char *cli_group_name(enum cli_group group);
/* Does this command accept the setting's flag?  NULL: do all commands accept it? */
bool cli_takes_setting(const struct cli_command *command, const struct config_row *row);

/* ---- for main.c ------------------------------------------------------------------------ */

/* Parses argv without the program's name into command, subcommand, arguments and options. */
MUST_CHECK bool cli_parse(struct cli *cli, int count, char **words, struct error *error);
/* Loads the settings from defaults, config.yaml, environment and flags, and derives from them the
 * data folder and the server's address. */
MUST_CHECK bool cli_settings_load(struct cli *cli, const char *const *environment,
				  struct error *error);

/* ---- for commands -------------------------------------------------------------------- */

/* Prints the error with its position and returns its exit status. */
int cli_fail(struct cli *cli, const struct error *error);
/* The positional argument with this index; NULL when it was omitted. */
const char *cli_argument(const struct cli *cli, int index);
/* The option's value, of a repeated option the index-th one; NULL when it is not in argv. */
const char *cli_value(const struct cli *cli, const char *name, size_t index);
bool cli_has(const struct cli *cli, const char *name);
MUST_CHECK bool cli_uuid(const char *text, const char *what, struct uuid *out_id,
			 struct error *error); /* `what` names it in the error: "--id" */
/* A prepare() for commands that have nothing to prepare. */
bool cli_prepare_nothing(struct cli *cli, struct error *error);

/* Follows a run to its end and prints its result: on a terminal a tree of the steps, elsewhere one
 * line per event.  *last_seq is that of the last event shown: a second call continues after it. */
int cli_run_follow(struct cli *cli, const struct uuid *run, int64_t *last_seq);

/* The value of a setting's flag as help writes it: "PORT"; NULL = takes no value. */
const char *cli_setting_value(const struct config_row *row);
/* Appends the usage line: "run FILE|NAME [--input NAME=VALUE]...". */
void cli_usage(const struct cli_command *command, const struct cli_subcommand *word,
	       struct buf *out);

#endif
