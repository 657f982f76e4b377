/* contract/describe_active_run.c -- contracts/active_run.def as tables: the states of a run in
 * memory, and what becomes of an append that the store answers.
 */
#include <string.h>

#include "base/attributes.h"
#include "contract/describe.h"

static const struct word_row {
	const char *constant, *word, *text;
} states[] = {
#define STATE(constant_, word_, text_) { #constant_, word_, text_ },
#include "contracts/active_run.def"
}, inputs[] = {
#define INPUT(constant_, word_, text_) { #constant_, word_, text_ },
#include "contracts/active_run.def"
}, actions[] = {
#define ACTION(constant_, function_, text_) { #constant_, #function_, text_ },
#include "contracts/active_run.def"
}, outcomes[] = {
#define OUTCOME(constant_, word_, text_) { #constant_, word_, text_ },
#include "contracts/active_run.def"
}, senders[] = {
#define SENDER(constant_, word_, text_) { #constant_, word_, text_ },
#include "contracts/active_run.def"
}, remedies[] = {
#define REMEDY(constant_, word_, text_) { #constant_, word_, text_ },
#include "contracts/active_run.def"
};

static const struct move_row {
	const char *state, *input, *next, *action;
} moves[] = {
#define MOVE(state_, input_, next_, action_) { #state_, #input_, #next_, #action_ },
#include "contracts/active_run.def"
};

static const struct answer_row {
	const char *outcome, *sender, *input, *remedy;
} answers[] = {
#define ANSWER(outcome_, sender_, input_, remedy_) { #outcome_, #sender_, #input_, #remedy_ },
#include "contracts/active_run.def"
};

static const struct word_row *find(const struct word_row *rows, size_t count, const char *constant)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].constant, constant) == 0)
			return &rows[i];
	require(false);
	return NULL;
}

static void put_words(struct buf *out, const char *heading, const struct word_row *rows,
		      size_t count)
{
	buf_add_format(out, "\n| %s | meaning |\n|---|---|\n", heading);
	for (size_t i = 0; i < count; i++)
		buf_add_format(out, "| `%s` | %s |\n", rows[i].word, rows[i].text);
}

static void put_moves(struct buf *out)
{
	buf_add(out, S("\n| in state | input | next state | action |\n|---|---|---|---|\n"));
	for (size_t i = 0; i < COUNT(moves); i++)
		buf_add_format(out, "| `%s` | `%s` | `%s` | %s |\n",
			       find(states, COUNT(states), moves[i].state)->word,
			       find(inputs, COUNT(inputs), moves[i].input)->word,
			       find(states, COUNT(states), moves[i].next)->word,
			       find(actions, COUNT(actions), moves[i].action)->text);
}

static void put_answers(struct buf *out)
{
	buf_add(out, S("\n| append | command of | input | before that |\n|---|---|---|---|\n"));
	for (size_t i = 0; i < COUNT(answers); i++) {
		const struct word_row *remedy = find(remedies, COUNT(remedies), answers[i].remedy);
		buf_add_format(out, "| `%s` | `%s` | `%s` | %s: %s |\n",
			       find(outcomes, COUNT(outcomes), answers[i].outcome)->word,
			       find(senders, COUNT(senders), answers[i].sender)->word,
			       find(inputs, COUNT(inputs), answers[i].input)->word, remedy->word,
			       remedy->text);
	}
}

void describe_active_run(struct buf *out)
{
	buf_add(out,
		S("\n# A run in memory\n\nThese states are not stored: they are those of a run in "
		  "the server's memory. A pair of state and input that has no row cannot happen, and "
		  "the server stops if it does.\n"));
	put_words(out, "state", states, COUNT(states));
	put_words(out, "input", inputs, COUNT(inputs));
	put_moves(out);
	buf_add(out,
		S("\nWhat the store answers to an append becomes an input. It depends on whose "
		  "command the append carries.\n"));
	put_words(out, "append", outcomes, COUNT(outcomes));
	put_words(out, "command of", senders, COUNT(senders));
	put_answers(out);
}
