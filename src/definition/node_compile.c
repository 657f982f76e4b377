/* definition/node_compile.c -- compiles a step of the file into a node of the graph. */
#include "base/limits.h"
#include "contract/runtime_types.h"
#include "definition/compile_internal.h"
#include "definition/name_scope.h"

static int64_t microseconds(double seconds)
{
	return (int64_t)(seconds * 1e6);
}

/* The number of kinds that a step has; it must be 1. */
static int kinds_of(const struct run_definition_step *step)
{
	return has(step, tool) + has(step, agent) + has(step, human) + has(step, wait) +
	       has(step, condition) + has(step, workflow) + has(step, parallel) + has(step, map) +
	       has(step, loop) + has(step, verify) + has(step, gate) + has(step, try);
}

/* Whether the step is shorthand for a try. */
static bool is_caught(const struct run_definition_step *step)
{
	return (has(step, catch) || has(step, finally)) && !has(step, try);
}

static void check_kind(const struct body *body, size_t number)
{
	const struct run_definition_step *step = &body->steps.at[number];
	int kinds = kinds_of(step);
	if (kinds != 1 && !(kinds == 0 && body->compiler->kinds_unknown))
		definition_step_problem(
			body, number, S("name"),
			"step " STR_FMT
			" must have exactly one of tool, agent, human, wait, condition, "
			"workflow, parallel, map, loop, verify, gate and try",
			STR_ARG(step->name));
	/* A step with catch or finally is checked inside its try. */
	if (has(step, tool) && !is_caught(step) &&
	    definition_find_tool(body->compiler, step->tool) == NULL)
		definition_report_tool(body, number, step->tool);
}

/* ---- kinds of steps ------------------------------------------------------------------ */
/* The node being built; one function per kind sets the members of that kind. */
struct node_builder {
	struct body *body;
	size_t number;
	const struct run_definition_step *step;
	struct run_graph_node *node;
	struct reader reader;
};

static struct run_graph_node_list inner(struct node_builder *m,
					struct run_definition_step_list steps, struct str key,
					struct str item)
{
	struct body *outer = m->body;
	struct arena *arena = outer->compiler->arena;
	AUTO(body)
	body = { .compiler = outer->compiler,
		 .outer = outer,
		 .owner = m->number,
		 .steps = steps,
		 .item = item,
		 .nesting = outer->nesting + 1 };
	const struct json *container = json_member(json_item(outer->tree, m->number), key);
	body.tree = json_member(container, S("steps"));
	body.pointer = str_format(arena, STR_FMT "/" STR_FMT "/steps",
				  STR_ARG(definition_step_pointer(outer, m->number)), STR_ARG(key));
	if (body.nesting > LIMIT_BODY_NESTING) {
		definition_step_problem(outer, m->number, key, "steps are nested more than %d deep",
					LIMIT_BODY_NESTING);
		return (struct run_graph_node_list){ 0 };
	}
	struct run_graph_node_list nodes = definition_compile_body(&body);
	/* The condition of a loop reads the steps inside it. */
	if (has(m->step, loop) && nodes.count > 0) {
		const struct reader reader = { .body = &body, .inside = true, .has_output = true };
		size_t before = outer->compiler->problems->count;
		definition_read_expression(&reader, m->step->loop->until, S("name"));
		if (outer->compiler->problems->count > before)
			definition_step_problem(outer, m->number, S("loop"),
						"the until expression of the loop has an error");
	}
	/* So do the criteria of a step that is repeated. */
	if (has(m->step, verify) && has(m->step->verify, repeats) && nodes.count > 0) {
		const struct reader reader = { .body = &body, .inside = true, .has_output = true };
		definition_read_criteria(&reader, m->step->verify, S("name"));
	}
	return nodes;
}

static bool body_writes(struct run_graph_node_list nodes)
{
	for (size_t i = 0; i < nodes.count; i++) {
		const struct run_graph_node *node = &nodes.at[i];
		if ((node->kind == RUN_NODE_TOOL && node->class == RUN_CLASS_CONTAINED &&
		     !(has(node, read_only) && node->read_only)) ||
		    body_writes(node->body))
			return true;
	}
	return false;
}

