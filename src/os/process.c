/* os/process.c -- child processes on the loop, addressed by id.
 *
 * Real pipes instead of the socket pairs that libuv would create: a shell that opens /dev/stdout or
 * /dev/stdin needs pipes.  The child's ends are closed here as soon as the child is started.
 *
 * A child has up to four handles (process, stdin, stdout, stderr).  Its memory is freed when the
 * last of them is closed; its id is released earlier, when done() is called.
 */
#include "os/process.h"

#include <errno.h>
#include <linux/close_range.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "os/loop_internal.h"

/* Our end of the child's stdout or stderr. */
struct output_pipe {
	uv_pipe_t pipe;
	struct buf kept;
	size_t limit;
	uint64_t dropped;
	bool open;
};

struct child {
	struct loop *loop;
	uint64_t id; /* 0 after done() */
	uv_process_t process;
	uv_pipe_t input;
	uv_write_t input_write;
	struct buf input_bytes;
	bool input_open, converses;
	struct output_pipe outputs[2]; /* stdout, stderr */
	unsigned handles;              /* not yet closed */
	bool exited;
	int64_t exit_status;
	int signal;
	uint64_t kill_timer, drain_timer;
	void (*piece)(void *context, uint64_t argument, struct str bytes);
	void (*observe)(void *context, uint64_t argument, bool is_stderr, struct str bytes);
	void (*done)(void *context, uint64_t argument, const struct process_result *result);
	void *context;
	uint64_t argument;
};

/* The two ends of a pipe to a new child; -1 when closed. */
struct pipe_ends {
	uv_file ours, theirs;
};

static void handle_closed(uv_handle_t *handle)
{
	struct child *child = handle->data;
	if (--child->handles > 0)
		return;
	buf_done(&child->input_bytes);
	buf_done(&child->outputs[0].kept);
	buf_done(&child->outputs[1].kept);
	free(child);
}

static void input_close(struct child *child)
{
	if (!child->input_open)
		return;
	child->input_open = false;
	uv_close((uv_handle_t *)&child->input, handle_closed);
}

static void output_close(struct output_pipe *output_pipe)
{
	if (!output_pipe->open)
		return;
	output_pipe->open = false;
	uv_close((uv_handle_t *)&output_pipe->pipe, handle_closed);
}

/* Releases the id and closes all handles; closing the last handle frees the child. */
static void child_remove(struct child *child)
{
	struct platform *platform = loop_platform(child->loop);
	loop_timer_stop(platform, child->kill_timer);
	loop_timer_stop(platform, child->drain_timer);
	slots_remove(&child->loop->children, child->id);
	child->id = 0;
	child_queue_wake(child->loop);
	input_close(child);
	output_close(&child->outputs[0]);
	output_close(&child->outputs[1]);
	uv_close((uv_handle_t *)&child->process, handle_closed);
}

/* Signals the process group.  The group may outlive its leader; the kernel does not reuse its
 * number while the group has a member. */
static void child_signal(const struct child *child, int number)
{
	kill(-child->process.pid, number);
}

static void child_check_done(struct child *child)
{
	if (child->id == 0 || !child->exited || child->outputs[0].open || child->outputs[1].open)
		return;
	child_signal(child, SIGKILL);
	struct process_result result = {
		.exit_status = child->signal != 0 ? -1 : (int)child->exit_status,
		.signal = child->signal,
		.output = buf_str(&child->outputs[0].kept),
		.errors = buf_str(&child->outputs[1].kept),
		.output_dropped = child->outputs[0].dropped,
		.errors_dropped = child->outputs[1].dropped,
	};
	/* The handles are closed in a later tick, so the texts stay valid for done(). */
	uint64_t id = child->id;
	child_remove(child);
	struct flight_mark mark = flight_begin(&child->loop->flight, "child", id);
	child->done(child->context, child->argument, &result);
	flight_end(&child->loop->flight, mark);
}

static void drain_timeout(void *context, uint64_t id)
{
	struct loop *loop = context;
	struct child *child = slots_get(&loop->children, id);
	if (child == NULL)
		return;
	output_close(&child->outputs[0]);
	output_close(&child->outputs[1]);
	child_check_done(child);
}

static void child_exited(uv_process_t *process, int64_t exit_status, int number)
{
	struct child *child = process->data;
	if (child->id == 0)
		return;
	child->exited = true;
	child->exit_status = exit_status;
	child->signal = number;
	input_close(child);
	child->drain_timer =
		loop_timer_start(loop_platform(child->loop), (int64_t)LIMIT_TOOL_KILL_MS * 1000,
				 drain_timeout, child->loop, child->id);
	child_check_done(child);
}

static void output_alloc(uv_handle_t *handle, size_t wanted, uv_buf_t *out_room)
{
	(void)wanted;
	struct child *child = handle->data;
	*out_room = uv_buf_init(child->loop->read_bytes, LOOP_READ_BYTES);
}

