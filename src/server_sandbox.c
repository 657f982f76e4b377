/* server_sandbox.c -- limits, walls and toolchains of sandboxed commands, from the settings and from the
 * profile or agent of a call. */
#include "server_sandbox.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sha256.h"
#include "config/config.h"
#include "contract/run_graph_types.h"
#include "net/connect_proxy.h"
#include "net/connect_request.h"
#include "os/file.h"
#include "server.h"
#include "tool/tool_host.h"

static void open_limits(struct sandbox_limits *limits, const struct config *config,
			struct arena *arena)
{
	const int64_t mb = 1048576;
	*limits = (struct sandbox_limits){
		.processes = config_number(config, CONFIG_SANDBOX_PROCESSES),
		.memory_bytes = config_number(config, CONFIG_SANDBOX_MEMORY_MB) * mb,
		.tmp_bytes = config_number(config, CONFIG_SANDBOX_TMP_MB) * mb,
		.file_bytes = config_number(config, CONFIG_SANDBOX_FILE_MB) * mb,
		.workspace_bytes = config_number(config, CONFIG_SANDBOX_WORKSPACE_MB) * mb,
		.uid = config_number(config, CONFIG_SANDBOX_UID),
	};
	sandbox_limits_open(limits, config_text(config, CONFIG_SANDBOX_LIMITS), arena);
}

static void say_limits(const struct sandbox_limits *limits)
{
	if (limits->warning != NULL)
		log_line(LOG_WARNING, "limits of sandboxed commands: %s", limits->warning);
	log_line(LOG_INFO, "limits of sandboxed commands: %s", limits->text);
}

/* A required wall that is missing refuses commands, not the start: everything else works. */
static void say_layers(const struct sandbox_layers *layers)
{
	if (layers->refusal != NULL)
		log_line(LOG_ERROR, "sandboxed commands are refused: %s", layers->refusal);
	else if (layers->warning != NULL)
		log_line(LOG_WARNING, "walls of the sandbox: %s", layers->warning);
	log_line(LOG_INFO, "walls of the sandbox: %s", layers->text);
	if (layers->toolchains->missing != NULL)
		log_line(LOG_WARNING, "sandbox.mounts: %s not found, so no command sees it",
			 layers->toolchains->missing);
}

/* Every refusal is said, with the step: it may be a missing host in the list, or an attempt. */
static void refused(void *context, const struct connect_proxy_refusal *refusal)
{
	const struct connect_proxy_user *user = refusal->user;
	AUTO(arena) arena = { 0 };
	(void)context;
	struct str target =
		refusal->host.size == 0
			? S("a request")
			: str_format(&arena, STR_FMT ":%d", STR_ARG(refusal->host), refusal->port);
	if (user->run.size > 0)
		log_run(LOG_WARNING, user->run,
			"step " STR_FMT " (" STR_FMT "): the proxy refused " STR_FMT ": %s",
			STR_ARG(user->step), STR_ARG(user->tool), STR_ARG(target), refusal->why);
	else
		log_line(LOG_WARNING, "tool " STR_FMT ": the proxy refused " STR_FMT ": %s",
			 STR_ARG(user->tool), STR_ARG(target), refusal->why);
}

static bool open_proxy(struct server_sandbox *sandbox, const struct config *config,
		       struct loop *loop, struct error *error)
{
	const struct connect_proxy_settings settings = {
		.loop = loop,
		.hosts = config_list(config, CONFIG_SANDBOX_NETWORK),
		.private_addresses = config_list(config, CONFIG_TOOLS_PRIVATE),
		.refused = refused,
	};
	sandbox->networked = settings.hosts.count > 0;
	return connect_proxy_new(&settings, &sandbox->proxy, error);
}

bool server_sandbox_open(struct server_sandbox *sandbox, const struct server_settings *settings,
			 struct loop *loop, struct arena *arena, struct error *error)
{
	const struct config *config = settings->config;
	sandbox->isolation = sandbox_find(str_from_c(config_text(config, CONFIG_TOOLS_ISOLATION)));
	require(sandbox->isolation != NULL); /* the setting allows only known sandboxes */
	sandbox->home = config->user_home;
	sandbox->data_folder = settings->data_folder;
	open_limits(&sandbox->limits, config, arena);
	if (!toolchains_open(&sandbox->toolchains, config_list(config, CONFIG_SANDBOX_MOUNTS),
			     config->user_home, settings->data_folder, arena, error) ||
	    !open_proxy(sandbox, config, loop, error))
		return false;
	sandbox->layers = (struct sandbox_layers){
		.seccomp = config_text(config, CONFIG_SANDBOX_SECCOMP),
		.landlock = config_text(config, CONFIG_SANDBOX_LANDLOCK),
		.toolchains = &sandbox->toolchains,
	};
	sandbox_layers_choose(&sandbox->layers, arena);
	if (settings->host != NULL &&
	    strcmp(config_text(config, CONFIG_TOOLS_ISOLATION), "off") != 0) {
		say_limits(&sandbox->limits);
		say_layers(&sandbox->layers);
		if (sandbox->networked)
			log_line(LOG_INFO,
				 "network of sandboxed commands: %zu hosts of sandbox.network; "
				 "shell steps are not repeated after a crash",
				 config_list(config, CONFIG_SANDBOX_NETWORK).count);
	}
	return true;
}

