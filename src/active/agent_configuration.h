/* active/agent_configuration.h -- the configuration that an agent would have in a run that starts now.
 *
 * For people who want to know where a value comes from.  A start resolves the same sources
 * (definition/agent_resolve.h), except that the definition may say more.
 *
 * On a reader thread; results live in the arena.
 */
#ifndef ACTIVE_AGENT_CONFIGURATION_H
#define ACTIVE_AGENT_CONFIGURATION_H

#include "base/error.h"

struct executor;
struct problems;
struct run_agent;
struct run_resolved_agent;
struct store_reader;

/* `profile` "" = the active one, if any.  NOT_FOUND when neither the profile nor the registry has the
 * agent; CONFIGURATION when there is no such profile. */
MUST_CHECK bool executor_agent_configuration(struct executor *executor, struct store_reader *reader,
					     struct str name, struct str profile,
					     struct arena *arena,
					     const struct run_resolved_agent **out_agent,
					     struct error *error);

/* What is wrong with an agent of the registry wherever it runs: options that its driver does not take.  A
 * driver or a tool that this program does not have may be there when a run starts, and options that are
 * missing may come from a definition or a profile; executor_agent_configuration() reports them.  On any
 * thread. */
void executor_agent_check(const struct executor *executor, const struct run_agent *agent,
			  struct arena *arena, struct problems *problems);

#endif