/* The steps of a parallel step or a map.  What writes gets workspaces of its own, unless the
 * definition asks for one that is shared. */
static void make_branches(struct node_builder *m, struct run_graph_node_list nodes, bool serial)
{
	SET(m->node, body, nodes);
	if (!serial && body_writes(nodes))
		SET(m->node, own_trees, true);
}

static void make_tool(struct node_builder *m)
{
	const struct definition_tool *tool = definition_find_tool(m->body->compiler, m->step->tool);
	SET(m->node, kind, RUN_NODE_TOOL);
	SET(m->node, tool, m->step->tool);
	if (tool == NULL)
		return; /* check_kind() has reported it */
	SET(m->node, class, definition_call_class(m->body->compiler, tool, NULL));
	definition_check_inputs(m->body, m->number, tool);
	definition_check_types(m->body, m->number, tool);
	if (m->step->read_only && !str_equal(m->step->tool, S("shell")))
		definition_step_problem(m->body, m->number, S("read_only"),
					"read_only is allowed only for tool shell");
	else if (m->step->read_only && m->node->class == RUN_CLASS_CONTAINED)
		SET(m->node, read_only, true);
}

static void make_human(struct node_builder *m)
{
	const struct run_definition_human *human = m->step->human;
	struct arena *arena = m->body->compiler->arena;
	struct json *question = arena_new(arena, struct json);
	const struct json *place = json_member(
		json_member(json_item(m->body->tree, m->number), S("human")), S("question"));
	*question = (struct json){ .kind = JSON_STRING, .as.string = human->question };
	if (place != NULL) {
		question->line = place->line;
		question->column = place->column;
	}
	definition_read_template(&m->reader, question, S("human"));
	SET(m->node, kind, RUN_NODE_HUMAN);
	SET(m->node, question, human->question);
	if (has(human, kind))
		SET(m->node, ask, human->kind);
	if (has(human, timeout))
		SET(m->node, timeout_us, microseconds(human->timeout));
	if (human->four_eyes)
		SET(m->node, four_eyes, true);
	if (human->on_reject != RUN_REJECT_FAILS)
		SET(m->node, on_reject, human->on_reject);
	if (has(human, kind) &&
	    (human->kind == RUN_REQUEST_OUTCOME_UNKNOWN || human->kind == RUN_REQUEST_SANITIZATION))
		definition_step_problem(
			m->body, m->number, S("human"),
			"human: kind must be one of approval, feedback, escalation");
	if (human->escalate.count > 0 && !has(human, timeout))
		definition_step_problem(
			m->body, m->number, S("human"),
			"escalate needs a timeout, after which the request is escalated");
	struct run_graph_level *levels =
		arena_array(arena, struct run_graph_level, human->escalate.count);
	for (size_t i = 0; i < human->escalate.count; i++) {
		const struct run_definition_level *from = &human->escalate.at[i];
		levels[i] = *run_graph_level_new(arena);
		SET(&levels[i], to, from->to);
		if (has(from, timeout))
			SET(&levels[i], timeout_us, microseconds(from->timeout));
	}
	if (human->escalate.count > 0)
		SET(m->node, levels,
		    ((struct run_graph_level_list){ levels, human->escalate.count }));
}

static void make_wait(struct node_builder *m)
{
	const struct run_definition_wait *wait = m->step->wait;
	SET(m->node, kind, RUN_NODE_WAIT);
	if (has(wait, seconds) == has(wait, signal))
		definition_step_problem(m->body, m->number, S("wait"),
					"wait must have exactly one of seconds and signal");
	if (has(wait, timeout) && !has(wait, signal))
		definition_step_problem(m->body, m->number, S("wait"),
					"wait: timeout is allowed only with signal");
	if (has(wait, seconds))
		SET(m->node, wait_us, microseconds(wait->seconds));
	if (has(wait, signal))
		SET(m->node, signal, wait->signal);
	if (has(wait, timeout))
		SET(m->node, timeout_us, microseconds(wait->timeout));
}

