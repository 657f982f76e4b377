/* llm/model_fault.h -- a provider's refusal becomes an error with a code of run.TurnFault.
 *
 * Providers put the reason into the HTTP status, into a JSON body, or into an event of a stream that
 * has begun.  The text is the provider's message, cleaned and cut; what the caller knows (provider,
 * model) goes in front of it.  Pure.
 */
#ifndef LLM_MODEL_FAULT_H
#define LLM_MODEL_FAULT_H

#include "base/json.h"
#include "net/http_client.h"

/* `body` is the provider's JSON object with the error, or NULL; `status` is 0 inside a stream. */
void model_fault_read(int status, const struct json *body, struct error *out_error);
/* Of a response that is no reply: `bytes` is its body, or the beginning. */
void model_fault_of_response(int status, struct str bytes, struct error *out_error);
/* How long the provider wants to be left alone, in us, between 0 and LIMIT_MODEL_RETRY_AFTER_MS:
 * Retry-After-Ms, or Retry-After in seconds or as a date. */
int64_t model_fault_retry_after(const struct http_header *headers, size_t count, int64_t wall_us);
/* Trying again, or elsewhere, can help. */
bool model_fault_is_transient(enum error_code code);

#endif
