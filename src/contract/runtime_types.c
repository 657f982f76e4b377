/* contract/runtime_types.c -- the tables of contracts/runtime.def; everything here comes from its
 * rows.
 */
#include "contract/runtime_types.h"

#define CONTRACT_MODULE runtime
#define CONTRACT_FILE   "contracts/runtime.def"
#include "contract/tables.h"
