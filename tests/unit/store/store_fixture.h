/* tests/unit/store/store_fixture.h -- a store in a temporary folder, and appends for it.
 *
 * fixture_open() creates the folder and opens the backend with one reader; fixture_close() removes
 * everything.  A draft is an append together with the memory that it points to:
 * draft_of(run, seq, n) appends n events to run number `run`, and a test changes the fields that it
 * is about.
 */
#ifndef TESTS_UNIT_STORE_STORE_FIXTURE_H
#define TESTS_UNIT_STORE_STORE_FIXTURE_H

#include <criterion/criterion.h>

#include "simstore/simstore.h"

struct fixture {
	const struct store_backend *backend;
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
	struct hash names[2]; /* of every event; append.events[i].name_count says how many */
};

void fixture_open(struct fixture *fixture, const struct store_backend *backend);
void fixture_reopen(struct fixture *fixture); /* closes and opens store and reader */
void fixture_close(struct fixture *fixture);

struct uuid id_of(unsigned number); /* in the order of the numbers */
struct draft draft_of(unsigned run, int64_t expected_seq, size_t events);
void draft_commit(struct fixture *fixture, struct draft *draft); /* must be COMMITTED */
/* Commits all drafts in one batch; returns the result of commit(). */
bool drafts_commit(struct fixture *fixture, struct draft *const *drafts, size_t count);
enum store_outcome draft_try(struct fixture *fixture, struct draft *draft);

struct store_event_page events_of(struct fixture *fixture, unsigned run);
struct store_event_page events_all(struct fixture *fixture);
struct store_run run_of(struct fixture *fixture, unsigned run);
bool run_exists(struct fixture *fixture, unsigned run);
/* Everything that a reader can read, as one text; the same for every backend. */
struct str timeline_of(struct fixture *fixture);
bool timeline_try(struct fixture *fixture, struct str *out_story); /* false: a read failed */

size_t purge_all(struct fixture *fixture, size_t limit); /* returns the number of slices */
void check_whole(struct fixture *fixture);               /* check() must find no problem */
/* The number of runs that list_old() returns, which must be in order. */
size_t old_runs(struct fixture *fixture, int64_t ended_before, int64_t most_events);

/* One Criterion test that runs its body once for every backend. */
#define STORE_TEST(suite, name)                                       \
	static void name(struct fixture *f);                          \
	Test(suite, name)                                             \
	{                                                             \
		for (size_t i = 0; i < simstore_backend_count; i++) { \
			struct fixture fixture;                       \
			fixture_open(&fixture, simstore_backends[i]); \
			name(&fixture);                               \
			fixture_close(&fixture);                      \
		}                                                     \
	}                                                             \
	static void name(struct fixture *f)

#define cr_assert_str(actual, expected)                                                      \
	do {                                                                                 \
		struct str got = (actual), want = (expected);                                \
		cr_assert(str_equal(got, want), "got \"" STR_FMT "\", want \"" STR_FMT "\"", \
			  STR_ARG(got), STR_ARG(want));                                      \
	} while (0)

#endif
