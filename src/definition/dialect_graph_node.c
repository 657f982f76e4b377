/* definition/dialect_graph_node.c -- nodes of a graph workflow become steps.
 *
 * What a node without `inputs` gets:
 *
 *	agent       the messages of the state, then one message with its prompt (or its description), the
 *	            declared fields of the state, and the routing keys it can choose from
 *	tool        of its parameters, those that are declared fields of the state
 *	human       the declared fields of the state, to look at
 *	parallel    each task what a node of its kind gets
 */
#include "base/limits.h"
#include "definition/dialect_graph.h"

/* A node, or a task of a parallel node. */
struct work {
	const struct json *tree;
	struct str agent, tool;         /* "" = none */
	struct str prompt, description; /* "" = none */
	const struct json *inputs;      /* NULL = none */
	const struct json *place;       /* of its name */
	const struct tree_list *routes; /* NULL = none */
};

/* ---- inputs -------------------------------------------------------------------------------------- */

static struct json field_reference(const struct graph_file *g, struct str field,
				   const struct json *place)
{
	return tree_text(str_format(g->arena, "${state." STR_FMT "}", STR_ARG(field)), place);
}

static struct json all_fields(const struct graph_file *g, const struct json *place)
{
	struct tree_object fields = { .arena = g->arena, .place = place };
	for (size_t i = 0; i < g->fields.count; i++)
		tree_add(&fields, g->fields.at[i], field_reference(g, g->fields.at[i], place));
	return tree_object(&fields);
}

/* What an agent is asked: its prompt, then what it cannot know. */
static struct str prompt_of(const struct graph_file *g, const struct work *work)
{
	AUTO(buf) text = { 0 };
	struct str first = work->prompt.size > 0 ? work->prompt : work->description;
	buf_add(&text, first.size > 0 ? first : S("Continue."));
	for (size_t i = 0; i < g->fields.count && work->prompt.size == 0; i++)
		buf_add_format(&text, "\n" STR_FMT ": ${coalesce(state." STR_FMT ", '')}",
			       STR_ARG(g->fields.at[i]), STR_ARG(g->fields.at[i]));
	if (work->routes != NULL && work->routes->count > 0) {
		buf_add(&text, S("\nReply with a JSON object whose routing_key is one of: "));
		for (size_t i = 0; i < work->routes->count; i++)
			buf_add_format(&text, "%s" STR_FMT, i == 0 ? "" : ", ",
				       STR_ARG(work->routes->at[i].as.string));
		buf_add(&text, S("."));
	}
	return str_copy(g->arena, buf_str(&text));
}

static struct json agent_inputs(const struct graph_file *g, const struct work *work)
{
	struct tree_object inputs = { .arena = g->arena, .place = work->tree };
	const struct json *place = json_member(work->tree, S("prompt"));
	tree_add(&inputs, S("messages"), tree_text(S("${transcript}"), work->tree));
	tree_add(&inputs, S("prompt"),
		 tree_text(prompt_of(g, work), place == NULL ? work->tree : place));
	return tree_object(&inputs);
}

static struct json tool_inputs(const struct graph_file *g, const struct work *work)
{
	struct tree_object inputs = { .arena = g->arena, .place = work->tree };
	const struct definition_tool *tool = definition_find_tool(g->compiler, work->tool);
	const struct json *known =
		tool == NULL ? NULL : json_member(tool->parameters, S("properties"));
	for (size_t i = 0; i < g->fields.count; i++)
		if (json_member(known, g->fields.at[i]) != NULL)
			tree_add(&inputs, g->fields.at[i],
				 field_reference(g, g->fields.at[i], work->tree));
	return tree_object(&inputs);
}

