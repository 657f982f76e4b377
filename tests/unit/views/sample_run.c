/* tests/unit/views/sample_run.c -- parses the bodies of the sample events as if read from the
 * store. */
#include <criterion/criterion.h>

#include "base/time.h"
#include "contract/run_graph_types.h"
#include "sample_run.h"

#define GRAPH_HASH "\"0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543\""
#define BUILD_HASH "\"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b\""
#define BUILD      "\"11111111-2222-4333-8444-555555555501\""
#define REST       "\"11111111-2222-4333-8444-555555555502\""
#define ASK        "\"11111111-2222-4333-8444-555555555503\""
#define PUBLISH    "\"11111111-2222-4333-8444-555555555504\""

static const char graph_text[] =
	"{\"name\": \"sample\", \"inputs\": [], \"outputs\": [], \"nodes\": ["
	"{\"name\": \"greet\", \"kind\": \"tool\", \"join\": \"all\", \"class\": \"pure\", "
	"\"tool\": \"echo\", \"depends_on\": [], \"inputs\": {\"text\": \"hello\"}, \"reads\": []},"
	"{\"name\": \"build\", \"kind\": \"tool\", \"join\": \"all\", \"class\": \"contained\", "
	"\"tool\": \"shell\", \"depends_on\": [\"greet\"], \"inputs\": {}, \"reads\": []},"
	"{\"name\": \"rest\", \"kind\": \"wait\", \"join\": \"all\", \"class\": \"idempotent\", "
	"\"wait_us\": 2000000, \"depends_on\": [\"build\"], \"inputs\": {}, \"reads\": []},"
	"{\"name\": \"ask\", \"kind\": \"human\", \"join\": \"all\", \"class\": \"idempotent\", "
	"\"question\": \"Publish?\", \"depends_on\": [\"rest\"], \"inputs\": {}, \"reads\": []},"
	"{\"name\": \"publish\", \"kind\": \"tool\", \"join\": \"all\", \"class\": \"contained\", "
	"\"tool\": \"shell\", \"depends_on\": [\"ask\"], \"inputs\": {}, \"reads\": []},"
	"{\"name\": \"after\", \"kind\": \"tool\", \"join\": \"all\", \"class\": \"pure\", "
	"\"tool\": \"echo\", \"depends_on\": [\"publish\"], \"inputs\": {}, \"reads\": []}]}";

static const struct play_line lines[SAMPLE_EVENTS] = {
	{ "run.created", 0,
	  "{\"name\": \"sample\", \"definition\": " GRAPH_HASH
	  ", \"inputs\": {\"is\": {\"who\": \"world\"}}}",
	  "running" },
	{ "step.computed", 4,
	  "{\"step\": \"greet\", \"output\": {\"is\": {\"text\": \"hello, world\"}}}", "running" },
	{ "tool.requested", 0,
	  "{\"step\": \"build\", \"effect\": " BUILD
	  ", \"tool\": \"shell\", \"class\": \"contained\", "
	  "\"inputs\": {\"is\": {\"command\": \"make\"}}}",
	  "running" },
	{ "tool.restarted", 1500, "{\"step\": \"build\", \"effect\": " BUILD ", \"attempt\": 2}",
	  "running" },
	{ "tool.finished", 2750,
	  "{\"step\": \"build\", \"effect\": " BUILD
	  ", \"outcome\": \"ok\", \"output\": {\"sha256\": " BUILD_HASH ", \"size\": 300}}",
	  "running" },
	{ "timer.requested", 1,
	  "{\"step\": \"rest\", \"effect\": " REST ", \"due_at\": \"2026-01-12T09:30:06.255Z\"}",
	  "running" },
	{ "timer.finished", 2001, "{\"step\": \"rest\", \"effect\": " REST ", \"outcome\": \"ok\"}",
	  "running" },
	{ "human.requested", 0,
	  "{\"step\": \"ask\", \"effect\": " ASK
	  ", \"kind\": \"approval\", \"question\": \"Publish?\", "
	  "\"inputs\": {\"is\": {\"draft\": \"hello, world\"}}, \"revision\": " GRAPH_HASH "}",
	  "waiting_human" },
	{ "human.finished", 60000,
	  "{\"step\": \"ask\", \"effect\": " ASK
	  ", \"outcome\": \"ok\", \"decision\": \"approve\", "
	  "\"comment\": \"fine \\\"so far\\\"\", \"by\": \"ada\"}",
	  "running" },
	{ "tool.requested", 2,
	  "{\"step\": \"publish\", \"effect\": " PUBLISH
	  ", \"tool\": \"shell\", \"class\": \"contained\", "
	  "\"inputs\": {\"is\": {\"command\": \"publish\"}}}",
	  "running" },
	{ "tool.finished", 120,
	  "{\"step\": \"publish\", \"effect\": " PUBLISH ", \"outcome\": \"failed\", "
	  "\"fault\": {\"code\": \"tool_failed\", \"text\": \"exit status 3: no room\"}}",
	  "running" },
	{ "run.finished", 0,
	  "{\"outcome\": \"failed\", \"outputs\": {\"is\": {\"greeting\": \"hello, world\"}}, "
	  "\"fault\": {\"code\": \"tool_failed\", \"text\": \"publish: exit status 3: no room\"}}",
	  "failed" },
};

