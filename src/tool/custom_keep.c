/* tool/custom_keep.c -- tools that stay: one process each, asked in JSON lines, one call at a time.
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
#include "tool/custom_inside.h"

enum { RETRY_US = 20000 };

struct keeper {
	struct keepers *keepers;
	struct keeper *next;
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

struct keepers {
	struct loop *loop;
	struct keeper *first;
	size_t running;
};

static void pump(struct keeper *keeper);

struct keepers *keepers_new(struct loop *loop)
{
	struct keepers *keepers = calloc(1, sizeof(*keepers));
	require(keepers != NULL);
	keepers->loop = loop;
	return keepers;
}

/* The loop ends the processes when it is freed. */
void keepers_free(struct keepers *keepers)
{
	for (struct keeper *next, *keeper = keepers->first; keeper != NULL; keeper = next) {
		next = keeper->next;
		if (keeper->runs) {
			child_close(&keeper->child);
			file_unlock(keeper->lock);
		}
		buf_done(&keeper->line);
		arena_done(&keeper->arena);
		free(keeper);
	}
	free(keepers);
}

static void timer_set(struct keeper *keeper, int64_t delay_us, system_callback *fired)
{
	struct system *system = loop_system(keeper->keepers->loop);
	system_timer_stop(system, keeper->timer);
	keeper->timer = fired == NULL ? 0 : system_timer_start(system, delay_us, fired, keeper, 0);
}

static void end_process(struct keeper *keeper)
{
	if (!keeper->runs || keeper->ending)
		return;
	keeper->ending = true;
	child_end(&keeper->child);
}

/* ---- calls --------------------------------------------------------------------------- */

static struct custom_call *queue_take(struct keeper *keeper)
{
	struct custom_call *call = keeper->first;
	keeper->first = call->next;
	if (keeper->first == NULL)
		keeper->last = NULL;
	keeper->waiting--;
	return call;
}

static void finish(struct custom_call *call, struct str output, const struct error *error)
{
	call->kept = false;
	custom_finish(call, output, error);
}

static void call_timed_out(void *context, uint64_t argument)
{
	struct keeper *keeper = context;
	(void)argument;
	keeper->child.timed_out = true;
	end_process(keeper);
}

static void idle(void *context, uint64_t argument)
{
	(void)argument;
	end_process(context);
}

