/* cli/command_sim.c -- baton sim: run a workflow in a simulated world with crashes and faults.
 *
 * Nothing real happens: no server, no data folder, no child process, no model.  Sub-workflows are looked for beside the
 * file, in the definitions of the data folder, and among the built-in ones.
 */
#include <string.h>

#include "base/limits.h"
#include "base/packed.h"
#include "base/yaml.h"
#include "cli/arguments.h"
#include "cli/child_command.h"
#include "cli/output.h"
#include "cli/server_request.h"
#include "contract/problem.h"
#include "contract/run_simulation_types.h"
#include "os/file.h"
#include "os/process.h"
#include "simulation/simulation.h"

enum { CHILD_FAILED = -2 };

struct sim_state {
	struct cli *cli;
	const char *folder; /* of the file, with a slash; "" = none */
	struct simulation_spec spec;
	int64_t seeds, first;
};

static const struct {
	const char *word;
	enum simulation_fault fault;
} fault_words[] = {
	{ "crash", SIMULATION_CRASH },         { "tool", SIMULATION_TOOL },
	{ "model", SIMULATION_MODEL },         { "late", SIMULATION_LATE },
	{ "duplicate", SIMULATION_DUPLICATE }, { "none", (enum simulation_fault)0 },
};

/* ---- definitions ------------------------------------------------------------------------------- */

static bool packed_definition(struct cli *cli, struct str name, struct str *out_yaml)
{
	for (const struct packed_file *file = cli->packed_examples; file->name != NULL; file++)
		if (str_equal(str_from_c(file->name), name)) {
			*out_yaml = (struct str){ (const char *)file->bytes, file->size };
			return true;
		}
	return false;
}

static bool find_definition(void *context, struct str name, struct arena *arena,
			    struct str *out_yaml, struct error *error)
{
	struct sim_state *state = context;
	struct error missing;
	const char *const folders[] = {
		state->folder, str_format(arena, "%s/definitions/", state->cli->data_folder).at
	};
	size_t at;
	if (str_find(name, S("/"), &at) || str_find(name, S(".."), &at))
		return fail(error, ERROR_NOT_FOUND, "no workflow is called " STR_FMT,
			    STR_ARG(name));
	for (size_t i = 0; i < COUNT(folders); i++) {
		struct str path =
			str_format(arena, "%s" STR_FMT ".yaml", folders[i], STR_ARG(name));
		if (file_read(str_c(arena, path), LIMIT_YAML_BYTES, arena, out_yaml, &missing))
			return true;
	}
	if (packed_definition(state->cli, name, out_yaml))
		return true;
	return fail(error, ERROR_NOT_FOUND, "no workflow is called " STR_FMT, STR_ARG(name));
}

static bool read_definition(struct sim_state *state, const char *name, struct error *error)
{
	struct cli *cli = state->cli;
	const char *slash = strrchr(name, '/');
	bool is_file = slash != NULL || strstr(name, ".yaml") != NULL ||
		       strstr(name, ".yml") != NULL || strstr(name, ".json") != NULL;
	state->folder = slash == NULL ? ""
				      : str_c(&cli->arena,
					      (struct str){ name, (size_t)(slash - name) + 1 });
	if (is_file)
		return file_read(name, LIMIT_YAML_BYTES, &cli->arena, &state->spec.yaml, error);
	return find_definition(state, str_from_c(name), &cli->arena, &state->spec.yaml, error);
}

/* ---- arguments --------------------------------------------------------------------------------- */

static bool read_faults(const char *text, unsigned *out_faults, struct error *error)
{
	struct str rest = str_from_c(text), word;
	*out_faults = 0;
	while (str_cut(&rest, ',', &word)) {
		size_t i = 0;
		while (i < COUNT(fault_words) && !str_equal(str_from_c(fault_words[i].word), word))
			i++;
		if (i == COUNT(fault_words))
			return fail(error, ERROR_USAGE,
				    "--faults: " STR_FMT
				    " is not one of crash, tool, model, late, duplicate, none",
				    STR_ARG(word));
		*out_faults |= (unsigned)fault_words[i].fault;
	}
	return true;
}

