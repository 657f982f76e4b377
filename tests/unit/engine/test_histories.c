/* Every history ever released folds to the state it had (architecture R9).
 *
 * tests/golden/histories only grows: NAME.jsonl is the run's id and graph on the first line and an
 * event on each line behind; NAME.snapshot.json is the state they fold to.  HISTORIES=write adds
 * the plays below that are not there yet, and snapshots; it never changes a history, and
 * tools/check-contracts refuses one that was.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "contract/run_graph_types.h"
#include "contract/run_outcome_types.h"
#include "engine/engine_rig.h"

enum { MOST_EVENTS = 1000, MOST_HISTORIES = 100 };

/* ---- files --------------------------------------------------------------------------- */

static const char *path_of(struct arena *arena, const char *name, const char *ending)
{
	return str_format(arena, HISTORIES "/%s.%s", name, ending).at;
}

static bool read_whole(const char *path, struct arena *arena, struct str *out)
{
	AUTO(buf) text = { 0 };
	char piece[4096];
	size_t size;
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return false;
	while ((size = fread(piece, 1, sizeof(piece), file)) > 0)
		buf_add(&text, (struct str){ piece, size });
	fclose(file);
	*out = str_copy(arena, buf_str(&text));
	return true;
}

static void write_whole(const char *path, struct str text)
{
	FILE *file = fopen(path, "w");
	cr_assert(file != NULL, "%s cannot be written", path);
	cr_assert_eq(fwrite(text.at, 1, text.size, file), text.size);
	cr_assert_eq(fclose(file), 0);
}

/* ---- reading one --------------------------------------------------------------------- */

struct history {
	struct arena arena;
	struct uuid run;
	const struct graph *graph;
	struct event events[MOST_EVENTS];
	size_t count;
};

static const struct json *line_json(struct history *h, struct str line)
{
	const struct json *json = NULL;
	struct error error;
	bool good = json_read(line, &h->arena, &json, &error);
	cr_assert(good, "%s", error.text);
	return json;
}

static void read_head(struct history *h, const struct json *head)
{
	struct error error;
	struct str text = json_print(&h->arena, json_member(head, S("graph")));
	bool good = uuid_parse(json_text(json_member(head, S("run"))), &h->run) &&
		    graph_load(text, &h->arena, &h->graph, &error);
	cr_assert(good, "%s", error.text);
}

static void read_event(struct history *h, const struct json *line)
{
	int64_t at;
	struct error error;
	cr_assert(h->count < MOST_EVENTS);
	cr_assert(time_parse(json_text(json_member(line, S("at"))), &at));
	bool good = event_read(json_text(json_member(line, S("type"))), at,
			       json_print(&h->arena, json_member(line, S("data"))), &h->arena,
			       &h->events[h->count++], &error);
	cr_assert(good, "%s", error.text);
}

static void read_history(struct history *h, const char *name)
{
	struct str rest, line;
	*h = (struct history){ 0 };
	cr_assert(read_whole(path_of(&h->arena, name, "jsonl"), &h->arena, &rest), "%s", name);
	while (str_cut(&rest, '\n', &line))
		if (line.size == 0)
			continue;
		else if (h->graph == NULL)
			read_head(h, line_json(h, line));
		else
			read_event(h, line_json(h, line));
	cr_assert(h->count > 0, "%s has no events", name);
}

/* ---- writing one --------------------------------------------------------------------- */

static void add_line(struct buf *out, const struct event *event, struct arena *arena)
{
	char at[TIME_TEXT_SIZE];
	struct json_writer writer = { .out = out };
	json_open(&writer, '{');
	json_key(&writer, S("at"));
	json_put_str(&writer, time_text(event->at, at));
	json_key(&writer, S("type"));
	json_put_str(&writer, event_name(event->type));
	json_key(&writer, S("data"));
	json_put_raw(&writer, event_body(event, arena));
	json_close(&writer, '}');
	buf_add_char(out, '\n');
}

static void write_history(struct rig *rig, const char *name)
{
	struct str known;
	const char *path = path_of(&rig->arena, name, "jsonl");
	if (read_whole(path, &rig->arena, &known))
		return;
	AUTO(buf) text = { 0 };
	char id[UUID_TEXT_SIZE];
	struct json_writer writer = { .out = &text };
	json_open(&writer, '{');
	json_key(&writer, S("run"));
	json_put_str(&writer, uuid_text(&rig->run->id, id));
	json_key(&writer, S("graph"));
	run_graph_print(rig->graph->rows, &writer);
	json_close(&writer, '}');
	buf_add_char(&text, '\n');
	for (size_t i = 0; i < rig->events; i++)
		add_line(&text, &rig->history[i], &rig->arena);
	write_whole(path, buf_str(&text));
}

/* ---- plays --------------------------------------------------------------------------- */

static const char release[] = "name: release\n"
			      "inputs:\n  who: {type: string}\n  n: {type: number, default: 7}\n"
			      "outputs:\n  text: {from: \"${steps.publish.outputs.stdout}\"}\n"
			      "  draft: {from: \"${steps.draft.outputs}\", optional: true}\n"
			      "steps:\n"
			      "  - {name: draft, tool: echo, inputs: {x: \"${inputs.who}\"}}\n"
			      "  - {name: rest, wait: {seconds: 2.5}, depends_on: [draft]}\n"
			      "  - {name: build, tool: box, depends_on: [draft], inputs: {y: "
			      "\"${steps.draft.outputs.x}\"}}\n"
			      "  - {name: ask, human: {question: \"publish ${inputs.n}?\"}, "
			      "depends_on: [build, rest]}\n"
			      "  - {name: publish, tool: send, depends_on: [ask], inputs: {z: "
			      "\"${steps.build.outputs.stdout} ${steps.ask.outputs.comment}\"}}\n"
			      "  - {name: tell, tool: put, depends_on: [publish]}\n"
			      "  - {name: last, tool: echo, depends_on: [tell]}\n";

