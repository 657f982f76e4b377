/* contract/describe.c -- the list of reference documents, and the formatting of JSON documents. */
#include "contract/describe.h"

#include <pthread.h>

#include "base/limits.h"

#define TEXT(literal)                           \
	{                                       \
		"" literal, sizeof(literal) - 1 \
	}

static const struct description descriptions[] = {
	{ TEXT("openapi"), TEXT("The HTTP interface as OpenAPI 3.1"), describe_openapi },
	{ TEXT("schema"), TEXT("Every type as one JSON Schema 2020-12 document"),
	  describe_schema_all },
	{ TEXT("workflow-schema"), TEXT("JSON Schema of workflow files, for editors"),
	  describe_workflow_schema },
	{ TEXT("typescript"), TEXT("Every type as TypeScript declarations for a client"),
	  describe_typescript },
	{ TEXT("markdown"), TEXT("Every type as a reference page"), describe_markdown },
	{ TEXT("states"), TEXT("The states of runs and steps, and of a run in memory"),
	  describe_states },
	{ TEXT("events"), TEXT("The event types of run streams"), describe_events },
	{ TEXT("vocabularies"), TEXT("What produces each event type of each vocabulary"),
	  describe_vocabularies },
	{ TEXT("errors"), TEXT("Error codes with HTTP status, exit status and retry class"),
	  describe_errors },
	{ TEXT("config"),
	  TEXT("Settings of the server, with default, environment variable and flag"),
	  describe_config },
	{ TEXT("limits"), TEXT("Every limit, with its reason"), describe_limits },
	{ TEXT("metrics"), TEXT("The metrics of GET /metrics"), describe_metrics },
	{ TEXT("html"), TEXT("All reference documents as one HTML page"), describe_html },
	{ TEXT("listing"), TEXT("Every name a client may rely on, one per line"),
	  describe_listing },
};

const struct description *description_at(size_t index)
{
	return index < COUNT(descriptions) ? &descriptions[index] : NULL;
}

const struct description *description_find(struct str name)
{
	for (size_t i = 0; i < COUNT(descriptions); i++)
		if (str_equal(descriptions[i].name, name))
			return &descriptions[i];
	return NULL;
}

/* ---- one item per line ----------------------------------------------------------------- */

static void new_line(struct buf *out, unsigned depth)
{
	buf_add_char(out, '\n');
	for (unsigned i = 0; i < depth; i++)
		buf_add(out, S("  "));
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The JSON string that begins at `at`, including its quotes. */
static struct str string_at(struct str json, size_t at)
{
	size_t end = at + 1;
	while (end < json.size && json.at[end] != '"')
		end += json.at[end] == '\\' ? 2 : 1;
	require(end < json.size);
	return str_head(str_skip(json, at), end + 1 - at);
}

static bool closes_next(struct str json, size_t at)
{
	while (at < json.size && is_blank(json.at[at]))
		at++;
	return at < json.size && (json.at[at] == '}' || json.at[at] == ']');
}

void describe_indented(struct str json, struct buf *out)
{
	unsigned depth = 0;
	bool empty = false;
	for (size_t i = 0; i < json.size; i++) {
		char c = json.at[i];
		if (is_blank(c))
			continue;
		if (c == '"') {
			struct str string = string_at(json, i);
			buf_add(out, string);
			i += string.size - 1;
			continue;
		}
		if ((c == '}' || c == ']') && !empty)
			new_line(out, --depth);
		buf_add_char(out, c);
		empty = (c == '{' || c == '[') && closes_next(json, i + 1);
		if ((c == '{' || c == '[') && !empty)
			new_line(out, ++depth);
		else if (c == ',')
			new_line(out, depth);
		else if (c == ':')
			buf_add_char(out, ' ');
	}
	buf_add_char(out, '\n');
}

/* ---- cached documents ------------------------------------------------------------------ */

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static struct str keep(struct buf *kept, void (*print)(struct buf *out))
{
	pthread_mutex_lock(&kept_lock);
	if (kept->size == 0) {
		*kept = buf_limited(LIMIT_DESCRIPTION_BYTES);
		print(kept);
		require(!kept->full);
	}
	pthread_mutex_unlock(&kept_lock);
	return buf_str(kept);
}

struct str describe_workflow_schema_kept(void)
{
	static struct buf kept;
	return keep(&kept, describe_workflow_schema);
}

struct str describe_openapi_kept(void)
{
	static struct buf kept;
	return keep(&kept, describe_openapi);
}

struct str describe_html_kept(void)
{
	static struct buf kept;
	return keep(&kept, describe_html);
}
