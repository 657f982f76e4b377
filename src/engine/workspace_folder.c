/* engine/workspace_folder.c -- folders of branches, their holders and readers. */
#include "engine/workspace_folder.h"

static struct branch *branch_new(struct run *run, struct scope *scope, struct str path)
{
	struct branch *branch = arena_new(run->arena, struct branch);
	struct branch **link = &scope->owner->branches;
	branch->scope = scope;
	branch->path = path;
	while (*link != NULL)
		link = &(*link)->next;
	*link = branch;
	return branch;
}

/* Of a parallel body: a branch per group of connected nodes with one that writes. */
static void make_groups(struct run *run, struct scope *scope, struct graph_numbers body)
{
	for (size_t i = 0; i < body.count; i++) {
		const struct graph_node *node = &run->graph->nodes[body.at[i]];
		struct place *first = &scope->places[node->branch];
		if (!node->writes || first->branch != NULL)
			continue;
		struct str name = run->graph->nodes[body.at[node->branch]].name;
		first->branch = branch_new(run, scope,
					   str_format(run->arena, STR_FMT "/" STR_FMT,
						      STR_ARG(scope->path), STR_ARG(name)));
	}
	for (size_t i = 0; i < body.count; i++)
		scope->places[i].branch =
			scope->places[run->graph->nodes[body.at[i]].branch].branch;
}

void branch_make_all(struct run *run, struct scope *scope)
{
	if (scope->owner == NULL || !run_node(run, scope->owner)->own_trees)
		return;
	struct graph_numbers body = graph_body(run->graph, scope->owner->node);
	if (scope->item < 0) {
		make_groups(run, scope, body);
		return;
	}
	struct branch *branch = branch_new(run, scope, scope->path);
	for (size_t i = 0; i < body.count; i++)
		scope->places[i].branch = branch;
}

struct branch *branch_of(const struct run *run, const struct activation *activation)
{
	for (; activation != NULL; activation = activation->scope->owner) {
		struct branch *branch = run_place(run, activation->scope, activation->node)->branch;
		if (branch != NULL)
			return branch;
	}
	return NULL;
}

struct str run_folder_name(const struct run *run, const struct activation *activation)
{
	const struct branch *branch = branch_of(run, activation);
	return branch == NULL ? S("") : branch->path;
}

struct folder *folder_of(struct run *run, const struct activation *activation)
{
	struct branch *branch = branch_of(run, activation);
	return branch == NULL ? &run->folder : &branch->folder;
}

/* ---- holders and readers ----------------------------------------------------------------- */

static bool is_inside(const struct activation *activation, const struct activation *container)
{
	while (activation != NULL && activation != container)
		activation = activation->scope->owner;
	return activation != NULL;
}

bool branch_container_failed(const struct activation *container)
{
	for (const struct scope *scope = container->scopes; scope != NULL; scope = scope->next)
		if (scope->failed.path.size > 0)
			return true;
	return container->fault.code.size > 0;
}

static bool may_leave(const struct activation *container)
{
	if (branch_container_failed(container))
		return true;
	for (const struct branch *at = container->branches; at != NULL; at = at->next)
		if (at->requested && !at->ended)
			return false;
	return true;
}

bool folder_allows(const struct run *run, const struct activation *activation)
{
	const struct branch *branch = branch_of(run, activation);
	const struct folder *folder = branch == NULL ? &run->folder : &branch->folder;
	if (activation->leaving)
		return may_leave(activation);
	if (run_node(run, activation)->read_only)
		return folder->holder == NULL || is_inside(activation, folder->holder);
	return (folder->holder == NULL || folder->holder == activation) && folder->readers == 0;
}

void folder_take(struct run *run, struct activation *activation)
{
	struct branch *branch = branch_of(run, activation);
	struct folder *folder = folder_of(run, activation);
	if (run_node(run, activation)->read_only) {
		folder->readers += !activation->reads_workspace;
		activation->reads_workspace = true;
		return;
	}
	folder->holder = activation;
	activation->holds_workspace = true;
	if (branch != NULL)
		branch->requested = true;
}

void folder_give(struct run *run, struct activation *activation)
{
	if (!activation->holds_workspace && !activation->reads_workspace)
		return;
	struct folder *folder = folder_of(run, activation);
	if (activation->reads_workspace)
		folder->readers--;
	if (activation->holds_workspace && folder->holder == activation)
		folder->holder = NULL;
	activation->holds_workspace = activation->reads_workspace = false;
}

void folder_restore_all(struct run *run)
{
	run->folder = (struct folder){ 0 };
	for (uint32_t i = 0; i < run->paths.room; i++)
		for (struct branch *at = run->paths.at[i] == NULL ? NULL
								  : run->paths.at[i]->branches;
		     at != NULL; at = at->next)
			at->folder = (struct folder){ 0 };
	for (uint32_t i = 0; i < run->paths.room; i++) {
		struct activation *activation = run->paths.at[i];
		if (activation == NULL)
			continue;
		if (activation->holds_workspace)
			folder_of(run, activation)->holder = activation;
		folder_of(run, activation)->readers += activation->reads_workspace;
	}
}

/* ---- branches that are over -------------------------------------------------------------- */

struct branch *branch_find(const struct activation *container, struct str path)
{
	struct branch *branch = container->branches;
	while (branch != NULL && !str_equal(branch->path, path))
		branch = branch->next;
	return branch;
}

static bool branch_is_over(const struct run *run, const struct branch *branch)
{
	if (!branch->requested || branch->ended)
		return false;
	for (const struct activation *a = branch->scope->first; a != NULL; a = a->next)
		if (run_place(run, branch->scope, a->node)->branch == branch &&
		    !step_state_row(a->state)->final)
			return false;
	return true;
}

struct branch *branch_next_over(const struct run *run, const struct activation *container,
				const struct branch *after)
{
	struct branch *at = after == NULL ? container->branches : after->next;
	if (container->stopping || branch_container_failed(container))
		return NULL;
	while (at != NULL && !branch_is_over(run, at))
		at = at->next;
	return at;
}

bool branch_any_over(const struct run *run)
{
	for (uint32_t i = 0; run->graph->own_trees && i < run->paths.room; i++) {
		const struct activation *a = run->paths.at[i];
		if (a != NULL && a->state == STEP_RUNNING && branch_next_over(run, a, NULL) != NULL)
			return true;
	}
	return false;
}
