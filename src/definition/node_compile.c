/* definition/node_compile.c -- compiles a step of the file into a node of the graph. */
#include "base/limits.h"
#include "contract/runtime_types.h"
#include "definition/compile_internal.h"

static int64_t microseconds(double seconds)
{
	return (int64_t)(seconds * 1e6);
}

static const struct definition_tool *find_tool(const struct compiler *c, struct str name)
{
	for (size_t i = 0; i < c->tools->count; i++)
		if (str_equal(c->tools->at[i].name, name))
			return &c->tools->at[i];
	return NULL;
}

static struct str tool_names(const struct compiler *c)
{
	AUTO(buf) names = { 0 };
	for (size_t i = 0; i < c->tools->count; i++)
		buf_add_format(&names, "%s" STR_FMT, i == 0 ? "" : ", ",
			       STR_ARG(c->tools->at[i].name));
	return str_copy(c->arena, buf_str(&names));
}

static void check_kind(const struct body *body, size_t number)
{
	const struct run_definition_step *step = &body->steps.at[number];
	int kinds = has(step, tool) + has(step, agent) + has(step, human) + has(step, wait) +
		    has(step, condition) + has(step, workflow) + has(step, parallel) +
		    has(step, map) + has(step, loop) + has(step, verify) + has(step, gate);
	if (kinds != 1)
		definition_step_problem(
			body, number, S("name"),
			"step " STR_FMT
			" must have exactly one of tool, agent, human, wait, condition, "
			"workflow, parallel, map, loop, verify and gate",
			STR_ARG(step->name));
	if (has(step, tool) && find_tool(body->compiler, step->tool) == NULL)
		definition_step_problem(body, number, S("tool"),
					"unknown tool " STR_FMT "; expected one of " STR_FMT,
					STR_ARG(step->tool), STR_ARG(tool_names(body->compiler)));
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
	body.pointer = str_format(arena, STR_FMT "/%zu/" STR_FMT "/steps", STR_ARG(outer->pointer),
				  m->number, STR_ARG(key));
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
	return nodes;
}

static void make_tool(struct node_builder *m)
{
	const struct definition_tool *tool = find_tool(m->body->compiler, m->step->tool);
	require(tool != NULL); /* check_kind() has checked it */
	SET(m->node, kind, RUN_NODE_TOOL);
	SET(m->node, class, tool->class);
	SET(m->node, tool, m->step->tool);
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

static void make_agent(struct node_builder *m)
{
	const struct run_graph_agent *agent = definition_find_agent(m->body, m->number);
	SET(m->node, kind, RUN_NODE_AGENT);
	if (agent == NULL)
		return;
	SET(m->node, agent, agent);
	/* A timeout of the step itself is set later and overrides this one. */
	if (has(agent, timeout_us))
		SET(m->node, timeout_us, agent->timeout_us);
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
	if (has(map, at_once))
		SET(m->node, at_once, map->at_once);
	definition_read_template(&m->reader, map->over, S("map"));
	SET(m->node, body, inner(m, map->steps, S("map"), map->item));
}

static void make_loop(struct node_builder *m)
{
	const struct run_definition_loop *loop = m->step->loop;
	SET(m->node, kind, RUN_NODE_LOOP);
	SET(m->node, until, loop->until);
	if (has(loop, max)) {
		SET(m->node, max, loop->max);
		definition_read_template(&m->reader, loop->max, S("loop"));
	}
	SET(m->node, body, inner(m, loop->steps, S("loop"), S("")));
}

static void make_verify(struct node_builder *m)
{
	const struct run_definition_verify *verify = m->step->verify;
	struct arena *arena = m->body->compiler->arena;
	struct reader reader = m->reader;
	reader.has_output = true;
	SET(m->node, kind, RUN_NODE_VERIFY);
	SET(m->node, target, verify->target);
	SET(m->node, policy,
	    has(verify, policy) ? verify->policy : runtime_verification_policy_new(arena));
	struct str read = str_format(arena, "steps." STR_FMT ".outputs", STR_ARG(verify->target));
	definition_read_expression(&reader, read, S("verify"));
	struct run_graph_criterion *criteria =
		arena_array(arena, struct run_graph_criterion, verify->criteria.count);
	for (size_t i = 0; i < verify->criteria.count; i++) {
		const struct run_definition_criterion *from = &verify->criteria.at[i];
		criteria[i] = *run_graph_criterion_new(arena);
		SET(&criteria[i], name, from->name);
		SET(&criteria[i], check, from->check);
		SET(&criteria[i], critical, from->critical);
		definition_read_expression(&reader, from->check, S("verify"));
		for (size_t k = 0; k < i; k++)
			if (str_equal(criteria[k].name, from->name))
				definition_step_problem(m->body, m->number, S("verify"),
							"duplicate criterion name " STR_FMT,
							STR_ARG(from->name));
	}
	SET(m->node, criteria,
	    ((struct run_graph_criterion_list){ criteria, verify->criteria.count }));
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
		SET(m->node, body, inner(m, step->parallel->steps, S("parallel"), S("")));
	} else if (has(step, map)) {
		make_map(m);
	} else if (has(step, loop)) {
		make_loop(m);
	} else if (has(step, verify)) {
		make_verify(m);
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
		definition_read_expression(&own, step->loop_until, S("loop_until"));
	}
	if (has(step, loop_max) && !has(step, loop_until))
		definition_step_problem(m->body, m->number, S("loop_max"),
					"loop_max needs loop_until");
	if (has(step, loop_max)) {
		SET(m->node, max, step->loop_max);
		definition_read_template(&m->reader, step->loop_max, S("loop_max"));
	}
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
	struct run_graph_retry *retry = run_graph_retry_new(m->body->compiler->arena);
	SET(retry, max_retries, step->retry->max_retries);
	SET(retry, base_delay_us, microseconds(step->retry->base_delay));
	SET(retry, max_delay_us, microseconds(step->retry->max_delay));
	if (step->retry->on.count > 0)
		SET(retry, on, step->retry->on);
	for (size_t i = 0; i < step->retry->on.count; i++) {
		enum error_code code;
		if (!error_code_from_name(step->retry->on.at[i], &code))
			definition_step_problem(m->body, m->number, S("retry"),
						"retry: unknown error code " STR_FMT
						"; see baton describe errors",
						STR_ARG(step->retry->on.at[i]));
	}
	SET(m->node, retry, retry);
}

