/* active/projection.c -- rows that are derived from a run's state.
 *
 * They are made from the state and from nothing else, so that a row that is rebuilt is the same.
 */
#include "active/projection.h"

#include "active/effect_kind.h"
#include "contract/field_copy.h"
#include "contract/run_graph_types.h"
#include "contract/run_open_types.h"
#include "contract/run_question_types.h"
#include "contract/run_start_types.h"
#include "contract/run_store_types.h"
#include "engine/budget.h"
#include "engine/run.h"
#include "engine/usage.h"

static const struct run_value *value_row(const struct value *value, struct arena *arena)
{
	struct run_value *out = run_value_new(arena);
	if (value->kind == VALUE_STORED) {
		SET(out, sha256, value->hash);
		SET(out, size, value->size);
	} else if (value->kind == VALUE_INLINE) {
		const struct json *json;
		struct error error;
		bool good = json_read(value->text, arena, &json, &error);
		require(good);
		SET(out, json, json);
	}
	return out;
}

static struct str question_row(const struct run *run, const struct activation *step,
			       struct arena *arena)
{
	struct run_open_question *question = run_open_question_new(arena);
	SET(question, step, step->path);
	COPY_FIELDS(run_question, step->question.asked, run_open_question, question, NULL);
	SET(question, inputs, value_row(&step->inputs, arena));
	SET(question, asked_at, step->question.at);
	const struct run_graph_node *node = run_node(run, step)->row;
	if (step->question.level > 0 && step->question.level <= (int64_t)node->levels.count)
		SET(question, to, node->levels.at[step->question.level - 1].to);
	if (step->due_at > 0)
		SET(question, due_at, step->due_at);
	if (has(node, four_eyes) && node->four_eyes && !step->settling)
		SET(question, four_eyes, true);
	return run_open_question_text(question, arena);
}

static struct str effect_row(struct str step, int64_t since, struct arena *arena)
{
	struct run_open_effect *body = run_open_effect_new(arena);
	SET(body, step, step);
	if (since > 0)
		SET(body, since, since);
	return run_open_effect_text(body, arena);
}

/* Made from the state alone, so that a rebuilt row is the same. */
bool projection_open_effect(const struct executor *executor, const struct run *run,
			    const struct activation *step, struct arena *arena,
			    struct store_effect *out_row)
{
	*out_row = (struct store_effect){ .id = step->effect, .due_at = step->due_at };
	if (step->state == STEP_WAITING_HUMAN) {
		out_row->id = step->question.id;
		out_row->kind = S("human");
		out_row->body = question_row(run, step, arena);
		return true;
	}
	if (step->state == STEP_RETRYING)
		out_row->kind = S("retry");
	else if (step->state == STEP_RUNNING && step->open)
		out_row->kind =
			str_from_c(effect_kind_of(executor, run_node(run, step)->kind)->name);
	else
		return false;
	bool waits = run_node(run, step)->kind == RUN_NODE_WAIT;
	out_row->body = effect_row(step->path, waits ? step->started_at : 0, arena);
	return true;
}

/* The deadline of the whole run. */
struct store_effect projection_deadline(const struct run *run, struct arena *arena)
{
	return (struct store_effect){ .id = run->unwinding    ? projection_unwind_deadline_id(run)
					    : run->cancelling ? projection_subruns_deadline_id(run)
							      : projection_deadline_id(run),
				      .kind = S("deadline"),
				      .due_at = run->due_at,
				      .body = effect_row(S(""), 0, arena) };
}

bool projection_has_deadline(const struct run *run)
{
	return run->due_at > 0 && !run_ended(run);
}

/* The run's place in the admission queue. */
struct store_effect projection_admission(const struct run *run, struct arena *arena)
{
	struct run_open_place *place = run_open_place_new(arena);
	SET(place, step, S(""));
	SET(place, kind, projection_kind(run));
	if (run->start->key.size > 0)
		SET(place, key, run->start->key);
	SET(place, priority, run->start->priority);
	SET(place, queued_at, run->retried_at > 0 ? run->retried_at : run->created_at);
	return (struct store_effect){ .id = projection_admission_id(run),
				      .kind = S("queue"),
				      .body = run_open_place_text(place, arena) };
}

/* It is due at the end of the day, if it is for the budget of a day. */
struct store_effect projection_pause(const struct run *run, struct arena *arena)
{
	struct run_open_pause *pause = run_open_pause_new(arena);
	SET(pause, step, S(""));
	SET(pause, budget, run->pause.budget);
	SET(pause, amount, run->pause.amount);
	SET(pause, since, run->pause.at);
	return (struct store_effect){ .id = projection_pause_id(run),
				      .kind = S("budget"),
				      .due_at = run->pause.until,
				      .body = run_open_pause_text(pause, arena) };
}

struct uuid projection_pause_id(const struct run *run)
{
	return engine_effect_id(run, S(""), S("budget"), 1);
}

struct uuid projection_admission_id(const struct run *run)
{
	return engine_effect_id(run, S(""), S("queue"), 1);
}