static bool read_inputs(struct sim_state *state, struct error *error)
{
	struct cli *cli = state->cli;
	struct json_builder *builder = json_builder_new(&cli->arena);
	struct json_writer writer = { .builder = builder };
	const char *given;
	bool good = true;
	json_open(&writer, '{');
	for (size_t i = 0; good && (given = cli_value(cli, "--input", i)) != NULL; i++) {
		struct str rest = str_from_c(given), name;
		struct error ignored;
		const struct json *value;
		good = strchr(given, '=') != NULL && str_cut(&rest, '=', &name) && name.size > 0;
		if (!good)
			break;
		json_key(&writer, name);
		if (json_read(rest, &cli->arena, &value, &ignored))
			json_put_tree(&writer, value);
		else
			json_put_str(&writer, rest);
	}
	json_close(&writer, '}');
	state->spec.inputs = json_builder_end(builder);
	return good || fail(error, ERROR_USAGE, "--input %s: write NAME=VALUE", given);
}

static bool read_script(struct sim_state *state, struct error *error)
{
	struct cli *cli = state->cli;
	const char *path = cli_value(cli, "--script", 0);
	struct str text;
	const struct json *json;
	struct problems problems = { .arena = &cli->arena };
	if (path == NULL)
		return true;
	cli->error_file = path;
	if (!file_read(path, LIMIT_YAML_BYTES, &cli->arena, &text, error) ||
	    !yaml_read(text, &cli->arena, &json, error))
		return false;
	const struct contract_source source = { .json = json, .text = text };
	state->spec.script = run_simulation_script_parse(&source, &cli->arena, &problems);
	if (state->spec.script == NULL)
		return problems_fail(&problems, error);
	cli->error_file = NULL;
	return true;
}

static bool read_number(struct cli *cli, const char *name, int64_t fallback, int64_t *out,
			struct error *error)
{
	const char *text = cli_value(cli, name, 0);
	*out = fallback;
	if (text == NULL ||
	    (str_to_int(str_from_c(text), out) && *out >= 1 && *out <= LIMIT_SIMULATED_WORLDS))
		return true;
	return fail(error, ERROR_USAGE, "%s: %s is not a number from 1 to %d", name, text,
		    LIMIT_SIMULATED_WORLDS);
}

static bool prepare(struct cli *cli, struct error *error)
{
	struct sim_state *state = arena_new(&cli->arena, struct sim_state);
	const char *faults = cli_value(cli, "--faults", 0), *check = cli_value(cli, "--check", 0);
	cli->state = state;
	state->cli = cli;
	state->spec.definition = find_definition;
	state->spec.context = state;
	state->spec.faults = SIMULATION_ALL;
	state->spec.check = str_from_c(check);
	int64_t single;
	if (!read_number(cli, "--seeds", 100, &state->seeds, error) ||
	    !read_number(cli, "--first", 1, &state->first, error) ||
	    !read_number(cli, "--seed", 1, &single, error))
		return false;
	if (cli_has(cli, "--seed")) {
		state->seeds = 1;
		state->first = single;
	}
	return (faults == NULL || read_faults(faults, &state->spec.faults, error)) &&
	       read_inputs(state, error) && read_script(state, error) &&
	       read_definition(state, cli_argument(cli, 0), error);
}

/* ---- the report -------------------------------------------------------------------------------- */

static void put_text(struct json_writer *writer, const char *name, struct str text)
{
	json_key(writer, str_from_c(name));
	json_put_str(writer, text);
}

static void print_failure(struct sim_state *state, const struct simulation_outcome *outcome,
			  uint64_t seed, unsigned tried)
{
	struct cli *cli = state->cli;
	if (cli->json) {
		AUTO(buf) text = { 0 };
		struct json_writer writer = { .out = &text };
		json_open(&writer, '{');
		json_key(&writer, S("seed"));
		json_put_int(&writer, (int64_t)seed);
		put_text(&writer, "reason", outcome->reason);
		put_text(&writer, "status", outcome->status);
		json_key(&writer, S("outputs"));
		json_put_raw(&writer, outcome->outputs);
		put_text(&writer, "faults", outcome->faults);
		put_text(&writer, "history", outcome->history);
		json_close(&writer, '}');
		cli_json_line(CLI_RESULT, buf_str(&text));
		return;
	}
	cli_line(CLI_RESULT, "seed %llu fails: " STR_FMT, (unsigned long long)seed,
		 STR_ARG(outcome->reason));
	cli_line(CLI_RESULT, "the shortest way to it (%u worlds tried):", tried);
	cli_lines(CLI_RESULT, outcome->faults);
	cli_line(CLI_RESULT, "what happened:");
	cli_lines(CLI_RESULT, outcome->history);
	cli_line(CLI_RESULT, "again: baton sim %s --seed %llu", cli_argument(cli, 0),
		 (unsigned long long)seed);
}

