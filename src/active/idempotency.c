/* active/idempotency.c -- idempotency keys: a command that comes again does nothing again.
 *
 * Two commands with one key never run side by side: the second waits until the first was answered,
 * and then finds in the store what came of it, because an answer leaves behind its commit.  So a
 * command meets either nothing or the whole of its predecessor, whatever it was about and however
 * it went; a refused one has left nothing, and the next one tries itself.  One that was taken and
 * changed nothing, like a second cancel, leaves an append without events: asked again when the run
 * has ended, it is answered as it was.  That the append carries the key too, and is refused when
 * the store knows it, guards against everything else.
 *
 * Old keys are forgotten before a keyed command looks, at most once in a while: no timer is needed,
 * and a server that nobody sends keys forgets nothing because there is nothing.
 */
#include "active/idempotency.h"

#include <stdlib.h>

#include "active/executor_state.h"
#include "base/limits.h"

struct forgetting {
	struct executor_admin_job care; /* first */
	struct pending_command *pending;
	int64_t before;
	bool good;
	struct error error;
};

static void forget_work(struct executor_admin_job *care, struct store *store)
{
	struct forgetting *forgetting = (struct forgetting *)care;
	forgetting->good =
		store->admin->expire_requests(store, forgetting->before, &forgetting->error);
}

static void forget_done(struct executor_admin_job *care)
{
	struct forgetting *forgetting = (struct forgetting *)care;
	struct pending_command *pending = forgetting->pending;
	if (!forgetting->good)
		executor_fail(care->executor, &forgetting->error);
	else
		pending->claim.granted(pending);
	free(forgetting);
}

/* It is this item's turn. */
static void begin(struct executor *executor, struct pending_command *pending)
{
	int64_t now = executor_now(executor);
	if (now - executor->keys_expired_at < (int64_t)LIMIT_REQUEST_FORGET_MS * 1000) {
		pending->claim.granted(pending);
		return;
	}
	executor->keys_expired_at = now;
	struct forgetting *forgetting = calloc(1, sizeof(*forgetting));
	require(forgetting != NULL);
	forgetting->pending = pending;
	forgetting->before = now - (int64_t)LIMIT_REQUEST_KEPT_MS * 1000;
	forgetting->care.work = forget_work;
	forgetting->care.done = forget_done;
	executor_admin_job(executor, &forgetting->care);
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
		begin(executor, pending);
		return;
	}
	while (holder->claim.next != NULL)
		holder = holder->claim.next;
	holder->claim.next = pending;
}

/* The program ends: nobody is answered any more. */
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
	/* Before the next is put: the map borrows the text of whoever holds the key. */
	map_remove(&executor->claims, claim->key.key);
	if (claim->next == NULL)
		return;
	map_put(&executor->claims, claim->next->claim.key.key, claim->next);
	begin(executor, claim->next);
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
