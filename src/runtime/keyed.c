/* runtime/keyed.c -- idempotency keys: a command that comes again does nothing again.
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
#include <stdlib.h>

#include "base/limits.h"
#include "runtime/inside.h"

struct forgetting {
	struct runtime_care care; /* first */
	struct item *item;
	int64_t before;
	bool good;
	struct error error;
};

static void forget_work(struct runtime_care *care, struct store *store)
{
	struct forgetting *forgetting = (struct forgetting *)care;
	forgetting->good = store->ops->forget(store, forgetting->before, &forgetting->error);
}

static void forget_done(struct runtime_care *care)
{
	struct forgetting *forgetting = (struct forgetting *)care;
	struct item *item = forgetting->item;
	if (!forgetting->good)
		runtime_fail(care->runtime, &forgetting->error);
	else
		item->claim.go(item);
	free(forgetting);
}

/* It is this item's turn. */
static void begin(struct runtime *runtime, struct item *item)
{
	int64_t now = runtime_now(runtime);
	if (now - runtime->forgot_at < (int64_t)LIMIT_REQUEST_FORGET_MS * 1000) {
		item->claim.go(item);
		return;
	}
	runtime->forgot_at = now;
	struct forgetting *forgetting = calloc(1, sizeof(*forgetting));
	require(forgetting != NULL);
	forgetting->item = item;
	forgetting->before = now - (int64_t)LIMIT_REQUEST_KEPT_MS * 1000;
	forgetting->care.work = forget_work;
	forgetting->care.done = forget_done;
	runtime_care(runtime, &forgetting->care);
}

void claim_take(struct runtime *runtime, struct item *item, const struct runtime_key *key,
		void (*go)(struct item *item))
{
	struct claim *claim = &item->claim;
	claim->key = (struct runtime_key){ str_copy(&item->arena, key->key), key->said };
	claim->go = go;
	if (claim->key.key.size == 0) {
		go(item);
		return;
	}
	claim->runtime = runtime;
	struct item *holder = map_get(&runtime->claims, claim->key.key);
	if (holder == NULL) {
		map_put(&runtime->claims, claim->key.key, item);
		begin(runtime, item);
		return;
	}
	while (holder->claim.next != NULL)
		holder = holder->claim.next;
	holder->claim.next = item;
}

/* The program ends: nobody is answered any more. */
static void discard_waiting(struct claim *claim)
{
	while (claim->next != NULL) {
		struct item *item = claim->next;
		claim->next = item->claim.next;
		item->claim.runtime = NULL;
		item->waiting_done(item);
		item_free(item);
	}
}

void claim_release(struct item *item)
{
	struct claim *claim = &item->claim;
	struct runtime *runtime = claim->runtime;
	if (runtime == NULL)
		return;
	claim->runtime = NULL;
	if (runtime->closing) {
		discard_waiting(claim);
		return;
	}
	/* Before the next is put: the map borrows the text of whoever holds the key. */
	map_remove(&runtime->claims, claim->key.key);
	if (claim->next == NULL)
		return;
	map_put(&runtime->claims, claim->next->claim.key.key, claim->next);
	begin(runtime, claim->next);
}

bool claim_look(const struct item *item, struct store_reader *reader, struct arena *arena,
		struct store_request *out_known, bool *out_repeated, struct error *error)
{
	const struct runtime_key *key = &item->claim.key;
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

void claim_fill(const struct item *item, const struct uuid *subject, int64_t now,
		struct store_request *out_request)
{
	const struct runtime_key *key = &item->claim.key;
	if (key->key.size > 0)
		*out_request = (struct store_request){
			.key = key->key, .said = key->said, .subject = *subject, .at = now
		};
}
