/* tool/works.c -- ids of calls, and what their files have in common. */
#include "tool/works.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/slots.h"
#include "base/utf8.h"
#include "net/http_client.h"
#include "tool/custom_inside.h"
#include "tool/lines.h"

struct tool_works {
	struct tool_works_settings settings;
	struct arena arena;
	struct slots calls;
	struct http_client *http;
	struct keepers *keepers;
	struct lines *lines;
};

bool works_new(const struct tool_works_settings *settings, struct tool_works **out_works,
	       struct error *error)
{
	AUTO(arena) scratch = { 0 };
	struct str_list given = settings->private_addresses;
	struct address_range *ranges = arena_array(&scratch, struct address_range, given.count);
	for (size_t i = 0; i < given.count; i++)
		if (!address_range_read(given.at[i], &ranges[i], error)) {
			error_prefix(error, "tools.private_addresses: ");
			return false;
		}
	struct tool_works *works = calloc(1, sizeof(*works));
	require(works != NULL);
	works->settings = *settings;
	works->settings.append_root = str_c(&works->arena, str_from_c(settings->append_root));
	const struct http_policy policy = { ranges, given.count };
	works->http = http_client_new(settings->loop, &policy);
	works->keepers = keepers_new(settings->loop);
	works->lines = lines_new(settings->loop);
	*out_works = works;
	return true;
}

void works_free(struct tool_works *works)
{
	http_client_free(works->http);
	keepers_free(works->keepers);
	lines_free(works->lines);
	slots_done(&works->calls);
	arena_done(&works->arena);
	free(works);
}

struct http_client *works_http(struct tool_works *works)
{
	return works->http;
}

struct artifacts *works_artifacts(const struct tool_works *works)
{
	return works->settings.artifacts;
}

struct customs *works_customs(const struct tool_works *works)
{
	return works->settings.customs;
}

struct lines *works_lines(const struct tool_works *works)
{
	return works->lines;
}

struct keepers *works_keepers(const struct tool_works *works)
{
	return works->keepers;
}

void works_trust_changed(struct tool_works *works, struct str name)
{
	keeper_renew(works->keepers, name);
}

void works_listens(struct tool_works *works, int port)
{
	http_client_own_port(works->http, port);
}

const char *works_append_root(const struct tool_works *works)
{
	return works->settings.append_root;
}

/* ---- calls under way ----------------------------------------------------------------- */

void works_begin(struct tool_running *running, const struct tool_host *host,
		 const struct tool_call *call)
{
	running->works = host->works;
	running->loop = host->loop;
	running->done = call->done;
	running->context = call->context;
	running->argument = call->argument;
	running->id = slots_add(&host->works->calls, running);
}

struct tool_running *works_find(struct tool_works *works, uint64_t id)
{
	return slots_get(&works->calls, id);
}

void works_done(struct tool_running *running, const struct tool_result *result)
{
	slots_remove(&running->works->calls, running->id);
	struct tool_result told = { .error = running->told };
	bool ended = running->told.code != ERROR_NONE && result->output == NULL;
	running->done(running->context, running->argument, ended ? &told : result);
}

void works_doubt(struct tool_running *running, const char *what, struct error *error)
{
	const struct error why = running->told.code != ERROR_NONE ? running->told : *error;
	fail(error, ERROR_OUTCOME_UNKNOWN, "%s and has no answer (%s): look whether it happened",
	     what, why.text);
	running->told.code = ERROR_NONE;
}

void works_forget(struct tool_running *running)
{
	slots_remove(&running->works->calls, running->id);
}

void works_stop(const struct tool_host *host, uint64_t id, const struct error *why)
{
	struct tool_running *running = slots_get(&host->works->calls, id);
	if (running == NULL || running->told.code != ERROR_NONE)
		return;
	running->told = *why;
	if (running->end != NULL)
		running->end(running);
}

/* ---- inputs and outputs -------------------------------------------------------------- */

const void *works_inputs(const struct type *type, const struct json *inputs, struct arena *arena,
			 struct error *error)
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

const struct json *works_output(const struct type *type, const void *value, struct arena *arena)
{
	const struct json *json;
	struct error error;
	bool good = json_read(contract_text(type, value, arena), arena, &json, &error);
	require(good);
	return json;
}

struct str works_utf8(struct arena *arena, struct str bytes)
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

struct str works_whole_characters(struct str text)
{
	size_t bad;
	if (!utf8_valid(text, &bad) && text.size - bad < 4)
		text = str_head(text, bad);
	return text;
}
