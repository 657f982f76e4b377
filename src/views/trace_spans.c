/* views/trace_spans.c -- a run as a tree of spans: the run, its activations with their bodies, and
 * the calls of an activation that has several.
 *
 * The tree is built from the ordered list of steps, in which a step precedes its body.  A span
 * counts the descendants that are omitted because of the depth or LIMIT_SPANS.
 */
#include "base/limits.h"
#include "contract/run_graph_types.h"
#include "contract/run_node_types.h"
#include "views/time_profile.h"

struct branch {
	const struct timeline_step *step; /* NULL = the run */
	struct branch *first, *last, *next;
	size_t children;
	size_t below; /* number of descendants, including calls */
};

struct spans {
	const struct timeline *timeline;
	int64_t now, depth;
	size_t made;
};

/* A single call has no span of its own. */
static size_t calls_of(const struct timeline_step *step)
{
	return step->call_count > 1 ? step->call_count : 0;
}

static void hang(struct branch *under, struct branch *branch)
{
	if (under->last == NULL)
		under->first = branch;
	else
		under->last->next = branch;
	under->last = branch;
	under->children++;
}

static struct branch *tree_of(const struct timeline *timeline)
{
	const struct timeline_step **steps = timeline_in_order(timeline);
	struct branch *branches = arena_array(timeline->arena, struct branch, timeline->count + 1);
	AUTO(map) by_path = { 0 };
	for (size_t i = 0; i < timeline->count; i++) {
		struct branch *branch = &branches[i + 1];
		const struct timeline_step *parent = steps[i]->parent;
		if (!steps[i]->started)
			continue; /* no duration */
		branch->step = steps[i];
		map_put(&by_path, steps[i]->path, branch);
		struct branch *under = parent == NULL ? NULL : map_get(&by_path, parent->path);
		hang(under == NULL ? &branches[0] : under, branch);
	}
	/* A body follows its step, so in a backward pass every branch is complete when it is added
	 * to its parent. */
	for (size_t i = timeline->count; i > 0; i--) {
		struct branch *branch = &branches[i];
		if (branch->step == NULL)
			continue;
		branch->below += calls_of(branch->step);
		const struct timeline_step *parent = branch->step->parent;
		struct branch *under = parent == NULL ? NULL : map_get(&by_path, parent->path);
		(under == NULL ? &branches[0] : under)->below += 1 + branch->below;
	}
	return branches;
}

static void set_time(const struct spans *spans, struct run_span *span, int64_t from, int64_t to)
{
	int64_t begin = spans->timeline->created_at;
	SET(span, from_us, from > begin ? from - begin : 0);
	SET(span, us, to > from ? to - from : 0);
}

static struct run_span span_of_call(const struct spans *spans, const struct timeline_step *step,
				    const struct timeline_call *call)
{
	struct run_span span = { 0 };
	struct str name = call->question != NULL
				  ? S("question")
				  : str_format(spans->timeline->arena, "attempt %lld",
					       (long long)call->attempt);
	bool open = call->ended_at == 0 && !step->ended;
	SET(&span, name, name);
	SET(&span, kind, S("call"));
	SET(&span, state, vocabulary_step(open ? step->state : call->state)->word);
	SET(&span, spans, ((struct run_span_list){ NULL, 0 }));
	set_time(spans, &span, call->begun_at,
		 call->ended_at != 0 ? call->ended_at
		 : step->ended       ? step->ended_at
				     : spans->now);
	return span;
}

static void fill(struct spans *spans, struct run_span *span, const struct branch *branch,
		 int64_t level);

static struct run_span span_of_step(struct spans *spans, const struct branch *branch, int64_t level)
{
	const struct timeline_step *step = branch->step;
	struct run_span span = { 0 };
	SET(&span, name, step->path);
	SET(&span, kind, run_node_kind_name(step->node->kind));
	SET(&span, state, vocabulary_step(step->state)->word);
	set_time(spans, &span, step->started_at, step->ended ? step->ended_at : spans->now);
	fill(spans, &span, branch, level);
	return span;
}

/* Adds the children of a span, up to LIMIT_SPANS. */
static void fill(struct spans *spans, struct run_span *span, const struct branch *branch,
		 int64_t level)
{
	size_t calls = branch->step == NULL ? 0 : calls_of(branch->step), count = 0, left_out = 0;
	size_t room = level < spans->depth ? calls + branch->children : 0;
	struct run_span *inner = arena_array(spans->timeline->arena, struct run_span, room);
	if (room == 0)
		left_out = branch->below;
	const struct timeline_call **call =
		room > 0 && calls > 0 ? timeline_calls(spans->timeline, branch->step) : NULL;
	for (size_t i = 0; call != NULL && i < calls; i++) {
		if (spans->made == LIMIT_SPANS) {
			left_out += calls - i;
			break;
		}
		spans->made++;
		inner[count++] = span_of_call(spans, branch->step, call[i]);
	}
	for (const struct branch *b = branch->first; room > 0 && b != NULL; b = b->next) {
		if (spans->made == LIMIT_SPANS) {
			left_out += 1 + b->below;
			continue;
		}
		spans->made++;
		inner[count++] = span_of_step(spans, b, level + 1);
	}
	SET(span, spans, ((struct run_span_list){ inner, count }));
	if (left_out > 0)
		SET(span, left_out, (int64_t)left_out);
}

const struct run_span *trace_spans(const struct timeline *timeline, int64_t now, int64_t depth)
{
	struct spans spans = { .timeline = timeline,
			       .now = timeline->ended ? timeline->ended_at : now,
			       .depth = depth < LIMIT_SPAN_DEPTH ? depth : LIMIT_SPAN_DEPTH,
			       .made = 1 };
	struct run_span *span = run_span_new(timeline->arena);
	SET(span, name, timeline->source->graph->name);
	SET(span, kind, S("run"));
	SET(span, state, timeline_words(timeline)->word);
	set_time(&spans, span, timeline->created_at, spans.now);
	fill(&spans, span, tree_of(timeline), 1);
	return span;
}
