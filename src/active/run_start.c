/* active/run_start.c -- executor_start(): a new run.
 *
 * A reader thread finds, compiles and pins the definition and checks the inputs; then the start is a
 * command like any other.  A definition whose file has not changed since it was compiled is started on
 * the loop, unless the start has a long value or something to look up in the store.
 */
#include <stdlib.h>

#include "active/active_run.h"
#include "active/definition_reading.h"
#include "active/executor_state.h"
#include "active/idempotency.h"
#include "active/large_value.h"
#include "active/run_cassette.h"
#include "active/run_profile.h"
#include "active/run_prompts.h"
#include "base/limits.h"
#include "base/log.h"
#include "contract/field_copy.h"
#include "contract/pipeline_types.h"
#include "contract/run_graph_types.h"
#include "contract/run_start_types.h"
#include "definition/graph.h"
#include "llm/llm.h"
#include "llm/models.h"
#include "tool/custom_tools.h"
#include "tool/tool.h"
#include "definition/definition_compile.h"
#include "definition/graph.h"

struct starting {
	struct executor_read read;
	struct executor_start start; /* copied into the read's arena */
	bool large;                  /* the caller gave up the memory of its inputs: this is it */
	struct arena given;
	bool chosen;                           /* the caller gave the id */
	struct definition_reading definitions; /* for the length of start_work() */
	struct cached_graph *graph;
	const struct json *inputs;
	struct printed_value *printed; /* of inputs that are too long for the loop */
	struct problems problems;
	struct error error;
	int64_t began; /* us, monotonic */
	struct pending_command *pending;
	struct run_start *kept;                 /* the command's; written on the loop only */
	const struct pipeline_profile *profile; /* NULL = none */
	struct store_request known;             /* what the key was used for before */
	bool repeated;
};

static void starting_free(struct starting *s)
{
	executor_discard(s->read.executor, &s->given);
	executor_discard(s->read.executor, &s->read.arena);
	free(s);
}

/* Nothing of a simulated run leaves the program: it needs neither keys nor trust. */
static bool is_simulated(const struct starting *s)
{
	return has(s->kept, simulated) && s->kept->simulated;
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

static bool check_graph_keys(struct starting *s, const struct run_graph *graph);

/* Checks that the keys of the agents' models are there, before any work is done: those of these nodes,
 * of their bodies and of the workflows they run. */
static bool check_keys(struct starting *s, struct run_graph_node_list nodes)
{
	const struct llm_host *host = s->read.executor->settings.models;
	static const struct json nothing = { .kind = JSON_OBJECT };
	for (size_t i = 0; host != NULL && i < nodes.count; i++) {
		const struct run_graph_node *node = &nodes.at[i];
		const struct run_graph_agent *agent = node->agent;
		if ((has(node, body) && !check_keys(s, node->body)) ||
		    (has(node, graph) && !check_graph_keys(s, node->graph)))
			return false;
		if (!has(node, agent) ||
		    models_check_key(host->models, agent->driver, agent->model,
				     has(agent, options) ? agent->options : &nothing, &s->error))
			continue;
		error_prefix(&s->error, "step " STR_FMT ", agent " STR_FMT ": ",
			     STR_ARG(node->name), STR_ARG(agent->name));
		return false;
	}
	return true;
}

static bool check_graph_keys(struct starting *s, const struct run_graph *graph)
{
	return check_keys(s, graph->nodes) && (!has(graph, undos) || check_keys(s, graph->undos));
}

static bool check_world(struct starting *s)
{
	return is_simulated(s) || (check_trust(s) && check_graph_keys(s, s->graph->graph->rows));
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
	return !s->definitions.others;
}

/* From now on a start needs no reader, until the definition changes. */
static void remember_graph(struct starting *s, const struct file_signature *signature)
{
	struct executor *executor = s->read.executor;
	if (depends_on_text_alone(s) && str_equal(s->start.workflow, s->graph->graph->name))
		graph_cache_set_signature(&executor->graphs, s->graph, signature);
}

/* The caller has not written the definition, so its places mean nothing to the caller. */
static void forget_places(struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++) {
		problems->at[i].pointer = S("");
		problems->at[i].line = problems->at[i].column = 0;
	}
}

