/* active/pending_command.h -- a command on its way to a run, with its own memory.
 *
 * The caller fills in `command`, with texts in its arena, and gives it to an active run:
 *
 *	struct pending_command *pending = pending_command_new(COMMAND_CANCEL);
 *	pending->command.by = str_copy(&pending->arena, by);
 *	active_run_command(active_run_get(executor, &run), pending);
 *
 * From then on it belongs to the run, which answers and frees it.
 */
#ifndef ACTIVE_PENDING_COMMAND_H
#define ACTIVE_PENDING_COMMAND_H

#include "active/executor_jobs.h"
#include "active/run_commands.h"
#include "engine/decide.h"

struct pending_command;

/* The right to use an idempotency key: one command has it, others with the same key wait. */
struct idempotency_claim {
	struct executor *executor; /* NULL: the command neither has nor waits for a key */
	struct idempotency_key key;
	struct pending_command *next;                     /* waits behind this one */
	void (*granted)(struct pending_command *pending); /* the key is this command's now */
};

struct pending_command {
	struct pending_command *next;
	uint64_t arrival; /* how many had come to the run before, and this one; 0 = not there yet */
	struct arena arena;
	struct command command;
	struct executor *executor;     /* set when a run takes it over */
	struct printed_value *printed; /* texts of the values that come with it; NULL = none */
	struct error *refusal;         /* the engine refused the command; told when it is safe */
	bool is_wakeup;            /* carries no command: only starts the steps that can start */
	int64_t not_before;        /* DUE: the time that has come, whatever the wall clock says */
	executor_replied *replied; /* NULL when nobody waits for a reply */
	void *context;
	uint64_t argument;
	uint64_t live_log, live_reply; /* FINISHED: dropped with the command; 0 = none */
	struct idempotency_claim claim;
	/* The read that is submitted when the claim is granted, and what frees it when the program
	 * ends before. */
	struct executor_read *waiting;
	void (*waiting_discard)(struct pending_command *pending);
};

struct pending_command *pending_command_new(enum command_kind kind);
/* Frees it and passes its idempotency key on. */
void pending_command_free(struct pending_command *pending);
/* Submits the read that waits with the command: a `granted` of the claim. */
void pending_command_submit(struct pending_command *pending);
/* `error` NULL = the command is committed. */
void pending_command_reply(struct pending_command *pending, const struct uuid *run,
			   const struct error *error);
/* The store knows the command's key.  The same request: the reply says `repeated`.  Another
 * request: CONFLICT. */
void pending_command_reply_repeated(struct pending_command *pending,
				    const struct store_request *known);
/* The value, with memory of `into`. */
const struct json *executor_value_take(struct executor_value value, struct arena *into);

/* ---- lists, in arrival order --------------------------------------------------------- */

struct command_list {
	struct pending_command *first, *last;
};

void command_list_push(struct command_list *list, struct pending_command *pending);
struct pending_command *command_list_pop(struct command_list *list); /* NULL = it is empty */
/* Moves everything from `from` to `list`; both are in arrival order, and so is the result. */
void command_list_merge(struct command_list *list, struct command_list *from);
void command_list_discard(struct command_list *list); /* frees them; nobody is answered */

#endif
