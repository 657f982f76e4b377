/* tests/unit/store/fixture.h -- a store in a folder of its own, and appends made of numbers.
 *
 * fixture_open() makes the folder and opens the backend with one reader; fixture_close() leaves
 * nothing behind.  A draft is an append with the memory it points to: `draft_of(run, seq, n)`
 * gives n events to run number `run`; a test changes what it cares about.
 */
#ifndef TESTS_UNIT_STORE_FIXTURE_H
#define TESTS_UNIT_STORE_FIXTURE_H

#include <criterion/criterion.h>

#include "store/store.h"

struct fixture {
	const struct store_ops *ops;
	char folder[64], path[96];
	struct store *store;
	struct store_reader *reader;
	struct arena arena;
	struct error error;
};

enum { DRAFT_EVENTS = 8 };

struct draft {
	struct store_append append;
	struct store_event events[DRAFT_EVENTS];
	char bodies[DRAFT_EVENTS][48];
	struct store_blob blob;
	struct store_effect effect;
	struct uuid closed;
	struct store_document document;
	struct store_guard guards[3];
	struct hash names[2]; /* of every event, as many as append.events[i].name_count says */
};

void fixture_open(struct fixture *fixture, const struct store_ops *ops);
void fixture_reopen(struct fixture *fixture); /* closes store and reader and opens them again */
void fixture_close(struct fixture *fixture);

struct uuid id_of(unsigned number); /* ordered like the numbers */
struct draft draft_of(unsigned run, int64_t expected_seq, size_t events);
void draft_commit(struct fixture *fixture, struct draft *draft); /* must be COMMITTED */
/* All of them in one commit; the answer of commit(). */
bool drafts_commit(struct fixture *fixture, struct draft *const *drafts, size_t count);
enum store_outcome draft_try(struct fixture *fixture, struct draft *draft);

struct store_event_page events_of(struct fixture *fixture, unsigned run);
struct store_event_page events_all(struct fixture *fixture);
struct store_run run_of(struct fixture *fixture, unsigned run);
bool run_exists(struct fixture *fixture, unsigned run);
/* Everything a reader can say, as one text in the fixture's arena; the same for every backend. */
struct str timeline_of(struct fixture *fixture);
bool timeline_try(struct fixture *fixture, struct str *out_story); /* false: a read failed */

size_t purge_all(struct fixture *fixture, size_t limit); /* how many slices it took */
void check_whole(struct fixture *fixture);               /* check() finds nothing */
/* How many runs list_old() gives, in their order. */
size_t old_runs(struct fixture *fixture, int64_t ended_before, int64_t most_events);

/* One Criterion test that runs its body once for every backend. */
#define STORE_TEST(suite, name)                                    \
	static void name(struct fixture *f);                       \
	Test(suite, name)                                          \
	{                                                          \
		for (size_t i = 0; i < store_backend_count; i++) { \
			struct fixture fixture;                    \
			fixture_open(&fixture, store_backends[i]); \
			name(&fixture);                            \
			fixture_close(&fixture);                   \
		}                                                  \
	}                                                          \
	static void name(struct fixture *f)

#define cr_assert_str(actual, expected)                                                      \
	do {                                                                                 \
		struct str got = (actual), want = (expected);                                \
		cr_assert(str_equal(got, want), "got \"" STR_FMT "\", want \"" STR_FMT "\"", \
			  STR_ARG(got), STR_ARG(want));                                      \
	} while (0)

#endif
