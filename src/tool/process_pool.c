/* tool/process_pool.c -- tools that stay: one process each, asked in JSON lines, one call at a time.
 *
 *	{"id": EFFECT, "run": RUN, "inputs": {...}}   to its stdin
 *	{"id": EFFECT, "output": ...}                 from its stdout, or {"id", "error": "why"}
 *
 * A process that dies fails the call it was at and is started again for the next one.  A call that
 * takes too long, or is told to end, ends the process with it: there is no other way to be sure
 * that the work has stopped.  So does a line of its that is over LIMIT_TOOL_OUTPUT_BYTES or no
 * answer to the call.  In all these cases a call of class once ends as unknown, once it was asked.
 *
 * An effect's own lock is not for a process that serves many.  It holds the tool's instead
 * (locks/tool-NAME), and no other process of that tool is started while anybody has it: after a
 * crash a call is repeated only when the old process is known dead.  It has a folder of its own for
 * a workspace and sees no run's, since runs come and go.
 *
 * Kept processes take at most LIMIT_KEPT_TOOLS of the children's places: the one that was idle
 * longest makes room for another, and while none is idle the call waits.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "os/file.h"
#include "tool/custom_internal.h"

enum { RETRY_US = 20000 };

struct pooled_process {
	struct process_pool *process_pool;
	struct pooled_process *next;
	struct arena arena;
	struct str name;
	struct hash definition, program; /* of what runs */
	struct tool_child child;
	bool runs;
	bool ending;   /* told to; its end will come */
	bool outdated; /* it serves no further call */
	int64_t idle_since;
	int lock;
	struct buf line;
	struct custom_call *current; /* the one that was asked */
	struct custom_call *first, *last;
	size_t waiting;
	uint64_t timer; /* of the call, of idleness, or until another try to start */
};

struct process_pool {
	struct loop *loop;
	struct pooled_process *first;
	size_t running;
};

static void pump(struct pooled_process *pooled_process);

struct process_pool *process_pool_new(struct loop *loop)
{
	struct process_pool *process_pool = calloc(1, sizeof(*process_pool));
	require(process_pool != NULL);
	process_pool->loop = loop;
	return process_pool;
}

/* The loop ends the processes when it is freed. */
void process_pool_free(struct process_pool *process_pool)
{
	for (struct pooled_process *next, *pooled_process = process_pool->first;
	     pooled_process != NULL; pooled_process = next) {
		next = pooled_process->next;
		if (pooled_process->runs) {
			tool_child_close(&pooled_process->child);
			file_unlock(pooled_process->lock);
		}
		buf_done(&pooled_process->line);
		arena_done(&pooled_process->arena);
		free(pooled_process);
	}
	free(process_pool);
}

static void timer_set(struct pooled_process *pooled_process, int64_t delay_us,
		      platform_callback *fired)
{
	struct platform *platform = loop_platform(pooled_process->process_pool->loop);
	platform_timer_stop(platform, pooled_process->timer);
	pooled_process->timer =
		fired == NULL ? 0
			      : platform_timer_start(platform, delay_us, fired, pooled_process, 0);
}

static void end_process(struct pooled_process *pooled_process)
{
	if (!pooled_process->runs || pooled_process->ending)
		return;
	pooled_process->ending = true;
	tool_child_end(&pooled_process->child);
}

/* ---- calls --------------------------------------------------------------------------- */

static struct custom_call *command_list_pop(struct pooled_process *pooled_process)
{
	struct custom_call *call = pooled_process->first;
	pooled_process->first = call->next;
	if (pooled_process->first == NULL)
		pooled_process->last = NULL;
	pooled_process->waiting--;
	return call;
}

static void finish(struct custom_call *call, struct str output, const struct error *error)
{
	call->kept = false;
	custom_finish(call, output, error);
}

static void call_timed_out(void *context, uint64_t argument)
{
	struct pooled_process *pooled_process = context;
	(void)argument;
	pooled_process->child.timed_out = true;
	end_process(pooled_process);
}

static void idle(void *context, uint64_t argument)
{
	(void)argument;
	end_process(context);
}

/* The answer to the current call; false when the line is none. */
static bool take_answer(struct pooled_process *pooled_process, struct str line, struct error *error)
{
	struct custom_call *call = pooled_process->current;
	AUTO(arena) arena = { 0 };
	struct problems problems = { .arena = &arena };
	const struct json *json;
	if (call == NULL)
		return fail(error, ERROR_TOOL_FAILED, "it answered and nobody had asked");
	if (!json_read(line, &arena, &json, error)) {
		error->code = ERROR_TOOL_FAILED;
		error_prefix(error, "it answered with a line that is no JSON: ");
		return false;
	}
	struct contract_source source = { .json = json };
	const struct run_tool_message *message = run_tool_message_parse(&source, &arena, &problems);
	if (message == NULL || !str_equal(message->id, str_from_c(call->effect)) ||
	    has(message, output) == has(message, error))
		return fail(
			error, ERROR_TOOL_FAILED,
			"its line must be {\"id\": that of the call, \"output\": …} or {\"id\", "
			"\"error\"}");
	pooled_process->current = NULL;
	timer_set(pooled_process, 0, NULL);
	if (has(message, error)) {
		struct error failed;
		call->answered = true;
		fail(&failed, ERROR_TOOL_FAILED, STR_FMT, STR_ARG(str_head(message->error, 400)));
		finish(call, S(""), &failed);
	} else {
		finish(call, json_print(&arena, message->output), NULL);
	}
	return true;
}

