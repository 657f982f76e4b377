/* api/run_summary.h -- a stored run as one line of a list; private to src/api. */
#ifndef API_RUN_SUMMARY_H
#define API_RUN_SUMMARY_H

#include "base/arena.h"

struct runtime_run_summary_model;
struct store_run;

struct runtime_run_summary_model *run_summary_model(const struct store_run *run,
						    struct arena *arena);

#endif