/* In a session, what is tried again is a turn. */
static struct run_graph_node *retried_node(struct run_graph_node *node)
{
	return node->kind == RUN_NODE_SESSION && node->body.count > 0
		       ? definition_session_turn(node)
		       : node;
}

static void make_agent(struct node_builder *m)
{
	const struct run_graph_retry *retry;
	const struct run_graph_agent *agent = definition_find_agent(m->body, m->number, &retry);
	SET(m->node, kind, RUN_NODE_AGENT);
	definition_check_agent_inputs(m->body, m->number);
	definition_make_prompt(&m->reader, m->node);
	if (agent == NULL)
		return;
	agent = definition_adapt_agent(m->body, m->number, agent);
	agent = definition_make_system(&m->reader, agent);
	/* A timeout of the step itself is set later and overrides this one. */
	if (has(agent, timeout_us))
		SET(m->node, timeout_us, agent->timeout_us);
	if (has(agent, tools) || has(agent, schema) || has(agent, expects) ||
	    has(agent, required_files))
		definition_make_session(m->body, m->number, m->node, agent);
	else
		SET(m->node, agent, agent);
	/* A policy of the step itself is set later and overrides this one. */
	if (retry != NULL)
		SET(retried_node(m->node), retry, retry);
}

static void make_workflow(struct node_builder *m)
{
	SET(m->node, kind, RUN_NODE_SUBRUN);
	const struct run_graph *graph =
		definition_compile_other(m->body, m->number, m->step->workflow);
	if (graph != NULL)
		SET(m->node, graph, graph);
}

static void make_map(struct node_builder *m)
{
	const struct run_definition_each *map = m->step->map;
	SET(m->node, kind, RUN_NODE_MAP);
	SET(m->node, over, map->over);
	SET(m->node, item, map->item);
	SET(m->node, at_once, has(map, at_once) ? map->at_once : LIMIT_MAP_AT_ONCE);
	definition_read_template(&m->reader, map->over, S("map"));
	make_branches(m, inner(m, map->steps, S("map"), map->item), map->serial);
}

/* The most rounds, which are written at `key`.  A string is a template, whose value the engine checks. */
static void make_max(struct node_builder *m, const struct json *max, struct str key,
		     const char *name)
{
	SET(m->node, max, max);
	definition_read_template(&m->reader, max, key);
	if (max->kind == JSON_STRING || (max->kind == JSON_INT && max->as.integer >= 1))
		return;
	AUTO(buf) text = buf_limited(LIMIT_QUOTE_BYTES);
	struct json_writer writer = { .out = &text };
	json_put_tree(&writer, max);
	definition_step_problem(m->body, m->number, key,
				"%s must be a whole number from 1 on, or ${…}, not " STR_FMT, name,
				STR_ARG(buf_str(&text)));
}

static void make_loop(struct node_builder *m)
{
	const struct run_definition_loop *loop = m->step->loop;
	SET(m->node, kind, RUN_NODE_LOOP);
	SET(m->node, until, loop->until);
	SET(m->node, on_limit, loop->on_limit);
	if (has(loop, max))
		make_max(m, loop->max, S("loop"), "loop: max");
	SET(m->node, body, inner(m, loop->steps, S("loop"), S("")));
}

static void make_verify(struct node_builder *m)
{
	const struct run_definition_verify *verify = m->step->verify;
	definition_make_verify(&m->reader, m->node);
	if (verify->steps.count > 0)
		SET(m->node, body, inner(m, verify->steps, S("verify"), S("")));
}

static void make_gate(struct node_builder *m)
{
	const struct run_definition_gate *gate = m->step->gate;
	SET(m->node, kind, RUN_NODE_GATE);
	SET(m->node, threshold, gate->threshold);
	if (gate->required.count > 0)
		SET(m->node, required, gate->required);
	SET(m->node, body, inner(m, gate->steps, S("gate"), S("")));
	for (size_t i = 0; i < gate->required.count; i++) {
		bool known = false;
		for (size_t s = 0; s < gate->steps.count; s++)
			known |= str_equal(gate->steps.at[s].name, gate->required.at[i]);
		if (!known)
			definition_step_problem(m->body, m->number, S("gate"),
						"gate: required names " STR_FMT
						", which is not a step of the gate",
						STR_ARG(gate->required.at[i]));
	}
}

