/* engine/graph_state.c -- merges the results of nodes into the state of a graph.
 *
 * What a result says about the state depends on the kind of its node:
 *
 *	agent       its text is a message; of a reply that is a JSON object, the members that are fields
 *	            of the state are updates
 *	tool        its output is a message; the members that are fields are updates
 *	human       the comment is a message; the values of `modify` are updates
 *	condition   the value becomes the routing key, if the node has a routing map
 *	parallel    what each of its steps says, in the order of the graph
 *
 * Other members are ignored: they can be read as steps.NODE.outputs.NAME.
 */
#include "engine/graph_state.h"

#include "base/buf.h"
#include "base/limits.h"
#include "contract/run_graph_types.h"

enum { MESSAGES, NEXT_ACTION, CURRENT_AGENT, ROUTING_KEY, METADATA, BUILT_IN };

static const struct str built_in[BUILT_IN] = {
	[MESSAGES] = { "messages", 8 },
	[NEXT_ACTION] = { "next_action", 11 },
	[CURRENT_AGENT] = { "current_agent", 13 },
	[ROUTING_KEY] = { "routing_key", 11 },
	[METADATA] = { "metadata", 8 },
};

static const struct json null_json = { .kind = JSON_NULL };

/* The state while it is changed: the built-in fields, then the declared ones. */
struct draft {
	struct eval_context *eval_context;
	const struct run_graph_state *rows;
	const struct json **values;
	struct failure fault;
};

static struct arena *arena_of(const struct draft *draft)
{
	return draft->eval_context->d->arena;
}

static const struct json *new_json(struct arena *arena, struct json json)
{
	return arena_copy(arena, &json, sizeof(json));
}

static const struct json *new_text(struct arena *arena, struct str text)
{
	return new_json(arena, (struct json){ .kind = JSON_STRING, .as.string = text });
}

/* ---- reducers ------------------------------------------------------------------------------ */

static bool has_item(const struct json *items, size_t count, const struct json *item)
{
	for (size_t i = 0; i < count; i++)
		if (json_equal(&items[i], item))
			return true;
	return false;
}

static const struct json *append(const struct json *old, const struct json *update, bool distinct,
				 struct arena *arena)
{
	size_t before = old->kind == JSON_LIST ? old->as.list.count : 0, count = before;
	size_t more = update->kind == JSON_LIST ? update->as.list.count : 1;
	const struct json *from = update->kind == JSON_LIST ? update->as.list.at : update;
	struct json *items = arena_array(arena, struct json, before + more);
	for (size_t i = 0; i < before; i++)
		items[i] = old->as.list.at[i];
	for (size_t i = 0; i < more; i++)
		if (!distinct || !has_item(items, count, &from[i]))
			items[count++] = from[i];
	return new_json(arena, (struct json){ .kind = JSON_LIST, .as.list = { items, count } });
}

static const struct json *merge(const struct json *old, const struct json *update,
				struct arena *arena)
{
	size_t before = old->kind == JSON_OBJECT ? old->as.object.count : 0, count = 0;
	struct json_member *members =
		arena_array(arena, struct json_member, before + update->as.object.count);
	for (size_t i = 0; i < before; i++)
		if (json_member(update, old->as.object.at[i].key) == NULL)
			members[count++] = old->as.object.at[i];
	for (size_t i = 0; i < update->as.object.count; i++)
		members[count++] = update->as.object.at[i];
	return new_json(arena,
			(struct json){ .kind = JSON_OBJECT, .as.object = { members, count } });
}

static const struct json *add(const struct json *old, const struct json *update,
			      struct arena *arena)
{
	static const struct json zero = { .kind = JSON_INT };
	int64_t sum;
	if (old->kind == JSON_NULL)
		old = &zero;
	if (old->kind == JSON_INT && update->kind == JSON_INT &&
	    !__builtin_add_overflow(old->as.integer, update->as.integer, &sum))
		return new_json(arena, (struct json){ .kind = JSON_INT, .as.integer = sum });
	double real = json_real(old) + json_real(update);
	return real - real == 0
		       ? new_json(arena, (struct json){ .kind = JSON_REAL, .as.real = real })
		       : NULL;
}

