/* runtime/effect_turn.c -- an agent takes a turn: its driver is asked behind turn.requested.
 *
 * A turn goes: request loaded -> driver started -> its reply is a command.  The request is the one
 * that was recorded, never made anew, so every attempt asks with the same bytes.  Asking twice
 * costs money and nothing else: found open after a crash it is recorded as begun once more
 * (tool.restarted) and asked again, unless its run is called off or its time is over.
 */
#include <stdlib.h>

#include "os/point.h"
#include "runtime/inside.h"

enum { RETRY_US = 20000 };

/* A turn under way, found by its id. */
struct asking {
	struct arena arena; /* first, as in every effect under way */
	struct runtime *runtime;
	uint64_t id, live;
	struct uuid run, effect;
	struct str step, model;
	const struct llm_driver *driver; /* NULL: this program has none of that name */
	struct str driver_name;
	struct value request; /* its own: the run's state may be gone for a while */
	int64_t attempt;
	uint64_t running; /* the driver's own name for it; 0 = it has not begun */
};

/* ---- coming and going ---------------------------------------------------------------- */

static struct asking *asking_new(struct live *live, const struct activation *activation)
{
	struct asking *asking = calloc(1, sizeof(*asking));
	require(asking != NULL);
	const struct run_graph_agent *agent = run_node(live->run, activation)->row->agent;
	asking->runtime = live->runtime;
	asking->live = live->id;
	asking->run = live->run_id;
	asking->effect = activation->effect;
	asking->step = str_copy(&asking->arena, activation->path);
	asking->model = str_copy(&asking->arena, agent->model);
	asking->driver_name = str_copy(&asking->arena, agent->driver);
	asking->driver = llm_find(live->runtime->settings.drivers, agent->driver);
	asking->request = activation->inputs;
	asking->request.text = str_copy(&asking->arena, activation->inputs.text);
	asking->attempt = activation->attempt;
	asking->id = slots_add(&live->runtime->effects, asking);
	map_put(&live->runtime->turns, uuid_str(&asking->effect), asking);
	live->holds++;
	live->runtime->open_turns++;
	return asking;
}

/* It is over, one way or another; what follows is the caller's. */
static struct live *asking_end(struct asking *asking)
{
	struct runtime *runtime = asking->runtime;
	struct live *live = slots_get(&runtime->lives, asking->live);
	require(live != NULL);
	slots_remove(&runtime->effects, asking->id);
	map_remove(&runtime->turns, uuid_str(&asking->effect));
	runtime->open_turns--;
	live->holds--;
	return live;
}

static void asking_free(struct asking *asking)
{
	arena_done(&asking->arena);
	free(asking);
}

/* ---- ending -------------------------------------------------------------------------- */

static void close_turn(struct asking *asking, const struct json *output,
		       const struct run_turn_usage *usage, const struct error *error)
{
	enum run_outcome outcome = error == NULL                    ? RUN_OUTCOME_OK
				   : error->code == ERROR_CANCELLED ? RUN_OUTCOME_CANCELLED
								    : RUN_OUTCOME_FAILED;
	struct live *live = asking_end(asking);
	struct item *item = effect_closing(asking->step, &asking->effect, outcome, output, error);
	if (usage != NULL) {
		struct error unread;
		bool good = json_read(run_turn_usage_text(usage, &item->arena), &item->arena,
				      &item->command.usage, &unread);
		require(good);
	}
	asking_free(asking);
	live_command(live, item);
}

static void turn_ended(void *context, uint64_t argument, const struct llm_result *result)
{
	struct runtime *runtime = context;
	struct asking *asking = slots_get(&runtime->effects, argument);
	if (asking == NULL)
		return;
	POINT("turn.ended");
	bool good = result->error.code == ERROR_NONE;
	close_turn(asking, good ? llm_output(result->text, &asking->arena) : NULL, result->usage,
		   good ? NULL : &result->error);
}

static void cancel_turn(struct asking *asking)
{
	struct error error;
	fail(&error, ERROR_CANCELLED, "it was told to stop");
	close_turn(asking, NULL, NULL, &error);
}