/* The answer to the current call; false when the line is none. */
static bool take_answer(struct keeper *keeper, struct str line, struct error *error)
{
	struct custom_call *call = keeper->current;
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
	keeper->current = NULL;
	timer_set(keeper, 0, NULL);
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

static void fail_current(struct keeper *keeper, const struct error *error)
{
	struct custom_call *call = keeper->current;
	keeper->current = NULL;
	if (call != NULL)
		finish(call, S(""), error);
}

static void piece_came(struct tool_child *child, struct str bytes)
{
	struct keeper *keeper =
		(struct keeper *)(void *)((char *)child - offsetof(struct keeper, child));
	struct error error;
	size_t at;
	if (keeper->ending)
		return;
	if (!buf_add(&keeper->line, bytes)) {
		fail(&error, ERROR_TOO_LARGE, "its line is over %d bytes", LIMIT_TOOL_OUTPUT_BYTES);
		fail_current(keeper, &error);
		end_process(keeper);
		return;
	}
	while (!keeper->ending && str_find(buf_str(&keeper->line), S("\n"), &at)) {
		if (!take_answer(keeper, str_head(buf_str(&keeper->line), at), &error)) {
			fail_current(keeper, &error);
			end_process(keeper);
		}
		buf_drop_front(&keeper->line, at + 1);
	}
	pump(keeper);
}

/* ---- the process --------------------------------------------------------------------- */

static void process_ended(struct tool_child *child, const struct process_result *result)
{
	struct keeper *keeper =
		(struct keeper *)(void *)((char *)child - offsetof(struct keeper, child));
	struct error error;
	if (child_succeeded(child, result, &error))
		fail(&error, ERROR_TOOL_FAILED, "it ended without an answer");
	if (keeper->current != NULL && !child_began(child))
		keeper->current->begun = false; /* nobody has read the question */
	child_close(child);
	file_unlock(keeper->lock);
	keeper->runs = keeper->ending = keeper->outdated = false;
	keeper->keepers->running--;
	timer_set(keeper, 0, NULL);
	buf_clear(&keeper->line);
	keeper->line.full = false;
	fail_current(keeper, &error);
	pump(keeper);
}

static void try_again(void *context, uint64_t argument)
{
	struct keeper *keeper = context;
	(void)argument;
	keeper->timer = 0;
	pump(keeper);
}

/* Whether one more may stay; if not, the one that has been idle longest is told to end. */
static bool has_place(struct keepers *keepers, struct error *error)
{
	struct keeper *longest = NULL;
	if (keepers->running < LIMIT_KEPT_TOOLS)
		return true;
	for (struct keeper *at = keepers->first; at != NULL; at = at->next)
		if (at->runs && at->current == NULL && at->first == NULL &&
		    (longest == NULL || at->idle_since < longest->idle_since))
			longest = at;
	if (longest != NULL)
		end_process(longest);
	return fail(error, ERROR_UNAVAILABLE, "%d tools are kept alive already", LIMIT_KEPT_TOOLS);
}

static bool process_start_for(struct keeper *keeper, struct custom_call *call, struct error *error)
{
	AUTO(arena) arena = { 0 };
	struct sandbox_mount mount = { 0 };
	const char *data = customs_folder(works_customs(call->running.works));
	const char *home =
		str_format(&arena, "%s/work/tools/" STR_FMT, data, STR_ARG(keeper->name)).at;
	const char *locks = str_format(&arena, "%s/locks", data).at;
	const char *lock = str_format(&arena, "%s/tool-" STR_FMT, locks, STR_ARG(keeper->name)).at;
	if (!has_place(keeper->keepers, error) || !folder_make(home, error) ||
	    !folder_make(locks, error) || !file_lock(lock, &keeper->lock, error))
		return false;
	const char *const *command = custom_command(call, "lines", &mount, &arena);
	const struct tool_child_spec spec = {
		.sandbox = call->host.sandbox,
		.box = { .workspace = home,
			 .network = call->tool.definition->network,
			 .mounts = &mount,
			 .command = command,
			 .mount_count = mount.host != NULL },
		.lock = keeper->lock,
		.converse = true,
	};
	keeper->child = (struct tool_child){ .ended = process_ended, .piece = piece_came };
	if (!child_start(&keeper->child, keeper->keepers->loop, &spec, error)) {
		file_unlock(keeper->lock);
		return false;
	}
	keeper->runs = true;
	keeper->keepers->running++;
	keeper->definition = call->tool.definition_hash;
	keeper->program = call->tool.program_hash;
	return true;
}

static void ask(struct keeper *keeper, struct custom_call *call)
{
	AUTO(buf) line = { 0 };
	buf_add_format(&line, "{\"id\":\"%s\",\"run\":\"%s\",\"inputs\":", call->effect, call->run);
	buf_add(&line, call->inputs);
	buf_add(&line, S("}\n"));
	double seconds = call->tool.definition->timeout_seconds;
	keeper->current = call;
	keeper->child.timeout_seconds = seconds;
	timer_set(keeper, (int64_t)(seconds * 1e6), call_timed_out);
	/* One that has closed its stdin is about to end, and its end fails the call. */
	call->begun = process_write(keeper->keepers->loop, keeper->child.process, buf_str(&line));
	if (!call->begun)
		end_process(keeper);
}

/* Nobody asks it anything. */
static void rest(struct keeper *keeper)
{
	keeper->idle_since = system_mono_us(loop_system(keeper->keepers->loop));
	timer_set(keeper, LIMIT_TOOL_IDLE_MS * INT64_C(1000), idle);
}

/* Does whatever can be done: another process, the next call, or nothing. */
static void pump(struct keeper *keeper)
{
	struct error error;
	if (keeper->current != NULL || keeper->ending)
		return;
	if (keeper->runs && keeper->outdated) {
		end_process(keeper);
		return;
	}
	if (keeper->first == NULL) {
		if (keeper->runs)
			rest(keeper);
		return;
	}
	struct custom_call *call = keeper->first;
	if (keeper->runs && (!hash_equal(&keeper->definition, &call->tool.definition_hash) ||
			     !hash_equal(&keeper->program, &call->tool.program_hash))) {
		end_process(keeper); /* what it was started as is not what is trusted now */
		return;
	}
	if (keeper->runs || process_start_for(keeper, call, &error)) {
		ask(keeper, queue_take(keeper));
	} else if (error.code == ERROR_LOCKED || error.code == ERROR_UNAVAILABLE) {
		timer_set(keeper, RETRY_US, try_again);
	} else {
		finish(queue_take(keeper), S(""), &error);
		timer_set(keeper, 0, try_again);
	}
}

/* ---- for the rest of the room --------------------------------------------------------- */

static struct keeper *keeper_of(struct keepers *keepers, struct str name)
{
	for (struct keeper *keeper = keepers->first; keeper != NULL; keeper = keeper->next)
		if (str_equal(keeper->name, name))
			return keeper;
	struct keeper *keeper = calloc(1, sizeof(*keeper));
	require(keeper != NULL);
	keeper->keepers = keepers;
	keeper->name = str_copy(&keeper->arena, name);
	keeper->line = buf_limited(LIMIT_TOOL_OUTPUT_BYTES);
	keeper->next = keepers->first;
	keepers->first = keeper;
	return keeper;
}

void keeper_take(struct keepers *keepers, struct custom_call *call)
{
	struct keeper *keeper = keeper_of(keepers, call->name);
	struct error error;
	if (keeper->waiting >= LIMIT_TOOL_QUEUE) {
		limit_hit(REJECTION_TOOL_QUEUE);
		fail(&error, ERROR_OVERLOADED, "%d calls wait for tool " STR_FMT " already",
		     LIMIT_TOOL_QUEUE, STR_ARG(call->name));
		custom_finish(call, S(""), &error);
		return;
	}
	call->kept = true;
	call->next = NULL;
	if (keeper->last == NULL)
		keeper->first = call;
	else
		keeper->last->next = call;
	keeper->last = call;
	keeper->waiting++;
	pump(keeper);
}

static void stopped_in_queue(void *context, uint64_t id)
{
	struct custom_call *call = (struct custom_call *)works_find(context, id);
	if (call != NULL)
		finish(call, S(""), &call->running.told);
}

void keeper_stop(struct keepers *keepers, struct custom_call *call)
{
	struct keeper *keeper = keeper_of(keepers, call->name);
	if (keeper->current == call) {
		end_process(keeper);
		return;
	}
	struct custom_call **at = &keeper->first, *before = NULL;
	while (*at != call) {
		before = *at;
		at = &(*at)->next;
	}
	*at = call->next;
	if (keeper->last == call)
		keeper->last = before;
	keeper->waiting--;
	system_timer_start(loop_system(keepers->loop), 0, stopped_in_queue, call->running.works,
			   call->running.id);
}

void keeper_renew(struct keepers *keepers, struct str name)
{
	for (struct keeper *keeper = keepers->first; keeper != NULL; keeper = keeper->next) {
		if (!keeper->runs || !str_equal(keeper->name, name))
			continue;
		keeper->outdated = true;
		pump(keeper);
	}
}
