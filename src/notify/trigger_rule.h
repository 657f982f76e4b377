/* notify/trigger_rule.h -- the rule of a trigger: from an authentic request to a command.
 *
 * Condition and templates see two names: `headers`, with lower-case names in which every character
 * that is neither a letter nor a digit is `_` (x_github_event), and `body`, the parsed JSON.  Headers
 * that authenticate the request are not there.
 *
 * On a reader thread; results live in the arena.
 */
#ifndef NOTIFY_TRIGGER_RULE_H
#define NOTIFY_TRIGGER_RULE_H

#include "notify/trigger_signature.h"
#include "store/store.h"

/* Checks condition and templates when a trigger is stored. */
void trigger_rule_check(const struct run_trigger *trigger, struct problems *problems);

struct trigger_action {
	bool matched;              /* the condition holds; otherwise nothing below is set */
	const struct json *inputs; /* of the workflow */
	struct str_map labels;
	struct uuid run;         /* that gets the signal */
	const struct json *data; /* of the signal */
};

/* SYNTAX: the body is no JSON.  INVALID: a template gives no usable value.  NOT_FOUND: no run waits
 * under the label. */
MUST_CHECK bool trigger_rule_apply(const struct run_trigger *trigger,
				   const struct trigger_request *request,
				   struct store_reader *reader, struct arena *arena,
				   struct trigger_action *out_action, struct error *error);

#endif
