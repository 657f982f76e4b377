/* active/effect_wait.h -- whether an effect that has not begun may wait for the next start. */
#ifndef ACTIVE_EFFECT_WAIT_H
#define ACTIVE_EFFECT_WAIT_H

#include "contract/run_class_types.h"

struct executor;

/* The program stops and the effect has not begun: may it stay open until the next start?  False for
 * effects that cannot be repeated: after the next start it could not be told from one that had begun. */
bool effect_kind_can_wait(const struct executor *executor, enum run_effect_class class);

#endif
