/* views/story_path.c -- steps by their path.
 *
 * A path is read from its front: each piece names a node of the body before it, which activation it
 * is (#n) and, for a map, which item's body follows ([i]).  The body's path is what stands before
 * the last piece, so one look finds it from the second event of a body on.
 */
#include "views/story_inside.h"

const struct json story_no_members = { .kind = JSON_OBJECT };

/* ---- pieces -------------------------------------------------------------------------- */

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

/* The path of the body, "" for the root's, and the piece behind it. */
static struct str split(struct str path, struct str *out_last)
{
	size_t cut = path.size;
	while (cut > 0 && path.at[cut - 1] != '/')
		cut--;
	*out_last = str_skip(path, cut);
	return str_head(path, cut > 0 ? cut - 1 : 0);
}

static bool find_node(struct story_scope *scope, struct str name, size_t *out_slot)
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

/* ---- places -------------------------------------------------------------------------- */

struct story_place *story_place_of(struct story *story, const struct story_scope *scope,
				   struct str name)
{
	AUTO(buf) key = { 0 };
	struct str path = name;
	if (scope->path.size > 0) {
		buf_add(&key, scope->path);
		buf_add(&key, S("/"));
		buf_add(&key, name);
		path = buf_str(&key);
	}
	struct story_place *place = map_get(&story->places, path);
	if (place != NULL)
		return place;
	place = arena_new(story->arena, struct story_place);
	map_put(&story->places, str_copy(story->arena, path), place);
	return place;
}

/* ---- bodies -------------------------------------------------------------------------- */

static struct story_scope *scope_new(struct story *story, struct str path,
				     struct run_graph_node_list nodes)
{
	struct story_scope *scope = arena_new(story->arena, struct story_scope);
	*scope = (struct story_scope){
		.path = path, .nodes = nodes, .item = -1, .next = story->newest_scope
	};
	story->newest_scope = scope;
	return scope;
}

/* A body of this node, `head` being its path and `last` the piece that names the node. */
static struct story_scope *scope_make(struct story *story, struct story_scope *around,
				      struct str head, struct str last)
{
	struct piece piece;
	size_t slot, mark;
	if (!read_piece(last, &piece) || !find_node(around, piece.name, &slot) ||
	    !has(&around->nodes.at[slot], body))
		return NULL;
	struct story_scope *scope =
		scope_new(story, str_copy(story->arena, head), around->nodes.at[slot].body);
	struct str owner = scope->path;
	if (piece.item >= 0 && str_find(last, S("["), &mark))
		owner.size -= last.size - mark;
	scope->item = piece.item;
	scope->parent = story_step_find(story, owner);
	map_put(&story->scopes, scope->path, scope);
	return scope;
}

/* The scope with this path, and those around it that nobody has named yet; NULL: the graph has no
 * such body. */
static struct story_scope *scope_at(struct story *story, struct str path)
{
	struct story_scope *scope = path.size == 0 ? story->root : map_get(&story->scopes, path);
	if (scope != NULL)
		return scope;
	struct str rest = path, piece;
	scope = story->root;
	for (size_t end = 0; scope != NULL && str_cut(&rest, '/', &piece); end++) {
		end += piece.size;
		struct str head = str_head(path, end);
		struct story_scope *inner = map_get(&story->scopes, head);
		scope = inner != NULL ? inner : scope_make(story, scope, head, piece);
	}
	return scope;
}

/* ---- steps --------------------------------------------------------------------------- */

struct story_step *story_step_find(const struct story *story, struct str path)
{
	return map_get(&story->paths, path);
}

const struct story_step *story_find(const struct story *story, struct str path)
{
	return story_step_find(story, path);
}

