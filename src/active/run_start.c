/* active/run_start.c -- executor_start(): a new run.
 *
 * A reader thread finds, compiles and pins the definition and checks the inputs; then the start is a
 * command like any other.  A definition whose file has not changed since it was compiled is started on
 * the loop, unless the start has a long value or something to look up in the store.
 */
#include <stdlib.h>

#include "active/active_run.h"
#include "active/executor_state.h"
#include "active/idempotency.h"
#include "active/large_value.h"
#include "base/limits.h"
#include "base/log.h"
#include "contract/field_copy.h"
#include "contract/run_agent_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_start_types.h"
#include "definition/definition_compile.h"
#include "llm/llm.h"
#include "tool/custom_tools.h"
#include "tool/tool.h"

struct starting {
	struct executor_read read;
	struct executor_start start; /* copied into the read's arena */
	bool large;                  /* the caller gave up the memory of its inputs: this is it */
	struct arena given;
	bool chosen;                 /* the caller gave the id */
	bool others;                 /* other workflows or agents are compiled into it */
	struct store_reader *reader; /* for the length of start_work() */
	struct cached_graph *graph;
	const struct json *inputs;
	struct printed_value *printed; /* of inputs that are too long for the loop */
	struct problems problems;
	struct error error;
	int64_t began; /* us, monotonic */
	struct pending_command *pending;
	struct store_request known; /* what the key was used for before */
	bool repeated;
};

static void starting_free(struct starting *s)
{
	executor_discard(s->read.executor, &s->given);
	executor_discard(s->read.executor, &s->read.arena);
	free(s);
}

/* What steps may call: what is built in, and the custom tools as they are defined now.  Those that
 * cannot be called are among them: whoever names one is to hear why. */
static struct definition_tools known_tools(struct executor *executor, struct arena *arena,
					   struct sha256 *source)
{
	struct custom_tool *customs = NULL;
	size_t built_in = executor->settings.tools->count, count = 0;
	if (executor->settings.customs != NULL)
		count = custom_tools_list(executor->settings.customs, arena, &customs);
	struct definition_tool *all = arena_array(arena, struct definition_tool, built_in + count);
	for (size_t i = 0; i < built_in; i++)
		all[i] = executor->catalogue[i];
	for (size_t i = 0; i < count; i++) {
		enum run_effect_class class = customs[i].definition == NULL
						      ? RUN_CLASS_ONCE
						      : customs[i].definition->class;
		if (class == RUN_CLASS_CONTAINED && !executor->settings.contained)
			class = RUN_CLASS_ONCE;
		all[built_in + i] = (struct definition_tool){ customs[i].name, class };
		/* When a tool changes, the same definition text compiles to another graph. */
		sha256_add(source, &customs[i].definition_hash, sizeof(struct hash));
	}
	return (struct definition_tools){ .at = all, .count = built_in + count };
}

/* Checks that every custom tool of the graph is trusted. */
static bool check_trust(struct starting *s)
{
	struct executor *executor = s->read.executor;
	const struct graph *graph = s->graph->graph;
	const struct tool_table *built_in = executor->settings.tools;
	for (size_t i = 0; i < graph->node_count; i++) {
		const struct graph_node *node = &graph->nodes[i];
		struct custom_tool tool;
		if (node->kind != RUN_NODE_TOOL || executor->settings.customs == NULL ||
		    tool_find(built_in, node->row->tool) != built_in->other)
			continue;
		if (!custom_tools_read(executor->settings.customs, node->row->tool, &s->read.arena,
				       &tool, &s->error))
			return false;
		if (tool.why.code != ERROR_NONE) {
			s->error = tool.why;
			error_prefix(&s->error, "step " STR_FMT ": ", STR_ARG(node->name));
			return false;
		}
	}
	return true;
}

/* Another workflow that this one runs as a sub-run.  The graph then depends on more than the text of
 * this definition, so it must not be found by the text. */
static bool other_workflow(void *context, struct str name, struct arena *arena,
			   struct str *out_yaml, struct error *error)
{
	struct starting *s = context;
	struct executor *executor = s->read.executor;
	s->others = true;
	return executor->settings.definition(executor->settings.context, name, arena, out_yaml,
					     error);
}

/* An agent of the registry, as it is now. */
static bool registered_agent(void *context, struct str name, struct arena *arena,
			     struct run_graph_agent *out_agent, struct error *error)
{
	struct starting *s = context;
	const struct run_agent *agent;
	s->others = true;
	const struct executor *executor = s->read.executor;
	if (executor->settings.agent == NULL)
		return fail(error, ERROR_NOT_FOUND, "there is no agent called " STR_FMT,
			    STR_ARG(name));
	if (!executor->settings.agent(s->reader, name, arena, &agent, error))
		return false;
	SET(out_agent, name, agent->name);
	SET(out_agent, driver, run_driver_name(agent->driver));
	SET(out_agent, model, agent->llm_config->model);
	SET(out_agent, system, agent->system_prompt);
	SET(out_agent, options, agent->options);
	if (has(agent, timeout_seconds))
		SET(out_agent, timeout_us, (int64_t)(agent->timeout_seconds * 1e6));
	return true;
}