const struct json *graph_state_reduce(enum run_reducer reducer, const struct json *old,
				      const struct json *update, struct arena *arena,
				      struct failure *out_fault)
{
	const struct json *sum;
	bool is_null = old->kind == JSON_NULL;
	switch (reducer) {
	case RUN_REDUCER_OVERWRITE:
		return update;
	case RUN_REDUCER_APPEND:
	case RUN_REDUCER_UNION:
		if (is_null || old->kind == JSON_LIST)
			return append(old, update, reducer == RUN_REDUCER_UNION, arena);
		break;
	case RUN_REDUCER_MERGE:
		if ((is_null || old->kind == JSON_OBJECT) && update->kind == JSON_OBJECT)
			return merge(old, update, arena);
		break;
	case RUN_REDUCER_ADD:
		sum = (is_null || json_is_number(old)) && json_is_number(update)
			      ? add(old, update, arena)
			      : NULL;
		if (sum != NULL)
			return sum;
		break;
	}
	*out_fault = failure_make(
		ERROR_INVALID,
		str_format(arena, "cannot " STR_FMT " a value of type %s to one of type %s",
			   STR_ARG(run_reducer_name(reducer)), json_kind_name(update->kind),
			   json_kind_name(old->kind)));
	return NULL;
}

/* ---- the state ----------------------------------------------------------------------------- */

static const struct json *empty_value(enum run_reducer reducer)
{
	static const struct json list = { .kind = JSON_LIST }, mapping = { .kind = JSON_OBJECT },
				 zero = { .kind = JSON_INT };
	switch (reducer) {
	case RUN_REDUCER_OVERWRITE:
		break;
	case RUN_REDUCER_APPEND:
	case RUN_REDUCER_UNION:
		return &list;
	case RUN_REDUCER_MERGE:
		return &mapping;
	case RUN_REDUCER_ADD:
		return &zero;
	}
	return &null_json;
}

static const struct json *message(struct arena *arena, struct str role, struct str content)
{
	struct json_member *members = arena_array(arena, struct json_member, 2);
	members[0] = (struct json_member){ .key = S("role"), .value = *new_text(arena, role) };
	members[1] =
		(struct json_member){ .key = S("content"), .value = *new_text(arena, content) };
	return new_json(arena, (struct json){ .kind = JSON_OBJECT, .as.object = { members, 2 } });
}

/* Before the first update: the declared values, replaced by inputs of the same name; the input
 * `task` is the first message. */
static void begin(struct draft *draft, const struct json *inputs)
{
	const struct json *task = json_member(inputs, S("task"));
	draft->values[MESSAGES] = empty_value(RUN_REDUCER_APPEND);
	if (task != NULL && task->kind == JSON_STRING && task->as.string.size > 0)
		draft->values[MESSAGES] =
			append(draft->values[MESSAGES],
			       message(arena_of(draft), S("user"), task->as.string), false,
			       arena_of(draft));
	draft->values[NEXT_ACTION] = draft->values[ROUTING_KEY] = &null_json;
	draft->values[CURRENT_AGENT] = new_text(arena_of(draft), S(""));
	draft->values[METADATA] = empty_value(RUN_REDUCER_MERGE);
	for (size_t i = 0; i < draft->rows->fields.count; i++) {
		const struct run_graph_field *field = &draft->rows->fields.at[i];
		const struct json *given = json_member(inputs, field->name);
		draft->values[BUILT_IN + i] = given != NULL         ? given
					      : has(field, initial) ? field->initial
								    : empty_value(field->reducer);
	}
}

/* False: values are missing. */
static bool open_draft(struct draft *draft)
{
	struct eval_context *eval_context = draft->eval_context;
	const struct run *run = eval_context->run;
	size_t count = BUILT_IN + draft->rows->fields.count;
	draft->values = arena_array(arena_of(draft), const struct json *, count);
	if (run->graph_state.kind == VALUE_ABSENT) {
		begin(draft, eval_value(eval_context, &run->inputs));
		return !eval_context->missing;
	}
	const struct json *state = eval_value(eval_context, &run->graph_state);
	for (size_t i = 0; i < count; i++) {
		draft->values[i] = json_member(
			state,
			i < BUILT_IN ? built_in[i] : draft->rows->fields.at[i - BUILT_IN].name);
		if (draft->values[i] == NULL)
			draft->values[i] = &null_json;
	}
	return !eval_context->missing;
}