/* ---- try ----------------------------------------------------------------------------- */
/* What is tried, the catch steps and the finally steps become one body.  A step with catch or finally is
 * shorthand for a try of the same name whose only step is the step itself, under its own name: conditions,
 * dependencies and edges belong to the try; what the step does, its retries and its rounds belong to the
 * step inside. */

/* The lists of a try in one: steps, their positions in the file, and the parts they belong to. */
struct joined_lists {
	struct arena *arena;
	struct run_definition_step *steps;
	struct json *items;
	struct str *pointers;
	enum run_section *sections;
	size_t count;
};

static void add_step(struct joined_lists *all, const struct run_definition_step *step,
		     const struct json *item, struct str pointer, enum run_section section)
{
	all->steps[all->count] = *step;
	if (item != NULL)
		all->items[all->count] = *item;
	all->pointers[all->count] = pointer;
	all->sections[all->count++] = section;
}

static void add_list(struct joined_lists *all, struct run_definition_step_list list,
		     const struct json *tree, struct str pointer, enum run_section section)
{
	for (size_t i = 0; i < list.count; i++)
		add_step(all, &list.at[i], json_item(tree, i),
			 str_format(all->arena, STR_FMT "/%zu", STR_ARG(pointer), i), section);
}

/* The step inside its try: everything that the try does not have. */
static struct run_definition_step inner_step(const struct run_definition_step *step)
{
	struct run_definition_step inner = *step;
	inner.is.catch = inner.is.finally = inner.is.when = inner.is.unless = ABSENT;
	inner.is.entry = inner.is.max_iterations = inner.is.milestone = ABSENT;
	inner.catch = inner.finally = (struct run_definition_step_list){ 0 };
	inner.depends_on = (struct str_list){ 0 };
	inner.next = (struct run_definition_edge_list){ 0 };
	inner.join = RUN_JOIN_ALL;
	inner.continue_on_error = false;
	return inner;
}

static void join_lists(struct joined_lists *all, const struct body *outer, size_t number)
{
	const struct run_definition_step *step = &outer->steps.at[number];
	const struct json *tree = json_item(outer->tree, number);
	struct str pointer = definition_step_pointer(outer, number);
	struct run_definition_step_list caught = step->catch, last = step->finally;
	if (has(step, try)) {
		tree = json_member(tree, S("try"));
		pointer = str_format(all->arena, STR_FMT "/try", STR_ARG(pointer));
		caught = step->try->catch;
		last = step->try->finally;
		add_list(all, step->try->steps, json_member(tree, S("steps")),
			 str_format(all->arena, STR_FMT "/steps", STR_ARG(pointer)),
			 RUN_SECTION_STEPS);
	} else {
		struct run_definition_step inner = inner_step(step);
		add_step(all, &inner, tree, pointer, RUN_SECTION_STEPS);
	}
	add_list(all, caught, json_member(tree, S("catch")),
		 str_format(all->arena, STR_FMT "/catch", STR_ARG(pointer)), RUN_SECTION_CATCH);
	add_list(all, last, json_member(tree, S("finally")),
		 str_format(all->arena, STR_FMT "/finally", STR_ARG(pointer)), RUN_SECTION_FINALLY);
}

static size_t count_steps(const struct run_definition_step *step)
{
	if (!has(step, try))
		return 1 + step->catch.count + step->finally.count;
	return step->try->steps.count + step->try->catch.count + step->try->finally.count;
}

static bool check_try(const struct body *outer, size_t number)
{
	const struct run_definition_step *step = &outer->steps.at[number];
	if (has(step, try) && (has(step, catch) || has(step, finally)))
		definition_step_problem(outer, number, has(step, catch) ? S("catch") : S("finally"),
					"write catch and finally inside try: "
					"try: {steps: [...], catch: [...], finally: [...]}");
	else if (has(step, try) && !has(step->try, catch) && !has(step->try, finally))
		definition_step_problem(outer, number, S("try"),
					"a try needs catch or finally, or both");
	else if (outer->nesting + 1 > LIMIT_BODY_NESTING)
		definition_step_problem(outer, number, S("name"),
					"steps are nested more than %d deep", LIMIT_BODY_NESTING);
	else
		return true;
	return false;
}

