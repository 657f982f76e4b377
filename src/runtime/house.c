/* runtime/house.c -- chores that read or change the whole store: one at a time, the rest in a line.
 *
 * A chore lives from chore_add() to chore_end(); the list is the only thing that points to it.
 */
#include <stdlib.h>

#include "runtime/inside.h"

static void begin(void *context, uint64_t number)
{
	struct chore *chore = chore_find(context, number);
	if (chore != NULL)
		chore->begin(chore);
}

/* From the loop, not from whoever ended the one before. */
static void begin_soon(struct chore *chore)
{
	system_timer_start(chore->runtime->settings.system, 0, begin, chore->runtime,
			   chore->number);
}

void chore_add(struct runtime *runtime, struct chore *chore)
{
	chore->runtime = runtime;
	chore->number = ++runtime->chore_count;
	struct chore **last = &runtime->chores;
	while (*last != NULL)
		last = &(*last)->next;
	*last = chore;
	if (chore == runtime->chores)
		begin_soon(chore);
}

struct chore *chore_find(struct runtime *runtime, uint64_t number)
{
	struct chore *chore = runtime->chores;
	while (chore != NULL && chore->number != number)
		chore = chore->next;
	return chore;
}

void chore_end(struct chore *chore)
{
	struct runtime *runtime = chore->runtime;
	require(chore == runtime->chores);
	runtime->chores = chore->next;
	chore->free(chore);
	if (runtime->chores != NULL)
		begin_soon(runtime->chores);
}
