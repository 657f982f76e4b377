/* contract/run_file_types.h -- files of repositories and paths: the types of
 * contracts/run_file.def. */
#ifndef CONTRACT_RUN_FILE_TYPES_H
#define CONTRACT_RUN_FILE_TYPES_H

#include "contract/contract.h"

#define CONTRACT_MODULE run
#define CONTRACT_FILE   "contracts/run_file.def"
#include "contract/expand.h"

#endif
