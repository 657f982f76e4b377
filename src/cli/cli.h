/* cli/cli.h -- the command line: one file command_<name>.c and one row in commands.def each.
 *
 * A command that needs Baton speaks to baton.sock, whoever owns it: another process, or this one,
 * whose loop then runs beside the command (main.c).  So there is one way to do a thing, and a
 * second `baton` on the same data folder is a client without knowing it.
 *
 * The result goes to stdout, the narration to stderr; the exit status is that of the error's row.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/error.h"
#include "base/json.h"
#include "base/uuid.h"

struct cli {
	const char *data_folder, *socket_path;
	bool json;        /* --json */
	char **arguments; /* behind the command's name */
	int argument_count;
	uint8_t dice[16]; /* for an id of our own */
	int64_t now;      /* when the command began, us since 1970 UTC */
	struct arena arena;
	void *state;     /* what a command keeps between two servers */
	bool own_server; /* this process is the owner: what it leaves, nobody else goes on with */
	/* serve */
	const char *host, *isolation, *hosts;
	int port;
	bool require_key;
};

enum cli_kind {
	CLI_PLAIN,  /* needs nobody */
	CLI_CLIENT, /* needs a server: found, or started in this process */
	CLI_SERVER, /* is the server */
};

/* Instead of an exit status: the server went away, find another and call again. */
enum { CLI_SERVER_LOST = -1 };

struct cli_command {
	const char *name, *usage, *text;
	enum cli_kind kind;
	bool only_looks; /* as an owner it leaves open runs alone: it is gone in a moment */
	/* Reads the arguments; false after saying what is wrong. */
	bool (*prepare)(struct cli *cli, struct error *error);
	int (*run)(struct cli *cli);
};

const struct cli_command *cli_find(const char *name);
const struct cli_command *cli_command_at(size_t index); /* NULL behind the last */

/* ---- for commands -------------------------------------------------------------------- */

/* Prints the error with its place and gives its exit status. */
int cli_fail(const struct error *error);
/* Takes `--name value` or `-n value` (short may be 0) out of the arguments; NULL when absent. */
MUST_CHECK bool cli_option(struct cli *cli, const char *name, char letter, const char **out_value,
			   struct error *error);
bool cli_flag(struct cli *cli, const char *name);
/* Exactly one argument must be left. */
MUST_CHECK bool cli_one_argument(struct cli *cli, const char *what, const char **out_value,
				 struct error *error);
MUST_CHECK bool cli_no_argument(struct cli *cli, struct error *error);

/* One request; the answer's JSON.  An error answer of the server becomes an error with its code
 * (*out_lost false); a server that is not there any more sets *out_lost. */
MUST_CHECK bool cli_request(struct cli *cli, const char *method, struct str target, struct str body,
			    const struct json **out_json, bool *out_lost, struct error *error);
/* Follows a run's events, telling each, until it ends; then prints its result.  *seen is the seq
 * of the last event told: called again it goes on behind it. */
int cli_follow(struct cli *cli, const struct uuid *run, int64_t *seen);

#endif
