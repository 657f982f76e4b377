/* cli/workflow_edit.h -- baton workflow new and edit; private to cli. */
#ifndef CLI_WORKFLOW_EDIT_H
#define CLI_WORKFLOW_EDIT_H

#include "cli/cli.h"

/* Reads the arguments of `new` or `edit` into cli->state. */
MUST_CHECK bool workflow_edit_prepare(struct cli *cli, struct error *error);
int workflow_edit_run(struct cli *cli);

#endif
