/* sim/sim_workspace.c -- simulated git and flock: a folder is a list of writes, a tree is a copy of
 * the list, named by its hash.
 *
 * A lock is held by the program and by every child of the effect; the program releases it with its
 * life, a child with its own end.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

/* A take or restore in progress; memory of the life. */
struct errand {
	struct sim_workspace *workspace;
	struct uuid run;
	char tree[41]; /* "" = take */
	workspace_done *done;
	void *context;
	uint64_t argument;
};

static struct sim_workspace *self_of(struct workspace *workspace)
{
	return (struct sim_workspace *)workspace;
}

static void content_add(struct sim_content *content, uint64_t what)
{
	if (content->count == content->room) {
		content->room = content->room == 0 ? 16 : content->room * 2;
		content->at = reallocarray(content->at, content->room, sizeof(*content->at));
		require(content->at != NULL);
	}
	content->at[content->count++] = what;
}

static void content_copy(struct sim_content *to, const struct sim_content *from)
{
	to->count = 0;
	for (size_t i = 0; i < from->count; i++)
		content_add(to, from->at[i]);
}

struct sim_folder *sim_workspace_folder(struct sim_workspace *self, const struct uuid *run)
{
	for (size_t i = 0; i < self->folder_count; i++)
		if (uuid_equal(&self->folders[i].run, run))
			return &self->folders[i];
	require(self->folder_count < SIM_KNOWN);
	struct sim_folder *folder = &self->folders[self->folder_count++];
	folder->run = *run;
	return folder;
}

void sim_workspace_write(struct sim_workspace *self, const struct uuid *run, uint64_t what)
{
	sim_memory_outside();
	content_add(&sim_workspace_folder(self, run)->content, what);
	sim_memory_inside();
}

static bool folder(struct workspace *workspace, const struct uuid *run, struct arena *arena,
		   const char **out_path, struct error *error)
{
	(void)arena;
	(void)error;
	sim_workspace_folder(self_of(workspace), run);
	*out_path = "work";
	return true;
}

/* ---- trees -------------------------------------------------------------------------- */

static struct sim_tree *find_tree(struct sim_workspace *self, const char *name)
{
	for (size_t i = 0; i < self->tree_count; i++)
		if (strcmp(self->trees[i].name, name) == 0)
			return &self->trees[i];
	return NULL;
}

static void keep_tree(struct sim_workspace *self, const struct sim_content *content,
		      const char *name)
{
	if (find_tree(self, name) != NULL)
		return;
	sim_memory_outside();
	if (self->tree_count == self->tree_room) {
		self->tree_room = self->tree_room == 0 ? 16 : self->tree_room * 2;
		self->trees = reallocarray(self->trees, self->tree_room, sizeof(*self->trees));
		require(self->trees != NULL);
	}
	struct sim_tree *tree = &self->trees[self->tree_count++];
	*tree = (struct sim_tree){ 0 };
	memcpy(tree->name, name, sizeof(tree->name));
	content_copy(&tree->content, content);
	sim_memory_inside();
}

static void name_tree(const struct sim_content *content, char name[41])
{
	struct str bytes = { (const char *)content->at, content->count * sizeof(*content->at) };
	struct hash hash = hash_of(bytes);
	char text[HASH_TEXT_SIZE];
	hash_text(&hash, text);
	memcpy(name, text, 40);
	name[40] = '\0';
}

static void errand_end(struct errand *errand, struct error *error, const char *tree)
{
	errand->done(errand->context, errand->argument,
		     error->code == ERROR_NONE ? str_from_c(tree) : S(""), error);
}