struct str projection_kind(const struct run *run)
{
	return has(run->graph->rows, kind) ? run->graph->rows->kind : S("run");
}

struct uuid projection_deadline_id(const struct run *run)
{
	return engine_effect_id(run, S(""), S("deadline"), 1);
}

struct uuid projection_unwind_deadline_id(const struct run *run)
{
	return engine_effect_id(run, S(""), S("deadline"), 2);
}

struct uuid projection_subruns_deadline_id(const struct run *run)
{
	return engine_effect_id(run, S(""), S("deadline"), 3);
}

struct store_effect *projection_open_effects(const struct executor *executor, const struct run *run,
					     struct arena *arena, size_t *out_count)
{
	size_t count = 0;
	struct store_effect *rows =
		arena_array(arena, struct store_effect, (size_t)run->paths.count + 3);
	for (uint32_t i = 0; i < run->paths.room; i++)
		if (run->paths.at[i] != NULL)
			count += projection_open_effect(executor, run, run->paths.at[i], arena,
							&rows[count]);
	if (projection_has_deadline(run))
		rows[count++] = projection_deadline(run, arena);
	if (run->queued)
		rows[count++] = projection_admission(run, arena);
	if (run->pause.budget.size > 0)
		rows[count++] = projection_pause(run, arena);
	*out_count = count;
	return rows;
}

static struct str_list label_texts(const struct run_start *start, struct arena *arena)
{
	struct str *texts = arena_array(arena, struct str, start->labels.count);
	for (size_t i = 0; i < start->labels.count; i++)
		texts[i] = str_format(arena, STR_FMT "=" STR_FMT, STR_ARG(start->labels.at[i].key),
				      STR_ARG(start->labels.at[i].value));
	return (struct str_list){ texts, start->labels.count };
}

static struct str issues_text(const struct run *run, struct arena *arena)
{
	size_t count = run->issues.count;
	return count == 1 ? str_format(arena, "with issues: " STR_FMT, STR_ARG(run->issues.at[0]))
			  : str_format(arena, "with issues: " STR_FMT "; and %zu more",
				       STR_ARG(run->issues.at[0]), count - 1);
}

struct store_run projection_run_row(const struct run *run, struct arena *arena)
{
	struct run_summary *summary = run_summary_new(arena);
	SET(summary, steps_ended, run_steps_ended(run));
	SET(summary, steps, (int64_t)run->graph->step_count);
	SET(summary, steps_started, (int64_t)run->steps_started);
	if (run->fault.code.size > 0)
		SET(summary, error, run->fault.text);
	else if (run->issues.count > 0)
		SET(summary, error, issues_text(run, arena));
	COPY_FIELDS(run_start, run->start, run_summary, summary, NULL);
	return (struct store_run){ .id = run->id,
				   .name = run->graph->name,
				   .state = run->issues.count > 0
						    ? run_outcome_name(RUN_OUTCOME_WITH_ISSUES)
						    : run_state_row(run->state)->word,
				   .needs_recovery = run->busy > 0 || engine_could_go_on(run),
				   .created_at = run->created_at,
				   .updated_at = run->updated_at,
				   .ended_at = run->ended_at,
				   .seq = run->seq,
				   .floor = run->floor,
				   .summary = run_summary_text(summary, arena),
				   .labels = label_texts(run->start, arena) };
}

struct store_usages projection_usage(const struct run *run, int64_t after, struct arena *arena)
{
	const struct usages from = usage_since(run, after, arena);
	struct store_usage *rows = arena_array(arena, struct store_usage, from.count);
	for (size_t i = 0; i < from.count; i++)
		rows[i] = (struct store_usage){
			.day = from.at[i].day,
			.agent = str_copy(arena, from.at[i].agent),
			.provider = str_copy(arena, from.at[i].provider),
			.model = str_copy(arena, from.at[i].model),
			.turns = from.at[i].turns,
			.unpriced = from.at[i].unpriced,
			.input_tokens = from.at[i].input_tokens,
			.output_tokens = from.at[i].output_tokens,
			.cache_read_tokens = from.at[i].cache_read_tokens,
			.cache_creation_tokens = from.at[i].cache_creation_tokens,
			.cost = from.at[i].cost,
			.saved = from.at[i].saved,
		};
	return (struct store_usages){ rows, from.count };
}

static bool is_moved(struct str name, const struct budget_move *moves, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(moves[i].name, name))
			return true;
	return false;
}

struct store_budgets projection_budgets(const struct run *run, const struct budget_move *moves,
					size_t count, struct arena *arena)
{
	size_t most = run->usages == NULL ? 0 : run->usages->budget_count;
	struct store_budget *rows = arena_array(arena, struct store_budget, most);
	struct store_budgets out = { rows, 0 };
	for (size_t i = 0; i < most; i++) {
		const struct budget_total *total = &run->usages->budgets[i];
		if (moves == NULL || is_moved(total->name, moves, count))
			rows[out.count++] = (struct store_budget){
				.name = str_copy(arena, total->name),
				.spent = total->spent,
				.reserved = total->taken - total->released,
			};
	}
	return out;
}
