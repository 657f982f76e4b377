/* tool/tool_artifact.c -- write_artifact, view_file and read_artifact (artifact/artifact.h).
 *
 * write_artifact has class probe: a version cannot be removed, and writing it twice would make two
 * versions, but the run's list has the effect's id with each version, so the probe looks there
 * after a crash.  A call that was stopped but has already written its version succeeds, because the
 * version is in the list.  view_file is the same with a picture or recording of the workspace: it stays
 * what the model saw, whatever becomes of the file.
 *
 * The work is done by a job on a reader thread, because the disk may be slow.
 */
#include <stdlib.h>

#include "artifact/artifact.h"
#include "base/base64.h"
#include "base/limits.h"
#include "base/media_type.h"
#include "base/utf8.h"
#include "contract/run_tool_types.h"
#include "os/confined_path.h"
#include "tool/tool_context.h"

struct artifact_work {
	struct tool_running running; /* first */
	struct job job;
	struct arena arena;
	struct artifacts *artifacts;
	const char *workspace, *path; /* path NULL = the content is in the inputs */
	bool recognize;               /* the media type was not given */
	struct artifact_write write;
	struct run_read_artifact_inputs read;
	struct tool_result result;
	/* of a probe: */
	enum tool_answer answer;
	tool_asked *asked;
	void *context;
	uint64_t argument;
};

static struct artifact_work *work_of(struct job *job)
{
	return (struct artifact_work *)(void *)((char *)job - offsetof(struct artifact_work, job));
}

static void work_free(struct artifact_work *work)
{
	arena_done(&work->arena);
	free(work);
}

/* Creates the work with a copy of the inputs, which are valid only during start(). */
static struct artifact_work *work_new(const struct tool_host *host, const struct tool_call *call,
				      const struct type *type, const void **out_inputs,
				      struct error *error)
{
	struct artifact_work *work = calloc(1, sizeof(*work));
	require(work != NULL);
	work->artifacts = tool_context_artifacts(host->tool_context);
	work->workspace = str_c(&work->arena, str_from_c(call->workspace));
	work->write.run = call->run;
	work->write.effect = call->effect;
	work->write.at = platform_wall_us(loop_platform(host->loop));
	const struct json *copy = json_copy(&work->arena, call->inputs);
	*out_inputs = tool_context_inputs(type, copy, &work->arena, error);
	if (*out_inputs != NULL)
		return work;
	work_free(work);
	return NULL;
}

static void submit(struct artifact_work *work, const struct tool_host *host,
		   void (*run)(struct job *job, unsigned thread), void (*done)(struct job *job))
{
	work->job = (struct job){ .run = run, .done = done, .name = "artifact" };
	platform_submit(loop_platform(host->loop), LANE_READER, &work->job);
}

/* ---- writing ------------------------------------------------------------------------- */

static bool take_content(struct artifact_work *work, const struct run_write_artifact_inputs *inputs,
			 struct error *error)
{
	size_t at;
	if (has(inputs, path) && str_find(inputs->path, S("\0"), &at))
		return fail(error, ERROR_INVALID, "inputs: /path contains a NUL byte");
	if (has(inputs, path)) {
		work->path = str_c(&work->arena, inputs->path);
		return true;
	}
	work->write.bytes = inputs->content;
	return inputs->encoding == RUN_ENCODING_TEXT ||
	       base64_read(&work->arena, inputs->content, &work->write.bytes) ||
	       fail(error, ERROR_INVALID, "inputs: /content is not base64");
}

static struct artifact_work *write_new(const struct tool_host *host, const struct tool_call *call,
				       struct error *error)
{
	const void *given;
	struct artifact_work *work =
		work_new(host, call, run_write_artifact_inputs_type(), &given, error);
	if (work == NULL)
		return NULL;
	const struct run_write_artifact_inputs *inputs = given;
	bool text = has(inputs, content) && inputs->encoding == RUN_ENCODING_TEXT;
	work->write.name = inputs->name;
	work->recognize = !has(inputs, media_type) && !text;
	work->write.media_type = has(inputs, media_type) ? inputs->media_type
				 : text                  ? S("text/plain; charset=utf-8")
							 : S("application/octet-stream");
	if (take_content(work, inputs, error))
		return work;
	work_free(work);
	return NULL;
}

/* The output is the same after a call and after a probe that found the version. */
static const struct json *write_output(const struct run_artifact *artifact, struct arena *arena)
{
	struct run_write_artifact_outputs *outputs = run_write_artifact_outputs_new(arena);
	SET(outputs, name, artifact->name);
	SET(outputs, version, artifact->version);
	SET(outputs, sha256, artifact->sha256);
	SET(outputs, size, artifact->size);
	SET(outputs, media_type, artifact->media_type);
	return TOOL_OUTPUT(run_write_artifact_outputs, outputs, arena);
}