static void run_errand(void *context, uint64_t argument)
{
	struct errand *errand = context;
	(void)argument;
	struct sim_workspace *self = errand->workspace;
	struct sim *sim = self->sim;
	struct sim_folder *at = sim_workspace_folder(self, &errand->run);
	struct error error = { 0 };
	sim_point(sim);
	if (sim->mode != SIM_CALM && sim_chance(&sim->dice, 3)) {
		fail(&error, ERROR_IO, "git failed by order");
	} else if (errand->tree[0] == '\0') {
		name_tree(&at->content, errand->tree);
		keep_tree(self, &at->content, errand->tree);
	} else {
		const struct sim_tree *tree = find_tree(self, errand->tree);
		if (tree == NULL) {
			sim_fail(sim, "restore of a tree that was never taken");
			return;
		}
		sim_memory_outside();
		content_copy(&at->content, &tree->content);
		sim_memory_inside();
	}
	sim_point(sim);
	errand_end(errand, &error, errand->tree);
}

static void begin_errand(struct workspace *workspace, const struct uuid *run, struct str tree,
			 workspace_done *done, void *context, uint64_t argument)
{
	struct sim_workspace *self = self_of(workspace);
	struct errand *errand = arena_new(&self->sim->scratch, struct errand);
	require(tree.size < sizeof(errand->tree));
	*errand = (struct errand){ .workspace = self,
				   .run = *run,
				   .done = done,
				   .context = context,
				   .argument = argument };
	if (tree.size > 0)
		memcpy(errand->tree, tree.at, tree.size);
	platform_timer_start(&self->sim->platform.base, (int64_t)sim_below(&self->sim->dice, 3000),
			     run_errand, errand, 0);
}

static void take(struct workspace *workspace, const struct uuid *run, workspace_done *done,
		 void *context, uint64_t argument)
{
	begin_errand(workspace, run, S(""), done, context, argument);
}

/* ---- locks -------------------------------------------------------------------------- */

static struct sim_lock *lock_of(struct sim_workspace *self, const struct uuid *effect)
{
	for (size_t i = 0; i < self->lock_count; i++)
		if (uuid_equal(&self->locks[i].effect, effect))
			return &self->locks[i];
	sim_memory_outside();
	if (self->lock_count == self->lock_room) {
		self->lock_room = self->lock_room == 0 ? 16 : self->lock_room * 2;
		self->locks = reallocarray(self->locks, self->lock_room, sizeof(*self->locks));
		require(self->locks != NULL);
	}
	sim_memory_inside();
	struct sim_lock *made = &self->locks[self->lock_count++];
	*made = (struct sim_lock){ .effect = *effect };
	return made;
}

static bool lock(struct workspace *workspace, const struct uuid *effect, int *out_descriptor,
		 struct error *error)
{
	struct sim_workspace *self = self_of(workspace);
	struct sim_lock *at = lock_of(self, effect);
	if (at->held || sim_child_lives(self->sim, effect))
		return fail(error, ERROR_LOCKED, "a process of an earlier attempt lives");
	at->held = true;
	*out_descriptor = 100 + (int)(at - self->locks);
	return true;
}

static void unlock(struct workspace *workspace, const struct uuid *effect, int descriptor)
{
	struct sim_workspace *self = self_of(workspace);
	struct sim_lock *at = lock_of(self, effect);
	if (!at->held || descriptor != 100 + (int)(at - self->locks))
		sim_fail(self->sim, "a lock was released that was not held");
	at->held = false;
}

static const struct workspace_ops ops = {
	.folder = folder,
	.take = take,
	.restore = begin_errand,
	.lock = lock,
	.unlock = unlock,
};

void sim_workspace_init(struct sim_workspace *self, struct sim *sim)
{
	*self = (struct sim_workspace){ .base = { &ops }, .sim = sim };
}

void sim_workspace_done(struct sim_workspace *self)
{
	for (size_t i = 0; i < self->folder_count; i++)
		free(self->folders[i].content.at);
	for (size_t i = 0; i < self->tree_count; i++)
		free(self->trees[i].content.at);
	free(self->trees);
	free(self->locks);
}

void sim_workspace_crash(struct sim_workspace *self)
{
	for (size_t i = 0; i < self->lock_count; i++)
		self->locks[i].held = false;
}
