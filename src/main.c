/* main.c -- arguments to a command, a command to a server: wiring only. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/cli.h"
#include "contract/config.h"
#include "os/point.h"
#include "server.h"

enum { RETRY_US = 20000, PATIENCE_TRIES = 500, INTERRUPTED = 130 };

/* ---- a server of our own, beside the command ----------------------------------------- */

struct companion {
	struct cli *cli;
	const struct cli_command *command;
	struct server *server;
	pthread_t thread;
	int status;
};

static void *companion_run(void *context)
{
	struct companion *companion = context;
	companion->status = companion->command->run(companion->cli);
	fflush(stdout); /* clients may keep us for long; the result is there now */
	server_stop_when_idle(companion->server);
	return NULL;
}

static void companion_start(void *context, uint64_t recovered)
{
	struct companion *companion = context;
	(void)recovered;
	int failed = pthread_create(&companion->thread, NULL, companion_run, companion);
	require(failed == 0);
	pthread_detach(companion->thread); /* it ends the loop, and the process with it */
}

/* The process ends here whatever is still under way: the store is always ready for that. */
static _Noreturn void leave(int status)
{
	fflush(stdout);
	fflush(stderr);
	_exit(status);
}

static _Noreturn void run_beside_server(struct companion *companion)
{
	companion->cli->own_server = true;
	companion->status = INTERRUPTED; /* unless the command ends before a signal does */
	server_run(companion->server);
	if (companion->status == INTERRUPTED)
		log_line(LOG_INFO, "interrupted: what is open goes on at the next start");
	leave(companion->status);
}

/* Another process owns the folder: speak to it, and when it goes, take its place. */
static int run_command(struct cli *cli, const struct cli_command *command)
{
	struct companion companion = { .cli = cli, .command = command };
	const struct server_settings settings = { .data_folder = cli->data_folder,
						  .socket_path = cli->socket_path,
						  .isolation = cli->isolation,
						  .only_looks = command->only_looks,
						  .ready = companion_start,
						  .context = &companion };
	struct error error;
	for (int tries = 0; tries < PATIENCE_TRIES; tries++) {
		if (server_open(&settings, &companion.server, &error))
			run_beside_server(&companion);
		if (error.code != ERROR_LOCKED)
			return cli_fail(&error);
		int status = command->run(cli);
		if (status != CLI_SERVER_LOST)
			return status;
		usleep(RETRY_US);
	}
	error_prefix(&error, "it does not answer: ");
	return cli_fail(&error);
}

/* ---- the server as such -------------------------------------------------------------- */

struct serving {
	struct cli *cli;
	struct server *server;
};

static void say_listening(void *context, uint64_t recovered)
{
	struct serving *serving = context;
	(void)recovered;
	printf("listening on http://%s:%d\n", serving->cli->host, server_port(serving->server));
	fflush(stdout);
}

static struct str_list names_of(struct cli *cli)
{
	enum { NAMES_MOST = 64 };
	struct str *names = arena_array(&cli->arena, struct str, NAMES_MOST);
	struct str rest = str_from_c(cli->hosts), name;
	size_t count = 0;
	while (count < NAMES_MOST && str_cut(&rest, ',', &name))
		if (str_trim(name).size > 0)
			names[count++] = str_trim(name);
	return (struct str_list){ names, count };
}

/* A setting that only the environment has. */
static bool read_seconds(enum config_key key, int64_t *out, struct error *error)
{
	const struct config_row *row = config_row(key);
	char name[CONFIG_ENVIRONMENT_SIZE];
	const char *text = getenv(config_environment(row, name));
	int64_t number;
	if (!str_to_int(str_from_c(text == NULL ? row->fallback : text), &number) ||
	    number < row->least || number > row->most)
		return fail(error, ERROR_USAGE, STR_FMT " is %lld to %lld seconds, not %s",
			    STR_ARG(row->name), (long long)row->least, (long long)row->most, text);
	*out = number;
	return true;
}

static bool read_patience(struct http_patience *out, struct error *error)
{
	int64_t header, body, idle, send;
	if (!read_seconds(CONFIG_HEADER_SECONDS, &header, error) ||
	    !read_seconds(CONFIG_BODY_SECONDS, &body, error) ||
	    !read_seconds(CONFIG_IDLE_SECONDS, &idle, error) ||
	    !read_seconds(CONFIG_SEND_SECONDS, &send, error))
		return false;
	*out = (struct http_patience){ .header_ms = (uint64_t)header * 1000,
				       .body_ms = (uint64_t)body * 1000,
				       .idle_ms = (uint64_t)idle * 1000,
				       .send_ms = (uint64_t)send * 1000 };
	return true;
}

