/* server_sandbox.c -- limits, walls and toolchains of sandboxed commands, from the settings. */
#include "server_sandbox.h"

#include <string.h>

#include "base/log.h"
#include "config/config.h"
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

bool server_sandbox_open(struct server_sandbox *sandbox, const struct server_settings *settings,
			 struct arena *arena, struct error *error)
{
	const struct config *config = settings->config;
	open_limits(&sandbox->limits, config, arena);
	if (!toolchains_open(&sandbox->toolchains, config_list(config, CONFIG_SANDBOX_MOUNTS),
			     config->user_home, settings->data_folder, arena, error))
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
	}
	return true;
}
