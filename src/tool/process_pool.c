/* tool/process_pool.c -- custom tools with keep_alive: one process per tool and sandbox, one call at a
 * time.
 *
 * The process reads calls from stdin and writes answers to stdout, both as JSON lines:
 *
 *	{"id": EFFECT, "run": RUN, "inputs": {...}}                a call
 *	{"id": EFFECT, "output": ...} or {"id", "error": "why"}    its answer
 *
 * When the process dies, its current call fails, and the process is started again for the next
 * call.  When a call times out or is stopped, the process is killed, because only that ensures that
 * the work has stopped.  The process is also killed when it writes a line that is longer than
 * LIMIT_TOOL_OUTPUT_BYTES or does not answer the call.  In all these cases a call of class once
 * whose inputs were sent ends with OUTCOME_UNKNOWN.
 *
 * The process does not inherit the locks of effects, because it serves many of them.  It holds a
 * lock of the tool (locks/tool-NAME) instead, and while that lock is held no second process of the
 * tool is started: after a crash a call is repeated only after the old process is dead.  Its
 * workspace is a folder of its own; it cannot see the workspace of any run.
 *
 * Calls with different sandboxes (tool_host.sandbox_key) never share a process, a lock or a folder:
 * what one profile may read or reach does not get to another one.  A call that is repeated has the
 * sandbox that it had before, and so the same lock.
 *
 * At most LIMIT_KEPT_TOOLS processes are kept.  When another one is needed, the process that has
 * been idle longest ends; while none is idle, the call waits.
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
	struct str key;                  /* of its sandbox */
	struct str file;                 /* name of its lock and of its folder */
	struct hash definition, program; /* hashes of the version that is running */
	struct tool_child child;
	bool runs;
	bool ending;       /* was killed; process_ended() follows */
	bool outdated;     /* ends after the current call */
	bool awaits_place; /* waits in the queue for places of children */
	int64_t idle_since;
	int lock;
	struct buf line;
	struct custom_call *current;      /* was sent to the process */
	struct custom_call *first, *last; /* waiting */
	size_t waiting;
	uint64_t timer; /* timeout of the call, idle timeout, or delay before starting again */
};

struct process_pool {
	struct loop *loop;
	struct pooled_process *first;
	size_t running;
};

static void process_advance(struct pooled_process *pooled_process);

struct process_pool *process_pool_new(struct loop *loop)
{
	struct process_pool *process_pool = calloc(1, sizeof(*process_pool));
	require(process_pool != NULL);
	process_pool->loop = loop;
	return process_pool;
}

/* The processes end when the loop is freed. */
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

static struct custom_call *call_pop(struct pooled_process *pooled_process)
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
	call->pooled = false;
	custom_finish(call, output, error);
}

static void call_timed_out(void *context, uint64_t argument)
{
	struct pooled_process *pooled_process = context;
	(void)argument;
	pooled_process->child.timed_out = true;
	end_process(pooled_process);
}

static void idle_expired(void *context, uint64_t argument)
{
	(void)argument;
	end_process(context);
}

/* Ends the current call with the answer in the line; false when the line is not a valid answer. */
static bool take_answer(struct pooled_process *pooled_process, struct str line, struct error *error)
{
	struct custom_call *call = pooled_process->current;
	AUTO(arena) arena = { 0 };
	struct problems problems = { .arena = &arena };
	const struct json *json;
	if (call == NULL)
		return fail(error, ERROR_TOOL_FAILED,
			    "the program wrote a line while no call was open");
	if (!json_read(line, &arena, &json, error)) {
		error->code = ERROR_TOOL_FAILED;
		error_prefix(error, "the program wrote a line that is not JSON: ");
		return false;
	}
	struct contract_source source = { .json = json };
	const struct run_tool_message *message = run_tool_message_parse(&source, &arena, &problems);
	if (message == NULL || !str_equal(message->id, str_from_c(call->effect)) ||
	    has(message, output) == has(message, error))
		return fail(
			error, ERROR_TOOL_FAILED,
			"the program's answer must be {\"id\": id of the call, \"output\": …} or {\"id\", "
			"\"error\"}");
	pooled_process->current = NULL;
	pooled_process->child.log = NULL;
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
	pooled_process->child.log = NULL;
	if (call != NULL)
		finish(call, S(""), error);
}

