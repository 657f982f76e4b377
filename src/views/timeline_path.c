/* views/timeline_path.c -- finds and creates steps by their path.
 *
 * A path is read left to right.  Each piece names a node of the preceding body, its activation (#n)
 * and, for a map, the item ([i]).  The path of the body is everything before the last piece, so
 * after the first event of a body one lookup finds it.
 */
#include "views/timeline_internal.h"

const struct json timeline_no_members = { .kind = JSON_OBJECT };

/* ---- pieces ------------------------------------------------------------------------ */

struct piece {
	struct str name;
	int64_t ordinal, item;
};

/* "x", "x#2", "x[3]", "x#2[3]". */
static bool read_piece(struct str text, struct piece *out)
{
	size_t mark;
	*out = (struct piece){ text, 1, -1 };
	if (str_ends(text, S("]")) && str_find(text, S("["), &mark)) {
		struct str item = str_skip(text, mark + 1);
		if (!str_to_int(str_head(item, item.size - 1), &out->item) || out->item < 0)
			return false;
		out->name = str_head(text, mark);
	}
	if (str_find(out->name, S("#"), &mark)) {
		if (!str_to_int(str_skip(out->name, mark + 1), &out->ordinal) || out->ordinal < 2)
			return false;
		out->name = str_head(out->name, mark);
	}
	return true;
}

/* Splits a path into the path of the body ("" = root) and the last piece. */
static struct str split(struct str path, struct str *out_last)
{
	size_t cut = path.size;
	while (cut > 0 && path.at[cut - 1] != '/')
		cut--;
	*out_last = str_skip(path, cut);
	return str_head(path, cut > 0 ? cut - 1 : 0);
}

static bool find_node(struct timeline_scope *scope, struct str name, size_t *out_slot)
{
	size_t count = scope->nodes.count;
	for (size_t i = 0; i < count; i++) {
		size_t slot = (scope->hint + i) % count;
		if (!str_equal(scope->nodes.at[slot].name, name))
			continue;
		scope->hint = *out_slot = slot;
		return true;
	}
	return false;
}

/* ---- places ------------------------------------------------------------------------ */

struct timeline_place *timeline_place_of(struct timeline *timeline,
					 const struct timeline_scope *scope, struct str name)
{
	AUTO(buf) key = { 0 };
	struct str path = name;
	if (scope->path.size > 0) {
		buf_add(&key, scope->path);
		buf_add(&key, S("/"));
		buf_add(&key, name);
		path = buf_str(&key);
	}
	struct timeline_place *place = map_get(&timeline->places, path);
	if (place != NULL)
		return place;
	place = arena_new(timeline->arena, struct timeline_place);
	map_put(&timeline->places, str_copy(timeline->arena, path), place);
	return place;
}

/* ---- bodies ------------------------------------------------------------------------ */

static struct timeline_scope *scope_new(struct timeline *timeline, struct str path,
					struct run_graph_node_list nodes)
{
	struct timeline_scope *scope = arena_new(timeline->arena, struct timeline_scope);
	*scope = (struct timeline_scope){
		.path = path, .nodes = nodes, .item = -1, .next = timeline->newest_scope
	};
	timeline->newest_scope = scope;
	return scope;
}

/* The scope that has the node: the undos are in one of their own beside the root.  NULL = none. */
static struct timeline_scope *scope_with(const struct timeline *timeline,
					 struct timeline_scope *scope, struct str name,
					 size_t *out_slot)
{
	if (find_node(scope, name, out_slot))
		return scope;
	if (scope == timeline->root && find_node(timeline->undos, name, out_slot))
		return timeline->undos;
	return NULL;
}

/* Creates a body of a node: `head` is the path of the body, `last` the piece that names the
 * node. */
static struct timeline_scope *scope_make(struct timeline *timeline, struct timeline_scope *around,
					 struct str head, struct str last)
{
	struct piece piece;
	size_t slot, mark;
	if (!read_piece(last, &piece) ||
	    (around = scope_with(timeline, around, piece.name, &slot)) == NULL ||
	    !has(&around->nodes.at[slot], body))
		return NULL;
	struct timeline_scope *scope =
		scope_new(timeline, str_copy(timeline->arena, head), around->nodes.at[slot].body);
	struct str owner = scope->path;
	if (piece.item >= 0 && str_find(last, S("["), &mark))
		owner.size -= last.size - mark;
	scope->item = piece.item;
	scope->parent = timeline_step_find(timeline, owner);
	map_put(&timeline->scopes, scope->path, scope);
	return scope;
}

/* The scope with this path; creates it and the scopes around it if needed.  NULL when the graph has
 * no such body. */
static struct timeline_scope *scope_at(struct timeline *timeline, struct str path)
{
	struct timeline_scope *scope =
		path.size == 0 ? timeline->root : map_get(&timeline->scopes, path);
	if (scope != NULL)
		return scope;
	struct str rest = path, piece;
	scope = timeline->root;
	for (size_t end = 0; scope != NULL && str_cut(&rest, '/', &piece); end++) {
		end += piece.size;
		struct str head = str_head(path, end);
		struct timeline_scope *inner = map_get(&timeline->scopes, head);
		scope = inner != NULL ? inner : scope_make(timeline, scope, head, piece);
	}
	return scope;
}

/* ---- steps ------------------------------------------------------------------------- */

struct timeline_step *timeline_step_find(const struct timeline *timeline, struct str path)
{
	return map_get(&timeline->paths, path);
}

const struct timeline_step *timeline_find(const struct timeline *timeline, struct str path)
{
	return timeline_step_find(timeline, path);
}

