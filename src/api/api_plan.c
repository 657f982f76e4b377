/* api/api_plan.c -- what a run would do: its steps in order, and what its models would cost.
 *
 * The estimate is a lower bound that a person can check: every agent takes one turn, its request is
 * as long as the texts of the definition (four bytes are about one token), and its reply has
 * LIMIT_PLAN_REPLY_TOKENS.  A price that is unknown is not counted as zero but named.
 */
#include <stdlib.h>

#include "active/workflow_list.h"
#include "api/read_job.h"
#include "api/workflow_check.h"
#include "base/limits.h"
#include "contract/run_graph_types.h"
#include "contract/run_turn_types.h"
#include "document/definition_registry.h"
#include "llm/price.h"
#include "views/layout.h"
#include "views/timeline.h"

enum { BYTES_PER_TOKEN = 4 };
static const double dollar = 1e12; /* in picodollars */

struct plan_read {
	struct api_read_job answer; /* first */
	struct str name, yaml;      /* yaml "" = of the registry */
	struct str prompts_folder;
	const struct json *inputs;
	struct problems problems;
};

/* ---- steps ------------------------------------------------------------------------- */

static bool is_repeating(const struct run_graph_node *node)
{
	return node->kind == RUN_NODE_MAP || node->kind == RUN_NODE_LOOP || has(node, until) ||
	       node->join == RUN_JOIN_ANY;
}

static bool repeats(const struct layout *layout, size_t box)
{
	for (; box != LAYOUT_ROOT; box = layout->boxes[box].within)
		if (is_repeating(layout->boxes[box].node))
			return true;
	return false;
}

/* The dependencies, as the ids of steps. */
static struct str_list dependencies(const struct layout *layout, const struct layout_box *box,
				    struct arena *arena)
{
	size_t count = box->node->depends_on.count;
	struct str *all = arena_array(arena, struct str, count);
	for (size_t i = 0; i < count; i++)
		all[i] = box->within == LAYOUT_ROOT
				 ? box->node->depends_on.at[i]
				 : str_format(arena, STR_FMT "/" STR_FMT,
					      STR_ARG(layout->boxes[box->within].path),
					      STR_ARG(box->node->depends_on.at[i]));
	return (struct str_list){ all, count };
}

static void add_price(struct runtime_plan_step *step, const struct run_graph_node *node,
		      const struct price_table *prices, struct arena *arena)
{
	const struct run_graph_agent *agent = node->agent;
	static const struct json nothing = { .kind = JSON_OBJECT };
	const struct json *options = has(agent, options) ? agent->options : &nothing;
	struct run_turn_usage *usage = run_turn_usage_new(arena);
	size_t bytes = agent->system.size + json_print(arena, node->inputs).size;
	int64_t reply = LIMIT_PLAN_REPLY_TOKENS, cost;
	for (size_t i = 0; has(agent, tools) && i < agent->tools.count; i++)
		bytes += agent->tools.at[i].text.size +
			 json_print(arena, agent->tools.at[i].parameters).size;
	if (has(agent, max_tokens) && agent->max_tokens < reply)
		reply = agent->max_tokens;
	SET(usage, input_tokens, (int64_t)(bytes / BYTES_PER_TOKEN) + 1);
	SET(usage, output_tokens, reply);
	SET(step, provider, price_provider(options, agent->driver));
	SET(step, model, agent->model);
	SET(step, input_tokens, usage->input_tokens);
	SET(step, output_tokens, reply);
	const struct price *price = price_find(prices, step->provider, agent->model);
	if (price != NULL && price_cost(price, usage, &cost))
		SET(step, cost_usd, (double)cost / dollar);
}

static struct runtime_plan_step step_of(const struct layout *layout, size_t number,
					const struct price_table *prices, struct arena *arena)
{
	const struct layout_box *box = &layout->boxes[number];
	const struct timeline_step as_step = { .node = box->node };
	struct runtime_plan_step step = { 0 };
	SET(&step, step_id, box->path);
	SET(&step, type, run_node_kind_name(box->node->kind));
	SET(&step, by, timeline_agent(&as_step));
	SET(&step, stage, box->layer + 1);
	SET(&step, depends_on, dependencies(layout, box, arena));
	if (has(box->node, when))
		SET(&step, when, box->node->when);
	SET(&step, class, run_effect_class_name(box->node->class));
	if (repeats(layout, number))
		SET(&step, repeats, true);
	if (has(box->node, agent))
		add_price(&step, box->node, prices, arena);
	return step;
}

/* ---- the plan ---------------------------------------------------------------------- */

