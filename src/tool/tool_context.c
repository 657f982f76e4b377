/* tool/tool_context.c -- ids of running calls, and helpers for tools. */
#include "tool/tool_context.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/slots.h"
#include "base/utf8.h"
#include "net/http_client.h"
#include "tool/custom_internal.h"
#include "tool/line_writer.h"
#include "tracker/trackers.h"
#include "tool/notify_target.h"

struct tool_context {
	struct tool_context_settings settings;
	struct arena arena;
	struct slots calls;
	struct http_client *http;
	struct process_pool *process_pool;
	struct line_writer *lines;
	notify_target_find *notify_find; /* NULL = no webhooks */
	void *notify_context;
};

bool tool_context_new(const struct tool_context_settings *settings,
		      struct tool_context **out_context, struct error *error)
{
	AUTO(arena) scratch = { 0 };
	struct str_list given = settings->private_addresses;
	struct address_range *ranges = arena_array(&scratch, struct address_range, given.count);
	for (size_t i = 0; i < given.count; i++)
		if (!address_range_read(given.at[i], &ranges[i], error)) {
			error_prefix(error, "tools.private_addresses: ");
			return false;
		}
	struct tool_context *tool_context = calloc(1, sizeof(*tool_context));
	require(tool_context != NULL);
	tool_context->settings = *settings;
	tool_context->settings.append_root =
		str_c(&tool_context->arena, str_from_c(settings->append_root));
	const struct http_policy policy = { .ranges = ranges, .range_count = given.count };
	tool_context->http = http_client_new(settings->loop, &policy);
	tool_context->process_pool = process_pool_new(settings->loop);
	tool_context->lines = line_writer_new(settings->loop);
	*out_context = tool_context;
	return true;
}

void tool_context_free(struct tool_context *tool_context)
{
	trackers_free(tool_context->settings.trackers);
	http_client_free(tool_context->http);
	process_pool_free(tool_context->process_pool);
	line_writer_free(tool_context->lines);
	slots_done(&tool_context->calls);
	arena_done(&tool_context->arena);
	free(tool_context);
}

struct http_client *tool_context_http(struct tool_context *tool_context)
{
	return tool_context->http;
}

struct artifacts *tool_context_artifacts(const struct tool_context *tool_context)
{
	return tool_context->settings.artifacts;
}

struct trackers *tool_context_trackers(const struct tool_context *tool_context)
{
	return tool_context->settings.trackers;
}

struct custom_tools *tool_context_customs(const struct tool_context *tool_context)
{
	return tool_context->settings.customs;
}

struct line_writer *tool_context_line_writer(const struct tool_context *tool_context)
{
	return tool_context->lines;
}

struct process_pool *tool_context_process_pool(const struct tool_context *tool_context)
{
	return tool_context->process_pool;
}

void tool_context_trust_changed(struct tool_context *tool_context, struct str name)
{
	process_pool_renew(tool_context->process_pool, name);
}

void tool_context_listens(struct tool_context *tool_context, int port)
{
	http_client_set_own_port(tool_context->http, port);
	if (tool_context->settings.trackers != NULL)
		trackers_set_own_port(tool_context->settings.trackers, port);
}

const char *tool_context_append_root(const struct tool_context *tool_context)
{
	return tool_context->settings.append_root;
}

void tool_context_set_notify(struct tool_context *tool_context,
			     bool (*find)(void *context, struct str name, struct arena *arena,
					  struct notify_target *out_target, struct error *error),
			     void *context)
{
	tool_context->notify_find = find;
	tool_context->notify_context = context;
}

bool tool_context_notify_target(const struct tool_context *tool_context, struct str name,
				struct arena *arena, struct notify_target *out_target,
				struct error *error)
{
	if (tool_context->notify_find == NULL)
		return fail(error, ERROR_CONFIGURATION, "this program has no webhooks");
	return tool_context->notify_find(tool_context->notify_context, name, arena, out_target,
					 error);
}

/* ---- running calls ------------------------------------------------------------------- */

void tool_context_begin(struct tool_running *running, const struct tool_host *host,
			const struct tool_call *call)
{
	running->tool_context = host->tool_context;
	running->loop = host->loop;
	running->done = call->done;
	running->context = call->context;
	running->argument = call->argument;
	running->log = call->log;
	running->mask = call->mask;
	running->id = slots_add(&host->tool_context->calls, running);
}

struct tool_running *tool_context_find(struct tool_context *tool_context, uint64_t id)
{
	return slots_get(&tool_context->calls, id);
}

void tool_context_done(struct tool_running *running, const struct tool_result *result)
{
	slots_remove(&running->tool_context->calls, running->id);
	struct tool_result stopped = { .error = running->stop_error };
	bool ended = running->stop_error.code != ERROR_NONE && result->output == NULL;
	running->done(running->context, running->argument, ended ? &stopped : result);
}

void tool_fail_unknown(struct tool_running *running, const char *what, struct error *error)
{
	const struct error why =
		running->stop_error.code != ERROR_NONE ? running->stop_error : *error;
	fail(error, ERROR_OUTCOME_UNKNOWN,
	     "%s, but its outcome is unknown (%s): check whether it happened", what, why.text);
	running->stop_error.code = ERROR_NONE;
}

void tool_context_forget(struct tool_running *running)
{
	slots_remove(&running->tool_context->calls, running->id);
}

void tool_context_stop(const struct tool_host *host, uint64_t id, const struct error *why)
{
	struct tool_running *running = slots_get(&host->tool_context->calls, id);
	if (running == NULL || running->stop_error.code != ERROR_NONE)
		return;
	running->stop_error = *why;
	if (running->end != NULL)
		running->end(running);
}

/* ---- inputs and outputs -------------------------------------------------------------- */

const void *tool_context_inputs(const struct type *type, const struct json *inputs,
				struct arena *arena, struct error *error)
{
	struct problems problems = { .arena = arena };
	struct contract_source source = { .json = inputs };
	const void *value = contract_parse(type, &source, arena, &problems);
	if (value == NULL) {
		problems_fail(&problems, error);
		error_prefix(error, "inputs: ");
	}
	return value;
}

bool tool_context_path(struct str path, struct arena *arena, const char **out_path,
		       struct error *error)
{
	size_t at;
	if (str_find(path, S("\0"), &at))
		return fail(error, ERROR_INVALID, "inputs: /path contains a NUL byte");
	*out_path = str_c(arena, path);
	return true;
}

const struct json *tool_context_output(const struct type *type, const void *value,
				       struct arena *arena)
{
	return contract_tree(type, value, arena);
}

struct str tool_context_utf8(struct arena *arena, struct str bytes)
{
	size_t bad;
	if (utf8_valid(bytes, &bad))
		return bytes;
	AUTO(buf) text = { 0 };
	while (!utf8_valid(bytes, &bad)) {
		buf_add(&text, str_head(bytes, bad));
		buf_add(&text, S("\xEF\xBF\xBD"));
		bytes = str_skip(bytes, bad + 1);
	}
	buf_add(&text, bytes);
	return str_copy(arena, buf_str(&text));
}

struct str tool_context_whole_characters(struct str text)
{
	size_t bad;
	if (!utf8_valid(text, &bad) && text.size - bad < 4)
		text = str_head(text, bad);
	return text;
}
