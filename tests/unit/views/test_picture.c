/* Graph drawings: boxes do not overlap, lines lead down, and nothing moves while the run
 * proceeds. */
#include <criterion/criterion.h>

#include "base/limits.h"
#include "contract/run_graph_types.h"
#include "contract/run_picture_types.h"
#include "sample_run.h"
#include "views/layout.h"
#include "views/graph_drawing.h"

/* ---- graphs ------------------------------------------------------------------------ */

static const struct run_graph *read_graph(struct arena *arena, struct str text)
{
	struct contract_source source = { 0 };
	struct problems problems = { .arena = arena };
	struct error error;
	cr_assert(json_read(text, arena, &source.json, &error), "%s", error.text);
	const struct run_graph *graph = run_graph_parse(&source, arena, &problems);
	cr_assert_not_null(graph);
	return graph;
}

static uint64_t dice;

static uint64_t roll(uint64_t below)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return dice % below;
}

/* Nodes n0, n1 …: dependencies point to earlier nodes, edges anywhere. */
static void add_nodes(struct buf *text, size_t count, size_t depth)
{
	buf_add(text, S("["));
	for (size_t i = 0; i < count; i++) {
		bool container = depth > 0 && roll(4) == 0;
		buf_add_format(text,
			       "%s{\"name\":\"n%zu\",\"kind\":\"%s\",\"join\":\"all\",\"class\":"
			       "\"pure\",\"tool\":\"echo\",\"inputs\":{},\"reads\":[],"
			       "\"depends_on\":[",
			       i == 0 ? "" : ",", i, container ? "parallel" : "tool");
		size_t before = i == 0 ? 0 : roll(3), last = count;
		for (size_t d = 0; d < before; d++) {
			size_t on = roll(i);
			if (on == last)
				continue;
			buf_add_format(text, "%s\"n%zu\"", last == count ? "" : ",", on);
			last = on;
		}
		buf_add(text, S("]"));
		if (roll(3) == 0)
			buf_add_format(text, ",\"edges\":[{\"to\":\"n%zu\"}]", (size_t)roll(count));
		if (container) {
			buf_add(text, S(",\"body\":"));
			add_nodes(text, 1 + roll(6), depth - 1);
		}
		buf_add(text, S("}"));
	}
	buf_add(text, S("]"));
}

static const struct run_graph *random_graph(struct arena *arena, uint64_t seed)
{
	AUTO(buf) text = { 0 };
	dice = seed * 0x9e3779b97f4a7c15U;
	buf_add(&text, S("{\"name\":\"random\",\"inputs\":[],\"outputs\":[],\"nodes\":"));
	add_nodes(&text, 1 + roll(24), 3);
	buf_add(&text, S("}"));
	return read_graph(arena, str_copy(arena, buf_str(&text)));
}

/* ---- properties of every layout ---------------------------------------------------- */

static bool overlap(const struct layout_box *a, const struct layout_box *b)
{
	return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
	       b->y < a->y + a->height;
}

static bool contains(const struct layout_box *outer, const struct layout_box *inner)
{
	return outer->x <= inner->x && inner->x + inner->width <= outer->x + outer->width &&
	       outer->y + LAYOUT_HEAD <= inner->y &&
	       inner->y + inner->height <= outer->y + outer->height;
}

/* The line goes down, stays within the drawing, and crosses no box of its body. */
static void expect_led_around(const struct layout *layout, const struct layout_edge *edge)
{
	const struct layout_box *from = &layout->boxes[edge->from], *to = &layout->boxes[edge->to];
	int64_t y = from->y + from->height;
	for (size_t p = 0; p < edge->via_count; p++) {
		const struct run_picture_point *point = &edge->via[p];
		cr_assert(point->x >= 0 && point->x <= layout->width);
		cr_assert_geq(point->y, y);
		y = point->y;
	}
	cr_assert_leq(y, to->y);
	for (size_t i = 0; i < layout->count; i++) {
		const struct layout_box *box = &layout->boxes[i];
		bool between = box->within == from->within && box->y > from->y && box->y < to->y;
		bool passed = !between;
		for (size_t p = 0; between && p < edge->via_count; p += 2) {
			const struct run_picture_point *above = &edge->via[p], *below = above + 1;
			bool beside = above->x < box->x || above->x > box->x + box->width;
			passed |= above->y == box->y && below->y >= box->y + box->height &&
				  above->x == below->x && beside;
		}
		cr_assert(passed, STR_FMT " lies in the way to " STR_FMT, STR_ARG(box->path),
			  STR_ARG(to->path));
	}
}

