/* maintenance/maintenance.c -- chores that read or change the whole store: one at a time, the rest
 * in a line.
 *
 * A chore lives from maintenance_job_add() to maintenance_job_end(); the list is the only thing
 * that points to it.
 */
#include <stdlib.h>

#include "active/executor_internal.h"

static void begin(void *context, uint64_t number)
{
	struct maintenance_job *chore = maintenance_job_find(context, number);
	if (chore != NULL)
		chore->begin(chore);
}

/* From the loop, not from whoever ended the one before. */
static void begin_soon(struct maintenance_job *chore)
{
	platform_timer_start(chore->executor->settings.platform, 0, begin, chore->executor,
			     chore->number);
}

void maintenance_job_add(struct executor *executor, struct maintenance_job *chore)
{
	chore->executor = executor;
	chore->number = ++executor->maintenance_job_count;
	struct maintenance_job **last = &executor->chores;
	while (*last != NULL)
		last = &(*last)->next;
	*last = chore;
	if (chore == executor->chores)
		begin_soon(chore);
}

struct maintenance_job *maintenance_job_find(struct executor *executor, uint64_t number)
{
	struct maintenance_job *chore = executor->chores;
	while (chore != NULL && chore->number != number)
		chore = chore->next;
	return chore;
}

void maintenance_job_end(struct maintenance_job *chore)
{
	struct executor *executor = chore->executor;
	require(chore == executor->chores);
	executor->chores = chore->next;
	chore->free(chore);
	if (executor->chores != NULL)
		begin_soon(executor->chores);
}