static const struct json *close_draft(const struct draft *draft)
{
	size_t count = BUILT_IN + draft->rows->fields.count;
	struct json_member *members = arena_array(arena_of(draft), struct json_member, count);
	for (size_t i = 0; i < count; i++)
		members[i] = (struct json_member){
			.key = i < BUILT_IN ? built_in[i]
					    : draft->rows->fields.at[i - BUILT_IN].name,
			.value = *draft->values[i],
		};
	return new_json(arena_of(draft),
			(struct json){ .kind = JSON_OBJECT, .as.object = { members, count } });
}

static const struct json *read_state(struct eval_context *eval_context)
{
	struct draft draft = { .eval_context = eval_context,
			       .rows = eval_context->run->graph->rows->state };
	if (eval_context->state == NULL && open_draft(&draft))
		eval_context->state = close_draft(&draft);
	return eval_context->state;
}

/* The messages as a model accepts them: what a tool or the program said is a message of the user. */
static const struct json *transcript_of(const struct json *messages, struct arena *arena)
{
	size_t count =
		messages == NULL || messages->kind != JSON_LIST ? 0 : messages->as.list.count;
	struct json *items = arena_array(arena, struct json, count);
	for (size_t i = 0; i < count; i++) {
		const struct json *from = &messages->as.list.at[i];
		struct str role = json_text(json_member(from, S("role")));
		struct str content = json_text(json_member(from, S("content")));
		if (str_equal(role, S("tool")))
			content = str_format(arena, "Result of a tool: " STR_FMT, STR_ARG(content));
		items[i] = *message(arena, str_equal(role, S("assistant")) ? role : S("user"),
				    content);
	}
	return new_json(arena, (struct json){ .kind = JSON_LIST, .as.list = { items, count } });
}

bool graph_state_variable(struct eval_context *eval_context, struct str name,
			  const struct json **out)
{
	const struct run_graph_state *rows = eval_context->run->graph->rows->state;
	bool known = str_equal(name, S("state")) || str_equal(name, S("transcript"));
	for (size_t i = 0; i < BUILT_IN && !known; i++)
		known = str_equal(name, built_in[i]);
	for (size_t i = 0; i < rows->fields.count && !known; i++)
		known = str_equal(name, rows->fields.at[i].name);
	if (!known)
		return false;
	const struct json *state = read_state(eval_context);
	if (state != NULL && str_equal(name, S("transcript")))
		state = transcript_of(json_member(state, S("messages")), eval_context->d->arena);
	*out = str_equal(name, S("state")) || str_equal(name, S("transcript"))
		       ? state
		       : json_member(state, name);
	return true;
}

/* ---- results -------------------------------------------------------------------------------- */

static void fail_draft(struct draft *draft, struct str name, struct str why)
{
	if (draft->fault.code.size == 0)
		draft->fault = failure_make(ERROR_INVALID,
					    str_format(arena_of(draft),
						       "the result does not fit the state: " STR_FMT
						       ": " STR_FMT,
						       STR_ARG(name), STR_ARG(why)));
}

static bool is_message(const struct json *json)
{
	const struct json *role = json_member(json, S("role"));
	const struct json *content = json_member(json, S("content"));
	return role != NULL && role->kind == JSON_STRING && content != NULL &&
	       content->kind == JSON_STRING &&
	       (str_equal(role->as.string, S("user")) ||
		str_equal(role->as.string, S("assistant")) ||
		str_equal(role->as.string, S("tool")) || str_equal(role->as.string, S("system")));
}

static void add_messages(struct draft *draft, const struct json *list)
{
	bool good = list->kind == JSON_LIST;
	for (size_t i = 0; good && i < list->as.list.count; i++)
		good = is_message(&list->as.list.at[i]);
	if (!good) {
		fail_draft(draft, built_in[MESSAGES],
			   S("must be a list of {role, content} with the roles user, assistant, "
			     "tool and system"));
		return;
	}
	draft->values[MESSAGES] = append(draft->values[MESSAGES], list, false, arena_of(draft));
}

