/* engine/graph_state.h: reducers, and the state of a run.  The rig folds every history from every snapshot
 * of it, so each test here also shows that the state is restored. */
#include "contract/run_graph_enum_types.h"
#include "contract/run_outcome_types.h"
#include "engine/engine_rig.h"
#include "engine/graph_state.h"

static struct rig rig;

TestSuite(graph_state);

static const struct json *read(struct arena *arena, const char *text)
{
	const struct json *json;
	struct error error;
	bool good = json_read(str_from_c(text), arena, &json, &error);
	cr_assert(good, "%s: %s", text, error.text);
	return json;
}

/* `gives` NULL: the value does not fit. */
static void reduces(enum run_reducer reducer, const char *old, const char *update,
		    const char *gives)
{
	AUTO(arena) arena = { 0 };
	struct failure fault = { S(""), S("") };
	const struct json *value = graph_state_reduce(reducer, read(&arena, old),
						      read(&arena, update), &arena, &fault);
	if (gives == NULL) {
		cr_expect_null(value, "%s %s", old, update);
		cr_expect(str_equal(fault.code, S("invalid")));
		return;
	}
	cr_assert_not_null(value, "%s %s: " STR_FMT, old, update, STR_ARG(fault.text));
	cr_expect_str_eq(str_c(&arena, json_print(&arena, value)), gives);
}

Test(graph_state, reducers)
{
	reduces(RUN_REDUCER_OVERWRITE, "[1]", "{}", "{}");
	reduces(RUN_REDUCER_OVERWRITE, "1", "null", "null");
	reduces(RUN_REDUCER_APPEND, "[1]", "[1,2]", "[1,1,2]");
	reduces(RUN_REDUCER_APPEND, "null", "\"x\"", "[\"x\"]");
	reduces(RUN_REDUCER_APPEND, "[]", "null", "[null]");
	reduces(RUN_REDUCER_APPEND, "{}", "1", NULL);
	reduces(RUN_REDUCER_UNION, "[1,{\"a\":1}]", "[1.0,{\"a\":1},2,2]", "[1,{\"a\":1},2]");
	reduces(RUN_REDUCER_UNION, "3", "1", NULL);
	reduces(RUN_REDUCER_MERGE, "{\"a\":1,\"b\":1}", "{\"b\":2,\"c\":3}",
		"{\"a\":1,\"b\":2,\"c\":3}");
	reduces(RUN_REDUCER_MERGE, "null", "{}", "{}");
	reduces(RUN_REDUCER_MERGE, "{}", "[]", NULL);
	reduces(RUN_REDUCER_ADD, "1", "2", "3");
	reduces(RUN_REDUCER_ADD, "null", "0.5", "0.5");
	reduces(RUN_REDUCER_ADD, "1", "true", NULL);
	reduces(RUN_REDUCER_ADD, "9223372036854775807", "1", "9223372036854776000");
	reduces(RUN_REDUCER_ADD, "1e308", "1e308", NULL);
}

static const char graph[] =
	"name: w\n"
	"state: {n: {reducer: add}, seen: {reducer: append}}\n"
	"steps:\n"
	"  - {name: a, tool: put, join: any, entry: true, next: [{to: b, when: n < 3}]}\n"
	"  - {name: b, tool: put, join: any, inputs: {all: '${state}', at: '${n}'}, "
	"next: [{to: a}]}\n";

Test(graph_state, survives_its_snapshot)
{
	rig_init(&rig, graph);
	rig_create(&rig, "{}");
	rig_finish(&rig, "a", "{\"n\": 1, \"seen\": \"x\", \"other\": 1}");
	cr_expect_str_eq(rig_value(&rig, &rig_step(&rig, "b")->inputs),
			 "{\"all\":{\"messages\":[{\"role\":\"tool\",\"content\":\"{\\\"n\\\":1,"
			 "\\\"seen\\\":\\\"x\\\",\\\"other\\\":1}\"}],\"next_action\":null,"
			 "\"current_agent\":\"\",\"routing_key\":null,\"metadata\":{},\"n\":1,"
			 "\"seen\":[\"x\"]},\"at\":1}");
	rig_finish(&rig, "b", "{\"n\": 1, \"seen\": [\"y\", \"z\"]}");
	rig_finish(&rig, "a#2", "{\"n\": 1}");
	cr_expect_eq(rig.run->state, RUN_SUCCEEDED);
	rig_done(&rig);
}

Test(graph_state, a_failed_step_leaves_it_as_it_was)
{
	rig_init(&rig, graph);
	rig_create(&rig, "{}");
	rig_finish(&rig, "a", "{\"n\": \"many\"}");
	cr_expect_str_eq(rig_state(&rig, "a"), "failed");
	cr_expect_eq(rig.run->graph_state.kind, VALUE_ABSENT);
	rig_done(&rig);
}
