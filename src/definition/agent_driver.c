/* definition/agent_driver.c -- splits the name of a driver. */
#include "definition/agent_driver.h"

const struct json *agent_driver_option(const struct json *options, struct str key, struct str value,
				       struct arena *arena)
{
	if (json_member(options, key) != NULL)
		return options;
	size_t count = options->as.object.count;
	struct json_member *members = arena_array(arena, struct json_member, count + 1);
	for (size_t i = 0; i < count; i++)
		members[i] = options->as.object.at[i];
	members[count] = (struct json_member){ .key = key,
					       .line = options->line,
					       .column = options->column,
					       .value = { .kind = JSON_STRING,
							  .line = options->line,
							  .column = options->column,
							  .as.string = value } };
	struct json *object = arena_new(arena, struct json);
	*object = *options;
	object->as.object.at = members;
	object->as.object.count = count + 1;
	return object;
}

bool agent_driver_set(struct run_graph_agent *agent, struct str driver, const struct json *options,
		      struct arena *arena)
{
	struct str prefix = S("api:");
	SET(agent, driver, driver);
	SET(agent, options, options);
	if (!str_starts(driver, prefix) || driver.size == prefix.size)
		return true;
	struct str provider = str_skip(driver, prefix.size);
	SET(agent, driver, S("api"));
	SET(agent, options, agent_driver_option(options, S("provider"), provider, arena));
	return str_equal(json_text(json_member(agent->options, S("provider"))), provider);
}

static const struct json *without(const struct json *options, struct str key, struct arena *arena)
{
	struct json_member *members =
		arena_array(arena, struct json_member, options->as.object.count);
	struct json *rest = arena_new(arena, struct json);
	size_t count = 0;
	for (size_t i = 0; i < options->as.object.count; i++)
		if (!str_equal(options->as.object.at[i].key, key))
			members[count++] = options->as.object.at[i];
	*rest = *options;
	rest->as.object.at = members;
	rest->as.object.count = count;
	return rest;
}

void agent_driver_set_cassette(struct run_graph_agent *agent, struct str record, struct str replay,
			       struct arena *arena)
{
	static const struct json nothing = { .kind = JSON_OBJECT };
	if (!str_equal(agent->driver, S("api")))
		return;
	if (replay.size > 0) {
		SET(agent, driver, S("replay"));
		SET(agent, options, agent_driver_option(&nothing, S("cassette"), replay, arena));
	} else if (record.size > 0)
		SET(agent, options,
		    agent_driver_option(without(agent->options, S("record"), arena), S("record"),
					record, arena));
}
