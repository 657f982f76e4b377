/* server_sandbox.c -- limits, walls and toolchains of sandboxed commands, from the settings. */
#include "server_sandbox.h"

#include <string.h>

#include "base/log.h"
#include "config/config.h"
#include "net/connect_proxy.h"
#include "server.h"

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
	return settings.hosts.count == 0 || connect_proxy_new(&settings, &sandbox->proxy, error);
}

bool server_sandbox_open(struct server_sandbox *sandbox, const struct server_settings *settings,
			 struct loop *loop, struct arena *arena, struct error *error)
{
	const struct config *config = settings->config;
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
		if (sandbox->proxy != NULL)
			log_line(LOG_INFO,
				 "network of sandboxed commands: %zu hosts of sandbox.network; "
				 "shell steps are not repeated after a crash",
				 config_list(config, CONFIG_SANDBOX_NETWORK).count);
	}
	return true;
}
