/* llm/llm.c -- the table of drivers, and the conversion of a reply into a step's output. */
#include "llm/llm.h"

#include "base/limits.h"
#include "contract/run_graph_types.h"
#include "llm/text_calls.h"
#include "schema/schema.h"

#define DRIVER(name) extern const struct llm_driver llm_##name;
#include "llm/drivers.def"
#undef DRIVER

static const struct llm_driver *const rows[] = {
#define DRIVER(name) &llm_##name,
#include "llm/drivers.def"
#undef DRIVER
};

const struct llm_table llm_table = { rows, COUNT(rows) };

const struct llm_driver *llm_find(const struct llm_table *table, struct str name)
{
	for (size_t i = 0; table != NULL && i < table->count; i++)
		if (str_equal(str_from_c(table->at[i]->name), name))
			return table->at[i];
	return NULL;
}

static struct str names_of(const struct llm_table *table, struct arena *arena)
{
	AUTO(buf) names = { 0 };
	for (size_t i = 0; table != NULL && i < table->count; i++)
		buf_add_format(&names, "%s%s", i == 0 ? "" : ", ", table->at[i]->name);
	return names.size == 0 ? S("none") : str_copy(arena, buf_str(&names));
}

/* A wrong schema would send back every reply of the model, good ones too. */
static void check_schema(const struct run_graph_agent *agent, struct arena *arena,
			 struct problems *problems)
{
	struct problems found = { .arena = arena };
	struct schema *schema = NULL;
	if (schema_compile_formats(agent->schema, NULL, has(agent, format_assertion), arena,
				   &schema, &found))
		schema_done(schema);
	for (size_t i = 0; i < found.count; i++)
		problems_add(problems,
			     str_format(arena, "/schema" STR_FMT, STR_ARG(found.at[i].pointer)),
			     found.at[i].line, found.at[i].column, STR_FMT,
			     STR_ARG(found.at[i].text));
}

void llm_check(const struct llm_table *table, const struct run_graph_agent *agent,
	       struct arena *arena, struct problems *problems)
{
	static const struct json nothing = { .kind = JSON_OBJECT };
	const struct llm_driver *driver = llm_find(table, agent->driver);
	if (driver == NULL) {
		problems_add(problems, S("/driver"), 0, 0,
			     "unknown driver " STR_FMT "; expected one of " STR_FMT,
			     STR_ARG(agent->driver), STR_ARG(names_of(table, arena)));
		return;
	}
	struct problems found = { .arena = arena };
	driver->check(agent->model, has(agent, options) ? agent->options : &nothing, arena, &found);
	for (size_t i = 0; i < found.count; i++)
		problems_add(problems,
			     str_format(arena, "/options" STR_FMT, STR_ARG(found.at[i].pointer)),
			     found.at[i].line, found.at[i].column, STR_FMT,
			     STR_ARG(found.at[i].text));
	if (has(agent, schema))
		check_schema(agent, arena, problems);
}

/* ---- replies ------------------------------------------------------------------------- */

/* Models often put JSON into a ``` block; of a reply that is one such block, returns the inside. */
static struct str without_fence(struct str text)
{
	struct str fence = S("```"), rest, first;
	if (text.size < 2 * fence.size || !str_starts(text, fence) || !str_ends(text, fence))
		return text;
	rest = str_head(text, text.size - fence.size);
	size_t at;
	if (!str_cut(&rest, '\n', &first) || str_find(rest, fence, &at))
		return text;
	return str_trim(rest);
}

static bool is_deeper(const struct json *json, int levels)
{
	bool list = json->kind == JSON_LIST;
	if (!list && json->kind != JSON_OBJECT)
		return false;
	bool deeper = levels == 0;
	size_t count = list ? json->as.list.count : json->as.object.count;
	for (size_t i = 0; i < count && !deeper; i++)
		deeper = is_deeper(list ? &json->as.list.at[i] : &json->as.object.at[i].value,
				   levels - 1);
	return deeper;
}

/* Parses a reply that is a JSON object or list; NULL otherwise.  Longer replies are not parsed,
 * because this runs on the loop thread. */
static const struct json *json_of_reply(struct str reply, struct arena *arena)
{
	const struct json *json;
	struct error error;
	struct str text = without_fence(str_trim(reply));
	if (text.size == 0 || text.size > LIMIT_PARSE_ON_LOOP_BYTES ||
	    (text.at[0] != '{' && text.at[0] != '[') || !json_read(text, arena, &json, &error))
		return NULL;
	return is_deeper(json, LIMIT_REPLY_DEPTH) ? NULL : json;
}

const struct json *llm_output(const struct llm_result *result, bool has_tools, struct arena *arena)
{
	struct run_turn_result *output = run_turn_result_new(arena);
	struct run_turn_call_list calls = result->calls;
	struct str text = result->text;
	enum run_turn_stop stop = result->stop;
	if (has_tools && calls.count == 0) {
		calls = text_calls_parse(text, arena, &text);
		if (calls.count > 0 && stop == RUN_TURN_STOP_END)
			stop = RUN_TURN_STOP_CALLS;
	}
	const struct json *json = json_of_reply(text, arena);
	SET(output, text, text);
	if (json != NULL)
		SET(output, json, json);
	if (result->thinking.count > 0)
		SET(output, thinking, result->thinking);
	if (calls.count > 0)
		SET(output, calls, calls);
	if (stop != RUN_TURN_STOP_END)
		SET(output, stop, stop);
	return run_turn_result_tree(output, arena);
}