static void fail_current(struct pooled_process *pooled_process, const struct error *error)
{
	struct custom_call *call = pooled_process->current;
	pooled_process->current = NULL;
	if (call != NULL)
		finish(call, S(""), error);
}

static void piece_came(struct tool_child *child, struct str bytes)
{
	struct pooled_process *pooled_process =
		(struct pooled_process *)(void *)((char *)child -
						  offsetof(struct pooled_process, child));
	struct error error;
	size_t at;
	if (pooled_process->ending)
		return;
	if (!buf_add(&pooled_process->line, bytes)) {
		fail(&error, ERROR_TOO_LARGE, "its line is over %d bytes", LIMIT_TOOL_OUTPUT_BYTES);
		fail_current(pooled_process, &error);
		end_process(pooled_process);
		return;
	}
	while (!pooled_process->ending && str_find(buf_str(&pooled_process->line), S("\n"), &at)) {
		if (!take_answer(pooled_process, str_head(buf_str(&pooled_process->line), at),
				 &error)) {
			fail_current(pooled_process, &error);
			end_process(pooled_process);
		}
		buf_drop_front(&pooled_process->line, at + 1);
	}
	pump(pooled_process);
}

/* ---- the process --------------------------------------------------------------------- */

static void process_ended(struct tool_child *child, const struct process_result *result)
{
	struct pooled_process *pooled_process =
		(struct pooled_process *)(void *)((char *)child -
						  offsetof(struct pooled_process, child));
	struct error error;
	if (tool_child_succeeded(child, result, &error))
		fail(&error, ERROR_TOOL_FAILED, "it ended without an answer");
	if (pooled_process->current != NULL && !tool_child_began(child))
		pooled_process->current->begun = false; /* nobody has read the question */
	tool_child_close(child);
	file_unlock(pooled_process->lock);
	pooled_process->runs = pooled_process->ending = pooled_process->outdated = false;
	pooled_process->process_pool->running--;
	timer_set(pooled_process, 0, NULL);
	buf_clear(&pooled_process->line);
	pooled_process->line.full = false;
	fail_current(pooled_process, &error);
	pump(pooled_process);
}

static void try_again(void *context, uint64_t argument)
{
	struct pooled_process *pooled_process = context;
	(void)argument;
	pooled_process->timer = 0;
	pump(pooled_process);
}

/* Whether one more may stay; if not, the one that has been idle longest is told to end. */
static bool has_place(struct process_pool *process_pool, struct error *error)
{
	struct pooled_process *longest = NULL;
	if (process_pool->running < LIMIT_KEPT_TOOLS)
		return true;
	for (struct pooled_process *at = process_pool->first; at != NULL; at = at->next)
		if (at->runs && at->current == NULL && at->first == NULL &&
		    (longest == NULL || at->idle_since < longest->idle_since))
			longest = at;
	if (longest != NULL)
		end_process(longest);
	return fail(error, ERROR_UNAVAILABLE, "%d tools are kept alive already", LIMIT_KEPT_TOOLS);
}

static bool process_start_for(struct pooled_process *pooled_process, struct custom_call *call,
			      struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct sandbox_mount mount = { 0 };
	const char *data = custom_tools_folder(tool_context_customs(call->running.tool_context));
	const char *home =
		str_format(&arena, "%s/work/tools/" STR_FMT, data, STR_ARG(pooled_process->name))
			.at;
	const char *locks = str_format(&arena, "%s/locks", data).at;
	const char *lock =
		str_format(&arena, "%s/tool-" STR_FMT, locks, STR_ARG(pooled_process->name)).at;
	if (!has_place(pooled_process->process_pool, error) || !folder_make(home, error) ||
	    !folder_make(locks, error) || !file_lock(lock, &pooled_process->lock, error))
		return false;
	const char *const *command = custom_command(call, "lines", &mount, &arena);
	const struct tool_child_spec spec = {
		.sandbox = call->host.sandbox,
		.box = { .workspace = home,
			 .network = call->tool.definition->network,
			 .mounts = &mount,
			 .command = command,
			 .mount_count = mount.host != NULL },
		.lock = pooled_process->lock,
		.converse = true,
	};
	pooled_process->child = (struct tool_child){ .ended = process_ended, .piece = piece_came };
	if (!tool_child_start(&pooled_process->child, pooled_process->process_pool->loop, &spec,
			      error)) {
		file_unlock(pooled_process->lock);
		return false;
	}
	pooled_process->runs = true;
	pooled_process->process_pool->running++;
	pooled_process->definition = call->tool.definition_hash;
	pooled_process->program = call->tool.program_hash;
	return true;
}

