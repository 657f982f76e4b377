/* views/vocabulary.h -- run and step states in every vocabulary (contracts/vocabularies.def).
 *
 * "" means that the vocabulary has no word.  A state that is not in the table was written by a
 * newer version: such a run counts as running, because this version cannot know whether it has
 * ended.
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