/* The steps of a body by their stage, each container followed by its own; returns the new count. */
static size_t add_body(const struct layout *layout, size_t first, size_t count,
		       const struct price_table *prices, struct runtime_plan_step *steps,
		       size_t added, struct arena *arena)
{
	int64_t last = 0;
	for (size_t i = first; i < first + count; i++)
		last = layout->boxes[i].layer > last ? layout->boxes[i].layer : last;
	for (int64_t layer = 0; layer <= last; layer++)
		for (size_t i = first; i < first + count; i++) {
			const struct layout_box *box = &layout->boxes[i];
			if (box->layer != layer)
				continue;
			steps[added++] = step_of(layout, i, prices, arena);
			added = add_body(layout, box->body, box->body_count, prices, steps, added,
					 arena);
		}
	return added;
}

static void add_steps(struct runtime_plan *plan, const struct run_graph *graph,
		      const struct price_table *prices, struct arena *arena)
{
	struct layout layout;
	layout_compute(&layout, graph, arena);
	size_t root = 0, unpriced = 0, priced = 0;
	double sum = 0;
	while (root < layout.count && layout.boxes[root].within == LAYOUT_ROOT)
		root++;
	struct runtime_plan_step *steps =
		arena_array(arena, struct runtime_plan_step, layout.count);
	struct str *unknown = arena_array(arena, struct str, layout.count);
	size_t count = add_body(&layout, 0, root, prices, steps, 0, arena);
	for (size_t i = 0; i < count; i++) {
		if (has(&steps[i], cost_usd)) {
			sum += steps[i].cost_usd;
			priced++;
		} else if (has(&steps[i], model)) {
			unknown[unpriced++] = steps[i].step_id;
		}
	}
	SET(plan, steps, ((struct runtime_plan_step_list){ steps, count }));
	SET(plan, steps_left_out, (int64_t)layout.left_out);
	SET(plan, unpriced, ((struct str_list){ unknown, unpriced }));
	if (priced > 0)
		SET(plan, cost_usd, sum);
}

static void plan_work(struct executor_read *read, struct store_reader *reader)
{
	struct plan_read *r = (struct plan_read *)read;
	struct arena *arena = &read->arena;
	struct error *error = &r->answer.error;
	struct definition_found found;
	struct workflow_check check;
	if (r->yaml.size == 0) {
		if (!definition_registry_find(r->answer.api->settings.definitions, reader, r->name,
					      arena, &found, error))
			return;
		r->yaml = found.yaml;
	}
	workflow_check_start(&check, read->executor, reader, r->name, r->yaml, r->prompts_folder,
			     arena);
	r->problems = check.problems;
	if (!check.is_valid) {
		problems_fail(&check.problems, error);
		return;
	}
	r->problems = (struct problems){ .arena = arena };
	const struct json *inputs =
		executor_workflow_inputs(check.graph, r->inputs, arena, &r->problems, error);
	struct contract_source source = { .text = check.graph, .lenient = true };
	struct problems unread = { .arena = arena };
	if (inputs == NULL || !json_read(check.graph, arena, &source.json, error))
		return;
	const struct run_graph *graph = run_graph_parse(&source, arena, &unread);
	if (graph == NULL) {
		problems_fail(&unread, error);
		return;
	}
	struct runtime_plan *plan = runtime_plan_new(arena);
	SET(plan, workflow, graph->name);
	SET(plan, inputs, inputs);
	add_steps(plan, graph, r->answer.api->settings.prices, arena);
	r->answer.text = runtime_plan_text(plan, arena);
}

static void plan_done(struct executor_read *read)
{
	struct plan_read *r = (struct plan_read *)read;
	if (r->answer.error.code == ERROR_NONE) {
		api_read_job_end(&r->answer);
		return;
	}
	api_reply_error(r->answer.api, r->answer.exchange, &r->answer.error,
			r->problems.count > 0 ? &r->problems : NULL);
	executor_discard(read->executor, &read->arena);
	free(r);
}

void api_run_plan(struct api_call *call, const struct runtime_workflow_run_request *body)
{
	struct plan_read *r = api_read_job_new(call->api, call->exchange, sizeof(*r));
	struct arena *arena = &r->answer.read.arena;
	r->name = str_copy(arena, body->workflow);
	r->yaml = has(body, yaml_content) ? str_copy(arena, body->yaml_content) : S("");
	if (has(body, prompts_folder) && call->request->local)
		r->prompts_folder = str_copy(arena, body->prompts_folder);
	r->inputs = json_copy(arena, body->inputs);
	r->answer.read.work = plan_work;
	r->answer.read.done = plan_done;
	executor_read(call->api->settings.executor, &r->answer.read);
}
