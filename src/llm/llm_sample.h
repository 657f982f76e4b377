/* llm/llm_sample.h -- the reply of a simulated model. */
#ifndef LLM_LLM_SAMPLE_H
#define LLM_LLM_SAMPLE_H

#include "base/json.h"

/* The smallest JSON that fits the usual keywords of a schema; "ok" without one (NULL). */
struct str llm_sample(const struct json *schema, struct arena *arena);

#endif