static struct run_graph_node_list compile_try(struct body *outer, size_t number)
{
	struct arena *arena = outer->compiler->arena;
	size_t count = count_steps(&outer->steps.at[number]);
	if (!check_try(outer, number))
		return (struct run_graph_node_list){ 0 };
	struct joined_lists all = { .arena = arena,
				    .steps = arena_array(arena, struct run_definition_step, count),
				    .items = arena_array(arena, struct json, count),
				    .pointers = arena_array(arena, struct str, count),
				    .sections = arena_array(arena, enum run_section, count) };
	join_lists(&all, outer, number);
	struct json *tree = arena_new(arena, struct json);
	*tree = (struct json){ .kind = JSON_LIST, .as.list = { all.items, all.count } };
	AUTO(body)
	body = { .compiler = outer->compiler,
		 .outer = outer,
		 .owner = number,
		 .steps = { all.steps, all.count },
		 .tree = tree,
		 .pointers = all.pointers,
		 .sections = all.sections,
		 .nesting = outer->nesting + 1 };
	return definition_compile_body(&body);
}

static void make_kind(struct node_builder *m)
{
	const struct run_definition_step *step = m->step;
	if (has(step, tool)) {
		make_tool(m);
	} else if (has(step, human)) {
		make_human(m);
	} else if (has(step, wait)) {
		make_wait(m);
	} else if (has(step, agent)) {
		make_agent(m);
	} else if (has(step, workflow)) {
		make_workflow(m);
	} else if (has(step, condition)) {
		SET(m->node, kind, RUN_NODE_CONDITION);
		SET(m->node, value, step->condition);
		definition_read_expression(&m->reader, step->condition, S("condition"));
	} else if (has(step, parallel)) {
		SET(m->node, kind, RUN_NODE_PARALLEL);
		make_branches(m, inner(m, step->parallel->steps, S("parallel"), S("")),
			      step->parallel->serial);
	} else if (has(step, map)) {
		make_map(m);
	} else if (has(step, loop)) {
		make_loop(m);
	} else if (has(step, verify)) {
		make_verify(m);
	} else if (has(step, try)) {
		SET(m->node, kind, RUN_NODE_TRY);
		SET(m->node, body, compile_try(m->body, m->number));
	} else {
		make_gate(m);
	}
}

/* ---- members of all kinds -------------------------------------------------------------- */
/* `unless` is compiled to a negated `when`. */
static void make_when(struct node_builder *m)
{
	const struct run_definition_step *step = m->step;
	if (has(step, when))
		definition_read_expression(&m->reader, step->when, S("when"));
	if (has(step, unless))
		definition_read_expression(&m->reader, step->unless, S("unless"));
	if (has(step, when) && has(step, unless))
		SET(m->node, when,
		    str_format(m->body->compiler->arena, "(" STR_FMT ") and not (" STR_FMT ")",
			       STR_ARG(step->when), STR_ARG(step->unless)));
	else if (has(step, unless))
		SET(m->node, when,
		    str_format(m->body->compiler->arena, "not (" STR_FMT ")",
			       STR_ARG(step->unless)));
	else if (has(step, when))
		SET(m->node, when, step->when);
}

static void make_rounds(struct node_builder *m)
{
	const struct run_definition_step *step = m->step;
	struct reader own = m->reader;
	own.own = own.has_output = true;
	if (has(step, loop_until) && (has(step, loop) || has(step, verify)))
		definition_step_problem(
			m->body, m->number, S("loop_until"),
			"loop_until is not allowed on loop and verify, which have rounds of their own");
	if (has(step, loop_until)) {
		SET(m->node, until, step->loop_until);
		SET(m->node, on_limit,
		    m->body->compiler->file->strict ? RUN_LIMIT_FAILS : RUN_LIMIT_CONTINUES);
		definition_read_expression(&own, step->loop_until, S("loop_until"));
	}
	if (has(step, loop_max) && !has(step, loop_until))
		definition_step_problem(m->body, m->number, S("loop_max"),
					"loop_max needs loop_until");
	if (has(step, loop_max))
		make_max(m, step->loop_max, S("loop_max"), "loop_max");
}

