/* cli/run_options.h -- what `baton run` and `baton record` share: both start a run and follow it. */
#ifndef CLI_RUN_OPTIONS_H
#define CLI_RUN_OPTIONS_H

#include "cli/cli.h"
#include "cli/profile_option.h"
#include "cli/upload.h"
#include "cli/usage_text.h"

struct runtime_workflow_run_request;

#define CLI_RUN_OPTIONS                                                                             \
	{ .name = "--detach",                                                                       \
	  .letter = 'd',                                                                            \
	  .text = "Print the id of the run and return; needs a running server" },                   \
		{ .name = "--input",                                                                \
		  .value = "NAME=VALUE",                                                            \
		  .repeats = true,                                                                  \
		  .text = "Set one input; VALUE is JSON if it parses as JSON, else text" },         \
		{ .name = "--inputs",                                                               \
		  .letter = 'i',                                                                    \
		  .value = "FILE",                                                                  \
		  .value_kind = CLI_FILE,                                                           \
		  .text = "Read all inputs from a JSON file that holds an object" },                \
		{ .name = "--input-file",                                                           \
		  .value = "NAME=FILE",                                                             \
		  .repeats = true,                                                                  \
		  .text = "Add a file to the run's artifacts and set one input to it" },            \
		{ .name = "--id", .value = "UUID", .text = "Id of the run (default a new one)" },   \
		{ .name = "--priority",                                                             \
		  .value = "N",                                                                     \
		  .text = "Admission priority, -100 to 100; higher ones start first (default 0)" }, \
		CLI_RUN_PROFILE, CLI_BUDGET("The most its agents' turns may cost, in dollars"),     \
		{ .name = "--label",                                                                \
		  .value = "NAME=VALUE",                                                            \
		  .repeats = true,                                                                  \
		  .text = "Label the run; `baton runs --label NAME=VALUE` finds it" },              \
	{                                                                                           \
		.name = "--concurrency-key", .alias = "--alone", .value = "KEY",                    \
		.text = "Run at most one run with this key at a time; others wait"                  \
	}

struct run_cassettes {
	const char *record, *replay; /* NULL = none */
	const char *adapter;         /* NULL = native */
	bool append;
};

/* A run that a command starts and follows.  It is zeroed but for the first two. */
struct run_starting {
	struct uuid id;
	struct runtime_workflow_run_request *request; /* with this id */
	struct uploads uploads;
	int64_t last_seq;
	bool requested, started;
};

/* Starts the run, once, and returns 0 or the status that the command returns. */
MUST_CHECK int run_starting_send(struct cli *cli, struct run_starting *starting);
/* Starts the run once, however often it is called after a lost server, and follows it to its end; with
 * --detach it prints the id instead. */
int run_starting_run(struct cli *cli, struct run_starting *starting);

/* Reads the arguments.  The server checks the names of cassettes. */
MUST_CHECK bool run_options_prepare(struct cli *cli, const struct run_cassettes *cassettes,
				    struct error *error);
int run_options_start(struct cli *cli);

#endif
