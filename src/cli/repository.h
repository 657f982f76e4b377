/* cli/repository.h -- the git repository around the current folder, and its profile; private to cli. */
#ifndef CLI_REPOSITORY_H
#define CLI_REPOSITORY_H

#include "cli/cli.h"

/* The folder of the repository around the current folder, without symbolic links.  NOT_FOUND when there
 * is none. */
MUST_CHECK bool repository_find(struct arena *arena, struct str *out_root, struct error *error);

/* Asks the server for the profile whose repo_root is this repository: the active one if several have it.
 * *out_name is "" when there is none.  Returns 0, or what the command returns. */
MUST_CHECK int repository_profile(struct cli *cli, struct str root, struct str *out_name);

/* The profile that a command for this repository uses: --profile, else the one above.  Prints what to do
 * when there is none. */
MUST_CHECK int repository_profile_choose(struct cli *cli, struct str *out_name);

#endif