static void add_work(const struct graph_file *g, const struct work *work, struct tree_object *step)
{
	bool agent = work->agent.size > 0;
	const struct json *name = json_member(work->tree, agent ? S("agent") : S("tool"));
	tree_add(step, agent ? S("agent") : S("tool"),
		 tree_text(agent ? work->agent : work->tool, name == NULL ? work->place : name));
	if (work->inputs != NULL)
		tree_add(step, S("inputs"), *work->inputs);
	else
		tree_add(step, S("inputs"), agent ? agent_inputs(g, work) : tool_inputs(g, work));
	tree_take(step, work->tree, S("retry"));
	tree_take(step, work->tree, S("timeout"));
	const struct json *seconds = json_member(work->tree, S("timeout_seconds"));
	if (seconds != NULL)
		tree_add(step, S("timeout"), *seconds);
}

static struct work work_of_node(const struct graph_file *g, size_t number)
{
	const struct run_graph_file_node *node = &g->file->nodes.at[number].value;
	return (struct work){
		.tree = g->nodes[number].tree,
		.agent = has(node, agent) ? node->agent : S(""),
		.tool = has(node, tool) ? node->tool : S(""),
		.prompt = has(node, prompt) ? node->prompt : S(""),
		.description = has(node, description) ? node->description : S(""),
		.inputs = has(node, inputs) ? node->inputs : NULL,
		.place = g->nodes[number].key_place,
		.routes = &g->nodes[number].routes,
	};
}

/* ---- tasks of parallel nodes ------------------------------------------------------------------- */

static bool is_work(enum run_graph_file_type type)
{
	return type == RUN_GRAPH_FILE_AGENT || type == RUN_GRAPH_FILE_TOOL;
}

/* A name: another node, which must be an agent or a tool, or else an agent. */
static struct json named_task(const struct graph_file *g, const struct json *item)
{
	struct tree_object step = { .arena = g->arena, .place = item };
	int64_t node = dialect_graph_node(g, item->as.string);
	struct work work = { .tree = item, .agent = item->as.string, .place = item };
	if (node >= 0)
		work = work_of_node(g, (size_t)node);
	work.routes = NULL;
	tree_add(&step, S("name"), *item);
	add_work(g, &work, &step);
	return tree_object(&step);
}

static struct json described_task(const struct graph_file *g, const struct json *item)
{
	struct problems ignored = { .arena = g->arena };
	const struct contract_source source = { .json = item };
	const struct run_graph_file_task *task =
		run_graph_file_task_parse(&source, g->arena, &ignored);
	struct tree_object step = { .arena = g->arena, .place = item };
	require(task != NULL); /* dialect_graph_tasks() has checked it */
	const struct work work = {
		.tree = item,
		.agent = has(task, agent) ? task->agent : S(""),
		.tool = has(task, tool) ? task->tool : S(""),
		.prompt = has(task, prompt) ? task->prompt : S(""),
		.description = has(task, description) ? task->description : S(""),
		.inputs = has(task, inputs) ? task->inputs : NULL,
		.place = json_member(item, S("name")),
	};
	tree_add(&step, S("name"), *json_member(item, S("name")));
	add_work(g, &work, &step);
	tree_take(&step, item, S("produces"));
	tree_take(&step, item, S("consumes"));
	return tree_object(&step);
}

static struct json parallel_of(const struct graph_file *g, const struct run_graph_file_node *node,
			       const struct json *place)
{
	struct tree_list steps = { .arena = g->arena, .place = place };
	struct tree_object parallel = { .arena = g->arena, .place = place };
	for (size_t i = 0; i < node->parallel_tasks.count; i++) {
		const struct json *item = node->parallel_tasks.at[i];
		tree_append(&steps, item->kind == JSON_STRING ? named_task(g, item)
							      : described_task(g, item));
	}
	tree_add(&parallel, S("steps"), tree_list(&steps));
	return tree_object(&parallel);
}