static int serve(struct cli *cli)
{
	struct serving serving = { .cli = cli };
	struct http_patience patience;
	int64_t drain_seconds;
	struct error error;
	if (!read_patience(&patience, &error) ||
	    !read_seconds(CONFIG_DRAIN_SECONDS, &drain_seconds, &error))
		return cli_fail(&error);
	const struct server_settings settings = { .data_folder = cli->data_folder,
						  .socket_path = cli->socket_path,
						  .host = cli->host,
						  .port = cli->port,
						  .hosts = names_of(cli),
						  .require_key = cli->require_key,
						  .isolation = cli->isolation,
						  .patience = &patience,
						  .drain_seconds = drain_seconds,
						  .ready = say_listening,
						  .context = &serving };
	if (!server_open(&settings, &serving.server, &error))
		return cli_fail(&error);
	leave(server_run(serving.server) ? 0 : INTERRUPTED);
}

/* ---- arguments ----------------------------------------------------------------------- */

/* Flag, environment, default; a setting that has none of the first two skips them. */
static bool read_setting(struct cli *cli, enum config_key key, const char **out_value,
			 struct error *error)
{
	const struct config_row *row = config_row(key);
	const char *value = NULL;
	if (row->flag[0] != '\0' && !cli_option(cli, row->flag, row->letter, &value, error))
		return false;
	char name[CONFIG_ENVIRONMENT_SIZE];
	if (value == NULL)
		value = getenv(config_environment(row, name));
	*out_value = value != NULL ? value : row->fallback;
	return true;
}

static bool find_home(struct cli *cli, struct error *error)
{
	const char *home;
	if (!read_setting(cli, CONFIG_HOME, &home, error))
		return false;
	if (str_starts(str_from_c(home), S("~/"))) {
		const struct config_row *row = config_row(CONFIG_HOME);
		char name[CONFIG_ENVIRONMENT_SIZE];
		const char *user = getenv("HOME");
		if (user == NULL)
			return fail(error, ERROR_USAGE,
				    "neither %s nor %s nor HOME says where the data folder is",
				    row->flag, config_environment(row, name));
		home = str_format(&cli->arena, "%s/%s", user, home + 2).at;
	}
	if (home[0] != '/') {
		char *here = getcwd(NULL, 0);
		require(here != NULL);
		home = str_format(&cli->arena, "%s/%s", here, home).at;
		free(here);
	}
	cli->data_folder = home;
	cli->socket_path = str_format(&cli->arena, "%s/baton.sock", home).at;
	return true;
}

static bool setup_log(struct cli *cli, struct error *error)
{
	const char *format;
	if (!read_setting(cli, CONFIG_LOG_FORMAT, &format, error))
		return false;
	bool json = str_equal(str_from_c(format), S("json"));
	if (!json && !str_equal(str_from_c(format), S("human")))
		return fail(error, ERROR_USAGE, "log.format is human or json, not %s", format);
	log_setup((struct log_settings){ .least = LOG_INFO, .json = json });
	return true;
}

static int64_t clock_us(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static bool prepare(struct cli *cli, const struct cli_command **out_command, struct error *error)
{
	cli->json = cli_flag(cli, "--json");
	cli->host = config_row(CONFIG_SERVE_HOST)->fallback;
	int64_t port;
	require(str_to_int(str_from_c(config_row(CONFIG_SERVE_PORT)->fallback), &port));
	cli->port = (int)port;
	cli->now = clock_us();
	if (!setup_log(cli, error) ||
	    !read_setting(cli, CONFIG_TOOLS_ISOLATION, &cli->isolation, error))
		return false;
	cli->hosts = getenv("BATON_SERVE_HOSTS");
	const char *require_key = getenv("BATON_SERVE_REQUIRE_KEY");
	cli->require_key = require_key != NULL && str_equal(str_from_c(require_key), S("true"));
	if (getrandom(cli->dice, sizeof(cli->dice), 0) != (ssize_t)sizeof(cli->dice))
		return fail(error, ERROR_IO, "the system gives no random bytes");
	if (!find_home(cli, error))
		return false;
	const char *name = cli->argument_count > 0 ? cli->arguments[0] : "help";
	const struct cli_command *command = cli_find(name);
	if (command == NULL)
		return fail(error, ERROR_USAGE, "there is no command %s; see baton help", name);
	if (cli->argument_count > 0) {
		cli->arguments++;
		cli->argument_count--;
	}
	*out_command = command;
	return command->prepare(cli, error);
}

int main(int argc, char **argv)
{
	struct cli cli = { .arguments = argv + 1, .argument_count = argc - 1 };
	const struct cli_command *command;
	struct error error;
	point_setup();
	signal(SIGPIPE, SIG_IGN);
	int status;
	if (!prepare(&cli, &command, &error))
		status = cli_fail(&error);
	else if (command->kind == CLI_PLAIN)
		status = command->run(&cli);
	else if (command->kind == CLI_SERVER)
		status = serve(&cli);
	else
		status = run_command(&cli, command);
	arena_done(&cli.arena);
	return status;
}