static void output_received(struct tool_child *child, struct str bytes)
{
	struct pooled_process *pooled_process =
		(struct pooled_process *)(void *)((char *)child -
						  offsetof(struct pooled_process, child));
	struct error error;
	size_t at;
	if (pooled_process->ending)
		return;
	if (!buf_add(&pooled_process->line, bytes)) {
		fail(&error, ERROR_TOO_LARGE, "the program wrote a line of more than %d bytes",
		     LIMIT_TOOL_OUTPUT_BYTES);
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
	process_advance(pooled_process);
}

/* ---- the process --------------------------------------------------------------------- */

static void process_ended(struct tool_child *child, const struct process_result *result)
{
	struct pooled_process *pooled_process =
		(struct pooled_process *)(void *)((char *)child -
						  offsetof(struct pooled_process, child));
	struct error error;
	if (tool_child_succeeded(child, result, &error))
		fail(&error, ERROR_TOOL_FAILED, "the program ended without an answer");
	if (pooled_process->current != NULL && !tool_child_began(child))
		pooled_process->current->begun = false; /* the program never ran */
	tool_child_close(child);
	file_unlock(pooled_process->lock);
	pooled_process->runs = pooled_process->ending = pooled_process->outdated = false;
	pooled_process->process_pool->running--;
	timer_set(pooled_process, 0, NULL);
	buf_clear(&pooled_process->line);
	pooled_process->line.full = false;
	fail_current(pooled_process, &error);
	process_advance(pooled_process);
}

static void retry(void *context, uint64_t argument)
{
	struct pooled_process *pooled_process = context;
	(void)argument;
	pooled_process->timer = 0;
	process_advance(pooled_process);
}

/* True when another process may be kept.  Otherwise ends the one that has been idle longest. */
static bool pool_has_room(struct process_pool *process_pool, struct error *error)
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
	return fail(error, ERROR_UNAVAILABLE, "%d tools are already kept alive", LIMIT_KEPT_TOOLS);
}

