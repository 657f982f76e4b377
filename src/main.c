/* main.c -- parses the arguments and runs the command, with a server if it needs one. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/packed.h"
#include "cli/output.h"
#include "os/failpoint.h"
#include "server.h"

enum { RETRY_US = 20000, PATIENCE_TRIES = 500, INTERRUPTED = 130 };

/* ---- a server in this process -------------------------------------------------------- */

struct companion {
	struct cli *cli;
	struct server *server;
	pthread_t thread;
	int status;
};

static void *companion_run(void *context)
{
	struct companion *companion = context;
	companion->status = companion->cli->command->run(companion->cli);
	fflush(stdout); /* other clients may keep the process alive for long after the result */
	server_stop_when_idle(companion->server);
	return NULL;
}

static void companion_start(void *context, uint64_t recovered)
{
	struct companion *companion = context;
	(void)recovered;
	int failed = pthread_create(&companion->thread, NULL, companion_run, companion);
	require(failed == 0);
	pthread_detach(companion->thread); /* it stops the server, which ends the process */
}

/* Exits without cleaning up, even during work: the store survives that at any time. */
static _Noreturn void leave(int status)
{
	fflush(stdout);
	fflush(stderr);
	_exit(status);
}

static const char *follow_command(const struct cli *cli)
{
	return cli->follow_command == NULL ? "watch" : cli->follow_command;
}

static _Noreturn void run_beside_server(struct companion *companion)
{
	companion->cli->own_server = true;
	companion->status = INTERRUPTED; /* the command overwrites it when it ends */
	server_run(companion->server);
	const char *run = companion->cli->followed;
	if (companion->status == INTERRUPTED && run != NULL)
		cli_line(
			CLI_PROGRESS,
			"interrupted: this process was the only server, so the run rests; continue "
			"it with baton %s %s, or with baton serve",
			follow_command(companion->cli), run);
	else if (companion->status == INTERRUPTED)
		log_line(LOG_INFO, "interrupted; open runs continue when a server next starts");
	leave(companion->status);
}

/* ---- Ctrl-C while a server elsewhere carries the run on ------------------------------- */

/* What the signal handler prints.  The handler runs on the thread that runs the command. */
static struct cli *interrupted_cli;

static void write_text(const char *text)
{
	ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
	(void)ignored;
}

static void interrupted(int number)
{
	const char *run = interrupted_cli->followed;
	(void)number;
	if (run != NULL) {
		write_text("\nthe run continues on the server; follow it with baton ");
		write_text(follow_command(interrupted_cli));
		write_text(" ");
		write_text(run);
		write_text(", stop it with baton cancel ");
		write_text(run);
		write_text("\n");
	}
	_exit(INTERRUPTED);
}

static int run_as_client(struct cli *cli)
{
	struct sigaction action = { .sa_handler = interrupted }, before;
	interrupted_cli = cli;
	sigaction(SIGINT, &action, &before);
	int status = cli->command->run(cli);
	sigaction(SIGINT, &before, NULL);
	return status;
}

/* Runs a command against the owner of the data folder; if there is none, or it goes away, this
 * process becomes the owner. */
static int run_command(struct cli *cli)
{
	struct companion companion = { .cli = cli };
	const struct server_settings settings = { .data_folder = cli->data_folder,
						  .socket_path = cli->address,
						  .config = &cli->config,
						  .environment = cli->environment,
						  .read_only = cli->read_only,
						  .accept_loss = cli->accept_loss,
						  .ready = companion_start,
						  .context = &companion };
	struct error error;
	for (int tries = 0; tries < PATIENCE_TRIES; tries++) {
		if (server_open(&settings, &companion.server, &error))
			run_beside_server(&companion);
		if (error.code != ERROR_LOCKED)
			return cli_fail(cli, &error);
		int status = run_as_client(cli);
		if (status != CLI_SERVER_LOST)
			return status;
		usleep(RETRY_US);
	}
	error_prefix(&error, "the server does not answer: ");
	return cli_fail(cli, &error);
}

/* Runs a command against --server.  This process cannot replace that server, but a server that has
 * answered before may come back. */
static int run_remote(struct cli *cli)
{
	struct error error;
	struct str address = str_from_c(cli->address);
	bool local = str_starts(address, S("http://127.")) ||
		     str_starts(address, S("http://localhost")) ||
		     str_starts(address, S("http://[::1]"));
	if (cli->api_key != NULL && !local)
		log_line(LOG_WARNING, "the API key is sent to %s unencrypted; use a tunnel",
			 cli->address);
	for (int tries = 0; tries < PATIENCE_TRIES; tries++) {
		int status = run_as_client(cli);
		if (status != CLI_SERVER_LOST)
			return status;
		if (!cli->server_answered)
			break;
		usleep(RETRY_US);
	}
	fail(&error, ERROR_UNAVAILABLE, "%s does not answer; is a server running at this address?",
	     cli->address);
	return cli_fail(cli, &error);
}

