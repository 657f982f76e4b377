/* active/run_commands.h -- starting runs, and the replies to every command.
 *
 * A command is answered exactly once, and only when its events are committed (or when nothing had
 * to be committed).  The reply is a callback with the caller's context and argument:
 *
 *	static void started(void *context, uint64_t argument, const struct executor_reply *reply)
 *	{
 *		if (reply->error != NULL)
 *			...                            (nothing was stored)
 *		else
 *			...                            (reply->run is stored)
 *	}
 *
 *	struct executor_start start = {
 *		.workflow = S("build"),
 *		.inputs = { .json = inputs },
 *	};
 *	executor_start(executor, &start, started, context, 0);
 *
 * What a caller passes is copied before the function returns (a value may be given up instead, see
 * struct executor_value).  A program that ends answers nobody:
 * a client whose connection breaks asks again, with the same idempotency key.
 */
#ifndef ACTIVE_RUN_COMMANDS_H
#define ACTIVE_RUN_COMMANDS_H

#include "contract/contract.h"

struct executor;
struct run_start;

struct executor_reply {
	const struct error *error;       /* NULL: done, and committed */
	const struct problems *problems; /* of the document or definition; NULL = none */
	struct uuid run;
	struct uuid request; /* the question that was answered */
	bool repeated;       /* the idempotency key was used before: nothing was done again */
	/* Of a change of documents (document/documents.h): the first document as it is now. */
	int64_t revision; /* 0 when it was deleted */
	struct str body;  /* "" when it was deleted, and when the change is a repeated one */
	bool created;     /* the document did not exist before */
};

typedef void executor_replied(void *context, uint64_t argument, const struct executor_reply *reply);

/* The same key with the same request does nothing twice, for 24 hours and across restarts.  The
 * same key with another request is a CONFLICT. */
struct idempotency_key {
	struct str key;   /* "" = none */
	struct hash said; /* hash of method, path and body: what the key stands for */
};

/* A value that comes with a command.  The tree is copied, unless the caller gives up the arena it is
 * allocated in: then nothing is copied, and `memory` is empty when the function returns. */
struct executor_value {
	const struct json *json; /* NULL = none */
	struct arena *memory;    /* NULL = copy the tree */
};

/* ---- start --------------------------------------------------------------------------- */

struct executor_start {
	struct str workflow;       /* the definition's name */
	struct str yaml;           /* the definition itself; "" = read the one called `workflow` */
	struct str prompts_folder; /* of the prompt files of `yaml`; "" = none */
	struct executor_value inputs; /* an object; none = {} */
	bool generated;  /* the definition is the program's own: its places are not shown */
	struct uuid run; /* the new run's id; zero = a random one */
	struct idempotency_key key;
	struct str request_id;         /* of the client's request; "" = none */
	const struct run_start *start; /* what the run keeps; NULL = nothing */
};

/* Compiles the definition, checks the inputs and creates the run.  INVALID with problems: the
 * definition or the inputs are wrong.  NOT_FOUND: no such definition.  CONFLICT: there is a run
 * with this id.  OVERLOADED, UNAVAILABLE, TIMEOUT, STORAGE_FULL: nothing was created, try again. */
void executor_start(struct executor *executor, const struct executor_start *start,
		    executor_replied *replied, void *context, uint64_t argument);

/* ---- the admission queue ------------------------------------------------------------- */

/* The position of a run that waits for admission: 1 = it is next, 0 = it does not wait. */
struct admission_place {
	struct str kind; /* the queue; borrowed until the loop's next turn */
	int64_t position, length;
};

struct admission_place admission_place(const struct executor *executor, const struct uuid *run);

#endif
