/* server_models.h -- gives the drivers what they need: an HTTP client of their own, and keys. */
#ifndef SERVER_MODELS_H
#define SERVER_MODELS_H

#include "llm/llm.h"
#include "server.h"

struct loop;

/* Fills the host.  Models live in the host until models_free(); the arena must outlive them. */
MUST_CHECK bool server_models_open(const struct server_settings *settings, struct loop *loop,
				   struct arena *arena, struct llm_host *out_host,
				   struct error *error);

#endif