void server_sandbox_host(const struct server_sandbox *sandbox, struct tool_host *host)
{
	host->sandbox = sandbox->isolation;
	host->limits = &sandbox->limits;
	host->layers = &sandbox->layers;
	host->proxy = sandbox->networked ? sandbox->proxy : NULL;
}

/* ---- the sandbox of a profile or an agent ----------------------------------------------- */

static bool choose_isolation(const struct server_sandbox *sandbox, struct str name,
			     struct tool_host *host, struct error *error)
{
	const struct sandbox *isolation = sandbox_find(name);
	if (isolation == NULL)
		return fail(error, ERROR_CONFIGURATION,
			    "isolation: " STR_FMT " is not available on this server",
			    STR_ARG(name));
	if (!isolation->contained && sandbox->isolation->contained)
		return fail(error, ERROR_CONFIGURATION,
			    "isolation: " STR_FMT " is less than the server's tools.isolation",
			    STR_ARG(name));
	if (isolation->contained && sandbox->layers.refusal != NULL)
		return fail(error, ERROR_CONFIGURATION, "isolation: " STR_FMT ": %s", STR_ARG(name),
			    sandbox->layers.refusal);
	host->sandbox = isolation;
	return true;
}

static bool choose_mounts(const struct server_sandbox *sandbox, struct str_list mounts,
			  struct arena *arena, struct tool_host *host, struct error *error)
{
	struct toolchains *toolchains = arena_new(arena, struct toolchains);
	struct sandbox_layers *layers =
		arena_copy(arena, &sandbox->layers, sizeof(sandbox->layers));
	if (!toolchains_open(toolchains, mounts, sandbox->home, sandbox->data_folder, arena,
			     error)) {
		error->code = ERROR_CONFIGURATION;
		return false;
	}
	if (toolchains->missing != NULL)
		return fail(error, ERROR_CONFIGURATION, "sandbox.mounts: %s not found",
			    toolchains->missing);
	layers->toolchains = toolchains;
	host->layers = layers;
	return true;
}

static bool choose_network(const struct server_sandbox *sandbox, struct str_list hosts,
			   struct arena *arena, struct tool_host *host, struct error *error)
{
	struct connect_rules *rules = arena_new(arena, struct connect_rules);
	if (!connect_rules_read(hosts, arena, rules, error)) {
		error->code = ERROR_CONFIGURATION;
		error_prefix(error, "network_allowed_hosts: ");
		return false;
	}
	host->proxy = rules->count > 0 ? sandbox->proxy : NULL;
	host->hosts = rules;
	return true;
}

static void add_word(struct sha256 *sha, struct str word)
{
	uint64_t size = word.size;
	sha256_add(sha, &size, sizeof(size));
	sha256_add(sha, word.at, word.size);
}

static void add_list(struct sha256 *sha, bool given, struct str_list list)
{
	uint64_t count = given ? list.count + 1 : 0; /* an empty list is not an absent one */
	sha256_add(sha, &count, sizeof(count));
	for (size_t i = 0; given && i < list.count; i++)
		add_word(sha, list.at[i]);
}

static struct str key_of(const struct run_graph_sandbox *wanted, struct arena *arena)
{
	enum { KEY_SIZE = 32 };
	char text[HASH_TEXT_SIZE];
	struct sha256 sha;
	sha256_init(&sha);
	add_word(&sha, has(wanted, isolation) ? wanted->isolation : S(""));
	add_list(&sha, has(wanted, mounts), wanted->mounts);
	add_list(&sha, has(wanted, network), wanted->network);
	struct hash hash = sha256_finish(&sha);
	return str_copy(arena, str_head(hash_text(&hash, text), KEY_SIZE));
}

bool server_sandbox_choose(const struct server_sandbox *sandbox,
			   const struct run_graph_sandbox *wanted, struct arena *arena,
			   struct tool_host *host, struct error *error)
{
	struct tool_host chosen = *host;
	if ((has(wanted, isolation) &&
	     !choose_isolation(sandbox, wanted->isolation, &chosen, error)) ||
	    (has(wanted, mounts) &&
	     !choose_mounts(sandbox, wanted->mounts, arena, &chosen, error)) ||
	    (has(wanted, network) &&
	     !choose_network(sandbox, wanted->network, arena, &chosen, error)))
		return false;
	chosen.sandbox_key = key_of(wanted, arena);
	*host = chosen;
	return true;
}

const char *server_sandbox_find_program(struct arena *arena, const char *name)
{
	struct str rest = str_from_c(getenv("PATH")), folder;
	while (str_cut(&rest, ':', &folder)) {
		const char *path = str_format(arena, STR_FMT "/%s", STR_ARG(folder), name).at;
		if (folder.size > 0 && file_exists(path))
			return path;
	}
	return NULL;
}