static struct story_step *step_new(struct story *story, struct str path, struct story_scope *scope,
				   size_t slot, int64_t ordinal)
{
	struct story_step *step = arena_new(story->arena, struct story_step);
	*step = (struct story_step){ .path = path,
				     .node = &scope->nodes.at[slot],
				     .parent = scope->parent,
				     .item = scope->item,
				     .slot = slot,
				     .ordinal = ordinal,
				     .scope = scope,
				     .inputs = &story_no_members };
	if (story->count == story->room) {
		story->room = story->room == 0 ? 16 : story->room * 2;
		struct story_step **steps =
			arena_array(story->arena, struct story_step *, story->room);
		for (size_t i = 0; i < story->count; i++)
			steps[i] = story->steps[i];
		story->steps = steps;
	}
	story->steps[story->count++] = step;
	map_put(&story->paths, path, step);
	story_place_of(story, scope, step->node->name)->newest = step;
	return step;
}

/* A node of the root whose first activation is forgotten: what stands for it is the one that is
 * named now. */
static struct story_step *rename_step(struct story *story, const struct story_scope *scope,
				      const struct piece *piece, struct str path)
{
	struct story_step *step = story_place_of(story, scope, piece->name)->newest;
	if (step == NULL || piece->ordinal == step->ordinal || step->started || step->ended ||
	    step->ordinal > 1)
		return NULL;
	map_remove(&story->paths, step->path);
	step->path = str_copy(story->arena, path);
	step->ordinal = piece->ordinal;
	map_put(&story->paths, step->path, step);
	return step;
}

struct story_step *story_step_at(struct story *story, struct str path)
{
	struct story_step *step = story_step_find(story, path);
	struct str last, around = split(path, &last);
	struct piece piece;
	size_t slot;
	if (step != NULL)
		return step;
	struct story_scope *scope = scope_at(story, around);
	if (scope == NULL || str_starts(path, S("/")) || !read_piece(last, &piece) ||
	    piece.item >= 0 || !find_node(scope, piece.name, &slot))
		return NULL;
	step = rename_step(story, scope, &piece, path);
	return step != NULL
		       ? step
		       : step_new(story, str_copy(story->arena, path), scope, slot, piece.ordinal);
}

void story_begin_root(struct story *story)
{
	const struct run_graph *graph = story->source->graph;
	story->root = scope_new(story, S(""), graph->nodes);
	story->room = graph->nodes.count;
	story->steps = arena_array(story->arena, struct story_step *, story->room);
	for (size_t i = 0; i < graph->nodes.count; i++)
		step_new(story, graph->nodes.at[i].name, story->root, i, 1);
}

/* ---- order --------------------------------------------------------------------------- */

static size_t depth_of(const struct story_step *step)
{
	size_t depth = 0;
	for (; step->parent != NULL; step = step->parent)
		depth++;
	return depth;
}

/* Two steps of one body, or of two bodies of a map. */
static bool stands_before(const struct story_step *left, const struct story_step *right)
{
	if (left->item != right->item)
		return left->item < right->item;
	if (left->slot != right->slot)
		return left->slot < right->slot;
	return left->ordinal < right->ordinal;
}

static bool comes_before(const struct story_step *left, const struct story_step *right)
{
	size_t left_depth = depth_of(left), right_depth = depth_of(right);
	bool deeper = left_depth > right_depth;
	for (; left_depth > right_depth; left_depth--)
		left = left->parent;
	for (; right_depth > left_depth; right_depth--)
		right = right->parent;
	if (left == right)
		return !deeper; /* a step stands before what is in it */
	while (left->parent != right->parent) {
		left = left->parent;
		right = right->parent;
	}
	return stands_before(left, right);
}

/* Merges runs of `width` into runs of twice that. */
static void merge(const struct story_step **from, const struct story_step **to, size_t count,
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

const struct story_step **story_in_order(const struct story *story)
{
	const struct story_step **sorted =
		arena_array(story->arena, const struct story_step *, story->count);
	for (size_t i = 0; i < story->count; i++)
		sorted[i] = story->steps[i];
	if (story->count == story->root->nodes.count)
		return sorted; /* the root's alone, as the graph has them */
	const struct story_step **other =
		arena_array(story->arena, const struct story_step *, story->count);
	for (size_t width = 1; width < story->count; width *= 2) {
		merge(sorted, other, story->count, width);
		const struct story_step **swapped = sorted;
		sorted = other;
		other = swapped;
	}
	return sorted;
}
