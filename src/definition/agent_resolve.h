/* definition/agent_resolve.h -- the configuration of an agent, from every source that says something
 * about it.
 *
 * A source is a run.AgentSettings with an origin; what it does not say is absent.  Sources are listed
 * from the highest precedence to the lowest, and the first that has a value gives it:
 *
 *	the sandbox that is set on the profile
 *	the definition's `agents`
 *	the profile's `agents`
 *	the registry
 *	the retry policy of the profile
 *	defaults
 *
 * Two rules keep a mixture meaningful.  Model and options belong to a driver: below the source that
 * names the driver, no source gives them.  An agent that the definition describes with a driver is
 * complete: only sources marked `always` add to it.
 *
 * A further source is one more line in agent_sources_gather().
 *
 * Pure; results live in the arena and borrow from the sources.
 */
#ifndef DEFINITION_AGENT_RESOLVE_H
#define DEFINITION_AGENT_RESOLVE_H

#include "base/error.h"
#include "contract/run_resolved_types.h"

struct pipeline_profile;
struct run_agent;
struct run_definition_agent;
struct run_graph_agent;
struct run_graph_sandbox;
struct run_tier;

struct agent_source {
	enum run_config_origin origin;
	const struct run_agent_settings *settings;
	bool always; /* counts for an agent that the definition describes completely, too */
};

/* Where an agent is described; NULL = not there. */
struct agent_description {
	struct str name;
	const struct run_definition_agent *definition;
	const struct pipeline_profile *profile; /* of the run; it need not have the agent */
	const struct run_agent *registered;     /* of tierN_ROLE: the agent ROLE */
	const struct run_tier *tier;            /* of tierN_ROLE */
};

enum { AGENT_SOURCES = 8 };
struct agent_sources {
	struct agent_source at[AGENT_SOURCES];
	size_t count;
	bool known; /* at least one of them describes the agent itself */
};

void agent_sources_gather(const struct agent_description *description, struct arena *arena,
			  struct agent_sources *out_sources);

struct agent_resolution {
	const struct run_agent_settings *settings; /* without defaults */
	struct run_resolved_value_list values;     /* with defaults and origins */
};

void agent_resolve(const struct agent_sources *sources, struct arena *arena,
		   struct agent_resolution *out_resolution);

/* The origin of a value; DEFAULT if it has none. */
enum run_config_origin agent_resolution_origin(const struct agent_resolution *resolution,
					       struct str name);

/* What a graph has of the agent, without its sandbox.  Pointers of problems are relative to the
 * agent. */
const struct run_graph_agent *agent_resolution_apply(const struct agent_resolution *resolution,
						     struct str name, struct arena *arena,
						     struct problems *problems);

/* What a graph has of a sandbox: NULL = the server's.  Adds a problem when this server cannot provide
 * the mode, or when the isolation would be less than the server's. */
const struct run_graph_sandbox *agent_sandbox(const struct pipeline_sandbox_config *config,
					      bool server_isolates, struct arena *arena,
					      struct problems *problems);

#endif