static bool compile_text(struct starting *s)
{
	struct executor *executor = s->read.executor;
	struct arena *arena = &s->read.arena;
	struct str yaml = s->start.yaml;
	s->definitions.prompts_folder = s->start.prompts_folder;
	if (yaml.size == 0 &&
	    !definition_reading_text(&s->definitions, s->start.workflow, arena, &yaml, &s->error))
		return false;
	struct sha256 sha;
	sha256_init(&sha);
	sha256_add(&sha, yaml.at, yaml.size);
	s->definitions.profile = s->profile;
	run_cassette_read(s->kept, &s->definitions, &sha);
	struct definition_tools tools = definition_reading_tools(&s->definitions, &sha);
	if (s->profile != NULL) {
		struct str profile = pipeline_profile_text(s->profile, arena);
		sha256_add(&sha, profile.at, profile.size);
	}
	struct hash source = sha256_finish(&sha);
	s->graph = graph_cache_find(&executor->graphs, &source, true);
	if (s->graph != NULL)
		return check_world(s);
	struct str graph;
	if (!definition_compile(yaml, &tools, arena, &graph, &s->problems)) {
		if (s->start.generated)
			forget_places(&s->problems);
		return problems_fail(&s->problems, &s->error);
	}
	s->graph = graph_cache_load(&executor->graphs, graph,
				    s->definitions.others ? NULL : &source, &s->error);
	return s->graph != NULL && check_world(s);
}

static bool compile(struct starting *s)
{
	struct file_signature signature; /* of before the text is read */
	bool known = definition_signature(s, &signature);
	if (!compile_text(s))
		return false;
	if (known && s->profile == NULL && !run_cassette_is_named(s->kept) && !is_simulated(s))
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
		return definition_reading_misnamed(s->graph->graph->name, s->start.workflow,
						   &s->error);
	s->inputs = graph_inputs(s->graph->graph, given, arena, &s->problems);
	if (s->inputs == NULL) {
		problems_fail(&s->problems, &s->error);
		error_prefix(&s->error, "inputs: ");
	}
	return s->inputs != NULL;
}

static bool read_profile(struct starting *s, struct store_reader *reader)
{
	struct executor *executor = s->read.executor;
	struct arena *arena = &s->read.arena;
	struct str name = has(s->kept, profile) ? s->kept->profile : S("");
	return run_profile_read(executor, reader, name, arena, &s->profile, &s->error) &&
	       run_profile_choose_models(&s->profile, s->kept, arena, &s->error) &&
	       (s->profile == NULL || run_profile_check_repository(s->profile, arena, &s->error));
}

static void start_work(struct executor_read *read, struct store_reader *reader)
{
	struct starting *s = (struct starting *)read;
	s->definitions = (struct definition_reading){ .executor = read->executor,
						      .reader = reader,
						      .arena = &read->arena };
	if (!idempotency_claim_look_up(s->pending, reader, &read->arena, &s->known, &s->repeated,
				       &s->error) ||
	    s->repeated)
		return;
	if (!is_new(s, reader) || !read_profile(s, reader) || !compile(s) || !check_inputs(s) ||
	    !run_cassette_open(read->executor, s->kept, s->graph->graph->rows, &s->start.run,
			       &s->error))
		return;
	if (s->large)
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

static void look_again_work(struct executor_read *read, struct store_reader *reader)
{
	struct starting *s = (struct starting *)read;
	bool new = is_new(s, reader);
	(void)new; /* s->error has the conflict */
}

/* A command for this id is being looked up, which does not mean that there is such a run.  Once that
 * lookup is over, the run is in memory or there is none. */
static bool must_look_again(struct starting *s)
{
	const struct active_run *active = active_run_find(s->read.executor, &s->start.run);
	if (s->error.code != ERROR_NONE || s->repeated || active == NULL ||
	    active->state != ACTIVE_RUN_OPENING)
		return false;
	s->read.work = look_again_work;
	executor_read(s->read.executor, &s->read);
	return true;
}

static void start_done(struct executor_read *read)
{
	struct starting *s = (struct starting *)read;
	struct executor *executor = read->executor;
	if (s->error.code == ERROR_NONE && !s->repeated && !in_time(s))
		log_line(LOG_WARNING, "%s", s->error.text);
	if (s->error.code == ERROR_NONE && !s->repeated && executor->draining)
		fail(&s->error, ERROR_UNAVAILABLE, EXECUTOR_DRAINING_TEXT);
	if (must_look_again(s))
		return;
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
		run_profile_record(s->kept, s->profile, &read->arena);
		run_prompts_record(s->kept, s->graph->graph, &read->arena);
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
	s->start =
		(struct executor_start){ .workflow = str_copy(arena, start->workflow),
					 .yaml = str_copy(arena, start->yaml),
					 .prompts_folder = str_copy(arena, start->prompts_folder),
					 .run = start->run,
					 .generated = start->generated };
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
	if (s->chosen || s->large || s->read.executor->profiled || has(s->kept, profile) ||
	    has(s->kept, models) || run_cassette_is_named(s->kept) ||
	    !definition_signature(s, &signature))
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
	pending->command.request_id = str_copy(&pending->arena, start->request_id);
	pending->replied = replied;
	pending->context = context;
	pending->argument = argument;
	pending->waiting = &s->read;
	pending->waiting_discard = start_never;
	s->pending = pending;
	s->kept = kept;
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
