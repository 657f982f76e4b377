/* effect/effect_turn.c -- an agent's turn: its driver is asked once turn.requested is committed.
 *
 * A turn goes: load what the request is made of (effect/turn_request.h, effect/attachments.h), start the
 * driver; its reply is a command.  The request follows from what was recorded, so every attempt sends the same bytes.  Asking twice
 * costs money and has no other effect, so a turn that is found open after a crash is recorded as
 * restarted (tool.restarted) and asked again, unless its run is being cancelled or its time is over.
 */
#include "effect/effect.h"
#include "effect/attachments.h"
#include "effect/turn_request.h"

#include <stdlib.h>

#include "active/live_reply.h"
#include "active/value_fetch.h"
#include "contract/run_graph_types.h"
#include "contract/run_turn_types.h"
#include "engine/run.h"
#include "llm/llm.h"
#include "llm/llm_sample.h"
#include "llm/price.h"
#include "os/failpoint.h"
#include "tool/tool_context.h"

enum { RETRY_US = 20000 };

/* A turn under way, found by its slot. */
struct asking {
	struct arena arena; /* first: effects_free() frees it */
	struct executor *executor;
	uint64_t id, active;
	struct uuid run, effect;
	struct str step, agent, model, provider;
	const struct llm_driver *driver; /* NULL: this program has none of that name */
	struct str driver_name;
	bool has_tools;
	bool simulated;                 /* no driver is asked */
	struct str simulated_route;     /* the routing key that it then replies with; "" = none */
	struct turn_source *source;     /* a copy: the run's state may be missing for a while */
	struct attachments attachments; /* pictures and recordings, once they are read */
	int64_t attempt;
	uint64_t running; /* the driver's own id; 0 = not started */
	uint64_t reply;   /* of live_reply.h; 0 = not started */
};

/* ---- making and ending --------------------------------------------------------------- */

/* The keys take turns, so that a simulated graph comes to its end. */
static struct str simulated_route(const struct run_graph_node *row, struct str path)
{
	size_t at = path.size;
	int64_t round = 1;
	if (!has(row, routes) || row->routes.count == 0)
		return S("");
	while (at > 0 && path.at[at - 1] != '#' && path.at[at - 1] != '/')
		at--;
	if (at > 0 && path.at[at - 1] == '#' && !str_to_int(str_skip(path, at), &round))
		round = 1;
	struct str key = row->routes.at[(size_t)(round - 1) % row->routes.count];
	return str_equal(key, S("*")) ? S("other") : key;
}

static struct asking *asking_new(struct active_run *active, const struct activation *activation)
{
	struct asking *asking = calloc(1, sizeof(*asking));
	require(asking != NULL);
	const struct run_graph_node *row = run_node(active->run, activation)->row;
	const struct run_graph_agent *agent = row->agent;
	asking->executor = active->executor;
	asking->active = active->id;
	asking->run = active->run_id;
	asking->effect = activation->effect;
	asking->step = str_copy(&asking->arena, activation->path);
	asking->agent = str_copy(&asking->arena, agent->name);
	asking->model = str_copy(&asking->arena, agent->model);
	asking->driver_name = str_copy(&asking->arena, agent->driver);
	asking->provider =
		str_copy(&asking->arena, price_provider(has(agent, options) ? agent->options : NULL,
							agent->driver));
	asking->driver = llm_find(executor_config(active->executor)->drivers, agent->driver);
	asking->source = turn_source_new(active->run, activation, &asking->arena);
	asking->has_tools = has(agent, tools) && agent->tools.count > 0;
	asking->attempt = activation->attempt;
	asking->simulated = effect_is_simulated(active) && !str_equal(agent->driver, S("script"));
	asking->simulated_route = str_copy(&asking->arena, simulated_route(row, activation->path));
	asking->id = slots_add(&effect_room(active->executor)->under_way, asking);
	map_put(&effect_room(active->executor)->turns, uuid_str(&asking->effect), asking);
	active_run_pin(active);
	effect_room(active->executor)->base.open_turns++;
	return asking;
}

/* Takes the turn off the books.  The caller sends what follows to the run. */
static struct active_run *asking_end(struct asking *asking)
{
	struct executor *executor = asking->executor;
	struct active_run *active = active_run_by_id(executor, asking->active);
	require(active != NULL);
	slots_remove(&effect_room(executor)->under_way, asking->id);
	map_remove(&effect_room(executor)->turns, uuid_str(&asking->effect));
	effect_room(executor)->base.open_turns--;
	active_run_unpin(active);
	return active;
}

