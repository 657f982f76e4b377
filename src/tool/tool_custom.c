/* tool/tool_custom.c -- calls of custom tools.
 *
 * One struct tool serves all custom tools, because they come and go while the program runs.  Each
 * call first reads the tool from the disk on a reader thread and verifies definition, program,
 * trust and inputs.  Then it starts a process in the sandbox, as shell does.  The process gets the
 * inputs as JSON on stdin and writes the output as JSON to stdout; an exit status other than 0 is a
 * failure, whose message is the end of stderr.  An output that is not a mapping becomes {"result":
 * OUTPUT}.
 *
 * A call of class once fails only if the program itself reports the failure, with JSON on stdout
 * and an exit status from 1 to 128.  If it ends in any other way (timeout, stop, signal, output
 * that is not JSON), its effect may have happened, so the outcome is unknown and a person decides.
 *
 * Only a contained tool may write to the run's workspace: restoring the workspace for another step
 * could remove what any other tool wrote there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/packed.h"
#include "os/file.h"
#include "schema/schema.h"
#include "tool/custom_internal.h"

static struct custom_call *call_of_job(struct job *job)
{
	return (struct custom_call *)(void *)((char *)job - offsetof(struct custom_call, job));
}

/* ---- the result ---------------------------------------------------------------------- */

static bool read_output(struct custom_call *call, struct str text, const struct json **out_output,
			struct error *error)
{
	const struct json *json;
	text = str_trim(text);
	if (text.size == 0)
		return fail(error, ERROR_TOOL_FAILED,
			    "the program wrote no output; it must write JSON to stdout");
	if (!json_read(text, &call->arena, &json, error)) {
		error->code = ERROR_TOOL_FAILED;
		error_prefix(error, "the program's output is not JSON: ");
		return false;
	}
	if (json->kind != JSON_OBJECT) {
		struct json_member *member = arena_new(&call->arena, struct json_member);
		*member = (struct json_member){ .key = S("result"), .value = *json };
		struct json *whole = arena_new(&call->arena, struct json);
		*whole = (struct json){ .kind = JSON_OBJECT, .as.object = { member, 1 } };
		json = whole;
	}
	*out_output = json;
	return true;
}

/* The process of one call holds the effect's lock, so that recovery knows when it is dead.  A call that
 * a process of the pool serves takes none. */
static bool lock_take(struct custom_call *call, struct error *error)
{
	if (call->lock >= 0)
		return true;
	const char *data = custom_tools_folder(tool_context_customs(call->running.tool_context));
	const char *folder = str_format(&call->arena, "%s/locks", data).at;
	const char *path = str_format(&call->arena, "%s/%s", folder, call->effect).at;
	if (!folder_make(folder, error) || !file_lock_for_children(path, &call->lock, error))
		return false;
	call->lock_path = path;
	return true;
}

static void lock_drop(struct custom_call *call)
{
	struct error error;
	if (call->lock_path == NULL)
		return;
	(void)!file_remove(call->lock_path, &error);
	file_unlock(call->lock);
}

void custom_finish(struct custom_call *call, struct str output, const struct error *error)
{
	struct tool_result result = { 0 };
	bool once = call->class == RUN_CLASS_ONCE;
	platform_timer_stop(loop_platform(call->host.loop), call->timer);
	if (error != NULL)
		result.error = *error;
	else if (call->running.stop_error.code == ERROR_NONE || once)
		(void)!read_output(call, output, &result.output, &result.error);
	if (once && call->begun && !call->answered && result.output == NULL)
		tool_fail_unknown(&call->running, "it was started", &result.error);
	lock_drop(call);
	tool_context_done(&call->running, &result);
	arena_done(&call->arena);
	free(call);
}

/* Is the whole output JSON? */
static bool is_json(struct custom_call *call, const struct process_result *result)
{
	const struct json *json;
	struct error error;
	return result->output_dropped == 0 &&
	       json_read(str_trim(result->output), &call->arena, &json, &error);
}

