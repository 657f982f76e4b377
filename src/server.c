/* server.c -- starts the server: lock, loop, store, workspace, executor, recovery, listeners.
 *
 * No command may reach a run whose open effects have not been recovered.  So baton.sock opens only
 * after recovery has loaded every open run.  The TCP port opens earlier, for health checks and
 * reads; until recovery is done it rejects changes with 503.
 *
 * A stop goes the other way: running work finishes first, then the listeners close, so that clients
 * that follow a run see its last events.
 */
#include "server.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "active/executor.h"
#include "api/api.h"
#include "artifact/artifact.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/map.h"
#include "base/packed.h"
#include "base/yaml.h"
#include "config/config.h"
#include "config/secret_rules.h"
#include "contract/document_kind.h"
#include "contract/graph_types.h"
#include "document/agent_registry.h"
#include "document/definition_registry.h"
#include "document/prompt_registry.h"
#include "document/documents.h"
#include "document/schedules.h"
#include "effect/effects.h"
#include "llm/llm.h"
#include "llm/models.h"
#include "llm/price.h"
#include "maintenance/maintenance.h"
#include "net/connect_proxy.h"
#include "os/confined_path.h"
#include "os/failpoint.h"
#include "os/file.h"
#include "os/loop.h"
#include "sandbox/sandbox.h"
#include "server_notify.h"
#include "server_sandbox.h"
#include "store/store.h"
#include "tool/custom_tools.h"
#include "tool/tool_context.h"
#include "tracker/trackers.h"
#include "server_models.h"
#include "server_trackers.h"

enum { IDLE_CHECK_US = 20000 };

/* The phases of a stop, in order. */
enum server_phase { SERVER_RUNNING, SERVER_DRAINING, SERVER_CLOSING };

struct server {
	struct server_settings settings;
	struct arena arena;
	int lock;
	struct loop *loop;
	struct store *store;
	struct workspace *workspace;
	struct artifacts *artifacts;
	struct custom_tools *customs;
	struct trackers *trackers;
	struct tool_context *tool_context;
	struct server_sandbox sandbox;
	struct llm_host models;
	struct price_table prices;
	struct effects *effects;
	struct executor *executor;
	struct definition_registry *definitions;
	struct documents *documents;
	struct maintenance *maintenance;
	struct server_notify notify;
	struct api *api;
	int port;
	atomic_bool stop_when_idle;
	enum server_phase phase;
	int64_t phase_until; /* us, monotonic */
	bool cut_short;      /* a second signal arrived */
};

/* ---- callbacks of the executor and the loop ---------------------------------------- */

static bool find_definition(void *context, struct store_reader *reader, struct str name,
			    struct arena *arena, struct str *out_yaml, struct error *error)
{
	const struct server *server = context;
	struct definition_found found;
	if (!definition_registry_find(server->definitions, reader, name, arena, &found, error))
		return false;
	*out_yaml = found.yaml;
	return true;
}

/* Finds a prompt file: beside the definition, in the data folder beside the definitions, or built in. */
static bool find_prompt(void *context, struct str folder, struct str name, struct arena *arena,
			struct str *out_text, struct error *error)
{
	const struct server *server = context;
	const char *file = str_c(arena, name);
	size_t at;
	const char *folders[] = {
		folder.size > 0 ? str_c(arena, folder) : NULL,
		str_format(arena, "%s/definitions/prompts", server->settings.data_folder).at,
		str_format(arena, "%s/prompts", server->settings.data_folder).at,
	};
	for (size_t i = 0; i < COUNT(folders) && !str_find(name, S("\0"), &at); i++) {
		struct error unread;
		if (folders[i] == NULL)
			continue;
		if (file_read_confined(folders[i], file, LIMIT_TEMPLATE_BYTES, arena, out_text,
				       &unread))
			return true;
		if (unread.code == ERROR_NOT_FOUND)
			continue;
		*error = unread;
		return false;
	}
	for (const struct packed_file *packed = packed_prompts; packed->name != NULL; packed++)
		if (str_equal(str_from_c(packed->name), name)) {
			*out_text = (struct str){ (const char *)packed->bytes, packed->size };
			return true;
		}
	return fail(
		error, ERROR_NOT_FOUND,
		"there is no prompt file " STR_FMT
		"; create it in the folder prompts beside the definition, or in the data folder "
		"as prompts/" STR_FMT,
		STR_ARG(str_head(name, LIMIT_NAME_BYTES)),
		STR_ARG(str_head(name, LIMIT_NAME_BYTES)));
}

