/* simulation/simulated_people.c -- people who answer, and programs that send signals.
 *
 * They look at what is stored, as people look at the inbox, so they see nothing that is not committed.
 */
#include "active/executor_command.h"
#include "contract/event.h"
#include "contract/run_event_types.h"
#include "contract/run_open_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_question_types.h"
#include "contract/run_simulation_types.h"
#include "simulation/simulation_world.h"

static void answered(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct simulated_world *world = context;
	bool may_fail = argument != 0; /* the second time, or the question timed out meanwhile */
	if (reply->error != NULL && !may_fail && reply->error->code != ERROR_CONFLICT &&
	    reply->error->code != ERROR_NOT_FOUND && reply->error->code != ERROR_UNAVAILABLE)
		simulated_fail(world, "an answer was refused: %s", reply->error->text);
}

static const struct run_simulated_answer *scripted(const struct simulated_world *world,
						   struct str step)
{
	const struct run_simulation_script *script = world->spec->script;
	size_t at;
	for (size_t i = 0; script != NULL && has(script, people) && i < script->people.count; i++)
		if (str_find(step, script->people.at[i].key, &at))
			return &script->people.at[i].value;
	return NULL;
}

/* Whether the effect of a call whose outcome is unknown has happened: a person looks there. */
static bool has_happened(const struct simulated_world *world, struct str step,
			 const struct tool **out_tool)
{
	bool happened = false;
	for (size_t i = 0; i < world->call_count; i++) {
		if (!str_equal(world->calls[i].step, step))
			continue;
		happened = happened || world->calls[i].happened;
		*out_tool = world->calls[i].tool;
	}
	return happened;
}

static void send_answer(struct simulated_world *world, const struct store_effect *effect,
			const struct run_open_question *question)
{
	struct arena *arena = &world->arena;
	const struct run_simulated_answer *wanted = scripted(world, question->step);
	struct executor_answer answer = { .request = effect->id,
					  .decision = RUN_DECISION_APPROVE,
					  .by = S("simulated") };
	const struct tool *tool = NULL;
	if (question->kind == RUN_REQUEST_OUTCOME_UNKNOWN) {
		bool happened = has_happened(world, question->step, &tool);
		answer.decision = happened ? RUN_DECISION_HAPPENED : RUN_DECISION_RETRY;
		if (happened && tool != NULL)
			answer.value.json = simulated_output(world, tool, question->step, arena);
	} else if (wanted != NULL) {
		(void)run_decision_from(wanted->decision, &answer.decision);
		answer.comment = wanted->comment;
		answer.value.json = has(wanted, value) ? wanted->value : NULL;
	}
	executor_answer(world->executor, &answer, answered, world, 0);
	if (simulated_fault_at(world, SIMULATION_DUPLICATE, ++world->answers) != NULL)
		executor_answer(world->executor, &answer, answered, world, 1);
}

static bool answer_one(struct simulated_world *world)
{
	AUTO(arena) arena = { 0 };
	struct store_effect_page page;
	struct error error;
	const struct json *json;
	struct problems problems = { .arena = &arena };
	bool good = world->reader->ops->list_effects(world->reader, S("human"), NULL, 100, &arena,
						     &page, &error);
	require(good);
	if (page.count == 0)
		return false;
	const struct store_effect *effect = &page.at[simulated_roll(world, page.count)];
	good = json_read(effect->body, &arena, &json, &error);
	require(good);
	struct contract_source source = { .json = json, .text = effect->body };
	const struct run_open_question *question =
		run_open_question_parse(&source, &arena, &problems);
	require(question != NULL);
	send_answer(world, effect, question);
	return true;
}

/* ---- signals ----------------------------------------------------------------------------------- */

static const struct json *signal_data(const struct simulated_world *world, struct str name)
{
	const struct run_simulation_script *script = world->spec->script;
	for (size_t i = 0; script != NULL && has(script, signals) && i < script->signals.count; i++)
		if (str_equal(script->signals.at[i].key, name))
			return script->signals.at[i].value;
	return NULL;
}

/* The signal that an open wait of the run ends with; "" = none. */
static struct str awaited(struct simulated_world *world, const struct store_effect *effect,
			  struct arena *arena)
{
	struct store_event_page page;
	struct error error;
	bool good = world->reader->ops->read_events(world->reader, &effect->run, 0,
						    SIMULATED_EVENTS, arena, &page, &error);
	require(good);
	for (size_t i = page.count; i > 0; i--) {
		struct event event;
		const struct store_event_row *row = &page.at[i - 1];
		if (!str_equal(row->type, S("timer.requested")) ||
		    !event_read(row->type, row->at, row->body, arena, &event, &error))
			continue;
		const struct run_timer_requested *wait = event.as.run_timer_requested;
		if (uuid_equal(&wait->effect, &effect->id))
			return has(wait, signal) ? wait->signal : S("");
	}
	return S("");
}

static bool signal_one(struct simulated_world *world)
{
	AUTO(arena) arena = { 0 };
	struct store_effect_page page;
	struct error error;
	bool good = world->reader->ops->list_effects(world->reader, S("timer"), NULL, 100, &arena,
						     &page, &error);
	require(good);
	for (size_t i = 0; i < page.count; i++) {
		struct str name = awaited(world, &page.at[i], &arena);
		if (name.size == 0)
			continue;
		struct executor_command command = { .kind = COMMAND_SIGNAL,
						    .run = page.at[i].run,
						    .by = S("simulated"),
						    .name = name,
						    .data.json = signal_data(world, name) };
		executor_command(world->executor, &command, answered, world, 1);
		return true;
	}
	return false;
}

bool simulated_people_act(struct simulated_world *world)
{
	return answer_one(world) || signal_one(world);
}