static void ask(struct pooled_process *pooled_process, struct custom_call *call)
{
	AUTO(buf) line = { 0 };
	buf_add_format(&line, "{\"id\":\"%s\",\"run\":\"%s\",\"inputs\":", call->effect, call->run);
	buf_add(&line, call->inputs);
	buf_add(&line, S("}\n"));
	double seconds = call->tool.definition->timeout_seconds;
	pooled_process->current = call;
	pooled_process->child.timeout_seconds = seconds;
	timer_set(pooled_process, (int64_t)(seconds * 1e6), call_timed_out);
	/* One that has closed its stdin is about to end, and its end fails the call. */
	call->begun = process_write(pooled_process->process_pool->loop,
				    pooled_process->child.process, buf_str(&line));
	if (!call->begun)
		end_process(pooled_process);
}

/* Does whatever can be done: another process, the next call, or nothing. */
static void pump(struct pooled_process *pooled_process)
{
	struct error error;
	if (pooled_process->current != NULL || pooled_process->ending)
		return;
	if (pooled_process->runs && pooled_process->outdated) {
		end_process(pooled_process);
		return;
	}
	if (pooled_process->first == NULL) {
		if (pooled_process->runs) { /* nobody asks it anything */
			pooled_process->idle_since =
				platform_mono_us(loop_platform(pooled_process->process_pool->loop));
			timer_set(pooled_process, LIMIT_TOOL_IDLE_MS * INT64_C(1000), idle);
		}
		return;
	}
	struct custom_call *call = pooled_process->first;
	if (pooled_process->runs &&
	    (!hash_equal(&pooled_process->definition, &call->tool.definition_hash) ||
	     !hash_equal(&pooled_process->program, &call->tool.program_hash))) {
		end_process(pooled_process); /* what it was started as is not what is trusted now */
		return;
	}
	if (pooled_process->runs || process_start_for(pooled_process, call, &error)) {
		ask(pooled_process, command_list_pop(pooled_process));
	} else if (error.code == ERROR_LOCKED || error.code == ERROR_UNAVAILABLE) {
		timer_set(pooled_process, RETRY_US, try_again);
	} else {
		finish(command_list_pop(pooled_process), S(""), &error);
		timer_set(pooled_process, 0, try_again);
	}
}

/* ---- for the rest of the room --------------------------------------------------------- */

static struct pooled_process *keeper_of(struct process_pool *process_pool, struct str name)
{
	for (struct pooled_process *pooled_process = process_pool->first; pooled_process != NULL;
	     pooled_process = pooled_process->next)
		if (str_equal(pooled_process->name, name))
			return pooled_process;
	struct pooled_process *pooled_process = calloc(1, sizeof(*pooled_process));
	require(pooled_process != NULL);
	pooled_process->process_pool = process_pool;
	pooled_process->name = str_copy(&pooled_process->arena, name);
	pooled_process->line = buf_limited(LIMIT_TOOL_OUTPUT_BYTES);
	pooled_process->next = process_pool->first;
	process_pool->first = pooled_process;
	return pooled_process;
}

void process_pool_call(struct process_pool *process_pool, struct custom_call *call)
{
	struct pooled_process *pooled_process = keeper_of(process_pool, call->name);
	struct error error;
	if (pooled_process->waiting >= LIMIT_TOOL_QUEUE) {
		limit_hit(REJECTION_TOOL_QUEUE);
		fail(&error, ERROR_OVERLOADED, "%d calls wait for tool " STR_FMT " already",
		     LIMIT_TOOL_QUEUE, STR_ARG(call->name));
		custom_finish(call, S(""), &error);
		return;
	}
	call->kept = true;
	call->next = NULL;
	if (pooled_process->last == NULL)
		pooled_process->first = call;
	else
		pooled_process->last->next = call;
	pooled_process->last = call;
	pooled_process->waiting++;
	pump(pooled_process);
}

static void stopped_in_queue(void *context, uint64_t id)
{
	struct custom_call *call = (struct custom_call *)tool_context_find(context, id);
	if (call != NULL)
		finish(call, S(""), &call->running.told);
}

void process_pool_stop(struct process_pool *process_pool, struct custom_call *call)
{
	struct pooled_process *pooled_process = keeper_of(process_pool, call->name);
	if (pooled_process->current == call) {
		end_process(pooled_process);
		return;
	}
	struct custom_call **at = &pooled_process->first, *before = NULL;
	while (*at != call) {
		before = *at;
		at = &(*at)->next;
	}
	*at = call->next;
	if (pooled_process->last == call)
		pooled_process->last = before;
	pooled_process->waiting--;
	platform_timer_start(loop_platform(process_pool->loop), 0, stopped_in_queue,
			     call->running.tool_context, call->running.id);
}

void process_pool_renew(struct process_pool *process_pool, struct str name)
{
	for (struct pooled_process *pooled_process = process_pool->first; pooled_process != NULL;
	     pooled_process = pooled_process->next) {
		if (!pooled_process->runs || !str_equal(pooled_process->name, name))
			continue;
		pooled_process->outdated = true;
		pump(pooled_process);
	}
}