static bool find_named_prompt(void *context, struct store_reader *reader, struct str id,
			      struct arena *arena, struct str *out_text, int64_t *out_version,
			      struct error *error)
{
	struct prompt_found found;
	(void)context;
	if (!prompt_registry_find(packed_agent_prompts, reader, id, arena, &found, error))
		return false;
	*out_text = found.content;
	*out_version = found.version;
	return true;
}

static struct str_list list_definitions(void *context, struct store_reader *reader, size_t limit,
					struct arena *arena)
{
	const struct server *server = context;
	return definition_registry_names(server->definitions, reader, limit, arena);
}

static bool definition_signature(void *context, struct str name,
				 struct file_signature *out_signature)
{
	const struct server *server = context;
	return definition_registry_signature(server->definitions, name, out_signature);
}

/* After a failed write the content of the disk is unknown: exit; the next start reads it again. */
static void store_failed(void *context, const struct error *error)
{
	(void)context;
	log_line(LOG_ERROR,
		 "the store failed, so the server exits without acknowledging further commits: %s",
		 error->text);
	_exit(error_row(ERROR_STORAGE)->exit_status);
}

/* On the watchdog's thread. */
static void loop_stalled(void *context, const struct flight_stall *stall)
{
	(void)context;
	log_line(LOG_WARNING, "the loop was held for %lld ms%s by %s %llu%s%s",
		 (long long)(stall->lasted_us / 1000),
		 stall->lasts   ? " so far"
		 : stall->again ? " in total"
				: "",
		 stall->phase, (unsigned long long)stall->subject,
		 stall->file[0] == '\0' ? "" : ", see ", stall->file);
}

/* ---- opening ----------------------------------------------------------------------- */