static void expect_good(const struct layout *layout)
{
	for (size_t i = 0; i < layout->count; i++) {
		const struct layout_box *box = &layout->boxes[i];
		cr_assert(box->x >= 0 && box->y >= 0 && box->x + box->width <= layout->width &&
			  box->y + box->height <= layout->height);
		if (box->within != LAYOUT_ROOT)
			cr_assert(contains(&layout->boxes[box->within], box));
		for (size_t other = 0; other < i; other++)
			if (layout->boxes[other].within == box->within)
				cr_assert_not(overlap(box, &layout->boxes[other]),
					      STR_FMT " and " STR_FMT, STR_ARG(box->path),
					      STR_ARG(layout->boxes[other].path));
	}
	for (size_t i = 0; i < layout->edge_count; i++) {
		const struct layout_edge *edge = &layout->edges[i];
		const struct layout_box *from = &layout->boxes[edge->from];
		const struct layout_box *to = &layout->boxes[edge->to];
		cr_assert_eq(from->within, to->within);
		if (edge->back)
			continue;
		cr_assert_lt(from->layer, to->layer);
		cr_assert_lt(from->y + from->height, to->y);
		expect_led_around(layout, edge);
	}
}

/* Dependencies are acyclic, so a graph without edges has no back line. */
static bool has_edges(const struct layout *layout)
{
	for (size_t i = 0; i < layout->edge_count; i++)
		if (layout->edges[i].edge != NULL)
			return true;
	return false;
}

Test(layout, of_random_graphs)
{
	size_t back = 0, nested = 0;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		AUTO(arena) arena = { 0 };
		struct layout first, again;
		const struct run_graph *graph = random_graph(&arena, seed);
		layout_compute(&first, graph, &arena);
		layout_compute(&again, graph, &arena);
		expect_good(&first);
		cr_assert_eq(first.count, again.count);
		cr_assert_eq(first.left_out, 0);
		for (size_t i = 0; i < first.count; i++) {
			cr_assert_eq(first.boxes[i].x, again.boxes[i].x);
			cr_assert_eq(first.boxes[i].y, again.boxes[i].y);
			nested += first.boxes[i].within != LAYOUT_ROOT;
		}
		for (size_t i = 0; i < first.edge_count; i++) {
			back += first.edges[i].back;
			cr_assert(!first.edges[i].back || has_edges(&first));
		}
	}
	cr_expect_gt(back, 100);
	cr_expect_gt(nested, 1000);
}

static const struct run_graph *chain(struct arena *arena, size_t count, bool chained)
{
	AUTO(buf) text = { 0 };
	buf_add(&text, S("{\"name\":\"chain\",\"inputs\":[],\"outputs\":[],\"nodes\":["));
	for (size_t i = 0; i < count; i++) {
		buf_add_format(&text,
			       "%s{\"name\":\"n%zu\",\"kind\":\"tool\",\"join\":\"all\",\"class\":"
			       "\"pure\",\"tool\":\"echo\",\"inputs\":{},\"reads\":[],"
			       "\"depends_on\":[",
			       i == 0 ? "" : ",", i);
		if (chained && i > 0)
			buf_add_format(&text, "\"n%zu\"", i - 1);
		buf_add(&text, S("]}"));
	}
	buf_add(&text, S("]}"));
	return read_graph(arena, str_copy(arena, buf_str(&text)));
}

Test(layout, of_the_largest_definition_stays_within_its_limits)
{
	for (int chained = 0; chained < 2; chained++) {
		AUTO(arena) arena = { 0 };
		struct layout of;
		layout_compute(&of, chain(&arena, LIMIT_STEPS, chained), &arena);
		cr_expect_eq(of.count, LIMIT_PICTURE_NODES);
		cr_expect_eq(of.left_out, LIMIT_STEPS - LIMIT_PICTURE_NODES);
		cr_expect_eq(of.edge_count, chained ? LIMIT_PICTURE_NODES - 1 : 0);
		cr_expect_leq(of.width,
			      LAYOUT_ROW * (LAYOUT_WIDTH + LAYOUT_GAP_X) + 2 * LAYOUT_MARGIN);
		expect_good(&of);
	}
}

