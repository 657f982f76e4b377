/* os/child_queue.c -- callers that wait for a place for a child process, first in, first out.
 *
 * A place that becomes free belongs to the head of the queue: while a caller waits, process_start()
 * refuses everybody else.  The head is called from a timer, because a child ends inside the done()
 * of its owner, and one caller may start its child inside the callback of another one's end.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "os/failpoint.h"
#include "os/loop_internal.h"

struct child_waiter {
	struct child_waiter *next;
	platform_callback *callback;
	void *context;
	uint64_t argument;
};

bool child_queue_has_place(const struct loop *loop)
{
	int64_t most = FAILPOINT_LIMIT("process.children", (int64_t)LIMIT_CHILDREN);
	return (int64_t)loop->children.live < most;
}

bool child_queue_may_start(const struct loop *loop)
{
	return child_queue_has_place(loop) &&
	       (loop->child_queue.granting || loop->child_queue.first == NULL);
}

static void grant(void *context, uint64_t argument)
{
	struct loop *loop = context;
	struct child_queue *queue = &loop->child_queue;
	(void)argument;
	queue->scheduled = false;
	/* Callers that come back to the queue from inside their callback wait for the next tick. */
	size_t turns = queue->count;
	for (; turns > 0 && queue->first != NULL && child_queue_has_place(loop); turns--) {
		struct child_waiter *head = queue->first;
		queue->first = head->next;
		if (queue->first == NULL)
			queue->last = NULL;
		queue->count--;
		queue->granting = true;
		head->callback(head->context, head->argument);
		queue->granting = false;
		free(head);
	}
	child_queue_wake(loop);
}

void child_queue_wake(struct loop *loop)
{
	struct child_queue *queue = &loop->child_queue;
	if (queue->first == NULL || queue->scheduled || loop->closing ||
	    !child_queue_has_place(loop))
		return;
	queue->scheduled = true;
	loop_timer_start(loop_platform(loop), 0, grant, loop, 0);
}

void loop_child_await(struct platform *platform, platform_callback *callback, void *context,
		      uint64_t argument)
{
	struct loop *loop = loop_of(platform);
	struct child_queue *queue = &loop->child_queue;
	struct child_waiter *waiter = calloc(1, sizeof(*waiter));
	require(waiter != NULL);
	*waiter = (struct child_waiter){ NULL, callback, context, argument };
	if (queue->last == NULL)
		queue->first = waiter;
	else
		queue->last->next = waiter;
	queue->last = waiter;
	queue->count++;
	child_queue_wake(loop);
}

void child_queue_close(struct loop *loop)
{
	struct child_queue *queue = &loop->child_queue;
	for (struct child_waiter *waiter; (waiter = queue->first) != NULL;) {
		queue->first = waiter->next;
		free(waiter);
	}
	*queue = (struct child_queue){ 0 };
}