/* `holder` is the text that the owner wrote into its lock: "pid 12 at …". */
static bool holder_is_dead(struct str holder)
{
	struct str begin = S("pid "), rest = str_skip(holder, begin.size), number;
	int64_t pid;
	if (!str_starts(holder, begin) || !str_cut(&rest, ' ', &number) ||
	    !str_to_int(number, &pid) || pid <= 0 || pid > INT32_MAX)
		return false;
	return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* Fails with ERROR_LOCKED and the holder's text when another process has the lock. */
static bool try_lock(struct server *server, const char *path, struct str *out_holder,
		     struct error *error)
{
	struct error unreadable;
	*out_holder = S("");
	if (file_lock(path, &server->lock, error))
		return true;
	if (error->code == ERROR_LOCKED &&
	    !file_read(path, LIMIT_NAME_BYTES * 4, &server->arena, out_holder, &unreadable))
		*out_holder = S("");
	return false;
}

/* A child between fork and exec holds a copy of every descriptor, including the lock of an owner
 * that was killed at that moment.  So the lock of a dead owner becomes free soon: wait for it. */
static bool take_lock(struct server *server, struct error *error)
{
	const char *folder = server->settings.data_folder;
	const char *path = str_format(&server->arena, "%s/lock", folder).at;
	struct str holder;
	if (!folder_make(folder, error))
		return false;
	bool locked = try_lock(server, path, &holder, error);
	for (int tries = 0; !locked && tries < LIMIT_LOCK_WAIT_MS && holder_is_dead(holder);
	     tries++) {
		usleep(1000);
		locked = try_lock(server, path, &holder, error);
	}
	if (locked) {
		FAILPOINT("server.locked");
		return true;
	}
	if (holder.size > 0)
		return fail(error, ERROR_LOCKED,
			    "the data folder %s is in use by another baton: " STR_FMT, folder,
			    STR_ARG(str_trim(holder)));
	return false;
}

static bool accept_loss(struct server *server, const struct store_backend *backend,
			const char *path, struct error *error)
{
	struct str report;
	if (!server->settings.accept_loss)
		return true;
	if (!backend->accept_loss(path, &server->arena, &report, error))
		return false;
	if (report.size > 0)
		log_line(LOG_WARNING, STR_FMT, STR_ARG(report));
	else
		log_line(LOG_INFO, "nothing is lost");
	return true;
}

static bool open_store(struct server *server, struct error *error)
{
	const struct store_backend *backend = store_backend_find(S("sqlite"), error);
	const char *path =
		str_format(&server->arena, "%s/baton.db", server->settings.data_folder).at;
	if (backend == NULL || !accept_loss(server, backend, path, error) ||
	    !backend->open(path, &server->store, error))
		return false;
	FAILPOINT("server.store_opened");
	struct str report = server->store->admin->recovery_report(server->store, &server->arena);
	if (report.size > 0)
		log_line(LOG_WARNING, STR_FMT, STR_ARG(report));
	return true;
}

/* On a reader thread at the start of a run, on the loop before a call. */
static bool choose_sandbox(void *context, const struct run_graph_sandbox *sandbox,
			   struct arena *arena, struct tool_host *host, struct error *error)
{
	const struct server *server = context;
	return server_sandbox_choose(&server->sandbox, sandbox, arena, host, error);
}

static struct http_timeouts http_timeouts_of(const struct config *config)
{
	return (struct http_timeouts){
		.header_ms = (uint64_t)config_number(config, CONFIG_HEADER_SECONDS) * 1000,
		.body_ms = (uint64_t)config_number(config, CONFIG_BODY_SECONDS) * 1000,
		.idle_ms = (uint64_t)config_number(config, CONFIG_IDLE_SECONDS) * 1000,
		.send_ms = (uint64_t)config_number(config, CONFIG_SEND_SECONDS) * 1000,
		.socket_idle_ms =
			(uint64_t)config_number(config, CONFIG_SOCKET_IDLE_SECONDS) * 1000,
	};
}

/* For a call of a tool; on a reader thread. */
static bool read_secret(void *context, struct str name, struct str tool, struct str workflow,
			bool uses, struct arena *arena, struct str *out_value, struct error *error)
{
	const struct server *server = context;
	const struct secret_places places = { .data_folder = server->settings.data_folder,
					      .environment = server->settings.environment };
	const struct secret_request request = {
		.name = name, .tool = tool, .workflow = workflow, .uses = uses
	};
	return secret_rules_resolve(&places, &request, arena, out_value, error);
}

/* Reads retention_policy.yaml (graph vocabulary); NULL when the file does not exist. */
static bool read_policy(struct server *server, const struct graph_retention_policy **out_policy,
			struct error *error)
{
	const char *file = "retention_policy.yaml";
	struct problems problems = { .arena = &server->arena };
	struct contract_source source = { .json = NULL };
	struct error unread = { 0 };
	*out_policy = NULL;
	if (!file_read_confined(server->settings.data_folder, file, LIMIT_RETENTION_POLICY_BYTES,
				&server->arena, &source.text, &unread)) {
		*error = unread;
		return unread.code == ERROR_NOT_FOUND;
	}
	bool good = yaml_read(source.text, &server->arena, &source.json, error);
	if (good)
		*out_policy = graph_retention_policy_parse(&source, &server->arena, &problems);
	if (good && *out_policy == NULL)
		good = problems_fail(&problems, error);
	if (!good)
		error_prefix(error, "%s in the data folder: ", file);
	return good;
}

static bool open_tools(struct server *server, struct error *error)
{
	const char *root = config_text(server->settings.config, CONFIG_TOOLS_APPEND_ROOT);
	if (root[0] == '\0')
		root = str_format(&server->arena, "%s/journal", server->settings.data_folder).at;
	server->customs = custom_tools_new(server->settings.data_folder);
	server->artifacts = artifacts_new(server->settings.data_folder);
	if (!server_trackers_open(&server->settings, server->loop, &server->arena,
				  &server->trackers, error))
		return false;
	const struct tool_context_settings settings = {
		.loop = server->loop,
		.customs = server->customs,
		.artifacts = server->artifacts,
		.trackers = server->trackers,
		.append_root = root,
		.private_addresses = config_list(server->settings.config, CONFIG_TOOLS_PRIVATE),
	};
	return tool_context_new(&settings, &server->tool_context, error);
}

static bool open_runtime(struct server *server, struct error *error)
{
	const struct config *config = server->settings.config;
	if (!server_sandbox_open(&server->sandbox, &server->settings, server->loop, &server->arena,
				 error))
		return false;
	const struct graph_retention_policy *policy;
	if (!read_policy(server, &policy, error) ||
	    !price_table_read(server->settings.data_folder, &server->arena, &server->prices, error))
		return false;
	server->models.prices = &server->prices;
	server->effects = effects_new();
	server->definitions =
		definition_registry_new(server->settings.data_folder, packed_examples);
	struct executor_settings settings = {
		.platform = loop_platform(server->loop),
		.store = server->store,
		.workspace = server->workspace,
		.tools = &tool_table,
		.host = { .loop = server->loop, .tool_context = server->tool_context },
		.effects = server->effects,
		.drivers = &llm_table,
		.models = &server->models,
		.customs = server->customs,
		.contained = server->sandbox.isolation->contained,
		.networked = server->sandbox.networked,
		.choose_sandbox = choose_sandbox,
		.definition = find_definition,
		.prompt = find_prompt,
		.named_prompt = find_named_prompt,
		.definitions = list_definitions,
		.definition_signature = definition_signature,
		.agent = agent_registry_find,
		.tier = agent_registry_tier,
		.profile = agent_registry_profile,
		.secret = read_secret,
		.fatal = store_failed,
		.context = server,
	};
	server_sandbox_host(&server->sandbox, &settings.host);
	if (!executor_new(&settings, &server->executor, error))
		return false;
	server->documents = documents_new(server->executor);
	definition_registry_watch(server->definitions, server->documents);
	const struct maintenance_settings maintenance = {
		.executor = server->executor,
		.documents = server->documents,
		.artifacts = server->artifacts,
		.workspace = server->workspace,
		.retention = { .days = config_number(config, CONFIG_RETENTION_DAYS),
			       .days_set = config->values[CONFIG_RETENTION_DAYS].source !=
					   CONFIG_FROM_DEFAULT,
			       .max_events = config_number(config, CONFIG_RETENTION_MAX_EVENTS),
			       .workspace_days =
				       config_number(config, CONFIG_RETENTION_WORKSPACE_DAYS),
			       .policy = policy },
	};
	server->maintenance = maintenance_new(&maintenance);
	server_notify_open(&server->notify, &server->settings, server->executor, server->documents,
			   server->tool_context);
	return true;
}

static const char *user_name(struct arena *arena)
{
	const struct passwd *entry = getpwuid(geteuid());
	return str_c(arena, str_from_c(entry != NULL ? entry->pw_name : "owner"));
}

static void seed_maps(struct server *server)
{
	uint8_t key[16];
	platform_random(loop_platform(server->loop), key, sizeof(key));
	map_seed(key);
}

/* ---- listeners --------------------------------------------------------------------- */

static bool write_lock(struct server *server, struct error *error)
{
	struct str text = server->settings.host == NULL
				  ? str_format(&server->arena, "pid %d at %s\n", (int)getpid(),
					       server->settings.socket_path)
				  : str_format(&server->arena, "pid %d at http://%s:%d\n",
					       (int)getpid(), server->settings.host, server->port);
	return file_rewrite(server->lock, text, error);
}

static _Noreturn void fail_start(const struct error *error)
{
	log_line(LOG_ERROR, "%s", error->text);
	_exit(error_row(error->code)->exit_status);
}

static void open_local(void *context, uint64_t recovered)
{
	struct server *server = context;
	struct http_server *http = api_server(server->api);
	struct error error;
	FAILPOINT("server.recovered");
	api_set_state(server->api, API_READY);
	if (!http_listen_local(http, server->settings.socket_path, &error) ||
	    !write_lock(server, &error))
		fail_start(&error);
	if (recovered > 0)
		log_line(LOG_INFO, "recovered %llu open run%s", (unsigned long long)recovered,
			 recovered == 1 ? "" : "s");
	if (!server->settings.read_only)
		maintenance_start(server->maintenance);
	/* Schedules run only in a server, not in a command that owns the folder for a moment. */
	if (!server->settings.read_only && server->settings.host != NULL) {
		schedules_open(server->documents);
		server_notify_start(&server->notify, server->settings.host, server->port);
	}
	server->settings.ready(server->settings.context, recovered);
}

/* The only document of this kind names the active profile. */
static void selection_changed(void *context, const struct watched_document *document)
{
	struct server *server = context;
	executor_set_profiled(server->executor, document->body.size > 0);
}

static void selection_loaded(void *context, uint64_t count)
{
	struct server *server = context;
	(void)count;
	if (server->settings.read_only)
		open_local(server, 0);
	else
		executor_recover(server->executor, open_local, server);
}

static void trust_changed(void *context, const struct watched_document *document)
{
	struct server *server = context;
	AUTO(arena) arena = { 0 };
	struct error error;
	const struct run_trust *trust = NULL;
	if (document->body.size > 0)
		trust = document_read_stored(DOCUMENT_TRUST, document->body, &arena, &error);
	custom_tools_trust(server->customs, document->name, trust);
	tool_context_trust_changed(server->tool_context, document->name);
}

static void trust_loaded(void *context, uint64_t count)
{
	struct server *server = context;
	(void)count;
	documents_watch(server->documents, document_kind_name(DOCUMENT_SETTINGS), selection_changed,
			selection_loaded, server);
}

/* The API keys are loaded: open the TCP port for health checks and reads. */
static void open_tcp(void *context, uint64_t keys)
{
	struct server *server = context;
	const struct server_settings *settings = &server->settings;
	struct error error;
	(void)keys;
	if (settings->host != NULL && (!api_may_listen(server->api, settings->host, &error) ||
				       !http_listen_tcp(api_server(server->api), settings->host,
							settings->port, &server->port, &error)))
		fail_start(&error);
	api_set_port(server->api, server->port);
	tool_context_listens(server->tool_context, server->port);
	models_set_own_port(server->models.models, server->port);
	connect_proxy_set_own_port(server->sandbox.proxy, server->port);
	/* Recovery calls tools again, so the trust in custom tools must be loaded first. */
	documents_watch(server->documents, document_kind_name(DOCUMENT_TRUST), trust_changed,
			trust_loaded, server);
}

/* Frees what server_open() has created before it failed. */
static void server_discard(struct server *server)
{
	if (server->effects != NULL)
		effects_free(server->effects);
	if (server->tool_context != NULL)
		tool_context_free(server->tool_context);
	else
		trackers_free(server->trackers); /* else they are the context's */
	models_free(server->models.models);
	connect_proxy_free(server->sandbox.proxy);
	if (server->customs != NULL)
		custom_tools_free(server->customs);
	if (server->artifacts != NULL)
		artifacts_free(server->artifacts);
	if (server->workspace != NULL)
		workspace_git_close(server->workspace);
	if (server->store != NULL)
		server->store->backend->close(server->store);
	if (server->loop != NULL)
		loop_free(server->loop);
	if (server->lock >= 0)
		close(server->lock);
	arena_done(&server->arena);
	free(server);
}

/* Limits the connections: the program keeps LIMIT_DESCRIPTORS_KEPT descriptors, or half of few. */
static void set_connection_limit(struct server *server)
{
	size_t available =
		file_descriptor_limit_raise(LIMIT_HTTP_CONNECTIONS + LIMIT_DESCRIPTORS_KEPT);
	size_t kept =
		available / 2 < LIMIT_DESCRIPTORS_KEPT ? available / 2 : LIMIT_DESCRIPTORS_KEPT;
	if (available - kept < LIMIT_HTTP_CONNECTIONS)
		http_server_set_connection_limit(api_server(server->api), available - kept);
}

bool server_open(const struct server_settings *settings, struct server **out_server,
		 struct error *error)
{
	struct server *server = calloc(1, sizeof(*server));
	require(server != NULL);
	server->settings = *settings;
	server->lock = -1;
	/* Children have the same user.  None of them can read this process's memory or environment. */
	prctl(PR_SET_DUMPABLE, 0);
	if (!take_lock(server, error) || !loop_new(&server->loop, error) ||
	    !loop_watch(server->loop, settings->data_folder, loop_stalled, server, error) ||
	    !open_store(server, error) ||
	    !workspace_git_open(server->loop, settings->data_folder, &server->workspace, error) ||
	    !open_tools(server, error) ||
	    !server_models_open(&server->settings, server->loop, &server->arena, &server->models,
				error) ||
	    !open_runtime(server, error)) {
		server_discard(server);
		return false;
	}
	seed_maps(server);
	const struct api_settings api = {
		.loop = server->loop,
		.executor = server->executor,
		.documents = server->documents,
		.definitions = server->definitions,
		.prompts = packed_agent_prompts,
		.maintenance = server->maintenance,
		.version = BATON_VERSION,
		.user = user_name(&server->arena),
		.data_folder = settings->data_folder,
		.host = settings->host,
		.hosts = config_list(settings->config, CONFIG_SERVE_HOSTS),
		.require_key = config_bool(settings->config, CONFIG_SERVE_REQUIRE_KEY),
		.contained = server->sandbox.isolation->contained,
		.networked = server->sandbox.networked,
		.artifacts = server->artifacts,
		.customs = server->customs,
		.trackers = server->trackers,
		.sandbox_program = server_sandbox_find_program(&server->arena, "bwrap"),
		.prices = &server->prices,
		.environment = settings->environment,
		.webhooks = server->notify.webhooks,
		.variables = config_list(settings->config, CONFIG_MODELS_VARIABLES),
		.audit = settings->host != NULL,
	};
	server->api = api_new(&api);
	set_connection_limit(server);
	const struct http_timeouts timeouts = http_timeouts_of(settings->config);
	http_server_set_timeouts(api_server(server->api), &timeouts);
	api_load(server->api, open_tcp, server);
	*out_server = server;
	return true;
}

/* ---- running ----------------------------------------------------------------------- */

static void listeners_closed(void *context, uint64_t argument)
{
	struct server *server = context;
	(void)argument;
	loop_stop(server->loop);
}

/* Running work has finished, or its time is over. */
static void close_listeners(struct server *server)
{
	struct executor_counts counts = executor_counts(server->executor);
	if (counts.open_tools > 0)
		log_line(LOG_WARNING,
			 "%zu tool call%s did not finish in time; the next start continues %s",
			 counts.open_tools, counts.open_tools == 1 ? "" : "s",
			 counts.open_tools == 1 ? "it" : "them");
	if (counts.open_turns > 0)
		log_line(LOG_WARNING,
			 "%zu agent turn%s did not finish in time; the next start repeats them",
			 counts.open_turns, counts.open_turns == 1 ? "" : "s");
	FAILPOINT("server.drained");
	server->phase = SERVER_CLOSING;
	server->phase_until = platform_mono_us(loop_platform(server->loop)) +
			      LIMIT_DRAIN_CLOSE_MS * INT64_C(1000);
	api_drain(server->api);
	http_server_drain(api_server(server->api), listeners_closed, server);
}

static void check_drain(void *context, uint64_t argument)
{
	struct server *server = context;
	(void)argument;
	struct platform *platform = loop_platform(server->loop);
	bool late = platform_mono_us(platform) >= server->phase_until;
	bool done = executor_is_drained(server->executor) && api_caught_up(server->api);
	if (server->phase == SERVER_DRAINING && (late || done))
		close_listeners(server);
	else if (server->phase == SERVER_CLOSING && late)
		listeners_closed(server, 0);
	platform_timer_start(platform, IDLE_CHECK_US, check_drain, server, 0);
}

static void stop_on_signal(void *context, uint64_t argument)
{
	struct server *server = context;
	(void)argument;
	if (server->phase != SERVER_RUNNING || server->settings.drain_seconds == 0) {
		server->cut_short = server->phase != SERVER_RUNNING;
		loop_stop(server->loop);
		return;
	}
	struct executor_counts counts = executor_counts(server->executor);
	log_line(LOG_INFO,
		 "stopping: no new work starts; %zu running tool call%s and %zu agent turn%s may "
		 "take up to %lld s; a second signal stops at once",
		 counts.open_tools, counts.open_tools == 1 ? "" : "s", counts.open_turns,
		 counts.open_turns == 1 ? "" : "s", (long long)server->settings.drain_seconds);
	server->phase = SERVER_DRAINING;
	server->phase_until = platform_mono_us(loop_platform(server->loop)) +
			      server->settings.drain_seconds * INT64_C(1000000);
	executor_drain(server->executor);
	api_set_state(server->api, API_DRAINING);
	FAILPOINT("server.draining");
	check_drain(server, 0);
}

static void check_idle(void *context, uint64_t argument)
{
	struct server *server = context;
	(void)argument;
	if (atomic_load(&server->stop_when_idle) &&
	    http_open_exchanges_local(api_server(server->api)) == 0)
		loop_stop(server->loop);
	else
		platform_timer_start(loop_platform(server->loop), IDLE_CHECK_US, check_idle, server,
				     0);
}

bool server_run(struct server *server)
{
	loop_on_stop_signal(server->loop, stop_on_signal, server);
	if (server->settings.host == NULL)
		platform_timer_start(loop_platform(server->loop), IDLE_CHECK_US, check_idle, server,
				     0);
	loop_run(server->loop);
	return !server->cut_short;
}

void server_stop_when_idle(struct server *server)
{
	atomic_store(&server->stop_when_idle, true);
}

int server_port(const struct server *server)
{
	return server->port;
}