static void write_work(struct job *job, unsigned thread)
{
	struct artifact_work *work = work_of(job);
	struct error *error = &work->result.error;
	struct run_artifact artifact;
	uint64_t size;
	(void)thread;
	if (work->path != NULL &&
	    !confined_read(work->workspace, work->path, 0, LIMIT_ARTIFACT_BYTES + 1, &work->arena,
			   &work->write.bytes, &size, error))
		return;
	struct str media_type = work->recognize ? media_type_of(work->write.bytes) : S("");
	if (media_type.size > 0)
		work->write.media_type = media_type;
	if (artifact_write(work->artifacts, &work->write, &work->arena, &artifact, error))
		work->result.output = write_output(&artifact, &work->arena);
}

static void write_ended(struct job *job)
{
	struct artifact_work *work = work_of(job);
	if (work->result.error.code == ERROR_NONE)
		work->running.stop_error.code = ERROR_NONE;
	tool_context_done(&work->running, &work->result);
	work_free(work);
}

/* The name comes from the content, because a path may have any characters. */
static void view_work(struct job *job, unsigned thread)
{
	struct artifact_work *work = work_of(job);
	struct error *error = &work->result.error;
	struct run_artifact artifact;
	uint64_t size;
	(void)thread;
	if (!confined_read(work->workspace, work->path, 0, LIMIT_ATTACHMENT_BYTES + 1, &work->arena,
			   &work->write.bytes, &size, error))
		return;
	struct str type = media_type_of(work->write.bytes), kind;
	if (work->write.bytes.size > LIMIT_ATTACHMENT_BYTES) {
		fail(error, ERROR_TOO_LARGE, "%s has more than %d bytes: make it smaller first",
		     work->path, LIMIT_ATTACHMENT_BYTES);
		return;
	}
	if (type.size == 0) {
		fail(error, ERROR_INVALID,
		     "%s is no PNG, JPEG, GIF or WebP picture and no WAV or MP3 recording",
		     work->path);
		return;
	}
	struct str ending = type;
	str_cut(&ending, '/', &kind);
	struct hash hash = hash_of(work->write.bytes);
	char hex[HASH_TEXT_SIZE];
	work->write.media_type = type;
	work->write.name =
		str_format(&work->arena, "seen/" STR_FMT "." STR_FMT,
			   STR_ARG(str_head(hash_text(&hash, hex), 16)), STR_ARG(ending));
	if (artifact_write(work->artifacts, &work->write, &work->arena, &artifact, error))
		work->result.output = write_output(&artifact, &work->arena);
}

static struct artifact_work *view_new(const struct tool_host *host, const struct tool_call *call,
				      struct error *error)
{
	const void *given;
	struct artifact_work *work =
		work_new(host, call, run_view_file_inputs_type(), &given, error);
	if (work == NULL)
		return NULL;
	const struct run_view_file_inputs *inputs = given;
	if (tool_context_path(inputs->path, &work->arena, &work->path, error))
		return work;
	work_free(work);
	return NULL;
}

static bool view_start(const struct tool_host *host, const struct tool_call *call,
		       uint64_t *out_running, struct error *error)
{
	struct artifact_work *work = view_new(host, call, error);
	if (work == NULL)
		return false;
	tool_context_begin(&work->running, host, call);
	*out_running = work->running.id;
	submit(work, host, view_work, write_ended);
	return true;
}

static bool write_start(const struct tool_host *host, const struct tool_call *call,
			uint64_t *out_running, struct error *error)
{
	struct artifact_work *work = write_new(host, call, error);
	if (work == NULL)
		return false;
	tool_context_begin(&work->running, host, call);
	*out_running = work->running.id;
	submit(work, host, write_work, write_ended);
	return true;
}

static void probe_work(struct job *job, unsigned thread)
{
	struct artifact_work *work = work_of(job);
	struct run_artifact_list list;
	struct error error;
	(void)thread;
	work->answer = TOOL_UNKNOWN;
	if (!artifact_list(work->artifacts, &work->write.run, &work->arena, &list, &error))
		return;
	const struct run_artifact *artifact = artifact_of_effect(&list, &work->write.effect);
	work->answer = artifact != NULL ? TOOL_HAPPENED : TOOL_NOT_HAPPENED;
	if (artifact != NULL)
		work->result.output = write_output(artifact, &work->arena);
}

static void probe_ended(struct job *job)
{
	struct artifact_work *work = work_of(job);
	work->asked(work->context, work->argument, work->answer, work->result.output);
	work_free(work);
}