static bool process_start_for(struct pooled_process *pooled_process, struct custom_call *call,
			      struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct sandbox_mount mount = { 0 };
	const char *data = custom_tools_folder(tool_context_customs(call->running.tool_context));
	const char *home =
		str_format(&arena, "%s/work/tools/" STR_FMT, data, STR_ARG(pooled_process->file))
			.at;
	const char *locks = str_format(&arena, "%s/locks", data).at;
	const char *lock =
		str_format(&arena, "%s/tool-" STR_FMT, locks, STR_ARG(pooled_process->file)).at;
	if (!pool_has_room(pooled_process->process_pool, error) || !folder_make(home, error) ||
	    !folder_make(locks, error) ||
	    !file_lock_for_children(lock, &pooled_process->lock, error))
		return false;
	const char *const *command = custom_command(call, "lines", &mount, &arena);
	const struct tool_child_spec spec = {
		.sandbox = call->host.sandbox,
		.limits = call->host.limits,
		.layers = call->host.layers,
		.box = { .workspace = home,
			 .mounts = &mount,
			 .command = command,
			 .mount_count = mount.host != NULL },
		.network = call->tool.definition->network,
		.proxy = call->host.proxy,
		/* It serves many runs. */
		.user = { .tool = pooled_process->name, .hosts = call->host.hosts },
		.lock = pooled_process->lock,
		.converse = true,
	};
	pooled_process->child =
		(struct tool_child){ .ended = process_ended, .piece = output_received };
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

static void call_send(struct pooled_process *pooled_process, struct custom_call *call)
{
	AUTO(buf) line = { 0 };
	buf_add_format(&line, "{\"id\":\"%s\",\"run\":\"%s\",\"inputs\":", call->effect, call->run);
	buf_add(&line, call->inputs);
	buf_add(&line, S("}\n"));
	double seconds = call->tool.definition->timeout_seconds;
	pooled_process->current = call;
	pooled_process->child.log = call->running.log;
	pooled_process->child.timeout_seconds = seconds;
	timer_set(pooled_process, (int64_t)(seconds * 1e6), call_timed_out);
	/* If stdin is closed, the process is about to end, and process_ended() fails the call. */
	call->begun = process_write(pooled_process->process_pool->loop,
				    pooled_process->child.process, buf_str(&line));
	if (!call->begun)
		end_process(pooled_process);
}

static void place_granted(void *context, uint64_t argument)
{
	struct pooled_process *pooled_process = context;
	(void)argument;
	pooled_process->awaits_place = false;
	process_advance(pooled_process);
}

/* All places for children are taken: the process starts when its turn in their queue comes. */
static void await_place(struct pooled_process *pooled_process)
{
	if (pooled_process->awaits_place)
		return;
	pooled_process->awaits_place = true;
	platform_child_await(loop_platform(pooled_process->process_pool->loop), place_granted,
			     pooled_process, 0);
}

/* Does the next step if there is one: ends or starts the process, or sends the next call. */
static void process_advance(struct pooled_process *pooled_process)
{
	struct error error;
	if (pooled_process->current != NULL || pooled_process->ending)
		return;
	if (pooled_process->runs && pooled_process->outdated) {
		end_process(pooled_process);
		return;
	}
	if (pooled_process->first == NULL) {
		if (pooled_process->runs) { /* start the idle timeout */
			pooled_process->idle_since =
				platform_mono_us(loop_platform(pooled_process->process_pool->loop));
			timer_set(pooled_process, LIMIT_TOOL_IDLE_MS * INT64_C(1000), idle_expired);
		}
		return;
	}
	struct custom_call *call = pooled_process->first;
	if (pooled_process->runs &&
	    (!hash_equal(&pooled_process->definition, &call->tool.definition_hash) ||
	     !hash_equal(&pooled_process->program, &call->tool.program_hash))) {
		end_process(pooled_process); /* another version is trusted now */
		return;
	}
	if (pooled_process->runs || process_start_for(pooled_process, call, &error)) {
		call_send(pooled_process, call_pop(pooled_process));
	} else if (error.code == ERROR_UNAVAILABLE &&
		   pooled_process->process_pool->running < LIMIT_KEPT_TOOLS) {
		await_place(pooled_process);
	} else if (error.code == ERROR_LOCKED || error.code == ERROR_UNAVAILABLE) {
		timer_set(pooled_process, RETRY_US, retry);
	} else {
		finish(call_pop(pooled_process), S(""), &error);
		timer_set(pooled_process, 0, retry);
	}
}

/* ---- interface ------------------------------------------------------------------------ */

/* Forgets sandboxes that no call uses any more.  Not while a process of them is being handled: only
 * where a new call arrives. */
static void pool_sweep(struct process_pool *process_pool)
{
	struct pooled_process **at = &process_pool->first;
	while (*at != NULL) {
		struct pooled_process *one = *at;
		if (one->key.size == 0 || one->runs || one->first != NULL || one->timer != 0 ||
		    one->awaits_place) {
			at = &one->next;
			continue;
		}
		*at = one->next;
		buf_done(&one->line);
		arena_done(&one->arena);
		free(one);
	}
}

static struct pooled_process *pooled_process_get(struct process_pool *process_pool,
						 const struct custom_call *call)
{
	struct str name = call->name, key = call->host.sandbox_key;
	for (struct pooled_process *pooled_process = process_pool->first; pooled_process != NULL;
	     pooled_process = pooled_process->next)
		if (str_equal(pooled_process->name, name) && str_equal(pooled_process->key, key))
			return pooled_process;
	pool_sweep(process_pool);
	struct pooled_process *pooled_process = calloc(1, sizeof(*pooled_process));
	require(pooled_process != NULL);
	pooled_process->process_pool = process_pool;
	pooled_process->name = str_copy(&pooled_process->arena, name);
	pooled_process->key = str_copy(&pooled_process->arena, key);
	pooled_process->file = key.size == 0
				       ? pooled_process->name
				       : str_format(&pooled_process->arena, STR_FMT "@" STR_FMT,
						    STR_ARG(name), STR_ARG(key));
	pooled_process->line = buf_limited(LIMIT_TOOL_OUTPUT_BYTES);
	pooled_process->next = process_pool->first;
	process_pool->first = pooled_process;
	return pooled_process;
}

void process_pool_call(struct process_pool *process_pool, struct custom_call *call)
{
	struct pooled_process *pooled_process = pooled_process_get(process_pool, call);
	struct error error;
	if (pooled_process->waiting >= LIMIT_TOOL_QUEUE) {
		limit_hit(REJECTION_TOOL_QUEUE);
		fail(&error, ERROR_OVERLOADED, "%d calls are already waiting for tool " STR_FMT,
		     LIMIT_TOOL_QUEUE, STR_ARG(call->name));
		custom_finish(call, S(""), &error);
		return;
	}
	call->pooled = true;
	call->next = NULL;
	if (pooled_process->last == NULL)
		pooled_process->first = call;
	else
		pooled_process->last->next = call;
	pooled_process->last = call;
	pooled_process->waiting++;
	process_advance(pooled_process);
}

static void stopped_in_queue(void *context, uint64_t id)
{
	struct custom_call *call = (struct custom_call *)tool_context_find(context, id);
	if (call != NULL)
		finish(call, S(""), &call->running.stop_error);
}

void process_pool_stop(struct process_pool *process_pool, struct custom_call *call)
{
	struct pooled_process *pooled_process = pooled_process_get(process_pool, call);
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
		process_advance(pooled_process);
	}
}