static void check_task(struct graph_file *g, const struct json *item)
{
	struct problems found = { .arena = g->arena };
	const struct contract_source source = { .json = item };
	int64_t node = item->kind == JSON_STRING ? dialect_graph_node(g, item->as.string) : -1;
	if (node >= 0) {
		g->nodes[node].is_task = true;
		if (!is_work(g->file->nodes.at[node].value.type))
			dialect_graph_problem(g, item,
					      "node " STR_FMT
					      " cannot be a task: a task is an agent or a tool",
					      STR_ARG(item->as.string));
		return;
	}
	if (item->kind == JSON_STRING)
		return;
	const struct run_graph_file_task *task =
		run_graph_file_task_parse(&source, g->arena, &found);
	for (size_t i = 0; i < found.count; i++)
		dialect_graph_problem(g,
				      found.at[i].line > 0
					      ? &(struct json){ .line = found.at[i].line,
								.column = found.at[i].column }
					      : item,
				      "task" STR_FMT ": " STR_FMT, STR_ARG(found.at[i].pointer),
				      STR_ARG(found.at[i].text));
	if (task != NULL && has(task, agent) == has(task, tool))
		dialect_graph_problem(g, item, "task " STR_FMT " needs an agent or a tool",
				      STR_ARG(task->name));
}

/* ---- nodes ----------------------------------------------------------------------------------------- */

/* The member that a node of this type must have. */
static const char *needed_member(const struct run_graph_file_node *node)
{
	switch (node->type) {
	case RUN_GRAPH_FILE_AGENT:
		return has(node, agent) ? NULL : "agent";
	case RUN_GRAPH_FILE_TOOL:
		return has(node, tool) ? NULL : "tool";
	case RUN_GRAPH_FILE_CONDITION:
		return has(node, condition) ? NULL : "condition";
	case RUN_GRAPH_FILE_PARALLEL:
		return has(node, parallel_tasks) ? NULL : "parallel_tasks";
	case RUN_GRAPH_FILE_HUMAN:
		break;
	}
	return NULL;
}

/* A member that only nodes of another type have. */
static const char *stray_member(const struct run_graph_file_node *node)
{
	if (has(node, agent) && node->type != RUN_GRAPH_FILE_AGENT)
		return "agent";
	if (has(node, tool) && node->type != RUN_GRAPH_FILE_TOOL)
		return "tool";
	if (has(node, condition) && node->type != RUN_GRAPH_FILE_CONDITION)
		return "condition";
	if (has(node, parallel_tasks) && node->type != RUN_GRAPH_FILE_PARALLEL)
		return "parallel_tasks";
	if (has(node, question) && node->type != RUN_GRAPH_FILE_HUMAN)
		return "question";
	if (has(node, prompt) && node->type != RUN_GRAPH_FILE_AGENT)
		return "prompt";
	return NULL;
}

void dialect_graph_tasks(struct graph_file *g)
{
	for (size_t i = 0; i < g->file->nodes.count; i++) {
		const struct run_graph_file_node *node = &g->file->nodes.at[i].value;
		const char *needed = needed_member(node), *stray = stray_member(node);
		struct str type = run_graph_file_type_name(node->type);
		if (needed != NULL)
			dialect_graph_problem(
				g, g->nodes[i].tree,
				"node " STR_FMT ": a node of type " STR_FMT " needs %s",
				STR_ARG(g->file->nodes.at[i].key), STR_ARG(type), needed);
		if (stray != NULL)
			dialect_graph_problem(
				g, json_member(g->nodes[i].tree, str_from_c(stray)),
				"node " STR_FMT ": a node of type " STR_FMT " has no %s",
				STR_ARG(g->file->nodes.at[i].key), STR_ARG(type), stray);
		for (size_t k = 0; k < node->parallel_tasks.count; k++)
			check_task(g, node->parallel_tasks.at[k]);
	}
}

static struct json human_of(const struct graph_file *g, struct str question,
			    const struct json *place, const struct json *timeout)
{
	struct tree_object human = { .arena = g->arena, .place = place };
	tree_add(&human, S("question"), tree_text(question, place));
	if (timeout != NULL)
		tree_add(&human, S("timeout"), *timeout);
	return tree_object(&human);
}

