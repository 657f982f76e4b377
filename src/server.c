/* server.c -- opens the rooms in order: lock, loop, store, workspace, runtime, recovery, doors.
 *
 * The doors open only after recovery has every open run in memory, so that no command can meet a
 * run whose open effects nobody has taken up again.
 */
#include "server.h"

#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/map.h"
#include "base/packed.h"
#include "config/config.h"
#include "os/file.h"
#include "os/loop.h"
#include "os/point.h"
#include "runtime/runtime.h"
#include "sandbox/sandbox.h"
#include "store/store.h"

enum { IDLE_CHECK_US = 20000 };

struct server {
	struct server_settings settings;
	struct arena arena;
	int lock;
	struct loop *loop;
	struct store *store;
	struct workspace *workspace;
	struct runtime *runtime;
	struct api *api;
	int port;
	atomic_bool stop_when_idle;
};

/* ---- what the runtime asks of the program -------------------------------------------- */

/* A workflow by name: the owner's definitions first, then the examples in the program. */
static bool find_definition(void *context, struct str name, struct arena *arena,
			    struct str *out_yaml, struct error *error)
{
	const struct server *server = context;
	const char *folder = str_format(arena, "%s/definitions", server->settings.data_folder).at;
	const char *file = str_format(arena, STR_FMT ".yaml", STR_ARG(name)).at;
	size_t at;
	bool plain = !str_find(name, S("/"), &at) && !str_find(name, S("\0"), &at);
	struct error unread; /* not the caller's: an example may still be found */
	if (plain && file_read_beneath(folder, file, LIMIT_YAML_BYTES, arena, out_yaml, &unread))
		return true;
	if (plain && unread.code != ERROR_NOT_FOUND) {
		*error = unread;
		return false;
	}
	for (const struct packed_file *example = packed_examples; example->name != NULL; example++)
		if (str_equal(str_from_c(example->name), name)) {
			*out_yaml = (struct str){ (const char *)example->bytes, example->size };
			return true;
		}
	return fail(error, ERROR_NOT_FOUND,
		    "no workflow is called " STR_FMT
		    "; put it into the data folder as definitions/NAME.yaml",
		    STR_ARG(str_head(name, LIMIT_NAME_BYTES)));
}

/* Nobody knows any more what the disk holds: say so and go; the next start reads what is there. */
static void store_failed(void *context, const struct error *error)
{
	(void)context;
	log_line(LOG_ERROR, "the store failed, nothing is acknowledged any more: %s", error->text);
	_exit(error_row(ERROR_STORAGE)->exit_status);
}

/* ---- opening ------------------------------------------------------------------------- */

static bool take_lock(struct server *server, struct error *error)
{
	const char *folder = server->settings.data_folder;
	const char *path = str_format(&server->arena, "%s/lock", folder).at;
	if (!folder_make(folder, error))
		return false;
	if (file_lock(path, &server->lock, error)) {
		POINT("server.locked");
		return true;
	}
	struct str holder;
	struct error unreadable;
	if (error->code == ERROR_LOCKED &&
	    file_read(path, LIMIT_NAME_BYTES * 4, &server->arena, &holder, &unreadable) &&
	    holder.size > 0)
		return fail(error, ERROR_LOCKED, "%s belongs to another baton: " STR_FMT, folder,
			    STR_ARG(str_trim(holder)));
	return false;
}

static bool open_store(struct server *server, struct error *error)
{
	const struct store_ops *ops = store_backend(S("sqlite"));
	const char *path =
		str_format(&server->arena, "%s/baton.db", server->settings.data_folder).at;
	if (!ops->open(path, &server->store, error))
		return false;
	POINT("server.store_opened");
	return true;
}

static bool open_runtime(struct server *server, struct error *error)
{
	const char *isolation = config_text(server->settings.config, CONFIG_TOOLS_ISOLATION);
	const struct sandbox *sandbox = sandbox_find(str_from_c(isolation));
	require(sandbox != NULL); /* one of the setting's words */
	const struct runtime_settings settings = {
		.system = loop_system(server->loop),
		.store = server->store,
		.workspace = server->workspace,
		.tools = &tool_table,
		.host = { .loop = server->loop, .sandbox = sandbox },
		.contained = sandbox->contained,
		.definition = find_definition,
		.fatal = store_failed,
		.context = server,
	};
	return runtime_new(&settings, &server->runtime, error);
}