/* ---- baton serve --------------------------------------------------------------------- */

struct serving {
	struct cli *cli;
	struct server *server;
};

static void print_listening(void *context, uint64_t recovered)
{
	struct serving *serving = context;
	(void)recovered;
	const char *host = config_text(&serving->cli->config, CONFIG_SERVE_HOST);
	bool brackets = strchr(host, ':') != NULL;
	cli_line(CLI_RESULT, "listening on http://%s%s%s:%d", brackets ? "[" : "", host,
		 brackets ? "]" : "", server_port(serving->server));
	(void)!cli_flush();
}

static int serve(struct cli *cli)
{
	struct serving serving = { .cli = cli };
	const struct server_settings settings = {
		.data_folder = cli->data_folder,
		.socket_path = cli->address,
		.host = config_text(&cli->config, CONFIG_SERVE_HOST),
		.port = (int)config_number(&cli->config, CONFIG_SERVE_PORT),
		.config = &cli->config,
		.environment = cli->environment,
		.drain_seconds = config_number(&cli->config, CONFIG_DRAIN_SECONDS),
		.ready = print_listening,
		.context = &serving
	};
	struct error error;
	if (!server_open(&settings, &serving.server, &error))
		return cli_fail(cli, &error);
	leave(server_run(serving.server) ? 0 : INTERRUPTED);
}

/* ---- arguments ----------------------------------------------------------------------- */

static int64_t clock_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static bool is_interactive(void)
{
	const char *terminal = getenv("TERM");
	return isatty(STDOUT_FILENO) && (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

static bool wants_color(void)
{
	const char *no = getenv("NO_COLOR");
	return (no == NULL || no[0] == '\0') && is_interactive();
}

/* Prints every problem of config.yaml on a line of its own. */
static bool check_file(struct cli *cli, struct error *error)
{
	const struct problems *problems = &cli->config_problems;
	if (problems->count == 0)
		return true;
	for (size_t i = 0; i < problems->count && !cli->json; i++) {
		const struct problem *problem = &problems->at[i];
		struct str place = S("");
		if (problem->line > 0)
			place = str_format(&cli->arena, "%s:%u:%u: ", cli->config_file,
					   problem->line, problem->column);
		cli_line(CLI_PROGRESS, STR_FMT STR_FMT, STR_ARG(place), STR_ARG(problem->text));
	}
	cli->error_file = cli->config_file;
	if (cli->json)
		return problems_fail(problems, error);
	return fail(error, ERROR_INVALID, "config.yaml has errors, so nothing was started");
}

static bool prepare(struct cli *cli, int argc, char **argv, struct error *error)
{
	cli->now = clock_us();
	cli->clock = clock_us;
	cli->to_terminal = isatty(STDOUT_FILENO) != 0;
	cli->interactive = is_interactive();
	cli->color = wants_color();
	cli->packed_pages = packed_web;
	cli->packed_examples = packed_examples;
	cli->packed_demo = packed_demo;
	if (!cli_parse(cli, argc - 1, argv + 1, error))
		return false;
	if (cli->show_help) {
		/* `baton run --help` means `baton help run` */
		cli->arguments[0] = (char *)(uintptr_t)cli->command->name;
		cli->argument_count = 1;
		cli->command = cli_command_find(S("help"));
		cli->subcommand = NULL;
	}
	if (getrandom(cli->random, sizeof(cli->random), 0) != (ssize_t)sizeof(cli->random))
		return fail(error, ERROR_IO, "the system cannot provide random bytes");
	if (!cli_settings_load(cli, (const char *const *)environ, error))
		return false;
	bool json = strcmp(config_text(&cli->config, CONFIG_LOG_FORMAT), "json") == 0;
	log_setup((struct log_settings){ .least = LOG_INFO, .json = json });
	if (cli->command->kind != CLI_PLAIN && !check_file(cli, error))
		return false;
	for (size_t i = 0; i < cli->unknown_variables.count && cli->command->kind != CLI_PLAIN; i++)
		log_line(LOG_WARNING,
			 "the environment variable " STR_FMT
			 " does not name a setting and is ignored",
			 STR_ARG(cli->unknown_variables.at[i]));
	return cli->command->prepare(cli, error);
}

int main(int argc, char **argv)
{
	struct cli cli = { 0 };
	struct error error;
	failpoint_setup();
	signal(SIGPIPE, SIG_IGN);
	int status;
	if (!prepare(&cli, argc, argv, &error))
		status = cli_fail(&cli, &error);
	else if (cli.command->kind == CLI_PLAIN)
		status = cli.command->run(&cli);
	else if (cli.command->kind == CLI_SERVER)
		status = serve(&cli);
	else if (config_text(&cli.config, CONFIG_SERVER)[0] != '\0')
		status = run_remote(&cli);
	else
		status = run_command(&cli);
	arena_done(&cli.arena);
	return status;
}