static void child_ended(struct tool_child *child, const struct process_result *result)
{
	struct custom_call *call =
		(struct custom_call *)(void *)((char *)child - offsetof(struct custom_call, child));
	struct error error;
	bool good = tool_child_succeeded(child, result, &error);
	call->begun = tool_child_began(child);
	call->answered = !good && call->running.stop_error.code == ERROR_NONE &&
			 !tool_child_was_cut_off(child, result) && is_json(call, result);
	if (good && result->output_dropped > 0)
		good = fail(&error, ERROR_TOO_LARGE, "the program's output is larger than %d bytes",
			    LIMIT_TOOL_OUTPUT_BYTES);
	tool_child_close(child);
	custom_finish(call, result->output, good ? NULL : &error);
}

/* ---- the process --------------------------------------------------------------------- */

static const char *runner_of(const char *name, struct arena *arena)
{
	for (const struct packed_file *file = packed_runners; file->name != NULL; file++)
		if (strcmp(file->name, name) == 0)
			return str_c(arena, (struct str){ (const char *)file->bytes, file->size });
	require(false);
	return NULL;
}

const char *const *custom_command(const struct custom_call *call, const char *mode,
				  struct sandbox_mount *out_mount, struct arena *arena)
{
	const struct custom_tool *tool = &call->tool;
	const struct run_custom_tool *definition = tool->definition;
	bool boxed = tool->ours && call->host.sandbox->contained;
	const char *program =
		boxed ? str_format(arena, "/tool/" STR_FMT, STR_ARG(tool->name)).at : tool->program;
	size_t given = has(definition, command) ? definition->command.count : 0, count = 0;
	const char **words = arena_array(arena, const char *, given + 12);
	if (boxed)
		*out_mount = (struct sandbox_mount){ .host = tool->program, .inside = program };
	words[count++] = "/usr/bin/env";
	/* A process that serves many calls gets the ids with each call instead. */
	if (!definition->keep_alive) {
		words[count++] = str_format(arena, "BATON_EFFECT=%s", call->effect).at;
		words[count++] = str_format(arena, "BATON_RUN=%s", call->run).at;
	}
	if (has(definition, path)) {
		bool python = str_ends(definition->path, S(".py"));
		words[count++] = python ? "python3" : "node";
		if (python)
			words[count++] = "-I";
		words[count++] = python ? "-c" : "-e";
		words[count++] = runner_of(python ? "python" : "node", arena);
		words[count++] = program;
		words[count++] = str_c(arena, definition->function);
		words[count++] = mode;
		return words;
	}
	words[count++] = program;
	for (size_t i = 1; i < given; i++)
		words[count++] = str_c(arena, definition->command.at[i]);
	return words;
}

static void spawn(void *context, uint64_t id)
{
	struct custom_call *call = (struct custom_call *)tool_context_find(context, id);
	AUTO(arena) arena = { 0 };
	struct sandbox_mount mount = { 0 };
	struct error error;
	if (call == NULL)
		return;
	if (call->running.stop_error.code != ERROR_NONE) {
		custom_finish(call, S(""), &call->running.stop_error);
		return;
	}
	if (!lock_take(call, &error)) {
		custom_finish(call, S(""), &error);
		return;
	}
	const char *const *command = custom_command(call, "call", &mount, &arena);
	const struct tool_child_spec spec = {
		.sandbox = call->host.sandbox,
		.limits = call->host.limits,
		.layers = call->host.layers,
		.box = { .workspace = call->workspace,
			 .read_only = call->class != RUN_CLASS_CONTAINED,
			 .mounts = &mount,
			 .command = command,
			 .mount_count = mount.host != NULL },
		.network = call->tool.definition->network,
		.proxy = call->host.proxy,
		.user = { .run = str_from_c(call->run),
			  .step = call->step,
			  .tool = call->name,
			  .hosts = call->host.hosts },
		.lock = call->lock,
		.input = call->inputs,
		.timeout_seconds = call->tool.definition->timeout_seconds,
	};
	call->child.ended = child_ended;
	call->child.log = call->running.log;
	call->child.mask = call->running.mask;
	call->spawned = tool_child_start(&call->child, call->host.loop, &spec, &error);
	if (call->spawned)
		return;
	if (error.code == ERROR_UNAVAILABLE)
		platform_child_await(loop_platform(call->host.loop), spawn, context, id);
	else
		custom_finish(call, S(""), &error);
}

