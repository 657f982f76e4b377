/* cli/plan_print.h -- prints what a run would do; private to cli. */
#ifndef CLI_PLAN_PRINT_H
#define CLI_PLAN_PRINT_H

#include "cli/cli.h"

/* Prints runtime.Plan, one line per step; returns the exit status. */
int plan_print(const struct json *plan);

#endif