static void output_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *room)
{
	struct child *child = stream->data;
	struct output_pipe *output_pipe = (struct output_pipe *)(void *)stream;
	if (size < 0) {
		output_close(output_pipe);
		child_check_done(child);
		return;
	}
	size_t got = (size_t)size;
	if (child->observe != NULL && child->id != 0)
		child->observe(child->context, child->argument, output_pipe == &child->outputs[1],
			       (struct str){ room->base, got });
	if (child->piece != NULL && output_pipe == &child->outputs[0]) {
		if (child->id != 0)
			child->piece(child->context, child->argument,
				     (struct str){ room->base, got });
		return;
	}
	size_t kept = output_pipe->limit - output_pipe->kept.size;
	if (kept > got)
		kept = got;
	buf_add(&output_pipe->kept, (struct str){ room->base, kept });
	output_pipe->dropped += got - kept;
}

static void input_written(uv_write_t *request, int status)
{
	(void)status; /* a child is free to ignore its stdin */
	input_close(request->handle->data);
}

/* A process_write() in progress. */
struct message {
	uv_write_t write; /* first member */
	char bytes[];
};

static void message_written(uv_write_t *request, int status)
{
	struct child *child = request->handle->data;
	if (status < 0)
		input_close(child);
	free(request);
}

bool process_write(struct loop *loop, uint64_t process, struct str bytes)
{
	struct child *child = slots_get(&loop->children, process);
	if (child == NULL || !child->input_open || !child->converses ||
	    child->input.write_queue_size + bytes.size > LIMIT_CHILD_INPUT_BYTES)
		return false;
	struct message *message = malloc(sizeof(*message) + bytes.size);
	require(message != NULL);
	memcpy(message->bytes, bytes.at, bytes.size);
	uv_buf_t buffer = uv_buf_init(message->bytes, (unsigned int)bytes.size);
	if (uv_write(&message->write, (uv_stream_t *)&child->input, &buffer, 1, message_written) ==
	    0)
		return true;
	free(message);
	return false;
}

static void kill_timeout(void *context, uint64_t id)
{
	struct loop *loop = context;
	struct child *child = slots_get(&loop->children, id);
	if (child != NULL)
		child_signal(child, SIGKILL);
}

static void ends_close(uv_file *end)
{
	if (*end >= 0)
		close(*end);
	*end = -1;
}

/* Opens the pipe for the child's descriptor `index` (0 to 2); our end is nonblocking. */
static int ends_open(struct pipe_ends *ends, size_t index)
{
	uv_file pair[2];
	bool reads = index == 0;
	int code = uv_pipe(pair, reads ? 0 : UV_NONBLOCK_PIPE, reads ? UV_NONBLOCK_PIPE : 0);
	if (code == 0)
		*ends = (struct pipe_ends){ .ours = reads ? pair[1] : pair[0],
					    .theirs = reads ? pair[0] : pair[1] };
	return code;
}

static struct child *child_new(struct loop *loop, const struct process_spec *spec)
{
	struct child *child = calloc(1, sizeof(*child));
	require(child != NULL);
	child->loop = loop;
	child->piece = spec->piece;
	child->observe = spec->observe;
	child->converses = spec->converse;
	child->done = spec->done;
	child->context = spec->context;
	child->argument = spec->argument;
	child->process.data = child;
	child->input.data = child;
	buf_add(&child->input_bytes, spec->input);
	for (size_t i = 0; i < 2; i++) {
		child->outputs[i].limit = spec->output_limit;
		child->outputs[i].pipe.data = child;
	}
	return child;
}

/* Fills libuv's options from the spec; `stdio` has 3 + keep_count elements. */
static uv_process_options_t spawn_options(const struct process_spec *spec,
					  const struct pipe_ends ends[3],
					  uv_stdio_container_t *stdio)
{
	static char *no_environment[] = { NULL };
	for (int i = 0; i < 3; i++)
		stdio[i] = (uv_stdio_container_t){ .flags = ends[i].theirs < 0 ? UV_IGNORE
									       : UV_INHERIT_FD,
						   .data.fd = ends[i].theirs };
	for (size_t i = 0; i < spec->keep_count; i++)
		stdio[3 + i] =
			(uv_stdio_container_t){ .flags = UV_INHERIT_FD, .data.fd = spec->keep[i] };
	/* libuv's options are not const, but libuv changes neither the arrays nor the texts. */
	union {
		const char *const *from;
		char **to;
	} argv = { .from = spec->argv }, environment = { .from = spec->environment };
	return (uv_process_options_t){
		.exit_cb = child_exited,
		.file = spec->argv[0],
		.args = argv.to,
		.env = spec->environment == NULL ? no_environment : environment.to,
		.cwd = spec->directory,
		.flags = UV_PROCESS_DETACHED,
		.stdio_count = 3 + (int)spec->keep_count,
		.stdio = stdio,
	};
}