const struct play play_short = { "", graph_text, lines, SAMPLE_EVENTS };

static const struct json *read_value(void *context, const struct hash *hash)
{
	struct sample *sample = context;
	char text[HASH_TEXT_SIZE];
	const struct json *json;
	struct error error;
	if (!str_equal(hash_text(hash, text), str_skip(str_head(S(BUILD_HASH), 65), 1)))
		return NULL;
	cr_assert(json_read(S("{\"exit_code\": 0, \"stdout\": \"built\\n\", \"stderr\": \"\"}"),
			    &sample->arena, &json, &error));
	return json;
}

static struct str plain(const char *text, struct arena *arena)
{
	struct str from = str_from_c(text);
	char *to = arena_take_text(arena, from.size);
	for (size_t i = 0; i < from.size; i++)
		to[i] = from.at[i] == '\'' ? '"' : from.at[i];
	return (struct str){ to, from.size };
}

struct str sample_json(struct sample *sample, const char *text)
{
	return plain(text, &sample->arena);
}

struct str sample_graph_text(struct sample *sample)
{
	return plain(sample->play->graph, &sample->arena);
}

static const struct run_graph *read_graph(struct str text, struct arena *arena)
{
	struct problems problems = { .arena = arena };
	struct error error;
	const struct json *json;
	cr_assert(json_read(text, arena, &json, &error), "%s", error.text);
	struct contract_source source = { .json = json };
	const struct run_graph *graph = run_graph_parse(&source, arena, &problems);
	struct str found = problems_text(&problems, arena);
	cr_assert_not_null(graph, STR_FMT, STR_ARG(found));
	return graph;
}

void sample_init_play(struct sample *sample, const struct play *play)
{
	struct error error;
	int64_t at;
	*sample = (struct sample){ .play = play };
	cr_assert_leq(play->count, SAMPLE_MOST);
	cr_assert(time_parse(S("2026-01-12T09:30:00Z"), &at));
	for (size_t i = 0; i < play->count; i++) {
		at += play->lines[i].after_ms * 1000;
		cr_assert(event_read(str_from_c(play->lines[i].type), at,
				     plain(play->lines[i].body, &sample->arena), &sample->arena,
				     &sample->events[i], &error),
			  "%zu: %s", i + 1, error.text);
	}
	sample->source = (struct view_source){ .graph = read_graph(sample_graph_text(sample),
								   &sample->arena),
					       .events = sample->events,
					       .read_value = read_value,
					       .context = sample };
	cr_assert(uuid_parse(S("5e1d7c2a-9b84-4f63-a1d0-2c3b4a5f6e7d"), &sample->source.run));
	sample->source = sample_prefix(sample, play->count);
}

void sample_init(struct sample *sample)
{
	sample_init_play(sample, &play_short);
}

void sample_done(struct sample *sample)
{
	arena_done(&sample->arena);
}

struct view_source sample_prefix(const struct sample *sample, size_t count)
{
	struct view_source source = sample->source;
	source.event_count = count;
	source.state = str_from_c(sample->play->lines[count - 1].state);
	return source;
}

/* ---- printing ---------------------------------------------------------------------- */

struct str view_text(const struct view_document *document, struct arena *arena)
{
	AUTO(buf) text = { 0 };
	struct json_writer writer = { .out = &text };
	view_print(document, &writer);
	return str_copy(arena, buf_str(&text));
}

static void put_line(struct buf *out, const char *head, const struct view_document *document,
		     struct arena *arena)
{
	struct str text = view_text(document, arena);
	buf_add(out, str_from_c(head));
	buf_add(out, text);
}

struct str view_whole(const struct view *view, const struct timeline *timeline, struct arena *arena)
{
	AUTO(buf) out = { 0 };
	buf_add_format(&out, "{\"view\":\"" STR_FMT "\",\n\"run\":\n", STR_ARG(view->name));
	struct view_document document = view->ops->run(timeline);
	put_line(&out, "", &document, arena);
	struct view_documents more = view->ops->more(timeline);
	for (size_t i = 0; i < more.count; i++) {
		buf_add_format(&out, ",\n\"" STR_FMT "\":\n", STR_ARG(more.at[i].name));
		put_line(&out, "", &more.at[i], arena);
	}
	buf_add(&out, S(",\n\"events\":["));
	const char *head = "\n";
	for (size_t i = 0; i < timeline->source->event_count; i++) {
		struct view_group group;
		view_group_make(&group, view, timeline, i);
		for (size_t n = 0; n < group.count; n++) {
			document = view_group_event(&group, n);
			put_line(&out, head, &document, arena);
			head = ",\n";
		}
	}
	buf_add(&out, S("]}\n"));
	return str_copy(arena, buf_str(&out));
}