static void asking_free(struct asking *asking)
{
	executor_discard(asking->executor, &asking->arena);
	free(asking);
}

/* ---- ending -------------------------------------------------------------------------- */

static void close_turn(struct asking *asking, const struct json *output,
		       const struct run_turn_usage *usage, int64_t retry_after_us,
		       const struct error *error)
{
	enum run_outcome outcome = error == NULL                    ? RUN_OUTCOME_OK
				   : error->code == ERROR_CANCELLED ? RUN_OUTCOME_CANCELLED
								    : RUN_OUTCOME_FAILED;
	struct active_run *active = asking_end(asking);
	struct pending_command *pending =
		effect_close_command(asking->step, &asking->effect, outcome, output, error);
	if (usage != NULL)
		pending->command.usage =
			price_usage(executor_config(active->executor)->models->prices,
				    asking->provider, asking->model, usage, &pending->arena);
	pending->command.retry_after_us = retry_after_us;
	pending->live_reply = asking->reply;
	asking_free(asking);
	active_run_command(active, pending);
}

static void turn_ended(void *context, uint64_t argument, const struct llm_result *result)
{
	struct executor *executor = context;
	struct asking *asking = slots_get(&effect_room(executor)->under_way, argument);
	if (asking == NULL)
		return;
	FAILPOINT("turn.ended");
	bool good = result->error.code == ERROR_NONE;
	close_turn(asking, good ? llm_output(result, asking->has_tools, &asking->arena) : NULL,
		   result->usage, result->retry_after_us, good ? NULL : &result->error);
}

static void piece_arrived(void *context, uint64_t argument, enum llm_part part, struct str delta)
{
	struct executor *executor = context;
	const struct asking *asking = slots_get(&effect_room(executor)->under_way, argument);
	if (asking != NULL)
		live_reply_add(executor, asking->reply, part, delta);
}

static void cancel_turn(struct asking *asking)
{
	struct error error;
	fail(&error, ERROR_CANCELLED, "it was told to stop");
	close_turn(asking, NULL, NULL, 0, &error);
}

/* ---- asking -------------------------------------------------------------------------- */

static void ask(struct asking *asking);

static void attachments_done(struct executor_read *read)
{
	struct attachments_read *r = (struct attachments_read *)read;
	struct asking *asking = slots_get(&effect_room(read->executor)->under_way, r->asking);
	if (asking == NULL || r->error.code != ERROR_NONE) {
		struct error error = r->error;
		error.code = ERROR_INVALID; /* asking again does not help */
		executor_discard(read->executor, &read->arena);
		free(r);
		if (asking != NULL)
			close_turn(asking, NULL, NULL, 0, &error);
		return;
	}
	arena_join(&asking->arena, &read->arena);
	asking->attachments = r->attachments;
	free(r);
	ask(asking);
}

/* Returns true when the contents of attachments must be read first; the turn then begins again. */
static bool read_attachments(struct asking *asking, const struct run_turn *turn,
			     struct arena *arena)
{
	const struct executor_settings *settings = executor_config(asking->executor);
	struct attachments wanted = attachments_of(turn, arena);
	if (asking->attachments.count > 0 || wanted.count == 0)
		return false;
	attachments_read(asking->executor, tool_context_artifacts(settings->host.tool_context),
			 &wanted, asking->id, attachments_done);
	return true;
}

static void reply_simulated(struct asking *asking, const struct run_turn *turn, struct arena *arena)
{
	const struct json *schema = has(turn, schema) ? turn->schema : NULL;
	struct llm_result result = { .text = schema == NULL && asking->simulated_route.size > 0
						     ? asking->simulated_route
						     : llm_sample(schema, arena),
				     .stop = RUN_TURN_STOP_END };
	close_turn(asking, llm_output(&result, asking->has_tools, arena), NULL, 0, NULL);
}