/* The message for a timeout on a step that cannot have one. */
static const char *where_timeout_belongs(const struct run_definition_step *step)
{
	if (has(step, wait) && has(step->wait, signal))
		return "a wait has a timeout of its own: write it inside, wait: {signal: NAME, "
		       "timeout: SECONDS}";
	if (has(step, wait))
		return "a wait for seconds ends by itself: leave the timeout out; a wait for a "
		       "signal has its own, wait: {signal: NAME, timeout: SECONDS}";
	if (has(step, human))
		return "a question has a timeout of its own: write it inside, human: {question: "
		       "TEXT, timeout: SECONDS}";
	return "only a tool, an agent and a workflow can have a timeout; set it on the steps inside";
}

static void make_retry(struct node_builder *m)
{
	const struct run_definition_step *step = m->step;
	bool effect = has(step, tool) || has(step, agent) || has(step, workflow);
	if (has(step, timeout) && !effect)
		definition_step_problem(m->body, m->number, S("timeout"), "%s",
					where_timeout_belongs(step));
	else if (has(step, timeout))
		SET(m->node, timeout_us, microseconds(step->timeout));
	if (!has(step, retry))
		return;
	if (!effect)
		definition_step_problem(m->body, m->number, S("retry"),
					"only a tool, an agent and a workflow can have retry");
	SET(retried_node(m->node), retry, definition_retry(m->body, m->number, step->retry));
}

static void make_edges(struct node_builder *m)
{
	const struct run_definition_step *step = m->step;
	struct arena *arena = m->body->compiler->arena;
	struct reader own = m->reader;
	own.own = own.has_output = true;
	struct run_graph_edge *edges = arena_array(arena, struct run_graph_edge, step->next.count);
	for (size_t i = 0; i < step->next.count; i++) {
		edges[i] = *run_graph_edge_new(arena);
		SET(&edges[i], to, step->next.at[i].to);
		if (has(&step->next.at[i], when)) {
			SET(&edges[i], when, step->next.at[i].when);
			definition_read_expression(&own, step->next.at[i].when, S("next"));
		}
	}
	if (step->next.count > 0)
		SET(m->node, edges, ((struct run_graph_edge_list){ edges, step->next.count }));
	if (step->join == RUN_JOIN_ANY && definition_is_entry(m->body, step))
		SET(m->node, entry, true);
	if (has(step, entry) && step->join != RUN_JOIN_ANY)
		definition_step_problem(m->body, m->number, S("entry"),
					"entry is allowed only with join: any");
	if (has(step, max_iterations))
		SET(m->node, max_iterations, step->max_iterations);
	if (has(step, routes) && !has(m->body->compiler->file, state))
		definition_step_problem(m->body, m->number, S("routes"),
					"routes are allowed only in a definition with a state");
	else if (has(step, routes))
		SET(m->node, routes, step->routes);
}

/* Each input by itself, because a tool takes secrets only in some of them. */
static void read_inputs(const struct node_builder *m)
{
	const struct json *inputs = m->step->inputs;
	const struct definition_tool *tool =
		has(m->step, tool) ? definition_find_tool(m->body->compiler, m->step->tool) : NULL;
	struct reader reader = m->reader;
	if (tool != NULL)
		reader.secret_inputs = tool->secrets;
	if (inputs == NULL || inputs->kind != JSON_OBJECT || reader.secret_inputs.count == 0) {
		definition_read_template(&reader, inputs, S("inputs"));
		return;
	}
	for (size_t i = 0; i < inputs->as.object.count; i++) {
		const struct json_member *member = &inputs->as.object.at[i];
		reader.takes_secrets = false;
		for (size_t k = 0; k < tool->secrets.count; k++)
			if (str_equal(tool->secrets.at[k], member->key))
				reader.takes_secrets = true;
		definition_read_template(&reader, &member->value, S("inputs"));
	}
}

