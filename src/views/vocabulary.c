/* views/vocabulary.c -- contracts/vocabularies.def as two tables; they are short, so a scan is
 * fast. */
#include "views/vocabulary.h"

#include "base/attributes.h"

#define WORD(word_)                       \
	{                                 \
		word_, sizeof(word_) - 1, \
	}

static const struct vocabulary_run_row run_rows[] = {
#define RUN_WORDS(constant_, word_, pipeline_, agentic_, runtime_, task_, graph_, mark_)     \
	[VOCABULARY_RUN_##constant_] = { WORD(word_),       WORD(pipeline_), WORD(agentic_), \
					 WORD(runtime_),    WORD(task_),     WORD(graph_),   \
					 VOCABULARY_##mark_ },
#include "contracts/vocabularies.def"
};

static const struct vocabulary_step_row step_rows[] = {
#define STEP_WORDS(constant_, word_, runtime_, graph_) \
	[VOCABULARY_STEP_##constant_] = { WORD(word_), WORD(runtime_), WORD(graph_) },
#include "contracts/vocabularies.def"
};

enum vocabulary_run vocabulary_run_from(struct str word)
{
	for (size_t i = 0; i < COUNT(run_rows); i++)
		if (str_equal(run_rows[i].word, word))
			return (enum vocabulary_run)i;
	return VOCABULARY_RUN_RUNNING;
}

const struct vocabulary_run_row *vocabulary_run(enum vocabulary_run state)
{
	return &run_rows[state];
}

const struct vocabulary_step_row *vocabulary_step(enum vocabulary_step state)
{
	return &step_rows[state];
}
