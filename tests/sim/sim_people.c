/* sim/sim_people.c -- people: they answer questions, send signals, pause, resume and cancel runs,
 * repeat commands, send invalid ones, and remember the acknowledgments.
 *
 * A person sees only committed data.  An answer is determined by its question, and the data of a
 * signal by the run and the name of the signal, so both are the same in every world.  Every command
 * carries a unique word, by which it is found among the events.
 */
#include <stdio.h>

#include "active/executor_command.h"
#include "active/run_commands.h"
#include "contract/run_event_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_node_types.h"
#include "contract/run_open_types.h"
#include "contract/run_outcome_types.h"
#include "contract/run_question_types.h"
#include "engine/run.h"
#include "sim/sim.h"

enum { SALT_PERSON = 2, SALT_SLEEP = 3, SALT_SIGNAL = 4 };

/* The program is stopping or overloaded: the caller may repeat the request. */
bool sim_not_now(struct sim *sim, const struct error *error)
{
	bool leaves = error->code == ERROR_UNAVAILABLE && executor_is_draining(sim->executor);
	bool behind = error->code == ERROR_OVERLOADED;
	sim->counts.not_now += leaves || behind;
	return leaves || behind;
}

/* ---- answers ------------------------------------------------------------------------ */

static bool may_be_refused(const struct sim *sim, const struct sim_answer *answer,
			   enum error_code code)
{
	if (code == ERROR_STORAGE_FULL)
		return sim->mode == SIM_DISK_FULL;
	if (code == ERROR_FORBIDDEN || code == ERROR_USAGE)
		return answer->must_fail;
	return code == ERROR_CONFLICT || code == ERROR_NOT_FOUND;
}

static void answered(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct sim *sim = context;
	struct sim_answer *answer = &sim->answers[argument];
	sim_trace(sim, "answer %u: %s", (unsigned)argument,
		  reply->error == NULL ? "acknowledged" : reply->error->text);
	if (reply->error != NULL && sim_not_now(sim, reply->error))
		return;
	if (reply->error != NULL) {
		sim->counts.refused++;
		sim->counts.full_replies += reply->error->code == ERROR_STORAGE_FULL;
		if (!may_be_refused(sim, answer, reply->error->code))
			sim_fail(sim, "an answer was refused with an unexpected error: %s",
				 reply->error->text);
		return;
	}
	if (sim->fatal)
		sim_fail(sim, "an answer was acknowledged after the store had failed");
	if (answer->must_fail)
		sim_fail(sim, "a late, outdated or invalid answer was accepted");
	for (size_t i = 0; i < sim->answer_count; i++)
		if (sim->answers[i].acknowledged &&
		    uuid_equal(&sim->answers[i].request, &answer->request))
			sim_fail(sim, "two answers to one question were acknowledged");
	answer->acknowledged = true;
	sim->counts.answers++;
}

struct saying {
	struct uuid request;
	enum run_decision decision;
	const struct hash *revision;
	struct str by, value;
	bool must_fail;
};

static void send_answer(struct sim *sim, const struct saying *saying)
{
	if (sim->answer_count == SIM_ANSWERS) {
		sim_fail(sim, "questions are answered and stay open");
		return;
	}
	size_t number = sim->answer_count++;
	sim->answers[number] = (struct sim_answer){ .request = saying->request,
						    .decision = saying->decision,
						    .must_fail = saying->must_fail };
	uint64_t fate = sim_fate(&saying->request, SALT_PERSON);
	AUTO(arena) arena = { 0 };
	struct executor_answer spec = { .request = saying->request,
					.decision = saying->decision,
					.comment = fate / 7 % 3 == 0 ? S("I looked at it") : S(""),
					.by = saying->by,
					.value = sim_value(sim, saying->value, &arena),
					.revision = saying->revision };
	executor_answer(sim->executor, &spec, answered, sim, number);
}