static void make_milestone(struct node_builder *m)
{
	const struct run_definition_milestone *from = m->step->milestone;
	struct run_graph_milestone *milestone = run_graph_milestone_new(m->body->compiler->arena);
	struct reader own = m->reader;
	own.own = own.has_output = true;
	definition_read_template(&m->reader, from->data, S("milestone"));
	SET(milestone, kind, from->kind);
	SET(milestone, data, from->data);
	if (has(from, passed)) {
		definition_read_expression(&own, from->passed, S("milestone"));
		SET(milestone, passed, from->passed);
	}
	SET(m->node, milestone, milestone);
}

static void make_node(struct body *body, size_t number, struct run_graph_node *node)
{
	static const struct json no_inputs = { .kind = JSON_OBJECT };
	const struct run_definition_step *step = &body->steps.at[number];
	struct node_builder builder = {
		.body = body, .number = number, .step = step, .node = node
	};
	builder.reader = (struct reader){ .body = body, .step = (int64_t)number };
	SET(node, name, step->name);
	SET(node, join, step->join);
	SET(node, class, RUN_CLASS_IDEMPOTENT);
	SET(node, depends_on, step->depends_on);
	if (step->outputs.count > 0)
		SET(node, sets, step->outputs);
	if (step->continue_on_error)
		SET(node, continue_on_error, true);
	if (definition_section(body, number) != RUN_SECTION_STEPS)
		SET(node, section, definition_section(body, number));
	if (!has(step, agent) && (has(step, prompt_file) || has(step, prompt_template)))
		definition_step_problem(body, number,
					has(step, prompt_file) ? S("prompt_file")
							       : S("prompt_template"),
					"only a step with an agent has a prompt");
	if (is_caught(step)) {
		/* The try has the step as its only one; the step's own members are there. */
		SET(node, inputs, &no_inputs);
		SET(node, kind, RUN_NODE_TRY);
		SET(node, body, compile_try(body, number));
	} else {
		SET(node, inputs, step->inputs);
		make_kind(&builder);
		read_inputs(&builder);
		make_rounds(&builder);
		make_retry(&builder);
		definition_check_agent_members(body, number);
		if (has(step, undo))
			definition_compile_undo(body, number, node);
	}
	make_when(&builder);
	make_edges(&builder);
	if (has(step, milestone))
		make_milestone(&builder);
	SET(node, reads, body->reads[number]);
}

/* Of a step that is no one kind, the names are checked all the same. */
static void read_names(struct body *body, size_t number, struct run_graph_node *node)
{
	struct node_builder builder = {
		.body = body, .number = number, .step = &body->steps.at[number], .node = node
	};
	builder.reader = (struct reader){ .body = body, .step = (int64_t)number };
	read_inputs(&builder);
	make_when(&builder);
}

struct run_graph_node_list definition_compile_body(struct body *body)
{
	struct compiler *c = body->compiler;
	c->steps += body->steps.count;
	if (c->steps > LIMIT_STEPS) {
		problems_add(c->problems, body->pointer, 0, 0,
			     "the workflow has more than %d steps in total", LIMIT_STEPS);
		return (struct run_graph_node_list){ 0 };
	}
	for (size_t i = 0; i < body->steps.count; i++)
		check_kind(body, i);
	for (int section = RUN_SECTION_STEPS; section <= RUN_SECTION_FINALLY; section++)
		definition_check_start(body, (enum run_section)section);
	definition_body_order(body);
	struct run_graph_node *nodes =
		arena_array(c->arena, struct run_graph_node, body->steps.count);
	for (size_t i = 0; i < body->steps.count; i++) {
		nodes[i] = *run_graph_node_new(c->arena);
		if (kinds_of(&body->steps.at[body->order[i]]) == 1)
			make_node(body, body->order[i], &nodes[i]);
		else
			read_names(body, body->order[i], &nodes[i]);
	}
	return (struct run_graph_node_list){ nodes, body->steps.count };
}
