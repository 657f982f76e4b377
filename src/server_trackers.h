/* server_trackers.h -- gives the trackers their settings and tokens. */
#ifndef SERVER_TRACKERS_H
#define SERVER_TRACKERS_H

#include "server.h"

struct loop;
struct trackers;

/* The arena must outlive the trackers. */
MUST_CHECK bool server_trackers_open(const struct server_settings *settings, struct loop *loop,
				     struct arena *arena, struct trackers **out_trackers,
				     struct error *error);

#endif