static void check_agent(void *context, const struct run_graph_agent *agent, struct arena *arena,
			struct problems *problems)
{
	const struct starting *s = context;
	llm_check(s->read.executor->settings.drivers, agent, arena, problems);
}

static bool definition_signature(const struct starting *s, struct file_signature *out_signature)
{
	const struct executor_settings *settings = &s->read.executor->settings;
	return s->start.yaml.size == 0 && settings->definition_signature != NULL &&
	       settings->definition_signature(settings->context, s->start.workflow, out_signature);
}

/* Its own text and the built-in tools are all that the graph depends on. */
static bool depends_on_text_alone(const struct starting *s)
{
	const struct graph *graph = s->graph->graph;
	const struct tool_table *built_in = s->read.executor->settings.tools;
	for (size_t i = 0; i < graph->node_count; i++)
		if (graph->nodes[i].kind == RUN_NODE_TOOL &&
		    tool_find(built_in, graph->nodes[i].row->tool) == built_in->other)
			return false;
	return !s->others;
}

/* From now on a start needs no reader, until the definition changes. */
static void remember_graph(struct starting *s, const struct file_signature *signature)
{
	struct executor *executor = s->read.executor;
	if (depends_on_text_alone(s) && str_equal(s->start.workflow, s->graph->graph->name))
		graph_cache_set_signature(&executor->graphs, s->graph, signature);
}

static bool compile_text(struct starting *s)
{
	struct executor *executor = s->read.executor;
	struct arena *arena = &s->read.arena;
	struct str yaml = s->start.yaml;
	if (yaml.size == 0 &&
	    !executor->settings.definition(executor->settings.context, s->start.workflow, arena,
					   &yaml, &s->error))
		return false;
	struct sha256 sha;
	sha256_init(&sha);
	sha256_add(&sha, yaml.at, yaml.size);
	struct definition_tools tools = known_tools(executor, arena, &sha);
	struct hash source = sha256_finish(&sha);
	s->graph = graph_cache_find(&executor->graphs, &source, true);
	if (s->graph != NULL)
		return check_trust(s);
	struct str graph;
	tools.workflow = other_workflow;
	tools.agent = registered_agent;
	tools.check_agent = check_agent;
	tools.context = s;
	if (!definition_compile(yaml, &tools, arena, &graph, &s->problems))
		return problems_fail(&s->problems, &s->error);
	s->graph =
		graph_cache_load(&executor->graphs, graph, s->others ? NULL : &source, &s->error);
	return s->graph != NULL && check_trust(s);
}

static bool compile(struct starting *s)
{
	struct file_signature signature; /* of before the text is read */
	bool known = definition_signature(s, &signature);
	if (!compile_text(s))
		return false;
	if (known)
		remember_graph(s, &signature);
	return true;
}

/* A caller's own id may be that of a stored run, which need not be in memory (recovery may still be
 * on its way to it): then nothing new may take its place there. */
static bool is_new(struct starting *s, struct store_reader *reader)
{
	struct store_run row;
	bool found = false;
	if (s->chosen &&
	    !reader->ops->read_run(reader, &s->start.run, &s->read.arena, &row, &found, &s->error))
		return false;
	return found ? fail(&s->error, ERROR_CONFLICT, "there is already a run with this id")
		     : true;
}

/* Inputs that the definition takes, with its defaults. */
static bool check_inputs(struct starting *s)
{
	static const struct json nothing = { .kind = JSON_OBJECT };
	struct arena *arena = &s->read.arena;
	const struct json *given = s->start.inputs.json;
	if (s->large) {
		given = json_copy(arena, given); /* as reading its text would give it */
		arena_done(&s->given);
	}
	given = given == NULL ? &nothing : given;
	if (given->kind != JSON_OBJECT)
		return fail(&s->error, ERROR_INVALID, "inputs must be an object, not %s",
			    json_kind_name(given->kind));
	if (s->start.workflow.size > 0 && !str_equal(s->start.workflow, s->graph->graph->name))
		return fail(&s->error, ERROR_INVALID,
			    "the definition calls itself " STR_FMT ", not " STR_FMT,
			    STR_ARG(s->graph->graph->name), STR_ARG(s->start.workflow));
	s->inputs = graph_inputs(s->graph->graph, given, arena, &s->problems);
	if (s->inputs == NULL) {
		problems_fail(&s->problems, &s->error);
		error_prefix(&s->error, "inputs: ");
	}
	return s->inputs != NULL;
}

