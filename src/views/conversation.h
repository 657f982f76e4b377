/* views/conversation.h -- what the agents of a run were asked, thought, said and did.
 *
 * A talk is one agent in one step.  A step of an agent without tools is one turn.  A session (an agent
 * with tools) has a turn and its calls in a body for each turn: of the session `dev`, `dev[3]/turn` is
 * the third turn and `dev[3]/shell` a call of a tool that its reply asks for (`dev[3]/shell#2` the second
 * call of the same tool).
 *
 * Of a long conversation, the newest turns are shown: at most LIMIT_TALK_TURNS of a talk and texts of at
 * most LIMIT_TALK_BYTES of all talks together.
 *
 * All results live in the timeline's arena.
 */
#ifndef VIEWS_CONVERSATION_H
#define VIEWS_CONVERSATION_H

#include "views/timeline.h"

struct run_conversation;
struct run_talk_turn;

struct run_conversation *conversation(const struct timeline *timeline);

/* The turn of this step; of a session, its newest turn.  NULL when the step is not an agent's. */
struct run_talk_turn *conversation_turn(const struct timeline *timeline,
					const struct timeline_step *step);

#endif
