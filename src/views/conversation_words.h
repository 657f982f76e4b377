/* views/conversation_words.h -- the conversation of a run in the words of other vocabularies.
 *
 *	pipeline   a list of AgenticMessage: thinking, tool_call, tool_result, result, usage.  A text
 *	           between calls is a thought: the vocabulary has no other word for it
 *	runtime    a list of AgentMessage: task, tool_call, tool_result, response, error, each with the
 *	           message it belongs to
 *	task       a list of TaskStep, one for each turn: its text, its calls and their results as parts
 *	graph      one State: all messages, and the agent that took the last turn
 *
 * Ids are derived from the run, the step and the place in the turn, so they are stable.  The results
 * live in the timeline's arena.
 */
#ifndef VIEWS_CONVERSATION_WORDS_H
#define VIEWS_CONVERSATION_WORDS_H

#include "views/view.h"

/* USAGE when the vocabulary has no messages of agents. */
MUST_CHECK bool conversation_in(const struct timeline *timeline, const struct view *view,
				struct view_document *out_document, struct error *error);

#endif