/* ---- asking -------------------------------------------------------------------------- */

static bool start_turn(struct asking *asking, const struct json *request, struct error *error)
{
	struct runtime *runtime = asking->runtime;
	if (asking->driver == NULL)
		return fail(error, ERROR_NOT_FOUND, "this program has no driver " STR_FMT,
			    STR_ARG(asking->driver_name));
	struct problems problems = { .arena = &asking->arena };
	struct contract_source source = { .json = request, .lenient = true };
	const struct run_turn *turn = run_turn_parse(&source, &asking->arena, &problems);
	if (turn == NULL)
		return problems_fail(&problems, error);
	const struct llm_call call = { .model = asking->model,
				       .turn = turn,
				       .run = asking->run,
				       .effect = asking->effect,
				       .step = asking->step,
				       .attempt = asking->attempt,
				       .done = turn_ended,
				       .context = runtime,
				       .argument = asking->id };
	POINT("turn.before_start");
	return asking->driver->start(runtime->settings.models, &call, &asking->running, error);
}

static void ask_again(void *context, uint64_t argument);

/* With every place taken the turn waits. */
static void ask_with_request(struct asking *asking, const struct json *request)
{
	struct error error;
	if (start_turn(asking, request, &error))
		return;
	if (error.code == ERROR_UNAVAILABLE)
		system_timer_start(asking->runtime->settings.system, RETRY_US, ask_again,
				   asking->runtime, asking->id);
	else
		close_turn(asking, NULL, NULL, &error);
}

static void request_fetched(struct runtime *runtime, uint64_t id, uint64_t argument,
			    const struct error *error)
{
	struct live *live = slots_get(&runtime->lives, id);
	struct asking *asking = slots_get(&runtime->effects, argument);
	require(live != NULL);
	if (asking == NULL)
		return; /* told to stop before it began */
	if (error != NULL) {
		runtime_fail(runtime, error);
		return;
	}
	struct engine_values values = live_values(live);
	ask_with_request(asking, values.look(values.context, &asking->request.hash));
}

static void ask(struct asking *asking)
{
	struct live *live = slots_get(&asking->runtime->lives, asking->live);
	require(live != NULL);
	/* It has not begun and the program leaves: its request stays open. */
	if (asking->runtime->draining) {
		asking_end(asking);
		asking_free(asking);
		live_settle(live);
		return;
	}
	const struct json *request =
		fetch_given(live, &asking->request, &asking->arena, request_fetched, asking->id);
	if (request != NULL)
		ask_with_request(asking, request);
}

static void ask_again(void *context, uint64_t argument)
{
	struct runtime *runtime = context;
	struct asking *asking = slots_get(&runtime->effects, argument);
	if (asking != NULL)
		ask(asking);
}

static void begin(struct live *live, struct activation *activation)
{
	struct asking *asking = asking_new(live, activation);
	if (live_take_missed_stop(live, &asking->effect))
		cancel_turn(asking);
	else
		ask(asking);
}

/* Nobody waits any more for what a crash left open. */
static bool is_unwanted(struct live *live, const struct activation *activation)
{
	return live->run->cancelling ||
	       (activation->due_at != 0 && runtime_now(live->runtime) >= activation->due_at);
}

static void resume(struct live *live, struct activation *activation)
{
	if (is_unwanted(live, activation))
		cancel_turn(asking_new(live, activation));
	else
		effect_restart(live, activation->path, &activation->effect);
}

/* What is about to begin is told so when it does. */
static void stop(struct live *live, const struct uuid *effect)
{
	struct asking *asking = map_get(&live->runtime->turns, uuid_str(effect));
	if (asking == NULL) {
		live_miss_stop(live, effect);
		return;
	}
	struct error why;
	fail(&why, ERROR_CANCELLED, "it was told to stop");
	if (asking->running != 0)
		asking->driver->stop(live->runtime->settings.models, asking->running, &why);
	else
		cancel_turn(asking);
}

const struct effect_kind effect_turn = {
	.name = "turn",
	.node = RUN_NODE_AGENT,
	.begin = begin,
	.resume = resume,
	.stop = stop,
};