static bool probe_begin(struct artifact_work *work, const struct tool_host *host,
			const struct tool_call *call)
{
	if (work == NULL)
		return false;
	work->asked = call->asked;
	work->context = call->context;
	work->argument = call->argument;
	submit(work, host, probe_work, probe_ended);
	return true;
}

static bool probe(const struct tool_host *host, const struct tool_call *call, struct error *error)
{
	return probe_begin(write_new(host, call, error), host, call);
}

static bool view_probe(const struct tool_host *host, const struct tool_call *call,
		       struct error *error)
{
	return probe_begin(view_new(host, call, error), host, call);
}

/* ---- reading ------------------------------------------------------------------------- */

static bool read_found(struct artifact_work *work, const struct run_artifact *artifact,
		       struct error *error)
{
	struct arena *arena = &work->arena;
	struct str bytes;
	size_t bad;
	bool text = work->read.encoding == RUN_ENCODING_TEXT;
	/* The content as base64 must fit into the largest value of a step. */
	if (artifact->size > LIMIT_VALUE_BYTES / 4 * 3)
		return fail(error, ERROR_TOO_LARGE,
			    STR_FMT " has %lld bytes, which is too large for the output of a step",
			    STR_ARG(artifact->name), (long long)artifact->size);
	if (!artifact_read(work->artifacts, artifact, arena, &bytes, error))
		return false;
	if (text && !utf8_valid(bytes, &bad))
		return fail(error, ERROR_INVALID,
			    STR_FMT " is not UTF-8 at byte %zu; read it with encoding: base64",
			    STR_ARG(artifact->name), bad);
	struct run_read_artifact_outputs *outputs = run_read_artifact_outputs_new(arena);
	SET(outputs, name, artifact->name);
	SET(outputs, version, artifact->version);
	SET(outputs, sha256, artifact->sha256);
	SET(outputs, size, artifact->size);
	SET(outputs, media_type, artifact->media_type);
	SET(outputs, content, text ? bytes : base64_text(arena, bytes));
	SET(outputs, encoding, work->read.encoding);
	work->result.output = TOOL_OUTPUT(run_read_artifact_outputs, outputs, arena);
	return true;
}

static void read_work(struct job *job, unsigned thread)
{
	struct artifact_work *work = work_of(job);
	struct error *error = &work->result.error;
	struct run_artifact_list list;
	const struct run_artifact *artifact;
	int64_t version = has(&work->read, version) ? work->read.version : 0;
	(void)thread;
	bool good = artifact_list(work->artifacts, &work->write.run, &work->arena, &list, error) &&
		    artifact_find(&list, work->read.name, version, &artifact, error) &&
		    read_found(work, artifact, error);
	(void)good; /* the result is in result.error */
}

static void read_ended(struct job *job)
{
	struct artifact_work *work = work_of(job);
	tool_context_done(&work->running, &work->result);
	work_free(work);
}

static bool read_start(const struct tool_host *host, const struct tool_call *call,
		       uint64_t *out_running, struct error *error)
{
	const void *inputs;
	struct artifact_work *work =
		work_new(host, call, run_read_artifact_inputs_type(), &inputs, error);
	if (work == NULL)
		return false;
	work->read = *(const struct run_read_artifact_inputs *)inputs;
	tool_context_begin(&work->running, host, call);
	*out_running = work->running.id;
	submit(work, host, read_work, read_ended);
	return true;
}

const struct tool tool_write_artifact = {
	.name = "write_artifact",
	.text = "Writes content, or a file of the workspace, as the next version of an artifact. "
		"Use it for results that a person shall keep after the run.",
	.class = RUN_CLASS_PROBE,
	.risk = RUN_RISK_MEDIUM,
	.inputs = run_write_artifact_inputs_type,
	.outputs = run_write_artifact_outputs_type,
	.start = write_start,
	.stop = tool_context_stop,
	.probe = probe,
};

const struct tool tool_view_file = {
	.name = "view_file",
	.text = "Looks at a picture or listens to a recording of the workspace: you see it with the "
		"result. It is kept as an artifact.",
	.class = RUN_CLASS_PROBE,
	.risk = RUN_RISK_MEDIUM,
	.inputs = run_view_file_inputs_type,
	.outputs = run_write_artifact_outputs_type,
	.start = view_start,
	.stop = tool_context_stop,
	.probe = view_probe,
};

const struct tool tool_read_artifact = {
	.name = "read_artifact",
	.text = "Reads an artifact of the run and verifies its hash.",
	.class = RUN_CLASS_IDEMPOTENT,
	.risk = RUN_RISK_LOW,
	.inputs = run_read_artifact_inputs_type,
	.outputs = run_read_artifact_outputs_type,
	.start = read_start,
	.stop = tool_context_stop,
};
