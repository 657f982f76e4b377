/* views/vocabulary.h -- the state of a run or a step in the seeds' words.
 *
 * Made from contracts/vocabularies.def.  Words are constants of the program; "" is no word.  A
 * state that is not in the table was written by a newer program: a run like that counts as
 * running, because nobody here can say that it has ended.
 *
 *	vocabulary_run(vocabulary_run_from(S("waiting_human")))->pipeline is "paused"
 */
#ifndef VIEWS_VOCABULARY_H
#define VIEWS_VOCABULARY_H

#include <stdbool.h>

#include "base/str.h"

enum vocabulary_mark {
	VOCABULARY_PLAIN,
	VOCABULARY_ASKS,
	VOCABULARY_HELD,
	VOCABULARY_ISSUES,
	VOCABULARY_CANCELLED,
};

enum vocabulary_run {
#define RUN_WORDS(constant_, word_, pipeline_, agentic_, runtime_, task_, graph_, mark_) \
	VOCABULARY_RUN_##constant_,
#include "contracts/vocabularies.def"
	VOCABULARY_RUN_COUNT,
};

enum vocabulary_step {
#define STEP_WORDS(constant_, word_, runtime_, graph_) VOCABULARY_STEP_##constant_,
#include "contracts/vocabularies.def"
	VOCABULARY_STEP_COUNT,
};

struct vocabulary_run_row {
	struct str word; /* Baton's own */
	struct str pipeline, agentic, runtime, task, graph;
	enum vocabulary_mark mark;
};

struct vocabulary_step_row {
	struct str word; /* Baton's own */
	struct str runtime, graph;
};

enum vocabulary_run vocabulary_run_from(struct str word);
const struct vocabulary_run_row *vocabulary_run(enum vocabulary_run state);
const struct vocabulary_step_row *vocabulary_step(enum vocabulary_step state);

#endif