/* The same seed must give the same bytes. */
static bool repeats(struct sim_state *state, const struct simulation_outcome *calm, uint64_t seed,
		    const struct simulation_outcome *first)
{
	AUTO(arena) arena = { 0 };
	struct simulation_outcome again;
	simulation_seed(&state->spec, calm, seed, &arena, &again);
	return str_equal(again.store, first->store);
}

static int fail_start(struct cli *cli, const struct problems *problems, struct error *error)
{
	if (problems->count > 0) {
		cli->error_file = cli_argument(cli, 0);
		(void)problems_fail(problems, error);
	}
	return cli_fail(cli, error);
}

/* What some worlds came to. */
struct tally {
	int64_t seeds, faults, crashes;
};

static void print_tally(struct cli *cli, const struct tally *tally)
{
	if (cli->json)
		cli_json_line(CLI_RESULT,
			      str_format(&cli->arena,
					 "{\"seeds\":%lld,\"faults\":%lld,\"crashes\":%lld}",
					 (long long)tally->seeds, (long long)tally->faults,
					 (long long)tally->crashes));
	else
		cli_line(CLI_RESULT,
			 "%lld seeds passed: %lld faults, %lld of them crashes; every run %s",
			 (long long)tally->seeds, (long long)tally->faults,
			 (long long)tally->crashes,
			 cli_has(cli, "--check") ? "passed the check" : "ended as without faults");
}

/* One world; true when it passed. */
static bool simulate_one(struct sim_state *state, const struct simulation_outcome *calm,
			 uint64_t seed, struct tally *tally)
{
	AUTO(arena) arena = { 0 };
	struct simulation_outcome outcome;
	simulation_seed(&state->spec, calm, seed, &arena, &outcome);
	tally->seeds++;
	tally->crashes += outcome.crashes;
	tally->faults += outcome.fault_count;
	if (!repeats(state, calm, seed, &outcome)) {
		outcome.failed = true;
		outcome.reason = S("the same seed gave another history");
	}
	if (cli_has(state->cli, "--trace") && !outcome.failed)
		cli_lines(CLI_RESULT, outcome.history);
	if (!outcome.failed)
		return true;
	unsigned tried = simulation_shrink(&state->spec, calm, seed, &arena, &outcome);
	print_failure(state, &outcome, seed, tried);
	return false;
}

static int simulate_here(struct sim_state *state, const struct simulation_outcome *calm)
{
	struct tally tally = { 0 };
	for (int64_t i = 0; i < state->seeds; i++)
		if (!simulate_one(state, calm, (uint64_t)(state->first + i), &tally)) {
			(void)cli_flush();
			return error_row(ERROR_TOOL_FAILED)->exit_status;
		}
	print_tally(state->cli, &tally);
	return cli_flush();
}

/* ---- many seeds: some at a time in a child, because crashed lives leave their memory behind ------ */

static const char *const *batch_words(struct sim_state *state, int64_t first, int64_t seeds)
{
	struct cli *cli = state->cli;
	const char **words = arena_array(&cli->arena, const char *, 2 * cli->option_count + 10);
	size_t count = 0;
	words[count++] = "/proc/self/exe";
	words[count++] = "--home";
	words[count++] = cli->data_folder;
	words[count++] = "sim";
	words[count++] = cli_argument(cli, 0);
	for (size_t i = 0; i < cli->option_count; i++) {
		const struct cli_parsed_option *option = &cli->options[i];
		if (option->option == NULL) /* a setting: the environment has it, or --home above */
			continue;
		if (strcmp(option->option->name, "--seeds") == 0 ||
		    strcmp(option->option->name, "--first") == 0)
			continue;
		words[count++] = option->option->name;
		if (option->option->value != NULL)
			words[count++] = option->value;
	}
	words[count++] = str_format(&cli->arena, "--first=%lld", (long long)first).at;
	words[count++] = str_format(&cli->arena, "--seeds=%lld", (long long)seeds).at;
	if (!cli->json)
		words[count++] = "--json";
	return words;
}

