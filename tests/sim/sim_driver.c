/* sim/sim_driver.c -- the callers: they start runs, answer questions, ask twice, answer wrongly,
 * and remember what they were told.
 *
 * A caller sees what is committed and nothing else.  What a person decides is fixed by the request,
 * so that it is the same in every world.
 */
#include "sim/sim.h"

enum { SALT_PERSON = 2, ASK_AGAIN = 1 << 8 };

static bool run_row(struct sim *sim, const struct uuid *id, struct arena *arena,
		    struct store_run *out)
{
	bool found;
	struct error error;
	bool good = sim->reader->ops->read_run(sim->reader, id, arena, out, &found, &error);
	require(good);
	return found;
}

static bool run_is_stored(struct sim *sim, const struct uuid *id)
{
	AUTO(arena) arena = { 0 };
	struct store_run row;
	return run_row(sim, id, &arena, &row);
}

bool sim_all_ended(struct sim *sim)
{
	AUTO(arena) arena = { 0 };
	for (size_t i = 0; i < sim->plan.run_count; i++) {
		struct store_run row;
		if (!run_row(sim, &sim->plan.runs[i].id, &arena, &row) || row.ended_at == 0)
			return false;
	}
	return true;
}

/* The program leaves, or the disk is behind: whoever asked may ask again. */
static bool sim_not_now(struct sim *sim, const struct error *error)
{
	bool leaves = error->code == ERROR_UNAVAILABLE && runtime_draining(sim->runtime);
	bool behind = error->code == ERROR_OVERLOADED;
	sim->counts.not_now += leaves || behind;
	return leaves || behind;
}

/* ---- starting ----------------------------------------------------------------------- */

static void started(void *context, uint64_t argument, const struct runtime_reply *reply)
{
	struct sim *sim = context;
	struct sim_run *run = &sim->plan.runs[argument % ASK_AGAIN];
	bool again = argument >= ASK_AGAIN;
	sim_trace(sim, "start of run %u: %s", (unsigned)(argument % ASK_AGAIN),
		  reply->error == NULL ? "acknowledged" : reply->error->text);
	if (reply->error != NULL && reply->error->code == ERROR_STORAGE_FULL &&
	    sim->mode == SIM_DISK_FULL) {
		sim->counts.full_replies++;
		run->asked = again && run->asked;
		if (again)
			sim_fail(sim, "a run that is stored was created again");
		return;
	}
	if (reply->error != NULL && sim_not_now(sim, reply->error)) {
		run->asked = again && run->asked;
		return;
	}
	if (reply->error != NULL) {
		if (!again || reply->error->code != ERROR_CONFLICT)
			sim_fail(sim, "a start was refused: %s", reply->error->text);
		return;
	}
	if (sim->fatal)
		sim_fail(sim, "a start was acknowledged after the store had failed");
	if (again || run->acknowledged)
		sim_fail(sim, "one run was created twice");
	if (!run_is_stored(sim, &run->id))
		sim_fail(sim, "a run was acknowledged before it was stored");
	run->acknowledged = true;
}

static void start(struct sim *sim, size_t number, uint64_t flags)
{
	struct sim_run *run = &sim->plan.runs[number];
	struct runtime_start spec = { .workflow = sim_chance(&sim->dice, 50)
							  ? run->definition == 0 ? S("w0") : S("w1")
							  : S(""),
				      .yaml = sim->plan.yaml[run->definition],
				      .inputs = run->inputs,
				      .run = run->id };
	run->asked = true;
	runtime_start(sim->runtime, &spec, started, sim, number | flags);
}

static void refused(void *context, uint64_t argument, const struct runtime_reply *reply)
{
	struct sim *sim = context;
	(void)argument;
	if (reply->error != NULL && sim_not_now(sim, reply->error))
		return;
	if (reply->error == NULL || reply->error->code != ERROR_INVALID)
		sim_fail(sim, "a start without its inputs was not refused as invalid");
}

static void start_wrongly(struct sim *sim)
{
	struct runtime_start spec = { .yaml = sim->plan.yaml[0], .inputs = S("{\"other\":1}") };
	runtime_start(sim->runtime, &spec, refused, sim, 0);
}