static const char long_inputs[] =
	"{\"who\": \"a text that is longer than what stands in an event, so that it is stored by its "
	"hash and the event carries the reference: abcdefghijklmnopqrstuvwxyz "
	"abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz "
	"abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz\"}";

static void restart(struct rig *rig, const char *step)
{
	struct command again = { .kind = COMMAND_RESTARTED,
				 .step = str_from_c(step),
				 .effect = rig_step(rig, step)->effect };
	rig_do(rig, &again);
}

static void play_to_publish(struct rig *rig, const char *inputs)
{
	rig_init(rig, release);
	rig_create(rig, inputs);
	rig_compute_all(rig);
	restart(rig, "build");
	rig_finish(rig, "build", "{\"stdout\": \"built\"}");
	rig_finish(rig, "rest", "null");
}

static void play_good(struct rig *rig)
{
	play_to_publish(rig, "{\"who\": \"ada\"}");
	rig_answer(rig, "ask", RUN_DECISION_APPROVE);
	rig_finish(rig, "publish", "{\"stdout\": \"out\"}");
	rig_finish(rig, "tell", "{\"k\": [1, 2.5, null]}");
	rig_compute_all(rig);
}

static void play_rejected(struct rig *rig)
{
	play_to_publish(rig, long_inputs);
	rig_answer(rig, "ask", RUN_DECISION_REJECT);
}

static void play_unknown(struct rig *rig)
{
	play_to_publish(rig, long_inputs);
	rig_answer(rig, "ask", RUN_DECISION_APPROVE);
	struct command unknown = rig_finished(rig, "publish", NULL);
	unknown.outcome = RUN_OUTCOME_UNKNOWN;
	unknown.fault = (struct failure){ S("outcome_unknown"), S("nobody knows") };
	rig_do(rig, &unknown);
}

static void play_half(struct rig *rig)
{
	play_to_publish(rig, "{\"who\": \"ada\", \"n\": 1}");
}

static void play_compacted(struct rig *rig)
{
	play_good(rig);
	struct command compact = { .kind = COMMAND_COMPACT, .floor = rig->run->seq + 1 };
	rig_do(rig, &compact);
}

/* More than the room for steps at once, contained and other tools among each other. */
static void play_wide(struct rig *rig)
{
	AUTO(buf) yaml = { 0 };
	static const char *const tools[] = { "echo", "put", "box", "send" };
	buf_add(&yaml, S("name: wide\nsteps:\n"));
	for (int i = 0; i < 24; i++)
		buf_add_format(&yaml, "  - {name: s%d, tool: %s, depends_on: [%s]}\n", i,
			       tools[i % 4], i < 16 ? "" : "s3, s0");
	buf_add_char(&yaml, '\0');
	rig_init(rig, yaml.at);
	rig_create(rig, "{}");
	for (int round = 0; round < 3; round++) {
		rig_compute_all(rig);
		for (uint32_t i = 0; i < rig->graph->body.count; i += 2) {
			const struct activation *step = rig->run->root->places[i].newest;
			if (step->open)
				rig_finish(rig, str_c(&rig->arena, step->path),
					   i % 5 == 4 ? NULL : "{\"k\": 1}");
		}
	}
}

static const struct play {
	const char *name;
	void (*play)(struct rig *rig);
} plays[] = {
	{ "v1-good", play_good },           { "v1-rejected", play_rejected },
	{ "v1-unknown", play_unknown },     { "v1-half", play_half },
	{ "v1-compacted", play_compacted }, { "v1-wide", play_wide },
};

/* ---- the test ------------------------------------------------------------------------ */

static void check_history(const char *name, bool write)
{
	struct history *h = malloc(sizeof(*h));
	cr_assert_not_null(h);
	read_history(h, name);
	struct run *run = run_new(&h->arena, h->run, h->graph);
	for (size_t i = 0; i < h->count; i++) {
		struct error error;
		bool good = evolve(run, &h->events[i], &error);
		cr_assert(good, "%s: %s", name, error.text);
	}
	struct str now =
		str_format(&h->arena, STR_FMT "\n", STR_ARG(run_snapshot_of(run, &h->arena)));
	struct str golden = S("");
	const char *path = path_of(&h->arena, name, "snapshot.json");
	if (write)
		write_whole(path, now);
	cr_assert(read_whole(path, &h->arena, &golden), "%s is not there; HISTORIES=write", path);
	cr_expect(str_equal(now, golden),
		  "%s folds to another state than it did:\n" STR_FMT "---- it was:\n" STR_FMT, name,
		  STR_ARG(now), STR_ARG(golden));
	check_snapshots(h->events, h->count, h->run, h->graph);
	cr_expect_gt(check_damage(h->events, h->count, h->run, h->graph, 1), 0, "%s", name);
	arena_done(&h->arena);
	free(h);
}

Test(histories, fold_to_the_states_they_had)
{
	bool write = getenv("HISTORIES") != NULL;
	for (size_t i = 0; write && i < COUNT(plays); i++) {
		struct rig rig;
		plays[i].play(&rig);
		write_history(&rig, plays[i].name);
		rig_done(&rig);
	}
	DIR *folder = opendir(HISTORIES);
	cr_assert_not_null(folder);
	size_t count = 0;
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		char name[256];
		char *ending = strstr(strcpy(name, entry->d_name), ".jsonl");
		if (ending == NULL)
			continue;
		*ending = '\0';
		check_history(name, write);
		count++;
	}
	closedir(folder);
	cr_assert_geq(count, COUNT(plays));
	cr_assert_lt(count, MOST_HISTORIES);
}
