/* contract/runtime.c -- the tables of contracts/runtime.def; everything here comes from its rows.
 */
#include "contract/runtime.h"

#define CONTRACT_MODULE runtime
#define CONTRACT_FILE   "contracts/runtime.def"
#include "contract/tables.h"