/* ---- answering ---------------------------------------------------------------------- */

static void answered(void *context, uint64_t argument, const struct runtime_reply *reply)
{
	struct sim *sim = context;
	struct sim_answer *answer = &sim->answers[argument];
	sim_trace(sim, "answer %u: %s", (unsigned)argument,
		  reply->error == NULL ? "acknowledged" : reply->error->text);
	if (reply->error != NULL && sim_not_now(sim, reply->error))
		return;
	if (reply->error != NULL) {
		bool full = reply->error->code == ERROR_STORAGE_FULL;
		sim->counts.refused++;
		sim->counts.full_replies += full;
		if (full ? sim->mode != SIM_DISK_FULL : reply->error->code != ERROR_CONFLICT)
			sim_fail(sim, "an answer was refused oddly: %s", reply->error->text);
		return;
	}
	if (sim->fatal)
		sim_fail(sim, "an answer was acknowledged after the store had failed");
	if (answer->must_fail)
		sim_fail(sim, "a late or outdated answer was taken");
	for (size_t i = 0; i < sim->answer_count; i++)
		if (sim->answers[i].acknowledged &&
		    uuid_equal(&sim->answers[i].request, &answer->request))
			sim_fail(sim, "two answers to one question were acknowledged");
	answer->acknowledged = true;
	sim->counts.answers++;
}

static void send_answer(struct sim *sim, const struct uuid *request, enum run_decision decision,
			const struct hash *revision, bool must_fail)
{
	if (sim->answer_count == SIM_ANSWERS) {
		sim_fail(sim, "questions are answered and stay open");
		return;
	}
	size_t number = sim->answer_count++;
	sim->answers[number] = (struct sim_answer){ .request = *request,
						    .decision = decision,
						    .must_fail = must_fail };
	uint64_t fate = sim_fate(request, SALT_PERSON);
	struct runtime_answer spec = { .request = *request,
				       .decision = decision,
				       .comment = fate / 7 % 3 == 0 ? S("I looked at it") : S(""),
				       .by = fate / 21 % 2 == 0 ? S("ada") : S("grace"),
				       .revision = revision };
	runtime_answer(sim->runtime, &spec, answered, sim, number);
}

static enum run_decision decision_of(const struct uuid *request, enum run_request_kind kind)
{
	static const enum run_decision settling[] = { RUN_DECISION_HAPPENED,
						      RUN_DECISION_NOT_HAPPENED,
						      RUN_DECISION_RETRY };
	uint64_t fate = sim_fate(request, SALT_PERSON);
	if (kind == RUN_REQUEST_OUTCOME_UNKNOWN)
		return settling[fate % COUNT(settling)];
	return fate % 7 == 0 ? RUN_DECISION_REJECT : RUN_DECISION_APPROVE;
}

static void answer_item(struct sim *sim, const struct store_effect *effect, struct arena *arena,
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
		return;
	}
	enum run_decision decision = decision_of(&effect->id, item->kind);
	bool calm = must || sim->mode == SIM_CALM;
	if (!calm && sim_chance(&sim->dice, 15)) {
		struct hash other = hash_of(S("another revision"));
		send_answer(sim, &effect->id, decision, &other, true);
		return;
	}
	send_answer(sim, &effect->id, decision, sim_chance(&sim->dice, 50) ? &item->revision : NULL,
		    false);
	if (!calm && sim_chance(&sim->dice, 20))
		send_answer(sim, &effect->id, decision, NULL, false);
}

static bool answer_one(struct sim *sim, bool must)
{
	AUTO(arena) arena = { 0 };
	struct store_effect_page page;
	struct error error;
	bool good = sim->reader->ops->list_effects(sim->reader, S("human"), NULL, 1000, &arena,
						   &page, &error);
	require(good);
	if (page.count == 0)
		return false;
	answer_item(sim, &page.at[sim_below(&sim->dice, page.count)], &arena, must);
	return true;
}