/* Opens handles for our ends of the pipes of a started child. */
static void child_attach(struct child *child, struct pipe_ends ends[3])
{
	uv_loop_t *uv = &child->loop->uv;
	for (size_t i = 0; i < 2; i++) {
		struct output_pipe *output_pipe = &child->outputs[i];
		require(uv_pipe_init(uv, &output_pipe->pipe, 0) == 0);
		output_pipe->open = true;
		child->handles++;
		require(uv_pipe_open(&output_pipe->pipe, ends[i + 1].ours) == 0);
		require(uv_read_start((uv_stream_t *)&output_pipe->pipe, output_alloc,
				      output_read) == 0);
	}
	if (ends[0].ours < 0)
		return;
	require(uv_pipe_init(uv, &child->input, 0) == 0);
	child->input_open = true;
	child->handles++;
	require(uv_pipe_open(&child->input, ends[0].ours) == 0);
	if (child->converses)
		return;
	uv_buf_t bytes = uv_buf_init(child->input_bytes.at, (unsigned int)child->input_bytes.size);
	if (uv_write(&child->input_write, (uv_stream_t *)&child->input, &bytes, 1, input_written) !=
	    0)
		input_close(child);
}

bool process_start(struct loop *loop, const struct process_spec *spec, uint64_t *out_process,
		   struct error *error)
{
	const char *name = spec->argv[0];
	if (!child_queue_may_start(loop)) {
		limit_hit(REJECTION_CHILDREN);
		return fail(error, ERROR_UNAVAILABLE,
			    "cannot start %s: %d child processes are running, which is the limit, "
			    "or others wait for a place",
			    name, LIMIT_CHILDREN);
	}
	if (spec->input.size > LIMIT_JSON_BYTES)
		return fail(error, ERROR_TOO_LARGE,
			    "cannot start %s: its input is larger than %d bytes", name,
			    LIMIT_JSON_BYTES);
	require(spec->keep_count <= PROCESS_KEEP && (!spec->converse || spec->input.size == 0));
	struct child *child = child_new(loop, spec);
	struct pipe_ends ends[3] = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	uv_stdio_container_t stdio[3 + PROCESS_KEEP];
	int code = 0;
	bool has_input = spec->input.size > 0 || spec->converse;
	for (size_t i = has_input ? 0 : 1; i < 3 && code == 0; i++)
		code = ends_open(&ends[i], i);
	child->handles = 1;
	/* This program opens its descriptors close-on-exec, but descriptors inherited from the
	 * parent or opened by a library may not be.  Old kernels lack close_range(); there such
	 * descriptors leak into the child. */
	close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	if (code == 0) {
		uv_process_options_t options = spawn_options(spec, ends, stdio);
		code = uv_spawn(&loop->uv, &child->process, &options);
		if (code != 0)
			uv_close((uv_handle_t *)&child->process, handle_closed);
	} else {
		buf_done(&child->input_bytes);
		free(child);
	}
	for (int i = 0; i < 3; i++)
		ends_close(&ends[i].theirs);
	if (code != 0) {
		for (int i = 0; i < 3; i++)
			ends_close(&ends[i].ours);
		return fail(error, ERROR_IO, "cannot start %s: %s", name, uv_strerror(code));
	}
	child->id = slots_add(&loop->children, child);
	child_attach(child, ends);
	*out_process = child->id;
	return true;
}

void process_end(struct loop *loop, uint64_t process)
{
	struct child *child = slots_get(&loop->children, process);
	if (child == NULL || child->kill_timer != 0)
		return;
	child_signal(child, SIGTERM);
	child->kill_timer =
		loop_timer_start(loop_platform(loop), (int64_t)LIMIT_TOOL_KILL_MS * 1000,
				 kill_timeout, loop, process);
}

size_t process_count(struct loop *loop)
{
	return loop->children.live;
}

void loop_children_close(struct loop *loop)
{
	uint32_t index = 0;
	uint64_t id;
	struct child *child;
	while ((child = slots_next(&loop->children, &index, &id)) != NULL) {
		child_signal(child, SIGKILL);
		child_remove(child);
	}
	child_queue_close(loop);
}

/* SIGINT and SIGQUIT of the terminal are for the program, which may use them as keys. */
bool process_run_at_terminal(const char *const *argv, const char *const *environment,
			     int *out_status, struct error *error)
{
	posix_spawnattr_t how;
	sigset_t none, signals;
	pid_t child;
	int status = 0;
	sigemptyset(&none);
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGPIPE);
	posix_spawnattr_init(&how);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &signals);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;
	sigaction(SIGINT, &ignore, &interrupt);
	sigaction(SIGQUIT, &ignore, &quit);
	int failed = posix_spawnp(&child, argv[0], NULL, &how, (char *const *)(uintptr_t)argv,
				  (char *const *)(uintptr_t)environment);
	while (failed == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	posix_spawnattr_destroy(&how);
	if (failed != 0)
		return fail(error, ERROR_IO, "%s cannot be started: %s", argv[0], strerror(failed));
	*out_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return true;
}
