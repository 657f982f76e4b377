/* active/idempotency.c -- idempotency keys: a command that is sent again is not done again.
 *
 * Commands with the same key run one after the other.  The second waits until the first is answered,
 * and an answer leaves after its commit, so the second finds in the store what the first has done.
 * A refused command stores nothing, and the next one with its key is tried.  A command that is
 * accepted and changes nothing, like a second cancel, stores an append without events: sent again
 * when the run has ended, it gets the same answer.  The append carries the key as well, and the store
 * refuses a key that it knows; that covers every other case.
 *
 * Expired keys are removed before a command with a key looks its own up, at most once in a while, so
 * no timer is needed.
 */
#include "active/idempotency.h"

#include <stdlib.h>

#include "active/executor_state.h"
#include "base/limits.h"

struct expiry {
	struct executor_admin_job admin; /* first */
	struct pending_command *pending;
	int64_t before;
	bool good;
	struct error error;
};

static void expiry_work(struct executor_admin_job *admin, struct store *store)
{
	struct expiry *expiry = (struct expiry *)admin;
	expiry->good = store->admin->expire_requests(store, expiry->before, &expiry->error);
}

static void expiry_done(struct executor_admin_job *admin)
{
	struct expiry *expiry = (struct expiry *)admin;
	struct pending_command *pending = expiry->pending;
	if (!expiry->good)
		executor_fail(admin->executor, &expiry->error);
	else
		pending->claim.granted(pending);
	free(expiry);
}

/* The command has the key now. */
static void grant(struct executor *executor, struct pending_command *pending)
{
	int64_t now = executor_now(executor);
	if (now - executor->keys_expired_at < (int64_t)LIMIT_REQUEST_FORGET_MS * 1000) {
		pending->claim.granted(pending);
		return;
	}
	executor->keys_expired_at = now;
	struct expiry *expiry = calloc(1, sizeof(*expiry));
	require(expiry != NULL);
	expiry->pending = pending;
	expiry->before = now - (int64_t)LIMIT_REQUEST_KEPT_MS * 1000;
	expiry->admin.work = expiry_work;
	expiry->admin.done = expiry_done;
	executor_admin_job(executor, &expiry->admin);
}

void idempotency_claim_take(struct executor *executor, struct pending_command *pending,
			    const struct idempotency_key *key,
			    void (*go)(struct pending_command *pending))
{
	struct idempotency_claim *claim = &pending->claim;
	claim->key = (struct idempotency_key){ str_copy(&pending->arena, key->key), key->said };
	claim->granted = go;
	if (claim->key.key.size == 0) {
		go(pending);
		return;
	}
	claim->executor = executor;
	struct pending_command *holder = map_get(&executor->claims, claim->key.key);
	if (holder == NULL) {
		map_put(&executor->claims, claim->key.key, pending);
		grant(executor, pending);
		return;
	}
	while (holder->claim.next != NULL)
		holder = holder->claim.next;
	holder->claim.next = pending;
}

/* The process ends: nobody is answered any more. */
static void discard_waiting(struct idempotency_claim *claim)
{
	while (claim->next != NULL) {
		struct pending_command *pending = claim->next;
		claim->next = pending->claim.next;
		pending->claim.executor = NULL;
		pending->waiting_discard(pending);
		pending_command_free(pending);
	}
}

void idempotency_claim_release(struct pending_command *pending)
{
	struct idempotency_claim *claim = &pending->claim;
	struct executor *executor = claim->executor;
	if (executor == NULL)
		return;
	claim->executor = NULL;
	if (executor->closing) {
		discard_waiting(claim);
		return;
	}
	/* First remove: the map borrows the key's text from the command that has it. */
	map_remove(&executor->claims, claim->key.key);
	if (claim->next == NULL)
		return;
	map_put(&executor->claims, claim->next->claim.key.key, claim->next);
	grant(executor, claim->next);
}

bool idempotency_claim_look_up(const struct pending_command *pending, struct store_reader *reader,
			       struct arena *arena, struct store_request *out_known,
			       bool *out_repeated, struct error *error)
{
	const struct idempotency_key *key = &pending->claim.key;
	bool found = false;
	struct store_request known;
	*out_repeated = false;
	if (key->key.size == 0)
		return true;
	if (!reader->ops->read_request(reader, key->key, arena, &known, &found, error))
		return false;
	if (!found)
		return true;
	if (!hash_equal(&known.said, &key->said))
		return fail(error, ERROR_CONFLICT,
			    "this Idempotency-Key was used for another request; take a new one");
	*out_known = known;
	*out_repeated = true;
	return true;
}

void idempotency_claim_fill(const struct pending_command *pending, const struct uuid *subject,
			    int64_t now, struct store_request *out_request)
{
	const struct idempotency_key *key = &pending->claim.key;
	if (key->key.size > 0)
		*out_request = (struct store_request){
			.key = key->key, .said = key->said, .subject = *subject, .at = now
		};
}
