/* tests/unit/store/crash_scene.h -- a workload, and the states that it may leave on a failing disk.
 *
 * The workload is a list of commits: streams, values with their references, effects, snapshots,
 * floors, documents, guards and idempotency keys.  The memory store executes it once, and its
 * content after each commit is kept as a text, the story (stories_make()).  A scene is the SQLite
 * store on a fault disk.  After any fault its content must be the story after the acknowledged
 * commits, or after one more if a commit was interrupted.
 */
#ifndef TESTS_UNIT_STORE_CRASH_SCENE_H
#define TESTS_UNIT_STORE_CRASH_SCENE_H

#include "store_fixture.h"
#include "simstore/store_sim.h"

enum { COMMITS = 14, CHECKPOINT_FRAMES = 12 };

struct scene {
	struct fixture f;
	struct fault_disk *disk;
	unsigned acknowledged;
};

extern struct str timeline_cache[COMMITS + 1];
extern const char *const fates[]; /* by enum fault_fate */

/* 1 when BATON_TEST_FULL is set, else nth: how many fault points a loop advances. */
unsigned stride(unsigned nth);
void stories_make(void);
void stories_drop(void);

/* Executes one commit of the workload; all its appends have the same outcome. */
bool commit_number(struct fixture *f, unsigned number, enum store_outcome *out_outcome);

void scene_begin(struct scene *scene);
void scene_end(struct scene *scene);
bool scene_open(struct scene *scene);
bool scene_look(struct scene *scene); /* opens the reader */
void scene_close(struct scene *scene);
/* Opens, commits and purges until a call fails; then closes. */
void scene_play(struct scene *scene);
/* Opens the store, which must pass its check; returns the number of commits it contains. */
unsigned scene_recover(struct scene *scene, const char *what);
/* Executes the rest of the workload on the recovered store and closes it. */
void scene_go_on(struct scene *scene, unsigned told, const char *what);
/* Reads every value of the story; false when the store reports an error. */
bool values_try(struct scene *scene, unsigned told);

#endif