static void start_work(struct executor_read *read, struct store_reader *reader)
{
	struct starting *s = (struct starting *)read;
	s->reader = reader;
	if (!idempotency_claim_look_up(s->pending, reader, &read->arena, &s->known, &s->repeated,
				       &s->error) ||
	    s->repeated)
		return;
	if (is_new(s, reader) && compile(s) && check_inputs(s) && s->large)
		s->printed = large_value_text(s->inputs, &read->arena);
}

static void start_refuse(struct starting *s)
{
	struct pending_command *pending = s->pending;
	struct executor_reply reply = { .error = &s->error,
					.problems = s->problems.count > 0 ? &s->problems : NULL,
					.run = s->start.run };
	pending->replied(pending->context, pending->argument, &reply);
	pending_command_free(pending);
	if (s->graph != NULL)
		graph_cache_release(&s->read.executor->graphs, s->graph);
}

/* The caller has given up by then: nothing is started. */
static bool in_time(struct starting *s)
{
	struct executor *executor = s->read.executor;
	int64_t most = executor->limits.start_us;
	int64_t took = platform_mono_us(executor->settings.platform) - s->began;
	return most == 0 || took <= most ||
	       fail(&s->error, ERROR_TIMEOUT,
		    "starting the run took longer than workflow_start_timeout_seconds (%.6g); "
		    "nothing was started",
		    (double)most / 1e6);
}

static void start_done(struct executor_read *read)
{
	struct starting *s = (struct starting *)read;
	struct executor *executor = read->executor;
	if (s->error.code == ERROR_NONE && !s->repeated && !in_time(s))
		log_line(LOG_WARNING, "%s", s->error.text);
	if (s->error.code == ERROR_NONE && !s->repeated && executor->draining)
		fail(&s->error, ERROR_UNAVAILABLE, EXECUTOR_DRAINING_TEXT);
	if (s->error.code == ERROR_NONE && !s->repeated &&
	    active_run_find(executor, &s->start.run) != NULL)
		fail(&s->error, ERROR_CONFLICT, "there is already a run with this id");
	if (s->error.code != ERROR_NONE) {
		start_refuse(s);
	} else if (s->repeated) {
		pending_command_reply_repeated(s->pending, &s->known);
		pending_command_free(s->pending);
	} else {
		struct active_run *active = active_run_new(executor, s->start.run, s->graph);
		s->pending->command.inputs = s->inputs;
		s->pending->printed = s->printed;
		arena_join(&s->pending->arena, &read->arena);
		active_run_command(active, s->pending);
	}
	starting_free(s);
}

static void start_never(struct pending_command *pending)
{
	starting_free((struct starting *)pending->waiting);
}

static struct starting *starting_new(struct executor *executor, const struct executor_start *start)
{
	struct starting *s = calloc(1, sizeof(*s));
	require(s != NULL);
	struct arena *arena = &s->read.arena;
	s->start = (struct executor_start){ .workflow = str_copy(arena, start->workflow),
					    .yaml = str_copy(arena, start->yaml),
					    .run = start->run };
	s->large = start->inputs.memory != NULL;
	s->start.inputs.json = executor_value_take(start->inputs, s->large ? &s->given : arena);
	s->problems.arena = arena;
	s->chosen = !uuid_is_zero(&s->start.run);
	if (!s->chosen) {
		uint8_t dice[16];
		platform_random(executor->settings.platform, dice, sizeof(dice));
		s->start.run = uuid_from_random(dice);
	}
	s->read.work = start_work;
	s->read.done = start_done;
	s->began = platform_mono_us(executor->settings.platform);
	s->read.executor = executor;
	return s;
}

/* The definition was compiled before and nothing of this start is a reader's business: neither a
 * long value nor something to look up. */
static bool find_graph(struct starting *s)
{
	struct file_signature signature;
	if (s->chosen || s->large || !definition_signature(s, &signature))
		return false;
	s->graph = graph_cache_find_named(&s->read.executor->graphs, s->start.workflow, &signature);
	return s->graph != NULL;
}

void executor_start(struct executor *executor, const struct executor_start *start,
		    executor_replied *replied, void *context, uint64_t argument)
{
	struct starting *s = starting_new(executor, start);
	struct pending_command *pending = pending_command_new(COMMAND_CREATE);
	struct run_start *kept = run_start_new(&pending->arena);
	if (start->start != NULL)
		COPY_FIELDS(run_start, start->start, run_start, kept, &pending->arena);
	pending->command.start = kept;
	pending->replied = replied;
	pending->context = context;
	pending->argument = argument;
	pending->waiting = &s->read;
	pending->waiting_discard = start_never;
	s->pending = pending;
	if (!executor_admits(executor, &s->error)) {
		start_refuse(s);
		starting_free(s);
		return;
	}
	if (start->key.key.size == 0 && find_graph(s)) {
		check_inputs(s);
		start_done(&s->read);
		return;
	}
	idempotency_claim_take(executor, pending, &start->key, pending_command_submit);
}