static void add_kind(const struct graph_file *g, size_t number, struct tree_object *step)
{
	const struct run_graph_file_node *node = &g->file->nodes.at[number].value;
	const struct json *tree = g->nodes[number].tree;
	const struct json *timeout = json_member(tree, S("timeout"));
	struct str name = g->file->nodes.at[number].key;
	const struct work work = work_of_node(g, number);
	switch (node->type) {
	case RUN_GRAPH_FILE_AGENT:
	case RUN_GRAPH_FILE_TOOL:
		add_work(g, &work, step);
		break;
	case RUN_GRAPH_FILE_CONDITION:
		tree_take(step, tree, S("condition"));
		break;
	case RUN_GRAPH_FILE_HUMAN:
		tree_add(step, S("human"),
			 human_of(g,
				  has(node, question) ? node->question
				  : has(node, description)
					  ? node->description
					  : str_format(g->arena,
						       "May the graph go on behind " STR_FMT "?",
						       STR_ARG(name)),
				  tree,
				  timeout != NULL ? timeout
						  : json_member(tree, S("timeout_seconds"))));
		tree_add(step, S("inputs"),
			 has(node, inputs) ? *node->inputs : all_fields(g, tree));
		break;
	case RUN_GRAPH_FILE_PARALLEL:
		tree_add(step, S("parallel"), parallel_of(g, node, tree));
		break;
	}
}

static struct json one_edge(const struct graph_file *g, struct str to, const struct json *place)
{
	struct tree_object edge = { .arena = g->arena, .place = place };
	struct tree_list next = { .arena = g->arena, .place = place };
	tree_add(&edge, S("to"), tree_text(to, place));
	tree_append(&next, tree_object(&edge));
	return tree_list(&next);
}

/* A question that a person answers before or behind a node. */
static void add_interrupt(const struct graph_file *g, size_t number, const char *when,
			  bool is_entry, struct json next, struct tree_list *steps)
{
	const struct json *place = g->nodes[number].key_place;
	struct tree_object step = { .arena = g->arena, .place = place };
	struct str node = g->file->nodes.at[number].key;
	struct str question = str_format(g->arena,
					 "The graph stopped %s node " STR_FMT
					 ". Approve to go on, or modify the state.",
					 when, STR_ARG(node));
	tree_add(&step, S("name"),
		 tree_text(str_format(g->arena, STR_FMT "-%s", STR_ARG(node), when), place));
	tree_add(&step, S("human"), human_of(g, question, place, NULL));
	tree_add(&step, S("inputs"), all_fields(g, place));
	tree_add(&step, S("join"), tree_text(S("any"), place));
	tree_add(&step, S("entry"), tree_bool(is_entry, place));
	tree_add(&step, S("next"), next);
	tree_append(steps, tree_object(&step));
}

void dialect_graph_steps(const struct graph_file *g, size_t number, bool is_entry,
			 struct tree_list *steps)
{
	const struct graph_file_node *node = &g->nodes[number];
	struct str name = g->file->nodes.at[number].key;
	struct json next = tree_list(&node->edges);
	struct tree_object step = { .arena = g->arena, .place = node->key_place };
	if (node->before)
		add_interrupt(g, number, "before", is_entry, one_edge(g, name, node->key_place),
			      steps);
	tree_add(&step, S("name"), tree_text(name, node->key_place));
	tree_take(&step, node->tree, S("description"));
	add_kind(g, number, &step);
	tree_add(&step, S("join"), tree_text(S("any"), node->key_place));
	tree_add(&step, S("entry"), tree_bool(is_entry && !node->before, node->key_place));
	tree_add(&step, S("max_iterations"),
		 tree_int(g->file->nodes.at[number].value.max_iterations,
			  json_member(node->tree, S("max_iterations"))));
	if (node->routes.count > 0)
		tree_add(&step, S("routes"), tree_list(&node->routes));
	if (node->after)
		tree_add(&step, S("next"),
			 one_edge(g, str_format(g->arena, STR_FMT "-after", STR_ARG(name)),
				  node->key_place));
	else if (node->edges.count > 0)
		tree_add(&step, S("next"), next);
	tree_append(steps, tree_object(&step));
	if (node->after)
		add_interrupt(g, number, "after", false, next, steps);
}
