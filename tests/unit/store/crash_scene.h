/* tests/unit/store/crash_scene.h -- a workload, and the stories that it may leave on a disk that fails.
 *
 * The workload is a list of commits: streams, values with their names, effects, snapshots, floors,
 * documents, guards and requests.  The memory store plays it once and tells its story after each of
 * them (stories_make()); a scene is the SQLite store on a fault disk of its own, which after
 * whatever happened must tell the story of as many commits as were acknowledged, or of one more
 * when a commit was cut off, and nothing else.
 */
#ifndef TESTS_UNIT_STORE_SCENE_H
#define TESTS_UNIT_STORE_SCENE_H

#include "fixture.h"
#include "store/store_sim.h"

enum { COMMITS = 14, CHECKPOINT_FRAMES = 12 };

struct scene {
	struct fixture f;
	struct fault_disk *disk;
	unsigned acknowledged;
};

extern struct str timeline_cache[COMMITS + 1];
extern const char *const fates[]; /* by enum fault_fate */

/* Every place when BATON_TEST_FULL is set, else every nth. */
unsigned stride(unsigned nth);
void stories_make(void);
void stories_drop(void);

/* The commit with this number; the answer of commit(), and the outcome of all its appends. */
bool commit_number(struct fixture *f, unsigned number, enum store_outcome *out_outcome);

void scene_begin(struct scene *scene);
void scene_end(struct scene *scene);
bool scene_open(struct scene *scene);
bool scene_look(struct scene *scene); /* opens the reader */
void scene_close(struct scene *scene);
/* Opens, commits and purges until something fails; then closes. */
void scene_play(struct scene *scene);
/* Opens what is left, which must be sound; how many commits its story tells. */
unsigned scene_recover(struct scene *scene, const char *what);
/* The store that was recovered goes on as if nothing had been, and is closed. */
void scene_go_on(struct scene *scene, unsigned told, const char *what);
/* Reads every value that the story needs; false when the store says that something is wrong. */
bool values_try(struct scene *scene, unsigned told);

#endif