/* The answer to a question. */
static struct saying say_to(const struct uuid *request, const struct run_open_question *item)
{
	static const enum run_decision settling[] = { RUN_DECISION_HAPPENED,
						      RUN_DECISION_NOT_HAPPENED,
						      RUN_DECISION_RETRY };
	uint64_t fate = sim_fate(request, SALT_PERSON);
	bool four_eyes = has(item, four_eyes) && item->four_eyes;
	struct saying saying = { .request = *request,
				 .decision = RUN_DECISION_APPROVE,
				 .by = four_eyes || fate / 21 % 2 == 0 ? S("grace") : S("ada") };
	if (item->kind == RUN_REQUEST_OUTCOME_UNKNOWN)
		saying.decision = settling[fate % COUNT(settling)];
	else if (fate % 7 == 0)
		saying.decision = RUN_DECISION_REJECT;
	else if (fate % 7 < 3)
		saying.decision = RUN_DECISION_MODIFY;
	if (saying.decision == RUN_DECISION_MODIFY ||
	    (saying.decision == RUN_DECISION_HAPPENED && fate / 3 % 2 == 0))
		saying.value = S("{\"n\":1,\"h\":\"as somebody says\"}");
	return saying;
}

/* An invalid answer: another revision, another kind of question, or a person who may not answer. */
static void answer_wrongly(struct sim *sim, struct saying saying,
			   const struct run_open_question *item)
{
	static struct hash other;
	other = hash_of(S("another revision"));
	bool settling = item->kind == RUN_REQUEST_OUTCOME_UNKNOWN;
	saying.must_fail = true;
	switch (sim_below(&sim->dice, 3)) {
	case 0:
		saying.decision = settling ? RUN_DECISION_APPROVE : RUN_DECISION_RETRY;
		break;
	case 1:
		if (has(item, four_eyes) && item->four_eyes) {
			saying.by = S("ada");
			break;
		}
		saying.revision = &other;
		break;
	default:
		saying.revision = &other;
		break;
	}
	send_answer(sim, &saying);
}

/* Some people ignore a question with a timeout until it has expired. */
static bool sleeps_over(const struct uuid *request, const struct run_open_question *item)
{
	return has(item, due_at) && sim_fate(request, SALT_SLEEP) % 3 != 0;
}

static bool answer_item(struct sim *sim, const struct store_effect *effect, struct arena *arena,
			bool must)
{
	const struct json *json;
	struct error error;
	struct problems problems = { .arena = arena };
	bool good = json_read(effect->body, arena, &json, &error);
	require(good);
	struct contract_source source = { .json = json, .text = effect->body };
	const struct run_open_question *item = run_open_question_parse(&source, arena, &problems);
	if (item == NULL) {
		sim_fail(sim, "the row of a question cannot be read");
		return true;
	}
	struct saying saying = say_to(&effect->id, item);
	bool calm = must || sim->mode == SIM_CALM;
	if (!must && sleeps_over(&effect->id, item))
		return false;
	if (!calm && sim_chance(&sim->dice, 15)) {
		answer_wrongly(sim, saying, item);
		return true;
	}
	if (sim_chance(&sim->dice, 50))
		saying.revision = &item->revision;
	send_answer(sim, &saying);
	saying.revision = NULL;
	if (!calm && sim_chance(&sim->dice, 20))
		send_answer(sim, &saying);
	return true;
}

bool sim_answer_one(struct sim *sim, bool must)
{
	AUTO(arena) arena = { 0 };
	struct store_effect_page page;
	struct error error;
	bool good = sim->reader->ops->list_effects(sim->reader, S("human"), NULL, 1000, &arena,
						   &page, &error);
	require(good);
	return page.count > 0 &&
	       answer_item(sim, &page.at[sim_below(&sim->dice, page.count)], &arena, must);
}

bool sim_answer_again(struct sim *sim)
{
	if (sim->answer_count == 0)
		return false;
	const struct sim_answer *answer = &sim->answers[sim_below(&sim->dice, sim->answer_count)];
	if (!answer->acknowledged)
		return false;
	struct saying saying = { .request = answer->request,
				 .decision = answer->decision == RUN_DECISION_APPROVE
						     ? RUN_DECISION_REJECT
						     : RUN_DECISION_APPROVE,
				 .by = S("grace"),
				 .must_fail = true };
	send_answer(sim, &saying);
	return true;
}