static const char *user_name(struct arena *arena)
{
	const struct passwd *entry = getpwuid(geteuid());
	return str_c(arena, str_from_c(entry != NULL ? entry->pw_name : "owner"));
}

static void seed_maps(struct server *server)
{
	uint8_t key[16];
	system_random(loop_system(server->loop), key, sizeof(key));
	map_seed(key);
}

/* ---- the doors ----------------------------------------------------------------------- */

static bool write_lock(struct server *server, struct error *error)
{
	struct str text = server->settings.host == NULL
				  ? str_format(&server->arena, "pid %d at %s\n", (int)getpid(),
					       server->settings.socket_path)
				  : str_format(&server->arena, "pid %d at http://%s:%d\n",
					       (int)getpid(), server->settings.host, server->port);
	return file_rewrite(server->lock, text, error);
}

static void open_doors(void *context, uint64_t recovered)
{
	struct server *server = context;
	struct http_server *http = api_server(server->api);
	struct error error;
	POINT("server.recovered");
	bool good = server->settings.host == NULL ||
		    http_listen_tcp(http, server->settings.host, server->settings.port,
				    &server->port, &error);
	if (!good || !http_listen_local(http, server->settings.socket_path, &error) ||
	    !write_lock(server, &error)) {
		log_line(LOG_ERROR, "%s", error.text);
		_exit(error_row(error.code)->exit_status);
	}
	if (recovered > 0)
		log_line(LOG_INFO, "%llu open run%s taken up again", (unsigned long long)recovered,
			 recovered == 1 ? "" : "s");
	server->settings.ready(server->settings.context, recovered);
}

/* Opening came only so far. */
static void give_up(struct server *server)
{
	if (server->workspace != NULL)
		workspace_git_close(server->workspace);
	if (server->store != NULL)
		server->store->ops->close(server->store);
	if (server->loop != NULL)
		loop_free(server->loop);
	if (server->lock >= 0)
		close(server->lock);
	arena_done(&server->arena);
	free(server);
}

bool server_open(const struct server_settings *settings, struct server **out_server,
		 struct error *error)
{
	struct server *server = calloc(1, sizeof(*server));
	require(server != NULL);
	server->settings = *settings;
	server->lock = -1;
	if (!take_lock(server, error) || !loop_new(&server->loop, error) ||
	    !open_store(server, error) ||
	    !workspace_git_open(server->loop, settings->data_folder, &server->workspace, error) ||
	    !open_runtime(server, error)) {
		give_up(server);
		return false;
	}
	seed_maps(server);
	const struct api_settings api = { .loop = server->loop,
					  .runtime = server->runtime,
					  .version = BATON_VERSION,
					  .user = user_name(&server->arena) };
	server->api = api_new(&api);
	if (settings->only_looks)
		system_timer_start(loop_system(server->loop), 0, open_doors, server, 0);
	else
		runtime_recover(server->runtime, open_doors, server);
	*out_server = server;
	return true;
}

/* ---- running ------------------------------------------------------------------------- */

static void stop_on_signal(void *context, uint64_t argument)
{
	struct server *server = context;
	(void)argument;
	loop_stop(server->loop);
}

static void check_idle(void *context, uint64_t argument)
{
	struct server *server = context;
	(void)argument;
	if (atomic_load(&server->stop_when_idle) &&
	    http_open_exchanges_local(api_server(server->api)) == 0)
		loop_stop(server->loop);
	else
		system_timer_start(loop_system(server->loop), IDLE_CHECK_US, check_idle, server, 0);
}

void server_run(struct server *server)
{
	loop_on_stop_signal(server->loop, stop_on_signal, server);
	if (server->settings.host == NULL)
		system_timer_start(loop_system(server->loop), IDLE_CHECK_US, check_idle, server, 0);
	loop_run(server->loop);
}

void server_stop_when_idle(struct server *server)
{
	atomic_store(&server->stop_when_idle, true);
}

int server_port(const struct server *server)
{
	return server->port;
}