Test(layout, puts_a_node_below_what_its_neighbours_stand_above)
{
	/* a leads to d and b to c: crossed in definition order. */
	static const char text[] =
		"{'name':'crossed','inputs':[],'outputs':[],'nodes':["
		"{'name':'a','kind':'tool','join':'all','class':'pure','tool':'echo','inputs':{},"
		"'reads':[],'depends_on':[]},"
		"{'name':'b','kind':'tool','join':'all','class':'pure','tool':'echo','inputs':{},"
		"'reads':[],'depends_on':[]},"
		"{'name':'c','kind':'tool','join':'all','class':'pure','tool':'echo','inputs':{},"
		"'reads':[],'depends_on':['b']},"
		"{'name':'d','kind':'tool','join':'all','class':'pure','tool':'echo','inputs':{},"
		"'reads':[],'depends_on':['a']}]}";
	struct sample sample;
	sample_init(&sample);
	struct layout of;
	layout_compute(&of, read_graph(&sample.arena, sample_json(&sample, text)), &sample.arena);
	bool crossed = (of.boxes[0].x < of.boxes[1].x) != (of.boxes[3].x < of.boxes[2].x);
	cr_expect_not(crossed);
	sample_done(&sample);
}

/* ---- pictures of runs -------------------------------------------------------------- */

static const struct run_picture_node *box_of(const struct run_picture *graph_drawing,
					     const char *path)
{
	for (size_t i = 0; i < graph_drawing->nodes.count; i++)
		if (str_equal(graph_drawing->nodes.at[i].path, str_from_c(path)))
			return &graph_drawing->nodes.at[i];
	cr_assert_fail("no box %s", path);
	return NULL;
}

static void expect_state(const struct run_picture *graph_drawing, const char *path,
			 const char *state, int64_t activations)
{
	const struct run_picture_node *box = box_of(graph_drawing, path);
	cr_expect(str_equal(box->state, str_from_c(state)), "%s is " STR_FMT, path,
		  STR_ARG(box->state));
	cr_expect_eq(box->activations, activations, "%s has %lld", path,
		     (long long)box->activations);
}

Test(graph_drawing, of_the_long_run)
{
	struct sample sample;
	AUTO(timeline) timeline = { 0 };
	sample_init_play(&sample, &play_long);
	timeline_read(&timeline, &sample.source, &sample.arena);
	const struct run_picture *of = graph_drawing(&timeline);
	cr_expect_eq(of->seq, (int64_t)play_long.count);
	expect_state(of, "plan", "succeeded", 1);
	expect_state(of, "polish", "skipped", 1);
	expect_state(of, "improve", "succeeded", 2);
	expect_state(of, "improve/draft", "succeeded", 2);
	expect_state(of, "each/x", "failed", 2);
	expect_state(of, "behind", "skipped", 1);
	cr_expect_eq(box_of(of, "each")->items, 2);
	cr_expect_eq(box_of(of, "each/x")->succeeded, 1);
	cr_expect_eq(box_of(of, "each/x")->failed, 1);
	cr_expect(str_equal(box_of(of, "plan")->by, S("writer")));
	cr_expect(str_equal(box_of(of, "each/x")->within, S("each")));
	struct contract_source source = { 0 };
	struct problems problems = { .arena = &sample.arena };
	struct error error;
	cr_assert(json_read(run_picture_text(of, &sample.arena), &sample.arena, &source.json,
			    &error));
	cr_expect_not_null(run_picture_parse(&source, &sample.arena, &problems));
	sample_done(&sample);
}

Test(graph_drawing, does_not_move_while_the_run_goes_on)
{
	struct sample sample;
	AUTO(timeline) whole = { 0 };
	sample_init_play(&sample, &play_long);
	timeline_read(&whole, &sample.source, &sample.arena);
	const struct run_picture *last = graph_drawing(&whole);
	size_t states = 0;
	for (size_t count = 1; count <= play_long.count; count++) {
		struct view_source source = sample_prefix(&sample, count);
		AUTO(timeline) timeline = { 0 };
		timeline_read(&timeline, &source, &sample.arena);
		const struct run_picture *now = graph_drawing(&timeline);
		cr_assert_eq(now->nodes.count, last->nodes.count);
		for (size_t i = 0; i < now->nodes.count; i++) {
			const struct run_picture_node *a = &now->nodes.at[i];
			const struct run_picture_node *b = &last->nodes.at[i];
			cr_assert(a->x == b->x && a->y == b->y && a->width == b->width &&
				  a->height == b->height && str_equal(a->path, b->path));
			states += !str_equal(a->state, b->state);
		}
	}
	cr_expect_gt(states, 100);
	sample_done(&sample);
}