/* ---- commands ----------------------------------------------------------------------- */

static struct str by_of(const struct sim_told *told)
{
	return str_from_c(told->by);
}

/* The unique word of the command that caused an event; "" = no command did. */
static struct str said_by(const struct event *event, enum command_kind kind)
{
	if (kind == COMMAND_PAUSE && event->type == EVENT_RUN_PAUSED)
		return event->as.run_paused->by;
	if (kind == COMMAND_RESUME && event->type == EVENT_RUN_RESUMED)
		return event->as.run_resumed->by;
	if (kind == COMMAND_SIGNAL && event->type == EVENT_RUN_SIGNALLED)
		return event->as.run_signalled->by;
	if (kind == COMMAND_CANCEL && event->type == EVENT_RUN_CANCELLING)
		return event->as.run_cancelling->by;
	if (kind == COMMAND_RETRY && event->type == EVENT_RUN_RETRIED)
		return event->as.run_retried->by;
	return S("");
}

static size_t count_told(const struct sim *sim, const struct sim_told *told)
{
	size_t recorded = 0;
	for (const struct sim_recorded *at = sim_first(sim, &told->run); at != NULL;
	     at = sim_next(sim, at))
		recorded += str_equal(said_by(&at->event, told->kind), by_of(told));
	return recorded;
}

/* An acknowledged command is recorded exactly once, any other at most once.  Of several cancels of a
 * run, one is recorded, and a second one if it ends the finally steps that run because of the first;
 * both again after a retry. */
static void check_told(struct sim *sim, const struct sim_told *told)
{
	size_t recorded = count_told(sim, told), cancelled = 0, lives = 1;
	for (const struct sim_recorded *at = sim_first(sim, &told->run); at != NULL;
	     at = sim_next(sim, at)) {
		cancelled += at->event.type == EVENT_RUN_CANCELLING;
		lives += at->event.type == EVENT_RUN_RETRIED;
	}
	if (recorded > 1)
		sim_fail(sim, "a command is recorded twice");
	if (told->acknowledged &&
	    (told->kind == COMMAND_CANCEL ? cancelled < 1 || cancelled > 2 * lives : recorded != 1))
		sim_fail(sim, "an acknowledged command is not recorded");
}

void sim_check_told(struct sim *sim)
{
	for (size_t i = 0; i < sim->told_count; i++)
		check_told(sim, &sim->told[i]);
}

static void told_so(void *context, uint64_t argument, const struct executor_reply *reply)
{
	struct sim *sim = context;
	struct sim_told *told = &sim->told[argument];
	sim_trace(sim, "command %u of kind %d: %s", (unsigned)argument, (int)told->kind,
		  reply->error == NULL ? "acknowledged" : reply->error->text);
	if (reply->error != NULL && told->kind != COMMAND_CANCEL && sim_not_now(sim, reply->error))
		return;
	if (reply->error != NULL) {
		bool full = reply->error->code == ERROR_STORAGE_FULL &&
			    sim->mode == SIM_DISK_FULL && told->kind != COMMAND_CANCEL;
		sim->counts.full_replies += full;
		bool missing = told->impatient && reply->error->code == ERROR_NOT_FOUND;
		if (!full && !missing && reply->error->code != ERROR_CONFLICT)
			sim_fail(sim, "a command was refused with an unexpected error: %s",
				 reply->error->text);
		/* Cancelling a run that is already being cancelled changes nothing, so it is not
		 * remembered. */
		if (told->acknowledged && told->key[0] != '\0' && count_told(sim, told) > 0)
			sim_fail(sim, "a command that was acknowledged is refused when repeated");
		return;
	}
	if (reply->repeated && told->forged) {
		told->forged = false;
		return;
	}
	/* A repetition is recognized from the disk. */
	if (sim->fatal && !reply->repeated)
		sim_fail(sim, "a command was acknowledged after the store had failed");
	if (reply->repeated && told->key[0] == '\0')
		sim_fail(sim, "a command without an idempotency key is reported as repeated");
	told->acknowledged = true;
	check_told(sim, told);
}

