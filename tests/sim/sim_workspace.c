/* sim/sim_workspace.c -- simulated git and flock: a folder is a list of writes, a tree is a copy of
 * the list, named by its hash.
 *
 * A lock is held by the program and by every child of the effect; the program releases it with its
 * life, a child with its own end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "sim/sim.h"

/* A take or restore in progress; memory of the life. */
struct errand {
	struct sim_workspace *workspace;
	size_t folder;
	char tree[41];             /* "" = take */
	struct sim_content merged; /* memory of the life; at NULL = no merge */
	bool merges, compares;
	workspace_done *done;
	void *context;
	uint64_t argument;
	bool cancelled;
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

size_t sim_workspace_folder(struct sim_workspace *self, const struct uuid *run, struct str branch)
{
	for (size_t i = 0; i < self->folder_count; i++)
		if (uuid_equal(&self->folders[i].run, run) &&
		    str_equal(str_from_c(self->folders[i].branch), branch))
			return i;
	sim_memory_outside();
	if (self->folder_count == self->folder_room) {
		self->folder_room = self->folder_room == 0 ? 16 : self->folder_room * 2;
		self->folders =
			reallocarray(self->folders, self->folder_room, sizeof(*self->folders));
		require(self->folders != NULL);
	}
	sim_memory_inside();
	struct sim_folder *folder = &self->folders[self->folder_count];
	*folder = (struct sim_folder){ .run = *run };
	require(branch.size < sizeof(folder->branch));
	memcpy(folder->branch, branch.at, branch.size);
	return self->folder_count++;
}

void sim_workspace_write(struct sim_workspace *self, size_t folder, uint64_t what)
{
	sim_memory_outside();
	content_add(&self->folders[folder].content, what);
	sim_memory_inside();
}

/* A path is the number of the folder. */
static bool folder(struct workspace *workspace, const struct uuid *run, struct str branch,
		   struct arena *arena, const char **out_path, struct error *error)
{
	(void)error;
	*out_path =
		str_format(arena, "%zu", sim_workspace_folder(self_of(workspace), run, branch)).at;
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

/* Every write behind the tree is a file of its own. */
static void compare(struct errand *errand, const struct sim_folder *at, struct error *error)
{
	struct sim *sim = errand->workspace->sim;
	const struct sim_tree *tree = find_tree(errand->workspace, errand->tree);
	AUTO(buf) text = { 0 };
	if (tree == NULL || tree->content.count > at->content.count) {
		sim_fail(sim, "a folder is compared with a tree that is not its own");
		return;
	}
	size_t count = at->content.count - tree->content.count;
	buf_add_format(&text, "changed %zu\n", count);
	for (size_t i = 0; i < count; i++)
		buf_add(&text, S("8\n"));
	for (size_t i = 0; i < count; i++) {
		buf_add(&text, S(":000000 100644 0000 1111 A"));
		buf_add_char(&text, '\0');
		buf_add_format(&text, "w%llu",
			       (unsigned long long)at->content.at[tree->content.count + i]);
		buf_add_char(&text, '\0');
	}
	sim_point(sim);
	errand->done(errand->context, errand->argument, buf_str(&text), error);
}

static void run_errand(void *context, uint64_t argument)
{
	struct errand *errand = context;
	(void)argument;
	struct sim_workspace *self = errand->workspace;
	struct sim *sim = self->sim;
	struct sim_folder *at = &self->folders[errand->folder];
	struct error error = { 0 };
	sim_point(sim);
	if (errand->cancelled) {
		fail(&error, ERROR_CANCELLED, "it was told to stop");
	} else if (sim->mode != SIM_CALM && sim_chance(&sim->dice, 3)) {
		fail(&error, ERROR_IO, "git failed by order");
	} else if (errand->merges) {
		sim_memory_outside();
		content_copy(&at->content, &errand->merged);
		sim_memory_inside();
		name_tree(&at->content, errand->tree);
		keep_tree(self, &at->content, errand->tree);
	} else if (errand->compares) {
		compare(errand, at, &error);
		return;
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

/* An errand is found by its address: it lives as long as the program. */
static void cancel(struct workspace *workspace, uint64_t operation)
{
	(void)workspace;
	struct errand *errand = (struct errand *)(uintptr_t)operation;
	errand->cancelled = true;
}

static struct errand *errand_new(struct sim_workspace *self, const struct uuid *run,
				 struct str branch, struct str tree)
{
	struct errand *errand = arena_new(&self->sim->scratch, struct errand);
	require(tree.size < sizeof(errand->tree));
	errand->workspace = self;
	errand->folder = sim_workspace_folder(self, run, branch);
	if (tree.size > 0)
		memcpy(errand->tree, tree.at, tree.size);
	return errand;
}

static uint64_t errand_begin(struct errand *errand, workspace_done *done, void *context,
			     uint64_t argument)
{
	struct sim *sim = errand->workspace->sim;
	errand->done = done;
	errand->context = context;
	errand->argument = argument;
	platform_timer_start(&sim->platform.base, (int64_t)sim_below(&sim->dice, 3000), run_errand,
			     errand, 0);
	return (uint64_t)(uintptr_t)errand;
}

static uint64_t take(struct workspace *workspace, const struct uuid *run, struct str branch,
		     int64_t timeout_us, workspace_done *done, void *context, uint64_t argument)
{
	(void)timeout_us;
	return errand_begin(errand_new(self_of(workspace), run, branch, S("")), done, context,
			    argument);
}

static uint64_t restore(struct workspace *workspace, const struct uuid *run, struct str branch,
			struct str tree, workspace_done *done, void *context, uint64_t argument)
{
	return errand_begin(errand_new(self_of(workspace), run, branch, tree), done, context,
			    argument);
}

static uint64_t begin(struct workspace *workspace, const struct uuid *run, struct str branch,
		      struct str parent, struct str tree, int64_t timeout_us, workspace_done *done,
		      void *context, uint64_t argument)
{
	(void)parent;
	(void)timeout_us;
	return errand_begin(errand_new(self_of(workspace), run, branch, tree), done, context,
			    argument);
}

/* The base, then what each branch wrote behind it. */
static uint64_t merge(struct workspace *workspace, const struct uuid *run, struct str branch,
		      struct str base, const struct workspace_branch *branches, size_t count,
		      workspace_done *done, void *context, uint64_t argument)
{
	struct sim_workspace *self = self_of(workspace);
	struct arena *arena = &self->sim->scratch;
	const struct sim_tree *from = find_tree(self, str_c(arena, base));
	struct errand *errand = errand_new(self, run, branch, S(""));
	size_t room = from == NULL ? 0 : from->content.count;
	for (size_t i = 0; i < count; i++) {
		const struct sim_tree *tree = find_tree(self, str_c(arena, branches[i].tree));
		if (tree == NULL || from == NULL) {
			sim_fail(self->sim, "a merge of a tree that was never taken");
			return 0;
		}
		room += tree->content.count;
	}
	errand->merges = true;
	errand->merged = (struct sim_content){ arena_array(arena, uint64_t, room), 0, room };
	for (size_t k = 0; k < from->content.count; k++)
		errand->merged.at[errand->merged.count++] = from->content.at[k];
	for (size_t i = 0; i < count; i++) {
		const struct sim_content *own =
			&find_tree(self, str_c(arena, branches[i].tree))->content;
		for (size_t k = from->content.count; k < own->count; k++)
			errand->merged.at[errand->merged.count++] = own->at[k];
	}
	return errand_begin(errand, done, context, argument);
}

static uint64_t changes(struct workspace *workspace, const struct uuid *run, struct str branch,
			struct str tree, int64_t since_us, workspace_done *done, void *context,
			uint64_t argument)
{
	struct errand *errand = errand_new(self_of(workspace), run, branch, tree);
	(void)since_us;
	errand->compares = true;
	return errand_begin(errand, done, context, argument);
}

static void drop(struct workspace *workspace, const struct uuid *run, struct str branch)
{
	struct sim_workspace *self = self_of(workspace);
	for (size_t i = 0; i < self->folder_count; i++) {
		struct sim_folder *at = &self->folders[i];
		if (uuid_equal(&at->run, run) && at->branch[0] != '\0' &&
		    (branch.size == 0 || str_equal(str_from_c(at->branch), branch)))
			at->content.count = 0;
	}
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

/* The children of a simulated crash end by themselves. */
static size_t kill_holders(struct workspace *workspace, const struct uuid *effect)
{
	(void)workspace;
	(void)effect;
	return 0;
}

/* Nothing is simulated for longer than workspaces are kept. */
static bool list(const struct workspace *workspace, struct arena *arena, struct uuid **out_runs,
		 size_t *out_count, struct error *error)
{
	(void)workspace, (void)arena, (void)out_runs, (void)error;
	*out_count = 0;
	return true;
}

static void remove_all(struct workspace *workspace, const struct uuid *run, workspace_done *done,
		       void *context, uint64_t argument)
{
	(void)run, (void)done, (void)context, (void)argument;
	sim_fail(self_of(workspace)->sim, "a workspace was removed");
}

static const struct workspace_ops ops = {
	.folder = folder,
	.take = take,
	.restore = restore,
	.begin = begin,
	.merge = merge,
	.changes = changes,
	.cancel = cancel,
	.drop = drop,
	.list = list,
	.remove = remove_all,
	.lock = lock,
	.unlock = unlock,
	.kill_holders = kill_holders,
};

void sim_workspace_init(struct sim_workspace *self, struct sim *sim)
{
	*self = (struct sim_workspace){ .base = { &ops }, .sim = sim };
}

void sim_workspace_done(struct sim_workspace *self)
{
	for (size_t i = 0; i < self->folder_count; i++)
		free(self->folders[i].content.at);
	free(self->folders);
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