/* Reads the tally of a child; a child that found a failing seed is run again for people. */
static int simulate_batch(struct sim_state *state, int64_t first, int64_t seeds,
			  struct tally *tally)
{
	struct cli *cli = state->cli;
	AUTO(arena) arena = { 0 };
	const struct process_spec spec = { .argv = batch_words(state, first, seeds),
					   .environment = cli->environment,
					   .output_limit = LIMIT_JSON_BYTES };
	struct child_command child = child_command_wait(&spec, &arena);
	const struct json *json;
	struct error error;
	if (child.status != 0 && cli->json) {
		cli_json_line(CLI_RESULT, child.output);
		return child.status;
	}
	if (!json_read(child.output, &arena, &json, &error)) {
		fail(&error, ERROR_INTERNAL, "the simulator ended with status %d: " STR_FMT,
		     child.status, STR_ARG(child.errors));
		return cli_fail(cli, &error);
	}
	if (child.status != 0) {
		state->first = cli_number(json, "seed");
		state->seeds = 1;
		return CHILD_FAILED;
	}
	tally->seeds += cli_number(json, "seeds");
	tally->faults += cli_number(json, "faults");
	tally->crashes += cli_number(json, "crashes");
	return 0;
}

static int simulate_in_batches(struct sim_state *state, const struct simulation_outcome *calm)
{
	struct tally tally = { 0 };
	int status = 0;
	int64_t end = state->first + state->seeds;
	for (int64_t first = state->first; status == 0 && first < end;
	     first += LIMIT_SIMULATION_BATCH) {
		int64_t left = end - first;
		status = simulate_batch(
			state, first, left < LIMIT_SIMULATION_BATCH ? left : LIMIT_SIMULATION_BATCH,
			&tally);
	}
	if (status == CHILD_FAILED)
		return simulate_here(state, calm);
	if (status != 0)
		return status;
	print_tally(state->cli, &tally);
	return cli_flush();
}

static int run(struct cli *cli)
{
	struct sim_state *state = cli->state;
	struct problems problems = { .arena = &cli->arena };
	struct simulation_outcome calm;
	struct error error = { 0 };
	if (!simulation_calm(&state->spec, &cli->arena, &calm, &problems, &error))
		return fail_start(cli, &problems, &error);
	if (calm.failed) {
		cli_line(CLI_RESULT, "without faults: " STR_FMT, STR_ARG(calm.reason));
		return error_row(ERROR_TOOL_FAILED)->exit_status;
	}
	if (!cli->json)
		cli_line(CLI_PROGRESS,
			 "without faults the run ends as " STR_FMT
			 " after %u calls and %u turns; outputs " STR_FMT,
			 STR_ARG(calm.status), calm.calls, calm.turns, STR_ARG(calm.outputs));
	return state->seeds > LIMIT_SIMULATION_BATCH ? simulate_in_batches(state, &calm)
						     : simulate_here(state, &calm);
}

const struct cli_command command_sim = {
	.name = "sim",
	.text = "Simulate a workflow with scripted tools and models under crashes and faults",
	.group = CLI_RUNS,
	.kind = CLI_PLAIN,
	.arguments = { { .name = "FILE|NAME", .value_kind = CLI_WORKFLOW } },
	.options = { { .name = "--input",
		       .value = "NAME=VALUE",
		       .text = "Input of the workflow",
		       .repeats = true },
		     { .name = "--seeds",
		       .value = "COUNT",
		       .text = "Number of worlds to simulate (default 100)" },
		     { .name = "--first",
		       .value = "N",
		       .text = "The first of these worlds (default 1)" },
		     { .name = "--seed", .value = "N", .text = "Simulate this world only" },
		     { .name = "--faults",
		       .value = "LIST",
		       .text = "Which faults happen: crash,tool,model,late,duplicate (default: all), or none" },
		     { .name = "--script",
		       .value = "FILE",
		       .text = "What tools, agents and people do",
		       .value_kind = CLI_FILE },
		     { .name = "--check",
		       .value = "EXPRESSION",
		       .text = "What must hold in every world, over status, outputs, inputs, calm_status and calm_outputs "
			       "(default: the run ends as without faults)" },
		     { .name = "--trace", .text = "Print the events of every world" } },
	.examples = { { "baton sim deploy.yaml --seeds 500",
			"Find out whether it survives crashes and failing tools" },
		      { "baton sim deploy.yaml --faults crash,late",
			"Crashes and late results only" },
		      { "baton sim deploy.yaml --check \"status != 'failed' or outputs == null\"",
			"Check something else" } },
	.exits = { { 1, "a world failed" } },
	.prepare = prepare,
	.run = run,
};