/* ---- verification -------------------------------------------------------------------- */

static bool check_inputs(struct custom_call *call)
{
	struct problems problems = { .arena = &call->arena };
	const struct json *inputs;
	struct schema *schema;
	bool good = json_read(call->inputs, &call->arena, &inputs, &call->error) &&
		    schema_compile(call->tool.definition->inputs, NULL, &call->arena, &schema,
				   &problems);
	if (good) {
		good = schema_check(schema, inputs, &call->arena, &problems);
		schema_done(schema);
	}
	if (problems.count > 0) {
		problems_fail(&problems, &call->error);
		error_prefix(&call->error, "inputs: ");
	}
	return good;
}

static void verify(struct job *job, unsigned thread)
{
	struct custom_call *call = call_of_job(job);
	(void)thread;
	if (!custom_tools_read(tool_context_customs(call->running.tool_context), call->name,
			       &call->arena, &call->tool, &call->error))
		return;
	if (call->tool.why.code != ERROR_NONE) {
		call->error = call->tool.why;
		return;
	}
	enum run_effect_class now = call->tool.definition->class;
	if (now != call->class && !(now == RUN_CLASS_CONTAINED && call->class == RUN_CLASS_ONCE)) {
		fail(&call->error, ERROR_CONFLICT,
		     "tool " STR_FMT
		     " had class %s when this run was created and now has class %s; start a new run",
		     STR_ARG(call->name), str_c(&call->arena, run_effect_class_name(call->class)),
		     str_c(&call->arena, run_effect_class_name(now)));
		return;
	}
	(void)!check_inputs(call);
}

static void verified(struct job *job)
{
	struct custom_call *call = call_of_job(job);
	if (call->error.code != ERROR_NONE)
		custom_finish(call, S(""), &call->error);
	else if (call->running.stop_error.code != ERROR_NONE)
		custom_finish(call, S(""), &call->running.stop_error);
	else if (call->tool.definition->keep_alive)
		process_pool_call(tool_context_process_pool(call->running.tool_context), call);
	else
		spawn(call->running.tool_context, call->running.id);
}

static void end(struct tool_running *running)
{
	struct custom_call *call = (struct custom_call *)running;
	if (call->pooled)
		process_pool_stop(tool_context_process_pool(running->tool_context), call);
	else if (call->spawned)
		tool_child_end(&call->child);
	/* Otherwise verified() or spawn() ends the call when it sees stop_error. */
}

static bool start(const struct tool_host *host, const struct tool_call *call, uint64_t *out_running,
		  struct error *error)
{
	if (tool_context_customs(host->tool_context) == NULL)
		return fail(error, ERROR_NOT_FOUND, "tool " STR_FMT " does not exist",
			    STR_ARG(call->name));
	struct custom_call *call_state = calloc(1, sizeof(*call_state));
	require(call_state != NULL);
	call_state->host = *host;
	call_state->name = str_copy(&call_state->arena, call->name);
	call_state->class = call->class;
	call_state->step = str_copy(&call_state->arena, call->step);
	call_state->inputs = json_print(&call_state->arena, call->inputs);
	call_state->workspace = str_c(&call_state->arena, str_from_c(call->workspace));
	call_state->lock = call->lock;
	uuid_text(&call->effect, call_state->effect);
	uuid_text(&call->run, call_state->run);
	call_state->running.end = end;
	tool_context_begin(&call_state->running, host, call);
	*out_running = call_state->running.id;
	call_state->job = (struct job){ .run = verify, .done = verified, .name = "custom tool" };
	platform_submit(loop_platform(host->loop), LANE_READER, &call_state->job);
	return true;
}

const struct tool tool_custom = {
	.name = "custom",
	.text = "A custom tool of the data folder.",
	.risk = RUN_RISK_HIGH,
	.class = RUN_CLASS_ONCE, /* the default of a definition */
	.start = start,
	.child = true,
	.locks_itself = true,
	.stop = tool_context_stop,
};