static void add_message(struct draft *draft, struct str role, struct str content)
{
	draft->values[MESSAGES] =
		append(draft->values[MESSAGES], message(arena_of(draft), role, content), false,
		       arena_of(draft));
}

static void update_built_in(struct draft *draft, size_t field, const struct json *update)
{
	struct failure fault = { S(""), S("") };
	const struct json *value = NULL;
	if (field == MESSAGES) {
		add_messages(draft, update);
		return;
	}
	if (field == METADATA)
		value = graph_state_reduce(RUN_REDUCER_MERGE, draft->values[field], update,
					   arena_of(draft), &fault);
	else if (update->kind == JSON_STRING ||
		 (update->kind == JSON_NULL && field != CURRENT_AGENT))
		value = update;
	else
		fault = failure_make(ERROR_INVALID, S("must be a text"));
	if (value == NULL)
		fail_draft(draft, built_in[field], fault.text);
	else
		draft->values[field] = value;
}

/* The members of an object that are fields of the state. */
static void update_fields(struct draft *draft, const struct json *updates)
{
	for (size_t i = 0; i < BUILT_IN; i++) {
		const struct json *update = json_member(updates, built_in[i]);
		if (update != NULL)
			update_built_in(draft, i, update);
	}
	for (size_t i = 0; i < draft->rows->fields.count; i++) {
		const struct run_graph_field *field = &draft->rows->fields.at[i];
		const struct json *update = json_member(updates, field->name);
		struct failure fault;
		if (update == NULL)
			continue;
		const struct json *value =
			graph_state_reduce(field->reducer, draft->values[BUILT_IN + i], update,
					   arena_of(draft), &fault);
		if (value == NULL)
			fail_draft(draft, field->name, fault.text);
		else
			draft->values[BUILT_IN + i] = value;
	}
}

static const struct graph_node *node_at(const struct draft *draft, uint32_t number)
{
	return &draft->eval_context->run->graph->nodes[number];
}

static struct str agent_name(const struct draft *draft, const struct graph_node *node)
{
	const struct run_graph_node *row =
		node->kind == RUN_NODE_SESSION ? node_at(draft, node->body.at[0])->row : node->row;
	return has(row, agent) ? row->agent->name : S("");
}

static bool is_route(const struct graph_node *node, struct str key)
{
	for (size_t i = 0; i < node->row->routes.count; i++)
		if (str_equal(node->row->routes.at[i], key))
			return true;
	return false;
}

/* An agent with a routing map decides anew each time: with the key in its JSON, or with a reply that
 * is nothing but a key. */
static void apply_reply(struct draft *draft, const struct graph_node *node,
			const struct json *output)
{
	struct str text = json_text(json_member(output, S("text")));
	const struct json *json = json_member(output, S("json"));
	add_message(draft, S("assistant"), text);
	draft->values[CURRENT_AGENT] = new_text(arena_of(draft), agent_name(draft, node));
	if (has(node->row, routes)) {
		draft->values[ROUTING_KEY] = &null_json;
		if (is_route(node, str_trim(text)))
			draft->values[ROUTING_KEY] = new_text(arena_of(draft), str_trim(text));
	}
	if (json != NULL && json->kind == JSON_OBJECT)
		update_fields(draft, json);
}

static void apply_output(struct draft *draft, const struct json *output)
{
	const struct json *text = json_member(output, S("text"));
	if (text == NULL || text->kind != JSON_STRING)
		text = json_member(output, S("stdout"));
	if (text != NULL && text->kind == JSON_STRING)
		add_message(draft, S("tool"), text->as.string);
	else if (output != NULL && output->kind != JSON_NULL)
		add_message(draft, S("tool"), json_print(arena_of(draft), output));
	if (output != NULL && output->kind == JSON_OBJECT)
		update_fields(draft, output);
}