static bool answer_again(struct sim *sim)
{
	if (sim->answer_count == 0)
		return false;
	const struct sim_answer *answer = &sim->answers[sim_below(&sim->dice, sim->answer_count)];
	if (!answer->acknowledged)
		return false;
	send_answer(sim, &answer->request,
		    answer->decision == RUN_DECISION_APPROVE ? RUN_DECISION_REJECT
							     : RUN_DECISION_APPROVE,
		    NULL, true);
	return true;
}

/* ---- housekeeping ------------------------------------------------------------------- */

enum { WHOLE = 1 };

static void compacted(void *context, uint64_t whole, const struct runtime_compacted *result)
{
	struct sim *sim = context;
	sim_trace(sim, "a pass: %s", result->error == NULL ? "done" : result->error->text);
	sim->tidying = false;
	if (result->error != NULL) {
		bool full = result->error->code == ERROR_STORAGE_FULL;
		if (!sim->fatal && !(full && sim->mode == SIM_DISK_FULL))
			sim_fail(sim, "a pass failed: %s", result->error->text);
		return;
	}
	sim->counts.passes++;
	sim->counts.compacted += (unsigned)result->compacted;
	sim->tidy = whole == WHOLE && sim_all_ended(sim);
}

/* Sometimes every run that has ended, sometimes those with more than a few events. */
static bool compact(struct sim *sim, bool whole)
{
	if (sim->tidying || sim->tidy)
		return false;
	struct runtime_compaction wanted = { .days = 0, .max_events = -1 };
	if (!whole && sim_chance(&sim->dice, 60)) {
		wanted.days = 1;
		wanted.max_events = 2 + (int64_t)sim_below(&sim->dice, 20);
	}
	wanted.counts_values = sim_chance(&sim->dice, 20);
	sim->tidying = true;
	runtime_compact(sim->runtime, &wanted, compacted, sim, whole ? WHOLE : 0);
	return true;
}

static void rebuilt(void *context, uint64_t argument, const struct runtime_rebuilt *result)
{
	struct sim *sim = context;
	(void)argument;
	if (result->error != NULL && !sim->fatal)
		sim_fail(sim, "a rebuild failed: %s", result->error->text);
	if (result->problem_count > 0)
		sim_fail(sim, "a rebuild found: " STR_FMT, STR_ARG(result->problems[0]));
	if (result->resumed > 0)
		sim_fail(sim, "a rebuild found a run that recovery had missed");
}

/* ---- one call ----------------------------------------------------------------------- */

static bool start_one(struct sim *sim)
{
	for (size_t i = 0; i < sim->plan.run_count; i++)
		if (!sim->plan.runs[i].asked && !run_is_stored(sim, &sim->plan.runs[i].id)) {
			start(sim, i, 0);
			return true;
		}
	return false;
}

static bool start_again(struct sim *sim)
{
	size_t number = (size_t)sim_below(&sim->dice, sim->plan.run_count);
	if (!run_is_stored(sim, &sim->plan.runs[number].id))
		return false;
	start(sim, number, ASK_AGAIN);
	return true;
}

bool sim_drive(struct sim *sim, bool must)
{
	if (sim->fatal)
		return false;
	if (must)
		return start_one(sim) || answer_one(sim, true) ||
		       (sim_all_ended(sim) && compact(sim, true));
	if (sim->recovered && sim_chance(&sim->dice, 2)) {
		runtime_rebuild(sim->runtime, rebuilt, sim, 0);
		return true;
	}
	if (sim_chance(&sim->dice, 6))
		return compact(sim, false);
	if (sim->mode == SIM_CALM)
		return sim_chance(&sim->dice, 50) ? start_one(sim) : answer_one(sim, false);
	switch (sim_below(&sim->dice, 12)) {
	case 0:
		return start_again(sim);
	case 1:
		return answer_again(sim);
	case 2:
		if (sim_chance(&sim->dice, 20)) {
			start_wrongly(sim);
			return true;
		}
		return false;
	case 3:
	case 4:
	case 5:
		return start_one(sim);
	}
	return answer_one(sim, false);
}