static struct str signal_data(const struct uuid *run, struct str name, struct arena *arena)
{
	uint64_t fate = sim_fate(run, SALT_SIGNAL + 16 * (unsigned)name.size);
	return str_format(arena, "{\"h\":\"%08x\",\"n\":%u,\"ok\":%s}", (unsigned)fate,
			  (unsigned)(fate % 4), fate / 4 % 2 == 0 ? "true" : "false");
}

static void send(struct sim *sim, size_t number)
{
	AUTO(arena) arena = { 0 };
	const struct sim_told *told = &sim->told[number];
	struct str key = str_from_c(told->key);
	struct executor_command spec = { .kind = told->kind,
					 .run = told->run,
					 .by = by_of(told),
					 .reason = S("because"),
					 .key = { key, hash_of(by_of(told)) } };
	if (told->kind == COMMAND_SIGNAL) {
		spec.name = str_from_c(told->name);
		spec.data = sim_value(sim, signal_data(&told->run, spec.name, &arena), &arena);
	}
	executor_command(sim->executor, &spec, told_so, sim, number);
}

static void tell(struct sim *sim, const struct uuid *run, enum command_kind kind, const char *name)
{
	if (sim->told_count == SIM_TOLD) {
		sim_fail(sim, "people send commands and nothing happens");
		return;
	}
	size_t number = sim->told_count++;
	struct sim_told *told = &sim->told[number];
	*told = (struct sim_told){ .kind = kind, .run = *run, .name = name, .at = sim->latest };
	snprintf(told->by, sizeof(told->by), "ada%zu", number);
	if (sim_chance(&sim->dice, 40))
		snprintf(told->key, sizeof(told->key), "key%zu", number);
	send(sim, number);
	if (told->key[0] != '\0' && sim->mode != SIM_CALM && sim_chance(&sim->dice, 30))
		send(sim, number);
}

/* Repeats a command with its idempotency key, in this life or a later one; keys expire after a day. */
bool sim_tell_again(struct sim *sim)
{
	if (sim->told_count == 0)
		return false;
	size_t number = (size_t)sim_below(&sim->dice, sim->told_count);
	const struct sim_told *told = &sim->told[number];
	if (told->key[0] == '\0' || sim->latest - told->at > INT64_C(20) * 3600 * 1000000)
		return false;
	send(sim, number);
	return true;
}

/* Somebody does not wait until his run is stored. */
bool sim_hurry_one(struct sim *sim)
{
	sim->impatience--;
	for (size_t i = 0; i < sim->plan.run_count; i++) {
		struct sim_run *run = &sim->plan.runs[i];
		if (!run->asked || sim_known(sim, &run->id) != SIZE_MAX ||
		    !sim_chance(&sim->dice, 60))
			continue;
		run->hurried = true;
		tell(sim, &run->id, COMMAND_PAUSE, "");
		sim->told[sim->told_count - 1].impatient = true;
		return true;
	}
	return false;
}

static bool find_state(struct sim *sim, const char *state, bool is, struct uuid *out)
{
	size_t first = sim->known_count == 0 ? 0 : (size_t)sim_below(&sim->dice, sim->known_count);
	for (size_t i = 0; i < sim->known_count; i++) {
		AUTO(arena) arena = { 0 };
		struct store_run row;
		const struct uuid *id = &sim->known[(first + i) % sim->known_count].id;
		bool found;
		struct error error;
		bool good =
			sim->reader->ops->read_run(sim->reader, id, &arena, &row, &found, &error);
		require(good);
		*out = *id;
		if (found && row.ended_at == 0 && str_equal(row.state, str_from_c(state)) == is)
			return true;
	}
	return false;
}

bool sim_resume_one(struct sim *sim)
{
	struct uuid run;
	if (!find_state(sim, "paused", true, &run))
		return false;
	tell(sim, &run, COMMAND_RESUME, "");
	return true;
}

