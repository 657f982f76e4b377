/* simulation/simulated_workspace.c -- folders and trees: a folder is the hash of all that was written into it, and so
 * is its tree.
 *
 * Branches that begin at one tree are merged by hashing what they became, in order; they never conflict, because what
 * a call writes is not known.
 */
#include <stdlib.h>

#include "simulation/simulation_world.h"

struct errand {
	struct simulated_workspace *workspace;
	struct uuid run;
	struct str branch, tree; /* tree: what the folder becomes; "" = it is taken */
	workspace_done *done;
	void *context;
	uint64_t argument;
	bool compares;
};

static struct simulated_workspace *self_of(struct workspace *workspace)
{
	return (struct simulated_workspace *)workspace;
}

static struct str hash_name(struct arena *arena, struct str text)
{
	struct hash hash = hash_of(text);
	char name[HASH_TEXT_SIZE];
	hash_text(&hash, name);
	return str_head(str_copy(arena, str_from_c(name)), 40);
}

static size_t folder_index(struct simulated_workspace *self, const struct uuid *run,
			   struct str branch)
{
	struct arena *arena = &self->world->arena;
	for (size_t i = 0; i < self->count; i++)
		if (uuid_equal(&self->folders[i].run, run) &&
		    str_equal(self->folders[i].branch, branch))
			return i;
	if (self->count == self->room) {
		self->room = self->room == 0 ? 16 : self->room * 2;
		self->folders = reallocarray(self->folders, self->room, sizeof(*self->folders));
		require(self->folders != NULL);
	}
	self->folders[self->count] =
		(struct simulated_folder){ *run, str_copy(arena, branch), hash_name(arena, S("")) };
	return self->count++;
}

void simulated_workspace_write(struct simulated_world *world, const char *folder,
			       const struct uuid *effect)
{
	int64_t index;
	if (!str_to_int(str_from_c(folder), &index))
		return;
	struct simulated_folder *at = &world->workspace.folders[index];
	AUTO(arena) arena = { 0 };
	struct str text = str_format(&arena, STR_FMT STR_FMT, STR_ARG(at->content),
				     (int)sizeof(effect->bytes), (const char *)effect->bytes);
	at->content = hash_name(&world->arena, text);
}

/* A path is the number of the folder. */
static bool folder(struct workspace *workspace, const struct uuid *run, struct str branch,
		   struct arena *arena, const char **out_path, struct error *error)
{
	(void)error;
	*out_path = str_format(arena, "%zu", folder_index(self_of(workspace), run, branch)).at;
	return true;
}

static void run_errand(void *context, uint64_t argument)
{
	struct errand *errand = context;
	struct simulated_workspace *self = errand->workspace;
	size_t index = folder_index(self, &errand->run, errand->branch); /* may move them */
	struct simulated_folder *at = &self->folders[index];
	struct error error = { 0 };
	(void)argument;
	simulated_point(self->world);
	if (errand->compares) {
		errand->done(errand->context, errand->argument, S(""), &error);
		return;
	}
	if (errand->tree.size > 0)
		at->content = str_copy(&self->world->arena, errand->tree);
	errand->done(errand->context, errand->argument, at->content, &error);
}

static uint64_t begin_errand(struct workspace *workspace, const struct uuid *run, struct str branch,
			     struct str tree, bool compares, workspace_done *done, void *context,
			     uint64_t argument)
{
	struct simulated_workspace *self = self_of(workspace);
	struct arena *arena = &self->world->arena;
	struct errand *errand = arena_new(arena, struct errand);
	*errand = (struct errand){ .workspace = self,
				   .run = *run,
				   .branch = str_copy(arena, branch),
				   .tree = str_copy(arena, tree),
				   .compares = compares,
				   .done = done,
				   .context = context,
				   .argument = argument };
	return platform_timer_start(&self->world->platform.base, 0, run_errand, errand, 0);
}

static uint64_t take(struct workspace *workspace, const struct uuid *run, struct str branch,
		     int64_t timeout_us, workspace_done *done, void *context, uint64_t argument)
{
	(void)timeout_us;
	return begin_errand(workspace, run, branch, S(""), false, done, context, argument);
}

static uint64_t restore(struct workspace *workspace, const struct uuid *run, struct str branch,
			struct str tree, workspace_done *done, void *context, uint64_t argument)
{
	return begin_errand(workspace, run, branch, tree, false, done, context, argument);
}

static uint64_t begin(struct workspace *workspace, const struct uuid *run, struct str branch,
		      struct str parent, struct str tree, int64_t timeout_us, workspace_done *done,
		      void *context, uint64_t argument)
{
	(void)parent;
	(void)timeout_us;
	return begin_errand(workspace, run, branch, tree, false, done, context, argument);
}

static uint64_t merge(struct workspace *workspace, const struct uuid *run, struct str branch,
		      struct str base, const struct workspace_branch *branches, size_t count,
		      workspace_done *done, void *context, uint64_t argument)
{
	struct simulated_workspace *self = self_of(workspace);
	AUTO(buf) text = { 0 };
	buf_add(&text, base);
	for (size_t i = 0; i < count; i++)
		buf_add(&text, branches[i].tree);
	return begin_errand(workspace, run, branch, hash_name(&self->world->arena, buf_str(&text)),
			    false, done, context, argument);
}

static uint64_t changes(struct workspace *workspace, const struct uuid *run, struct str branch,
			struct str tree, int64_t since_us, workspace_done *done, void *context,
			uint64_t argument)
{
	(void)since_us;
	(void)tree;
	return begin_errand(workspace, run, branch, S(""), true, done, context, argument);
}

static void cancel(struct workspace *workspace, uint64_t operation)
{
	(void)workspace; /* it ends at once by itself */
	(void)operation;
}

static void drop(struct workspace *workspace, const struct uuid *run, struct str branch)
{
	(void)workspace;
	(void)run;
	(void)branch;
}

/* A crash ends the calls of a simulated process too. */
static bool lock(struct workspace *workspace, const struct uuid *effect, int *out_descriptor,
		 struct error *error)
{
	(void)workspace;
	(void)effect;
	(void)error;
	*out_descriptor = 100;
	return true;
}

static void unlock(struct workspace *workspace, const struct uuid *effect, int descriptor)
{
	(void)workspace;
	(void)effect;
	(void)descriptor;
}

static size_t kill_holders(struct workspace *workspace, const struct uuid *effect)
{
	(void)workspace;
	(void)effect;
	return 0;
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
	.lock = lock,
	.unlock = unlock,
	.kill_holders = kill_holders,
};

void simulated_workspace_init(struct simulated_workspace *workspace, struct simulated_world *world)
{
	*workspace = (struct simulated_workspace){ .base = { &ops }, .world = world };
}