static bool has_incoming_edge(const struct body *body, struct str name)
{
	for (size_t i = 0; i < body->steps.count; i++)
		for (size_t e = 0; e < body->steps.at[i].next.count; e++)
			if (str_equal(body->steps.at[i].next.at[e].to, name))
				return true;
	return false;
}

static bool is_entry(const struct body *body, const struct run_definition_step *step)
{
	return has(step, entry) ? step->entry : !has_incoming_edge(body, step->name);
}

/* A body in which every step waits for an edge would never start. */
static void check_start(const struct body *body)
{
	for (size_t i = 0; i < body->steps.count; i++)
		if (body->steps.at[i].join != RUN_JOIN_ANY || is_entry(body, &body->steps.at[i]))
			return;
	if (body->steps.count > 0)
		definition_step_problem(
			body, 0, S("join"),
			"no step can start: every step waits for an edge; set entry: true on the first "
			"step");
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
	if (step->join == RUN_JOIN_ANY && is_entry(m->body, step))
		SET(m->node, entry, true);
	if (has(step, entry) && step->join != RUN_JOIN_ANY)
		definition_step_problem(m->body, m->number, S("entry"),
					"entry is allowed only with join: any");
	if (has(step, max_iterations))
		SET(m->node, max_iterations, step->max_iterations);
}

static void make_node(struct body *body, size_t number, struct run_graph_node *node)
{
	const struct run_definition_step *step = &body->steps.at[number];
	struct node_builder builder = {
		.body = body, .number = number, .step = step, .node = node
	};
	builder.reader = (struct reader){ .body = body, .step = (int64_t)number };
	SET(node, name, step->name);
	SET(node, join, step->join);
	SET(node, class, RUN_CLASS_IDEMPOTENT);
	SET(node, depends_on, step->depends_on);
	SET(node, inputs, step->inputs);
	if (step->outputs.count > 0)
		SET(node, sets, step->outputs);
	make_kind(&builder);
	definition_read_template(&builder.reader, step->inputs, S("inputs"));
	make_when(&builder);
	make_rounds(&builder);
	make_retry(&builder);
	make_edges(&builder);
	SET(node, reads, body->reads[number]);
}

struct run_graph_node_list definition_compile_body(struct body *body)
{
	struct compiler *c = body->compiler;
	const struct problems *problems = c->problems;
	size_t before = problems->count + problems->hidden;
	c->steps += body->steps.count;
	if (c->steps > LIMIT_STEPS) {
		problems_add(c->problems, body->pointer, 0, 0,
			     "the workflow has more than %d steps in total", LIMIT_STEPS);
		return (struct run_graph_node_list){ 0 };
	}
	for (size_t i = 0; i < body->steps.count; i++)
		check_kind(body, i);
	check_start(body);
	bool ordered = definition_body_order(body);
	if (!ordered || problems->count + problems->hidden > before)
		return (struct run_graph_node_list){ 0 };
	struct run_graph_node *nodes =
		arena_array(c->arena, struct run_graph_node, body->steps.count);
	for (size_t i = 0; i < body->steps.count; i++) {
		nodes[i] = *run_graph_node_new(c->arena);
		make_node(body, body->order[i], &nodes[i]);
	}
	return (struct run_graph_node_list){ nodes, body->steps.count };
}