bool sim_disturb_one(struct sim *sim)
{
	struct uuid run;
	switch (sim_below(&sim->dice, 10)) {
	case 0:
	case 1:
		return sim_resume_one(sim);
	case 2:
		/* A command to an ended run is a conflict. */
		if (sim->known_count == 0)
			return false;
		run = sim->known[sim_below(&sim->dice, sim->known_count)].id;
		tell(sim, &run, COMMAND_RESUME, "");
		return true;
	case 3:
	case 4:
		if (!find_state(sim, "ended", false, &run))
			return false;
		tell(sim, &run, COMMAND_SIGNAL, sim_chance(&sim->dice, 50) ? "go" : "news");
		return true;
	case 6:
		return sim_retry_one(sim);
	case 5:
		if (!sim_chance(&sim->dice, 25) || !find_state(sim, "ended", false, &run))
			return false;
		tell(sim, &run, COMMAND_CANCEL, "");
		return true;
	default:
		if (!sim_chance(&sim->dice, 50) || !find_state(sim, "paused", false, &run))
			return false;
		tell(sim, &run, COMMAND_PAUSE, "");
		return true;
	}
}

/* A planned run that has failed is executed again.  Three times in a world, or it might never end. */
bool sim_retry_one(struct sim *sim)
{
	size_t first = (size_t)sim_below(&sim->dice, sim->plan.run_count);
	for (size_t i = 0; i < sim->plan.run_count && sim->retries < 3; i++) {
		AUTO(arena) arena = { 0 };
		const struct uuid *id = &sim->plan.runs[(first + i) % sim->plan.run_count].id;
		struct store_run row;
		bool found;
		struct error error;
		bool good =
			sim->reader->ops->read_run(sim->reader, id, &arena, &row, &found, &error);
		require(good);
		if (!found || !str_equal(row.state, S("failed")))
			continue;
		sim->retries++;
		tell(sim, id, COMMAND_RETRY, "");
		return true;
	}
	return false;
}

/* News for a run that is at work. */
bool sim_talk_to_one(struct sim *sim)
{
	struct uuid run;
	sim->talks = false;
	if (!find_state(sim, "running", true, &run))
		return false;
	tell(sim, &run, COMMAND_SIGNAL, "news");
	return true;
}

/* A run is cancelled that waits for another one as its part. */
bool sim_call_off_one(struct sim *sim)
{
	AUTO(arena) arena = { 0 };
	struct store_effect_page page;
	struct error error;
	sim->calls_off = false;
	bool good = sim->reader->ops->list_effects(sim->reader, S("subrun"), NULL, 1000, &arena,
						   &page, &error);
	require(good);
	for (size_t i = 0; i < page.count; i++)
		if (sim_known(sim, &page.at[i].id) == SIZE_MAX) {
			tell(sim, &page.at[i].run, COMMAND_CANCEL, "");
			return true;
		}
	return false;
}

/* ---- signals that somebody waits for ---------------------------------------------------- */

static bool signal_run(struct sim *sim, const struct uuid *id)
{
	AUTO(arena) arena = { 0 };
	const struct run *run = sim_fold(sim, id, &arena);
	if (run == NULL || run_ended(run) || run->cancelling)
		return false;
	for (uint32_t i = 0; i < run->paths.room; i++) {
		const struct activation *step = run->paths.at[i];
		if (step == NULL || !step->open || run_node(run, step)->kind != RUN_NODE_WAIT)
			continue;
		const struct run_graph_node *row = run_node(run, step)->row;
		if (!has(row, signal))
			continue;
		tell(sim, id, COMMAND_SIGNAL, str_equal(row->signal, S("go")) ? "go" : "news");
		return true;
	}
	return false;
}

bool sim_signal_one(struct sim *sim)
{
	AUTO(arena) arena = { 0 };
	struct store_effect_page page;
	struct error error;
	bool good = sim->reader->ops->list_effects(sim->reader, S("timer"), NULL, 1000, &arena,
						   &page, &error);
	require(good);
	size_t first = page.count == 0 ? 0 : (size_t)sim_below(&sim->dice, page.count);
	for (size_t i = 0; i < page.count; i++)
		if (signal_run(sim, &page.at[(first + i) % page.count].run))
			return true;
	return false;
}