static bool start_turn(struct asking *asking, struct active_run *active, struct error *error)
{
	struct executor *executor = asking->executor;
	AUTO(arena) arena = { 0 };
	if (asking->driver == NULL && !asking->simulated)
		return fail(error, ERROR_NOT_FOUND, "this program has no driver " STR_FMT,
			    STR_ARG(asking->driver_name));
	struct engine_values values = active_run_values(active);
	const struct run_turn *turn = turn_request_build(asking->source, &values, &arena, error);
	if (turn == NULL)
		return false;
	if (asking->simulated) {
		reply_simulated(asking, turn, &arena);
		return true;
	}
	if (read_attachments(asking, turn, &arena))
		return true;
	turn = attachments_put(turn, &asking->attachments, &arena);
	const struct llm_call call = { .model = asking->model,
				       .turn = turn,
				       .run = asking->run,
				       .effect = asking->effect,
				       .step = asking->step,
				       .attempt = asking->attempt,
				       .done = turn_ended,
				       .piece = piece_arrived,
				       .context = executor,
				       .argument = asking->id };
	FAILPOINT("turn.before_start");
	if (!asking->driver->start(executor_config(executor)->models, &call, &asking->running,
				   error))
		return false;
	asking->reply =
		live_reply_open(executor, &(struct live_reply){ .run = asking->run,
								.effect = asking->effect,
								.step = asking->step,
								.agent = asking->agent,
								.attempt = asking->attempt });
	return true;
}

static void ask_again(void *context, uint64_t argument);

/* When all places are taken, the turn is tried again later. */
static void ask_with_values(struct asking *asking, struct active_run *active)
{
	struct error error;
	if (start_turn(asking, active, &error))
		return;
	if (error.code == ERROR_UNAVAILABLE)
		platform_timer_start(executor_config(asking->executor)->platform, RETRY_US,
				     ask_again, asking->executor, asking->id);
	else
		close_turn(asking, NULL, NULL, 0, &error);
}

static void request_fetched(struct executor *executor, uint64_t id, uint64_t argument,
			    const struct error *error)
{
	struct active_run *active = active_run_by_id(executor, id);
	struct asking *asking = slots_get(&effect_room(executor)->under_way, argument);
	require(active != NULL);
	if (asking == NULL)
		return; /* stopped before it began */
	if (error != NULL) {
		executor_fail(executor, error);
		return;
	}
	ask_with_values(asking, active);
}

static void ask(struct asking *asking)
{
	struct active_run *active = active_run_by_id(asking->executor, asking->active);
	require(active != NULL);
	/* The program stops and the turn has not begun: its request stays open. */
	if (executor_is_draining(asking->executor)) {
		asking_end(asking);
		asking_free(asking);
		active_run_settle(active);
		return;
	}
	struct decision wanted = { 0 };
	const struct hash *needs = turn_source_needs(asking->source, &wanted.need_count);
	wanted.needs = arena_copy(&asking->arena, needs, wanted.need_count * sizeof(*needs));
	if (wanted.need_count > 0)
		value_fetch(active, &wanted, request_fetched, asking->id);
	else
		ask_with_values(asking, active);
}

static void ask_again(void *context, uint64_t argument)
{
	struct executor *executor = context;
	struct asking *asking = slots_get(&effect_room(executor)->under_way, argument);
	if (asking != NULL)
		ask(asking);
}

static void begin(struct active_run *active, struct activation *activation)
{
	struct asking *asking = asking_new(active, activation);
	if (active_run_take_early_stop(active, &asking->effect))
		cancel_turn(asking);
	else
		ask(asking);
}

/* The answer is no longer needed. */
static bool is_unwanted(struct active_run *active, const struct activation *activation)
{
	return activation->stopping ||
	       (activation->due_at != 0 && executor_now(active->executor) >= activation->due_at);
}

static void resume(struct active_run *active, struct activation *activation)
{
	if (is_unwanted(active, activation))
		cancel_turn(asking_new(active, activation));
	else
		effect_restart(active, activation->path, &activation->effect);
}

/* A turn that is about to begin gets an early stop. */
static void stop(struct active_run *active, const struct uuid *effect)
{
	struct asking *asking = map_get(&effect_room(active->executor)->turns, uuid_str(effect));
	if (asking == NULL) {
		active_run_note_early_stop(active, effect);
		return;
	}
	struct error why;
	fail(&why, ERROR_CANCELLED, "it was told to stop");
	if (asking->running != 0)
		asking->driver->stop(executor_config(active->executor)->models, asking->running,
				     &why);
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