static void apply_answer(struct draft *draft, const struct graph_node *node,
			 const struct json *output)
{
	const struct json *value = json_member(output, S("value"));
	struct str decision = json_text(json_member(output, S("decision")));
	struct str comment = json_text(json_member(output, S("comment")));
	add_message(draft, S("user"), comment.size > 0 ? comment : decision);
	if (has(node->row, routes))
		draft->values[ROUTING_KEY] = new_text(arena_of(draft), decision);
	if (value != NULL && value->kind == JSON_OBJECT)
		update_fields(draft, value);
	else if (value != NULL)
		fail_draft(draft, S("modify"), S("needs the changes of the state as a mapping"));
}

static void apply_condition(struct draft *draft, const struct graph_node *node,
			    const struct json *output)
{
	const struct json *value = json_member(output, S("value"));
	if (!has(node->row, routes) || value == NULL || value->kind == JSON_NULL)
		return;
	draft->values[ROUTING_KEY] =
		value->kind == JSON_STRING
			? value
			: new_text(arena_of(draft), json_print(arena_of(draft), value));
}

static void apply_node(struct draft *draft, const struct graph_node *node,
		       const struct json *output)
{
	switch (node->kind) {
	case RUN_NODE_AGENT:
	case RUN_NODE_SESSION:
		apply_reply(draft, node, output);
		break;
	case RUN_NODE_TOOL:
	case RUN_NODE_SUBRUN:
		apply_output(draft, output);
		break;
	case RUN_NODE_HUMAN:
		apply_answer(draft, node, output);
		break;
	case RUN_NODE_CONDITION:
		apply_condition(draft, node, output);
		break;
	case RUN_NODE_PARALLEL:
		for (size_t i = 0; i < node->body.count; i++) {
			const struct graph_node *inner = node_at(draft, node->body.at[i]);
			const struct json *part = json_member(output, inner->name);
			/* A step that was skipped says nothing. */
			if (part != NULL && part->kind != JSON_NULL)
				apply_node(draft, inner, part);
		}
		break;
	case RUN_NODE_WAIT:
	case RUN_NODE_MAP:
	case RUN_NODE_LOOP:
	case RUN_NODE_VERIFY:
	case RUN_NODE_GATE:
	case RUN_NODE_MAILBOX:
	case RUN_NODE_TRY:
		break;
	}
}

/* A key that no edge knows would end the run in silence. */
static void check_route(struct draft *draft, const struct graph_node *node)
{
	const struct json *key = draft->values[ROUTING_KEY];
	AUTO(buf) keys = { 0 };
	if (!has(node->row, routes) || is_route(node, S("*")) || is_route(node, json_text(key)))
		return;
	for (size_t i = 0; i < node->row->routes.count; i++)
		buf_add_format(&keys, "%s" STR_FMT, i == 0 ? "" : ", ",
			       STR_ARG(node->row->routes.at[i]));
	struct str shown = str_head(json_print(arena_of(draft), key), LIMIT_QUOTE_BYTES);
	fail_draft(draft, built_in[ROUTING_KEY],
		   str_format(arena_of(draft),
			      "is " STR_FMT ", and the edges of " STR_FMT " lead from " STR_FMT,
			      STR_ARG(shown), STR_ARG(node->name), STR_ARG(buf_str(&keys))));
}

bool graph_state_update(struct eval_context *eval_context, const struct activation *activation,
			const struct json *output, struct run_value **out,
			struct failure *out_fault)
{
	const struct run *run = eval_context->run;
	const struct graph_node *node = run_node(run, activation);
	struct draft draft = { .eval_context = eval_context,
			       .rows = run->graph->rows->state,
			       .fault = { S(""), S("") } };
	*out = NULL;
	if (!has(run->graph->rows, state) || activation->scope != run->root ||
	    node->section != RUN_SECTION_STEPS)
		return true;
	if (!open_draft(&draft))
		return false;
	apply_node(&draft, node, output);
	check_route(&draft, node);
	*out_fault = draft.fault;
	if (draft.fault.code.size > 0)
		return true;
	eval_context->state = close_draft(&draft);
	if (!decision_value(eval_context->d, eval_context->state, out))
		return false;
	if (*out == NULL)
		*out_fault = failure_make(
			ERROR_TOO_LARGE,
			S("the state of the graph is larger than the limit of a value"));
	return true;
}
