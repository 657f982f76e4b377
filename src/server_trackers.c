/* server_trackers.c -- gives the trackers their settings and tokens.
 *
 * A token comes from its environment variable, or from config.yaml as a reference.  The reference is the
 * owner's own, so it allows the variable that it names; secrets.allow is for references in documents.
 */
#include "server_trackers.h"

#include "config/config.h"
#include "config/secret.h"
#include "tracker/trackers.h"

static bool read_token(void *context, enum pipeline_profile_tracker tracker, struct arena *arena,
		       struct str *out_token, struct error *error)
{
	const struct server_settings *settings = context;
	enum config_key key = CONFIG_TRACKER_GITHUB_TOKEN;
	switch (tracker) {
	case PIPELINE_PROFILE_TRACKER_GITHUB:
		key = CONFIG_TRACKER_GITHUB_TOKEN;
		break;
	case PIPELINE_PROFILE_TRACKER_GITLAB:
		key = CONFIG_TRACKER_GITLAB_TOKEN;
		break;
	case PIPELINE_PROFILE_TRACKER_JIRA:
		key = CONFIG_TRACKER_JIRA_TOKEN;
		break;
	case PIPELINE_PROFILE_TRACKER_FILE:
	case PIPELINE_PROFILE_TRACKER_NOOP:
		*out_token = S("");
		return true;
	}
	struct str token = str_from_c(config_text(settings->config, key)), name = token;
	*out_token = token;
	if (!str_starts(token, S("env:")) && !str_starts(token, S("file:")))
		return true;
	if (str_starts(token, S("env:")))
		name = str_skip(token, 4);
	const struct secret_places places = { .data_folder = settings->data_folder,
					      .environment = settings->environment,
					      .allowed = { &name, 1 } };
	return secret_resolve(&places, (struct secret){ token }, arena, out_token, error);
}

bool server_trackers_open(const struct server_settings *settings, struct loop *loop,
			  struct arena *arena, struct trackers **out_trackers, struct error *error)
{
	const struct config *config = settings->config;
	struct server_settings *kept = arena_copy(arena, settings, sizeof(*settings));
#define TEXT(key) str_from_c(config_text(config, key))
	const struct trackers_settings trackers = {
		.loop = loop,
		.private_addresses = config_list(config, CONFIG_TRACKER_PRIVATE),
		.trackers = { .github_url = TEXT(CONFIG_TRACKER_GITHUB_URL),
			      .gitlab_url = TEXT(CONFIG_TRACKER_GITLAB_URL),
			      .jira_url = TEXT(CONFIG_TRACKER_JIRA_URL),
			      .jira_email = TEXT(CONFIG_TRACKER_JIRA_EMAIL),
			      .jira_project = TEXT(CONFIG_TRACKER_JIRA_PROJECT),
			      .jira_version = TEXT(CONFIG_TRACKER_JIRA_VERSION),
			      .folder = TEXT(CONFIG_TRACKER_FOLDER),
			      .timeout_ms = config_number(config, CONFIG_TRACKER_SECONDS) * 1000 },
		.token = read_token,
		.context = kept,
	};
#undef TEXT
	return trackers_new(&trackers, out_trackers, error);
}
