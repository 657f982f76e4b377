/* effect/effects.h -- the kinds of effects: what steps do outside of the engine.
 *
 * Rows of effects.def; each kind is one file effect_<name>.c with a `struct effect_kind`.  The
 * executor gets all of them in its settings (active/effect_kind.h):
 *
 *	struct effects *effects = effects_new();
 *	struct executor_settings settings = { .effects = effects, ... };
 *	...
 *	executor_free(executor);
 *	effects_free(effects);                  (after the executor, when no effect will come back)
 */
#ifndef EFFECT_EFFECTS_H
#define EFFECT_EFFECTS_H

struct effects;

struct effects *effects_new(void);
void effects_free(struct effects *effects);

#endif