static struct timeline_step *step_new(struct timeline *timeline, struct str path,
				      struct timeline_scope *scope, size_t slot, int64_t ordinal)
{
	struct timeline_step *step = arena_new(timeline->arena, struct timeline_step);
	*step = (struct timeline_step){ .path = path,
					.node = &scope->nodes.at[slot],
					.parent = scope->parent,
					.item = scope->item,
					.slot = slot,
					.ordinal = ordinal,
					.scope = scope,
					.inputs = &timeline_no_members };
	if (timeline->count == timeline->room) {
		timeline->room = timeline->room == 0 ? 16 : timeline->room * 2;
		struct timeline_step **steps =
			arena_array(timeline->arena, struct timeline_step *, timeline->room);
		for (size_t i = 0; i < timeline->count; i++)
			steps[i] = timeline->steps[i];
		timeline->steps = steps;
	}
	timeline->steps[timeline->count++] = step;
	map_put(&timeline->paths, path, step);
	timeline_place_of(timeline, scope, step->node->name)->newest = step;
	return step;
}

/* The first activation of a root node was deleted by compaction: its pending step becomes the
 * activation that the event names. */
static struct timeline_step *rename_step(struct timeline *timeline,
					 const struct timeline_scope *scope,
					 const struct piece *piece, struct str path)
{
	struct timeline_step *step = timeline_place_of(timeline, scope, piece->name)->newest;
	if (step == NULL || piece->ordinal == step->ordinal || step->started || step->ended ||
	    step->ordinal > 1 || step->state != VOCABULARY_STEP_PENDING)
		return NULL;
	map_remove(&timeline->paths, step->path);
	step->path = str_copy(timeline->arena, path);
	step->ordinal = piece->ordinal;
	map_put(&timeline->paths, step->path, step);
	return step;
}

struct timeline_step *timeline_step_at(struct timeline *timeline, struct str path)
{
	struct timeline_step *step = timeline_step_find(timeline, path);
	struct str last, around = split(path, &last);
	struct piece piece;
	size_t slot;
	if (step != NULL)
		return step;
	struct timeline_scope *scope = scope_at(timeline, around);
	if (scope == NULL || str_starts(path, S("/")) || !read_piece(last, &piece) ||
	    piece.item >= 0 || (scope = scope_with(timeline, scope, piece.name, &slot)) == NULL)
		return NULL;
	step = rename_step(timeline, scope, &piece, path);
	return step != NULL ? step
			    : step_new(timeline, str_copy(timeline->arena, path), scope, slot,
				       piece.ordinal);
}

void timeline_begin_root(struct timeline *timeline)
{
	const struct run_graph *graph = timeline->source->graph;
	timeline->root = scope_new(timeline, S(""), graph->nodes);
	timeline->undos =
		scope_new(timeline, S(""),
			  has(graph, undos) ? graph->undos : (struct run_graph_node_list){ 0 });
	timeline->room = graph->nodes.count;
	timeline->steps = arena_array(timeline->arena, struct timeline_step *, timeline->room);
	for (size_t i = 0; i < graph->nodes.count; i++)
		step_new(timeline, graph->nodes.at[i].name, timeline->root, i, 1);
}

/* ---- order ------------------------------------------------------------------------- */

static size_t depth_of(const struct timeline_step *step)
{
	size_t depth = 0;
	for (; step->parent != NULL; step = step->parent)
		depth++;
	return depth;
}

/* Compares two steps of one body, or of two bodies of a map.  Undos come last, as they began. */
static bool step_precedes(const struct timeline_step *left, const struct timeline_step *right)
{
	bool undoes = left->undoes.size > 0;
	if (undoes != (right->undoes.size > 0))
		return !undoes;
	if (undoes)
		return left->begun_seq < right->begun_seq;
	if (left->item != right->item)
		return left->item < right->item;
	if (left->slot != right->slot)
		return left->slot < right->slot;
	return left->ordinal < right->ordinal;
}

static bool comes_before(const struct timeline_step *left, const struct timeline_step *right)
{
	size_t left_depth = depth_of(left), right_depth = depth_of(right);
	bool deeper = left_depth > right_depth;
	for (; left_depth > right_depth; left_depth--)
		left = left->parent;
	for (; right_depth > left_depth; right_depth--)
		right = right->parent;
	if (left == right)
		return !deeper; /* a step precedes its body */
	while (left->parent != right->parent) {
		left = left->parent;
		right = right->parent;
	}
	return step_precedes(left, right);
}

/* Merge sort: merges sorted pieces of `width` into pieces of twice that. */
static void merge(const struct timeline_step **from, const struct timeline_step **to, size_t count,
		  size_t width)
{
	for (size_t low = 0; low < count; low += 2 * width) {
		size_t middle = low + width < count ? low + width : count;
		size_t high = low + 2 * width < count ? low + 2 * width : count;
		size_t left = low, right = middle;
		for (size_t i = low; i < high; i++) {
			bool first = left < middle &&
				     (right == high || !comes_before(from[right], from[left]));
			to[i] = first ? from[left++] : from[right++];
		}
	}
}

const struct timeline_step **timeline_in_order(const struct timeline *timeline)
{
	const struct timeline_step **sorted =
		arena_array(timeline->arena, const struct timeline_step *, timeline->count);
	for (size_t i = 0; i < timeline->count; i++)
		sorted[i] = timeline->steps[i];
	if (timeline->count == timeline->root->nodes.count)
		return sorted; /* only root nodes, already in the order of the graph */
	const struct timeline_step **other =
		arena_array(timeline->arena, const struct timeline_step *, timeline->count);
	for (size_t width = 1; width < timeline->count; width *= 2) {
		merge(sorted, other, timeline->count, width);
		const struct timeline_step **swapped = sorted;
		sorted = other;
		other = swapped;
	}
	return sorted;
}
